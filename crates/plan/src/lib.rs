//! Plans: how the engine runs a prepared program.
//!
//! The [`PASSES`] rewrite the graph of a function: calls are inlined, dead and equal ops dropped.
//! Its plan is a [`Unit`]: steps over values that have places. Elementwise instructions become
//! loops over tiles ([`program::Fused`]); data movement that only loops read becomes views. Control
//! flow is part of the steps. Any other instruction is a step that runs its kernel. [`explain`]
//! lists a plan.

mod assemble;
mod block;
mod build;
mod call;
mod explain;
mod functions;
mod graph;
mod groups;
mod indexed;
mod loops;
mod lower;
mod moves;
mod native;
mod outer;
mod parts;
mod passes;
mod places;
mod prepacked;
mod print;
mod rows;
mod short;
mod sorts;
mod unit;

mod views;

pub use block::{Block, Ticks, branch, clamped};
pub use explain::{describe, explain, explain_unit, title};
pub use unit::{Action, Captures, Part, Place, Sequence, Start, Step, Transfer, Unit, Value, Way};

pub use passes::{PASSES, Pass};

use graph::Graph;
use program::{Code, FunctionId, Origin};
use std::sync::Arc;

/// The plan of a function; `None` if it has to run instruction by instruction. `makes_code` asks
/// for machine code, where there is some for this machine.
pub fn plan(code: &Code, function: FunctionId, makes_code: bool) -> Option<Unit> {
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

/// The graph of a function after a pass, as text; `None` if there is no such pass, or the function
/// has to run instruction by instruction. `name` gives the names of ops.
pub fn graph_after(
    code: &Code,
    function: FunctionId,
    pass: &str,
    name: &dyn Fn(Origin) -> String,
) -> Option<String> {
    let last = PASSES.iter().position(|known| known.name == pass)?;
    let mut graph = Graph::of(code, function)?;
    PASSES[..=last].iter().for_each(|pass| pass.run(&mut graph));
    Some(print::graph(&graph, &code.function(function).name, name))
}
