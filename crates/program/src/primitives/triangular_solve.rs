//! Solutions of triangular systems.

use super::{Blocks, Effects, Kind, Operation};
use crate::work::product;
use crate::work::{BodyWork, Shapes, Work};
use numerics::shape::StridedView;

/// The solutions of triangular systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TriangularSolve {
    /// `op(a) * x = b` rather than `x * op(a) = b`.
    pub left_side: bool,
    /// Only the lower triangle of `a` is read, rather than the upper one.
    pub lower: bool,
    /// The diagonal of `a` is not read: it is taken to be one.
    pub unit_diagonal: bool,
    /// `op` transposes.
    pub transposed: bool,
    /// `op` conjugates.
    pub conjugated: bool,
}

impl Operation for TriangularSolve {
    fn kind(&self) -> Kind {
        Kind::Kernel
    }

    fn effects(&self) -> Effects {
        Effects::None
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
        Some(Work::operations(product([shapes.result(), shapes.size(0, -1)])))
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}
