//! Replaces powers with the exponents 2 and -1 by products and quotients.
//!
//! Both are the exact result rounded once. They differ in NaN: a power of a type narrower than
//! `f64` has one, where a product keeps the payload of its operand.

use crate::graph::{Graph, Node, Region, Value};
use crate::passes::expansion::Expansion;
use crate::passes::shrink;
use numerics::math::{self, BinaryOp, Direction};
use numerics::{DType, Tensor};
use program::{Primitive, primitives};
use rustc_hash::FxHashMap;

pub(crate) fn run(graph: &mut Graph<'_>, body: &mut Region) {
    replace(graph, body, &mut FxHashMap::default());
}

/// Replaces the powers of a region and of nested regions. `numbers` has the number, of rank 0, that
/// each value is known to repeat.
fn replace(graph: &mut Graph<'_>, body: &mut Region, numbers: &mut FxHashMap<Value, Tensor>) {
    let mut nodes = Vec::with_capacity(body.nodes.len());
    for mut node in std::mem::take(&mut body.nodes) {
        for region in &mut node.regions {
            replace(graph, region, numbers);
        }
        if let (&[result], Some(number)) = (&node.results[..], repeated(&node, numbers)) {
            numbers.insert(result, number);
        }
        match expand(graph, &node, numbers) {
            Some(expanded) => nodes.extend(expanded),
            None => nodes.push(node),
        }
    }
    body.nodes = nodes;
}

/// The number that the result of a node repeats, if it is known.
fn repeated(node: &Node, numbers: &FxHashMap<Value, Tensor>) -> Option<Tensor> {
    match (&*node.primitive, &node.operands[..]) {
        (Primitive::Splat(splat), _) => Some(splat.element.clone()),
        (Primitive::Constant(constant), _) => shrink::repeated(&constant.tensor),
        (
            Primitive::BroadcastInDim(_) | Primitive::Broadcast(_) | Primitive::Reshape(_),
            [operand],
        ) => numbers.get(operand).cloned(),
        _ => None,
    }
}

/// The nodes that replace a power; `None` for other nodes and other exponents.
fn expand(
    graph: &mut Graph<'_>,
    node: &Node,
    numbers: &FxHashMap<Value, Tensor>,
) -> Option<Vec<Node>> {
    let (Primitive::Binary(BinaryOp::Power), &[base, exponent]) =
        (&*node.primitive, &node.operands[..])
    else {
        return None;
    };
    let exponent = numbers.get(&exponent)?;
    let dtype = graph.dtype(base)?;
    let shape = graph.shape(base)?;
    let number = |x: f64| math::convert(Tensor::scalar(x), dtype).ok();
    let is = |x: f64| Some(number(x)?.bytes() == exponent.bytes());
    let has_one_nan = match dtype {
        DType::F64 => false,
        DType::F32 | DType::BF16 | DType::F16 => true,
        _ => return None,
    };
    let mut expansion = Expansion { graph, node, nodes: Vec::new() };
    let splat = |expansion: &mut Expansion<'_, '_>, element: Tensor| {
        let splat = primitives::Splat { element, shape: shape.to_vec() };
        expansion.add(splat.into(), &[], dtype, &shape)
    };
    let (op, operands) = if is(2.0)? {
        (BinaryOp::Multiply, [base, base])
    } else if is(-1.0)? {
        (BinaryOp::Divide, [splat(&mut expansion, number(1.0)?), base])
    } else {
        return None;
    };
    if !has_one_nan {
        return Some(expansion.finish(op.into(), &operands));
    }
    let power = expansion.add(op.into(), &operands, dtype, &shape);
    let nan = splat(&mut expansion, number(f64::NAN)?);
    let comparison =
        primitives::Comparison { direction: Direction::Ne, total_order: false, read_as: None };
    let is_nan = expansion.add(comparison.into(), &[base, base], DType::I1, &shape);
    Some(expansion.finish(primitives::Select.into(), &[is_nan, nan, power]))
}
