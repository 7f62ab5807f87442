//! The meaning of the `custom_call` targets that exporters emit.
//!
//! A target is a row of [`TARGETS`] or a routine of LAPACK (`lapack.rs`); one that is neither is an
//! error that names it.

mod lapack;
mod sparse;

use crate::enums::RNG_ALGORITHM;
use crate::eval;
use crate::ops::CustomCallOp;
use crate::spmd;
use mlir::OpRef;
use mlir::eval::{EvalEnv, EvalError, EvalFn, EvalResult, RuntimeValue};
use numerics::math::{self, UnaryOp};
use numerics::shape::StridedView;
use numerics::{DType, I1, Tensor};
use side_dialects::expect;

/// Names of targets and what they compute.
pub static TARGETS: &[(&str, EvalFn)] = &[
    (spmd::FULL_TO_SHARD, spmd::full_to_shard),
    (spmd::SHARD_TO_FULL, spmd::shard_to_full),
    (spmd::SHARDING, identity),
    ("annotate_device_placement", identity),
    ("check.eq", check_eq),
    ("check.expect_almost_eq", expect_almost_eq),
    ("check.expect_close", expect_close),
    ("check.expect_eq", expect_eq),
    ("cpu_csr_sparse_dense_ffi", sparse::csr_product),
    ("ApproxTopK", approx_top_k),
    ("mhlo.topk", top_k),
    ("shape_assertion", shape_assertion),
    ("stablehlo.dynamic_approx_top_k", approx_top_k),
    ("stablehlo.dynamic_reduce_window", dynamic_reduce_window),
    ("stablehlo.dynamic_rng_bit_generator", rng_bit_generator),
    ("stablehlo.dynamic_top_k", dynamic_top_k),
];

/// A target that is this and the name of an elementwise function of one operand, such as
/// `mhlo.erf`, is that function.
const ELEMENTWISE: &str = "mhlo.";

/// Tolerance of `check.expect_almost_eq` as a custom call, which has no attribute for it: that of
/// upstream's interpreter.
const TOLERANCE: f64 = 1e-3;

/// Units in the last place that `check.expect_close` allows as a custom call: as upstream's
/// interpreter.
const MAX_ULP_DIFFERENCE: u64 = 3;

/// Tolerance of `check.eq` for tensors that are not of integers: that of upstream's interpreter.
const EQ_TOLERANCE: f64 = 1e-4;

/// Evaluates a `stablehlo.custom_call` by its target.
///
/// # Errors
/// An unknown target, or whatever the target reports.
pub fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, env: &mut dyn EvalEnv) -> EvalResult {
    let target = CustomCallOp(op).call_target_name().and_then(|t| t.as_str()).unwrap_or("");
    if let Some(registered) = env.world().ok().and_then(|world| world.custom_call(target)) {
        return registered(op, operands, env);
    }
    let elementwise = target
        .strip_prefix(ELEMENTWISE)
        .and_then(|name| UnaryOp::ALL.iter().find(|f| f.name() == name));
    if let Some(&function) = elementwise {
        let [operand] = eval::tensors(operands)?;
        return eval::one(math::unary(function, operand)?);
    }
    match TARGETS.iter().find(|(name, _)| *name == target) {
        Some((_, function)) => function(op, operands, env),
        None if lapack::is_target(target) => lapack::eval(op, operands, env),
        None => {
            let known: Vec<_> = TARGETS
                .iter()
                .map(|(name, _)| name.to_string())
                .chain([lapack::targets()])
                .collect();
            let message = format!(
                "the custom call target `{target}` is unknown; say what it does with `CustomCalls::register` in Rust; known are \
                 {}, and {ELEMENTWISE} with the name of an elementwise function",
                known.join(", ")
            );
            Err(EvalError::new("custom_call", message))
        }
    }
}

/// The operands, of which the call only says something.
fn identity(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    Ok(operands)
}

/// As `mhlo.topk` of the largest elements, with `k` as the second operand.
fn dynamic_top_k(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [operand, k] = eval::tensors(operands)?;
    let k = eval::sizes(&k)?
        .first()
        .copied()
        .ok_or_else(|| EvalError::new("dynamic_top_k", "k is empty"))?;
    let [values, indices] = eval::top_k(&operand, k, true)?;
    Ok(vec![values.into(), indices.into()])
}

/// The largest elements along a dimension, or the smallest, and what an operand of indices has
/// there. Exact, as an approximation may be. Operands: elements, indices, and initial values of
/// both, of which that of elements says which way the order goes: it is the last in it.
///
/// Source: JAX, `jax/_src/lax/ann.py`.
fn approx_top_k(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let invalid = |what: &str| EvalError::new("approx_top_k", what.to_string());
    let operands = eval::all_tensors(operands)?;
    let [elements, positions, init, ..] = &operands[..] else {
        return Err(invalid("expected at least 3 operands"));
    };
    let config = op.attr("mhlo.backend_config").or_else(|| op.attr("backend_config"));
    let config = config
        .and_then(|c| c.as_dictionary())
        .ok_or_else(|| invalid("there is no backend_config"))?;
    let dimension = config
        .get("reduction_dim")
        .and_then(|d| d.as_i64())
        .ok_or_else(|| invalid("no reduction_dim"))?;
    let rank = elements.rank();
    let axis = if dimension < 0 { dimension + rank as i64 } else { dimension };
    let axis = usize::try_from(axis)
        .ok()
        .filter(|&axis| axis < rank)
        .ok_or_else(|| invalid("no such dimension"))?;
    // The result may have more elements than `top_k`; those are the next in order.
    let declared =
        op.result_types().next().and_then(|ty| usize::try_from(*ty.shape()?.get(axis)?).ok());
    let k = declared.or_else(|| usize::try_from(config.get("top_k")?.as_i64()?).ok());
    let k = k.ok_or_else(|| invalid("the number of results is not known"))?;
    let least = math::convert(init.clone(), DType::F64)?.to_vec::<f64>()?;
    let largest = least.first().is_some_and(|&least| least < 0.0);
    // With the dimension last, and back.
    let mut order: Vec<usize> = (0..rank).filter(|&d| d != axis).collect();
    order.push(axis);
    let moved = |t: &Tensor| t.gather(&StridedView::dense(t.shape())?.permute(&order)?);
    let [values, indices] = eval::top_k(&moved(elements)?, k, largest)?;
    let size = elements.shape()[axis];
    let rows = indices.to_i64s()?.into_iter().enumerate();
    let places: Vec<usize> =
        rows.map(|(i, at)| i / k.max(1) * size + usize::try_from(at).unwrap_or(0)).collect();
    let found = moved(positions)?.take(&places)?.into_shape(values.shape())?;
    let mut back = vec![0; rank];
    order.iter().enumerate().for_each(|(to, &from)| back[from] = to);
    let restored = |t: Tensor| t.gather(&StridedView::dense(t.shape())?.permute(&back)?);
    Ok(vec![restored(values)?.into(), restored(found)?.into()])
}

/// As `reduce_window`, with a function for its body and operands for its attributes: after inputs
/// and initial values the dimensions, strides, base dilations and window dilations of the window,
/// and its padding.
fn dynamic_reduce_window(
    op: OpRef<'_>,
    operands: Vec<RuntimeValue>,
    env: &mut dyn EvalEnv,
) -> EvalResult {
    let count = op.num_results();
    let (inputs, rest) = eval::split(eval::all_tensors(operands)?, count)?;
    let (init_values, window) = eval::split(rest, count)?;
    let [sizes, strides, base, dilations, padding] = eval::exactly(window)?;
    let padding = padding.to_i64s()?;
    let lists = [&sizes, &strides, &base, &dilations].map(|t| t.to_i64s());
    let [sizes, strides, base, dilations] = lists;
    let window = eval::WindowLists {
        sizes: sizes?,
        strides: strides?,
        base: base?,
        dilations: dilations?,
        padding,
    };
    let functions = CustomCallOp(op).called_computations().and_then(|c| c.as_array());
    let symbol = functions
        .and_then(|f| f.first()?.as_flat_symbol())
        .ok_or_else(|| eval::missing(op, "called_computations"))?;
    let mut body = eval::Body::of_function(op, symbol, env)?;
    Ok(eval::all(eval::reduce_window(inputs, init_values, &window.dims()?, &mut body)?))
}

/// As the op of that name, with the shape of the output as the second operand.
fn rng_bit_generator(
    op: OpRef<'_>,
    operands: Vec<RuntimeValue>,
    _: &mut dyn EvalEnv,
) -> EvalResult {
    let [state, shape] = eval::tensors(operands)?;
    let algorithm =
        op.attr("rng_algorithm").and_then(|a| RNG_ALGORITHM.case(a.as_enum(&RNG_ALGORITHM)?));
    let algorithm = match algorithm {
        Some("THREE_FRY") => eval::Generator::ThreeFry,
        Some(_) => eval::Generator::Philox,
        None => return Err(eval::missing(op, "rng_algorithm")),
    };
    let dtype = eval::storage_dtype(op.result_types().last().unwrap_or(&mlir::Type::none()))?;
    let (state, output) = eval::random_bits(algorithm, &state, &eval::sizes(&shape)?, dtype)?;
    Ok(vec![state.into(), output.into()])
}

/// The `k` largest elements (or smallest, where `largest` is false) along the last dimension, and
/// their indices.
fn top_k(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [operand] = eval::tensors(operands)?;
    let attributes = op.attr("mhlo.attributes").and_then(|a| a.as_dictionary());
    let attribute = |name| attributes.and_then(|a| a.get(name));
    let k = attribute("k")
        .and_then(|k| usize::try_from(k.as_i64()?).ok())
        .ok_or_else(|| eval::missing(op, "k"))?;
    let largest = attribute("largest").and_then(|l| l.as_bool()).unwrap_or(true);
    let [values, indices] = eval::top_k(&operand, k, largest)?;
    Ok(vec![values.into(), indices.into()])
}

/// As the other checks, but with a result, which is true.
fn check_eq(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [actual, expected] = eval::tensors(operands)?;
    if expected.dtype().is_integer() || expected.dtype() == DType::I1 {
        expect::expect_eq(&actual, &expected)?;
    } else {
        expect::expect_almost_eq(&actual, &expected, EQ_TOLERANCE)?;
    }
    eval::one(Tensor::scalar(I1::new(true)))
}

fn expect_eq(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [actual, expected] = eval::tensors(operands)?;
    expect::expect_eq(&actual, &expected)?;
    Ok(Vec::new())
}

fn expect_close(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [actual, expected] = eval::tensors(operands)?;
    expect::expect_close(&actual, &expected, 0, MAX_ULP_DIFFERENCE)?;
    Ok(Vec::new())
}

fn expect_almost_eq(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [actual, expected] = eval::tensors(operands)?;
    expect::expect_almost_eq(&actual, &expected, TOLERANCE)?;
    Ok(Vec::new())
}

/// Fails with the message in `error_message` unless the first operand is true; `{0}`, `{1}` … stand
/// for the others.
fn shape_assertion(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let mut operands = eval::all_tensors(operands)?.into_iter();
    let holds = operands
        .next()
        .ok_or_else(|| EvalError::new("shape_assertion", "there is no condition"))?;
    if eval::truth(&holds)? {
        return Ok(Vec::new());
    }
    let mut message =
        op.attr("error_message").and_then(|m| m.as_str()).unwrap_or("it does not hold").to_string();
    for (i, operand) in operands.enumerate() {
        let values = operand.to_i64s()?;
        let shown = values.first().map_or_else(String::new, i64::to_string);
        message = message.replace(&format!("{{{i}}}"), &shown);
    }
    Err(EvalError::new("shape_assertion", format!("shape assertion failed: {message}")))
}
