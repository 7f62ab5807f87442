//! The times of ops that a view shows, from a profile.

use crate::place::Location;
use crate::profile::{Profile, StepProfile};
use mlir::{OpId, OpRef};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

/// Times of the ops of a program.
pub(super) struct Times<'p> {
    profile: &'p Profile,
    ops: FxHashMap<OpId, Time<'p>>,
}

/// The time of an op.
struct Time<'p> {
    name: &'p str,
    seconds: f64,
    /// The steps that compute it.
    steps: Vec<usize>,
}

impl<'p> Times<'p> {
    /// The times of the ops of a profile. Ops that one step computes share its time equally.
    pub(crate) fn of(profile: &'p Profile) -> Times<'p> {
        let mut ops: FxHashMap<OpId, Time<'p>> = FxHashMap::default();
        for (number, step) in profile.steps.iter().enumerate() {
            let computed = computed(step);
            let seconds = step.own.as_secs_f64() / computed.len() as f64;
            for location in computed {
                let name = location.op.as_str();
                let new = || Time { name, seconds: 0.0, steps: Vec::new() };
                let time = ops.entry(location.id).or_insert_with(new);
                time.seconds += seconds;
                if time.steps.last() != Some(&number) {
                    time.steps.push(number);
                }
            }
        }
        Times { profile, ops }
    }

    /// The time of an op, if it is known. Of ops that runs expand, it is not: others took their
    /// place.
    pub(crate) fn op(&self, op: OpRef<'_>) -> Option<Value> {
        let time = self.ops.get(&op.id()).filter(|time| time.name == op.name())?;
        Some(json!({"seconds": time.seconds, "steps": time.steps}))
    }

    /// The profile, with steps that ops refer to by position.
    pub(crate) fn to_value(&self) -> Value {
        let step = |step: &StepProfile| {
            json!({
                "title": step.title,
                "kind": step.kind.name(),
                "calls": step.calls,
                "seconds": step.own.as_secs_f64(),
                "ops": computed(step).len(),
            })
        };
        json!({
            "runs": self.profile.runs,
            "seconds": self.profile.time().as_secs_f64(),
            "steps": self.profile.steps.iter().map(step).collect::<Vec<_>>(),
        })
    }
}

/// The ops that a step computes; for a function, that is itself.
fn computed(step: &StepProfile) -> &[Location] {
    if step.ops.is_empty() { std::slice::from_ref(&step.location) } else { &step.ops }
}
