//! Stubs for the kernels of custom calls in builds without the feature `run`.

use mlir::OpRef;
use mlir::prepare::{Prepared, Preparer};
use numerics::Tensor;
use program::EvalError;

fn refuse() -> EvalError {
    EvalError::new("custom_call", "this build has no kernels")
}

pub(super) fn top_k(_: &Tensor, _: usize, _: bool) -> Result<[Tensor; 2], EvalError> {
    Err(refuse())
}

/// Modules with functions that prepare a call.
macro_rules! modules {
    ($($module:ident $function:ident)*) => {$(
        pub(super) mod $module {
            use super::*;

            pub(in super::super) fn $function(_: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
                Err(refuse())
            }
        }
    )*};
}

modules! {
    fft dynamic
    sparse csr_product
    threefry threefry
}

pub(super) mod lapack {
    use super::*;

    pub(in super::super) fn solve_perturbed(_: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
        Err(refuse())
    }

    pub(in super::super) fn prepare(_: OpRef<'_>, _: &str) -> Prepared {
        Err(refuse())
    }

    pub(in super::super) fn is_target(_: &str) -> bool {
        false
    }

    pub(in super::super) fn targets() -> impl Iterator<Item = String> {
        std::iter::empty()
    }
}
