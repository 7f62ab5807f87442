//! The types of the inputs and outputs of a program.

use crate::arrays::name_of;
use crate::stablo_program;
use stablo::{Program, Type};
use std::ffi::{CString, c_char};

/// See `stablo.h`.
#[allow(non_camel_case_types, reason = "the name in C")]
#[repr(C)]
pub struct stablo_value_type {
    text: *const c_char,
    dtype: *const c_char,
    shape: *const i64,
    rank: usize,
}

/// A type with what the pointers of its view lead to.
struct TypeView {
    view: stablo_value_type,
    _text: CString,
    _shape: Vec<i64>,
}

// SAFETY: the pointers lead to heap memory that the value owns and never changes.
unsafe impl Send for TypeView {}
// SAFETY: likewise.
unsafe impl Sync for TypeView {}

impl TypeView {
    fn of(ty: &Type) -> TypeView {
        let text = CString::new(ty.to_string()).unwrap_or_default();
        let tensor = ty.as_tensor();
        // Sizes that are not known are negative.
        let shape: Vec<i64> =
            tensor.map_or(Vec::new(), |t| t.shape.iter().map(|&n| n.max(-1)).collect());
        let dtype = tensor.and_then(|tensor| tensor.element.dtype());
        let view = stablo_value_type {
            text: text.as_ptr(),
            dtype: dtype.map_or(std::ptr::null(), name_of),
            shape: shape.as_ptr(),
            rank: shape.len(),
        };
        TypeView { view, _text: text, _shape: shape }
    }
}

/// The types of the inputs and outputs of a program.
pub(crate) struct ProgramSignature {
    inputs: Vec<TypeView>,
    outputs: Vec<TypeView>,
}

impl ProgramSignature {
    pub(crate) fn of(program: &Program) -> ProgramSignature {
        let (inputs, outputs) = program.signature();
        let views = |types: &[Type]| types.iter().map(TypeView::of).collect();
        ProgramSignature { inputs: views(inputs), outputs: views(outputs) }
    }
}

/// The types that `side` selects; none for a null program.
///
/// # Safety
/// `program` is null or comes from `stablo_prepare` and is not freed while the result lives.
unsafe fn types<'a>(
    program: *const stablo_program,
    side: fn(&ProgramSignature) -> &[TypeView],
) -> &'a [TypeView] {
    // SAFETY: as the caller says.
    unsafe { program.as_ref() }.map_or(&[], |program| side(&program.signature))
}

/// The view of a type; null beyond the last one.
fn view(types: &[TypeView], index: usize) -> *const stablo_value_type {
    types.get(index).map_or(std::ptr::null(), |ty| &raw const ty.view)
}

/// See `stablo.h`.
///
/// # Safety
/// `program` is null or comes from `stablo_prepare`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_program_num_inputs(program: *const stablo_program) -> usize {
    // SAFETY: as the caller says.
    unsafe { types(program, |signature| &signature.inputs) }.len()
}

/// See `stablo.h`.
///
/// # Safety
/// `program` is null or comes from `stablo_prepare`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_program_num_outputs(program: *const stablo_program) -> usize {
    // SAFETY: as the caller says.
    unsafe { types(program, |signature| &signature.outputs) }.len()
}

/// See `stablo.h`.
///
/// # Safety
/// `program` is null or comes from `stablo_prepare`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_program_input_type(
    program: *const stablo_program,
    index: usize,
) -> *const stablo_value_type {
    // SAFETY: as the caller says.
    view(unsafe { types(program, |signature| &signature.inputs) }, index)
}

/// See `stablo.h`.
///
/// # Safety
/// `program` is null or comes from `stablo_prepare`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_program_output_type(
    program: *const stablo_program,
    index: usize,
) -> *const stablo_value_type {
    // SAFETY: as the caller says.
    view(unsafe { types(program, |signature| &signature.outputs) }, index)
}
