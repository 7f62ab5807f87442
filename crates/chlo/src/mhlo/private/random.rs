//! Ops around random numbers.

use super::invalid;
use hlo::constraints::{FLOAT, UNSIGNED};
use mlir::ods::{TensorRule, TypeConstraint, TypeRule};
use mlir::prepare::{Prepared, Preparer, native, native_with_env, value_type};
use mlir::{Diagnostic, OpRef, Type, TypeKind, Verdict, op};
use numerics::{DType, Tensor, math};
use program::{Origin, ValueType, operands};

static FLOATS: TypeConstraint = TypeConstraint {
    summary: "a ranked tensor of floats",
    rule: TypeRule::Tensor(TensorRule::ranked(&[&FLOAT])),
};

static UNSIGNED_INTEGERS: TypeConstraint = TypeConstraint {
    summary: "a ranked tensor of unsigned integers",
    rule: TypeRule::Tensor(TensorRule::ranked(&[&UNSIGNED])),
};

/// Static, as the text of the op has no type.
static STATE: TypeConstraint = TypeConstraint {
    summary: "a statically shaped tensor of unsigned integers",
    rule: TypeRule::Tensor(TensorRule { static_shape: true, ..TensorRule::ranked(&[&UNSIGNED]) }),
};

op! {
    /// Rounds to integers, away from zero with the probability of the fractional part: if it
    /// exceeds `random` as a fraction of the range of its type. Saturates.
    pub StochasticConvertOp, "mhlo.stochastic_convert" {
        operands { operand: single FLOATS, random: single UNSIGNED_INTEGERS }
        results { result: single crate::constraints::TENSOR }
        traits [Pure, SameOperandsAndResultShape]
        hooks {
            verify: verify_stochastic,
            prepare: prepare_stochastic,
        }
    }
}

op! {
    /// Adds `delta` to the state of XLA's generator, a number of 128 bits, and returns the state
    /// before, the low half first. All ops of a program share the state, as in code that XLA's CPU
    /// backend compiles; its thunks have a state each.
    pub XlaRngGetAndUpdateStateOp, "mhlo.xla.rng_get_and_update_state" {
        results { result: single STATE }
        attributes { delta: required Int(64) }
        hooks {
            format: "attr-dict",
            infer: infer_state,
            prepare: prepare_state,
        }
    }
}

/// The state at the start, as XLA's CPU backend has it.
const INITIAL_STATE: u128 = 0x0701_2395;

fn verify_stochastic(op: OpRef<'_>) -> Verdict {
    let bits = |index: usize| value_type_bits(op.operand_type(index));
    if bits(0) != bits(1) {
        let message = format!(
            "the elements of operand and random must have as many bits; found {} and {}",
            op.operand_type(0),
            op.operand_type(1)
        );
        return Err(op.error("stochastic_convert", message));
    }
    target(op).map(drop).map_err(|message| op.error("stochastic_convert", message))
}

/// The type of the elements of the result.
fn target(op: OpRef<'_>) -> Result<DType, String> {
    let result = op.result_type(0);
    let signed = matches!(**result.element_type(), TypeKind::Integer { .. });
    let dtype = result.element_type().dtype().filter(|dtype| {
        signed && dtype.is_integer() && dtype.is_signed() && (2..=64).contains(&dtype.bits())
    });
    dtype.ok_or_else(|| format!("the result must have signed integers as elements; found {result}"))
}

fn value_type_bits(ty: &Type) -> Option<u32> {
    match value_type(ty) {
        ValueType::Tensor { dtype, .. } => Some(dtype.bits()),
        _ => None,
    }
}

/// The integer nearest to `x` on either side, by a random number of `bits` bits.
///
/// Source: openxla/xla, the evaluator's kStochasticConvert.
fn round(x: f64, random: u64, bits: u32, (min, max): (i64, i64)) -> i64 {
    if x.is_nan() {
        return 0;
    } else if x >= max as f64 {
        return max;
    } else if x <= min as f64 {
        return min;
    }
    let whole = x.abs().trunc();
    // Exact: the fraction has at most the bits of the mantissa.
    let fraction = ((x.abs() - whole) * 2f64.powi(bits as i32)) as u64;
    let magnitude = whole as i64 + i64::from(random < fraction);
    if x < 0.0 { (-magnitude).max(min) } else { magnitude.min(max) }
}

fn prepare_stochastic(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let target = target(op).map_err(invalid)?;
    let width = target.bits();
    let range = (i64::MIN >> (64 - width), i64::MAX >> (64 - width));
    native(op, move |operands| {
        let [operand, random] = operands::tensors(operands)?;
        let (shape, bits) = (operand.shape().to_vec(), random.dtype().bits());
        let values = math::convert(operand, DType::F64)?.to_vec::<f64>()?;
        let random = math::convert(random, DType::U64)?.to_vec::<u64>()?;
        let rounded = values.into_iter().zip(random);
        let rounded: Vec<i64> = rounded.map(|(x, r)| round(x, r, bits, range)).collect();
        Ok(vec![math::convert(Tensor::from_vec(shape, rounded)?, target)?.into()])
    })
}

fn infer_state(_: OpRef<'_>) -> Result<Vec<Type>, Diagnostic> {
    Ok(vec![Type::tensor([2], Type::ui64())])
}

fn prepare_state(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let delta = XlaRngGetAndUpdateStateOp(op).delta();
    // All ops of a program share the state.
    let shared: Origin = op.module().top().id().into();
    native_with_env(op, move |_, _, env| {
        let before = env.process_context()?.advance_random(shared, delta as u64);
        let state = INITIAL_STATE.wrapping_add(before);
        let halves = vec![state as u64, (state >> 64) as u64];
        Ok(vec![Tensor::from_vec([2], halves)?.into()])
    })
}
