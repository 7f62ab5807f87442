//! Costs by op, function, place and scope, and as JSON.

use super::{Cost, OpCost, Tensors, Work};
use crate::place::Location;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How the costs of ops are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// By the names of ops.
    Op,
    /// By the functions that contain them.
    Function,
    /// By lines of the source that they were made from, or of the program.
    Source,
    /// By the scopes that the exporter recorded.
    Scope,
    /// Each op by itself.
    Each,
}

/// A line of a table of costs.
#[derive(Clone, Debug)]
pub struct Row {
    /// The name of the op, function, line or scope.
    pub name: String,
    /// Number of ops.
    pub ops: u64,
    /// Number of times that they run.
    pub runs: u64,
    /// Their work.
    pub work: Work,
}

impl Grouping {
    /// The name of the group of an op.
    fn name(self, location: &Location) -> String {
        let or_unknown = |text: Option<&str>| text.unwrap_or("(unknown)").to_string();
        match self {
            Grouping::Op => location.op.clone(),
            Grouping::Function => format!("@{}", location.function),
            // Without the column.
            Grouping::Source => {
                let line = location.source.as_deref();
                or_unknown(line.map(|place| place.rsplit_once(':').map_or(place, |(line, _)| line)))
            }
            Grouping::Scope => or_unknown(location.scope.as_deref()),
            Grouping::Each => {
                let place = location.source.as_deref().unwrap_or(&location.function);
                format!("{} at {place}", location.op)
            }
        }
    }
}

impl Cost {
    /// The costs of groups of ops, the costliest first: by arithmetic, then by bytes.
    pub fn rows(&self, grouping: Grouping) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
        for op in &self.ops {
            let name = grouping.name(&op.location);
            // Ops at one location, as an expansion makes, are different ops.
            let index = match grouping {
                Grouping::Each => rows.len(),
                _ => *by_name.entry(name.clone()).or_insert(rows.len()),
            };
            if index == rows.len() {
                rows.push(Row { name, ops: 0, runs: 0, work: Work::default() });
            }
            let row = &mut rows[index];
            row.ops += 1;
            row.runs = row.runs.saturating_add(op.runs);
            row.work = row.work.plus(op.work);
        }
        rows.sort_by(|a, b| b.work.key().cmp(&a.work.key()).then_with(|| a.name.cmp(&b.name)));
        rows
    }

    /// The cost as a JSON object, with the fields of the same names. Each op has `op`, `function`,
    /// `source`, `scope`, `runs`, `flops`, `transcendentals`, `bytes` and `doubt`.
    pub fn to_json(&self) -> String {
        let doubts = self.doubts.iter().map(
            |(doubt, ops)| json!({"doubt": doubt.name(), "ops": ops, "meaning": doubt.explain()}),
        );
        let value = json!({
            "flops": self.total.flops,
            "transcendentals": self.total.transcendentals,
            "bytes": self.total.bytes,
            "arguments": tensors(&self.arguments),
            "constants": tensors(&self.constants),
            "results": tensors(&self.results),
            "peak_memory": self.peak_memory,
            "peak_op": self.peak_op.as_ref().map(Location::to_value),
            "doubts": doubts.collect::<Vec<_>>(),
            "ops": self.ops.iter().map(op).collect::<Vec<_>>(),
        });
        value.to_string()
    }
}

fn tensors(tensors: &Tensors) -> Value {
    json!({"count": tensors.count, "elements": tensors.elements, "bytes": tensors.bytes})
}

fn op(cost: &OpCost) -> Value {
    let mut value = cost.location.to_value();
    value["runs"] = json!(cost.runs);
    value["flops"] = json!(cost.work.flops);
    value["transcendentals"] = json!(cost.work.transcendentals);
    value["bytes"] = json!(cost.work.bytes);
    value["doubt"] = json!(cost.doubt.map(super::Doubt::name));
    value
}
