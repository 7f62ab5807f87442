//! `stablehlo-aggressive-folder`: folds ops over constants, and removes regions that never run or
//! always run.
//!
//! Folding uses the same `eval` hook of the declaration as the interpreter. As upstream, two kinds
//! of folds are left out: results on which hardware disagrees (division by zero, out-of-range
//! conversions), and non-finite results of functions, which more likely reveal a bug in the program
//! than an intended value.

use crate::evaluate::{Limits, evaluate, evaluate_block};
use crate::simplify::{
    self, FOLD_OP_ELEMENT_LIMIT, LAST_FIRST, OPTIMIZE_FLOAT, element_limit, forward, splat_number,
};
use hlo::ops::*;
use mlir::attrs::DenseElements;
use mlir::ods::Trait;
use mlir::pass::{OptionKind, Pass, PassContext, PassOption};
use mlir::rewrite::effects::is_dead;
use mlir::rewrite::{PatternSet, RewritePattern, Rewriter};
use mlir::{Attribute, BlockId, OpId, OpRef, Type, Value};
use numerics::Bytes;
use program::RuntimeValue;

/// Folds ops over constants.
pub(crate) const PASS: Pass =
    Pass::on_functions("stablehlo-aggressive-folder", "Fold StableHLO ops over constants", run)
        .with_options(&[ASSUME_NO_UNDECLARED_SIDE_EFFECTS, FOLD_OP_ELEMENT_LIMIT, OPTIMIZE_FLOAT]);

pub(crate) const ASSUME_NO_UNDECLARED_SIDE_EFFECTS: PassOption = PassOption {
    name: "assume-no-undeclared-side-effects",
    doc: "Assume that ops without declared side effects, such as calls, have none if they cannot run",
    kind: OptionKind::Bool(false),
};

/// All patterns.
pub(crate) static PATTERNS: &[RewritePattern] = &[
    RewritePattern::new("case-of-constant", CaseOp::DEF, case_of_constant),
    RewritePattern::new("concatenate-splats", ConcatenateOp::DEF, concatenate_splats),
    RewritePattern::new("broadcast-splat", BroadcastInDimOp::DEF, moved_splat),
    RewritePattern::new("dynamic-slice-splat", DynamicSliceOp::DEF, moved_splat),
    RewritePattern::new("reshape-splat", ReshapeOp::DEF, moved_splat),
    RewritePattern::new("slice-splat", SliceOp::DEF, moved_splat),
    RewritePattern::new("transpose-splat", TransposeOp::DEF, moved_splat),
    RewritePattern::new("size-of-static", GetDimensionSizeOp::DEF, simplify::size_of_static),
    RewritePattern::new("iota-of-one", IotaOp::DEF, simplify::iota_of_one),
    RewritePattern::new("iota-of-nothing", IotaOp::DEF, iota_of_nothing),
    RewritePattern::new("reduce-along-nothing", ReduceOp::DEF, simplify::reduce_along_nothing),
    RewritePattern::new("reduce-to-outside", ReduceOp::DEF, simplify::reduce_to_outside),
    RewritePattern::new("reduce-fixed-point", ReduceOp::DEF, reduce_fixed_point),
    RewritePattern::new(
        "set-dimension-size-to-same",
        SetDimensionSizeOp::DEF,
        set_dimension_size_to_same,
    ),
    RewritePattern::new("while-false", WhileOp::DEF, while_false),
    RewritePattern::new("while-false-unused", WhileOp::DEF, while_false_unused),
    RewritePattern::any("constants", constants).with_benefit(0),
];

fn run(cx: &mut PassContext<'_>) {
    cx.rewrite_with(&mut PatternSet::new(&[PATTERNS]), LAST_FIRST);
}

fn constant(rw: &mut Rewriter<'_>, value: Attribute, ty: Type) -> Value {
    rw.make(ConstantOp::DEF, []).attr("value", value).result(ty)
}

/// `f(constants)` is a constant.
fn constants(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let view = rw.op(op);
    let is_ours = view.def().is_some_and(|def| matches!(def.dialect(), "stablehlo" | "chlo"));
    if !is_ours
        || view.has_trait(&Trait::ConstantLike)
        || view.operands().is_empty()
        || !folds(rw, view)
    {
        return None;
    }
    let limits = Limits { elements: element_limit(rw), equal_elements: usize::MAX };
    let values = evaluate(view, limits)?;
    if !is_wanted(view, &values) {
        return None;
    }
    let types: Vec<Type> = view.result_types().cloned().collect();
    let values: Vec<Value> =
        values.into_iter().zip(types).map(|(value, ty)| constant(rw, value, ty)).collect();
    rw.replace(op, &values);
    Some(())
}

/// True if an op folds when its operands are constants.
fn folds(rw: &Rewriter<'_>, op: OpRef<'_>) -> bool {
    let is_function = op.def().is_some_and(|def| def.attribute_index("result_accuracy").is_some());
    if is_function && !rw.options().bool("optimize-float") {
        return false;
    }
    if op.is(DivideOp::DEF) || op.is(RemainderOp::DEF) {
        return !op.operand_type(1).element_type().is_integer(None)
            || !any_element(rw, op.operand(1), |x| x == 0.0);
    }
    if op.is(ConvertOp::DEF) {
        let (from, to) = (op.operand_type(0).element_type(), op.result_type(0).element_type());
        let to_integer = from.is_float() && to.is_integer(None) && *to != Type::i1();
        return !to_integer || !any_element(rw, op.operand(0), |x| !fits(x, to));
    }
    // A reverse that moves nothing is left to the simplification pass.
    !op.is(ReverseOp::DEF) || !simplify::is_reversed_in_place(rw, op)
}

/// True if any element of a constant, as an f64, satisfies `predicate`.
fn any_element(rw: &Rewriter<'_>, value: Value, predicate: impl Fn(f64) -> bool) -> bool {
    let tensor = rw.constant_of(value).and_then(|c| c.as_dense()?.stored().ok());
    let wide = tensor.and_then(|t| numerics::math::convert(t, numerics::DType::F64).ok());
    wide.and_then(|t| t.to_vec::<f64>().ok())
        .is_some_and(|elements| elements.into_iter().any(predicate))
}

/// True if a float is representable in an integer type; a negative zero is not.
fn fits(x: f64, ty: &Type) -> bool {
    let Some(dtype) = ty.dtype() else { return false };
    let bits = i32::try_from(dtype.bits()).unwrap_or(i32::MAX);
    let (low, high) = if dtype.is_signed() {
        (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1))
    } else {
        (0.0, 2f64.powi(bits))
    };
    let whole = x.trunc();
    x.is_finite() && (whole != 0.0 || !x.is_sign_negative()) && (low..high).contains(&whole)
}

/// True if the results of a function are finite, or the op only propagates non-finite values.
fn is_wanted(op: OpRef<'_>, values: &[Attribute]) -> bool {
    let passes_on = op.is(AbsOp::DEF) || op.is(NegateOp::DEF);
    if passes_on || op.operands().len() != 1 || !op.has_trait(&Trait::Elementwise) {
        return true;
    }
    values.iter().all(|value| {
        let Some(dense) = value.as_dense() else { return true };
        let Some(format) = dense.dtype().float_format().filter(|_| dense.dtype().is_float()) else {
            return true;
        };
        let number = |bytes: &[u8]| {
            let mut bits = [0u8; 8];
            bits[..bytes.len()].copy_from_slice(bytes);
            format.decode(u64::from_le_bytes(bits))
        };
        dense.data().chunks_exact(dense.dtype().bytes()).all(|bytes| number(bytes).is_finite())
    })
}

/// The stored form of the element of a splat constant.
fn splat_element(rw: &Rewriter<'_>, value: Value) -> Option<Vec<u8>> {
    let constant = rw.constant_of(value)?;
    let dense = constant.as_dense().filter(|d| d.is_splat() && d.num_elements() > 0)?;
    Some(dense.data()[..].to_vec())
}

fn splat(rw: &mut Rewriter<'_>, element: Vec<u8>, ty: &Type) -> Option<Value> {
    ty.as_tensor().filter(|t| t.has_static_shape())?;
    let value = DenseElements::new(ty.clone(), Bytes::from_vec(element))?;
    Some(constant(rw, value.into(), ty.clone()))
}

/// Ops that only move elements fold to a splat if the operand is one.
fn moved_splat(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let element = splat_element(rw, *rw.op(op).operands().first()?)?;
    let ty = rw.op(op).result_type(0).clone();
    let moved = splat(rw, element, &ty)?;
    rw.replace(op, &[moved]);
    Some(())
}

/// `concatenate(splat(c), splat(c), x) = concatenate(splat(c), x)`
pub(crate) fn concatenate_splats(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let dimension = usize::try_from(ConcatenateOp(rw.op(op)).dimension()).ok()?;
    let inputs = rw.op(op).operands().to_vec();
    let mut runs: Vec<(Vec<Value>, Option<Vec<u8>>)> = Vec::new();
    for &input in &inputs {
        let element = splat_element(rw, input);
        match runs.last_mut() {
            Some((run, of)) if element.is_some() && *of == element => run.push(input),
            _ => runs.push((vec![input], element)),
        }
    }
    let size = |run: &[Value]| {
        run.iter().map(|&v| Some(*rw.ty(v).shape()?.get(dimension)?)).sum::<Option<i64>>()
    };
    let sizes: Option<Vec<i64>> = runs.iter().map(|(run, _)| size(run)).collect();
    let sizes = sizes?;
    if runs.len() >= inputs.len() {
        return None;
    }
    let mut merged = Vec::with_capacity(runs.len());
    for ((run, element), size) in runs.into_iter().zip(sizes) {
        let ty = rw.ty(run[0]).as_tensor()?.clone();
        merged.push(match element.filter(|_| run.len() > 1) {
            Some(element) => {
                let mut shape = ty.shape;
                shape[dimension] = size;
                splat(rw, element, &Type::tensor(shape, ty.element))?
            }
            None => run[0],
        });
    }
    match merged[..] {
        [all] if rw.ty(all) == rw.op(op).result_type(0) => rw.replace(op, &[all]),
        _ => rw.set_operands(op, &merged),
    }
    Some(())
}

/// `iota` without elements.
fn iota_of_nothing(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let ty = rw.op(op).result_type(0).clone();
    if ty.as_tensor()?.num_elements()? != 0 {
        return None;
    }
    let value = DenseElements::new(ty.clone(), Bytes::from_vec(Vec::<u8>::new()))?;
    let empty = constant(rw, value.into(), ty);
    rw.replace(op, &[empty]);
    Some(())
}

/// `set_dimension_size(x, size, d) = x` if that is the static size.
fn set_dimension_size_to_same(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [operand, size] = rw.op(op).operands().try_into().ok()?;
    let ty = rw.ty(operand).as_tensor().filter(|t| t.has_static_shape())?;
    let dimension = usize::try_from(SetDimensionSizeOp(rw.op(op)).dimension()).ok()?;
    let size = rw.constant_of(size)?.as_dense()?.int_values()?;
    if size != [*ty.shape.get(dimension)?] {
        return None;
    }
    forward(rw, op, operand)
}

/// `reduce(splat(x), x) = splat(x)` if `f(x, x) = x`.
fn reduce_fixed_point(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operands = rw.op(op).operands().to_vec();
    let elements: Option<Vec<Vec<u8>>> = operands.iter().map(|&v| splat_element(rw, v)).collect();
    let elements = elements?;
    let (inputs, inits) = elements.split_at(elements.len() / 2);
    if inputs != inits || ReduceOp(rw.op(op)).dimensions().is_empty() {
        return None;
    }
    let body = rw.entry(*rw.op(op).regions().first()?)?;
    let scalar = |(&value, element): (&Value, &Vec<u8>)| {
        let dtype = rw.ty(value).element_type().dtype()?;
        Some(RuntimeValue::Tensor(numerics::Tensor::splat_bytes(dtype, [], element).ok()?))
    };
    let arguments: Option<Vec<RuntimeValue>> = operands.iter().zip(&elements).map(scalar).collect();
    let returned = evaluate_block(rw, body, arguments?)?;
    let is_fixed = returned.len() == inits.len()
        && returned.iter().zip(inits).all(|(r, x)| r.bytes()[..] == x[..]);
    if !is_fixed {
        return None;
    }
    let types: Vec<Type> = rw.op(op).result_types().cloned().collect();
    let is_static = types.iter().all(|ty| ty.as_tensor().is_some_and(|t| t.has_static_shape()));
    if !is_static {
        return None;
    }
    let values: Option<Vec<Value>> =
        inits.iter().cloned().zip(&types).map(|(element, ty)| splat(rw, element, ty)).collect();
    rw.replace(op, &values?);
    Some(())
}

/// `case(constant i) { branches }` is inlined to branch `i`. If branches have side effects, the op
/// stays without uses, in case its presence matters, and its branch `i` returns zeros.
fn case_of_constant(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let case = CaseOp::cast(rw.op(op))?;
    let results: Vec<Value> = case.results().collect();
    if results.iter().all(|&r| rw.is_unused(r)) {
        return None;
    }
    let index = *rw.constant_of(case.index())?.as_dense()?.int_values()?.first()?;
    let branches = case.branches();
    let chosen =
        usize::try_from(index).ok().and_then(|i| branches.get(i)).or(branches.last()).copied()?;
    let block = rw.entry(chosen)?;
    let types: Vec<Type> = case.result_types().cloned().collect();
    let placeholders: Option<Vec<Placeholder>> = types.iter().map(Placeholder::of).collect();
    let placeholders = placeholders?;
    let values = rw.terminator(block)?.operands().to_vec();
    // The ops of the branch move before the op; its block stays, and returns placeholders.
    let end = rw.terminator(block)?.id();
    let ops: Vec<OpId> = rw.ops(block).map(OpRef::id).filter(|&op| op != end).collect();
    for moved in ops {
        rw.move_before(moved, op);
    }
    let zeros: Vec<Value> = {
        rw.before(end);
        placeholders.into_iter().map(|p| p.make(rw)).collect()
    };
    rw.set_operands(end, &zeros);
    rw.set_root(op);
    for (result, value) in results.into_iter().zip(values) {
        rw.replace_uses(result, value);
    }
    Some(())
}

/// An unused value.
enum Placeholder {
    Zero(Type, DenseElements),
    Token,
}

impl Placeholder {
    fn of(ty: &Type) -> Option<Placeholder> {
        if *ty == hlo::types::token() {
            return Some(Placeholder::Token);
        }
        let tensor = ty.as_tensor().filter(|t| t.has_static_shape())?;
        let zero = vec![0u8; tensor.element.dtype()?.bytes()];
        Some(Placeholder::Zero(ty.clone(), DenseElements::new(ty.clone(), Bytes::from_vec(zero))?))
    }

    fn make(self, rw: &mut Rewriter<'_>) -> Value {
        match self {
            Placeholder::Zero(ty, value) => constant(rw, value.into(), ty),
            Placeholder::Token => rw.make(CreateTokenOp::DEF, []).result(hlo::types::token()),
        }
    }
}

/// The block of the condition, if that is always false.
fn false_condition(rw: &Rewriter<'_>, op: OpId) -> Option<BlockId> {
    let block = rw.entry(*rw.op(op).regions().first()?)?;
    let condition = *rw.terminator(block)?.operands().first()?;
    splat_number(rw, condition).filter(|n| n.is_zero()).map(|_| block)
}

/// `while (false) { … }` forwards its operands. The op stays if it has side effects, although they
/// never happen.
fn while_false(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    false_condition(rw, op)?;
    let results: Vec<Value> = rw.op(op).results().collect();
    if results.iter().all(|&r| rw.is_unused(r)) && !is_dead(rw, op) {
        return None;
    }
    let operands = rw.op(op).operands().to_vec();
    for (result, operand) in results.into_iter().zip(operands) {
        rw.replace_uses(result, operand);
    }
    if is_dead(rw, op) {
        rw.erase(op);
    }
    Some(())
}

/// Erases an unused `while (false) { … }` if no op in it declares side effects. Only applies if ops
/// without declared side effects may be assumed to have none.
fn while_false_unused(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    if !rw.options().bool("assume-no-undeclared-side-effects") {
        return None;
    }
    false_condition(rw, op)?;
    if !rw.op(op).results().all(|r| rw.is_unused(r)) {
        return None;
    }
    if rw.walk(op).any(declares_effects) {
        return None;
    }
    rw.erase(op);
    Some(())
}

/// True if the op is flagged as having side effects, or communicates.
fn declares_effects(op: OpRef<'_>) -> bool {
    let flagged = CustomCallOp::cast(op).is_some_and(|call| call.has_side_effect());
    let exchanges = [InfeedOp::DEF, OutfeedOp::DEF, SendOp::DEF, RecvOp::DEF];
    flagged || exchanges.iter().any(|&def| op.is(def))
}
