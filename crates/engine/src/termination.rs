//! Loops that end because they count up or down to a bound, as exporters write `scan` and
//! `fori_loop`. Such a loop is dead where nothing uses its results.

use crate::graph::{Graph, Node, Region, Value};
use crate::passes::known;
use numerics::DType;
use numerics::math::{BinaryOp, Direction};
use program::Primitive;

/// True if a node is a loop that ends, if its body and its condition do.
pub(crate) fn terminates(graph: &Graph<'_>, node: &Node) -> bool {
    let (Primitive::While(_), [cond, _]) = (&*node.primitive, &node.regions[..]) else {
        return false;
    };
    cond.results.first().is_some_and(|&condition| becomes_false(graph, node, condition))
}

/// The node of a region that alone defines a value.
fn definition(region: &Region, value: Value) -> Option<&Node> {
    region.nodes.iter().find(|node| node.results[..] == [value])
}

/// True if a value of the condition of a loop is false after some iterations.
fn becomes_false(graph: &Graph<'_>, node: &Node, value: Value) -> bool {
    let [cond, body] = &node.regions[..] else { return false };
    let Some(defining) = definition(cond, value) else { return false };
    match (&*defining.primitive, &defining.operands[..]) {
        (Primitive::Binary(BinaryOp::And), &[lhs, rhs]) => {
            becomes_false(graph, node, lhs) || becomes_false(graph, node, rhs)
        }
        (Primitive::Compare(comparison), &[lhs, rhs]) if comparison.read_as.is_none() => {
            let step = |value| step(graph, node, body, value);
            let (counter, step, bound, direction) = match (step(lhs), step(rhs)) {
                (Some(step), None) => (lhs, step, rhs, comparison.direction),
                (None, Some(step)) => (rhs, step, lhs, comparison.direction.mirrored()),
                _ => return false,
            };
            let is_invariant = !node.results.contains(&bound) && definition(cond, bound).is_none();
            let bound_is = |holds: &dyn Fn(i128) -> bool| integer(graph, bound).is_some_and(holds);
            let Some((least, most)) = graph.dtype(counter).and_then(range) else { return false };
            // The counter passes the bound before it wraps around.
            match direction {
                Direction::Lt if step == 1 => is_invariant || bound_is(&|_| true),
                Direction::Gt if step == -1 => is_invariant || bound_is(&|_| true),
                Direction::Lt if step > 0 => bound_is(&|bound| bound + step - 1 <= most),
                Direction::Le if step > 0 => bound_is(&|bound| bound + step <= most),
                Direction::Gt if step < 0 => bound_is(&|bound| bound + step + 1 >= least),
                Direction::Ge if step < 0 => bound_is(&|bound| bound + step >= least),
                Direction::Lt
                | Direction::Le
                | Direction::Gt
                | Direction::Ge
                | Direction::Eq
                | Direction::Ne => false,
            }
        }
        _ => false,
    }
}

/// The constant by which an iteration changes a value that a loop carries.
fn step(graph: &Graph<'_>, node: &Node, body: &Region, value: Value) -> Option<i128> {
    let number = node.results.iter().position(|&carried| carried == value)?;
    let changed = definition(body, *body.results.get(number)?)?;
    match (&*changed.primitive, &changed.operands[..]) {
        (Primitive::Binary(BinaryOp::Add), &[lhs, rhs]) if lhs == value => integer(graph, rhs),
        (Primitive::Binary(BinaryOp::Add), &[lhs, rhs]) if rhs == value => integer(graph, lhs),
        (Primitive::Binary(BinaryOp::Subtract), &[lhs, rhs]) if lhs == value => {
            Some(-integer(graph, rhs)?)
        }
        _ => None,
    }
}

/// The value of a scalar integer that is known.
fn integer(graph: &Graph<'_>, value: Value) -> Option<i128> {
    graph.dtype(value).filter(|dtype| dtype.is_integer())?;
    match known(graph, value)?.to_i64s().ok()?[..] {
        [number] => Some(i128::from(number)),
        _ => None,
    }
}

/// The least and the greatest value of a type of integers.
fn range(dtype: DType) -> Option<(i128, i128)> {
    if !dtype.is_integer() {
        return None;
    }
    Some(match dtype.is_signed() {
        true => (-(1 << (dtype.bits() - 1)), (1 << (dtype.bits() - 1)) - 1),
        false => (0, (1 << dtype.bits()) - 1),
    })
}
