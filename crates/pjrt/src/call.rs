//! Calls of clients: arguments in, errors out, and no panic across the border.

use crate::error::{Error, Failure, Outcome};
use crate::handle::{Handle, null, read, write};
use pjrt_abi::Args;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls a function with the arguments of a client, whose structure may be shorter or longer than
/// ours: fields that it lacks are zero, and are not written.
pub fn call<A: Args>(args: *mut c_void, function: fn(&mut A) -> Outcome) -> Handle<Error> {
    let Some(mut own) = read::<A>(args) else {
        return Failure::invalid("a structure of arguments is required, found null").into_error();
    };
    match catch_unwind(AssertUnwindSafe(|| function(&mut own))) {
        Ok(Ok(())) => {
            write(args, &own);
            null()
        }
        Ok(Err(failure)) => failure.into_error(),
        Err(panic) => Failure::panic(&*panic).into_error(),
    }
}
