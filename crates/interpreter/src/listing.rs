//! Code as text.

use program::{Block, Code, Origin, Slot, UNUSED};
use std::fmt::{self, Write};

/// The instructions of a program, one a line; `name` gives the names of ops.
pub(crate) fn list(code: &Code, name: &dyn Fn(Origin) -> String) -> String {
    let mut text = String::new();
    for (number, block) in code.blocks.iter().enumerate().filter(|(_, b)| !b.vectorizable) {
        // Writing to a string does not fail.
        let _ = instructions(&mut text, code, number, block, name);
    }
    text
}

fn instructions(
    text: &mut String,
    code: &Code,
    number: usize,
    block: &Block,
    name: &dyn Fn(Origin) -> String,
) -> fmt::Result {
    let instructions = code.instructions_of(block);
    let (function, count) = (code.function(block.function), instructions.len());
    writeln!(text, "@{} block {number}: {count} ops in {count} steps", function.name)?;
    for instruction in instructions {
        let types: Vec<String> = instruction.result_types.iter().map(|ty| ty.to_string()).collect();
        let operands: Vec<Slot> = instruction.operands.iter().map(|o| o.slot).collect();
        let (results, operands) = (slots(&instruction.results), slots(&operands));
        writeln!(
            text,
            " {results} = {}{operands} : {}",
            name(instruction.origin),
            types.join(", ")
        )?;
    }
    let results: Vec<Slot> = block.results.iter().map(|operand| operand.slot).collect();
    writeln!(text, "  return{}", slots(&results))
}

fn slots(slots: &[Slot]) -> String {
    let shown = slots.iter().map(|&slot| match slot {
        UNUSED => " _".to_string(),
        slot => format!(" %{slot}"),
    });
    shown.collect::<Vec<_>>().join(",")
}
