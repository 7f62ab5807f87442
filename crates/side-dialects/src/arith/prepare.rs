//! The meaning of the ops of the dialect, elementwise on tensors; a scalar is a tensor of rank 0,
//! an index an `i64`.
//!
//! Integers are signless: the op determines their interpretation. All are computed in 64 bits and
//! truncated to their width. Where MLIR leaves a result undefined (division by zero, shifts beyond
//! the width), it is zero here.

use super::{CMPF_PREDICATE, CMPI_PREDICATE, CmpFOp, CmpIOp};
use mlir::prepare::{Prepared, Preparer, native};
use mlir::{AttrKind, OpRef};
use numerics::math::{self, BinaryOp, Direction, UnaryOp};
use numerics::{DType, I1, Tensor};
use program::operands;
use program::primitives;
use program::{EvalError, EvalResult, Primitive, RuntimeValue};
use std::cmp::Ordering;

/// The interpretation of the operands of an integer op.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IntegerSign {
    Signed,
    Unsigned,
}
use IntegerSign::{Signed, Unsigned};

type Integer = fn(i64, i64) -> i64;

/// An unsigned function of the bits of 64-bit integers.
macro_rules! unsigned {
    (|$a:ident, $b:ident| $body:expr) => {
        |a, b| {
            let ($a, $b) = (a as u64, b as u64);
            ($body) as i64
        }
    };
}

fn shift(amount: i64) -> Option<u32> {
    u32::try_from(amount).ok().filter(|&amount| amount < 64)
}

fn floor_div(a: i64, b: i64) -> i64 {
    let quotient = a.checked_div(b).unwrap_or(0);
    if b != 0 && a.wrapping_rem(b) != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
}

fn ceil_div(a: i64, b: i64) -> i64 {
    let quotient = a.checked_div(b).unwrap_or(0);
    if b != 0 && a.wrapping_rem(b) != 0 && (a < 0) == (b < 0) { quotient + 1 } else { quotient }
}

/// Ops of two integers: how they take the operands, and the result.
const INTEGERS: &[(&str, IntegerSign, Integer)] = &[
    ("addi", Signed, i64::wrapping_add),
    ("andi", Signed, |a, b| a & b),
    ("ceildivsi", Signed, ceil_div),
    ("ceildivui", Unsigned, unsigned!(|a, b| if b == 0 { 0 } else { a.div_ceil(b) })),
    ("divsi", Signed, |a, b| a.checked_div(b).unwrap_or(0)),
    ("divui", Unsigned, unsigned!(|a, b| a.checked_div(b).unwrap_or(0))),
    ("floordivsi", Signed, floor_div),
    ("maxsi", Signed, Ord::max),
    ("maxui", Unsigned, unsigned!(|a, b| a.max(b))),
    ("minsi", Signed, Ord::min),
    ("minui", Unsigned, unsigned!(|a, b| a.min(b))),
    ("muli", Signed, i64::wrapping_mul),
    ("ori", Signed, |a, b| a | b),
    ("remsi", Signed, |a, b| a.checked_rem(b).unwrap_or(0)),
    ("remui", Unsigned, unsigned!(|a, b| a.checked_rem(b).unwrap_or(0))),
    ("shli", Unsigned, |a, b| shift(b).map_or(0, |n| a << n)),
    ("shrsi", Signed, |a, b| shift(b).map_or(0, |n| a >> n)),
    ("shrui", Unsigned, unsigned!(|a, b| shift(b as i64).map_or(0, |n| a >> n))),
    ("subi", Signed, i64::wrapping_sub),
    ("xori", Signed, |a, b| a ^ b),
];

/// Ops of two floats.
const FLOATS: &[(&str, BinaryOp)] = &[
    ("addf", BinaryOp::Add),
    ("divf", BinaryOp::Divide),
    ("maximumf", BinaryOp::Maximum),
    ("maxnumf", BinaryOp::Maximum),
    ("minimumf", BinaryOp::Minimum),
    ("minnumf", BinaryOp::Minimum),
    ("mulf", BinaryOp::Multiply),
    ("remf", BinaryOp::Remainder),
    ("subf", BinaryOp::Subtract),
];

fn mnemonic(op: OpRef<'_>) -> &'static str {
    op.def().map_or("", |def| def.mnemonic())
}

fn one(tensor: Tensor) -> EvalResult {
    Ok(vec![tensor.into()])
}

fn result_dtype(op: OpRef<'_>) -> Result<DType, EvalError> {
    let ty = op.result_type(0).element_type();
    ty.dtype()
        .ok_or_else(|| EvalError::new("type", format!("elements of type {ty} cannot be evaluated")))
}

/// The elements of a tensor of integers, extended to 64 bits.
fn extend(tensor: &Tensor, sign: IntegerSign) -> Result<Vec<i64>, EvalError> {
    let values = tensor.to_i64s()?;
    let bits = tensor.dtype().bits();
    let drop = 64u32.saturating_sub(bits);
    Ok(values
        .into_iter()
        .map(
            |v| {
                if sign == Signed { v << drop >> drop } else { ((v as u64) << drop >> drop) as i64 }
            },
        )
        .collect())
}

/// A tensor of the low bits of integers.
fn cut(values: Vec<i64>, shape: &[usize], dtype: DType) -> Result<Tensor, EvalError> {
    let tensor = Tensor::from_vec(shape, values)?;
    match dtype {
        // To a boolean, any number but zero is true.
        DType::I1 => {
            let low = tensor.to_vec::<i64>()?.into_iter().map(|v| I1::new(v & 1 == 1)).collect();
            Ok(Tensor::from_vec(shape, low)?)
        }
        _ => Ok(math::convert(tensor, dtype)?),
    }
}

pub(super) fn integers(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let found = INTEGERS.iter().find(|(name, ..)| *name == mnemonic(op));
    let &(_, sign, f) = found.ok_or_else(unknown)?;
    native(op, move |operands| {
        let [lhs, rhs] = operands::tensors(operands)?;
        let (a, b) = (extend(&lhs, sign)?, extend(&rhs, sign)?);
        one(cut(a.into_iter().zip(b).map(|(a, b)| f(a, b)).collect(), lhs.shape(), lhs.dtype())?)
    })
}

fn unknown() -> EvalError {
    EvalError::new("eval", "this op of the arith dialect cannot be evaluated")
}

pub(super) fn floats(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let found = FLOATS.iter().find(|(name, _)| *name == mnemonic(op));
    let &(name, f) = found.ok_or_else(unknown)?;
    if !["maxnumf", "minnumf"].contains(&name) {
        return Ok(Primitive::Binary(f));
    }
    native(op, move |operands| {
        let [lhs, rhs] = operands::tensors(operands)?;
        let nan = |t: &Tensor| math::compare(Direction::Ne, t, t);
        let (no_lhs, no_rhs) = (nan(&lhs)?, nan(&rhs)?);
        let both = math::binary(f, lhs.clone(), rhs.clone())?;
        one(math::select(&no_lhs, &rhs, &math::select(&no_rhs, &lhs, &both)?)?)
    })
}

pub(super) fn negf(_: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::Unary(UnaryOp::Negate))
}

pub(super) fn constant(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let value = super::ConstantOp(op).value();
    let dtype = result_dtype(op)?;
    if let Some(primitive) = mlir::prepare::constant(value) {
        return primitive;
    }
    let scalar = match &**value {
        AttrKind::Integer { value, .. } => cut(vec![*value as i64], &[], dtype)?,
        AttrKind::Float { bits, .. } => {
            let bytes = bits.to_ne_bytes();
            // The low bytes, in the order of the machine.
            let size = dtype.bytes().min(bytes.len());
            let low = if cfg!(target_endian = "little") {
                &bytes[..size]
            } else {
                &bytes[bytes.len() - size..]
            };
            Tensor::from_bytes(dtype, [], low.to_vec().into())?
        }
        _ => return Err(unknown()),
    };
    Ok(Primitive::Constant(primitives::Constant { tensor: scalar }))
}

/// Integers to integers: extended by their sign or by zeros, or cut.
pub(super) fn cast_integers(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let sign = if ["extui", "index_castui"].contains(&mnemonic(op)) { Unsigned } else { Signed };
    let dtype = result_dtype(op)?;
    native(op, move |operands| {
        let [operand] = operands::tensors(operands)?;
        one(cut(extend(&operand, sign)?, operand.shape(), dtype)?)
    })
}

/// Between floats, from the nearest.
pub(super) fn cast_floats(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::Convert(primitives::Convert { dtype: result_dtype(op)? }))
}

pub(super) fn integers_to_floats(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let sign = if mnemonic(op) == "uitofp" { Unsigned } else { Signed };
    let dtype = result_dtype(op)?;
    native(op, move |operands| {
        let [operand] = operands::tensors(operands)?;
        let wide = Tensor::from_vec(operand.shape(), extend(&operand, sign)?)?;
        let wide = if sign == Unsigned { math::bitcast(&wide, DType::U64)? } else { wide };
        one(math::convert(wide, dtype)?)
    })
}

pub(super) fn floats_to_integers(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let wide = if mnemonic(op) == "fptoui" { DType::U64 } else { DType::I64 };
    let dtype = result_dtype(op)?;
    native(op, move |operands| {
        let [operand] = operands::tensors(operands)?;
        let shape = operand.shape().to_vec();
        one(cut(math::convert(operand, wide)?.to_i64s()?, &shape, dtype)?)
    })
}

pub(super) fn bitcast(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::Bitcast(primitives::Bitcast { dtype: result_dtype(op)? }))
}

fn booleans(shape: &[usize], values: impl Iterator<Item = bool>) -> EvalResult {
    one(Tensor::from_vec(shape, values.map(I1::new).collect())?)
}

pub(super) fn cmpi(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let relation = case(CMPI_PREDICATE.cases, CmpIOp(op).predicate())?;
    let sign = if relation.starts_with('u') { Unsigned } else { Signed };
    let order = move |a: i64, b: i64| match sign {
        Signed => a.cmp(&b),
        Unsigned => (a as u64).cmp(&(b as u64)),
    };
    let holds = relation_of(relation.trim_start_matches(['s', 'u']));
    native(op, move |operands| {
        let [lhs, rhs] = operands::tensors(operands)?;
        let (a, b) = (extend(&lhs, sign)?, extend(&rhs, sign)?);
        booleans(lhs.shape(), a.into_iter().zip(b).map(|(a, b)| holds(order(a, b))))
    })
}

/// The relation of that name.
fn relation_of(name: &str) -> fn(Ordering) -> bool {
    match name {
        "eq" => Ordering::is_eq,
        "ne" => Ordering::is_ne,
        "lt" => Ordering::is_lt,
        "le" => Ordering::is_le,
        "gt" => Ordering::is_gt,
        _ => Ordering::is_ge,
    }
}

fn case(cases: &[(u64, &'static str)], value: i64) -> Result<&'static str, EvalError> {
    let found = cases.iter().find(|(number, _)| i64::try_from(*number) == Ok(value));
    found
        .map(|(_, name)| *name)
        .ok_or_else(|| EvalError::new("attribute", format!("there is no predicate {value}")))
}

pub(super) fn cmpf(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let relation = case(CMPF_PREDICATE.cases, CmpFOp(op).predicate())?;
    let unordered = relation.starts_with('u') || relation == "true";
    let holds: fn(Ordering) -> bool = match relation {
        "true" | "ord" => |_| true,
        "false" | "uno" => |_| false,
        _ => relation_of(&relation[1..]),
    };
    native(op, move |operands| {
        let [lhs, rhs] = operands::tensors(operands)?;
        let shape = lhs.shape().to_vec();
        let a = math::convert(lhs, DType::F64)?.to_vec::<f64>()?;
        let b = math::convert(rhs, DType::F64)?.to_vec::<f64>()?;
        let holds = |(a, b): (f64, f64)| a.partial_cmp(&b).map_or(unordered, holds);
        booleans(&shape, a.into_iter().zip(b).map(holds))
    })
}

pub(super) fn select(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| {
        let [condition, on_true, on_false]: [RuntimeValue; 3] =
            operands.try_into().map_err(|_| EvalError::new("operands", "expected 3 operands"))?;
        let condition = condition.into_tensor()?;
        if condition.rank() == 0 {
            return Ok(vec![if condition.item::<I1>()?.get() { on_true } else { on_false }]);
        }
        one(math::select(&condition, on_true.tensor()?, on_false.tensor()?)?)
    })
}
