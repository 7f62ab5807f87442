//! Types of inputs, arguments and results.

use crate::scheduler::describe;
use mlir::Type;
use mlir::diag::counted;
use mlir::diag::{Diagnostic, Diagnostics};
use mlir::prepare::{storage_type, value_type};
use numerics::DType;
use program::{EvalError, RuntimeValue, ValueType};
use side_dialects::func::FuncOp;
use std::sync::Arc;

/// The storage type of elements of `ty`, or of a tensor of that type; a quantized type has its own.
pub fn storage_dtype(ty: &Type) -> Option<DType> {
    storage_type(ty.element_type())?.dtype()
}

/// True if a value has type `ty`; `?` matches any size, within its bound if it has one.
pub fn value_fits(value: &RuntimeValue, ty: &Type) -> bool {
    value_type(ty).accepts(value)
}

/// Compares values with the types that they are declared to have: dynamic sizes may turn out
/// otherwise.
///
/// # Errors
/// For the first value that does not fit.
pub(crate) fn check_types(
    what: &str,
    values: &[RuntimeValue],
    types: &[Arc<ValueType>],
) -> Result<(), EvalError> {
    let contradicts =
        |(_, (value, ty)): &(usize, (&RuntimeValue, &Arc<ValueType>))| ty.contradicts(value);
    match values.iter().zip(types).enumerate().find(contradicts) {
        None => Ok(()),
        Some((index, (value, ty))) => Err(mismatch(what, index, value, ty)),
    }
}

/// The error that a value does not have its type.
pub(crate) fn mismatch(
    what: &str,
    index: usize,
    value: &RuntimeValue,
    ty: &ValueType,
) -> EvalError {
    let (ty, found) = (describe_type(ty), describe(value));
    EvalError::new("type", format!("{what} {index} has type {ty}, but its value has type {found}"))
}

/// A type, as it prints.
fn describe_type(ty: &ValueType) -> String {
    match ty {
        ValueType::Tensor { dtype, shape, .. } => {
            Type::tensor(shape.clone(), Type::from(*dtype)).to_string()
        }
        ValueType::Unranked(dtype) => format!("tensor<*x{dtype}>"),
        ValueType::Scalar(dtype) => Type::from(*dtype).to_string(),
        ValueType::Token => "!stablehlo.token".into(),
        ValueType::Tuple(types) => {
            let types: Vec<String> = types.iter().map(describe_type).collect();
            format!("tuple<{}>", types.join(", "))
        }
        ValueType::Opaque => "of a dialect".into(),
    }
}

/// Compares inputs with the signature of the function.
///
/// # Errors
/// One for a wrong number of inputs, else one for each input that does not fit.
pub(crate) fn check(function: FuncOp<'_>, inputs: &[RuntimeValue]) -> Result<(), Diagnostics> {
    let (types, _) = function.signature();
    let name = function.symbol_name().unwrap_or("");
    if types.len() != inputs.len() {
        let takes: Vec<String> = types.iter().map(Type::to_string).collect();
        let message = format!(
            "@{name} takes {} ({}); found {}",
            counted(types.len(), "input"),
            takes.join(", "),
            inputs.len()
        );
        return Err(vec![function.error("inputs", message)]);
    }
    let wrong = |(index, (value, ty)): (usize, (&RuntimeValue, &Type))| -> Option<Diagnostic> {
        (!value_fits(value, ty)).then(|| {
            let message = format!(
                "argument {index} of @{name} has type {ty}, the input given has type {}",
                describe(value)
            );
            function.error("inputs", message)
        })
    };
    let errors: Diagnostics = inputs.iter().zip(types).enumerate().filter_map(wrong).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}
