//! Values of single ops on constants: the kernel of an op's primitive, without an executor. Folding
//! and refinement compute with it.

use kernels::evaluate as evaluate_primitive;
use mlir::attrs::DenseElements;
use mlir::ods::Trait;
use mlir::prepare::single;
use mlir::rewrite::Folded;
use mlir::{Attribute, Module, OpRef, Type, Value};
use numerics::DType;
use program::{EvalResult, NoEvaluator, RuntimeValue};

/// Maximum number of elements of a constant made by folding.
const MAX_ELEMENTS: usize = 1 << 16;

/// Folds an op of constants by evaluating it.
pub fn evaluate(op: OpRef<'_>, constants: &[Option<Attribute>]) -> Option<Vec<Folded>> {
    if constants.is_empty() || !constants.iter().all(Option::is_some) {
        return None;
    }
    let results = results(op, MAX_ELEMENTS, |value| constant(op.module(), value))?;
    let constant =
        |(result, ty): (RuntimeValue, &Type)| attribute(result, ty).map(Folded::Constant);
    results.into_iter().zip(op.result_types()).map(constant).collect()
}

/// Evaluates a single op without regions or calls on its operands.
fn evaluate_op(op: OpRef<'_>, operands: Vec<RuntimeValue>) -> EvalResult {
    evaluate_primitive(&single(op)?, op.id().into(), operands, &mut NoEvaluator)
}

/// Evaluates an op without regions whose tensors have at most `max_elements` elements, on the
/// values that `operand` gives for its operands. `None` if there are others, or the op has no
/// results for them.
pub fn results(
    op: OpRef<'_>,
    max_elements: usize,
    operand: impl Fn(Value) -> Option<RuntimeValue>,
) -> Option<Vec<RuntimeValue>> {
    let is_small = |ty: &Type| {
        ty.as_tensor().is_none_or(|tensor| {
            tensor.has_static_shape() && tensor.num_elements().is_some_and(|n| n <= max_elements)
        })
    };
    if !op.regions().is_empty() || !op.operand_types().chain(op.result_types()).all(is_small) {
        return None;
    }
    let operands = op.operands().iter().map(|&value| operand(value)).collect::<Option<_>>()?;
    evaluate_op(op, operands).ok()
}

/// The value of `value` in a run, if a constant defines it.
pub fn constant(module: &Module, value: Value) -> Option<RuntimeValue> {
    let op = module.defining_op(value).filter(|op| op.has_trait(&Trait::ConstantLike))?;
    evaluate_op(op, Vec::new()).ok()?.pop()
}

/// The attribute for a value of a type. Dialects may represent values of their types as scalars and
/// vectors of `i64`, which become attributes of type `index`, and as booleans.
fn attribute(value: RuntimeValue, ty: &Type) -> Option<Attribute> {
    let tensor = value.into_tensor().ok()?;
    let element = match ty.element_type().dtype() {
        Some(dtype) => (dtype == tensor.dtype()).then(|| ty.element_type().clone())?,
        None if tensor.dtype() == DType::I64 => Type::index(),
        None if tensor.dtype() == DType::I1 => Type::i1(),
        None => return None,
    };
    let is_tensor = ty.shape().is_some() || tensor.rank() > 0;
    if is_tensor {
        let shape: Vec<i64> =
            tensor.shape().iter().map(|&size| i64::try_from(size).ok()).collect::<Option<_>>()?;
        return Some(
            DenseElements::new(Type::tensor(shape, element), tensor.bytes().clone())?.into(),
        );
    }
    let dense = DenseElements::new(Type::tensor([], element.clone()), tensor.bytes().clone())?;
    if let Some(value) = dense.int_values() {
        return Some(Attribute::integer(i128::from(*value.first()?), element));
    }
    if !element.is_float() {
        return None;
    }
    let bits = tensor.bytes().iter().rev().fold(0u128, |bits, &byte| bits << 8 | u128::from(byte));
    Some(Attribute::float_bits(bits, element))
}
