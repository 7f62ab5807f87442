//! Replaces scatters of one small window in loops, as of `x.at[i].set(y)`, by a slice, elementwise
//! nodes and an update of the slice: ops that are machine code in blocks.
//!
//! A scatter skips a window that is outside, where a slice and an update move it inside: then the
//! elements that the slice has are written again.

use crate::graph::{Graph, Node, Region};
use crate::passes::assign_storage::MAX_PARTIALLY_USED;
use crate::passes::expansion::Expansion;
use crate::passes::known;
use numerics::math::{BinaryOp, Direction};
use numerics::shape::num_elements;
use numerics::{DType, Tensor, math};
use program::{BodyShape, Primitive, primitives};

/// Inputs of more elements are updated also at known indices.
const MAX_MOVED: usize = 64;

pub(crate) fn run(graph: &mut Graph<'_>, body: &mut Region) {
    visit(graph, body, false);
}

/// Replaces the scatters of a region, if it is in a loop, and of nested regions.
fn visit(graph: &mut Graph<'_>, region: &mut Region, is_in_loop: bool) {
    let is_scatter = |node: &Node| matches!(&*node.primitive, Primitive::Scatter(_));
    if is_in_loop && region.nodes.iter().any(is_scatter) {
        let mut nodes = Vec::with_capacity(region.nodes.len());
        for node in std::mem::take(&mut region.nodes) {
            match window(graph, &node).and_then(|window| expand(graph, &node, &window)) {
                Some(expanded) => nodes.extend(expanded),
                None => nodes.push(node),
            }
        }
        region.nodes = nodes;
    }
    for node in &mut region.nodes {
        let is_loop = matches!(&*node.primitive, Primitive::While(_));
        node.regions.iter_mut().for_each(|inner| visit(graph, inner, is_in_loop || is_loop));
    }
}

/// The window of a scatter that has one, which is inside or outside as a whole.
struct UpdateWindow {
    /// Its size along each dimension of the input.
    sizes: Vec<usize>,
    /// The dimension of the input for each entry of the index vector, and the last index there.
    entries: Vec<(usize, i64)>,
}

/// The window of a scatter with a body of one operation; `None` for other nodes.
fn window(graph: &Graph<'_>, node: &Node) -> Option<UpdateWindow> {
    let Primitive::Scatter(scatter) = &*node.primitive else { return None };
    let &[input, indices, updates] = &node.operands[..] else { return None };
    let primitives::Scatter { dims, body } = scatter;
    let dtype = graph.dtype(input)?;
    let types = [input, updates, node.results[0]].map(|value| graph.dtype(value));
    let is_alike = types.iter().chain(&body.dtypes).all(|&own| own == Some(dtype));
    let is_common = matches!(body.shape, BodyShape::Values | BodyShape::Binary { .. });
    let is_small = graph.bytes(input).is_some_and(|bytes| bytes <= MAX_PARTIALLY_USED);
    let list = |dims: &[i64]| -> Option<Vec<usize>> {
        dims.iter().map(|&d| usize::try_from(d).ok()).collect()
    };
    let (shape, update) = (graph.shape(input)?, graph.shape(updates)?);
    let (inserted, window_dims) =
        (list(&dims.inserted_window_dims)?, list(&dims.update_window_dims)?);
    let map = list(&dims.scatter_dims_to_operand_dims)?;
    // Of one window, the index vector is all that the indices are.
    let is_single = graph.elements(indices)? == map.len() && dims.input_batching_dims.is_empty();
    if !(is_alike && is_common && is_small && is_single && window_dims.is_sorted()) {
        return None;
    }
    let mut window_sizes = window_dims.iter().map(|&d| update.get(d).copied());
    let mut sizes = vec![1; shape.len()];
    for (dimension, size) in sizes.iter_mut().enumerate() {
        if !inserted.contains(&dimension) {
            *size = window_sizes.next()??;
        }
    }
    // At known indices, a scatter to few elements is a movement of all of them.
    let is_movement = graph.elements(input)? <= MAX_MOVED && known(graph, indices).is_some();
    let is_whole = window_sizes.next().is_none() && graph.elements(updates) == num_elements(&sizes);
    let entry = |&dimension: &usize| {
        let last = i64::try_from(shape.get(dimension)?.checked_sub(1)?).ok()?;
        (sizes.get(dimension) == Some(&1)).then_some((dimension, last))
    };
    let entries = map.iter().map(entry).collect::<Option<Vec<_>>>()?;
    (is_whole && !is_movement && num_elements(&sizes)? > 0)
        .then_some(UpdateWindow { sizes, entries })
}

/// The nodes that replace a scatter of one window; `None` if its indices cannot be compared.
fn expand(graph: &mut Graph<'_>, node: &Node, window: &UpdateWindow) -> Option<Vec<Node>> {
    let Primitive::Scatter(scatter) = &*node.primitive else { return None };
    let &[input, indices, updates] = &node.operands[..] else { return None };
    let (dtype, index) = (graph.dtype(input)?, graph.dtype(indices)?);
    let number = |number: i64| {
        let tensor = math::convert(Tensor::scalar(number), index).ok()?;
        // If the type of the indices has it.
        (tensor.to_i64s().ok()?[..] == [number]).then_some(tensor)
    };
    let lasts = window.entries.iter().map(|&(_, last)| number(last)).collect::<Option<Vec<_>>>()?;
    let mut expansion = Expansion { graph, node, nodes: Vec::new() };
    let zero = expansion.constant(number(0)?);
    let count = lasts.len();
    let all = match count {
        1 => indices,
        _ => expansion.add(reshape(&[count]), &[indices], index, &[count]),
    };
    let mut starts = vec![zero; window.sizes.len()];
    let mut is_inside = None;
    for (entry, (&(dimension, _), last)) in window.entries.iter().zip(lasts).enumerate() {
        let one = match count {
            1 => all,
            _ => expansion.add(part_of(entry), &[all], index, &[1]),
        };
        let start = expansion.add(reshape(&[]), &[one], index, &[]);
        let last = expansion.constant(last);
        let mut bounds = vec![(Direction::Le, last)];
        if index.is_signed() {
            bounds.push((Direction::Ge, zero));
        }
        for (direction, bound) in bounds {
            let comparison =
                primitives::Comparison { direction, total_order: false, read_as: None };
            let holds = expansion.add(comparison.into(), &[start, bound], DType::I1, &[]);
            is_inside = Some(match is_inside {
                Some(before) => {
                    let and = Primitive::Binary(BinaryOp::And);
                    expansion.add(and, &[before, holds], DType::I1, &[])
                }
                None => holds,
            });
        }
        starts[dimension] = start;
    }
    let sizes = &window.sizes[..];
    let slice = primitives::DynamicSlice { sizes: sizes.to_vec() };
    let from = [&[input][..], &starts].concat();
    let old = expansion.add(slice.into(), &from, dtype, sizes);
    let update = expansion.add(reshape(sizes), &[updates], dtype, sizes);
    let mut new = match scatter.body.shape {
        BodyShape::Binary { op, swapped } => {
            let operands = if swapped { [update, old] } else { [old, update] };
            expansion.add(Primitive::Binary(op), &operands, dtype, sizes)
        }
        BodyShape::Values | BodyShape::Block => update,
    };
    if let Some(is_inside) = is_inside {
        let select = primitives::Select.into();
        new = expansion.add(select, &[is_inside, new, old], dtype, sizes);
    }
    let to = [&[input, new][..], &starts].concat();
    Some(expansion.finish(primitives::DynamicUpdateSlice.into(), &to))
}

/// One element of a vector.
fn part_of(number: usize) -> Primitive {
    let (starts, limits, strides) = (vec![number], vec![number + 1], vec![1]);
    primitives::Slice { starts, limits, strides }.into()
}

fn reshape(shape: &[usize]) -> Primitive {
    primitives::Reshape { shape: shape.to_vec() }.into()
}
