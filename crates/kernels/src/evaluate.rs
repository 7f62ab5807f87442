//! Which kernel computes each primitive.

use crate::collective::{collective, permute, receive, send};
use crate::contract::dot_general;
use crate::convolution;
use crate::prepare::{KernelOperand, Prepared, prepare};
use crate::quantize::{dequantize, quantize};
use crate::random_numbers::{random_numbers, random_units};
use crate::{
    Combiner, Stream, batch_norm, broadcast_scalars, concatenate, einsum::einsum, fft::fourier,
    fits_declared, gather, index_select::index_select, iota, linalg, movement, pad, reduce,
    reduce_window, reduce_window_inside, rng::random_bits, scatter, select_and_scatter, sort,
    subnormals::without_subnormals, top_k,
};
use numerics::math;
use numerics::shape::StridedView;
use numerics::{DType, Tensor};
use program::operands::{expect_n, sizes, slice, split_at, tensor_list, tensors, values};
use program::primitives::{self, BatchNormKind, Comparison, DotDims, Dynamic};
use program::{
    Conventions, EvalError, EvalResult, Evaluator, Origin, Primitive, Quantized, RuntimeValue,
    WindowDim,
};
use smallvec::SmallVec;
use std::borrow::Cow;

fn one(tensor: Tensor) -> EvalResult {
    Ok(vec![RuntimeValue::Tensor(tensor)])
}

/// Evaluates a primitive, prepared from the op `origin`, on its operands, which are given by value
/// so that an unshared buffer may be reused for the result.
///
/// # Errors
/// If the operands are invalid, the results do not fit in memory, or a block of the primitive
/// fails. Control flow is rejected: executors run it.
pub fn evaluate(
    primitive: &Primitive,
    origin: Origin,
    operands: Vec<RuntimeValue>,
    env: &mut dyn Evaluator,
) -> EvalResult {
    if env.conventions() == Conventions::Xla && primitive.is_arithmetic() {
        let operands = without_subnormals(operands)?;
        return without_subnormals(evaluate_exactly(primitive, origin, operands, env)?);
    }
    evaluate_exactly(primitive, origin, operands, env)
}

/// As [`evaluate`], with subnormal numbers.
fn evaluate_exactly(
    primitive: &Primitive,
    origin: Origin,
    operands: Vec<RuntimeValue>,
    env: &mut dyn Evaluator,
) -> EvalResult {
    match primitive {
        Primitive::Constant(primitives::Constant { tensor }) => one(tensor.clone()),
        Primitive::Splat(primitives::Splat { element, shape }) => {
            one(element.broadcast_scalar(shape)?)
        }
        Primitive::Iota(primitives::Iota { dtype, shape, dimension }) => {
            let iota = |_| Ok(vec![iota(shape, *dtype, *dimension)?]);
            Ok(values(prepared_or(primitive, tensor_list(operands)?, iota)?))
        }
        Primitive::Identity => Ok(operands),
        Primitive::Token => Ok(vec![RuntimeValue::Token]),
        Primitive::Tuple => Ok(vec![RuntimeValue::Tuple(operands)]),
        Primitive::TupleElement(primitives::TupleElement { index }) => {
            match operands.into_iter().next() {
                Some(RuntimeValue::Tuple(mut elements)) if *index < elements.len() => {
                    Ok(vec![elements.swap_remove(*index)])
                }
                _ => Err(EvalError::new(
                    "get_tuple_element_c1",
                    format!("there is no tuple with an element {index}"),
                )),
            }
        }
        Primitive::Untuple => match operands.into_iter().next() {
            Some(RuntimeValue::Tuple(elements)) => Ok(elements),
            _ => Err(EvalError::new("async_done", "the operand is no future")),
        },

        Primitive::Quantized(quantized) => Ok(values(with_floats(quantized, operands)?)),

        Primitive::Map(primitives::Map { block }) => {
            let inputs = tensor_list(operands)?;
            let shape = inputs.first().map(|t| t.shape().to_vec());
            let shape = shape.ok_or_else(|| EvalError::new("map_c1", "there are no inputs"))?;
            let n = inputs[0].num_elements();
            let flat = inputs.into_iter().map(|t| t.into_shape([n])).collect::<Result<_, _>>()?;
            let results = env.scalar_block(*block, n, flat)?.into_iter();
            results.map(|t| Ok(t.into_shape(&shape)?.into())).collect()
        }
        Primitive::Reduce(primitives::Reduce { dimensions, body }) => {
            let mut general = |operands: Vec<Tensor>| {
                let count = operands.len() / 2;
                let (inputs, init_values) = split_at(operands, count)?;
                reduce(inputs, init_values, dimensions, &mut Combiner::new(body, env))
            };
            let operands = tensor_list(operands)?;
            // Prepared kernels of several inputs have one of the results.
            Ok(values(match operands.len() {
                2 => prepared_or(primitive, operands, general)?,
                _ => general(operands)?,
            }))
        }
        Primitive::ReduceWindow(primitives::ReduceWindow { window, inputs, body }) => {
            let conventions = env.conventions();
            let mut general = |operands: Vec<Tensor>| {
                let (inputs, rest) = split_at(operands, *inputs)?;
                let (init_values, lists) = split_at(rest, inputs.len())?;
                let reduce = match conventions {
                    Conventions::Specification => reduce_window,
                    Conventions::Xla => reduce_window_inside,
                };
                let body = &mut Combiner::new(body, env);
                match window {
                    Some(window) => reduce(inputs, init_values, window, body),
                    None => reduce(inputs, init_values, &window_of(lists)?, body),
                }
            };
            let operands = tensor_list(operands)?;
            Ok(values(match conventions {
                Conventions::Specification => prepared_or(primitive, operands, general)?,
                Conventions::Xla => general(operands)?,
            }))
        }
        Primitive::SelectAndScatter(primitives::SelectAndScatter {
            window,
            select,
            relation,
            scatter,
        }) => {
            let [operand, source, init] = tensors(operands)?;
            let select = (*select, *relation);
            one(select_and_scatter(env, (select, scatter), [&operand, &source, &init], window)?)
        }
        Primitive::Scatter(primitives::Scatter { dims, body }) => {
            let count = operands.len() / 2;
            let (inputs, rest) = split_at(tensor_list(operands)?, count)?;
            let (indices, updates) = split_at(rest, 1)?;
            let [indices] = expect_n(indices)?;
            let whole_windows = env.conventions() == Conventions::Xla;
            let body = &mut Combiner::new(body, env);
            Ok(values(scatter(inputs, &indices, updates, dims, whole_windows, body)?))
        }
        Primitive::Sort(primitives::Sort { dimension, comparator, limit }) => {
            let inputs = tensor_list(operands)?;
            let rank = inputs.first().map_or(0, Tensor::rank);
            let dimension = from_end(*dimension, rank)
                .ok_or_else(|| EvalError::new("sort_c4", "there is no such dimension"))?;
            let sorted = sort(inputs, dimension, comparator, env)?;
            let Some(limit) = *limit else { return Ok(values(sorted)) };
            let first = |tensor: &Tensor| {
                let (rank, mut limits) = (tensor.rank(), tensor.shape().to_vec());
                limits[dimension] = limits[dimension].min(limit);
                slice(tensor, &vec![0; rank], &limits, &vec![1; rank])
            };
            Ok(values(sorted.iter().map(first).collect::<Result<_, _>>()?))
        }
        Primitive::RandomNumbers(primitives::RandomNumbers { distribution, stream, declared }) => {
            let [a, b, shape] = tensors(operands)?;
            let shape = sizes(&shape)?;
            fits_declared(declared.as_deref(), &shape)?;
            let units = random_units(&shape, a.dtype());
            let before = env.process_context()?.advance_random(origin, units);
            one(random_numbers(*distribution, &a, &b, &shape, Stream::new(*stream, before))?)
        }

        Primitive::Collective(parameters) => collective(parameters, origin, operands, env),
        Primitive::Permute(primitives::Permute { pairs, channel, zeros }) => {
            permute(pairs, *channel, zeros, origin, operands, env)
        }
        Primitive::Send(primitives::Send { channel, pairs }) => {
            send(*channel, pairs.as_ref(), operands, env)
        }
        Primitive::Receive(primitives::Receive { channel, pairs, zeros }) => {
            receive(*channel, pairs.as_ref(), zeros, origin, env)
        }
        Primitive::Infeed => {
            let mut fed = env.process_context()?.infeed()?;
            fed.push(RuntimeValue::Token);
            Ok(fed)
        }
        Primitive::Outfeed => {
            let mut operands = operands;
            // The token is last.
            operands.pop();
            env.process_context()?.outfeed(operands)?;
            Ok(vec![RuntimeValue::Token])
        }
        // A grid has far fewer processes than 32 bits count.
        Primitive::ReplicaId => {
            one(Tensor::scalar(env.process_context()?.process().replica as u32))
        }
        Primitive::PartitionId => {
            one(Tensor::scalar(env.process_context()?.process().partition as u32))
        }

        Primitive::Block(primitives::Block { block }) => env.block(*block, operands),
        Primitive::Call(primitives::Call { function }) => env.call(*function, operands),
        Primitive::If(_) | Primitive::Case(_) | Primitive::While(_) => {
            Err(EvalError::new("evaluate", "ops with regions or calls are not evaluated"))
        }
        Primitive::Native(native) => (native.function)(origin, operands, env),
        Primitive::Invalid(error) => Err(error.clone()),
        Primitive::Unary(_)
        | Primitive::Binary(_)
        | Primitive::Compare(_)
        | Primitive::Select
        | Primitive::Clamp
        | Primitive::Convert(_)
        | Primitive::Bitcast(_)
        | Primitive::ReducePrecision(_)
        | Primitive::Reshape(_)
        | Primitive::BroadcastInDim(_)
        | Primitive::Broadcast(_)
        | Primitive::Transpose(_)
        | Primitive::Reverse(_)
        | Primitive::Slice(_)
        | Primitive::StridedGather(_)
        | Primitive::Pad(_)
        | Primitive::Concatenate(_)
        | Primitive::DynamicSlice(_)
        | Primitive::DynamicUpdateSlice
        | Primitive::SetDimensionSize(_)
        | Primitive::DimensionSize(_)
        | Primitive::Dynamic(_)
        | Primitive::Gather(_)
        | Primitive::IndexSelect(_)
        | Primitive::Dot(_)
        | Primitive::Convolution(_)
        | Primitive::Einsum(_)
        | Primitive::Fft(_)
        | Primitive::Cholesky(_)
        | Primitive::TriangularSolve(_)
        | Primitive::TopK(_)
        | Primitive::BatchNorm(_)
        | Primitive::RandomBits(_) => Ok(values(compute(primitive, tensor_list(operands)?)?)),
    }
}

/// Evaluates a primitive that is a function of tensors alone.
fn compute(primitive: &Primitive, operands: Vec<Tensor>) -> Result<Vec<Tensor>, EvalError> {
    let result = match primitive {
        Primitive::Identity => return Ok(operands),

        // Functions of elements at one position.
        Primitive::Unary(function) => {
            let [operand] = expect_n(operands)?;
            math::unary(*function, operand)?
        }
        Primitive::Binary(function) => {
            let [lhs, rhs] = expect_n(operands)?;
            math::binary(*function, lhs, rhs)?
        }
        Primitive::Compare(comparison) => {
            let [lhs, rhs] = expect_n(operands)?;
            compare(comparison, lhs, rhs)?
        }
        Primitive::Select => {
            let [pred, on_true, on_false] = expect_n(operands)?;
            let [on_true, on_false] = if pred.rank() == 0 || on_true.shape() != on_false.shape() {
                broadcast_scalars([on_true, on_false])?
            } else {
                // Both of them scalars, one for each element of the predicate.
                let [on_true, on_false, _] = broadcast_scalars([on_true, on_false, pred.clone()])?;
                [on_true, on_false]
            };
            math::select(&pred, &on_true, &on_false)?
        }
        Primitive::Clamp => {
            let [min, mut operand, max] = expect_n(operands)?;
            if operand.rank() == 0 {
                [operand, _, _] = broadcast_scalars([operand, min.clone(), max.clone()])?;
            }
            math::clamp(&min, operand, &max)?
        }
        Primitive::Convert(primitives::Convert { dtype }) => {
            let [operand] = expect_n(operands)?;
            math::convert(operand, *dtype)?
        }
        Primitive::Bitcast(primitives::Bitcast { dtype }) => {
            let [operand] = expect_n(operands)?;
            math::bitcast(&operand, *dtype)?
        }
        Primitive::ReducePrecision(primitives::ReducePrecision {
            exponent_bits,
            mantissa_bits,
        }) => {
            let [operand] = expect_n(operands)?;
            math::reduce_precision(operand, *exponent_bits, *mantissa_bits)?
        }

        // Movement and sizes.
        Primitive::Reshape(primitives::Reshape { shape }) => {
            let [operand] = expect_n(operands)?;
            operand.into_shape(shape)?
        }
        Primitive::BroadcastInDim(primitives::BroadcastInDim { shape, dimensions }) => {
            let [operand] = expect_n(operands)?;
            movement::broadcast(&operand, shape, dimensions)?
        }
        Primitive::Broadcast(primitives::Broadcast { sizes }) => {
            let [operand] = expect_n(operands)?;
            let shape = [sizes, operand.shape()].concat();
            let dimensions: Vec<usize> = (sizes.len()..shape.len()).collect();
            movement::broadcast(&operand, &shape, &dimensions)?
        }
        Primitive::StridedGather(primitives::StridedGather { view }) => {
            let [operand] = expect_n(operands)?;
            operand.gather(view)?
        }
        Primitive::Transpose(primitives::Transpose { permutation }) => {
            let [operand] = expect_n(operands)?;
            movement::transpose(&operand, permutation)?
        }
        Primitive::Reverse(primitives::Reverse { dimensions }) => {
            let [operand] = expect_n(operands)?;
            movement::reverse(&operand, dimensions)?
        }
        Primitive::Slice(primitives::Slice { starts, limits, strides }) => {
            let [operand] = expect_n(operands)?;
            slice(&operand, starts, limits, strides)?
        }
        Primitive::Pad(primitives::Pad { low, high, interior }) => {
            let [operand, padding] = expect_n(operands)?;
            pad(&operand, &padding, low, high, interior)?
        }
        Primitive::Concatenate(primitives::Concatenate { dimension }) => {
            concatenate(&operands.iter().collect::<Vec<_>>(), *dimension)?
        }
        Primitive::DynamicSlice(primitives::DynamicSlice { sizes }) => {
            let (operand, starts) = split_at(operands, 1)?;
            let [operand] = expect_n(operand)?;
            movement::dynamic_slice(&operand, &starts, sizes)?
        }
        Primitive::DynamicUpdateSlice => {
            let (operands, starts) = split_at(operands, 2)?;
            let [operand, update] = expect_n(operands)?;
            movement::dynamic_update_slice(operand, &update, &starts)?
        }
        Primitive::SetDimensionSize(primitives::SetDimensionSize {
            dimension,
            bound,
            declared,
            fits: _,
        }) => {
            let [operand, size] = expect_n(operands)?;
            let result = set_dimension_size(&operand, *dimension, size.item::<i32>()?, *bound)?;
            fits_declared(declared.as_deref(), result.shape())?;
            result
        }
        Primitive::DimensionSize(primitives::DimensionSize { dimension }) => {
            let [operand] = expect_n(operands)?;
            let size = operand.shape().get(*dimension).and_then(|&size| i32::try_from(size).ok());
            Tensor::scalar(size.ok_or_else(|| {
                EvalError::new("get_dimension_size_c1", format!("no size of dimension {dimension}"))
            })?)
        }
        Primitive::Dynamic(dynamic) => dynamic_op(dynamic, operands)?,
        Primitive::IndexSelect(primitives::IndexSelect {
            dimension,
            batch_dims: stated,
            declared,
        }) => {
            let [operand, index] = expect_n(operands)?;
            let no_dim = || EvalError::new("torch_index_select", "there is no such dimension");
            let dimension = from_end(*dimension, operand.rank()).ok_or_else(no_dim)?;
            let from_start = if *stated < 0 { *stated + index.rank() as i64 } else { *stated };
            let batch_dims = usize::try_from(from_start).ok().filter(|&n| n <= index.rank());
            let batch_dims = batch_dims.ok_or_else(|| {
                let message = format!(
                    "an index of rank {} cannot have {stated} batch dimensions",
                    index.rank()
                );
                EvalError::new("torch_index_select", message)
            })?;
            let result = index_select(&operand, &index, dimension, batch_dims)?;
            fits_declared(declared.as_deref(), result.shape())?;
            result
        }

        // Contractions and other algorithms, on the types of their kernels or others.
        Primitive::Gather(primitives::Gather { dims, sizes }) => {
            return prepared_or(primitive, operands, |operands| {
                let [operand, start_indices] = expect_n(operands)?;
                Ok(vec![gather(&operand, &start_indices, dims, sizes)?])
            });
        }
        Primitive::Dot(primitives::Dot { dims, dtype }) => {
            return prepared_or(primitive, operands, |operands| {
                let [lhs, rhs] = expect_n(operands)?;
                let of_dot = || DotDims::of_dot(lhs.rank());
                let dims = dims.as_deref().map_or_else(|| Cow::Owned(of_dot()), Cow::Borrowed);
                Ok(vec![dot_general(lhs, rhs, &dims, *dtype)?])
            });
        }
        Primitive::Convolution(parameters) => {
            return prepared_or(primitive, operands, |operands| {
                let [lhs, rhs] = expect_n(operands)?;
                Ok(vec![convolution::evaluate(parameters, &parameters.window, lhs, rhs)?])
            });
        }
        Primitive::Einsum(primitives::Einsum { config, dtype, declared }) => {
            let result = einsum(config, operands, *dtype)?;
            fits_declared(declared.as_deref(), result.shape())?;
            result
        }
        Primitive::Fft(primitives::Fft { transform, lengths }) => {
            return prepared_or(primitive, operands, |operands| {
                let [operand] = expect_n(operands)?;
                Ok(vec![fourier(*transform, operand, lengths)?])
            });
        }
        Primitive::Cholesky(primitives::Cholesky { lower }) => {
            return prepared_or(primitive, operands, |operands| {
                let [a] = expect_n(operands)?;
                Ok(vec![linalg::cholesky(a, *lower)?])
            });
        }
        Primitive::TriangularSolve(system) => {
            return prepared_or(primitive, operands, |operands| {
                let [a, b] = expect_n(operands)?;
                Ok(vec![linalg::triangular_solve(a, b, *system)?])
            });
        }

        // Several results.
        Primitive::TopK(primitives::TopK { k, largest }) => {
            let (operand, count) = split_at(operands, 1)?;
            let [operand] = expect_n(operand)?;
            let k = match k {
                Some(k) => *k,
                None => {
                    let [count] = expect_n(count)?;
                    let empty = || EvalError::new("dynamic_top_k", "k is empty");
                    sizes(&count)?.first().copied().ok_or_else(empty)?
                }
            };
            return Ok(top_k(&operand, k, *largest)?.into());
        }
        Primitive::BatchNorm(primitives::BatchNorm { kind, epsilon, feature_index }) => {
            let normalize = match kind {
                BatchNormKind::Inference => batch_norm::batch_norm_inference,
                BatchNormKind::Training => batch_norm::batch_norm_training,
                BatchNormKind::Grad => batch_norm::batch_norm_grad,
            };
            return normalize(&operands, *epsilon, *feature_index);
        }
        Primitive::RandomBits(primitives::RandomBits { generator, shape, dtype }) => {
            let (state, dynamic_shape) = split_at(operands, 1)?;
            let [state] = expect_n(state)?;
            let shape = match shape {
                Some(shape) => shape.clone(),
                None => {
                    let [shape] = expect_n(dynamic_shape)?;
                    sizes(&shape)?
                }
            };
            let (state, bits) = random_bits(*generator, &state, &shape, *dtype)?;
            return Ok(vec![state, bits]);
        }

        Primitive::Token
        | Primitive::Tuple
        | Primitive::Untuple
        | Primitive::TupleElement(_)
        | Primitive::Constant(_)
        | Primitive::Splat(_)
        | Primitive::Iota(_)
        | Primitive::Quantized(_)
        | Primitive::Map(_)
        | Primitive::Reduce(_)
        | Primitive::ReduceWindow(_)
        | Primitive::SelectAndScatter(_)
        | Primitive::Scatter(_)
        | Primitive::Sort(_)
        | Primitive::RandomNumbers(_)
        | Primitive::Collective(_)
        | Primitive::Permute(_)
        | Primitive::Send(_)
        | Primitive::Receive(_)
        | Primitive::Infeed
        | Primitive::Outfeed
        | Primitive::ReplicaId
        | Primitive::PartitionId
        | Primitive::Block(_)
        | Primitive::Call(_)
        | Primitive::If(_)
        | Primitive::Case(_)
        | Primitive::While(_)
        | Primitive::Native(_)
        | Primitive::Invalid(_) => {
            let message = "the op is not a function of tensors alone";
            return Err(EvalError::new("evaluate", message));
        }
    };
    Ok(vec![result])
}

/// Computes a primitive by the prepared kernel for the operands, and by `general` otherwise.
fn prepared_or(
    primitive: &Primitive,
    operands: Vec<Tensor>,
    general: impl FnOnce(Vec<Tensor>) -> Result<Vec<Tensor>, EvalError>,
) -> Result<Vec<Tensor>, EvalError> {
    match prepared(primitive, &operands) {
        Some(prepared) => Ok(prepared.run(&operands)?),
        None => general(operands),
    }
}

/// The kernel of the first result of a primitive on these operands.
fn prepared(primitive: &Primitive, operands: &[Tensor]) -> Option<Prepared> {
    let views = operands.iter().map(|operand| StridedView::dense(operand.shape()).ok());
    let views = views.collect::<Option<SmallVec<[StridedView; 3]>>>()?;
    let types = operands.iter().zip(&views).map(|(operand, view)| KernelOperand {
        dtype: operand.dtype(),
        view,
        len: operand.num_elements(),
    });
    prepare(primitive, &types.collect::<SmallVec<[KernelOperand<'_>; 3]>>(), &[0])
}

/// A primitive on floats: quantized operands are dequantized, and results quantized.
fn with_floats(
    quantized: &Quantized,
    operands: Vec<RuntimeValue>,
) -> Result<Vec<Tensor>, EvalError> {
    let dequantized = |(i, operand): (usize, Tensor)| match quantized.operands.get(i) {
        Some(Some(quantization)) => dequantize(operand, quantization),
        _ => Ok(operand),
    };
    let operands = tensor_list(operands)?.into_iter().enumerate().map(dequantized);
    let results = compute(&quantized.primitive, operands.collect::<Result<_, _>>()?)?;
    let requantized = |(i, result): (usize, Tensor)| match quantized.results.get(i) {
        Some(Some(quantization)) => quantize(result, quantization),
        _ => Ok(result),
    };
    results.into_iter().enumerate().map(requantized).collect()
}

/// A dimension that counts from the end if it is negative.
pub fn from_end(dimension: i64, rank: usize) -> Option<usize> {
    let rank = i64::try_from(rank).ok()?;
    let dimension = if dimension < 0 { dimension.checked_add(rank)? } else { dimension };
    usize::try_from(dimension).ok().filter(|_| dimension < rank)
}

fn compare(comparison: &Comparison, lhs: Tensor, rhs: Tensor) -> Result<Tensor, EvalError> {
    let Comparison { direction, total_order, read_as } = *comparison;
    let (lhs, rhs) = match read_as {
        Some(dtype) => (math::bitcast(&lhs, dtype)?, math::bitcast(&rhs, dtype)?),
        None => (lhs, rhs),
    };
    Ok(if total_order && lhs.dtype().is_float() {
        math::compare_total_order(direction, &lhs, &rhs)?
    } else {
        math::compare(direction, &lhs, &rhs)?
    })
}

/// The operand up to `size`. A dimension may also grow up to its bound; the new elements, which no
/// program may rely on, are zeros.
fn set_dimension_size(
    operand: &Tensor,
    dimension: usize,
    size: i32,
    bound: Option<usize>,
) -> Result<Tensor, EvalError> {
    let (mut shape, rank) = (operand.shape().to_vec(), operand.rank());
    let Some(found) = shape.get_mut(dimension) else {
        return Err(EvalError::new("set_dimension_size_c1", format!("no dimension {dimension}")));
    };
    let limit = bound.unwrap_or(*found);
    match usize::try_from(size) {
        Ok(size) if size <= limit => *found = size,
        _ => {
            let message = format!(
                "the size of dimension {dimension} must be between 0 and {limit}; found {size}"
            );
            return Err(EvalError::new("set_dimension_size", message));
        }
    }
    if shape[dimension] <= operand.shape()[dimension] {
        return slice(operand, &vec![0; rank], &shape, &vec![1; rank]);
    }
    let mut grown = Tensor::zeros(operand.dtype(), &shape)?;
    let view = StridedView::window(&shape, &vec![0; rank], operand.shape(), &vec![1; rank])?;
    grown.scatter(&view, operand)?;
    Ok(grown)
}

/// An operation whose numbers are operands.
fn dynamic_op(dynamic: &Dynamic, operands: Vec<Tensor>) -> Result<Tensor, EvalError> {
    match dynamic {
        Dynamic::Reshape { declared } => {
            let [operand, shape] = expect_n(operands)?;
            let shape = sizes(&shape)?;
            fits_declared(declared.as_deref(), &shape)?;
            Ok(operand.into_shape(shape)?)
        }
        Dynamic::BroadcastInDim { dimensions, declared } => {
            let [operand, shape] = expect_n(operands)?;
            let shape = sizes(&shape)?;
            fits_declared(declared.as_deref(), &shape)?;
            movement::broadcast(&operand, &shape, dimensions)
        }
        Dynamic::Iota { dtype, dimension, declared } => {
            let [shape] = expect_n(operands)?;
            let shape = sizes(&shape)?;
            fits_declared(declared.as_deref(), &shape)?;
            iota(&shape, *dtype, *dimension)
        }
        Dynamic::Pad { declared } => {
            let [operand, padding, low, high, interior] = expect_n(operands)?;
            let (low, high, interior) = (low.to_i64s()?, high.to_i64s()?, interior.to_i64s()?);
            let result = pad(&operand, &padding, &low, &high, &interior)?;
            fits_declared(declared.as_deref(), result.shape())?;
            Ok(result)
        }
        Dynamic::Slice { declared } => {
            let [operand, starts, limits, strides] = expect_n(operands)?;
            let result = slice(&operand, &sizes(&starts)?, &sizes(&limits)?, &sizes(&strides)?)?;
            fits_declared(declared.as_deref(), result.shape())?;
            Ok(result)
        }
        Dynamic::Gather(dims) => {
            let [operand, start_indices, slice_sizes] = expect_n(operands)?;
            gather(&operand, &start_indices, dims, &sizes(&slice_sizes)?)
        }
        Dynamic::Convolution(parameters) => {
            let [lhs, rhs, padding] = expect_n(operands)?;
            let padding = math::convert(padding, DType::I64)?.to_vec::<i64>()?;
            let mut window = parameters.window.clone();
            if padding.len() != 2 * window.len() {
                return Err(EvalError::new("window", "the padding does not fit the window"));
            }
            for (dim, pads) in window.iter_mut().zip(padding.chunks_exact(2)) {
                (dim.pad_low, dim.pad_high) = (pads[0], pads[1]);
            }
            convolution::evaluate(parameters, &window, lhs, rhs)
        }
    }
}

/// A window from tensors: sizes, strides, base dilations, window dilations, padding.
fn window_of(lists: Vec<Tensor>) -> Result<Vec<WindowDim>, EvalError> {
    let [sizes, strides, base, dilations, padding] = expect_n(lists)?;
    let padding = padding.to_i64s()?;
    let [sizes, strides, base, dilations] = [sizes, strides, base, dilations].map(|t| t.to_i64s());
    WindowDim::from_lists(&sizes?, &strides?, &base?, &dilations?, &padding)
}
