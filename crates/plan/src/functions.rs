//! The kernels of nodes, prepared for the types of their operands.

use crate::graph::{Graph, Node, Value};
use crate::sorts;
use crate::unit::Action;
use crate::views::{Definitions, Viewed};
use kernels::linalg::{Cholesky, TriangularSolve};
use kernels::{
    Dot, FourierTransform, Gather, Kernel, Normalization, PreparedConvolution, RandomBits,
    Rearrangement, Reduction, Scatter, Sorted, Sorting, WindowReduction,
};
use numerics::shape::num_elements;
use numerics::{DType, Iota};
use program::primitives::{self, BatchNormKind, Convolution, DotDims};
use program::{LoopOutput, Primitive, WindowDim};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// The values that a kernel reads.
type Operands = SmallVec<[Value; 3]>;

/// More elements are sorted once for all results.
const MAX_SORTED: usize = 128;

/// The prepared functions of the results of a node that are `used`, or of its only one, if it has
/// them.
pub(crate) fn functions(
    definitions: &Definitions<'_>,
    node: &Node,
    used: &[Value],
) -> Option<SmallVec<[Action; 1]>> {
    let results = match &node.results[..] {
        &[_] => &node.results[..],
        _ => used,
    };
    if let &[first, second] = results
        && let Some(actions) = sorted_with_indices(definitions, node, [first, second])
    {
        return Some(actions);
    }
    let is_independent = match &*node.primitive {
        Primitive::Sort(sort) => {
            sort.limit.is_some() || definitions.graph.elements(*results.first()?)? <= MAX_SORTED
        }
        Primitive::RandomBits(_) => true,
        _ => false,
    };
    if results.is_empty() || results.len() > 1 && !is_independent {
        return None;
    }
    results.iter().map(|&output| function(definitions, node, output)).collect()
}

/// The functions of two results of a sort, one of which is an operand that counts along its
/// dimension: then it has the indices of the elements of the other one.
fn sorted_with_indices(
    definitions: &Definitions<'_>,
    node: &Node,
    outputs: [Value; 2],
) -> Option<SmallVec<[Action; 1]>> {
    let graph = definitions.graph;
    let Primitive::Sort(_) = &*node.primitive else { return None };
    let place = |output| node.results.iter().position(|&result| result == output);
    let [first, second] = [place(outputs[0])?, place(outputs[1])?];
    let (values, indices) = match [first, second].map(|i| sorts::sorted(definitions, node, i)) {
        [Sorted::Operand(_), Sorted::Indices] => (first, second),
        [Sorted::Indices, Sorted::Operand(_)] => (second, first),
        _ => return None,
    };
    let (sorting, operands) = sort(definitions, node, indices)?;
    let [output, indices] = [values, indices].map(|i| node.results[i]);
    let mut operand = [node.operands[values]];
    share_memory(definitions, &mut operand);
    let permutation = Arc::new(sorting.permutation(graph.dtype(output)?));
    Some(smallvec![
        apply(graph, Arc::new(sorting), operands, indices)?,
        apply(graph, permutation, smallvec![operand[0], indices], output)?,
    ])
}

/// The prepared function of one result of a node, if it has one.
fn function(definitions: &Definitions<'_>, node: &Node, output: Value) -> Option<Action> {
    let graph = definitions.graph;
    let ty = LoopOutput { dtype: graph.dtype(output)?, shape: graph.shape(output)? };
    if let Some((kernel, operands)) = one_result(definitions, node, output) {
        return apply(graph, kernel, operands, output);
    }
    if node.results.len() > 1 {
        return None;
    }
    if let Primitive::Iota(primitives::Iota { dtype, shape, dimension }) = &*node.primitive {
        let iota = Iota::new(*dtype, shape, *dimension)?;
        return apply(graph, Arc::new(iota), SmallVec::new(), output);
    }
    if let Primitive::Transpose(_)
    | Primitive::Reshape(_)
    | Primitive::Reverse(_)
    | Primitive::Slice(_)
    | Primitive::BroadcastInDim(_)
    | Primitive::Broadcast(_) = &*node.primitive
    {
        let Viewed { memory, view, len } = definitions.any_view(output)?;
        // The kernel of a reshape shares the memory.
        if memory == output || view.is_dense() {
            return None;
        }
        let rearrangement = Rearrangement::new(view, ty.dtype, len)?;
        return apply(graph, Arc::new(rearrangement), smallvec![memory], output);
    }
    let &[first, ..] = &node.operands[..] else { return None };
    // Of one operand, nothing reads a second one.
    let second = node.operands.get(1).copied().unwrap_or(first);
    let (mut operands, lhs) = (SmallVec::from_slice(&node.operands), graph.shape(first)?);
    let kernel: Arc<dyn Kernel> = match &*node.primitive {
        Primitive::Dot(primitives::Dot { dims, dtype }) => {
            let vectors = || DotDims {
                lhs_contracting_dimensions: vec![lhs.len() as i64 - 1],
                rhs_contracting_dimensions: vec![0],
                ..DotDims::default()
            };
            let dims = dims.as_deref().cloned().unwrap_or_else(vectors);
            let types = [graph.dtype(first)?, graph.dtype(second)?];
            let dot;
            (dot, operands) = product(definitions, [first, second], types, &dims, *dtype)?;
            Arc::new(dot)
        }
        Primitive::Convolution(parameters)
            if let Some((dot, factors)) = pointwise(definitions, [first, second], parameters) =>
        {
            operands = factors;
            Arc::new(dot)
        }
        Primitive::Convolution(parameters) => {
            // Zeros around the input are padding of the windows.
            let padded = definitions.zero_padded(first);
            let padded = padded
                .and_then(|(input, low, high)| Some((input, parameters.with_padding(low, high)?)));
            let (input, parameters) = match &padded {
                Some((input, parameters)) => (*input, parameters),
                None => (first, &**parameters),
            };
            operands[0] = input;
            let (input, kernel) = (graph.shape(input)?, graph.shape(second)?);
            let types = [(graph.dtype(first)?, &input[..]), (graph.dtype(second)?, &kernel[..])];
            let convolution = PreparedConvolution::new(parameters, types)?;
            definitions.list(Some(convolution.listed()))?;
            Arc::new(convolution)
        }
        Primitive::Reduce(primitives::Reduce { dimensions, body }) => {
            let dtype = graph.dtype(first).filter(|&dtype| graph.dtype(second) == Some(dtype))?;
            let is_scalar = graph.elements(second) == Some(1);
            let is_of_type = graph.dtype(output) == Some(dtype);
            let reduction = Reduction::new(body.shape, dtype, &lhs, dimensions);
            Arc::new(reduction.filter(|_| is_scalar && is_of_type)?)
        }
        Primitive::ReduceWindow(primitives::ReduceWindow {
            window: Some(window),
            inputs: 1,
            body,
        }) => {
            let dtype = graph.dtype(first).filter(|&dtype| graph.dtype(second) == Some(dtype))?;
            let is_scalar = graph.elements(second) == Some(1);
            let is_of_type = graph.dtype(output) == Some(dtype);
            let reduction = WindowReduction::prepare(body.shape, dtype, &lhs, window);
            let reduction = reduction.filter(|_| is_scalar && is_of_type)?;
            definitions.list(Some(reduction.listed()))?;
            Arc::new(reduction)
        }
        Primitive::Gather(primitives::Gather { dims, sizes }) => {
            let (indices, index) = (graph.shape(second)?, graph.dtype(second)?);
            let operand = (&lhs[..], graph.dtype(first)?);
            let count = listed(&indices, dims.index_vector_dim, num_elements(sizes)?);
            definitions.list(count)?;
            Arc::new(Gather::new(operand, (&indices, index), dims, sizes).ok()?)
        }
        Primitive::Scatter(primitives::Scatter { dims, body }) => {
            let &[_, _, updates] = &node.operands[..] else { return None };
            let (indices, index) = (graph.shape(second)?, graph.dtype(second)?);
            let dtype = graph.dtype(first).filter(|&dtype| graph.dtype(updates) == Some(dtype))?;
            let (input, updates) = ((&lhs[..], dtype), graph.shape(updates)?);
            let count = listed(&indices, dims.index_vector_dim, num_elements(&updates)?);
            definitions.list(count)?;
            let is_of_type = graph.dtype(output) == Some(dtype);
            let scatter = Scatter::new(body.shape, input, (&indices, index), &updates, dims);
            Arc::new(scatter.filter(|_| is_of_type)?)
        }
        Primitive::Cholesky(primitives::Cholesky { lower }) => {
            let dtype = graph.dtype(first).filter(|&dtype| graph.dtype(output) == Some(dtype))?;
            Arc::new(Cholesky::new(dtype, &lhs, *lower).ok()?)
        }
        Primitive::TriangularSolve(system) => {
            let dtype = graph.dtype(second).filter(|&dtype| graph.dtype(output) == Some(dtype))?;
            let (shapes, is_of_type) = ([&lhs[..], &graph.shape(second)?], graph.dtype(first));
            let solve = TriangularSolve::new(dtype, shapes, *system).ok();
            Arc::new(solve.filter(|_| is_of_type == Some(dtype))?)
        }
        Primitive::Fft(primitives::Fft { transform, lengths }) => {
            let new = || {
                let prepared =
                    FourierTransform::new(*transform, graph.dtype(first)?, &lhs, lengths).ok()?;
                (prepared.shape()[..] == ty.shape[..]).then_some(prepared)
            };
            // Zeros after the operand are read from nowhere.
            let padded = definitions.zero_padded(first).and_then(|(input, low, _)| {
                let is_first = low.iter().all(|&count| count == 0);
                let viewed = definitions.view(input).filter(|_| is_first)?;
                let memory = if viewed.view.is_dense() { viewed.memory } else { input };
                Some((memory, new()?.padded(&graph.shape(input)?)?))
            });
            let (input, prepared) = match padded {
                Some(padded) => padded,
                None => (first, new()?),
            };
            operands[0] = input;
            Arc::new(prepared)
        }
        _ => return None,
    };
    share_memory(definitions, &mut operands);
    apply(graph, kernel, operands, output)
}

/// The step that computes a value by a kernel.
fn apply(
    graph: &Graph<'_>,
    kernel: Arc<dyn Kernel>,
    operands: Operands,
    output: Value,
) -> Option<Action> {
    let ty = LoopOutput { dtype: graph.dtype(output)?, shape: graph.shape(output)? };
    Some(Action::Apply { kernel, operands, output, ty, prepacked: None })
}

/// Replaces operands by values with the same elements in another shape.
fn share_memory(definitions: &Definitions<'_>, operands: &mut [Value]) {
    for operand in operands {
        let viewed = definitions.view(*operand);
        *operand = viewed.filter(Viewed::is_whole).map_or(*operand, |viewed| viewed.memory);
    }
}

/// The kernel of one result of a node that may have several, and its operands.
fn one_result(
    definitions: &Definitions<'_>,
    node: &Node,
    output: Value,
) -> Option<(Arc<dyn Kernel>, Operands)> {
    let graph = definitions.graph;
    let &[first, ..] = &node.operands[..] else { return None };
    let position = node.results.iter().position(|&value| value == output)?;
    let shape = graph.shape(first)?;
    match &*node.primitive {
        Primitive::BatchNorm(primitives::BatchNorm {
            kind: BatchNormKind::Training,
            epsilon,
            feature_index,
        }) if position == 0 => {
            let normalization =
                Normalization::new(graph.dtype(first)?, &shape, *feature_index, *epsilon)?;
            let mut operands = SmallVec::from_slice(&node.operands);
            share_memory(definitions, &mut operands);
            Some((Arc::new(normalization), operands))
        }
        Primitive::Sort(_) => {
            let (sorting, operands) = sort(definitions, node, position)?;
            Some((Arc::new(sorting), operands))
        }
        Primitive::RandomBits(primitives::RandomBits { generator, shape: Some(shape), dtype }) => {
            let state = graph.elements(first).filter(|_| graph.dtype(first) == Some(DType::U64))?;
            let bits = RandomBits::new(*generator, state, shape, *dtype).ok()?;
            let mut operands = smallvec![first];
            share_memory(definitions, &mut operands);
            Some((Arc::new(bits.with_results(&[position])), operands))
        }
        _ => None,
    }
}

/// The sort of one result of a node, and the operands that it reads.
fn sort(
    definitions: &Definitions<'_>,
    node: &Node,
    position: usize,
) -> Option<(Sorting, Operands)> {
    let sorted = sorts::sorted(definitions, node, position);
    let sorting = sorts::sorting(definitions.graph, node, sorted)?;
    let mut operands = sorting.operands().map(|i| node.operands[i]).collect::<Operands>();
    share_memory(definitions, &mut operands);
    Some((sorting, operands))
}

/// The product of two values, and the values whose memory it reads.
fn product(
    definitions: &Definitions<'_>,
    [lhs, rhs]: [Value; 2],
    types: [DType; 2],
    dims: &DotDims,
    dtype: DType,
) -> Option<(Dot, Operands)> {
    let dot = |views: [&Viewed; 2]| {
        let [lhs, rhs] = views.map(|viewed| &viewed.view);
        let dot = Dot::new((types[0], lhs), (types[1], rhs), dims, dtype)?;
        // Conversions are of all memory.
        let is_used = |v: &&Viewed| num_elements(v.view.shape()) >= Some(v.len);
        (!dot.is_converted() || views.iter().all(is_used)).then_some(dot)
    };
    // Where movement in front of it cannot be looked through, it is done before.
    let moved = [definitions.any_view(lhs)?, definitions.any_view(rhs)?];
    let whole = [definitions.whole(lhs)?, definitions.whole(rhs)?];
    let mut choices = [
        [&moved[0], &moved[1]],
        [&moved[0], &whole[1]],
        [&whole[0], &moved[1]],
        [&whole[0], &whole[1]],
    ]
    .into_iter();
    let (dot, views) = choices.find_map(|views| Some((dot(views)?, views)))?;
    definitions.list(Some(dot.listed()))?;
    Some((dot, views.iter().map(|viewed| viewed.memory).collect()))
}

/// A convolution whose windows are single elements, as the product that it is: of the input's
/// features with the kernel, if results have the order of a product.
fn pointwise(
    definitions: &Definitions<'_>,
    [input, kernel]: [Value; 2],
    parameters: &Convolution,
) -> Option<(Dot, Operands)> {
    let (graph, dims) = (definitions.graph, &parameters.dims);
    let types = [graph.dtype(input)?, graph.dtype(kernel)?];
    let is_single = |dim: &WindowDim| {
        let WindowDim { stride, pad_low, pad_high, base_dilation, .. } = *dim;
        (stride, pad_low, pad_high, base_dilation) == (1, 0, 0, 1)
    };
    let shape = graph.shape(kernel)?;
    let is_one = |&d: &i64| usize::try_from(d).ok().and_then(|d| shape.get(d)) == Some(&1);
    let is_grouped = parameters.feature_groups != 1 || parameters.batch_groups != 1;
    if is_grouped
        || types != [parameters.dtype; 2]
        || !parameters.window.iter().all(is_single)
        || !dims.kernel_spatial_dimensions.iter().all(is_one)
    {
        return None;
    }
    // Where each dimension of the input but that of features goes, in order.
    let from = [&[dims.input_batch_dimension], &dims.input_spatial_dimensions[..]].concat();
    let to = [&[dims.output_batch_dimension], &dims.output_spatial_dimensions[..]].concat();
    let mut places: Vec<(i64, i64)> = from.into_iter().zip(to).collect();
    places.sort_unstable();
    if !places.is_sorted_by_key(|&(_, to)| to)
        || dims.output_feature_dimension != places.len() as i64
    {
        return None;
    }
    let dims = DotDims {
        lhs_contracting_dimensions: vec![dims.input_feature_dimension],
        rhs_contracting_dimensions: vec![dims.kernel_input_feature_dimension],
        ..DotDims::default()
    };
    let (dot, factors) = product(definitions, [input, kernel], types, &dims, parameters.dtype)?;
    (!dot.is_converted()).then_some((dot, factors))
}

/// The places that a gather or scatter keeps in lists: for each index vector, and for each of so
/// many elements of a window or of the updates.
fn listed(indices: &[usize], vector: i64, elements: usize) -> Option<usize> {
    let mut batch = indices.to_vec();
    let vector = usize::try_from(vector).ok()?;
    if vector < batch.len() {
        batch.remove(vector);
    }
    num_elements(&batch)?.checked_mul(3)?.checked_add(elements.checked_mul(2)?)
}
