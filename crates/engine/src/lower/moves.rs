//! Movement of elements that no loop does.

use crate::graph::{Graph, Node, Value};
use crate::lower::views::{Definitions, Viewed};
use crate::passes::assign_storage::is_small;
use crate::plan::{CopyRegion, DynamicOffset, StepOp};
use kernels::LoopOutput;
use numerics::DType;
use numerics::shape::{Runs, StridedView, num_elements};
use program::Primitive;
use program::primitives;

/// The movement that a node is; `None` if it is none, or its kernel does it better.
pub(crate) fn movement(definitions: &Definitions<'_>, node: &Node) -> Option<StepOp> {
    let graph = definitions.graph;
    let &[output] = &node.results[..] else { return None };
    let shape = graph.shape(output)?;
    if num_elements(&shape)? == 0 {
        return None;
    }
    let (parts, fill) = match &*node.primitive {
        // The kernel shares the memory.
        Primitive::Reshape(_) if !is_small(&graph.types[output as usize]) => return None,
        Primitive::Splat(_)
        | Primitive::Iota(_)
        | Primitive::BroadcastInDim(_)
        | Primitive::Broadcast(_)
        | Primitive::Transpose(_)
        | Primitive::Reverse(_)
        | Primitive::Reshape(_)
        | Primitive::Slice(_)
        | Primitive::StridedGather(_) => {
            let viewed = definitions.view(output).filter(|viewed| viewed.memory != output);
            let viewed = viewed.or_else(|| definitions.movement(output))?;
            (vec![part(viewed, None)?], None)
        }
        // The same bytes. The kernel is faster for many.
        Primitive::Bitcast(_) if is_small(&graph.types[output as usize]) => {
            let &[operand] = &node.operands[..] else { return None };
            let types = [graph.dtype(operand)?, graph.dtype(output)?];
            let is_whole = |ty: &DType| ty.bits() as usize == 8 * ty.bytes() && !ty.is_complex();
            if cfg!(target_endian = "big") || !types.iter().all(is_whole) {
                return None;
            }
            let (read_from, write_to) = (Vec::new(), Vec::new());
            let elements = num_elements(&shape)?;
            let whole =
                CopyRegion { operand, elements, read: None, write: None, read_from, write_to };
            (vec![whole], None)
        }
        Primitive::Concatenate(primitives::Concatenate { dimension }) => {
            (concatenated(definitions, node, &shape, *dimension)?, None)
        }
        Primitive::Pad(primitives::Pad { low, high, interior }) => {
            let &[operand, fill] = &node.operands[..] else { return None };
            let viewed = definitions.view(operand)?;
            let sizes = viewed.view.shape().to_vec();
            let (source, target, _) = StridedView::padded(&sizes, low, high, interior)?;
            let is_whole = source.shape() == sizes;
            let write = Runs::new(&target, num_elements(&shape)?).ok()?;
            let part = if is_whole {
                part(viewed, Some(write))?
            } else {
                let len = num_elements(&sizes)?;
                part(Viewed { memory: operand, view: source, len }, Some(write))?
            };
            (vec![part], Some(fill))
        }
        Primitive::DynamicSlice(primitives::DynamicSlice { sizes }) => {
            let (&operand, indices) = node.operands.split_first()?;
            let bounds = graph.shape(operand)?;
            let view = window(&bounds, sizes)?;
            let len = num_elements(&bounds)?;
            let mut part = part(Viewed { memory: operand, view, len }, None)?;
            part.read_from = starts(graph, indices, &bounds, sizes)?;
            (vec![part], None)
        }
        // An operand that ends is overwritten, unless it is small.
        Primitive::DynamicUpdateSlice => {
            let [operand, update, indices @ ..] = &node.operands[..] else { return None };
            let sizes = graph.shape(*update)?;
            let write = Runs::new(&window(&shape, &sizes)?, num_elements(&shape)?).ok()?;
            let mut update = part(definitions.view(*update)?, Some(write))?;
            update.write_to = starts(graph, indices, &shape, &sizes)?;
            (vec![part(definitions.view(*operand)?, None)?, update], None)
        }
        _ => return None,
    };
    let parts = parts.into_iter().filter(|part| part.elements > 0).collect();
    let ty = LoopOutput { dtype: graph.dtype(output)?, shape };
    Some(StepOp::Move { parts, fill, output, ty })
}

/// The first part of some sizes.
fn window(shape: &[usize], sizes: &[usize]) -> Option<StridedView> {
    let rank = shape.len();
    StridedView::window(shape, &vec![0; rank], sizes, &vec![1; rank]).ok()
}

/// The start indices of a part of some sizes, which are operands.
fn starts(
    graph: &Graph<'_>,
    indices: &[Value],
    shape: &[usize],
    sizes: &[usize],
) -> Option<Vec<DynamicOffset>> {
    let strides = numerics::shape::strides(shape);
    let start = |(axis, &index): (usize, &Value)| {
        let last = shape.get(axis)?.checked_sub(*sizes.get(axis)?)?;
        Some(DynamicOffset { index, dtype: graph.dtype(index)?, last, stride: strides[axis] })
    };
    let starts = indices.iter().enumerate().map(start).collect::<Option<Vec<DynamicOffset>>>()?;
    // A part that is as long as its dimension starts with it.
    Some(starts.into_iter().filter(|start| start.last > 0).collect())
}

/// The parts of operands, in order along a dimension.
fn concatenated(
    definitions: &Definitions<'_>,
    node: &Node,
    shape: &[usize],
    dimension: usize,
) -> Option<Vec<CopyRegion>> {
    let len = num_elements(shape)?;
    let mut starts = vec![0; shape.len()];
    let mut place = |&operand: &Value| {
        let viewed = definitions.view(operand)?;
        let sizes = viewed.view.shape().to_vec();
        let window = StridedView::window(shape, &starts, &sizes, &vec![1; shape.len()]).ok()?;
        *starts.get_mut(dimension)? += sizes.get(dimension)?;
        part(viewed, Some(Runs::new(&window, len).ok()?))
    };
    node.operands.iter().map(&mut place).collect()
}

fn part(viewed: Viewed, write: Option<Runs>) -> Option<CopyRegion> {
    let Viewed { memory, view, len } = viewed;
    let elements = num_elements(view.shape())?;
    let is_whole = view.is_dense() && elements == len;
    let read = if is_whole { None } else { Some(Runs::new(&view, len).ok()?) };
    let (read_from, write_to) = (Vec::new(), Vec::new());
    Some(CopyRegion { operand: memory, elements, read, write, read_from, write_to })
}
