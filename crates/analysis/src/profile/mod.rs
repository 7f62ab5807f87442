//! The profile of a program: what its runs recorded, with the work and the places of steps.

mod report;
mod trace;

use crate::cost::{Doubt, Work, Works};
use crate::place::Location;
use crate::roofline::Roofline;
use interpreter::{Execution, Program, StepKind, StepRecord};
use mlir::OpId;
use std::cmp::Reverse;
use std::time::Duration;

/// The cost of the runs of a program.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Profile {
    /// Number of runs.
    pub runs: u64,
    /// The steps, in the order of their first execution.
    pub steps: Vec<StepProfile>,
    /// Executions of steps, as far as they were to be kept: those in others before these.
    pub executions: Vec<Execution>,
    /// Number of executions that were not kept.
    pub lost: usize,
}

/// A step of the runs of a program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StepProfile {
    /// The name of the step, as in listings of plans; of the entry function, its name.
    pub title: String,
    /// The types of the results of the op that it ends with; empty for blocks and functions.
    pub types: String,
    /// Its kind.
    pub kind: StepKind,
    /// The op to which it is attributed, the last one of a loop.
    pub location: Location,
    /// The innermost call around it that the plan inlines.
    pub call: Option<Location>,
    /// The ops that it computes.
    pub ops: Vec<Location>,
    /// Number of executions.
    pub calls: u64,
    /// Their time.
    pub total: Duration,
    /// That time without the one of steps in it.
    pub own: Duration,
    /// The work of one execution, without that of steps in it.
    pub work: Work,
    /// The reason why that is not the whole truth.
    pub doubt: Option<Doubt>,
}

impl Profile {
    /// The time of all steps.
    pub fn time(&self) -> Duration {
        self.steps.iter().map(|step| step.own).sum()
    }

    /// Adds the steps and executions of other runs.
    pub fn append(&mut self, mut other: Profile) {
        // Fewer steps than bytes of programs.
        let first = self.steps.len() as u32;
        other.executions.iter_mut().for_each(|execution| execution.step += first);
        self.executions.extend(other.executions);
        self.steps.extend(other.steps);
        self.runs += other.runs;
        self.lost += other.lost;
    }

    /// The steps, the longest first.
    pub fn longest(&self) -> Vec<&StepProfile> {
        let mut steps: Vec<&StepProfile> = self.steps.iter().collect();
        steps.sort_by_key(|step| Reverse(step.own));
        steps
    }
}

impl StepProfile {
    /// Number of operations of an execution, if it is known.
    pub fn arithmetic(&self) -> Option<u64> {
        self.doubt.is_none().then(|| self.work.arithmetic())
    }

    /// Bytes that an execution reads and writes, if they are known.
    pub fn bytes(&self) -> Option<u64> {
        matches!(self.doubt, None | Some(Doubt::Formula)).then_some(self.work.bytes)
    }

    /// The least time that a machine needs for the work, as a share of the time that it took;
    /// `None` if there is no work, or it is not known. The values of blocks are in the cache, so
    /// that their bytes do not count.
    pub fn share(&self, roofline: &Roofline) -> Option<f64> {
        let arithmetic = self.arithmetic()?;
        let bytes = if self.kind == StepKind::Block { 0 } else { self.work.bytes };
        let mean = self.own.as_secs_f64() / self.calls as f64;
        let share = roofline.seconds(arithmetic, bytes) / mean;
        (share.is_finite() && share > 0.0).then_some(share)
    }
}

/// The profile of what a program has run.
pub fn profile(program: &Program) -> Profile {
    let recorded = program.recorded();
    let works = Works::of(program);
    let location = |op: OpId| Location::of(program.module().op(op));
    let instructions = &program.code().instructions;
    let step = |step: StepRecord| {
        let (work, doubt) = works.step(&step);
        let origins = step.parts.iter().filter_map(|&(i, _)| instructions.get(i as usize));
        StepProfile {
            location: location(step.op),
            call: step.call.map(location),
            ops: origins.map(|instruction| location(instruction.origin.into())).collect(),
            title: step.title,
            types: step.types,
            kind: step.kind,
            calls: step.calls,
            total: step.total,
            own: step.own,
            work,
            doubt,
        }
    };
    Profile {
        runs: recorded.runs,
        steps: recorded.steps.into_iter().map(step).collect(),
        executions: recorded.executions,
        lost: recorded.lost,
    }
}
