//! Executions of steps in Chrome's trace event format, which Perfetto reads, too.
//!
//! Source: "Trace Event Format", of the Chromium project.

use super::{Profile, StepProfile};
use crate::place::{Location, shortened};
use interpreter::Execution;
use serde_json::json;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::time::Duration;

impl Profile {
    /// Writes the executions as JSON, each as a complete event with the ops, source places, bytes
    /// and operations of its step. Processes have their numbers in the grid; runs at the same time
    /// are threads.
    ///
    /// # Errors
    /// Errors of the output.
    pub fn write_trace(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut order: Vec<usize> = (0..self.executions.len()).collect();
        // Each before its nested steps, which ended before it did.
        order.sort_by_key(|&at| {
            let Execution { process, lane, start, duration, .. } = self.executions[at];
            (process, lane, start, Reverse(duration), Reverse(at))
        });
        let first = self.executions.iter().map(|e| e.start).min().unwrap_or_default();
        let steps: Vec<String> = self.steps.iter().map(described).collect();
        write!(out, "{{\"displayTimeUnit\": \"ns\", \"traceEvents\": [")?;
        let processes: BTreeSet<u32> = self.executions.iter().map(|e| e.process).collect();
        let mut separator = "\n";
        for process in processes {
            let name = json!({"name": format!("process {process}")});
            write!(out, "{separator}{{\"ph\": \"M\", \"name\": \"process_name\", ")?;
            write!(out, "\"pid\": {process}, \"args\": {name}}}")?;
            separator = ",\n";
        }
        for at in order {
            let Execution { step, process, lane, start, duration, .. } = self.executions[at];
            let (start, duration) = (micros(start.saturating_sub(first)), micros(duration));
            write!(out, "{separator}{{\"ph\": \"X\", \"pid\": {process}, \"tid\": {lane}, ")?;
            write!(out, "\"ts\": {start}, \"dur\": {duration}, {}}}", steps[step as usize])?;
            separator = ",\n";
        }
        writeln!(out, "\n]}}")
    }
}

/// The fields of an event that come from its step.
fn described(step: &StepProfile) -> String {
    let places = |place: fn(&Location) -> Option<&str>| {
        let mut all: Vec<&str> =
            std::iter::once(&step.location).chain(&step.ops).filter_map(place).collect();
        let mut seen = BTreeSet::new();
        all.retain(|place| seen.insert(*place));
        (!all.is_empty()).then(|| shortened(&all.join(", ")))
    };
    let mut ops: BTreeMap<&str, usize> = BTreeMap::new();
    step.ops.iter().for_each(|location| *ops.entry(&location.op).or_default() += 1);
    let ops: Vec<String> = ops.into_iter().map(|(name, count)| format!("{count} {name}")).collect();
    let arithmetic = step.arithmetic().map(|_| step.work);
    let arguments = json!({
        "types": step.types,
        "ops": shortened(&ops.join(", ")),
        "source": places(|location| location.source.as_deref()),
        "scope": places(|location| location.scope.as_deref()),
        "call": step.call.as_ref().and_then(|location| location.source.as_deref()),
        "bytes": step.bytes(),
        "flops": arithmetic.map(|work| work.flops),
        "transcendentals": arithmetic.map(|work| work.transcendentals),
    });
    let (name, kind) = (json!(step.title), json!(step.kind.name()));
    format!("\"name\": {name}, \"cat\": {kind}, \"args\": {arguments}")
}

/// Microseconds, to the nanosecond.
fn micros(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    format!("{}.{:03}", nanos / 1000, nanos % 1000)
}
