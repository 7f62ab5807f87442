//! Plans as text.

use crate::block::{BlockOp, CompiledBlock};
use crate::plan::{Plan, Sequence, Step, StepOp, Storage, Transfer, TransferMode, Value};
use kernels::{Fused, TilePlace};
use numerics::Tensor;
use program::{Code, FunctionId, Origin};
use rustc_hash::FxHashMap;
use std::fmt::{self, Write};
use std::ops::Range;

/// The name of the op that an instruction was prepared from.
type Name<'a> = &'a dyn Fn(Origin) -> String;

/// The details that a listing shows, each in addition to the ones before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ListingDetail {
    /// Steps and values.
    Steps,
    /// The storage of values, and the slots that are emptied after steps.
    Storage,
    /// The ops of blocks.
    Blocks,
    /// The blocks and loops that have machine code.
    Code,
}

/// A listing of the plan of a function, one step a line.
pub(crate) fn list(code: &Code, function: FunctionId, plan: &Plan, name: Name<'_>) -> String {
    let mut text = String::new();
    let constants = FxHashMap::default();
    let detail = ListingDetail::Steps;
    let mut listing =
        Listing { plan, constants: &constants, detail, name, text: &mut text, indent: 1 };
    let [steps, loops, ops] = listing.counts(&plan.body.steps);
    let peak = listing.peak();
    let function = &code.function(function).name;
    // Writing to a string does not fail.
    let _ = writeln!(
        listing.text,
        "@{function}: {ops} ops in {steps} steps, {loops} of them loops; peak {} bytes",
        plan.arena_bytes.saturating_add(peak),
    );
    let _ = listing.sequence(&plan.body);
    text
}

/// A plan after a pass, in some detail; `constants` are the values that are constants, also while
/// values have no storage.
pub(crate) fn dump(
    function: &str,
    plan: &Plan,
    constants: &FxHashMap<Value, Tensor>,
    detail: ListingDetail,
    name: Name<'_>,
) -> String {
    let mut text = String::new();
    let mut listing = Listing { plan, constants, detail, name, text: &mut text, indent: 1 };
    let [steps, loops, ops] = listing.counts(&plan.body.steps);
    let arguments: Vec<String> = plan
        .arguments
        .iter()
        .map(|&value| format!("%{value}: {}{}", plan.types[value as usize], listing.at([value])))
        .collect();
    let arguments = arguments.join(", ");
    // Writing to a string does not fail.
    let _ = writeln!(
        listing.text,
        "@{function}({arguments}): {ops} ops in {steps} steps, {loops} of them loops"
    );
    let _ = listing.sequence(&plan.body);
    text
}

/// The name of a step in listings, without values and types.
pub(crate) fn title(step: &Step, name: Name<'_>) -> String {
    let ops = match step.op_count {
        1 => "1 op".to_owned(),
        ops => format!("{ops} ops"),
    };
    match &step.op {
        StepOp::Loop { .. } => format!("loop of {ops}"),
        StepOp::Rows { .. } => format!("row loop of {ops}"),
        StepOp::Block { .. } => format!("block of {ops}"),
        StepOp::Move { .. } => format!("move {}", name(step.origin)),
        StepOp::Apply { .. } => name(step.origin),
        StepOp::Kernel { .. } => format!("kernel {}", name(step.origin)),
        StepOp::While { .. } => "while".into(),
        StepOp::Branch { .. } => "branch".into(),
    }
}

struct Listing<'a> {
    plan: &'a Plan,
    constants: &'a FxHashMap<Value, Tensor>,
    detail: ListingDetail,
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
            if let StepOp::Block { steps, .. } = &step.op {
                add(&mut counts, self.counts(steps));
                continue;
            }
            let is_loop = matches!(step.op, StepOp::Loop { .. } | StepOp::Rows { .. });
            let own = [1, usize::from(is_loop), step.op_count as usize];
            let nested = match &step.op {
                StepOp::While { cond, body, .. } => {
                    vec![self.counts(&cond.steps), self.counts(&body.steps)]
                }
                StepOp::Branch { branches, .. } => {
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
        let plan = self.plan;
        let mut sizes = vec![0; plan.slots];
        let size = |value: Value| match plan.storage[value as usize] {
            Storage::Slot(slot) => Some((slot as usize, plan.types[value as usize].min_bytes())),
            _ => None,
        };
        for (slot, bytes) in plan.arguments.iter().filter_map(|&value| size(value)) {
            sizes[slot] = bytes;
        }
        let total = |sizes: &[usize]| sizes.iter().fold(0, |sum: usize, &n| sum.saturating_add(n));
        let mut peak = total(&sizes);
        let mut live = peak;
        for step in &plan.body.steps {
            // A block has nothing in slots.
            for (slot, bytes) in results(step).into_iter().filter_map(size) {
                live = live.saturating_sub(sizes[slot]).saturating_add(bytes);
                sizes[slot] = bytes;
            }
            peak = peak.max(live);
            for &slot in &step.dead {
                live = live.saturating_sub(std::mem::take(&mut sizes[slot as usize]));
            }
            if let StepOp::Kernel { operands, .. } = &step.op {
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
        match transfer.mode {
            TransferMode::Stay => from,
            TransferMode::Move => format!("{from} to {}", self.value(transfer.to)),
            TransferMode::Copy | TransferMode::Stage => {
                format!("copy of {from} to {}", self.value(transfer.to))
            }
        }
    }

    fn step(&mut self, step: &Step) -> fmt::Result {
        let results = results(step);
        let types: Vec<String> =
            results.iter().map(|&v| self.plan.types[v as usize].to_string()).collect();
        let storage = match step.op {
            StepOp::Block { .. } => String::new(),
            _ => self.at(results.iter().copied()),
        };
        let types = format!("{}{storage}{}", types.join(", "), self.emptied(&step.dead));
        let results = self.values(results);
        let title = format!("{}{}", title(step, self.name), self.code_of(step));
        match &step.op {
            StepOp::Loop { fused, operands, .. } => {
                self.line(format_args!("{results} = {title} : {types}"))?;
                self.indent += 1;
                self.fused(fused, operands)?;
                self.indent -= 1;
                Ok(())
            }
            StepOp::Rows { steps, rows, .. } => {
                let count = rows.rows;
                self.line(format_args!("{results} = {title} over {count} rows : {types}"))?;
                self.indent += 1;
                steps.iter().try_for_each(|step| self.step(step))?;
                self.indent -= 1;
                Ok(())
            }
            StepOp::Move { parts, fill, .. } => {
                let operands = parts.iter().map(|part| part.operand).chain(*fill);
                let operands = self.values(operands);
                self.assignment(&results, title, &operands, &types)
            }
            StepOp::Apply { operands, prepacked, .. } => {
                let is_prepacked = prepacked.is_some() && self.detail >= ListingDetail::Blocks;
                let operands = operands.iter().enumerate().map(|(number, &operand)| {
                    let prefix = if is_prepacked && number == 1 { "prepacked " } else { "" };
                    format!("{prefix}{}", self.value(operand))
                });
                let operands = operands.collect::<Vec<_>>().join(", ");
                self.assignment(&results, title, &operands, &types)
            }
            StepOp::Kernel { operands, .. } => {
                let operands = self.values(operands.iter().map(|&(value, _)| value));
                self.assignment(&results, title, &operands, &types)
            }
            StepOp::While { initial, cond, body, .. } => {
                let initial = self.values(initial.iter().map(|transfer| transfer.from));
                self.line(format_args!("{results} = {title} {initial} : {types}"))?;
                self.nested("cond", cond)?;
                self.nested("do", body)
            }
            StepOp::Block { steps, block } => {
                self.line(format_args!("{title}:"))?;
                self.indent += 1;
                steps.iter().try_for_each(|step| self.step(step))?;
                if self.detail >= ListingDetail::Blocks {
                    self.block(block)?;
                }
                self.indent -= 1;
                Ok(())
            }
            StepOp::Branch { index, branches } => {
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
        let is_constant = match self.plan.storage[value as usize] {
            Storage::Constant(_) => true,
            // Without storage: before it is assigned, and within row loops.
            Storage::Unstored => self.constants.contains_key(&value),
            Storage::Arena { .. } | Storage::Slot(_) => false,
        };
        match is_constant {
            true => format!("constant {}", self.plan.types[value as usize]),
            false => format!("%{value}"),
        }
    }

    /// The storage of values, if the listing shows it.
    fn at(&self, values: impl IntoIterator<Item = Value>) -> String {
        let storage = |value: Value| match self.plan.storage[value as usize] {
            // Other values without storage are not listed.
            Storage::Unstored => "row buffer".to_owned(),
            Storage::Constant(number) => format!("constant {number}"),
            Storage::Arena { at, bytes } => range(&(at..at + bytes)),
            Storage::Slot(slot) => format!("slot {slot}"),
        };
        let listed: Vec<String> = values.into_iter().map(storage).collect();
        match self.detail >= ListingDetail::Storage && !listed.is_empty() {
            true => format!(" in {}", listed.join(", ")),
            false => String::new(),
        }
    }

    /// The slots that are emptied after a step, if the listing shows storage.
    fn emptied(&self, slots: &[u32]) -> String {
        if self.detail < ListingDetail::Storage || slots.is_empty() {
            return String::new();
        }
        let listed: Vec<String> = slots.iter().map(|slot| format!("slot {slot}")).collect();
        format!(", empties {}", listed.join(", "))
    }

    /// Says that a step has machine code, if the listing shows that.
    fn code_of(&self, step: &Step) -> &'static str {
        let has_code = match &step.op {
            StepOp::Loop { fused, .. } => fused.code.is_some(),
            StepOp::Block { block, .. } => block.native.is_some(),
            StepOp::Rows { .. }
            | StepOp::Move { .. }
            | StepOp::Apply { .. }
            | StepOp::Kernel { .. }
            | StepOp::While { .. }
            | StepOp::Branch { .. } => false,
        };
        if has_code && self.detail >= ListingDetail::Code { " in machine code" } else { "" }
    }

    /// The ops of a block, each with its number.
    fn block(&mut self, block: &CompiledBlock) -> fmt::Result {
        for (number, op) in block.ops.iter().enumerate() {
            self.line(format_args!("{number}: {}", describe_op(op)))?;
        }
        Ok(())
    }
}

/// Positions in the arena.
fn range(range: &Range<u32>) -> String {
    format!("[{}..{}]", range.start, range.end)
}

/// An op of a block. Positions in the arena are in brackets.
fn describe_op(op: &BlockOp) -> String {
    let elements = |count: usize| match count {
        1 => "1 element".to_owned(),
        count => format!("{count} elements"),
    };
    match op {
        BlockOp::Compute { source, result, operands, count, .. } => {
            let used = &operands[..source.operands().len()];
            let used: Vec<String> = used.iter().map(|at| format!("[{at}]")).collect();
            let count = elements(*count as usize);
            format!("[{result}] = compute {count} of {}", used.join(", "))
        }
        BlockOp::CopyLine { from, to, bytes } | BlockOp::Copy { from, to, bytes } => {
            format!("[{to}] = copy {bytes} bytes of [{from}]")
        }
        BlockOp::Fill { from, to, .. } => format!("{} = repeat [{from}]", range(to)),
        BlockOp::Collect { elements: moved, to, .. } => {
            format!("[{to}] = collect {}", elements(moved.numbers.len()))
        }
        BlockOp::Spread { from, elements: moved, .. } => {
            format!("spread {} from [{from}]", elements(moved.numbers.len()))
        }
        BlockOp::Apply { operands, arity, result, .. } => {
            let used: Vec<String> = operands[..*arity].iter().map(range).collect();
            format!("{} = apply kernel to {}", range(result), used.join(", "))
        }
        BlockOp::Consume(ops) => format!("consume {ops}"),
        BlockOp::Jump(to) => format!("jump to {to}"),
        BlockOp::Unless { condition, to } => format!("unless [{condition}], jump to {to}"),
        BlockOp::Switch { index, targets } => format!("by {}, jump to {targets:?}", range(index)),
    }
}

/// The values that a step defines.
fn results(step: &Step) -> Vec<Value> {
    let targets = |transfers: &[Transfer]| transfers.iter().map(|transfer| transfer.to).collect();
    match &step.op {
        StepOp::Loop { outputs, .. } | StepOp::Rows { outputs, .. } => outputs.to_vec(),
        StepOp::Move { output, .. } | StepOp::Apply { output, .. } => vec![*output],
        StepOp::Kernel { results, .. } => results.to_vec(),
        StepOp::While { initial, .. } => targets(initial),
        StepOp::Branch { branches, .. } => {
            branches.first().map_or_else(Vec::new, |branch| targets(&branch.results))
        }
        StepOp::Block { steps, .. } => steps.iter().flat_map(results).collect(),
    }
}
