//! Plans as text.

use crate::plan::{Action, Place, Sequence, Step, Transfer, Unit, Value, Way};
use kernels::{Fused, TilePlace};
use program::{Code, FunctionId, Origin};
use std::fmt::{self, Write};

/// The name of the op that an instruction was prepared from.
type Name<'a> = &'a dyn Fn(Origin) -> String;

/// A listing of the plan of a function, one step a line.
pub(crate) fn list(code: &Code, function: FunctionId, unit: &Unit, name: Name<'_>) -> String {
    let mut text = String::new();
    let mut listing = Listing { unit, name, text: &mut text, indent: 1 };
    let [steps, loops, ops] = listing.counts(&unit.body.steps);
    let peak = listing.peak();
    let function = &code.function(function).name;
    // Writing to a string does not fail.
    let _ = writeln!(
        listing.text,
        "@{function}: {ops} ops in {steps} steps, {loops} of them loops; peak {} bytes",
        unit.memory.saturating_add(peak),
    );
    let _ = listing.sequence(&unit.body);
    text
}

/// The name of a step in listings, without values and types.
pub(crate) fn title(step: &Step, name: Name<'_>) -> String {
    let ops = match step.ops {
        1 => "1 op".to_owned(),
        ops => format!("{ops} ops"),
    };
    match &step.action {
        Action::Loop { .. } => format!("loop of {ops}"),
        Action::Rows { .. } => format!("row loop of {ops}"),
        Action::Block { .. } => format!("block of {ops}"),
        Action::Move { .. } => format!("move {}", name(step.origin)),
        Action::Apply { .. } => name(step.origin),
        Action::Kernel { .. } => format!("kernel {}", name(step.origin)),
        Action::While { .. } => "while".into(),
        Action::Branch { .. } => "branch".into(),
    }
}

struct Listing<'a> {
    unit: &'a Unit,
    name: Name<'a>,
    text: &'a mut String,
    indent: usize,
}

impl Listing<'_> {
    /// Numbers of steps, of loops among them, and of ops.
    fn counts(&self, steps: &[Step]) -> [usize; 3] {
        let mut counts = [0; 3];
        let add = |counts: &mut [usize; 3], more: [usize; 3]| {
            counts.iter_mut().zip(more).for_each(|(count, n)| *count += n);
        };
        for step in steps {
            if let Action::Block { steps, .. } = &step.action {
                add(&mut counts, self.counts(steps));
                continue;
            }
            let is_loop = matches!(step.action, Action::Loop { .. } | Action::Rows { .. });
            let own = [1, usize::from(is_loop), step.ops as usize];
            let nested = match &step.action {
                Action::While { cond, body, .. } => {
                    vec![self.counts(&cond.steps), self.counts(&body.steps)]
                }
                Action::Branch { branches, .. } => {
                    branches.iter().map(|branch| self.counts(&branch.steps)).collect()
                }
                _ => Vec::new(),
            };
            nested.into_iter().chain([own]).for_each(|part| add(&mut counts, part));
        }
        counts
    }

    /// The most bytes in slots at a time between the steps, as far as shapes are static.
    fn peak(&self) -> usize {
        let unit = self.unit;
        let mut sizes = vec![0; unit.slots];
        let size = |value: Value| match unit.places[value as usize] {
            Place::Slot(slot) => Some((slot as usize, unit.types[value as usize].min_bytes())),
            _ => None,
        };
        for (slot, bytes) in unit.arguments.iter().filter_map(|&value| size(value)) {
            sizes[slot] = bytes;
        }
        let total = |sizes: &[usize]| sizes.iter().fold(0, |sum: usize, &n| sum.saturating_add(n));
        let mut peak = total(&sizes);
        let mut live = peak;
        for step in &unit.body.steps {
            // A block has nothing in slots.
            for (slot, bytes) in results(step).into_iter().filter_map(size) {
                live = live.saturating_sub(sizes[slot]).saturating_add(bytes);
                sizes[slot] = bytes;
            }
            peak = peak.max(live);
            for &slot in &step.dead {
                live = live.saturating_sub(std::mem::take(&mut sizes[slot as usize]));
            }
            if let Action::Kernel { operands, .. } = &step.action {
                let moved = operands.iter().filter(|(_, is_last)| *is_last);
                for (slot, _) in moved.filter_map(|&(value, _)| size(value)) {
                    live = live.saturating_sub(std::mem::take(&mut sizes[slot]));
                }
            }
        }
        peak
    }

    fn line(&mut self, line: fmt::Arguments<'_>) -> fmt::Result {
        writeln!(self.text, "{:width$}{line}", "", width = 2 * self.indent)
    }

    fn sequence(&mut self, sequence: &Sequence) -> fmt::Result {
        for step in &sequence.steps {
            self.step(step)?;
        }
        let results: Vec<String> =
            sequence.results.iter().map(|transfer| self.transfer(transfer)).collect();
        self.line(format_args!("return {}", results.join(", ")))
    }

    fn nested(&mut self, title: &str, sequence: &Sequence) -> fmt::Result {
        self.line(format_args!("{title}:"))?;
        self.indent += 1;
        self.sequence(sequence)?;
        self.indent -= 1;
        Ok(())
    }

    fn transfer(&self, transfer: &Transfer) -> String {
        let from = self.value(transfer.from);
        match transfer.way {
            Way::Stay => from,
            Way::Move => format!("{from} to {}", self.value(transfer.to)),
            Way::Copy | Way::Stage => format!("copy of {from} to {}", self.value(transfer.to)),
        }
    }

    fn step(&mut self, step: &Step) -> fmt::Result {
        let results = results(step);
        let types: Vec<String> =
            results.iter().map(|&v| self.unit.types[v as usize].to_string()).collect();
        let types = types.join(", ");
        let results = self.values(results);
        let title = title(step, self.name);
        match &step.action {
            Action::Loop { fused, operands, .. } => {
                self.line(format_args!("{results} = {title} : {types}"))?;
                self.indent += 1;
                self.fused(fused, operands)?;
                self.indent -= 1;
                Ok(())
            }
            Action::Rows { steps, rows, .. } => {
                let count = rows.rows;
                self.line(format_args!("{results} = {title} over {count} rows : {types}"))?;
                self.indent += 1;
                steps.iter().try_for_each(|step| self.step(step))?;
                self.indent -= 1;
                Ok(())
            }
            Action::Move { parts, fill, .. } => {
                let operands = parts.iter().map(|part| part.operand).chain(*fill);
                let operands = self.values(operands);
                self.assignment(&results, title, &operands, &types)
            }
            Action::Apply { operands, .. } => {
                let operands = self.values(operands.iter().copied());
                self.assignment(&results, title, &operands, &types)
            }
            Action::Kernel { operands, .. } => {
                let operands = self.values(operands.iter().map(|&(value, _)| value));
                self.assignment(&results, title, &operands, &types)
            }
            Action::While { initial, cond, body, .. } => {
                let initial = self.values(initial.iter().map(|transfer| transfer.from));
                self.line(format_args!("{results} = {title} {initial} : {types}"))?;
                self.nested("cond", cond)?;
                self.nested("do", body)
            }
            Action::Block { steps, .. } => {
                self.line(format_args!("{title}:"))?;
                self.indent += 1;
                steps.iter().try_for_each(|step| self.step(step))?;
                self.indent -= 1;
                Ok(())
            }
            Action::Branch { index, branches } => {
                let index = self.value(*index);
                self.line(format_args!("{results} = {title} {index} : {types}"))?;
                branches.iter().enumerate().try_for_each(|(number, branch)| {
                    self.nested(&format!("branch {number}"), branch)
                })
            }
        }
    }

    fn assignment(
        &mut self,
        results: &str,
        title: impl fmt::Display,
        operands: &str,
        types: &str,
    ) -> fmt::Result {
        let space = if operands.is_empty() { "" } else { " " };
        self.line(format_args!("{results} = {title}{space}{operands} : {types}"))
    }

    fn fused(&mut self, fused: &Fused, operands: &[Value]) -> fmt::Result {
        for (number, load) in fused.loads.iter().enumerate() {
            let source = self.value(operands[load.operand]);
            let how = match &load.view {
                None => "read",
                Some(_) if load.repeats => "repeat",
                Some(_) => "view",
            };
            self.line(format_args!("v{number} = {how} {source}"))?;
        }
        for (index, op) in fused.ops.iter().enumerate() {
            let number = fused.loads.len() + index;
            let used: Vec<String> = op.operands.iter().map(|v| format!("v{v}")).collect();
            let place = match fused.layout.places[number] {
                TilePlace::Output(output) => format!(" -> result {output}"),
                _ => String::new(),
            };
            self.line(format_args!("v{number} = {} {}{place}", op.name, used.join(", ")))?;
        }
        Ok(())
    }

    fn values(&self, values: impl IntoIterator<Item = Value>) -> String {
        values.into_iter().map(|value| self.value(value)).collect::<Vec<_>>().join(", ")
    }

    fn value(&self, value: Value) -> String {
        match self.unit.places[value as usize] {
            Place::Constant(_) => {
                format!("constant {}", self.unit.types[value as usize])
            }
            // Those are within row loops.
            Place::Nowhere | Place::Memory { .. } | Place::Slot(_) => format!("%{value}"),
        }
    }
}

/// The values that a step defines.
fn results(step: &Step) -> Vec<Value> {
    let targets = |transfers: &[Transfer]| transfers.iter().map(|transfer| transfer.to).collect();
    match &step.action {
        Action::Loop { outputs, .. } | Action::Rows { outputs, .. } => outputs.to_vec(),
        Action::Move { output, .. } | Action::Apply { output, .. } => vec![*output],
        Action::Kernel { results, .. } => results.to_vec(),
        Action::While { initial, .. } => targets(initial),
        Action::Branch { branches, .. } => {
            branches.first().map_or_else(Vec::new, |branch| targets(&branch.results))
        }
        Action::Block { steps, .. } => steps.iter().flat_map(results).collect(),
    }
}
