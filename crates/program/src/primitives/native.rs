//! Functions of side dialects and of users.

use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use crate::{EvalResult, Evaluator, Origin, RuntimeValue};
use numerics::shape::StridedView;
use std::fmt;
use std::sync::Arc;

/// A function of a side dialect or of the user, on values. The name is for listings.
#[derive(Clone)]
pub struct NativeFunction {
    /// Name.
    pub name: &'static str,
    /// True if it does not use the executor, runs no code of users, and needs little stack.
    pub is_plain: bool,
    /// Functions of a program with the same class compute the same.
    pub class: Option<u32>,
    /// Evaluates the op `origin` on operands.
    pub function: Arc<NativeFn>,
}

/// The type of native functions.
type NativeFn =
    dyn Fn(Origin, Vec<RuntimeValue>, &mut dyn Evaluator) -> EvalResult + Send + Sync + 'static;

impl NativeFunction {
    /// A native function.
    pub fn new<F>(name: &'static str, function: F) -> NativeFunction
    where
        F: Fn(Origin, Vec<RuntimeValue>, &mut dyn Evaluator) -> EvalResult + Send + Sync + 'static,
    {
        NativeFunction { name, is_plain: false, class: None, function: Arc::new(function) }
    }

    /// A plain native function of its operands.
    pub fn plain<F>(name: &'static str, function: F) -> NativeFunction
    where
        F: Fn(Vec<RuntimeValue>) -> EvalResult + Send + Sync + 'static,
    {
        let function = Arc::new(move |_, operands, _: &mut dyn Evaluator| function(operands));
        NativeFunction { name, is_plain: true, class: None, function }
    }
}

/// Functions are compared by identity.
impl PartialEq for NativeFunction {
    fn eq(&self, other: &NativeFunction) -> bool {
        let NativeFunction { name, is_plain, class, function } = self;
        (*name, *is_plain, *class) == (other.name, other.is_plain, other.class)
            && Arc::ptr_eq(function, &other.function)
    }
}

impl fmt::Debug for NativeFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NativeFunction({})", self.name)
    }
}

impl Operation for NativeFunction {
    fn kind(&self) -> Kind {
        Kind::Kernel
    }

    fn effects(&self) -> Effects {
        match self.is_plain {
            true => Effects::MayFail,
            false => Effects::External,
        }
    }

    fn blocks(&self) -> Blocks {
        Blocks::new()
    }

    fn is_arithmetic(&self) -> bool {
        false
    }

    fn is_by_element(&self) -> bool {
        false
    }

    fn as_view(&self, _: &StridedView) -> Option<StridedView> {
        None
    }

    fn arithmetic(&self, _: &Shapes<'_>, _: BodyWork<'_>) -> Option<Work> {
        None
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}
