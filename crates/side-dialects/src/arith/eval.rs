//! The meaning of the ops of the dialect, elementwise on tensors; a scalar is a tensor of rank 0,
//! an index an `i64`.
//!
//! Integers have no sign: each op says how it takes theirs. All are computed in 64 bits and cut to
//! their width. Where MLIR leaves a result open (division by zero, shifts beyond the width), it is
//! zero here.

use super::{CMPF_PREDICATE, CMPI_PREDICATE, CmpFOp, CmpIOp};
use mlir::eval::{EvalEnv, EvalError, EvalResult, RuntimeValue};
use mlir::{AttrKind, Attribute, OpRef};
use numerics::math::{self, BinaryOp, Direction, UnaryOp};
use numerics::{DType, I1, Tensor};

/// How an integer op takes its operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Signed,
    Unsigned,
}
use Sign::{Signed, Unsigned};

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
const INTEGERS: &[(&str, Sign, Integer)] = &[
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

fn tensors<const N: usize>(operands: Vec<RuntimeValue>) -> Result<[Tensor; N], EvalError> {
    let found = operands.len();
    let tensors =
        operands.into_iter().map(RuntimeValue::into_tensor).collect::<Result<Vec<_>, _>>()?;
    tensors
        .try_into()
        .map_err(|_| EvalError::new("operands", format!("expected {N} operands, found {found}")))
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
fn extend(tensor: &Tensor, sign: Sign) -> Result<Vec<i64>, EvalError> {
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

pub(super) fn integers(
    op: OpRef<'_>,
    operands: Vec<RuntimeValue>,
    _: &mut dyn EvalEnv,
) -> EvalResult {
    let [lhs, rhs] = tensors(operands)?;
    let &(_, sign, f) =
        INTEGERS.iter().find(|(name, ..)| *name == mnemonic(op)).ok_or_else(unknown)?;
    let (a, b) = (extend(&lhs, sign)?, extend(&rhs, sign)?);
    one(cut(a.into_iter().zip(b).map(|(a, b)| f(a, b)).collect(), lhs.shape(), lhs.dtype())?)
}

fn unknown() -> EvalError {
    EvalError::new("eval", "this op of the arith dialect cannot be evaluated")
}

pub(super) fn floats(
    op: OpRef<'_>,
    operands: Vec<RuntimeValue>,
    _: &mut dyn EvalEnv,
) -> EvalResult {
    let [lhs, rhs] = tensors(operands)?;
    let &(name, f) = FLOATS.iter().find(|(name, _)| *name == mnemonic(op)).ok_or_else(unknown)?;
    if ["maxnumf", "minnumf"].contains(&name) {
        let nan = |t: &Tensor| math::compare(Direction::Ne, t, t);
        let (no_lhs, no_rhs) = (nan(&lhs)?, nan(&rhs)?);
        let both = math::binary(f, lhs.clone(), rhs.clone())?;
        return one(math::select(&no_lhs, &rhs, &math::select(&no_rhs, &lhs, &both)?)?);
    }
    one(math::binary(f, lhs, rhs)?)
}

pub(super) fn negf(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [operand] = tensors(operands)?;
    one(math::unary(UnaryOp::Negate, operand)?)
}

/// A constant that is a number; one that is a tensor needs no evaluation.
pub(super) fn constant(op: OpRef<'_>, _: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let value = op.attr("value").ok_or_else(unknown)?;
    let dtype = result_dtype(op)?;
    if let Some(tensor) = value.to_tensor() {
        return one(tensor?);
    }
    match &**value {
        AttrKind::Integer { value, .. } => one(cut(vec![*value as i64], &[], dtype)?),
        AttrKind::Float { bits, .. } => {
            let bytes = bits.to_ne_bytes();
            // The low bytes, in the order of the machine.
            let size = dtype.bytes().min(bytes.len());
            let low = if cfg!(target_endian = "little") {
                &bytes[..size]
            } else {
                &bytes[bytes.len() - size..]
            };
            one(Tensor::from_bytes(dtype, [], low.to_vec().into())?)
        }
        _ => Err(unknown()),
    }
}

/// Integers to integers: extended by their sign or by zeros, or cut.
pub(super) fn cast_integers(
    op: OpRef<'_>,
    operands: Vec<RuntimeValue>,
    _: &mut dyn EvalEnv,
) -> EvalResult {
    let [operand] = tensors(operands)?;
    let sign = if ["extui", "index_castui"].contains(&mnemonic(op)) { Unsigned } else { Signed };
    one(cut(extend(&operand, sign)?, operand.shape(), result_dtype(op)?)?)
}

/// Between floats, from the nearest.
pub(super) fn cast_floats(
    op: OpRef<'_>,
    operands: Vec<RuntimeValue>,
    _: &mut dyn EvalEnv,
) -> EvalResult {
    let [operand] = tensors(operands)?;
    one(math::convert(operand, result_dtype(op)?)?)
}

pub(super) fn integers_to_floats(
    op: OpRef<'_>,
    operands: Vec<RuntimeValue>,
    _: &mut dyn EvalEnv,
) -> EvalResult {
    let [operand] = tensors(operands)?;
    let sign = if mnemonic(op) == "uitofp" { Unsigned } else { Signed };
    let wide = Tensor::from_vec(operand.shape(), extend(&operand, sign)?)?;
    let wide = if sign == Unsigned { math::bitcast(&wide, DType::U64)? } else { wide };
    one(math::convert(wide, result_dtype(op)?)?)
}

pub(super) fn floats_to_integers(
    op: OpRef<'_>,
    operands: Vec<RuntimeValue>,
    _: &mut dyn EvalEnv,
) -> EvalResult {
    let [operand] = tensors(operands)?;
    let shape = operand.shape().to_vec();
    let wide =
        math::convert(operand, if mnemonic(op) == "fptoui" { DType::U64 } else { DType::I64 })?;
    one(cut(wide.to_i64s()?, &shape, result_dtype(op)?)?)
}

pub(super) fn bitcast(
    op: OpRef<'_>,
    operands: Vec<RuntimeValue>,
    _: &mut dyn EvalEnv,
) -> EvalResult {
    let [operand] = tensors(operands)?;
    one(math::bitcast(&operand, result_dtype(op)?)?)
}

fn predicate(attr: Option<&Attribute>) -> Result<i64, EvalError> {
    attr.and_then(|a| a.as_i64())
        .ok_or_else(|| EvalError::new("attribute", "the op has no predicate"))
}

fn booleans(shape: &[usize], values: impl Iterator<Item = bool>) -> EvalResult {
    one(Tensor::from_vec(shape, values.map(I1::new).collect())?)
}

pub(super) fn cmpi(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [lhs, rhs] = tensors(operands)?;
    let relation = case(CMPI_PREDICATE.cases, predicate(CmpIOp(op).predicate())?)?;
    let sign = if relation.starts_with('u') { Unsigned } else { Signed };
    let (a, b) = (extend(&lhs, sign)?, extend(&rhs, sign)?);
    let order =
        |(a, b): (i64, i64)| if sign == Signed { a.cmp(&b) } else { (a as u64).cmp(&(b as u64)) };
    let holds = |pair| {
        let order = order(pair);
        match relation.trim_start_matches(['s', 'u']) {
            "eq" => order.is_eq(),
            "ne" => order.is_ne(),
            "lt" => order.is_lt(),
            "le" => order.is_le(),
            "gt" => order.is_gt(),
            _ => order.is_ge(),
        }
    };
    booleans(lhs.shape(), a.into_iter().zip(b).map(holds))
}

fn case(cases: &[(u64, &'static str)], value: i64) -> Result<&'static str, EvalError> {
    let found = cases.iter().find(|(number, _)| i64::try_from(*number) == Ok(value));
    found
        .map(|(_, name)| *name)
        .ok_or_else(|| EvalError::new("attribute", format!("there is no predicate {value}")))
}

pub(super) fn cmpf(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [lhs, rhs] = tensors(operands)?;
    let relation = case(CMPF_PREDICATE.cases, predicate(CmpFOp(op).predicate())?)?;
    let shape = lhs.shape().to_vec();
    let (a, b) = (
        math::convert(lhs, DType::F64)?.to_vec::<f64>()?,
        math::convert(rhs, DType::F64)?.to_vec::<f64>()?,
    );
    let holds = |(a, b): (f64, f64)| {
        let Some(order) = a.partial_cmp(&b) else {
            return relation.starts_with('u') || relation == "true";
        };
        match relation {
            "true" | "ord" => true,
            "false" | "uno" => false,
            _ => match &relation[1..] {
                "eq" => order.is_eq(),
                "ne" => order.is_ne(),
                "lt" => order.is_lt(),
                "le" => order.is_le(),
                "gt" => order.is_gt(),
                _ => order.is_ge(),
            },
        }
    };
    booleans(&shape, a.into_iter().zip(b).map(holds))
}

pub(super) fn select(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [condition, on_true, on_false]: [RuntimeValue; 3] =
        operands.try_into().map_err(|_| EvalError::new("operands", "expected 3 operands"))?;
    let condition = condition.into_tensor()?;
    if condition.rank() == 0 {
        return Ok(vec![if condition.item::<I1>()?.get() { on_true } else { on_false }]);
    }
    one(math::select(&condition, on_true.tensor()?, on_false.tensor()?)?)
}
