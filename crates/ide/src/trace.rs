//! Runs whose values are all shown: what each op computed.

use crate::file::{File, moved};
use crate::programs::{MAX_MEMORY, MAX_TIME, entry, shown};
use stablo::ir::{OpRef, Type};
use stablo::{
    Error, Limits, Observer, ProcessId, Program, RunOptions, RuntimeValue, Span, Tensor,
    TraceIndex, random_inputs,
};
use std::fmt::Write as _;

/// A value that an op computed.
#[derive(Clone, Debug)]
pub struct Step {
    /// The place of the op in the text; empty if it is not known.
    pub span: Span,
    /// Name of the op.
    pub op: String,
    /// Name of the value, as in the text if it has one.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// The number of ops around the op within its function.
    pub depth: usize,
    /// The value.
    pub tensor: Tensor,
}

/// The values of a run.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Values in the order in which they were computed.
    pub steps: Vec<Step>,
    /// True if there were more values than are kept.
    pub is_cut: bool,
    /// The arguments.
    pub arguments: Vec<RuntimeValue>,
    /// The results.
    pub results: Vec<RuntimeValue>,
}

/// More values are not kept.
const MAX_STEPS: usize = 20_000;

/// Values that together have more bytes are not kept.
const MAX_BYTES: usize = 64 << 20;

/// Values of more characters are cut.
const MAX_SHOWN: usize = 160;

impl File {
    /// Runs a function of the program at byte `at`, on `inputs` or on random ones of a seed, and
    /// keeps the values of all ops.
    ///
    /// # Errors
    /// If the program has errors, or the run fails or reaches a limit.
    pub fn trace(
        &self,
        at: u32,
        function: &str,
        inputs: Result<Vec<RuntimeValue>, u32>,
    ) -> Result<Trace, Error> {
        let module = self.program(at)?;
        let (types, _) = entry(&module, function)?;
        let arguments = match inputs {
            Ok(inputs) => inputs,
            Err(seed) => random_inputs(&types, seed)?,
        };
        let mut limits = Limits::default();
        (limits.time, limits.memory) = (Some(MAX_TIME), Some(MAX_MEMORY));
        let program = Program::prepare(module, function, RunOptions::from(limits))?;
        let mut recorder = Recorder {
            start: self.section(at).start,
            index: TraceIndex::of(program.module()),
            steps: Vec::new(),
            bytes: 0,
            is_cut: false,
        };
        let results = program.run_observed(arguments.clone(), &mut recorder)?;
        let Recorder { steps, is_cut, .. } = recorder;
        Ok(Trace { steps, is_cut, arguments, results })
    }

    /// The values of all ops of a run with random inputs, a line each.
    ///
    /// # Errors
    /// As [`File::trace`].
    pub fn traced(&self, at: u32, function: &str, seed: u32) -> Result<String, Error> {
        let trace = self.trace(at, function, Err(seed))?;
        let (inputs, results) = entry(&self.program(at)?, function)?;
        let mut text = String::new();
        for (index, (value, ty)) in trace.arguments.iter().zip(&inputs).enumerate() {
            let _ = writeln!(text, "argument {index}: {}", shown(value, ty, MAX_SHOWN));
        }
        for step in &trace.steps {
            let line = self.text()[..step.span.start as usize].matches('\n').count() + 1;
            let indent = "  ".repeat(step.depth);
            let value = shown(&RuntimeValue::Tensor(step.tensor.clone()), &step.ty, MAX_SHOWN);
            let _ = writeln!(text, "{line:>5}: {indent}{} = {} {value}", step.name, step.op);
        }
        if trace.is_cut {
            text.push_str("… and more\n");
        }
        for (index, (value, ty)) in trace.results.iter().zip(&results).enumerate() {
            let _ = writeln!(text, "result {index}: {}", shown(value, ty, MAX_SHOWN));
        }
        Ok(text)
    }
}

/// Keeps the values of a run.
struct Recorder<'m> {
    /// Where the program starts in the file.
    start: u32,
    index: TraceIndex<'m>,
    steps: Vec<Step>,
    bytes: usize,
    is_cut: bool,
}

impl Observer for Recorder<'_> {
    fn traces(&self) -> bool {
        true
    }

    fn value(
        &mut self,
        _: ProcessId,
        op: OpRef<'_>,
        index: usize,
        value: &RuntimeValue,
    ) -> Result<(), String> {
        let Ok(tensor) = value.tensor() else { return Ok(()) };
        self.bytes = self.bytes.saturating_add(tensor.bytes().len());
        self.is_cut |= self.steps.len() >= MAX_STEPS || self.bytes > MAX_BYTES;
        if self.is_cut {
            return Ok(());
        }
        let around = std::iter::successors(op.parent(), |op| op.parent());
        let is_function = |op: &OpRef<'_>| op.symbol_name().is_some() || op.parent().is_none();
        self.steps.push(Step {
            span: op.position().span().map_or(Span::default(), |span| moved(span, self.start)),
            op: op.name().to_string(),
            name: self.index.name(op, index).value,
            ty: op.result_type(index).clone(),
            depth: around.take_while(|op| !is_function(op)).count(),
            tensor: tensor.clone(),
        });
        Ok(())
    }
}
