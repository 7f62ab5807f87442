//! Operations whose numbers are operands.

use super::{Blocks, Effects, Kind, Operation};
use super::{Convolution, GatherDims};
use crate::work::{BodyWork, Shapes, Work};
use numerics::DType;
use numerics::shape::StridedView;

/// Operations whose numbers are operands. `declared` has the sizes of the result type.
#[derive(Debug, PartialEq)]
pub enum Dynamic {
    /// [`Primitive::Reshape`](super::Primitive::Reshape) to the shape that is the second operand.
    Reshape {
        /// Sizes of the result type.
        declared: Option<Vec<i64>>,
    },
    /// [`Primitive::BroadcastInDim`](super::Primitive::BroadcastInDim) to the shape that is
    /// the second operand.
    BroadcastInDim {
        /// The dimension of the result of each dimension of the operand.
        dimensions: Vec<usize>,
        /// Sizes of the result type.
        declared: Option<Vec<i64>>,
    },
    /// [`Primitive::Iota`](super::Primitive::Iota) of the shape that is the operand.
    Iota {
        /// The element type.
        dtype: DType,
        /// The dimension.
        dimension: usize,
        /// Sizes of the result type.
        declared: Option<Vec<i64>>,
    },
    /// [`Primitive::Pad`](super::Primitive::Pad) by the third to fifth operands.
    Pad {
        /// Sizes of the result type.
        declared: Option<Vec<i64>>,
    },
    /// [`Primitive::Slice`](super::Primitive::Slice) by the second to fourth operands.
    Slice {
        /// Sizes of the result type.
        declared: Option<Vec<i64>>,
    },
    /// [`Primitive::Gather`](super::Primitive::Gather) with the sizes that are the third operand.
    Gather(GatherDims),
    /// [`Primitive::Convolution`](super::Primitive::Convolution) with the padding that is
    /// the third operand.
    Convolution(Convolution),
}

impl Operation for Dynamic {
    fn kind(&self) -> Kind {
        Kind::Kernel
    }

    fn effects(&self) -> Effects {
        Effects::MayFail
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

    fn arithmetic(&self, shapes: &Shapes<'_>, body: BodyWork<'_>) -> Option<Work> {
        match self {
            Dynamic::Convolution(convolution) => convolution.arithmetic(shapes, body),
            Dynamic::Reshape { .. }
            | Dynamic::BroadcastInDim { .. }
            | Dynamic::Iota { .. }
            | Dynamic::Pad { .. }
            | Dynamic::Slice { .. }
            | Dynamic::Gather(_) => Some(Work::NONE),
        }
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}
