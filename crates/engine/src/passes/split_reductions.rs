//! Divides long reductions of elementwise results into reductions of short rows, and a reduction of
//! the rows' results: a row loop computes some rows at a time, and the elements are not stored.
//!
//! A row has a power of two of elements, so that its sum is a subtree of the tree that defines the
//! result; maxima and minima have no order. The reduction of rows begins with a neutral value, and
//! the last one with the initial value.

use crate::graph::{Graph, Node, Region, Value};
use numerics::math::BinaryOp;
use numerics::{DType, Element, Tensor};
use program::{BodyShape, Kind, Primitive, ValueType, primitives};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Shorter reductions are rows of a row loop as they are, or little work.
const MIN_COUNT: usize = 1 << 14;
/// The least and the greatest number of elements of a row.
const ROW: [usize; 2] = [64, 1 << 12];

pub(crate) fn run(graph: &mut Graph<'_>, body: &mut Region) {
    for inner in body.nodes.iter_mut().flat_map(|node| &mut node.regions) {
        run(graph, inner);
    }
    if !body.nodes.iter().any(|node| matches!(&*node.primitive, Primitive::Reduce(_))) {
        return;
    }
    let single = used_once(body);
    let mut elementwise: FxHashSet<Value> = FxHashSet::default();
    let mut nodes = Vec::with_capacity(body.nodes.len());
    for node in std::mem::take(&mut body.nodes) {
        let is_fused = |value: &Value| elementwise.contains(value) && single.contains(value);
        let divided = node.operands.first().filter(|value| is_fused(value));
        match divided.and_then(|_| divide(graph, &node)) {
            Some(parts) => nodes.extend(parts),
            None => {
                if node.primitive.kind() == Kind::Elementwise {
                    elementwise.extend(&node.results);
                }
                nodes.push(node);
            }
        }
    }
    body.nodes = nodes;
}

/// The values that one operand of a node of the region is, and nothing else.
fn used_once(region: &Region) -> FxHashSet<Value> {
    fn count(region: &Region, by: usize, uses: &mut FxHashMap<Value, usize>) {
        for node in &region.nodes {
            node.operands.iter().for_each(|&value| *uses.entry(value).or_default() += by);
            node.captures.iter().for_each(|&(_, value)| *uses.entry(value).or_default() += 2);
            node.regions.iter().for_each(|inner| count(inner, 2, uses));
        }
        region.results.iter().for_each(|&value| *uses.entry(value).or_default() += 2);
    }
    let mut uses = FxHashMap::default();
    count(region, 1, &mut uses);
    uses.into_iter().filter(|&(_, count)| count == 1).map(|(value, _)| value).collect()
}

/// A reduction as one of rows and one of their results; `None` if it stays.
fn divide(graph: &mut Graph<'_>, node: &Node) -> Option<[Node; 3]> {
    let Primitive::Reduce(reduce) = &*node.primitive else { return None };
    let (&[values, init], &[result]) = (&node.operands[..], &node.results[..]) else { return None };
    let BodyShape::Binary { op, .. } = reduce.body.shape else { return None };
    let dtype = graph.dtype(values)?;
    let neutral = neutral(op, dtype)?;
    let (shape, kept) = (graph.shape(values)?, graph.shape(result)?);
    let are_last = reduce.dimensions.iter().all(|&dimension| dimension >= kept.len());
    let is_alike = graph.dtype(init) == Some(dtype) && graph.dtype(result) == Some(dtype);
    let count = graph.elements(values)?.checked_div(graph.elements(result)?)?;
    if !are_last || !is_alike || count < MIN_COUNT || !shape.starts_with(&kept) {
        return None;
    }
    let [least, most] = ROW;
    let row = match op {
        // The order of the elements does not matter.
        BinaryOp::Maximum | BinaryOp::Minimum => {
            (least..=most).rev().find(|&row| count.is_multiple_of(row))?
        }
        _ => 1 << count.trailing_zeros().min(most.ilog2()),
    };
    if row < least {
        return None;
    }
    let rows = [&kept[..], &[count / row]].concat();
    let in_rows_shape = [&rows[..], &[row]].concat();
    let mut value = |shape: &[usize]| graph.value(&Arc::new(ValueType::tensor(dtype, shape)));
    let [in_rows, of_rows, nothing] = [&in_rows_shape[..], &rows, &[]].map(&mut value);
    graph.constants.insert(nothing, neutral);
    let reduction = |dimension: usize| {
        Primitive::from(primitives::Reduce {
            dimensions: vec![dimension],
            body: reduce.body.clone(),
        })
    };
    let reshape = Primitive::from(primitives::Reshape { shape: in_rows_shape });
    Some([
        node.replacement(reshape, &[values], in_rows),
        node.replacement(reduction(rows.len()), &[in_rows, nothing], of_rows),
        Node { ops: 1, ..node.replacement(reduction(kept.len()), &[of_rows, init], result) },
    ])
}

/// The neutral value, with which reductions of rows begin; `None` for operations without one, and
/// for types to which results of rows would be rounded, or that are rarely reduced.
fn neutral(op: BinaryOp, dtype: DType) -> Option<Tensor> {
    fn of<T: Element>(op: BinaryOp, [zero, one, least, most]: [T; 4]) -> Option<Tensor> {
        Some(Tensor::scalar(match op {
            BinaryOp::Add => zero,
            BinaryOp::Multiply => one,
            BinaryOp::Maximum => least,
            BinaryOp::Minimum => most,
            _ => return None,
        }))
    }
    match dtype {
        DType::F32 => of(op, [-0.0, 1.0, f32::NEG_INFINITY, f32::INFINITY]),
        DType::F64 => of(op, [-0.0, 1.0, f64::NEG_INFINITY, f64::INFINITY]),
        DType::I32 => of(op, [0, 1, i32::MIN, i32::MAX]),
        DType::I64 => of(op, [0, 1, i64::MIN, i64::MAX]),
        _ => None,
    }
}
