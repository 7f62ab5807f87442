//! Reification of result shapes: ops emit code that computes the shapes of their results from
//! operands and operand shapes. Parts that ops share are here; [`OpDef::reify`] is their hook.

use mlir::diag::Severity;
use mlir::ods::{OpDef, Trait};
use mlir::rewrite::Rewriter;
use mlir::types::DYNAMIC;
use mlir::{Attribute, Diagnostic, OpId, Type, Value};
use side_dialects::{arith, shape, tensor};

/// The shape of the first result of an op, a `tensor<rank x index>`: by the hook of its
/// declaration, or that of the operands of an elementwise op. `None` for other ops.
pub fn result_shape(rw: &mut Rewriter<'_>, op: OpId) -> Option<Value> {
    let def = rw.op(op).def()?;
    match def.reify {
        Some(reify) => reify(rw, op),
        None if def.has_trait(&Trait::Elementwise) => shape_of_first(rw, op),
        None => None,
    }
}

/// `shape_of(x)` of the first operand.
pub fn shape_of_first(rw: &mut Rewriter<'_>, op: OpId) -> Option<Value> {
    let operand = *rw.op(op).operands().first()?;
    Some(shape_of(rw, operand))
}

fn shape_of(rw: &mut Rewriter<'_>, value: Value) -> Value {
    let rank = rw.ty(value).shape().map_or(DYNAMIC, |shape| shape.len() as i64);
    rw.make(shape::ShapeOfOp::DEF, [value]).result(Type::tensor([rank], Type::index()))
}

/// The NumPy broadcast of all operand shapes.
pub fn common_shape(rw: &mut Rewriter<'_>, op: OpId) -> Option<Value> {
    let dims = rw.op(op).int_array("broadcast_dimensions").map(<[i64]>::to_vec);
    let operands = rw.op(op).operands().to_vec();
    let ranks: Option<Vec<usize>> =
        operands.iter().map(|&v| rw.ty(v).shape().map(<[i64]>::len)).collect();
    if let Some(dims) = dims {
        let offset = ranks
            .as_ref()
            .map(|ranks| ranks.iter().max().unwrap_or(&0) - ranks.iter().min().unwrap_or(&0));
        if !offset.is_some_and(|offset| {
            dims.iter().copied().eq((offset..offset + dims.len()).map(|d| d as i64))
        }) {
            let message = "`broadcast_dimensions` must be the last ones, where shapes are computed";
            let warning = rw.op(op).error("broadcast", message);
            rw.report(Diagnostic { severity: Severity::Warning, ..warning });
            return None;
        }
    }
    let rank = ranks.map_or(DYNAMIC, |ranks| ranks.into_iter().max().unwrap_or(0) as i64);
    let shapes: Vec<Value> = operands.into_iter().map(|v| shape_of(rw, v)).collect();
    Some(rw.make(shape::BroadcastOp::DEF, shapes).result(Type::tensor([rank], Type::index())))
}

/// An operand that is the shape itself.
pub fn given(rw: &mut Rewriter<'_>, op: OpId, operand: usize) -> Option<Value> {
    let shape = *rw.op(op).operands().get(operand)?;
    let ty = rw.ty(shape).as_tensor()?.clone();
    if ty.element.is_index() {
        return Some(shape);
    }
    let cast = rw.make(arith::IndexCastOp::DEF, [shape]);
    Some(cast.result(Type::tensor(&ty.shape[..], Type::index())))
}

/// A constant index.
pub fn index(rw: &mut Rewriter<'_>, value: i64) -> Value {
    let value = Attribute::integer(i128::from(value), Type::index());
    rw.make(arith::ConstantOp::DEF, []).attr("value", value).result(Type::index())
}

/// The size of a dimension.
fn dim(rw: &mut Rewriter<'_>, value: Value, dimension: usize) -> Value {
    let position = index(rw, dimension as i64);
    rw.make(tensor::DimOp::DEF, [value, position]).result(Type::index())
}

/// The sizes of all dimensions of an operand.
pub fn dims(rw: &mut Rewriter<'_>, op: OpId, operand: usize) -> Option<Vec<Value>> {
    let value = *rw.op(op).operands().get(operand)?;
    let rank = rw.ty(value).as_tensor()?.rank();
    Some((0..rank).map(|i| dim(rw, value, i)).collect())
}

/// An element of an operand, a vector of integers, as an index.
pub fn element(rw: &mut Rewriter<'_>, op: OpId, operand: usize, at: usize) -> Option<Value> {
    let vector = *rw.op(op).operands().get(operand)?;
    let ty = rw.ty(vector).element_type().clone();
    let at = index(rw, at as i64);
    let element = rw.make(tensor::ExtractOp::DEF, [vector, at]).result(ty.clone());
    let cast =
        |rw: &mut Rewriter<'_>| rw.make(arith::IndexCastOp::DEF, [element]).result(Type::index());
    Some(if ty.is_index() { element } else { cast(rw) })
}

/// A binary op on indices.
pub fn binary(rw: &mut Rewriter<'_>, def: &'static OpDef, a: Value, b: Value) -> Value {
    rw.make(def, [a, b]).result(Type::index())
}

/// `a + b` of indices.
pub fn add(rw: &mut Rewriter<'_>, a: Value, b: Value) -> Value {
    binary(rw, arith::AddIOp::DEF, a, b)
}

/// `a - b` of indices.
pub fn sub(rw: &mut Rewriter<'_>, a: Value, b: Value) -> Value {
    binary(rw, arith::SubIOp::DEF, a, b)
}

/// A vector of sizes; static dimensions of the result type become constants.
pub fn vector(rw: &mut Rewriter<'_>, op: OpId, mut sizes: Vec<Value>) -> Option<Value> {
    let result = rw.op(op).result_type(0).as_tensor()?.shape.to_vec();
    if result.len() != sizes.len() {
        return None;
    }
    for (size, known) in sizes.iter_mut().zip(result) {
        if known != DYNAMIC {
            *size = index(rw, known);
        }
    }
    let ty = Type::tensor([sizes.len() as i64], Type::index());
    Some(rw.make(tensor::FromElementsOp::DEF, sizes).result(ty))
}

/// `low + size + high + interior * max(size - 1, 0)`
pub fn padded(
    rw: &mut Rewriter<'_>,
    size: Value,
    low: Value,
    high: Value,
    interior: Value,
) -> Value {
    let (zero, one) = (index(rw, 0), index(rw, 1));
    let less = rw
        .make(arith::CmpIOp::DEF, [size, one])
        .attr("predicate", Attribute::i64(LESS))
        .result(Type::i1());
    let gaps = sub(rw, size, one);
    let gaps = rw.make(arith::SelectOp::DEF, [less, zero, gaps]).result(Type::index());
    let inner = binary(rw, arith::MulIOp::DEF, interior, gaps);
    let inner = add(rw, inner, size);
    let inner = add(rw, inner, low);
    add(rw, inner, high)
}

/// The predicate `slt` of `arith.cmpi`.
const LESS: i64 = 2;
