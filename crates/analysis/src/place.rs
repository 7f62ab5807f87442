//! Where ops stand, and their texts in one line.

use mlir::diag::{name_of, resolve};
use mlir::text::{PrintOptions, ValueNames, print_attribute};
use mlir::{Attribute, OpId, OpRef};
use serde_json::{Value, json};
use side_dialects::func::FuncOp;

/// An op and where it stands.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Location {
    /// The op in its module.
    pub id: OpId,
    /// Name of the op.
    pub op: String,
    /// The function that contains it; empty outside of functions.
    pub function: String,
    /// The place that the exporter recorded, such as `model.py:3:1`, else that in the text of the
    /// program.
    pub source: Option<String>,
    /// The path of names around it that the exporter recorded, such as `jit(f)/layer_0`.
    pub scope: Option<String>,
}

impl Location {
    /// Where an op stands.
    pub fn of(op: OpRef<'_>) -> Location {
        let mut around = std::iter::successors(Some(op), |op| op.parent());
        let function = around.find(|op| FuncOp::cast(*op).is_some());
        let source = op.module().source();
        let place = resolve(&op.position(), source.map(|source| &**source));
        let name = name_of(&op.location()).map(String::from);
        Location {
            id: op.id(),
            op: op.name().to_string(),
            function: function.and_then(OpRef::symbol_name).unwrap_or_default().to_string(),
            source: place.map(|(file, line, column)| format!("{file}:{line}:{column}")),
            // The last part of the name is that of the op itself.
            scope: name.and_then(|name| name.rsplit_once('/').map(|(scope, _)| scope.to_string())),
        }
    }

    /// The location as a JSON object, with the fields of the same names.
    pub fn to_value(&self) -> Value {
        json!({
            "op": self.op,
            "function": self.function,
            "source": self.source,
            "scope": self.scope,
        })
    }
}

/// The most characters of an attribute or a line that are shown.
const MAX_CHARACTERS: usize = 120;

/// A text of at most [`MAX_CHARACTERS`].
pub(crate) fn shortened(text: &str) -> String {
    shortened_to(text, MAX_CHARACTERS)
}

/// A text of at most this many characters, but for an ellipsis.
pub(crate) fn shortened_to(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// An attribute in a line; elements of large constants are left out.
pub(crate) fn shown(attribute: &Attribute) -> String {
    let options = PrintOptions {
        elide_elements_if_larger: Some(16),
        local_scope: true,
        ..PrintOptions::default()
    };
    shortened(&print_attribute(attribute, &options))
}

/// An op in a line: that of the text in which it stands, if any.
pub fn line<'m>(op: OpRef<'m>, names: &mut ValueNames<'m>) -> String {
    let source = op.module().source();
    if let (Some(source), Some(span)) = (source, op.position().span()) {
        let (number, _) = source.line_column(span.start);
        if let Some(line) = source.line(number) {
            return shortened(line.trim());
        }
    }
    let text = names.text(op);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    shortened(&lines.join(" "))
}
