//! Lets convolutions of narrow types compute on operands that are converted to the type of their
//! sums.
//!
//! Their kernel converts operands and results itself, alone; as nodes, conversions are fused with
//! what is around them, and the convolution in between is one of `f32` or `i32`, with the layouts,
//! row loops and threads of these. Roundings are the same.

use crate::graph::{Graph, Node, Region, Value};
use numerics::DType;
use program::{Primitive, ValueType, primitives};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

pub(crate) fn run(graph: &mut Graph<'_>, body: &mut Region) {
    for node in std::mem::take(&mut body.nodes) {
        match widened(graph, &node) {
            Some(nodes) => body.nodes.extend(nodes),
            None => body.nodes.push(node),
        }
    }
    for region in body.nodes.iter_mut().flat_map(|node| &mut node.regions) {
        run(graph, region);
    }
}

/// Returns the nodes in place of a convolution of narrow types.
fn widened(graph: &mut Graph<'_>, node: &Node) -> Option<SmallVec<[Node; 4]>> {
    let Primitive::Convolution(convolution) = &*node.primitive else { return None };
    let (&[lhs, rhs], &[result]) = (&node.operands[..], &node.results[..]) else { return None };
    let types = [graph.dtype(lhs)?, graph.dtype(rhs)?, convolution.dtype];
    let wide = kernels::accumulation(types[0], types[1], types[2]);
    if types == [wide; 3] || !matches!(wide, DType::F32 | DType::F64 | DType::I32) {
        return None;
    }
    let wide_value = |graph: &mut Graph<'_>, value: Value| match graph.dtype(value)? {
        dtype if dtype == wide => Some(value),
        _ => {
            let ty = ValueType::tensor(wide, &graph.shape(value)?);
            Some(graph.value(&Arc::new(ty)))
        }
    };
    let [left, right] = [wide_value(graph, lhs)?, wide_value(graph, rhs)?];
    let sums = wide_value(graph, result)?;
    let with = |primitive: Primitive, operands: &[Value], result: Value, ops: u32| Node {
        primitive: Arc::new(primitive),
        operands: operands.into(),
        results: smallvec![result],
        regions: Vec::new(),
        captures: Vec::new(),
        ops,
        ..*node
    };
    let own =
        primitives::Convolution { dtype: wide, ..primitives::Convolution::clone(convolution) };
    let mut nodes = SmallVec::new();
    for (value, wide_value) in [(lhs, left), (rhs, right)] {
        if value != wide_value {
            let convert = Primitive::from(primitives::Convert { dtype: wide });
            nodes.push(with(convert, &[value], wide_value, 0));
        }
    }
    nodes.push(with(own.into(), &[left, right], sums, node.ops));
    if sums != result {
        let convert = Primitive::from(primitives::Convert { dtype: types[2] });
        nodes.push(with(convert, &[sums], result, 0));
    }
    Some(nodes)
}
