//! Computes small nodes of constants while the plan is made, and gives operations whose numbers are
//! constants these numbers.

use crate::graph::{Graph, Node, Region, Value};
use crate::passes::{Replacements, rewrite};
use numerics::Tensor;
use program::primitives::Quantized;
use program::{Effects, Kind, NoEvaluator, Primitive, RuntimeValue, ValueType, primitives};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The maximum bytes of the operands and the result of a node that is folded.
pub(crate) const MAX_BYTES: usize = 1 << 12;
/// The maximum bytes of the results of all folded nodes.
const MAX_TOTAL: usize = 1 << 20;
/// Longer iotas are not kept as constants.
const MAX_IOTA: usize = 1 << 12;

pub(crate) fn run(graph: &mut Graph<'_>, body: &mut Region) {
    let mut left = MAX_TOTAL;
    rewrite(body, &mut Replacements::default(), &mut |node, _| {
        if let &[result] = &node.results[..] {
            make_static(graph, node, result);
            note_constant(graph, &node.primitive, result);
            fold(graph, node, result, &mut left);
        }
        true
    });
}

/// Gives an operation whose numbers are operands these numbers, if they are known.
fn make_static(graph: &Graph<'_>, node: &mut Node, result: Value) {
    let quantized = match &*node.primitive {
        Primitive::Quantized(quantized) => Some(&**quantized),
        _ => None,
    };
    let Primitive::Dynamic(dynamic) = quantized.map_or(&*node.primitive, |q| &q.primitive) else {
        return;
    };
    let count = dynamic.operands_before_numbers();
    let Some((operands, numbers)) = node.operands.split_at_checked(count) else { return };
    let shapes = operands.iter().map(|&operand| graph.shape(operand)).collect::<Option<Vec<_>>>();
    let numbers = numbers.iter().map(|&number| known(graph, number)?.to_i64s().ok());
    let numbers = numbers.collect::<Option<Vec<_>>>();
    let (Some(shapes), Some(numbers), Some(shape)) = (shapes, numbers, graph.shape(result)) else {
        return;
    };
    let Some(primitive) = dynamic.with_numbers(&shapes, &numbers, &shape) else { return };
    let primitive = match quantized {
        Some(Quantized { operands, results, .. }) => {
            let operands = operands.iter().take(count).cloned().collect();
            Quantized { operands, results: results.clone(), primitive }.into()
        }
        None => primitive,
    };
    node.primitive = Arc::new(primitive);
    node.operands.truncate(count);
}

/// Notes the constant that a node is, or repeats.
fn note_constant(graph: &mut Graph<'_>, primitive: &Primitive, result: Value) {
    let repeated = match primitive {
        Primitive::Constant(primitives::Constant { tensor }) => {
            graph.constants.insert(result, tensor.clone());
            return;
        }
        Primitive::Splat(primitives::Splat { element, .. }) => Some(element.clone()),
        Primitive::Iota(primitives::Iota { dtype, shape, dimension }) => {
            let size = shape.get(*dimension).filter(|&&size| size <= MAX_IOTA);
            size.and_then(|&size| Tensor::iota(*dtype, [size], 0).ok())
        }
        _ => None,
    };
    if let Some(tensor) = repeated {
        let ty = ValueType::tensor(tensor.dtype(), tensor.shape());
        let value = graph.value(&Arc::new(ty));
        graph.constants.insert(value, tensor);
        graph.repeated.insert(result, value);
    }
}

/// The small value of a node of a constant, or of small known values; errors are left to the run.
pub(crate) fn evaluate<'t>(
    graph: &Graph<'_>,
    node: &Node,
    result: Value,
    value: impl Fn(&Value) -> Option<&'t Tensor>,
) -> Option<Tensor> {
    if !is_small(graph, result) {
        return None;
    }
    if let Primitive::Constant(primitives::Constant { tensor }) = &*node.primitive {
        return Some(tensor.clone());
    }
    if !is_foldable(&node.primitive) || node.operands.is_empty() {
        return None;
    }
    let operands = node.operands.iter().map(|operand| Some(value(operand)?.clone().into()));
    let operands = operands.collect::<Option<Vec<RuntimeValue>>>()?;
    let evaluated = kernels::evaluate(&node.primitive, node.origin, operands, &mut NoEvaluator);
    let [RuntimeValue::Tensor(tensor)] = &evaluated.ok()?[..] else { return None };
    let is_of_type = graph.dtype(result) == Some(tensor.dtype())
        && graph.shape(result).is_some_and(|shape| shape[..] == *tensor.shape());
    is_of_type.then(|| tensor.clone())
}

/// Makes the result of a node a constant if its operands are constants, all of them small.
fn fold(graph: &mut Graph<'_>, node: &Node, result: Value, left: &mut usize) {
    if matches!(*node.primitive, Primitive::Constant(_)) {
        return;
    }
    let operands: FxHashMap<Value, Tensor> =
        node.operands.iter().filter_map(|&value| Some((value, known(graph, value)?))).collect();
    let Some(folded) = evaluate(graph, node, result, |value| operands.get(value)) else { return };
    let Some(rest) = left.checked_sub(folded.bytes().len()) else { return };
    *left = rest;
    let is_larger =
        node.operands.iter().any(|&operand| graph.elements(operand) < graph.elements(result));
    let is_broadcast =
        matches!(*node.primitive, Primitive::BroadcastInDim(_) | Primitive::Broadcast(_));
    match is_broadcast && is_larger {
        true => graph.broadcasts.insert(result, folded.clone()),
        false => graph.constants.insert(result, folded.clone()),
    };
}

/// The elements of a value that is known while the plan is made, and small.
pub(crate) fn known(graph: &Graph<'_>, value: Value) -> Option<Tensor> {
    if !is_small(graph, value) {
        return None;
    }
    let known = graph.constants.get(&value).or_else(|| graph.broadcasts.get(&value));
    if let Some(tensor) = known {
        return Some(tensor.clone());
    }
    let repeated = graph.constants.get(graph.repeated.get(&value)?)?;
    let shape = graph.shape(value)?;
    match repeated.rank() {
        0 => repeated.broadcast_scalar(&shape).ok(),
        // An iota.
        _ => (repeated.shape() == &shape[..]).then(|| repeated.clone()),
    }
}

fn is_small(graph: &Graph<'_>, value: Value) -> bool {
    graph.bytes(value).is_some_and(|bytes| bytes <= MAX_BYTES)
}

/// True for elementwise functions and movement whose kernels need their operands alone.
fn is_foldable(primitive: &Primitive) -> bool {
    matches!(primitive.kind(), Kind::Elementwise | Kind::Movement)
        && primitive.effects() == Effects::None
        && primitive.blocks().is_empty()
}
