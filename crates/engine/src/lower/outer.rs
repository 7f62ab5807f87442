//! Outer products: `dot_general` with one product for each result, as elementwise multiplications
//! of views.

use crate::graph::{Graph, Node, Value};
use crate::lower::views::{Definitions, Viewed};
use numerics::DType;
use numerics::shape::StridedView;
use program::Primitive;
use program::primitives::{self, DotDims};

/// Products of fewer results have dedicated code in blocks.
const MIN_RESULTS: usize = 1 << 10;

/// True for a node that is a large outer product of floats.
pub(crate) fn is_outer_product(graph: &Graph<'_>, node: &Node) -> bool {
    dims(graph, node).is_some()
}

/// The dimension numbers of a node that is one.
fn dims<'n>(graph: &Graph<'_>, node: &'n Node) -> Option<&'n DotDims> {
    let Primitive::Dot(primitives::Dot { dims: Some(dims), dtype }) = &*node.primitive else {
        return None;
    };
    let (&[lhs, rhs], &[result]) = (&node.operands[..], &node.results[..]) else { return None };
    let is_float = matches!(dtype, DType::F32 | DType::F64);
    let has_type = |value: Value| graph.dtype(value) == Some(*dtype);
    let is_large = graph.elements(result)? >= MIN_RESULTS;
    let shape = graph.shape(lhs)?;
    let contracting = dims.lhs_contracting_dimensions.iter();
    let mut sizes = contracting.map(|&d| shape.get(usize::try_from(d).ok()?));
    (is_float && is_large && has_type(lhs) && has_type(rhs) && sizes.all(|n| n == Some(&1)))
        .then_some(dims)
}

/// The operands of an outer product as views in the shape of the result: each repeats its elements
/// along the dimensions of the other.
pub(crate) fn operands(definitions: &Definitions<'_>, node: &Node) -> Option<[Viewed; 2]> {
    let graph = definitions.graph;
    let dims = dims(graph, node)?;
    let (&[lhs, rhs], &[result]) = (&node.operands[..], &node.results[..]) else { return None };
    let shape = graph.shape(result)?;
    let batch = dims.lhs_batching_dimensions.len();
    let kept = graph.shape(lhs)?.len() - batch - dims.lhs_contracting_dimensions.len();
    let view = |value, batching: &[i64], contracting: &[i64], first: usize| {
        let viewed = definitions.view(value)?;
        let mut strides = vec![0; shape.len()];
        let mut next = first;
        for (d, &stride) in viewed.view.strides().iter().enumerate() {
            let is_dimension = |&other: &i64| other == d as i64;
            match batching.iter().position(is_dimension) {
                Some(position) => *strides.get_mut(position)? = stride,
                None if contracting.iter().any(is_dimension) => {}
                None => {
                    *strides.get_mut(next)? = stride;
                    next += 1;
                }
            }
        }
        let view = StridedView::new(viewed.view.offset(), &shape[..], strides).ok()?;
        Some(Viewed { view, ..viewed })
    };
    let (left, right) = (&dims.lhs_batching_dimensions, &dims.rhs_batching_dimensions);
    Some([
        view(lhs, left, &dims.lhs_contracting_dimensions, batch)?,
        view(rhs, right, &dims.rhs_contracting_dimensions, batch + kept)?,
    ])
}
