//! Products with weights that are stored in a narrow type, and converted, and scaled if they are
//! quantized, with or without zero points, in front of the product: these are never stored as wide
//! ones.

use crate::graph::{Graph, Node, Value};
use crate::lower::views::{Definitions, Viewed};
use crate::plan::StepOp;
use kernels::{DotKernel, Kernel, LoopOutput, ScaleLayout, ScaledDot};
use numerics::DType;
use numerics::math::BinaryOp;
use numerics::shape::num_elements;
use program::Primitive;
use program::primitives::{self, DotDims};
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;
use std::sync::Arc;

/// There is at most one scale for this many weights.
const MIN_GROUP: usize = 4;
/// Products with more rows take so much longer than a conversion that it does not matter.
const MAX_ROWS: usize = 64;

/// Weights as they are stored.
struct Narrow<'g> {
    /// The memory of the weights, in the order of the wide ones.
    memory: Value,
    dtype: DType,
    /// The scales, and the node that multiplies with them.
    scales: Option<(&'g Node, Value)>,
    /// The zero points, and the node that subtracts them, if there are scales.
    zeros: Option<(&'g Node, Value)>,
}

/// The step of a product one of whose factors is converted in front of it, and not used otherwise.
pub(super) fn product(
    definitions: &Definitions<'_>,
    dot: &primitives::Dot,
    operands: [Value; 2],
    output: Value,
) -> Option<StepOp> {
    [1, 0].into_iter().find_map(|side| narrow_product(definitions, dot, operands, side, output))
}

/// As [`product`], if the factor of this number is converted.
fn narrow_product(
    definitions: &Definitions<'_>,
    dot: &primitives::Dot,
    operands: [Value; 2],
    side: usize,
    output: Value,
) -> Option<StepOp> {
    let graph = definitions.graph;
    let rank = |value| graph.shape(value).map(|shape| shape.len());
    let of_dot = rank(operands[0]).map(DotDims::of_dot)?;
    let dims = dot.dims.as_deref().map_or(Cow::Owned(of_dot), Cow::Borrowed);
    let wide = definitions.any_view(operands[side])?;
    let narrow = narrow(definitions, &wide, output)?;
    // The type of sums is that of both factors.
    if graph.dtype(operands[0]) != graph.dtype(operands[1]) {
        return None;
    }
    let other = definitions.any_view(operands[1 - side])?;
    let mut types = [(graph.dtype(operands[1 - side])?, &other.view); 2];
    types[side] = (narrow.dtype, &wide.view);
    let product =
        DotKernel::new(types[0], types[1], &dims, dot.dtype).filter(DotKernel::is_streamed)?;
    let rows = product.kept()[1 - side];
    if rows > MAX_ROWS {
        return None;
    }
    let ty = LoopOutput { dtype: graph.dtype(output)?, shape: graph.shape(output)? };
    if ty.dtype != dot.dtype || product.shape() != &ty.shape[..] {
        return None;
    }
    let mut operands: SmallVec<[Value; 3]> = smallvec![other.memory; 2];
    operands[side] = narrow.memory;
    let kernel: Arc<dyn Kernel> = match narrow.scales {
        None => Arc::new(product),
        Some((node, scales)) => {
            let layout_of = |numbers| layout(definitions, numbers, &wide, &dims, side);
            let (scales, layout) = layout_of((node, scales))?;
            operands.push(scales);
            let zeros = match narrow.zeros {
                None => None,
                Some(zeros) => {
                    let (zeros, layout) = layout_of(zeros)?;
                    operands.push(zeros);
                    Some(layout)
                }
            };
            Arc::new(ScaledDot::new(product, layout, zeros)?)
        }
    };
    definitions.count_table(Some(kernel.table_entries()))?;
    Some(StepOp::Apply { kernel, operands, output, ty, prepacked: None })
}

/// Returns the weights that a view shows after a conversion, or after a conversion, zero points and
/// scales.
fn narrow<'g>(definitions: &Definitions<'g>, wide: &Viewed, output: Value) -> Option<Narrow<'g>> {
    let node = neighbour(definitions, wide.memory, output)?;
    let graph = definitions.graph;
    let is_convert = |node: &Node| matches!(&*node.primitive, Primitive::Convert(_));
    let (converted, scales, zeros) = match (&*node.primitive, &node.operands[..]) {
        (Primitive::Binary(BinaryOp::Multiply), &[lhs, rhs]) => {
            let converted = |(weights, scales): (Value, Value)| {
                let before = neighbour(definitions, weights, output)?;
                let (converted, zeros) = match (&*before.primitive, &before.operands[..]) {
                    (Primitive::Binary(BinaryOp::Subtract), &[weights, zeros]) => {
                        (neighbour(definitions, weights, output)?, Some((before, zeros)))
                    }
                    _ => (before, None),
                };
                is_convert(converted).then_some((converted, Some((node, scales)), zeros))
            };
            [(lhs, rhs), (rhs, lhs)].into_iter().find_map(converted)?
        }
        _ if is_convert(node) => (node, None, None),
        _ => return None,
    };
    let &[stored] = &converted.operands[..] else { return None };
    let types = [graph.dtype(stored)?, graph.dtype(wide.memory)?];
    let memory = definitions.view(stored).filter(Viewed::is_whole).map_or(stored, |v| v.memory);
    is_widening(types).then_some(Narrow { memory, dtype: types[0], scales, zeros })
}

/// The node of a value that nothing else uses, in the region of another value.
fn neighbour<'g>(definitions: &Definitions<'g>, value: Value, other: Value) -> Option<&'g Node> {
    definitions.neighbour(value, other).filter(|_| definitions.uses(value) == 1)
}

/// True if all numbers of the first type are numbers of the second, and sums of products of both
/// are computed in the same type.
fn is_widening([from, to]: [DType; 2]) -> bool {
    let is_small_float = from.is_float() && from.bits() <= 16;
    let is_small_integer = |bits| from.is_integer() && from.bits() <= bits;
    match to {
        DType::F32 => is_small_float || is_small_integer(16),
        DType::BF16 | DType::F16 => is_small_integer(8),
        _ => false,
    }
}

/// The memory of the scales that a node multiplies weights with, and where they are.
fn layout(
    definitions: &Definitions<'_>,
    (node, scales): (&Node, Value),
    wide: &Viewed,
    dims: &DotDims,
    side: usize,
) -> Option<(Value, ScaleLayout)> {
    let graph = definitions.graph;
    let viewed = definitions.any_view(scales)?;
    if viewed.len.checked_mul(MIN_GROUP)? > wide.len || viewed.view.offset() != 0 {
        return None;
    }
    let [batching, contracting] = match side {
        0 => [&dims.lhs_batching_dimensions, &dims.lhs_contracting_dimensions],
        _ => [&dims.rhs_batching_dimensions, &dims.rhs_contracting_dimensions],
    };
    let axes = scale_axes(graph, node, wide, &viewed)?;
    let contracted = contracting.iter().map(|&d| usize::try_from(d).ok());
    let contracted = contracted.collect::<Option<Vec<usize>>>()?;
    let kept = (0..axes.len()).filter(|d| !contracted.contains(d));
    let merged = |dims: &[usize]| {
        let axes = dims.iter().rev().map(|&d| axes.get(d).map(Vec::as_slice));
        Some(merged_axes(&axes.collect::<Option<Vec<_>>>()?.concat()))
    };
    let row = match merged(&kept.collect::<Vec<_>>())?[..] {
        [] => 0,
        [ScaleAxis { stride, .. }] => stride,
        _ => return None,
    };
    let (group, column) = match merged(&contracted)?[..] {
        [] => (usize::MAX, 0),
        [ScaleAxis { stride: 0, .. }] => (usize::MAX, 0),
        [ScaleAxis { stride, .. }] => (1, stride),
        [ScaleAxis { size, stride: 0 }, ScaleAxis { stride, .. }] => (size, stride),
        _ => return None,
    };
    let dtype = graph.dtype(viewed.memory)?;
    let layout = ScaleLayout { operand: side, dtype, group, strides: [row, column] };
    batching.is_empty().then_some((viewed.memory, layout))
}

/// Elements at equal distances.
#[derive(Clone, Copy)]
struct ScaleAxis {
    size: usize,
    stride: usize,
}

/// For each dimension of a view of weights, the distances between their scales along it, from the
/// innermost ones on; `None` if it is a part of a dimension of the memory.
fn scale_axes(
    graph: &Graph<'_>,
    node: &Node,
    wide: &Viewed,
    scales: &Viewed,
) -> Option<Vec<Vec<ScaleAxis>>> {
    let shape = graph.shape(*node.results.first()?)?;
    let distances = numerics::shape::strides(&shape);
    if wide.view.offset() != 0 || num_elements(wide.view.shape()) != Some(wide.len) {
        return None;
    }
    let of_dimension = |(&size, &stride): (&usize, &isize)| {
        let (mut axes, mut count) = (Vec::new(), 1);
        while count < size {
            let next = usize::try_from(stride).ok()?.checked_mul(count)?;
            let d = (0..shape.len()).find(|&d| shape[d] != 1 && distances[d] == next)?;
            let stride = usize::try_from(*scales.view.strides().get(d)?).ok()?;
            axes.push(ScaleAxis { size: shape[d], stride });
            count = count.checked_mul(shape[d])?;
        }
        (count == size).then_some(axes)
    };
    wide.view.shape().iter().zip(wide.view.strides()).map(of_dimension).collect()
}

/// Axes, from the innermost on, with neighbours as one where they are one.
fn merged_axes(axes: &[ScaleAxis]) -> Vec<ScaleAxis> {
    let mut merged: Vec<ScaleAxis> = Vec::new();
    for &axis in axes {
        match merged.last_mut() {
            Some(last) if last.size.checked_mul(last.stride) == Some(axis.stride) => {
                last.size = last.size.saturating_mul(axis.size);
            }
            _ => merged.push(axis),
        }
    }
    merged
}
