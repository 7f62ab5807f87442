//! The engine: compiles the functions of prepared programs to plans, and runs these.
//!
//! The [`PASSES`] rewrite the graph of a function (`graph.rs`): calls are inlined, dead and equal
//! ops dropped, elementwise nodes grouped. Then they make its plan (`plan.rs`): steps over values.
//! Groups become loops over tiles ([`kernels::Fused`]); data movement that only loops read becomes
//! views; control flow is part of the steps; any other node is a step that runs its kernel
//! (`lower/`). At last, values get storage, and steps over small values become blocks with machine
//! code. [`explain_plan`] lists a plan, [`plan_after`] a function after a pass.
//!
//! [`compile`] gives the functions that the `interpreter` calls; plans run on its
//! machines (`exec/`), which keep limits, frames of blocks, and processes.

mod block;
mod build;
mod exec;
mod graph;
mod listing;
mod lower;
mod native;
mod passes;
mod plan;
mod print;
mod termination;
mod visit;

pub use exec::PrepackedConstant;
pub use passes::{PASSES, PlanPass};

use exec::CompiledProgram;
use interpreter::{CompiledCode, Program};
use numerics::TensorError;
use program::Code;
use std::any::Any;

/// Compiles the functions of a program when they are first called. `makes_code` asks for machine
/// code, where there is some for this machine. Constants that are already `prepacked` are read in
/// that order by the kernels that it was made for.
pub fn compile(
    code: Code,
    makes_code: bool,
    prepacked: Vec<PrepackedConstant>,
) -> Box<dyn CompiledCode> {
    Box::new(CompiledProgram::new(code, makes_code, prepacked))
}

/// The constants of a program's entry function in the orders in which kernels read them, where
/// these are others than their own; none if runs have no plan.
///
/// # Errors
/// If there is no memory for them.
pub fn prepack_constants(program: &Program) -> Result<Vec<PrepackedConstant>, TensorError> {
    match compiled(program).and_then(|compiled| compiled.function(program.entry())) {
        Some(function) => exec::prepack_constants(&function.plan),
        None => Ok(Vec::new()),
    }
}

/// A listing of the plan of a program, or of its code if it has no plan.
pub fn explain_plan(program: &Program) -> String {
    match compiled(program).and_then(|compiled| compiled.function(program.entry())) {
        Some(function) => {
            let name = |origin| program.op_name(origin);
            listing::list(program.code(), program.entry(), &function.plan, &name)
        }
        None => program.listing(),
    }
}

/// The entry function of a program after one of the [`PASSES`], as text; `None` if there is no such
/// pass, or runs have no plan.
pub fn plan_after(program: &Program, pass: &str) -> Option<String> {
    let (code, entry) = (program.code(), program.entry());
    let compiled = compiled(program)?;
    compiled.function(entry)?;
    let name = |origin| program.op_name(origin);
    passes::dump_after(pass, code, entry, compiled.makes_code(), &name)
}

/// The plans of a program, if it has some.
fn compiled(program: &Program) -> Option<&CompiledProgram> {
    let code: &dyn Any = program.compiled_code()?;
    code.downcast_ref()
}
