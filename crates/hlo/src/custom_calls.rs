//! The meaning of the `custom_call` targets that exporters emit.
//!
//! A target is a row of [`TARGETS`] or a routine of LAPACK (`lapack.rs`); one that is neither is an
//! error that names it.

pub mod dynamic;
#[cfg(feature = "run")]
mod fft;
#[cfg(feature = "run")]
mod lapack;
mod pivots;
pub mod shardy;
#[cfg(feature = "run")]
mod sparse;
#[cfg(feature = "run")]
mod threefry;
#[cfg(not(feature = "run"))]
mod without_kernels;
#[cfg(feature = "run")]
use kernels::top_k as k_largest;
#[cfg(not(feature = "run"))]
use without_kernels::{fft, lapack, sparse, threefry, top_k as k_largest};

use crate::ops::CustomCallOp;
use crate::prepare;
use crate::spmd;
use dynamic::{CONFIG, DYNAMIC_CALLS};
use mlir::nearest::nearest;
use mlir::prepare::{CustomCall, PrepareFn, Prepared, Preparer, native, native_with_env};
use mlir::{OpRef, Type};
use numerics::math::{self, UnaryOp};
use numerics::shape::StridedView;
use numerics::{DType, I1, Tensor};
use program::operands;
use program::primitives;
use program::{EvalError, Primitive, RuntimeValue};
use side_dialects::expect;

/// Names of targets and what they mean.
pub static TARGETS: &[(&str, PrepareFn)] = &[
    (spmd::FULL_TO_SHARD, spmd::full_to_shard),
    (spmd::SHARD_TO_FULL, spmd::shard_to_full),
    (spmd::SHARDING, spmd::annotation),
    ("annotate_device_placement", spmd::annotation),
    ("LayoutConstraint", spmd::annotation),
    ("AllocateBuffer", zeros),
    ("check.eq", check_eq),
    ("check.expect_almost_eq", expect_almost_eq),
    ("check.expect_close", expect_close),
    ("check.expect_eq", expect_eq),
    ("cpu_csr_sparse_dense_ffi", sparse::csr_product),
    ("cu_lu_pivots_to_permutation", pivots::to_permutation),
    ("cu_threefry2x32", threefry::threefry),
    ("cu_threefry2x32_ffi", threefry::threefry),
    ("control_dep", nothing),
    ("dce_sink", nothing),
    ("dynamic_ducc_fft", fft::dynamic),
    ("hip_lu_pivots_to_permutation", pivots::to_permutation),
    ("hip_threefry2x32", threefry::threefry),
    ("hip_threefry2x32_ffi", threefry::threefry),
    ("tridiagonal_solve_perturbed_ffi", lapack::solve_perturbed),
    ("ApproxTopK", approx_top_k),
    ("mhlo.topk", top_k),
    ("shape_assertion", shape_assertion),
    ("xla.sdy.FuncResultSharding", spmd::annotation),
    (shardy::GLOBAL_TO_LOCAL, shardy::global_to_local),
    (shardy::LOCAL_TO_GLOBAL, shardy::local_to_global),
    ("xla.sdy.PropagationBarrier", spmd::annotation),
    (shardy::SHARDING_GROUP, shardy::sharding_group),
];

/// Names of all targets and what they mean.
fn targets() -> impl Iterator<Item = (&'static str, PrepareFn)> {
    let dynamic = DYNAMIC_CALLS.iter().map(|call| (call.target, call.prepare));
    TARGETS.iter().copied().chain(dynamic)
}

/// The names of all targets except elementwise functions.
pub fn names() -> impl Iterator<Item = String> {
    targets().map(|(name, _)| name.to_string()).chain(lapack::targets())
}

/// Prefix of targets that are elementwise functions of one operand, such as `mhlo.erf`.
const ELEMENTWISE: &str = "mhlo.";

/// Tolerance of `check.expect_almost_eq` as a custom call, which has no attribute for it: that of
/// upstream's interpreter.
const TOLERANCE: f64 = 1e-3;

/// Units in the last place that `check.expect_close` allows as a custom call: as upstream's
/// interpreter.
const MAX_ULP_DIFFERENCE: u64 = 3;

/// Tolerance of `check.eq` for tensors that are not of integers: that of upstream's interpreter.
const EQ_TOLERANCE: f64 = 1e-4;

/// True if the meaning of a target is known.
pub fn is_known(target: &str) -> bool {
    target.strip_prefix(ELEMENTWISE).and_then(UnaryOp::from_name).is_some()
        || targets().any(|(name, _)| name == target)
        || lapack::is_target(target)
}

/// Prepares a `stablehlo.custom_call` by its target; functions registered by the user take
/// precedence.
///
/// # Errors
/// If the target is unknown, or does not accept the attributes.
pub fn prepare(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    let target = CustomCallOp(op).call_target_name();
    if let Some(registered) = cx.custom_call(target) {
        let call = CustomCall::of(op, target);
        // Code of users may need any stack.
        return native_with_env(op, move |_, operands, _| registered(&call, operands));
    }
    if let Some(function) = target.strip_prefix(ELEMENTWISE).and_then(UnaryOp::from_name) {
        return Ok(Primitive::Unary(function));
    }
    match targets().find(|(name, _)| *name == target) {
        Some((_, prepare)) => prepare(op, cx),
        None if lapack::is_target(target) => lapack::prepare(op, target),
        None => {
            let names: Vec<String> = names().collect();
            let near = nearest(target, names.iter().map(String::as_str));
            let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            let message = format!(
                "the custom call target `{target}` is unknown: it is not in \
                 docs/custom_calls.md, and no implementation of it was registered, as that page \
                 says{near}"
            );
            Err(EvalError::new("custom_call", message))
        }
    }
}

/// The types of the results of a call; of a returned tuple, as in exports of TensorFlow, the types
/// of its elements.
fn result_types(op: OpRef<'_>) -> Vec<&Type> {
    let types: Vec<&Type> = op.result_types().collect();
    match types[..] {
        [tuple] => tuple.as_tuple().map_or(types, |elements| elements.iter().collect()),
        _ => types,
    }
}

/// A function of tensors that returns the results of a call, or the elements of its tuple.
fn tensors_or_tuple(
    op: OpRef<'_>,
    function: impl Fn(Vec<Tensor>) -> Result<Vec<Tensor>, EvalError> + Send + Sync + 'static,
) -> Prepared {
    let is_tuple = op.num_results() == 1 && op.result_type(0).as_tuple().is_some();
    native(op, move |operands| {
        let results = operands::values(function(operands::tensor_list(operands)?)?);
        Ok(if is_tuple { vec![RuntimeValue::Tuple(results)] } else { results })
    })
}

/// The largest elements along a dimension, or the smallest, with the corresponding elements of an
/// operand of indices. Exact, as an approximation may be. Operands: elements, indices, and initial
/// values of both; the initial element is the last in the order, and so determines its direction. A
/// scalar after them is the number of results, if that is dynamic.
///
/// Source: JAX, `jax/_src/lax/ann.py`.
fn approx_top_k(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let invalid = |what: &str| EvalError::new("approx_top_k", what.to_string());
    let config = op.attr(CONFIG).or_else(|| CustomCallOp(op).backend_config());
    let config = config
        .and_then(|c| c.as_dictionary())
        .ok_or_else(|| invalid("there is no backend_config"))?;
    let dimension = config
        .get("reduction_dim")
        .and_then(|d| d.as_i64())
        .ok_or_else(|| invalid("no reduction_dim"))?;
    let top_k = config.get("top_k").and_then(|k| usize::try_from(k.as_i64()?).ok());
    let declared = result_types(op).first().and_then(|ty| ty.shape()).map(<[i64]>::to_vec);
    tensors_or_tuple(op, move |operands| {
        let [elements, positions, init, ..] = &operands[..] else {
            return Err(invalid("expected at least 3 operands"));
        };
        let rank = elements.rank();
        let axis = if dimension < 0 { dimension + rank as i64 } else { dimension };
        let axis = usize::try_from(axis).ok().filter(|&axis| axis < rank);
        let axis = axis.ok_or_else(|| invalid("no such dimension"))?;
        // The result may have more elements than `top_k`: the next in order.
        let declared = declared.as_ref().and_then(|shape| usize::try_from(*shape.get(axis)?).ok());
        let given = operands.get(4).filter(|k| k.rank() == 0).map(Tensor::to_i64s).transpose()?;
        let given = given.and_then(|k| usize::try_from(*k.first()?).ok());
        let k = declared
            .or(top_k)
            .or(given)
            .ok_or_else(|| invalid("the number of results is not known"))?;
        let least = math::convert(init.clone(), DType::F64)?.to_vec::<f64>()?;
        let largest = least.first().is_some_and(|&least| least < 0.0);
        // With the dimension last, and back.
        let mut order: Vec<usize> = (0..rank).filter(|&d| d != axis).collect();
        order.push(axis);
        let moved = |t: &Tensor| t.gather(&StridedView::dense(t.shape())?.permute(&order)?);
        let [values, indices] = k_largest(&moved(elements)?, k, largest)?;
        let size = elements.shape()[axis];
        let rows = indices.to_i64s()?.into_iter().enumerate();
        let place = |(i, at): (usize, i64)| i / k.max(1) * size + usize::try_from(at).unwrap_or(0);
        let places: Vec<usize> = rows.map(place).collect();
        let found = moved(positions)?.take(&places)?.into_shape(values.shape())?;
        let mut back = vec![0; rank];
        order.iter().enumerate().for_each(|(to, &from)| back[from] = to);
        let restored = |t: Tensor| t.gather(&StridedView::dense(t.shape())?.permute(&back)?);
        Ok(vec![restored(values)?, restored(found)?])
    })
}

/// The `k` largest elements (or smallest, where `largest` is false) along the last dimension, and
/// their indices.
fn top_k(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let attributes = op.attr("mhlo.attributes").and_then(|a| a.as_dictionary());
    let attribute = |name| attributes.and_then(|a| a.get(name));
    let k = attribute("k").and_then(|k| usize::try_from(k.as_i64()?).ok());
    let k = k.ok_or_else(|| prepare::missing(op, "k"))?;
    let largest = attribute("largest").and_then(|l| l.as_bool()).unwrap_or(true);
    if op.num_results() == 2 {
        return Ok(Primitive::TopK(primitives::TopK { k: Some(k), largest }));
    }
    tensors_or_tuple(op, move |operands| {
        let [operand] = &operands[..] else {
            return Err(EvalError::new("top_k", "one operand is required"));
        };
        Ok(k_largest(operand, k, largest)?.into())
    })
}

/// As the other checks, but with a result, which is true.
fn check_eq(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| {
        let [actual, expected] = operands::tensors(operands)?;
        if expected.dtype().is_integer() || expected.dtype() == DType::I1 {
            expect::expect_eq(&actual, &expected)?;
        } else {
            expect::expect_almost_eq(&actual, &expected, EQ_TOLERANCE)?;
        }
        Ok(vec![Tensor::scalar(I1::new(true)).into()])
    })
}

/// Uses values, and does nothing: it keeps them from being dropped as unused.
fn nothing(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |_| Ok(Vec::new()))
}

/// Elements that the program does not state: zeros.
fn zeros(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let [ty] = result_types(op)[..] else {
        return Err(EvalError::new("custom_call", "there must be one result"));
    };
    let shape = ty.as_tensor().and_then(|tensor| tensor.static_shape());
    let shape = shape
        .ok_or_else(|| EvalError::new("custom_call", "the shape of the result must be static"))?;
    let dtype = prepare::storage_dtype(ty)?;
    native(op, move |_| Ok(vec![Tensor::zeros(dtype, &shape)?.into()]))
}

/// A check of two operands without results.
fn check(
    op: OpRef<'_>,
    compare: impl Fn(&Tensor, &Tensor) -> Result<(), EvalError> + Send + Sync + 'static,
) -> Prepared {
    native(op, move |operands| {
        let [actual, expected] = operands::tensors(operands)?;
        compare(&actual, &expected)?;
        Ok(Vec::new())
    })
}

fn expect_eq(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    check(op, expect::expect_eq)
}

fn expect_close(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    check(op, |actual, expected| expect::expect_close(actual, expected, 0, MAX_ULP_DIFFERENCE))
}

fn expect_almost_eq(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    check(op, |actual, expected| expect::expect_almost_eq(actual, expected, TOLERANCE))
}

/// Fails with the message in `error_message` unless the first operand is true; `{0}`, `{1}` … are
/// replaced by the others.
fn shape_assertion(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let template = op.attr("error_message").and_then(|m| m.as_str()).unwrap_or("it does not hold");
    let template = template.to_string();
    native(op, move |operands| {
        let mut operands = operands::tensor_list(operands)?.into_iter();
        let holds = operands
            .next()
            .ok_or_else(|| EvalError::new("shape_assertion", "there is no condition"))?;
        if operands::boolean(&holds)? {
            return Ok(Vec::new());
        }
        let mut message = template.clone();
        for (i, operand) in operands.enumerate() {
            let values = operand.to_i64s()?;
            let shown = values.first().map_or_else(String::new, i64::to_string);
            message = message.replace(&format!("{{{i}}}"), &shown);
        }
        Err(EvalError::new("shape_assertion", format!("shape assertion failed: {message}")))
    })
}
