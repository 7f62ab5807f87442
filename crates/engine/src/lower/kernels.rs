//! The kernels of nodes, prepared for the types of their operands.

use crate::graph::{Graph, Node, Value};
use crate::lower::views::{Definitions, Viewed};
use crate::lower::{narrow_weights, sorts};
use crate::plan::StepOp;
use kernels::{
    Form, FourierTransform, Kernel, KernelOperand, LoopOutput, Prepared, Rearrangement, Sorted,
    Sorting,
};
use program::primitives::{self, Convolution, DotDims};
use program::{Primitive, WindowDim};
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
) -> Option<SmallVec<[StepOp; 1]>> {
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
) -> Option<SmallVec<[StepOp; 1]>> {
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
    let operand = memory(definitions, node.operands[values]);
    let permutation = Arc::new(sorting.permutation(graph.dtype(output)?));
    Some(smallvec![
        apply(graph, Arc::new(sorting), operands, indices)?,
        apply(graph, permutation, smallvec![operand, indices], output)?,
    ])
}

/// The step that computes one result of a node by a prepared kernel.
fn function(definitions: &Definitions<'_>, node: &Node, output: Value) -> Option<StepOp> {
    let graph = definitions.graph;
    let primitive = &*node.primitive;
    let position = node.results.iter().position(|&value| value == output)?;
    match (primitive, &node.operands[..]) {
        (
            Primitive::Transpose(_)
            | Primitive::Reshape(_)
            | Primitive::Reverse(_)
            | Primitive::Slice(_)
            | Primitive::StridedGather(_)
            | Primitive::BroadcastInDim(_)
            | Primitive::Broadcast(_),
            _,
        ) => {
            let Viewed { memory, view, len } = definitions.any_view(output)?;
            // The kernel of a reshape shares the memory.
            if memory == output || view.is_dense() {
                return None;
            }
            let rearrangement = Rearrangement::new(view, graph.dtype(output)?, len)?;
            apply(graph, Arc::new(rearrangement), smallvec![memory], output)
        }
        (Primitive::Sort(_), _) => {
            let (sorting, operands) = sort(definitions, node, position)?;
            apply(graph, Arc::new(sorting), operands, output)
        }
        (Primitive::Dot(dot), &[lhs, rhs]) => {
            narrow_weights::product(definitions, dot, [lhs, rhs], output)
                .or_else(|| product(definitions, primitive, [lhs, rhs], output))
        }
        (Primitive::Convolution(parameters), &[input, kernel]) => {
            if let Some(product) = pointwise(definitions, [input, kernel], parameters, output) {
                return Some(product);
            }
            let (mut parameters, mut operands) = (Convolution::clone(parameters), [input, kernel]);
            // Zeros around the input are padding of the windows.
            if let Some((padded, low, high)) = definitions.zero_padded(input)
                && let Some(with_padding) = parameters.with_padding(low, high)
            {
                (parameters, operands[0]) = (with_padding, padded);
            }
            if let Some((reversed, dimensions)) = definitions.reversed(kernel)
                && let Some(with_reversal) = parameters.with_reversal(dimensions)
            {
                (parameters, operands[1]) = (with_reversal, reversed);
            }
            prepared(definitions, &parameters.into(), &operands, position, output)
        }
        (Primitive::Reduce(_), &[values, indices, value, index]) => {
            // Indices are mostly the same for each result.
            let whole = |value: Value| dense(definitions, value);
            let indices = definitions.view(indices).or_else(|| whole(indices))?;
            let views = [&whole(values)?, &indices, &whole(value)?, &whole(index)?];
            prepared_on(definitions, primitive, &node.operands, &views, position, output)
                .or_else(|| prepared(definitions, primitive, &node.operands, position, output))
        }
        (Primitive::Fft(parameters), &[operand]) => {
            match padded_transform(definitions, parameters, operand, output) {
                Some((transform, input)) => {
                    let input = memory(definitions, input);
                    apply(graph, Arc::new(transform), smallvec![input], output)
                }
                None => prepared(definitions, primitive, &[operand], position, output),
            }
        }
        (_, operands) => prepared(definitions, primitive, operands, position, output),
    }
}

/// The step that computes a value by a kernel.
fn apply(
    graph: &Graph<'_>,
    kernel: Arc<dyn Kernel>,
    operands: Operands,
    output: Value,
) -> Option<StepOp> {
    let ty = LoopOutput { dtype: graph.dtype(output)?, shape: graph.shape(output)? };
    Some(StepOp::Apply { kernel, operands, output, ty, prepacked: None })
}

/// The step that computes a result of a primitive by its kernel, which reads operands as a whole.
fn prepared(
    definitions: &Definitions<'_>,
    primitive: &Primitive,
    operands: &[Value],
    position: usize,
    output: Value,
) -> Option<StepOp> {
    let views = operands.iter().map(|&operand| dense(definitions, operand));
    let views = views.collect::<Option<SmallVec<[Viewed; 3]>>>()?;
    let views: SmallVec<[&Viewed; 3]> = views.iter().collect();
    prepared_on(definitions, primitive, operands, &views, position, output)
}

/// As [`prepared`], with operands as views of memory.
fn prepared_on(
    definitions: &Definitions<'_>,
    primitive: &Primitive,
    operands: &[Value],
    views: &[&Viewed],
    position: usize,
    output: Value,
) -> Option<StepOp> {
    let graph = definitions.graph;
    let mut types: SmallVec<[KernelOperand<'_>; 3]> = SmallVec::new();
    for (&value, Viewed { view, len, .. }) in operands.iter().zip(views.iter().copied()) {
        types.push(KernelOperand { dtype: graph.dtype(value)?, view, len: *len });
    }
    let Prepared { kernel, operands, results } = kernels::prepare(primitive, &types, &[position])?;
    let [result] = &results[..] else { return None };
    // The product that a convolution is has more dimensions, of size 1.
    let shape = graph.shape(output)?;
    let sizes = [&result.shape, &shape].map(|shape| shape.iter().filter(|&&size| size != 1));
    let [found, declared] = sizes;
    if graph.dtype(output) != Some(result.dtype) || !found.eq(declared) {
        return None;
    }
    definitions.count_table(Some(kernel.table_entries()))?;
    let operands = operands.iter().map(|&number| views[number].memory).collect();
    apply(graph, kernel, operands, output)
}

/// A value as a whole, in the memory of a value with the same elements in another shape if
/// possible.
fn dense(definitions: &Definitions<'_>, value: Value) -> Option<Viewed> {
    let viewed = definitions.view(value).filter(Viewed::is_whole);
    viewed.or_else(|| definitions.whole(value))
}

/// The value whose memory holds the elements of a value in order: itself, or one of another shape.
fn memory(definitions: &Definitions<'_>, value: Value) -> Value {
    dense(definitions, value).map_or(value, |viewed| viewed.memory)
}

/// The transform of an operand with zeros after it, which are read from nowhere, and the memory of
/// the others.
fn padded_transform(
    definitions: &Definitions<'_>,
    parameters: &primitives::Fft,
    operand: Value,
    output: Value,
) -> Option<(FourierTransform, Value)> {
    let graph = definitions.graph;
    let (input, low, _) = definitions.zero_padded(operand)?;
    let is_first = low.iter().all(|&count| count == 0);
    let viewed = definitions.view(input).filter(|_| is_first)?;
    let memory = if viewed.view.is_dense() { viewed.memory } else { input };
    let primitives::Fft { transform, lengths } = parameters;
    let (dtype, shape) = (graph.dtype(operand)?, graph.shape(operand)?);
    let transform = FourierTransform::new(*transform, dtype, &shape, lengths).ok()?;
    if transform.shape()[..] != graph.shape(output)?[..] {
        return None;
    }
    Some((transform.padded(&graph.shape(input)?)?, memory))
}

/// The sort of one result of a node, and the operands that it reads.
fn sort(
    definitions: &Definitions<'_>,
    node: &Node,
    position: usize,
) -> Option<(Sorting, Operands)> {
    let sorted = sorts::sorted(definitions, node, position);
    let sorting = sorts::sorting(definitions.graph, node, sorted)?;
    let operands = sorting.operands().map(|i| memory(definitions, node.operands[i])).collect();
    Some((sorting, operands))
}

/// The product of two values, which reads their memory in any order.
fn product(
    definitions: &Definitions<'_>,
    primitive: &Primitive,
    [lhs, rhs]: [Value; 2],
    output: Value,
) -> Option<StepOp> {
    // Where movement in front of it cannot be looked through, it is done before.
    let moved = [definitions.any_view(lhs)?, definitions.any_view(rhs)?];
    let whole = [dense(definitions, lhs)?, dense(definitions, rhs)?];
    let choices = [
        [&moved[0], &moved[1]],
        [&moved[0], &whole[1]],
        [&whole[0], &moved[1]],
        [&whole[0], &whole[1]],
    ];
    let product =
        |views: [&Viewed; 2]| prepared_on(definitions, primitive, &[lhs, rhs], &views, 0, output);
    choices.into_iter().find_map(product)
}

/// A convolution whose windows are single elements, as the product that it is: of the input's
/// features with the kernel, if results have the order of a product.
fn pointwise(
    definitions: &Definitions<'_>,
    [input, kernel]: [Value; 2],
    parameters: &Convolution,
    output: Value,
) -> Option<StepOp> {
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
    let dot = primitives::Dot { dims: Some(Box::new(dims)), dtype: parameters.dtype };
    let product = product(definitions, &dot.into(), [input, kernel], output)?;
    let StepOp::Apply { kernel, .. } = &product else { return None };
    let is_converted = matches!(kernel.form(), Form::Dot(dot) if dot.is_converted());
    (!is_converted).then_some(product)
}
