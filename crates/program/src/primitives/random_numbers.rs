use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use numerics::shape::StridedView;

/// Random numbers of a distribution; operands are its parameters and the shape.
#[derive(Debug, PartialEq)]
pub struct RandomNumbers {
    /// The distribution.
    pub distribution: RandomDistribution,
    /// The number of the op among the ops of the program that draw random numbers.
    pub stream: usize,
    /// Sizes of the result type; `None` if it has no rank.
    pub declared: Option<Vec<i64>>,
}

impl Operation for RandomNumbers {
    fn kind(&self) -> Kind {
        Kind::Kernel
    }

    fn effects(&self) -> Effects {
        Effects::Stateful
    }

    fn blocks(&self) -> Blocks {
        Blocks::new()
    }

    fn is_arithmetic(&self) -> bool {
        false
    }

    fn is_by_element(&self) -> bool {
        false
    }

    fn as_view(&self, _: &StridedView) -> Option<StridedView> {
        None
    }

    fn arithmetic(&self, shapes: &Shapes<'_>, _: BodyWork<'_>) -> Option<Work> {
        Some(Work::functions(shapes.last_result()))
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}

/// The distribution of random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RandomDistribution {
    /// Uniform in a half-open interval; its upper end can only occur by rounding.
    Uniform,
    /// Normal, with a mean and a standard deviation.
    Normal,
}
