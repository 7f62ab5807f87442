//! Diagnostics and inspections as JSON, for tools.

use crate::{Diagnostic, FileFormat, Inspection, Position, Requirement, Source};
use mlir::diag::{in_text, name_of, resolve};
use serde_json::{Value, json};

/// A diagnostic as an object with `severity`, `label`, `message`, a position, `notes`, each of
/// which has a `message` and a position, and `help`, a text or null. A position is `file`, `line`
/// and `column` and, if it is in the text, `end_line` and `end_column`, those after the last byte.
/// Lines and columns count from 1; without a position they are 0 and the file is `name`. An op that
/// says what it was made from has an `origin` with a `name`, which may be null, `file`, `line` and
/// `column`.
pub fn diagnostic_to_json(diagnostic: &Diagnostic, name: &str, text: Option<&Source>) -> String {
    diagnostic_value(diagnostic, name, text).to_string()
}

pub(crate) fn diagnostics(diagnostics: &[Diagnostic], text: Option<&Source>) -> String {
    let name = text.map_or("", |text| &**text.name());
    diagnostics.iter().map(|d| diagnostic_value(d, name, text)).collect::<Value>().to_string()
}

fn diagnostic_value(diagnostic: &Diagnostic, name: &str, text: Option<&Source>) -> Value {
    let place = |mut object: Value, position: &Position| {
        let (position, origin) = in_text(position, text);
        let (file, line, column) = resolve(&position, text).unwrap_or((name.into(), 0, 0));
        object["file"] = json!(*file);
        object["line"] = json!(line);
        object["column"] = json!(column);
        if let (Some(span), Some(text)) = (position.span(), text) {
            let (line, column) = text.line_column(span.end);
            object["end_line"] = json!(line);
            object["end_column"] = json!(column);
        }
        if let Some(origin) = origin {
            let position = Position::Location(origin.clone());
            let (file, line, column) = resolve(&position, text).unwrap_or(("".into(), 0, 0));
            object["origin"] = json!({
                "name": name_of(origin), "file": *file, "line": line, "column": column,
            });
        }
        object
    };
    let note =
        |(message, position): &(String, Position)| place(json!({"message": message}), position);
    let diagnosed = json!({
        "severity": diagnostic.severity.name(),
        "label": diagnostic.label,
        "message": diagnostic.message,
        "notes": diagnostic.notes.iter().map(note).collect::<Vec<_>>(),
        "help": diagnostic.help,
    });
    place(diagnosed, &diagnostic.position)
}

impl Inspection {
    /// The inspection as a JSON object, with the fields of the same names.
    pub fn to_json(&self) -> String {
        let format = match &self.format {
            FileFormat::Text => json!({"kind": "text"}),
            FileFormat::Bytecode { version, producer, artifact, sections } => {
                let section = |(name, bytes): &(&str, usize)| json!({"name": name, "bytes": bytes});
                json!({
                    "kind": if artifact.is_some() { "artifact" } else { "bytecode" },
                    "bytecode_version": version,
                    "producer": producer,
                    "version": artifact.map(|v| v.to_string()),
                    "sections": sections.iter().map(section).collect::<Vec<_>>(),
                })
            }
        };
        let exported = self.exported.as_ref().map(|e| {
            json!({
                "function_name": e.function_name,
                "platforms": e.platforms,
                "num_devices": e.num_devices,
                "calling_convention_version": e.calling_convention_version,
                "inputs": e.inputs,
                "input_tree": e.input_tree.to_string(),
                "outputs": e.outputs,
                "output_tree": e.output_tree.to_string(),
                "input_shardings": e.input_shardings,
                "output_shardings": e.output_shardings,
                "kept_inputs": e.kept_inputs,
                "ordered_effects": e.ordered_effects,
                "unordered_effects": e.unordered_effects,
                "disabled_checks": e.disabled_checks,
                "num_derivatives": e.num_derivatives,
            })
        });
        let function = |(name, ty): &(String, String)| json!({"name": name, "type": ty});
        let largest = |(ty, bytes): &(String, usize)| json!({"type": ty, "bytes": bytes});
        let requirement = |(op, r): (&String, &Requirement)| {
            json!({
                "op": op,
                "version": r.version.to_string(),
                "reason": r.reason,
                "count": r.count,
                "location": r.location,
            })
        };
        let value = json!({
            "bytes": self.bytes,
            "format": format,
            "exported": exported,
            "functions": self.functions.iter().map(function).collect::<Vec<_>>(),
            "constants": {
                "count": self.constants.count,
                "bytes": self.constants.bytes,
                "largest": self.constants.largest.as_ref().map(largest),
            },
            "oldest_target": self.oldest_target.as_ref().map(ToString::to_string).ok(),
            "requirements": self.requirements.iter().map(requirement).collect::<Vec<_>>(),
            "custom_calls": self.custom_calls,
            "composites": self.composites,
            "other_dialects": self.other_dialects,
            "ops": self.ops,
        });
        value.to_string()
    }
}
