//! Texts about what is under the cursor.

use crate::analysis::Analysis;
use crate::file::{File, moved};
use crate::names::Target;
use crate::symbols::detail;
use stablo::ir::{
    Arity, AttrConstraint, AttrSlot, EnumDef, OpDef, OpRef, Trait, Type, Value, ValueDef,
};
use stablo::syntax::{Token, TokenKind};
use stablo::{Attribute, Span};
use std::fmt::Write as _;

/// A text about a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The place.
    pub span: Span,
    /// The text, as Markdown.
    pub text: String,
}

/// Where the specification of ops is.
const SPECIFICATION: &str = "https://github.com/openxla/stablehlo/blob/main/docs/spec.md";

/// Longer attributes are cut.
const MAX_ATTRIBUTE: usize = 200;

impl File {
    /// The text about what stands at byte `at`.
    pub fn hover(&self, at: u32) -> Option<Hover> {
        let (analysis, start, here) = self.analysis_at(at);
        let (index, token) = analysis.token_at(here)?;
        let text = analysis.hover(index, token, here)?;
        Some(Hover { span: moved(token.span, start), text })
    }
}

impl Analysis {
    fn hover(&self, index: usize, token: Token, at: u32) -> Option<String> {
        if let Some(op) = self.op_named_at(token.span) {
            return self.about_op(op);
        }
        match token.kind {
            TokenKind::Percent
            | TokenKind::Hash
            | TokenKind::Exclaim
            | TokenKind::Symbol
            | TokenKind::Caret
            | TokenKind::String => {
                let target = self.target(at);
                target.and_then(|target| self.about_target(&target, index))
            }
            TokenKind::Word => self.about_word(index, token),
            _ => None,
        }
        .or_else(|| self.about_type(index, at))
    }

    fn about_op(&self, index: usize) -> Option<String> {
        let extent = &self.map.ops[index];
        let op = self.op(extent);
        let def = op.and_then(|op| op.def()).or_else(|| self.find_op(self.slice(extent.name)))?;
        let mut text = about_def(def);
        if let Some(op) = op {
            let types: Vec<String> = op.result_types().map(Type::to_string).collect();
            if !types.is_empty() {
                let _ = write!(text, "\n\nResult: `{}`", types.join(", "));
            }
            if let Some(cost) = self.cost_of(op.id()) {
                let _ = write!(text, "\n\nCost: {cost}");
            }
        }
        Some(text)
    }

    fn about_target(&self, target: &Target, index: usize) -> Option<String> {
        match target {
            Target::Value(definition) => {
                let name = self.slice(self.map.definitions[*definition].name);
                let values = self.values(*definition);
                let Some(&first) = values.first() else {
                    return Some(format!("`{name}`: its op could not be read"));
                };
                let picked = self.picked_result(index).unwrap_or_default();
                let mut text = String::from("```mlir\n");
                match values.as_slice() {
                    [value] => {
                        let _ = writeln!(text, "{name} : {}", self.module.ty(*value));
                    }
                    values => {
                        for (i, value) in values.iter().enumerate() {
                            let _ = writeln!(text, "{name}#{i} : {}", self.module.ty(*value));
                        }
                    }
                }
                text.push_str("```\n\n");
                text.push_str(&self.origin(values.get(picked).copied().unwrap_or(first)));
                let is_constant = text.contains("\n\nvalue: ");
                if !is_constant && let Some(value) = self.folded(*definition, picked) {
                    let _ = write!(text, "\n\nvalue: `{}`, by folding", shown(&value));
                }
                let uses = self.references(target).len() - 1;
                let _ = write!(text, "\n\n{}", stablo::counted(uses as u64, "use"));
                Some(text)
            }
            Target::Symbol(symbol) => {
                let symbol = &self.symbols()[*symbol];
                let op = self.op(&self.map.ops[symbol.op])?;
                let visibility = op.symbol_visibility().map_or(String::new(), |v| format!("{v} "));
                let mut text = format!(
                    "```mlir\n{} {visibility}@{} : {}\n```",
                    op.name(),
                    symbol.name,
                    detail(op)
                );
                let uses = self.references(target).len() - 1;
                let _ = write!(text, "\n\n{}", stablo::counted(uses as u64, "reference"));
                Some(text)
            }
            Target::Alias(name) => {
                let definition = self.alias_definition(name)?;
                let line = self.text()[definition.start as usize..].lines().next()?;
                Some(format!("```mlir\n{}\n```", cut(line)))
            }
            Target::Block(name, _) => Some(format!("block `{name}`")),
            Target::UnreadValue(..) => None,
        }
    }

    /// The number after a name of several results.
    fn picked_result(&self, index: usize) -> Option<usize> {
        let tokens = self.tokens();
        let number = |i: usize| {
            let (name, token) = (tokens.get(i)?, tokens.get(i + 1)?);
            let is_number = crate::names::is_result_number(name, token);
            if is_number { self.slice(token.span)[1..].parse().ok() } else { None }
        };
        number(index).or_else(|| number(index.checked_sub(1)?))
    }

    /// Says what a value is: the result of an op, or an argument.
    fn origin(&self, value: Value) -> String {
        match self.module.definition(value) {
            ValueDef::Result { op, index } => {
                let op = self.module.op(op);
                let which = match op.num_results() {
                    1 => "result".to_string(),
                    _ => format!("result {index}"),
                };
                let mut text = format!("{which} of `{}`", op.name());
                if op.has_trait(&Trait::ConstantLike)
                    && let Some(constant) = op.attr("value")
                {
                    let _ = write!(text, "\n\nvalue: `{}`", shown(constant));
                }
                text
            }
            ValueDef::Argument { block, index } => {
                let region = self.module.block_parent(block);
                let owner = region.and_then(|region| self.module.region_parent(region));
                let owner = owner.map(|op| self.module.op(op));
                match owner.map(|op| (op, op.symbol_name())) {
                    Some((_, Some(name))) => format!("argument {index} of `@{name}`"),
                    Some((op, None)) => format!("argument {index} of a region of `{}`", op.name()),
                    None => format!("argument {index}"),
                }
            }
        }
    }

    /// A keyword in an op: an attribute of it, or a case of an enumeration.
    fn about_word(&self, index: usize, token: Token) -> Option<String> {
        let word = self.slice(token.span);
        let extent = self.op_at(token.span.start)?;
        let op = self.op(extent);
        let def = op.and_then(|op| op.def()).or_else(|| self.find_op(self.slice(extent.name)))?;
        if let Some(slot) = def.attributes.iter().find(|slot| slot.name == word) {
            return Some(about_attribute(def, slot, op));
        }
        let enums = def.attributes.iter().filter_map(|slot| Some((slot, enumeration(slot)?)));
        let mut cases = enums.filter(|(_, def)| def.value(word).is_some());
        let (slot, cases) = cases.next()?;
        let _ = index;
        let all: Vec<&str> = cases.cases.iter().map(|(_, name)| *name).collect();
        Some(format!("`{word}`: a value of `{}` ({})", slot.name, all.join(", ")))
    }

    /// The tensor type around a place: its size.
    fn about_type(&self, index: usize, at: u32) -> Option<String> {
        let tokens = self.tokens();
        let starts = (0..=index).rev().take(64).find(|&i| {
            tokens[i].kind == TokenKind::Word
                && matches!(self.slice(tokens[i].span), "tensor" | "tuple" | "memref")
        })?;
        let start = tokens[starts].span.start;
        let mut depth = 0;
        let mut end = None;
        for token in &tokens[starts + 1..] {
            match token.kind {
                TokenKind::Punct(b'<') => depth += 1,
                TokenKind::Punct(b'>') => {
                    depth -= 1;
                    if depth == 0 {
                        end = Some(token.span.end);
                        break;
                    }
                }
                _ if depth == 0 => return None,
                _ => {}
            }
        }
        let written = self.slice(Span { start, end: end.filter(|&end| end >= at)? });
        let ty = stablo::parse_type(written).ok()?;
        about_tensor(&ty)
    }
}

/// The size of a tensor type.
fn about_tensor(ty: &Type) -> Option<String> {
    let tensor = ty.as_tensor()?;
    let mut text = format!("```mlir\n{ty}\n```\n\nrank {}", ty.shape()?.len());
    if let Some(shape) = tensor.static_shape() {
        let elements = shape.iter().try_fold(1u64, |n, &size| n.checked_mul(size as u64))?;
        let _ = write!(text, ", {}", stablo::counted(elements, "element"));
        if let Some(dtype) = stablo::storage_dtype(ty) {
            let bytes = elements.checked_mul(dtype.bytes() as u64)?;
            let _ = write!(text, ", {}", stablo::counted(bytes, "byte"));
        }
    }
    Some(text)
}

/// The documentation of an op with its constraints.
pub(crate) fn about_def(def: &OpDef) -> String {
    let mut text = format!("**{}**\n\n{}", def.name, def.doc.trim().replace("\n ", "\n"));
    let slots = def.operands.iter().map(|slot| {
        let arity = match slot.arity {
            Arity::Single => "",
            Arity::Optional => " (optional)",
            Arity::Variadic => " (any number)",
        };
        format!("- `{}`{arity}: {}", slot.name, slot.constraint.summary)
    });
    let slots: Vec<String> = slots.collect();
    if !slots.is_empty() {
        let _ = write!(text, "\n\nOperands:\n{}", slots.join("\n"));
    }
    let attributes = def.attributes.iter().filter(|slot| !slot.name.ends_with("egmentSizes"));
    let attributes: Vec<String> =
        attributes.map(|slot| format!("- `{}`: {}", slot.name, summary(slot))).collect();
    if !attributes.is_empty() {
        let _ = write!(text, "\n\nAttributes:\n{}", attributes.join("\n"));
    }
    let rules = def.rules();
    if !rules.is_empty() {
        text.push_str("\n\nConstraints:");
        for rule in &rules {
            let _ = write!(text, "\n- `{}`: {}", def.label(rule), rule.text);
        }
    }
    if let Some(version) = stablo::first_version(def.name) {
        let _ = write!(text, "\n\nSince StableHLO {version}");
        let _ = write!(text, " · [Specification]({SPECIFICATION}#{})", def.mnemonic());
    }
    text
}

/// The constraint of an attribute.
pub(crate) fn summary(slot: &AttrSlot) -> String {
    let mut text = slot.constraint.summary();
    if let Some(def) = enumeration(slot) {
        let all: Vec<&str> = def.cases.iter().map(|(_, name)| *name).collect();
        let _ = write!(text, " ({})", all.join(", "));
    }
    if let Some(default) = (slot.default_value)() {
        let _ = write!(text, "; default `{}`", shown(default));
    }
    text
}

fn about_attribute(def: &OpDef, slot: &AttrSlot, op: Option<OpRef<'_>>) -> String {
    let mut text = format!("**{}** of `{}`: {}", slot.name, def.name, summary(slot));
    if let Some(value) = op.and_then(|op| op.attr(slot.name)) {
        let _ = write!(text, "\n\nvalue: `{}`", shown(value));
    }
    for rule in def.rules().iter().filter(|rule| rule.text.contains(&format!("`{}`", slot.name))) {
        let _ = write!(text, "\n- `{}`: {}", def.label(rule), rule.text);
    }
    text
}

/// The enumeration of which an attribute is a case.
pub(crate) fn enumeration(slot: &AttrSlot) -> Option<&'static EnumDef> {
    match slot.constraint {
        AttrConstraint::Enum(def) | AttrConstraint::IntEnum(_, def) => Some(def),
        _ => None,
    }
}

/// An attribute on one line; long ones are cut, as constants may have millions of elements.
pub(crate) fn shown(attribute: &Attribute) -> String {
    const MAX_BYTES: usize = 1 << 12;
    if attribute.stored_bytes() > MAX_BYTES {
        return format!("elements of {}", attribute.ty());
    }
    cut(&attribute.to_string())
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_ATTRIBUTE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}
