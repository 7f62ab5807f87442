//! Solutions of triangular systems.

use super::{Blocks, Effects, Kind, Operation};
use crate::work::product;
use crate::work::{BodyWork, Shapes, Work};
use lapack::System;
use numerics::shape::StridedView;

impl Operation for System {
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
