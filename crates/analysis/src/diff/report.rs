//! Differences as text and JSON.

use super::{Change, Detail, Diff, Side};
use serde_json::{Value, json};
use std::fmt::Write as _;

impl Diff {
    /// The differences as text: an op of the left program after `-`, one of the right after `+`.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        let mut function = None;
        for change in &self.changes {
            let side = change.left.as_ref().or(change.right.as_ref());
            let own = side.map(|side| side.location.function.clone());
            if own != function {
                match own.as_deref() {
                    Some("") | None => {}
                    // Writing to a string cannot fail.
                    Some(name) => drop(writeln!(out, "@{name}")),
                }
                function = own;
            }
            for (sign, side) in [('-', &change.left), ('+', &change.right)] {
                if let Some(Side { location, text, .. }) = side {
                    let place =
                        location.source.as_deref().map_or(String::new(), |s| format!("{s}: "));
                    let _ = writeln!(out, "{sign} {place}{text}");
                }
            }
            for detail in &change.details {
                let _ = writeln!(out, "    {detail}");
            }
        }
        out
    }

    /// The differences as a JSON object: `equal`, `same`, the number of corresponding ops without
    /// a difference, and `changes`, each of which has `left` and `right`, an op or null, and
    /// `details`. An op has `op`, `function`, `source`, `scope` and `text`.
    pub fn to_json(&self) -> String {
        let change = |change: &Change| {
            json!({
                "left": change.left.as_ref().map(Side::to_value),
                "right": change.right.as_ref().map(Side::to_value),
                "details": change.details.iter().map(Detail::to_value).collect::<Vec<_>>(),
            })
        };
        let value = json!({
            "equal": self.is_empty(),
            "same": self.same,
            "changes": self.changes.iter().map(change).collect::<Vec<_>>(),
        });
        value.to_string()
    }
}

impl Side {
    /// The op as a JSON object.
    pub fn to_value(&self) -> Value {
        let mut value = self.location.to_value();
        value["text"] = json!(self.text);
        value
    }
}

impl Detail {
    /// The detail as a JSON object: `what`, `left` and `right`, and `name` or `index` if it is of
    /// an attribute or operand.
    pub fn to_value(&self) -> Value {
        match self {
            Detail::Op(left, right) => json!({"what": "op", "left": left, "right": right}),
            Detail::Attribute(name, left, right) => {
                json!({"what": "attribute", "name": name, "left": left, "right": right})
            }
            Detail::Operands(left, right) => {
                json!({"what": "operands", "left": left, "right": right})
            }
            Detail::Operand(index, left, right) => {
                json!({"what": "operand", "index": index, "left": left, "right": right})
            }
            Detail::Results(left, right) => {
                json!({"what": "results", "left": left, "right": right})
            }
            Detail::Blocks(left, right) => json!({"what": "blocks", "left": left, "right": right}),
            Detail::Order => json!({"what": "order", "left": null, "right": null}),
        }
    }
}

impl std::fmt::Display for Detail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Detail::Op(left, right) => write!(f, "op: {left} -> {right}"),
            Detail::Attribute(name, left, right) => {
                let shown = |value: &Option<String>| value.clone().unwrap_or("none".into());
                write!(f, "{name}: {} -> {}", shown(left), shown(right))
            }
            Detail::Operands(left, right) => write!(f, "number of operands: {left} -> {right}"),
            Detail::Operand(index, left, right) => write!(f, "operand {index}: {left} -> {right}"),
            Detail::Results(left, right) => write!(f, "results: {left} -> {right}"),
            Detail::Blocks(left, right) => write!(f, "blocks: {left} -> {right}"),
            Detail::Order => f.write_str("comes in another order, which its side effects show"),
        }
    }
}
