//! Operations that are prepared for the types of their operands.

use crate::graph::Node;
use crate::take::Take;
use crate::unit::{Action, Function};
use crate::views::{Definitions, Viewed};
use kernels::{Dot, Reduction};
use program::{DotDims, LoopOutput, Primitive};
use std::sync::Arc;

/// The prepared function of a node, if it has one.
pub(crate) fn function(definitions: &Definitions<'_>, node: &Node) -> Option<Action> {
    let graph = definitions.graph;
    let (&[first, second], &[output]) = (&node.operands[..], &node.results[..]) else {
        return None;
    };
    let (mut operands, lhs) = ([first, second], graph.shape(first)?);
    let function = match graph.primitive(node) {
        Primitive::Dot { dims, dtype } => {
            let vectors = || DotDims {
                lhs_contracting_dimensions: vec![lhs.len() as i64 - 1],
                rhs_contracting_dimensions: vec![0],
                ..DotDims::default()
            };
            let dims = dims.as_deref().cloned().unwrap_or_else(vectors);
            let types = [graph.dtype(first)?, graph.dtype(second)?];
            let dot = |views: [&Viewed; 2]| {
                let [lhs, rhs] = views.map(|viewed| &viewed.view);
                Dot::new((types[0], lhs), (types[1], rhs), &dims, *dtype)
            };
            // Where movement in front of it cannot be looked through, it is done before.
            let moved = [definitions.any_view(first)?, definitions.any_view(second)?];
            let whole = [definitions.whole(first)?, definitions.whole(second)?];
            let mut choices = [
                [&moved[0], &moved[1]],
                [&moved[0], &whole[1]],
                [&whole[0], &moved[1]],
                [&whole[0], &whole[1]],
            ]
            .into_iter();
            let (dot, views) = choices.find_map(|views| Some((dot(views)?, views)))?;
            operands = views.map(|viewed| viewed.memory);
            Function::Dot(dot)
        }
        Primitive::Reduce { dimensions, body } => {
            let dtype = graph.dtype(first).filter(|&dtype| graph.dtype(second) == Some(dtype))?;
            let is_scalar = graph.elements(second) == Some(1);
            let is_of_type = graph.dtype(output) == Some(dtype);
            let reduction = Reduction::new(body.shape, dtype, &lhs, dimensions);
            Function::Reduce(reduction.filter(|_| is_scalar && is_of_type)?)
        }
        Primitive::Gather { dims, sizes } => {
            let (indices, index) = (graph.shape(second)?, graph.dtype(second)?);
            let operand = (&lhs[..], graph.dtype(first)?);
            Function::Take(Take::new(operand, (&indices, index), dims, sizes)?)
        }
        _ => return None,
    };
    let ty = LoopOutput { dtype: graph.dtype(output)?, shape: graph.shape(output)? };
    Some(Action::Apply { function: Arc::new(function), operands, output, ty })
}
