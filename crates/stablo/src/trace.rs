//! The index of a trace: where values of a run come from, for files that hold them.

use crate::ir::{OpRef, Value, ValueNames};
use crate::{Module, ProcessId, Source, Tensor, resolve};
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;

/// Describes values of a run, a line of JSON each. It does no I/O.
pub struct TraceIndex<'m> {
    names: ValueNames<'m>,
    source: Option<Arc<Source>>,
    /// Number of times each value of each process was there.
    seen: HashMap<(ProcessId, Value), usize>,
}

/// A result of an op, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TracedName {
    /// The name of the value, as in the text of the program if it has one.
    pub value: String,
    /// The place of the op, such as `model.py:3:1`; empty if it is not known.
    pub location: String,
}

impl<'m> TraceIndex<'m> {
    /// The index of a run of a module.
    pub fn of(module: &'m Module) -> TraceIndex<'m> {
        TraceIndex {
            names: ValueNames::of(module.top()),
            source: module.source().cloned(),
            seen: HashMap::new(),
        }
    }

    /// The name and place of result `index` of an op, which must have it.
    pub fn name(&mut self, op: OpRef<'_>, index: usize) -> TracedName {
        let source = self.source.as_deref();
        let written = source.and_then(|source| written_name(source, op, index));
        let value = written.unwrap_or_else(|| self.names.get(op.result(index)));
        let place = resolve(&op.position(), source);
        let location =
            place.map_or(String::new(), |(file, line, column)| format!("{file}:{line}:{column}"));
        TracedName { value, location }
    }

    /// The line of a value that is saved in `file`: `file`, `value`, `op`, the `id` of the op,
    /// `result` (its index), `iteration`, `replica`, `partition`, `type`, `shape` and `location`.
    pub fn line(
        &mut self,
        process: ProcessId,
        (op, index): (OpRef<'_>, usize),
        name: &TracedName,
        tensor: &Tensor,
        file: &str,
    ) -> String {
        let iteration = self.seen.entry((process, op.result(index))).or_default();
        let line = json!({
            "file": file,
            "value": name.value,
            "op": op.name(),
            "id": op.id().index(),
            "result": index,
            "iteration": *iteration,
            "replica": process.replica,
            "partition": process.partition,
            "type": op.result_type(index).to_string(),
            "shape": tensor.shape(),
            "location": name.location,
        });
        *iteration += 1;
        line.to_string()
    }
}

/// The name of a result in the program text, if it is on the line of its op.
fn written_name(source: &Source, op: OpRef<'_>, index: usize) -> Option<String> {
    let span = op.position().span()?;
    let before = source.text().get(..span.start as usize)?.rsplit('\n').next()?;
    let before = before.trim_end();
    // The place of some short forms, such as that of a reduction, is after the name of the op.
    let before = before.strip_suffix(op.name()).unwrap_or(before).trim_end().strip_suffix('=')?;
    // The names at the end of the line, the last first.
    let mut groups = Vec::new();
    for part in before.rsplit(',') {
        let group = part.trim();
        let start = group.rfind('%')?;
        let (name, count) = group[start..].split_once(':').unwrap_or((&group[start..], "1"));
        groups.push((name, count.parse::<usize>().ok()?));
        // Text before the first name belongs to something else.
        if start > 0 {
            break;
        }
    }
    let mut first = 0;
    for (name, count) in groups.into_iter().rev() {
        if index < first + count {
            return Some(match count {
                1 => name.to_string(),
                _ => format!("{name}#{}", index - first),
            });
        }
        first += count;
    }
    None
}
