//! Whether the inputs of a run are what the function takes.

use crate::scheduler::describe;
use mlir::diag::{Diagnostic, Diagnostics};
use mlir::eval::{EvalError, RuntimeValue};
use mlir::types::DYNAMIC;
use mlir::{AttrKind, Attribute, Type, TypeKind};
use numerics::DType;
use side_dialects::func::FuncOp;
use side_dialects::quant::Uniform;

/// How the interpreter stores elements of `ty` or of a tensor of that type: a quantized element as
/// its storage type.
pub fn storage_dtype(ty: &Type) -> Option<DType> {
    let element = ty.element_type();
    Uniform::of(element).map_or(element, |quantized| quantized.storage).dtype()
}

/// Whether sizes are within the bounds of a type that has some.
fn within_bounds(shape: &[usize], encoding: Option<&Attribute>) -> bool {
    let Some(AttrKind::Dialect(encoding)) = encoding.map(|e| &**e) else { return true };
    let bounds = encoding
        .def
        .bounds
        .and_then(|i| encoding.params.get(i)?.as_ref()?.as_int_array())
        .unwrap_or(&[]);
    shape
        .iter()
        .zip(bounds)
        .all(|(&size, &bound)| bound == DYNAMIC || i64::try_from(size).is_ok_and(|n| n <= bound))
}

/// Whether a value has type `ty`; `?` stands for any size, within its bound if it has one.
pub fn value_fits(value: &RuntimeValue, ty: &Type) -> bool {
    match (value, &**ty) {
        (RuntimeValue::Tensor(tensor), TypeKind::RankedTensor(expected)) => {
            let sizes_fit = |(&size, &wanted): (&usize, &i64)| {
                wanted == DYNAMIC || i64::try_from(size) == Ok(wanted)
            };
            storage_dtype(ty) == Some(tensor.dtype())
                && tensor.rank() == expected.rank()
                && tensor.shape().iter().zip(&expected.shape).all(sizes_fit)
                && within_bounds(tensor.shape(), expected.encoding.as_ref())
        }
        (RuntimeValue::Tensor(tensor), TypeKind::UnrankedTensor(_)) => {
            storage_dtype(ty) == Some(tensor.dtype())
        }
        (RuntimeValue::Tuple(values), TypeKind::Tuple(types)) => {
            values.len() == types.len() && values.iter().zip(types).all(|(v, t)| value_fits(v, t))
        }
        (
            RuntimeValue::Tensor(tensor),
            TypeKind::Integer { .. } | TypeKind::Index | TypeKind::Float(_),
        ) => tensor.rank() == 0 && ty.dtype() == Some(tensor.dtype()),
        (RuntimeValue::Token, TypeKind::Dialect(token)) => token.def.mnemonic == "token",
        _ => false,
    }
}

/// Whether a value cannot have type `ty`: a tensor of another shape or element type. Only ops know
/// what values of other types are.
fn contradicts(value: &RuntimeValue, ty: &Type) -> bool {
    match (value, &**ty) {
        (RuntimeValue::Tensor(_), TypeKind::RankedTensor(_) | TypeKind::UnrankedTensor(_)) => {
            !value_fits(value, ty)
        }
        (RuntimeValue::Tuple(values), TypeKind::Tuple(types)) => {
            values.len() != types.len() || values.iter().zip(types).any(|(v, t)| contradicts(v, t))
        }
        _ => false,
    }
}

/// Compares values with the types that they are declared to have: what is dynamic in a program may
/// turn out otherwise.
///
/// # Errors
/// For the first value that does not fit.
pub(crate) fn check_types<'t>(
    what: &str,
    values: &[RuntimeValue],
    types: impl Iterator<Item = &'t Type>,
) -> Result<(), EvalError> {
    match values.iter().zip(types).enumerate().find(|(_, (value, ty))| contradicts(value, ty)) {
        None => Ok(()),
        Some((index, (value, ty))) => {
            let message =
                format!("{what} {index} has type {ty}, but its value has type {}", describe(value));
            Err(EvalError::new("type", message))
        }
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
            "@{name} takes {} inputs ({}), {} were given",
            types.len(),
            takes.join(", "),
            inputs.len()
        );
        return Err(vec![function.error("inputs", message)]);
    }
    let wrong = |(index, (value, ty)): (usize, (&RuntimeValue, &Type))| -> Option<Diagnostic> {
        let message = format!(
            "argument {index} of @{name} has type {ty}, the input given has type {}",
            describe(value)
        );
        (!value_fits(value, ty)).then(|| function.error("inputs", message))
    };
    let errors: Diagnostics = inputs.iter().zip(types).enumerate().filter_map(wrong).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}
