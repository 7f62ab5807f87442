//! The engine: compiles the functions of prepared programs to plans, and runs these.
//!
//! The [`PASSES`] rewrite the graph of a function: calls are inlined, dead and equal ops dropped.
//! Its plan is a [`plan::Unit`]: steps over values that have places. Elementwise instructions become
//! loops over tiles ([`kernels::Fused`]); data movement that only loops read becomes views. Control
//! flow is part of the steps. Any other instruction is a step that runs its kernel. [`explain_plan`]
//! lists a plan.
//!
//! [`compile`] gives what the `interpreter` calls in place of instructions; plans run on its
//! machines (`exec/`), which keep limits, frames of blocks, and processes.

mod assemble;
mod block;
mod build;
mod call;
mod exec;
mod functions;
mod graph;
mod groups;
mod indexed;
mod listing;
mod loops;
mod lower;
mod moves;
mod native;
mod outer;
mod parts;
mod passes;
mod places;
mod plan;
mod prepacked;
mod print;
mod rows;
mod short;
mod sorts;
mod views;

pub use passes::{PASSES, Pass};

use exec::CompiledProgram;
use graph::Graph;
use interpreter::{CompiledCode, Program};
use plan::Unit;
use program::{Code, FunctionId};
use std::any::Any;
use std::sync::Arc;

/// Compiles the functions of a program when they are first called. `makes_code` asks for machine
/// code, where there is some for this machine.
pub fn compile(code: Code, makes_code: bool) -> Box<dyn CompiledCode> {
    Box::new(CompiledProgram::new(code, makes_code))
}

/// A listing of the plan of a program, or of its code if it has no plan.
pub fn explain_plan(program: &Program) -> String {
    let compiled = program.compiled_code().and_then(|code| {
        let code: &dyn Any = code;
        code.downcast_ref::<CompiledProgram>()
    });
    match compiled.and_then(|compiled| compiled.function(program.entry())) {
        Some(function) => {
            let name = |origin| program.op_name(origin);
            listing::list(program.code(), program.entry(), &function.plan, &name)
        }
        None => program.listing(),
    }
}

/// The graph of the entry function of a program after one of the [`PASSES`], as text; `None` if
/// there is no such pass, or runs have no plan.
pub fn graph_after(program: &Program, pass: &str) -> Option<String> {
    let (code, entry) = (program.code(), program.entry());
    program.compiled_code()?.has_function(entry).then_some(())?;
    let last = PASSES.iter().position(|known| known.name == pass)?;
    let mut graph = Graph::of(code, entry)?;
    PASSES[..=last].iter().for_each(|pass| pass.run(&mut graph));
    let name = |origin| program.op_name(origin);
    Some(print::graph(&graph, &code.function(entry).name, &name))
}

/// The plan of a function; `None` if it has to run instruction by instruction. `makes_code` asks
/// for machine code, where there is some for this machine.
fn plan(code: &Code, function: FunctionId, makes_code: bool) -> Option<Unit> {
    let mut graph = Graph::of(code, function)?;
    PASSES.iter().for_each(|pass| pass.run(&mut graph));
    let definitions = views::Definitions::of(&graph);
    let mut body = lower::lower(&definitions, &graph.body, None).sequence;
    let arguments = &graph.body.arguments;
    let places = places::assign(&graph, &mut body, arguments);
    let constants = places.constants.iter().map(|value| graph.constants[value].clone()).collect();
    let makes_code = makes_code && codegen::is_available();
    let assembled = assemble::assemble(&graph, &places, &mut body, makes_code);
    let prepacked = prepacked::number(&mut body.steps, arguments, &places.places);
    Some(Unit {
        arguments: arguments.clone(),
        body,
        constants,
        memory: assembled.bytes,
        initial: assembled.initial,
        places: places.places,
        types: graph.types.iter().map(Arc::clone).collect(),
        slots: places.slots,
        prepacked,
        is_flat: graph.is_flat(),
        calls: graph.calls,
    })
}
