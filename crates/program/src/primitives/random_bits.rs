use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use numerics::DType;
use numerics::shape::StridedView;

/// The next state of a generator and random bits.
#[derive(Debug, PartialEq)]
pub struct RandomBits {
    /// The generator.
    pub generator: Generator,
    /// The shape; `None` if given by the second operand.
    pub shape: Option<Vec<usize>>,
    /// The element type.
    pub dtype: DType,
}

impl Operation for RandomBits {
    fn kind(&self) -> Kind {
        Kind::Kernel
    }

    fn effects(&self) -> Effects {
        match self.shape {
            Some(_) => Effects::None,
            None => Effects::MayFail,
        }
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

/// The function from a counter and a key to random words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generator {
    /// Threefry-2x32 with 20 rounds. The state is a key and a 64-bit counter.
    ThreeFry,
    /// Philox-4x32 with 10 rounds. The state is a key and a 64-bit counter, above which the key is
    /// repeated, or a key and a 128-bit counter, low half first.
    Philox,
}
