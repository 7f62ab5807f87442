//! `stablehlo-check-shape-assertions`: removes shape assertions that hold, and reports those that
//! fail.
//!
//! Exporters write constraints on the sizes of arguments as custom calls of `shape_assertion`: the
//! operands are a condition and the values for the placeholders `{0}`, `{1}` … of the attribute
//! `error_message`.

use hlo::ops::CustomCallOp;
use mlir::attrs::Attribute;
use mlir::diag::{Diagnostics, counted};
use mlir::pass::{OptionKind, Pass, PassContext, PassOption};
use mlir::rewrite::fold::constant_value;
use mlir::types::Signedness;
use mlir::{Diagnostic, Module, OpId, OpRef, Type, TypeKind, Value};

/// Removes assertions that hold and reports the others.
pub(crate) const PASS: Pass = Pass::on_functions(
    "stablehlo-check-shape-assertions",
    "Remove shape assertions that hold, and report those that fail",
    run,
)
.with_options(&[PassOption {
    name: "enable-shape-assertions",
    doc: "Check assertions; if false, all are removed",
    kind: OptionKind::Bool(true),
}]);

const TARGET: &str = "shape_assertion";

/// Maximum number of values in a message.
const MAX_MESSAGE_INPUTS: usize = 32;

/// The attributes allowed on an assertion.
const ATTRIBUTES: [&str; 5] =
    ["api_version", "backend_config", "call_target_name", "error_message", "has_side_effect"];

/// True if an op is a shape assertion.
pub(crate) fn is_assertion(op: OpRef<'_>) -> bool {
    CustomCallOp::cast(op).is_some_and(|op| op.call_target_name() == TARGET)
}

fn run(cx: &mut PassContext<'_>) {
    let checks = cx.options.bool("enable-shape-assertions");
    let assertions: Vec<OpId> =
        cx.module.walk(cx.root).filter(|op| is_assertion(*op)).map(OpRef::id).collect();
    for op in assertions {
        match if checks { check(cx.module.op(op)) } else { Ok(()) } {
            Ok(()) => cx.module.erase(op),
            Err(error) => cx.report(error),
        }
    }
}

/// The failures of the assertions below an op whose conditions are constants.
pub(crate) fn failures(module: &Module, root: OpId) -> Diagnostics {
    let is_false = |op: &OpRef<'_>| {
        op.operands().first().is_some_and(|&condition| constant(module, condition) == Some(0))
    };
    let assertions = module.walk(root).filter(|op| is_assertion(*op)).filter(is_false);
    assertions.filter_map(|op| check(op).err()).collect()
}

/// The integer that a value is, if it is a constant.
fn constant(module: &Module, value: Value) -> Option<i64> {
    constant_value(module, value)?.as_dense()?.int_values()?.first().copied()
}

/// Checks that an assertion is well formed and holds.
fn check(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let error = |message: String| op.error(TARGET, message);
    let count = op.operands().len();
    if count == 0 || count > 1 + MAX_MESSAGE_INPUTS {
        let most = 1 + MAX_MESSAGE_INPUTS;
        return Err(error(format!("a shape assertion takes 1 to {most} operands; found {count}")));
    }
    if op.num_results() != 0 {
        return Err(error(format!("a shape assertion has no results; found {}", op.num_results())));
    }
    let declared = op.def().map_or(&[][..], |def| def.attributes);
    let inherent = declared
        .iter()
        .zip(op.properties())
        .filter(|(_, value)| value.is_some())
        .map(|(slot, _)| slot.name);
    let mut names = inherent.chain(op.attributes().iter().map(|(name, _)| &**name));
    if let Some(name) =
        names.find(|name| !ATTRIBUTES.contains(name) && !is_empty_list(op.attr(name)))
    {
        return Err(error(format!("a shape assertion has no attribute `{name}`")));
    }
    if CustomCallOp(op).backend_config().is_some_and(|config| !is_empty(config)) {
        return Err(error("backend_config of a shape assertion must be empty".into()));
    }
    if !is_scalar(op.operand_type(0), &[1]) {
        return Err(error(format!(
            "the condition must be a tensor<i1>; found {}",
            op.operand_type(0)
        )));
    }
    if let Some(i) = (1..count).find(|&i| !is_scalar(op.operand_type(i), &[32, 64])) {
        let found = op.operand_type(i);
        return Err(error(format!(
            "operand {i} must be a tensor<i32> or tensor<i64> to be shown; found {found}"
        )));
    }
    let Some(message) = op.attr("error_message").and_then(Attribute::as_str) else {
        return Err(error("a shape assertion must have the attribute `error_message`".into()));
    };
    let parts = parts(message);
    let shown = |part: &MessagePiece<'_>| matches!(part, MessagePiece::Value(_, index) if *index >= count - 1);
    if let Some(MessagePiece::Value(text, index)) = parts.iter().find(|part| shown(part)) {
        let values = count - 1;
        let are = if values == 1 { "is" } else { "are" };
        return Err(error(format!(
            "error_message shows value {index} (`{text}`), but there {are} {}",
            counted(values, "value")
        )));
    }
    let constant = |i: usize| constant(op.module(), op.operand(i));
    match constant(0) {
        Some(0) => {}
        Some(_) => return Ok(()),
        None => return Err(error("the condition of the shape assertion is not a constant".into())),
    }
    let mut text = String::new();
    for part in parts {
        match part {
            MessagePiece::Text(part) => text.push_str(part),
            MessagePiece::Value(_, index) => match constant(index + 1) {
                Some(value) => text.push_str(&value.to_string()),
                None => {
                    return Err(error(format!(
                        "operand {} of the shape assertion is not a constant",
                        index + 1
                    )));
                }
            },
        }
    }
    Err(error(text))
}

/// A piece of a message.
enum MessagePiece<'a> {
    Text(&'a str),
    /// `{index}`, with its text; a layout or format after the index has no effect on integers.
    Value(&'a str, usize),
}

/// Splits a message at `{0}`, `{1:…}` and so on; all other braces are literal text.
fn parts(message: &str) -> Vec<MessagePiece<'_>> {
    let mut parts = Vec::new();
    let mut rest = message;
    while let Some(open) = rest.find('{') {
        let after = &rest[open + 1..];
        let end = after.find([',', ':', '}']);
        let close = after.find('}');
        match (end.and_then(|end| after[..end].trim().parse().ok()), close) {
            (Some(index), Some(close)) => {
                parts.push(MessagePiece::Text(&rest[..open]));
                parts.push(MessagePiece::Value(&rest[open..open + close + 2], index));
                rest = &after[close + 1..];
            }
            _ => {
                parts.push(MessagePiece::Text(&rest[..=open]));
                rest = after;
            }
        }
    }
    parts.push(MessagePiece::Text(rest));
    parts
}

/// True if a type is a scalar of signless integers of one of the given widths.
fn is_scalar(ty: &Type, widths: &[u32]) -> bool {
    let signless = |width: u32| {
        **ty.element_type() == TypeKind::Integer { width, signedness: Signedness::Signless }
    };
    ty.shape().is_some_and(<[i64]>::is_empty) && widths.iter().any(|&width| signless(width))
}

fn is_empty(config: &Attribute) -> bool {
    config.as_str() == Some("") || config.as_dictionary().is_some_and(|d| d.is_empty())
}

/// True if the list attribute is absent or empty.
fn is_empty_list(attribute: Option<&Attribute>) -> bool {
    attribute.and_then(Attribute::as_array).is_some_and(<[Attribute]>::is_empty)
}
