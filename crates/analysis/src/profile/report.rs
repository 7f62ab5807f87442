//! Profiles as JSON.

use super::{Profile, StepProfile};
use crate::place::Location;
use crate::roofline::Roofline;
use interpreter::StepKind;
use serde_json::{Value, json};
use std::time::Duration;

impl Profile {
    /// The profile as a JSON object, with times in seconds:
    ///
    /// - `runs`, their number, and `seconds`, their time;
    /// - `roofline`: `flops` and `bytes` a second with `threads` threads; null if it is not known;
    /// - `steps`, the longest first: `title`, `types`, `kind`, the `op` to which it is attributed
    ///   with its `function`, `source` and `scope`, `call` (the place of the call around it, or
    ///   null), `calls`, `seconds` without nested steps and `total_seconds` with them; the
    ///   `flops`, `transcendentals` and `bytes` of an execution, null if they are not known; the
    ///   share of the `roofline` that it reaches, or null; and `ops` that it computes, each with
    ///   `op`, `function`, `source` and `scope`;
    /// - `kinds` of steps: `kind`, `seconds`, `calls`, and the number of `steps`.
    pub fn to_json(&self, roofline: Option<&Roofline>) -> String {
        let kind = |kind: StepKind| {
            let steps: Vec<_> = self.steps.iter().filter(|step| step.kind == kind).collect();
            let own: Duration = steps.iter().map(|step| step.own).sum();
            let calls: u64 = steps.iter().map(|step| step.calls).sum();
            (!steps.is_empty()).then(|| {
                json!({
                    "kind": kind.name(),
                    "seconds": own.as_secs_f64(),
                    "calls": calls,
                    "steps": steps.len(),
                })
            })
        };
        let limits = |roofline: &Roofline| {
            let Roofline { flops, bytes, threads } = roofline;
            json!({"flops": flops, "bytes": bytes, "threads": threads})
        };
        let steps: Vec<Value> =
            self.longest().into_iter().map(|found| step(found, roofline)).collect();
        let value = json!({
            "runs": self.runs,
            "seconds": self.time().as_secs_f64(),
            "roofline": roofline.map(limits),
            "steps": steps,
            "kinds": StepKind::ALL.into_iter().filter_map(kind).collect::<Vec<_>>(),
        });
        value.to_string()
    }
}

fn step(step: &StepProfile, roofline: Option<&Roofline>) -> Value {
    let work = step.arithmetic().map(|_| step.work);
    let mut value = step.location.to_value();
    let fields = [
        ("title", json!(step.title)),
        ("types", json!(step.types)),
        ("kind", json!(step.kind.name())),
        ("call", json!(step.call.as_ref().map(|call| &call.source))),
        ("calls", json!(step.calls)),
        ("seconds", json!(step.own.as_secs_f64())),
        ("total_seconds", json!(step.total.as_secs_f64())),
        ("flops", json!(work.map(|work| work.flops))),
        ("transcendentals", json!(work.map(|work| work.transcendentals))),
        ("bytes", json!(step.bytes())),
        ("roofline", json!(roofline.and_then(|roofline| step.share(roofline)))),
        ("ops", step.ops.iter().map(Location::to_value).collect()),
    ];
    for (name, field) in fields {
        value[name] = field;
    }
    value
}
