//! The reference interpreter: runs a verified module op by op through the `eval` of each op's declaration.
//!
//! Meaning lives with the ops; this crate only drives them. `plan.rs` computes once where values live and when they die,
//! so that ops can reuse the memory of operands that nobody needs any more; `machine.rs` walks the plan.
//!
//! Source: StableHLO, `docs/reference.md`.

mod inputs;
mod machine;
mod plan;

pub use inputs::{storage_dtype, value_fits};

use machine::Machine;
use mlir::diag::{Diagnostic, Diagnostics};
use mlir::eval::RuntimeValue;
use mlir::{Module, OpRef};
use plan::Plan;
use side_dialects::func::FuncOp;
use std::ops::ControlFlow;

/// What a run may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How deep calls and regions may nest at run time.
    pub depth: usize,
    /// Bytes of stack of the thread that runs the program; enough for `depth`.
    pub stack_bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { depth: 1000, stack_bytes: 256 << 20 }
    }
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Ops run, those in loops and functions each time.
    pub ops: u64,
    /// How many ops of the entry function are done.
    pub position: usize,
    /// Number of ops of the entry function.
    pub length: usize,
}

/// Told of the progress from time to time; a run that it breaks off ends with an error.
pub type OnProgress<'a> = &'a mut (dyn FnMut(Progress) -> ControlFlow<()> + Send);

/// Runs the functions of a module, which must be verified.
pub struct Interpreter<'m> {
    module: &'m Module,
    limits: Limits,
    plan: Plan<'m>,
}

impl<'m> Interpreter<'m> {
    /// Plans the functions of `module`.
    pub fn new(module: &'m Module, limits: Limits) -> Interpreter<'m> {
        Interpreter { module, limits, plan: Plan::new(module) }
    }

    /// The module.
    pub fn module(&self) -> &'m Module {
        self.module
    }

    /// Runs the function that [`entry_function`] finds.
    ///
    /// # Errors
    /// An unknown function, inputs of another number, shape or element type than it takes, or whatever stops an op.
    pub fn run(&self, entry: &str, inputs: Vec<RuntimeValue>) -> Result<Vec<RuntimeValue>, Diagnostics> {
        self.run_with_progress(entry, inputs, None)
    }

    /// As [`Interpreter::run`], telling `progress` how far it is.
    ///
    /// # Errors
    /// As [`Interpreter::run`], and when `progress` breaks off the run.
    pub fn run_with_progress(
        &self,
        entry: &str,
        inputs: Vec<RuntimeValue>,
        progress: Option<OnProgress<'_>>,
    ) -> Result<Vec<RuntimeValue>, Diagnostics> {
        let function = entry_function(self.module, entry).map_err(|e| vec![e])?;
        inputs::check(function, &inputs)?;
        // Ops with regions call back into the interpreter: the depth of that is limited, and the stack is ours.
        let run = || Machine::new(self, progress).run(function, inputs).map_err(|e| vec![*e.diagnostic]);
        std::thread::scope(|scope| {
            match std::thread::Builder::new().stack_size(self.limits.stack_bytes).spawn_scoped(scope, run) {
                Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                Err(error) => Err(vec![Diagnostic::error("run", format!("cannot start a thread to run in: {error}"))]),
            }
        })
    }
}

/// The function with a body named `entry` at the top of the module; if there is none and `entry` is `main`, the only function.
///
/// # Errors
/// No such function, or one without a body.
pub fn entry_function<'m>(module: &'m Module, entry: &str) -> Result<FuncOp<'m>, Diagnostic> {
    let top = module.top();
    let body = top.regions().first().and_then(|&region| module.entry(region));
    let ops = body.map_or(&[][..], |block| module.ops(block));
    let functions: Vec<FuncOp<'m>> = ops.iter().filter_map(|&op| FuncOp::cast(module.op(op))).collect();
    let name = |f: &FuncOp<'m>| OpRef::symbol_name(**f).unwrap_or("").to_string();
    let found = functions.iter().find(|f| name(f) == entry);
    let only = || if entry == "main" && functions.len() == 1 { functions.first() } else { None };
    let Some(function) = found.or_else(only).copied() else {
        let names: Vec<String> = functions.iter().map(|f| format!("@{}", name(f))).collect();
        let has = if names.is_empty() { "no functions".into() } else { names.join(", ") };
        return Err(Diagnostic::error("entry", format!("there is no function @{entry} to run; the module has {has}")));
    };
    if function.is_declaration() {
        return Err(function.error("entry", format!("@{} has no body to run", name(&function))));
    }
    Ok(function)
}
