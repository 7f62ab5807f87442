//! The extension for custom calls. Extensions are a list, of which this is the last.
//!
//! Source: OpenXLA, `xla/pjrt/c/pjrt_c_api_ffi_extension.h`.

use crate::call::call;
use crate::error::{Code, Error, Failure, Outcome};
use crate::handle::{Foreign, Handle, Resolve, text};
use pjrt_abi::{FfiRegisterHandler, FfiTypeRegister, FfiUserDataAdd, Function};
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, PoisonError};

/// The start of an extension.
#[repr(C)]
pub(crate) struct Base {
    pub struct_size: usize,
    pub kind: c_int,
    pub next: *const c_void,
}

/// `PJRT_Extension_Type_FFI`.
const FFI: c_int = 5;

/// `PJRT_FFI_Extension`.
#[repr(C)]
pub(crate) struct FfiExtension {
    base: Base,
    type_register: Function,
    user_data_add: Function,
    register_handler: Function,
}

// SAFETY: nothing changes the extension.
unsafe impl Sync for FfiExtension {}

/// The extension.
pub(crate) static FFI_EXTENSION: FfiExtension = FfiExtension {
    base: Base { struct_size: size_of::<FfiExtension>(), kind: FFI, next: std::ptr::null() },
    type_register,
    user_data_add,
    register_handler,
};

extern "C" fn type_register(args: *mut c_void) -> Handle<Error> {
    call(args, register_type)
}

extern "C" fn user_data_add(args: *mut c_void) -> Handle<Error> {
    call(args, add_user_data)
}

extern "C" fn register_handler(args: *mut c_void) -> Handle<Error> {
    call(args, refuse_handler)
}

/// Types of user data, whose ids are their places from 1 on.
static TYPES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Gives a type an id, unless the client did.
fn register_type(args: &mut FfiTypeRegister) -> Outcome {
    let name = text(args.name, args.name_size)?;
    if args.type_id == 0 {
        let mut types = TYPES.lock().unwrap_or_else(PoisonError::into_inner);
        let at = types.iter().position(|own| *own == name).unwrap_or_else(|| {
            types.push(name);
            types.len() - 1
        });
        args.type_id = at as i64 + 1;
    }
    Ok(())
}

fn add_user_data(args: &mut FfiUserDataAdd) -> Outcome {
    let context = args.context.get()?;
    let mut data = context.data.lock().unwrap_or_else(PoisonError::into_inner);
    data.get_or_insert(Foreign(args.data));
    Ok(())
}

fn refuse_handler(args: &mut FfiRegisterHandler) -> Outcome {
    let name = text(args.name, args.name_size)?;
    let message = format!("the custom call {name}: handlers of clients are not implemented");
    Err(Failure::new(Code::Unimplemented, message))
}
