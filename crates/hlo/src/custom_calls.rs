//! The meaning of the `custom_call` targets that exporters emit.
//!
//! A target is a row of [`TARGETS`] or a routine of LAPACK (`lapack.rs`); one that is neither is an error that names it.

mod lapack;
mod sparse;

use crate::eval;
use crate::ops::CustomCallOp;
use crate::spmd;
use mlir::OpRef;
use mlir::eval::{EvalEnv, EvalError, EvalFn, EvalResult, RuntimeValue};
use numerics::math::{self, UnaryOp};
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
    ("mhlo.erf", erf),
    ("mhlo.topk", top_k),
    ("shape_assertion", shape_assertion),
];

/// Tolerance of `check.expect_almost_eq` as a custom call, which has no attribute for it: that of upstream's interpreter.
const TOLERANCE: f64 = 1e-3;

/// Units in the last place that `check.expect_close` allows as a custom call: as upstream's interpreter.
const MAX_ULP_DIFFERENCE: u64 = 3;

/// Tolerance of `check.eq` for tensors that are not of integers: that of upstream's interpreter.
const EQ_TOLERANCE: f64 = 1e-4;

/// Evaluates a `stablehlo.custom_call` by its target.
///
/// # Errors
/// An unknown target, or whatever the target reports.
pub fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, env: &mut dyn EvalEnv) -> EvalResult {
    let target = CustomCallOp(op).call_target_name().and_then(|t| t.as_str()).unwrap_or("");
    match TARGETS.iter().find(|(name, _)| *name == target) {
        Some((_, function)) => function(op, operands, env),
        None if lapack::is_target(target) => lapack::eval(op, operands, env),
        None => {
            let known: Vec<_> = TARGETS.iter().map(|(name, _)| name.to_string()).chain(lapack::targets()).collect();
            let message = format!("the custom call target `{target}` is unknown; known are {}", known.join(", "));
            Err(EvalError::new("custom_call", message))
        }
    }
}

/// The operands, of which the call only says something.
fn identity(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    Ok(operands)
}

fn erf(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [operand] = eval::tensors(operands)?;
    eval::one(math::unary(UnaryOp::Erf, operand)?)
}

/// The `k` largest elements (or smallest, where `largest` is false) along the last dimension, and their indices.
fn top_k(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [operand] = eval::tensors(operands)?;
    let attributes = op.attr("mhlo.attributes").and_then(|a| a.as_dictionary());
    let attribute = |name| attributes.and_then(|a| a.get(name));
    let k = attribute("k").and_then(|k| usize::try_from(k.as_i64()?).ok()).ok_or_else(|| eval::missing(op, "k"))?;
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

/// Fails with the message in `error_message` unless the first operand is true; `{0}`, `{1}` … stand for the others.
fn shape_assertion(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let mut operands = eval::all_tensors(operands)?.into_iter();
    let holds = operands.next().ok_or_else(|| EvalError::new("shape_assertion", "there is no condition"))?;
    if eval::truth(&holds)? {
        return Ok(Vec::new());
    }
    let mut message = op.attr("error_message").and_then(|m| m.as_str()).unwrap_or("it does not hold").to_string();
    for (i, operand) in operands.enumerate() {
        let values = operand.to_i64s()?;
        let shown = values.first().map_or_else(String::new, i64::to_string);
        message = message.replace(&format!("{{{i}}}"), &shown);
    }
    Err(EvalError::new("shape_assertion", format!("shape assertion failed: {message}")))
}
