//! `stablehlo-legalize-quant-to-math`: lowers quantized ops to ops on the stored integers and on
//! floats.
//!
//! First all values of quantized types get the storage type; then each op that had quantized
//! operands or results is lowered with its original types. The order of ops and the constants are
//! upstream's, so that results have the same bits.

mod dot;
mod emit;

use crate::quantized_op_to_qdq::expressed;
use emit::Emit;
use hlo::ops::*;
use hlo::quantized::EXPRESSED;
use hlo::{compat, quantized};
use mlir::ods::OpDef;
use mlir::pass::{Pass, PassContext};
use mlir::rewrite::Rewriter;
use mlir::{BlockId, OpId, OpRef, Type, Value};
use side_dialects::func::FuncOp;
use side_dialects::quant::{Granularity, Uniform};

/// Lowers quantized ops.
pub(crate) const PASS: Pass = Pass::on_functions(
    "stablehlo-legalize-quant-to-math",
    "Lower quantized ops to arithmetic on the stored integers",
    run,
);

/// Ops that need only new types: they have the same meaning on stored values.
static TYPES_ONLY: &[&OpDef] = &[
    BitcastConvertOp::DEF,
    BroadcastInDimOp::DEF,
    CompositeOp::DEF,
    ConcatenateOp::DEF,
    ConstantOp::DEF,
    DynamicBroadcastInDimOp::DEF,
    DynamicReshapeOp::DEF,
    DynamicSliceOp::DEF,
    GatherOp::DEF,
    GetDimensionSizeOp::DEF,
    PadOp::DEF,
    ReduceWindowOp::DEF,
    ReshapeOp::DEF,
    ReturnOp::DEF,
    SelectOp::DEF,
    SliceOp::DEF,
    TransposeOp::DEF,
];

/// An op with its original operand and result types.
struct QuantizedOp {
    op: OpId,
    operands: Vec<Type>,
    results: Vec<Type>,
}

impl QuantizedOp {
    /// The quantization of an operand.
    fn operand(&self, index: usize) -> Option<Uniform<'_>> {
        quantized::quantized(self.operands.get(index)?)
    }

    fn result(&self) -> Option<Uniform<'_>> {
        quantized::quantized(self.results.first()?)
    }
}

fn run(cx: &mut PassContext<'_>) {
    let ops = quantized_ops(cx);
    store(cx);
    let mut rw = Rewriter::new(cx.module, cx.options);
    for op in ops {
        rw.set_root(op.op);
        let before = rw.reported();
        if lower(&mut rw, &op).is_none() {
            let name = rw.op(op.op).name();
            let types: Vec<String> = op.operands.iter().map(Type::to_string).collect();
            let message = format!(
                "{name} cannot be converted to arithmetic on integers for {}",
                types.join(", ")
            );
            let error = rw.op(op.op).error("conversion", message);
            rw.report(error);
        }
        if rw.reported() > before {
            break;
        }
    }
    let errors = rw.take_diagnostics();
    cx.diagnostics.extend(errors);
}

/// The type with the storage type as its element type.
fn stored(ty: &Type) -> Type {
    if let Some(elements) = ty.as_tuple() {
        return Type::tuple(elements.iter().map(stored).collect());
    }
    match quantized::quantized(ty) {
        Some(view) if ty.is_shaped() => compat::with_element(ty, view.storage.clone()),
        Some(view) => view.storage.clone(),
        None => ty.clone(),
    }
}

/// The ops of the StableHLO, CHLO and quantization dialects with quantized operands or results, in
/// program order.
fn quantized_ops(cx: &PassContext<'_>) -> Vec<QuantizedOp> {
    let known = |op: &OpRef<'_>| {
        op.def().is_some_and(|def| matches!(def.dialect(), "stablehlo" | "chlo" | "quant"))
    };
    let quantized = |op: OpRef<'_>| {
        let quantized = op.operand_types().chain(op.result_types()).any(|ty| stored(ty) != *ty);
        quantized.then(|| QuantizedOp {
            op: op.id(),
            operands: op.operand_types().cloned().collect(),
            results: op.result_types().cloned().collect(),
        })
    };
    cx.module.walk(cx.root).skip(1).filter(known).filter_map(quantized).collect()
}

/// Gives all values their storage types.
fn store(cx: &mut PassContext<'_>) {
    let module = &mut *cx.module;
    let ops: Vec<OpId> = module.walk(cx.root).map(OpRef::id).collect();
    for op in ops {
        let view = module.op(op);
        let blocks = view.regions().iter().flat_map(|&region| module.blocks(region));
        let arguments = blocks.flat_map(|&block: &BlockId| module.arguments(block).iter().copied());
        let values: Vec<Value> = view.results().chain(arguments).collect();
        let signature = FuncOp::cast(view).map(FuncOp::signature);
        let function = signature.map(|(inputs, results)| {
            let all = |types: &[Type]| types.iter().map(stored).collect();
            Type::function(all(inputs), all(results))
        });
        if let Some(function) = function {
            module.set_attr(op, "function_type", function.into());
        }
        for value in values {
            let ty = stored(module.ty(value));
            if ty != *module.ty(value) {
                module.set_type(value, ty);
            }
        }
    }
}

/// Lowers an op. `None` if it has no lowering.
fn lower(rw: &mut Rewriter<'_>, op: &QuantizedOp) -> Option<()> {
    let view = rw.op(op.op);
    let one_scale = [op.operands.first(), op.operands.get(1), op.results.first()]
        .iter()
        .all(|ty| *ty == op.operands.first());
    let extremum = view.is(MinimumOp::DEF) || view.is(MaximumOp::DEF);
    let per_tensor =
        || op.result().is_some_and(|view| view.granularity() == Granularity::PerTensor);
    if view.is_any(TYPES_ONLY) || extremum && one_scale && per_tensor() {
        return Some(());
    }
    let (operands, elementwise) = (view.operands().to_vec(), view.has_trait(&EXPRESSED));
    let special = if view.is(UniformQuantizeOp::DEF) {
        let value = quantize_or_requantize(rw, op, operands[0])?;
        return replace(rw, op, value);
    } else if view.is(UniformDequantizeOp::DEF) {
        let value = dequantize(rw, operands[0], op.operands.first()?)?;
        return replace(rw, op, value);
    } else if view.is(AddOp::DEF) {
        add(rw, op, &operands)
    } else {
        dot::lower(rw, op, &operands)
    };
    match special {
        Some(value) => replace(rw, op, value),
        None if elementwise => around_floats(rw, op),
        None => None,
    }
}

fn replace(rw: &mut Rewriter<'_>, op: &QuantizedOp, value: Value) -> Option<()> {
    rw.replace(op.op, &[value]);
    Some(())
}

/// `f(x, …) = quantize(f(dequantize(x), …))`
fn around_floats(rw: &mut Rewriter<'_>, op: &QuantizedOp) -> Option<()> {
    let operands = rw.op(op.op).operands().to_vec();
    let floats = |(value, ty): (Value, &Type)| match quantized::quantized(ty) {
        Some(_) => dequantize(rw, value, ty),
        None => Some(value),
    };
    let operands =
        operands.into_iter().zip(&op.operands).map(floats).collect::<Option<Vec<Value>>>()?;
    let types = op.results.iter().map(expressed);
    let def = rw.op(op.op).def()?;
    let new = rw.make(def, operands).attributes_of(op.op).results(types);
    let results: Vec<Value> = rw.op(new).results().collect();
    let integers = |(value, ty): (Value, &Type)| match quantized::quantized(ty) {
        Some(view) => quantize(rw, value, &view),
        None => Some(value),
    };
    let results =
        results.into_iter().zip(&op.results).map(integers).collect::<Option<Vec<Value>>>()?;
    rw.replace(op.op, &results);
    Some(())
}

/// q = convert(round(clamp(min, x / scale + zero_point, max)))
fn quantize(rw: &mut Rewriter<'_>, x: Value, to: &Uniform<'_>) -> Option<Value> {
    if *rw.ty(x).element_type() != Type::f32() {
        return None;
    }
    let mut emit = Emit::new(rw);
    let dims = emit::axis(to);
    let scales = emit.f32s(to, to.scales())?;
    let zero_points = emit.f32s(to, to.zero_points.iter().map(|&z| z as f64))?;
    let (min, max) = (emit.f32(to.storage_min as f64)?, emit.f32(to.storage_max as f64)?);
    let scaled = emit.broadcast(chlo::BroadcastDivideOp::DEF, x, scales, dims.as_ref());
    let shifted = emit.broadcast(chlo::BroadcastAddOp::DEF, scaled, zero_points, dims.as_ref());
    let clamped = emit.same(ClampOp::DEF, [min, shifted, max], shifted);
    let rounded = emit.same(RoundNearestEvenOp::DEF, [clamped], clamped);
    Some(emit.convert(rounded, to.storage.clone()))
}

/// x = convert(convert(q) - zero_point) * scale
fn dequantize(rw: &mut Rewriter<'_>, q: Value, from: &Type) -> Option<Value> {
    let from = quantized::quantized(from).filter(|from| *from.expressed == Type::f32())?;
    let mut emit = Emit::new(rw);
    let dims = emit::axis(&from);
    let scales = emit.f32s(&from, from.scales())?;
    let zero_points = emit.i32s(&from, from.zero_points)?;
    let integers = emit.convert(q, Type::i32());
    let shifted =
        emit.broadcast(chlo::BroadcastSubtractOp::DEF, integers, zero_points, dims.as_ref());
    let floats = emit.convert(shifted, Type::f32());
    Some(emit.broadcast(chlo::BroadcastMultiplyOp::DEF, floats, scales, dims.as_ref()))
}

fn quantize_or_requantize(rw: &mut Rewriter<'_>, op: &QuantizedOp, x: Value) -> Option<Value> {
    let to = op.result()?;
    let Some(from) = op.operand(0) else { return quantize(rw, x, &to) };
    let per_axis = |view: &Uniform<'_>| view.granularity() == Granularity::PerAxis;
    if per_axis(&from) && per_axis(&to) && from.axes != to.axes {
        let message =
            format!("the quantized dimension cannot change from {:?} to {:?}", from.axes, to.axes);
        let error = rw.op(op.op).error("uniform_quantize", message);
        rw.report(error);
        return None;
    }
    requantize(rw, x, [&from, &to], to.storage)
}

/// q' = q * merged_scale + merged_zero_point, rounded to integers of type `element`, and clamped
/// unless these have 32 bits.
///
/// merged_scale = scale / scale', merged_zero_point = zero_point' - zero_point * merged_scale
fn requantize(
    rw: &mut Rewriter<'_>,
    q: Value,
    [from, to]: [&Uniform<'_>; 2],
    element: &Type,
) -> Option<Value> {
    let mut emit = Emit::new(rw);
    if emit::same_parameters(from, to) {
        return Some(emit.convert(q, element.clone()));
    }
    let count = from.scales().len().max(to.scales().len());
    let at = |list: Vec<f64>, i: usize| {
        list.get(if list.len() == 1 { 0 } else { i }).copied().unwrap_or(1.0)
    };
    let parameters = |view: &Uniform<'_>, i: usize| {
        (
            at(view.scales().collect(), i),
            at(view.zero_points.iter().map(|&z| z as f64).collect(), i),
        )
    };
    let merged = |i: usize| {
        let ((scale, zero_point), (new_scale, new_zero_point)) =
            (parameters(from, i), parameters(to, i));
        let merged = scale / new_scale;
        (merged, new_zero_point - zero_point * merged)
    };
    let (scales, zero_points): (Vec<f64>, Vec<f64>) = (0..count).map(merged).unzip();
    let shaped = if to.granularity() == Granularity::PerAxis { to } else { from };
    let dims = emit::axis(shaped);
    let mut x = emit.convert(q, Type::f32());
    let scales = emit.f32s(shaped, scales.into_iter())?;
    x = emit.broadcast(chlo::BroadcastMultiplyOp::DEF, x, scales, dims.as_ref());
    let significant = match dims {
        Some(_) => zero_points.iter().any(|&z| z as f32 != 0.0),
        None => zero_points.iter().any(|&z| z != 0.0),
    };
    if significant {
        let zero_points = emit.f32s(shaped, zero_points.into_iter())?;
        x = emit.broadcast(chlo::BroadcastAddOp::DEF, x, zero_points, dims.as_ref());
    }
    if element.bit_width()? < 32 {
        let (min, max) = (emit.f32(to.storage_min as f64)?, emit.f32(to.storage_max as f64)?);
        x = emit.same(ClampOp::DEF, [min, x, max], x);
    }
    x = emit.same(RoundNearestEvenOp::DEF, [x], x);
    Some(emit.convert(x, element.clone()))
}

/// For operands with the parameters of the result: q = clamp(lhs + rhs - zero_point)
fn add(rw: &mut Rewriter<'_>, op: &QuantizedOp, operands: &[Value]) -> Option<Value> {
    let &[lhs, rhs] = operands else { return None };
    let (left, right, result) = (op.operand(0)?, op.operand(1)?, op.result()?);
    let views = [&left, &right, &result];
    if views.iter().any(|view| view.granularity() != Granularity::PerTensor) {
        let same = views.iter().all(|view| emit::same_parameters(view, &left));
        if !same || *left.storage != Type::i32() {
            return None;
        }
        let mut emit = Emit::new(rw);
        let sum = emit.same(AddOp::DEF, [lhs, rhs], lhs);
        if left.zero_points.iter().all(|&z| z == 0) {
            return Some(sum);
        }
        let zero_points = emit.i32s(&left, left.zero_points)?;
        return Some(emit.broadcast(
            chlo::BroadcastSubtractOp::DEF,
            sum,
            zero_points,
            emit::axis(&left).as_ref(),
        ));
    }
    let lhs = requantize(rw, lhs, [&left, &result], &Type::i32())?;
    let rhs = requantize(rw, rhs, [&right, &result], &Type::i32())?;
    let mut emit = Emit::new(rw);
    let zero_point = emit.i32(*result.zero_points.first()?)?;
    let sum = emit.broadcast(chlo::BroadcastAddOp::DEF, lhs, rhs, None);
    let sum = emit.broadcast(chlo::BroadcastSubtractOp::DEF, sum, zero_point, None);
    if *result.storage == Type::i32() {
        return Some(sum);
    }
    let (min, max) = (emit.i32(result.storage_min)?, emit.i32(result.storage_max)?);
    let clamped = emit.same(ClampOp::DEF, [min, sum, max], sum);
    Some(emit.convert(clamped, result.storage.clone()))
}
