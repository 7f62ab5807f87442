//! Calls of clients: arguments in, errors out, and no panic across the border.

use crate::error::{Error, Failure, Outcome};
use crate::handle::{Handle, null, read, write};
use pjrt_abi::Args;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls a function with the arguments of a client, whose structure may be shorter or longer than
/// ours: fields that it lacks are zero, and are not written.
pub fn call<A: Args>(args: *mut c_void, function: fn(&mut A) -> Outcome) -> Handle<Error> {
    let outcome = match read::<A>(args) {
        Some(mut own) => {
            let outcome = catch_unwind(AssertUnwindSafe(|| function(&mut own)));
            if let Ok(Ok(())) = outcome {
                write(args, &own);
                return null();
            }
            outcome
        }
        None => Ok(Err(Failure::invalid("a structure of arguments is required, found null"))),
    };
    failed(outcome)
}

/// The error of a call that did not succeed; one for all functions, of which there are many.
#[cold]
#[inline(never)]
fn failed(outcome: std::thread::Result<Outcome>) -> Handle<Error> {
    match outcome {
        Ok(Ok(())) => null(),
        Ok(Err(failure)) => failure.into_error(),
        Err(panic) => Failure::panic(&*panic).into_error(),
    }
}
