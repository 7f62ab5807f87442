//! The profile of a program: how often its steps run and how long they take.
//!
//! Each process of a run has a [`StepRecorder`], which adds its times to the [`ProgramRecords`] of
//! the program when the process ends, also if it fails. A step is an instruction or a step of a
//! plan. Instructions that the kernel of another one runs are part of it, except in processes of a
//! grid.

use crate::program::Program;
use crate::session::Session;
use mlir::OpId;
use program::{Function, Instruction, Kind, Origin, Primitive};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The maximum number of listed types of results.
const LISTED_TYPES: usize = 3;

/// The records that runs make of their steps. The host must have a clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Profiling {
    /// Nothing.
    #[default]
    Off,
    /// Number and time of the executions of each step.
    Steps,
    /// Also each execution of a step, up to this number of them; of a program with dynamic shapes,
    /// for each set of shapes.
    Executions(usize),
}

/// A kind of step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum StepKind {
    /// A fused loop.
    Loop,
    /// A block over small values.
    Block,
    /// `dot_general` and other products.
    Product,
    /// A convolution.
    Convolution,
    /// A reduction, also of windows.
    Reduction,
    /// Movement of elements, such as `gather` and `transpose`.
    Movement,
    /// Any other kernel of the interpreter.
    Kernel,
    /// A loop with a condition, a branch or a call, without the steps in it.
    Control,
    /// A function or op that a process runs, without its steps.
    Run,
}

/// A step with its executions.
#[derive(Clone, Debug)]
pub struct StepRecord {
    /// The name of the step, as in listings of plans.
    pub title: String,
    /// The types of the results of the op that it ends with; empty for blocks and functions.
    pub types: String,
    /// Its kind.
    pub kind: StepKind,
    /// The op to which it is attributed.
    pub op: OpId,
    /// The innermost call around it that the plan inlines.
    pub call: Option<OpId>,
    /// The instructions that it computes.
    pub parts: Vec<(u32, Share)>,
    /// Bytes that its loops read and write.
    pub loop_bytes: u64,
    /// Number of executions.
    pub calls: u64,
    /// Their time.
    pub total: Duration,
    /// That time without that of nested steps.
    pub own: Duration,
}

/// The share of the work of an instruction that a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// All of it.
    Own,
    /// That, and what its blocks do.
    Nested,
    /// The arithmetic: it is part of a loop, which reads and writes less.
    Arithmetic,
}

/// An execution of a step.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Execution {
    /// The number of the step.
    pub step: u32,
    /// The number of the process in its grid.
    pub process: u32,
    /// Distinguishes concurrent runs.
    pub lane: u32,
    /// The time of the host's clock at its start.
    pub start: Duration,
    /// Its duration.
    pub duration: Duration,
}

/// The records of the runs of a program.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// Number of runs.
    pub runs: u64,
    /// The steps, in the order of their first execution.
    pub steps: Vec<StepRecord>,
    /// Executions, as far as they are kept.
    pub executions: Vec<Execution>,
    /// Number of executions that are not kept.
    pub lost: usize,
}

/// The records of a program, to which its runs add theirs.
#[derive(Default)]
pub(crate) struct ProgramRecords {
    all: Mutex<All>,
    /// Number of executions that began, up to the number that is kept.
    executions: AtomicUsize,
}

#[derive(Default)]
struct All {
    recorded: Recorded,
    numbers: FxHashMap<usize, u32>,
    /// The processes that run, with their lanes.
    running: Vec<(usize, u32)>,
}

impl ProgramRecords {
    fn lock(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A copy of the records.
    pub(crate) fn recorded(&self) -> Recorded {
        self.lock().recorded.clone()
    }
}

impl StepRecord {
    /// The record of a step, without executions.
    pub fn new(title: String, kind: StepKind, origin: Origin) -> StepRecord {
        StepRecord {
            title,
            types: String::new(),
            kind,
            op: OpId::from(origin),
            call: None,
            parts: Vec::new(),
            loop_bytes: 0,
            calls: 0,
            total: Duration::ZERO,
            own: Duration::ZERO,
        }
    }

    /// The record of a function that a process runs.
    pub(crate) fn of_function(function: &Function) -> StepRecord {
        StepRecord::new(format!("@{}", function.name), StepKind::Run, function.origin)
    }

    /// The record of the instruction with a number.
    pub(crate) fn of_instruction(
        program: &Program,
        index: usize,
        instruction: &Instruction,
    ) -> StepRecord {
        let kind = StepKind::of(&instruction.primitive);
        let title = program.op_name(instruction.origin);
        // Fewer instructions than bytes of the program.
        let parts = vec![(index as u32, Share::Own)];
        let types = types(instruction);
        StepRecord { types, parts, ..StepRecord::new(title, kind, instruction.origin) }
    }

    /// The record of a process that an instruction runs, one of a grid.
    pub(crate) fn of_process(program: &Program, instruction: &Instruction) -> StepRecord {
        let origin = instruction.origin;
        StepRecord::new(format!("process of {}", program.op_name(origin)), StepKind::Run, origin)
    }
}

/// The types of the results of an instruction: of many, the first ones.
pub fn types(instruction: &Instruction) -> String {
    let types = &instruction.result_types;
    let listed = types.iter().take(LISTED_TYPES).map(|ty| ty.to_string());
    let more = (types.len() > LISTED_TYPES).then(|| "…".to_string());
    listed.chain(more).collect::<Vec<_>>().join(", ")
}

impl StepKind {
    /// All kinds.
    pub const ALL: [StepKind; 9] = [
        StepKind::Loop,
        StepKind::Block,
        StepKind::Product,
        StepKind::Convolution,
        StepKind::Reduction,
        StepKind::Movement,
        StepKind::Kernel,
        StepKind::Control,
        StepKind::Run,
    ];

    /// A short description.
    pub fn name(self) -> &'static str {
        match self {
            StepKind::Loop => "loops",
            StepKind::Block => "blocks",
            StepKind::Product => "products",
            StepKind::Convolution => "convolutions",
            StepKind::Reduction => "reductions",
            StepKind::Movement => "movement",
            StepKind::Kernel => "kernels of the interpreter",
            StepKind::Control => "control flow",
            StepKind::Run => "outside of steps",
        }
    }

    /// The kind of a step that computes a primitive.
    pub fn of(primitive: &Primitive) -> StepKind {
        match primitive.kind() {
            Kind::Product => StepKind::Product,
            Kind::Convolution => StepKind::Convolution,
            Kind::Reduction => StepKind::Reduction,
            Kind::Control => StepKind::Control,
            Kind::Movement => StepKind::Movement,
            Kind::Value | Kind::Elementwise | Kind::Kernel => StepKind::Kernel,
        }
    }
}

/// Records the steps of a process.
pub(crate) struct StepRecorder<'s, 'r> {
    session: &'s Session<'r>,
    record: &'r ProgramRecords,
    /// Number of executions that may be kept, of all runs.
    limit: usize,
    process: usize,
    lane: u32,
    /// True for the processes of the run, not of a grid in it.
    is_outer: bool,
    /// The time at which the process started.
    start: Duration,
    /// True while a kernel runs.
    pub is_paused: bool,
    numbers: FxHashMap<usize, u32>,
    steps: Vec<StepTimes<'r>>,
    open: Vec<OpenStep>,
    executions: Vec<Execution>,
    /// Number of executions that are not kept.
    lost: usize,
}

struct StepTimes<'r> {
    key: usize,
    /// Makes the record of the step.
    record: Box<dyn FnOnce(&Program) -> StepRecord + 'r>,
    calls: u64,
    total: Duration,
    own: Duration,
}

/// An execution that has not ended.
struct OpenStep {
    step: u32,
    start: Duration,
    /// The time of nested steps.
    nested: Duration,
    is_kept: bool,
}

impl<'s, 'r> StepRecorder<'s, 'r> {
    /// The recorder of a process, if its run is profiled.
    pub(crate) fn new(
        session: &'s Session<'r>,
        process: usize,
        is_outer: bool,
    ) -> Option<StepRecorder<'s, 'r>> {
        let limit = match session.program.options().profiling {
            Profiling::Off => return None,
            Profiling::Steps => 0,
            Profiling::Executions(limit) => limit,
        };
        let record = session.program.record();
        let mut all = record.lock();
        let is_taken = |lane: &u32| all.running.contains(&(process, *lane));
        let lane = (0..).find(|lane| !is_taken(lane)).unwrap_or_default();
        all.running.push((process, lane));
        Some(StepRecorder {
            session,
            record,
            limit,
            process,
            lane,
            is_outer,
            start: if is_outer { session.start } else { session.now() },
            is_paused: false,
            numbers: FxHashMap::default(),
            steps: Vec::new(),
            open: Vec::new(),
            executions: Vec::new(),
            lost: 0,
        })
    }

    /// Records the start of a step; the first one of a process started with it.
    pub(crate) fn begin(&mut self, key: usize, record: impl FnOnce(&Program) -> StepRecord + 'r) {
        if self.is_paused {
            return;
        }
        // Fewer steps than bytes of the program.
        let number = *self.numbers.entry(key).or_insert_with(|| {
            let record = Box::new(record);
            let (total, own) = (Duration::ZERO, Duration::ZERO);
            self.steps.push(StepTimes { key, record, calls: 0, total, own });
            self.steps.len() as u32 - 1
        });
        let before = match self.limit {
            0 => 0,
            _ => self.record.executions.fetch_add(1, Ordering::Relaxed),
        };
        let is_kept = before < self.limit;
        let start = if self.open.is_empty() { self.start } else { self.session.now() };
        self.open.push(OpenStep { step: number, start, nested: Duration::ZERO, is_kept });
    }

    /// Records the end of the step that started last.
    pub(crate) fn end(&mut self) {
        if self.is_paused {
            return;
        }
        let now = self.session.now();
        let Some(OpenStep { step, start, nested, is_kept }) = self.open.pop() else { return };
        let duration = now.saturating_sub(start);
        if let Some(around) = self.open.last_mut() {
            around.nested += duration;
        }
        let times = &mut self.steps[step as usize];
        times.calls += 1;
        times.total += duration;
        times.own += duration.saturating_sub(nested);
        if is_kept {
            // At most `MAX_PROCESSES`.
            let (process, lane) = (self.process as u32, self.lane);
            self.executions.push(Execution { step, process, lane, start, duration });
        } else if self.limit > 0 {
            self.lost += 1;
        }
    }

    /// Excludes the time since `start` from that of the current step.
    pub(crate) fn exclude(&mut self, start: Duration) {
        let duration = self.session.now().saturating_sub(start);
        if let Some(running) = self.open.last_mut() {
            running.nested += duration;
        }
    }
}

impl Drop for StepRecorder<'_, '_> {
    fn drop(&mut self) {
        self.is_paused = false;
        while !self.open.is_empty() {
            self.end();
        }
        let mut all = self.record.lock();
        let All { recorded, numbers, running } = &mut *all;
        running.retain(|other| *other != (self.process, self.lane));
        recorded.runs += u64::from(self.is_outer && self.process == 0);
        recorded.lost += self.lost;
        let mut global = Vec::with_capacity(self.steps.len());
        for times in self.steps.drain(..) {
            let number = *numbers.entry(times.key).or_insert_with(|| {
                recorded.steps.push((times.record)(self.session.program));
                recorded.steps.len() as u32 - 1
            });
            let step = &mut recorded.steps[number as usize];
            step.calls += times.calls;
            step.total += times.total;
            step.own += times.own;
            global.push(number);
        }
        let executions = self.executions.drain(..);
        let global = |e: Execution| Execution { step: global[e.step as usize], ..e };
        recorded.executions.extend(executions.map(global));
    }
}
