//! Types of inputs, arguments and results.

use crate::scheduler::describe;
use mlir::Type;
use mlir::diag::{Diagnostics, counted};
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
pub fn check_types(
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
pub fn mismatch(what: &str, index: usize, value: &RuntimeValue, ty: &ValueType) -> EvalError {
    let (ty, found) = (describe_type(ty), describe(value));
    EvalError::new("type", format!("{what} {index} has type {ty}, but its value has type {found}"))
}

/// A type, as it prints.
pub(crate) fn describe_type(ty: &ValueType) -> String {
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

/// The type of a tensor, as it prints.
pub(crate) fn describe_elements(dtype: DType, shape: &[usize]) -> String {
    let shape: Vec<i64> = shape.iter().map(|&size| size as i64).collect();
    Type::tensor(shape, Type::from(dtype)).to_string()
}

/// The types that the values of a call must have.
pub(crate) struct EntrySignature {
    inputs: Vec<ValueType>,
    results: Vec<ValueType>,
}

/// The values of a call that are compared with the types of a signature.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignatureSide {
    Inputs,
    Outputs,
}

impl EntrySignature {
    pub(crate) fn of(function: FuncOp<'_>) -> EntrySignature {
        let (inputs, results) = function.signature();
        let types = |types: &[Type]| types.iter().map(value_type).collect();
        EntrySignature { inputs: types(inputs), results: types(results) }
    }

    /// Checks that there are as many values on one side of the signature of `function` as it has
    /// types, and that these accept them.
    ///
    /// # Errors
    /// One for a wrong number of values, else one for each that is not accepted.
    pub(crate) fn check<T>(
        &self,
        side: SignatureSide,
        values: &[T],
        function: FuncOp<'_>,
        accepts: impl Fn(&ValueType, &T) -> bool,
        describe: impl Fn(&T) -> String,
    ) -> Result<(), Diagnostics> {
        let types = if side == SignatureSide::Inputs { &self.inputs } else { &self.results };
        let is_wrong = |index: &usize| !accepts(&types[*index], &values[*index]);
        if types.len() == values.len() && !(0..values.len()).any(|index| is_wrong(&index)) {
            return Ok(());
        }
        let (inputs, results) = function.signature();
        let (types, label, declared, given) = match side {
            SignatureSide::Inputs => (inputs, "inputs", "argument", "input"),
            SignatureSide::Outputs => (results, "outputs", "result", "output"),
        };
        let name = function.symbol_name().unwrap_or("");
        if types.len() != values.len() {
            let verb = if side == SignatureSide::Inputs { "takes" } else { "returns" };
            let noun = if side == SignatureSide::Inputs { given } else { declared };
            let listed: Vec<String> = types.iter().map(Type::to_string).collect();
            let (count, listed) = (counted(types.len(), noun), listed.join(", "));
            let found = match side {
                SignatureSide::Inputs => format!("found {}", values.len()),
                SignatureSide::Outputs => format!("found {}", counted(values.len(), given)),
            };
            let message = format!("@{name} {verb} {count} ({listed}); {found}");
            return Err(vec![function.error(label, message)]);
        }
        let error = |index: usize| {
            let (ty, found) = (&types[index], describe(&values[index]));
            let message = format!(
                "{declared} {index} of @{name} has type {ty}, the {given} given has type {found}"
            );
            function.error(label, message)
        };
        Err((0..values.len()).filter(is_wrong).map(error).collect())
    }
}
