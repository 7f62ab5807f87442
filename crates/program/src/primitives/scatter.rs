use super::{Blocks, Effects, Kind, Operation};
use crate::Body;
use crate::work::{BodyWork, Shapes, Work};
use numerics::shape::StridedView;

/// Inputs with windows combined with updates, at index vectors.
#[derive(Debug, PartialEq)]
pub struct Scatter {
    /// Dimension numbers.
    pub dims: Box<ScatterDims>,
    /// Combines elements with updates.
    pub body: Box<Body>,
}

impl Operation for Scatter {
    fn kind(&self) -> Kind {
        Kind::Movement
    }

    fn effects(&self) -> Effects {
        Effects::None
    }

    fn blocks(&self) -> Blocks {
        Blocks::from_slice(&[self.body.callee])
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

    fn arithmetic(&self, shapes: &Shapes<'_>, body: BodyWork<'_>) -> Option<Work> {
        let inputs = self.body.dtypes.len() / 2;
        Some(self.body.once(body).times(shapes.operand(inputs + 1)))
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}

/// Dimension numbers of `scatter`, named as in the specification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the specification's")]
pub struct ScatterDims {
    pub update_window_dims: Vec<i64>,
    pub inserted_window_dims: Vec<i64>,
    pub input_batching_dims: Vec<i64>,
    pub scatter_indices_batching_dims: Vec<i64>,
    pub scatter_dims_to_operand_dims: Vec<i64>,
    pub index_vector_dim: i64,
}
