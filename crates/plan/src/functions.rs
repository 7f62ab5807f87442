//! Operations that are prepared for the types of their operands.

use crate::graph::{Graph, Node};
use crate::unit::{Action, Function};
use kernels::{Dot, Reduction};
use program::{DotDims, LoopOutput, Primitive};

/// The prepared function of a node, if it has one.
pub(crate) fn function(graph: &Graph<'_>, node: &Node) -> Option<Action> {
    let (&[first, second], &[output]) = (&node.operands[..], &node.results[..]) else {
        return None;
    };
    let (lhs, rhs) = (graph.shape(first)?, graph.shape(second)?);
    let function = match graph.primitive(node) {
        Primitive::Dot { dims, dtype } => {
            let vectors = || DotDims {
                lhs_contracting_dimensions: vec![lhs.len() as i64 - 1],
                rhs_contracting_dimensions: vec![0],
                ..DotDims::default()
            };
            let dims = dims.as_deref().cloned().unwrap_or_else(vectors);
            let types = (graph.dtype(first)?, graph.dtype(second)?);
            Function::Dot(Dot::new((types.0, &lhs), (types.1, &rhs), &dims, *dtype)?)
        }
        Primitive::Reduce { dimensions, body } => {
            let dtype = graph.dtype(first).filter(|&dtype| graph.dtype(second) == Some(dtype))?;
            let is_scalar = graph.elements(second) == Some(1);
            let is_of_type = graph.dtype(output) == Some(dtype);
            let reduction = Reduction::new(body.shape, dtype, &lhs, dimensions);
            Function::Reduce(reduction.filter(|_| is_scalar && is_of_type)?)
        }
        _ => return None,
    };
    let ty = LoopOutput { dtype: graph.dtype(output)?, shape: graph.shape(output)? };
    Some(Action::Apply { function, operands: [first, second], output, ty })
}
