//! Code, as machines execute it, and the interface of what engines compile of it.

use crate::frame::ScalarOp;
use crate::machine::Machine;
use crate::outputs::OutputBuffers;
use numerics::TensorRef;
use program::{Code, EvalError, EvalResult, FunctionId, RuntimeValue};
use std::any::Any;
use std::sync::Arc;

/// Code, with what machines derive from it once.
pub struct PreparedCode {
    code: Code,
    /// The scalar form of each instruction that has one.
    scalars: Vec<Option<ScalarOp>>,
}

impl PreparedCode {
    /// Prepares code to be executed.
    pub fn new(code: Code) -> PreparedCode {
        PreparedCode { scalars: ScalarOp::of_code(&code), code }
    }

    /// The code.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// The form of an instruction that computes scalars without tensors.
    pub(crate) fn scalar_op(&self, index: usize) -> Option<&ScalarOp> {
        self.scalars[index].as_ref()
    }
}

/// Functions that an engine has compiled. Machines call them instead of running the
/// instructions; results and errors are the same.
///
/// Compiled functions use the [`Machine`] that calls them for all that is not arithmetic: limits,
/// nested blocks and calls, processes, profiles.
pub trait CompiledCode: Any + Send + Sync {
    /// The code that they were compiled from.
    fn code(&self) -> &Arc<PreparedCode>;

    /// True if a function is compiled; others run instruction by instruction.
    fn has_function(&self, function: FunctionId) -> bool;

    /// True if a compiled function nests so little that it fits the stack of its caller.
    fn is_flat(&self, function: FunctionId) -> bool;

    /// Calls a compiled function.
    ///
    /// # Errors
    /// Arguments that do not have their types, and errors of the function.
    fn call<'r>(
        &'r self,
        machine: &mut Machine<'_, 'r>,
        function: FunctionId,
        arguments: Vec<RuntimeValue>,
    ) -> EvalResult;

    /// Calls a compiled function on inputs of the types of its arguments, and writes its results
    /// into memory of the caller.
    ///
    /// # Errors
    /// Errors of the function, and results that do not fit their outputs.
    fn call_into<'r, 'a>(
        &'r self,
        machine: &mut Machine<'_, 'r>,
        function: FunctionId,
        inputs: &'a [TensorRef<'a>],
        outputs: OutputBuffers<'a>,
    ) -> Result<(), EvalError>;
}

/// Compiles the code of a program; only its entry need be compiled before it is called.
pub type Compile<'c> = &'c dyn Fn(Code) -> Box<dyn CompiledCode>;

/// The code that runs of a program execute.
pub(crate) struct ProgramCode {
    pub code: Arc<PreparedCode>,
    /// The functions that an engine has compiled, if runs have one.
    compiled: Option<Box<dyn CompiledCode>>,
}

impl ProgramCode {
    /// Executes code instruction by instruction.
    pub(crate) fn interpreted(code: Code) -> ProgramCode {
        ProgramCode { code: Arc::new(PreparedCode::new(code)), compiled: None }
    }

    /// Executes the functions that an engine compiles.
    pub(crate) fn compiled(code: Code, compile: Compile<'_>) -> ProgramCode {
        let compiled = compile(code);
        ProgramCode { code: Arc::clone(compiled.code()), compiled: Some(compiled) }
    }

    /// The compiled functions.
    pub(crate) fn compiled_code(&self) -> Option<&dyn CompiledCode> {
        self.compiled.as_deref()
    }

    /// The compiled functions, if `function` is one of them.
    pub(crate) fn compiled_with(&self, function: FunctionId) -> Option<&dyn CompiledCode> {
        self.compiled_code().filter(|compiled| compiled.has_function(function))
    }
}
