//! The reference interpreter: runs a verified module op by op through the `eval` of each op's
//! declaration.
//!
//! Meaning lives with the ops; this crate only drives them. `plan.rs` computes once where values
//! live and when they die, so that ops can reuse the memory of operands that nobody needs any more;
//! `machine.rs` walks the plan. A run is a `session.rs`: grids of processes, each a machine in a
//! thread, that `scheduler.rs` lets take turns. `world.rs` is what a machine offers to ops that act
//! on what is outside of it.
//!
//! Source: StableHLO, `docs/reference.md`.

mod inputs;
mod machine;
mod observer;
mod order;
mod plan;
mod scheduler;
mod session;
mod world;

pub use inputs::{storage_dtype, value_fits};
pub use mlir::process::{Grid, MAX_PROCESSES, ProcessId};
pub use observer::{Observer, Progress, Unobserved};

use mlir::diag::{Diagnostic, Diagnostics};
use mlir::eval::{EvalEnv, EvalResult, RuntimeValue};
use mlir::process::CustomCall;
use mlir::{Module, OpRef};
use plan::Plan;
use session::{Job, Session};
use side_dialects::func::FuncOp;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// What a run may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How deep calls and regions may nest at run time.
    pub depth: usize,
    /// Bytes of stack of each thread that runs a process; enough for `depth`.
    pub stack_bytes: usize,
    /// How many ops all processes may run, those in loops and functions each time.
    pub steps: Option<u64>,
    /// How long the run may take. Looked at between ops, so that one op may take longer.
    pub time: Option<Duration>,
    /// Bytes of the tensors that the run makes and that live at the same time.
    pub memory: Option<usize>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { depth: 1000, stack_bytes: 256 << 20, steps: None, time: None, memory: None }
    }
}

/// What custom calls mean, beyond those targets that StableHLO knows. What is registered here comes
/// first.
#[derive(Clone, Default)]
pub struct CustomCalls {
    by_target: HashMap<String, CustomCall>,
}

impl CustomCalls {
    /// Says what a target does: `function` gets the op and its operands, and gives one value for
    /// each result.
    pub fn register<F>(&mut self, target: impl Into<String>, function: F)
    where
        F: Fn(OpRef<'_>, Vec<RuntimeValue>, &mut dyn EvalEnv) -> EvalResult + Send + Sync + 'static,
    {
        self.by_target.insert(target.into(), Arc::new(function));
    }

    /// What a target does, if it is registered.
    pub fn get(&self, target: &str) -> Option<CustomCall> {
        self.by_target.get(target).cloned()
    }
}

/// How to run.
#[derive(Clone, Default)]
pub struct Options {
    /// What a run may use.
    pub limits: Limits,
    /// What custom calls mean.
    pub custom_calls: CustomCalls,
}

impl From<Limits> for Options {
    fn from(limits: Limits) -> Options {
        Options { limits, ..Options::default() }
    }
}

/// Runs the functions of a module, which must be verified.
pub struct Interpreter<'m> {
    module: &'m Module,
    options: Options,
    plan: Plan<'m>,
}

impl<'m> Interpreter<'m> {
    /// Plans the functions of `module`.
    pub fn new(module: &'m Module, options: impl Into<Options>) -> Interpreter<'m> {
        Interpreter { module, options: options.into(), plan: Plan::new(module) }
    }

    /// The module.
    pub fn module(&self) -> &'m Module {
        self.module
    }

    /// Runs the function that [`entry_function`] finds, as the only process.
    ///
    /// # Errors
    /// An unknown function, inputs of another number, shape or element type than it takes, or
    /// whatever stops an op.
    pub fn run(
        &self,
        entry: &str,
        inputs: Vec<RuntimeValue>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<RuntimeValue>, Diagnostics> {
        let mut results = self.run_grid(entry, Grid::SINGLE, vec![inputs], observer)?;
        Ok(results.pop().unwrap_or_default())
    }

    /// Runs the function that [`entry_function`] finds in each process of a grid, on inputs of its
    /// own, row by row.
    ///
    /// # Errors
    /// As [`Interpreter::run`] in any process, inputs for another number of processes, and
    /// processes that wait for each other.
    pub fn run_grid(
        &self,
        entry: &str,
        grid: Grid,
        inputs: Vec<Vec<RuntimeValue>>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Vec<RuntimeValue>>, Diagnostics> {
        let function = entry_function(self.module, entry).map_err(|e| vec![e])?;
        if grid.size() != Some(inputs.len()) {
            let message =
                format!("there are inputs for {} processes, but the grid is {grid}", inputs.len());
            return Err(vec![Diagnostic::error("inputs", message)]);
        }
        inputs.iter().try_for_each(|inputs| inputs::check(function, inputs))?;
        let jobs = inputs
            .into_iter()
            .map(|inputs| Job::Call { function: function.id(), arguments: inputs })
            .collect();
        let session = Session::new(self, function.id(), observer);
        session.run_grid(grid, jobs, Vec::new(), 0).map_err(|e| vec![*e.diagnostic])
    }
}

/// The function with a body named `entry` at the top of the module; if there is none and `entry` is
/// `main`, the only function.
///
/// # Errors
/// No such function, or one without a body.
pub fn entry_function<'m>(module: &'m Module, entry: &str) -> Result<FuncOp<'m>, Diagnostic> {
    let top = module.top();
    let body = top.regions().first().and_then(|&region| module.entry(region));
    let ops = body.into_iter().flat_map(|block| module.ops(block));
    let functions: Vec<FuncOp<'m>> = ops.filter_map(FuncOp::cast).collect();
    let name = |f: &FuncOp<'m>| OpRef::symbol_name(**f).unwrap_or("").to_string();
    let found = functions.iter().find(|f| name(f) == entry);
    let only = || if entry == "main" && functions.len() == 1 { functions.first() } else { None };
    let Some(function) = found.or_else(only).copied() else {
        let names: Vec<String> = functions.iter().map(|f| format!("@{}", name(f))).collect();
        let has = if names.is_empty() { "no functions".into() } else { names.join(", ") };
        return Err(Diagnostic::error(
            "entry",
            format!("there is no function @{entry} to run; the module has {has}"),
        ));
    };
    if function.is_declaration() {
        return Err(function.error("entry", format!("@{} has no body to run", name(&function))));
    }
    Ok(function)
}
