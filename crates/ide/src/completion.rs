//! Completion: what may stand at the cursor.

use crate::analysis::Analysis;
use crate::expected::{Expected, Statement};
use crate::file::{File, moved};
use crate::hover::{about_def, enumeration, summary};
use crate::names::symbol_name;
use crate::snippets::snippet;
use crate::symbols::detail;
use stablo::Span;
use stablo::ir::{AttrConstraint, AttrSlot, OpDef, Trait, Type};
use stablo::syntax::{Defined, TokenKind};

/// The most values of a function that are offered: the nearest.
const MAX_VALUES: usize = 200;

/// Attributes that ops, arguments and results may have besides their own.
const DISCARDABLE: [(&str, &str); 13] = [
    ("jax.buffer_donor", "true if the memory of an argument may be reused for results"),
    ("jax.global_constant", "the size of a dimension by its name, as an argument"),
    ("jax.result_info", "the place of a result in the tree of JAX's results"),
    ("mhlo.frontend_attributes", "texts for the backend, by name"),
    ("mhlo.layout_mode", "the layout of an argument or result"),
    ("mhlo.memory_kind", "the memory of an argument or result"),
    ("mhlo.num_partitions", "the number of partitions of a module"),
    ("mhlo.num_replicas", "the number of replicas of a module"),
    ("mhlo.sharding", "a sharding as XLA writes it"),
    ("sdy.sharding", "a sharding of Shardy"),
    ("sdy.sharding_rule", "how Shardy propagates shardings through an op"),
    ("stablehlo.mesh", "the axes of a mesh, and its devices"),
    ("tf.aliasing_output", "the result that may take the memory of an argument"),
];

/// Something that may be written at the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The text that is shown and inserted.
    pub label: String,
    /// Kind.
    pub kind: CompletionKind,
    /// A type or summary.
    pub detail: String,
    /// The part of the text that it replaces.
    pub replace: Span,
    /// The text to insert with placeholders (`${1:%lhs}`) in place of the label, as editors know
    /// them.
    pub snippet: Option<String>,
    /// Rank: smaller comes first.
    pub rank: u32,
    /// True if it is deprecated.
    pub is_deprecated: bool,
}

/// Kind of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionKind {
    /// An op.
    Op,
    /// A value.
    Value,
    /// A symbol.
    Symbol,
    /// A block.
    Block,
    /// An alias.
    Alias,
    /// The name of an attribute.
    Attribute,
    /// The value of an attribute.
    Case,
    /// A type.
    Type,
    /// A keyword.
    Keyword,
}

/// Completions, and whether typing on may bring others.
#[derive(Clone, Debug, Default)]
pub struct Completions {
    /// The completions, best first.
    pub items: Vec<Completion>,
    /// True if there are more than these.
    pub is_incomplete: bool,
}

impl File {
    /// The completions at byte `at`, in place of the word before it.
    pub fn completions(&self, at: u32) -> Completions {
        // Symbols and aliases are those of the whole program.
        let before = self.text().get(..at as usize).unwrap_or_default();
        let word = before.trim_end_matches(is_part_of_name);
        let (analysis, start, here) = match word.ends_with(['@', '#', '!']) {
            true => self.analysis_at(at),
            false => self.local_analysis_at(at),
        };
        if analysis.is_in_comment(here) {
            return Completions::default();
        }
        let mut list = List::new(&analysis, here);
        list.complete();
        let is_incomplete = list.is_cut;
        let mut items = list.items;
        items.sort_by(|a, b| (a.rank, &a.label).cmp(&(b.rank, &b.label)));
        items.dedup_by(|a, b| a.label == b.label);
        for item in &mut items {
            item.replace = moved(item.replace, start);
        }
        Completions { items, is_incomplete }
    }

    /// The documentation of an op, as Markdown.
    pub fn documentation(op: &str) -> Option<String> {
        stablo::registry().op(op).map(about_def)
    }
}

impl Analysis {
    /// True if a byte is in a comment or string.
    fn is_in_comment(&self, at: u32) -> bool {
        let index = self.token_index(at);
        if let Some(token) = self.tokens().get(index) {
            let is_string = token.kind == TokenKind::String
                || token.kind == TokenKind::Invalid && self.slice(token.span).starts_with('"');
            if is_string && token.span.start < at {
                return true;
            }
        }
        let before = index.checked_sub(1).map_or(0, |before| self.tokens()[before].span.end);
        let gap = self.slice(Span { start: before.min(at), end: at });
        gap.rsplit('\n').next().is_some_and(|line| line.contains("//"))
    }
}

/// True for characters of names after their sigil.
fn is_part_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_.$".contains(c)
}

/// The completions at a place, as they are found.
struct List<'a> {
    analysis: &'a Analysis,
    at: u32,
    /// The word before the place, sigil included.
    replace: Span,
    prefix: &'a str,
    items: Vec<Completion>,
    is_cut: bool,
}

impl<'a> List<'a> {
    fn new(analysis: &'a Analysis, at: u32) -> List<'a> {
        let before = &analysis.text()[..at as usize];
        let word = before.trim_end_matches(is_part_of_name);
        let sigil = word.ends_with(['%', '@', '#', '!', '^']);
        let start = word.len() - usize::from(sigil);
        let replace = Span { start: start as u32, end: at };
        let prefix = &before[start..];
        List { analysis, at, replace, prefix, items: Vec::new(), is_cut: false }
    }

    fn complete(&mut self) {
        let statement = Statement::at(self.analysis, self.replace.start);
        match self.prefix.chars().next() {
            Some('%') => self.values(statement.as_ref()),
            Some('@') => self.symbols(),
            Some('^') => self.blocks(),
            Some('#') => {
                self.aliases();
                let slot = statement.as_ref().and_then(|s| s.attribute());
                slot.into_iter().for_each(|slot| self.attribute_values(slot, true));
            }
            Some('!') => {
                self.aliases();
                self.dialect_types();
            }
            _ if statement.is_none() => {
                self.ops();
                self.top_level();
            }
            _ => {
                if let Some(statement) = statement {
                    if statement.follows("applies") {
                        self.combining_ops();
                    }
                    self.inside(&statement);
                }
            }
        }
    }

    /// The completions in an op, where no sigil is.
    fn inside(&mut self, statement: &Statement<'_>) {
        match statement.expected() {
            Expected::AttributeName => {
                for slot in statement.def.attributes {
                    if !statement.has_word(slot.name) && !slot.name.ends_with("egmentSizes") {
                        let snippet = format!("{} = ${{1}}", slot.name);
                        self.push(Completion {
                            snippet: Some(snippet),
                            ..self.item(slot.name, CompletionKind::Attribute, summary(slot))
                        });
                    }
                }
                let discardable = DISCARDABLE.iter().filter(|_| !statement.is_in_properties());
                for &(name, summary) in discardable {
                    self.push(Completion {
                        snippet: Some(format!("{name} = ${{1}}")),
                        rank: 80,
                        ..self.item(name, CompletionKind::Attribute, summary.to_string())
                    });
                }
            }
            Expected::AttributeValue(slot) => self.attribute_values(slot, true),
            Expected::Case(slot) => self.attribute_values(slot, false),
            Expected::Operand(_) => self.values(Some(statement)),
            Expected::Type => self.types(statement),
            Expected::Element => self.elements(),
            Expected::Nothing if self.follows_type_mark() => self.types(statement),
            Expected::Nothing => {}
        }
        for keyword in statement.keywords() {
            let item = self.item(keyword, CompletionKind::Keyword, String::new());
            self.push(item);
        }
    }

    /// True after `:` and `->`, where formats that are functions, such as that of `func.func`, have
    /// types.
    fn follows_type_mark(&self) -> bool {
        let before = self.analysis.token_index(self.replace.start.saturating_sub(1));
        let tokens = self.analysis.tokens().get(before.saturating_sub(1)..before + 1);
        let last = tokens.into_iter().flatten().rfind(|t| t.span.end <= self.replace.start);
        last.is_some_and(|token| matches!(token.kind, TokenKind::Punct(b':') | TokenKind::Arrow))
    }

    fn item(&self, label: impl Into<String>, kind: CompletionKind, detail: String) -> Completion {
        Completion {
            label: label.into(),
            kind,
            detail,
            replace: self.replace,
            snippet: None,
            rank: 50,
            is_deprecated: false,
        }
    }

    /// Adds a completion if the word before the cursor may become it.
    fn push(&mut self, item: Completion) {
        let matches = |part: &str, whole: &str| {
            let mut rest = whole.chars().map(|c| c.to_ascii_lowercase());
            part.chars().all(|c| rest.any(|other| other == c.to_ascii_lowercase()))
        };
        if matches(self.prefix, &item.label) {
            self.items.push(item);
        }
    }

    fn ops(&mut self) {
        for dialect in stablo::registry().dialects() {
            let is_rare = matches!(dialect.namespace, "vhlo" | "mhlo");
            if is_rare && !self.prefix.starts_with(&dialect.namespace[..1]) {
                continue;
            }
            let rank = match dialect.namespace {
                "stablehlo" => 10,
                "func" | "chlo" => 20,
                _ => 30,
            };
            for def in dialect.ops {
                // `func` is the default dialect of functions' bodies, where `return` and `call`
                // suffice.
                if matches!(def.name, "func.return" | "func.call" | "builtin.module") {
                    self.op(def, def.mnemonic(), rank);
                    self.op(def, def.name, rank + 1);
                } else {
                    self.op(def, def.name, rank);
                }
            }
            for def in dialect.successors.iter().flat_map(|successor| successor.ops) {
                let name = format!("{}.{}", dialect.namespace, def.mnemonic());
                self.op(def, &name, rank);
            }
        }
    }

    fn op(&mut self, def: &'static OpDef, name: &str, rank: u32) {
        let doc = def.doc.trim().lines().next().unwrap_or_default().trim().to_string();
        let exact = name.starts_with(self.prefix) || def.mnemonic().starts_with(self.prefix);
        self.push(Completion {
            snippet: snippet(def, name),
            rank: if exact { rank } else { rank + 5 },
            is_deprecated: doc.to_ascii_lowercase().contains("deprecated"),
            ..self.item(name, CompletionKind::Op, doc)
        });
    }

    /// The ops that may combine elements, after `applies`.
    fn combining_ops(&mut self) {
        for dialect in stablo::registry().dialects() {
            let combines = |def: &&&OpDef| {
                def.operands.len() == 2 && def.results.len() == 1 && def.regions.is_empty()
            };
            for def in dialect.ops.iter().filter(combines) {
                self.op(def, def.name, if dialect.namespace == "stablehlo" { 10 } else { 30 });
            }
        }
        // Operands are not written there.
        self.items.iter_mut().for_each(|item| item.snippet = None);
    }

    fn top_level(&mut self) {
        let snippet = "func.func @${1:main}(${2:%arg0: tensor<${3:f32}>}) -> ${4:tensor<f32>} {\n  \
                       ${0}\n}";
        self.push(Completion {
            snippet: Some(snippet.to_string()),
            rank: 5,
            ..self.item("func.func", CompletionKind::Keyword, "A function".to_string())
        });
    }

    /// The values in scope, those of fitting types first, then the nearest.
    fn values(&mut self, statement: Option<&Statement<'_>>) {
        let analysis = self.analysis;
        let Some(scope) = analysis.scope_at(self.at) else { return };
        let mut visible = vec![scope];
        loop {
            let Some(last) = visible.last() else { return };
            let data = &analysis.map.scopes[*last as usize];
            match data.parent.filter(|_| !data.isolated) {
                Some(parent) => visible.push(parent),
                None => break,
            }
        }
        let slot = statement.and_then(|statement| match statement.expected() {
            Expected::Operand(slot) => Some((statement.def, slot)),
            _ => statement.operand_slot().map(|slot| (statement.def, slot)),
        });
        let like = statement.and_then(|statement| self.type_of_others(statement));
        let before = analysis.map.definitions.iter().enumerate().rev();
        let end = self.replace.start.max(1);
        let before = before.filter(|(_, d)| d.name.end < end);
        let mut found = 0;
        for (distance, (index, definition)) in before.enumerate() {
            if !visible.contains(&definition.scope) {
                continue;
            }
            // Results of an op are not visible in its regions.
            let is_result = !matches!(definition.values, Defined::Argument(_));
            let op = analysis.op_at(definition.name.start).filter(|_| is_result);
            if op.is_some_and(|op| op.span.end >= self.at) {
                continue;
            }
            let name = analysis.slice(definition.name);
            let values = analysis.values(index);
            // Values of ops that have become others, or could not be read, have no known type.
            let count = match definition.values {
                Defined::Results { count, .. } => count as usize,
                Defined::Argument(_) | Defined::Unread => 1,
            };
            for number in 0..count {
                let ty = values.get(number).map(|&value| analysis.module.ty(value));
                let fits = match (slot, ty) {
                    (Some((def, slot)), Some(ty)) => def.operands[slot].constraint.holds(ty),
                    (None, _) | (_, None) => true,
                };
                let is_like = like.as_ref().is_none_or(|like| ty == Some(like));
                let label = match count {
                    1 => name.to_string(),
                    _ => format!("{name}#{number}"),
                };
                let rank = u32::from(!fits) * 20_000 + u32::from(!is_like) * 10_000;
                self.push(Completion {
                    rank: rank + (distance as u32).min(9_999),
                    ..self.item(
                        label,
                        CompletionKind::Value,
                        ty.map(Type::to_string).unwrap_or_default(),
                    )
                });
                found += 1;
            }
            if found >= MAX_VALUES {
                self.is_cut = true;
                break;
            }
        }
    }

    /// The type of the operands that are written, if the op wants one type for all.
    fn type_of_others(&self, statement: &Statement<'_>) -> Option<Type> {
        let wants_one = [
            Trait::SameOperandsAndResultType,
            Trait::SameTypeOperands,
            Trait::Commutative,
            Trait::SameOperandsAndResultShape,
        ];
        let is_pair = statement.def.operands.len() > 1
            && wants_one.iter().any(|t| statement.def.has_trait(t))
            || matches!(statement.def.mnemonic(), "compare" | "subtract" | "divide" | "power");
        if !is_pair {
            return None;
        }
        statement.first_operand_type()
    }

    fn symbols(&mut self) {
        let analysis = self.analysis;
        for symbol in analysis.symbols() {
            let Some(op) = analysis.op(&analysis.map.ops[symbol.op]) else { continue };
            let label = analysis.slice(symbol.span);
            let label = match label.starts_with('@') {
                true => label.to_string(),
                false => format!("@{}", symbol_name(label)),
            };
            let is_module = op.has_trait(&Trait::SymbolTable);
            self.push(Completion {
                rank: if is_module { 60 } else { 50 },
                ..self.item(label, CompletionKind::Symbol, detail(op))
            });
        }
    }

    fn blocks(&mut self) {
        let scope = self.analysis.scope_at(self.at);
        for token in self.analysis.tokens() {
            let is_other = token.span.start != self.replace.start;
            if token.kind == TokenKind::Caret
                && is_other
                && self.analysis.scope_at(token.span.start) == scope
            {
                let name = self.analysis.slice(token.span);
                let item = self.item(name, CompletionKind::Block, String::new());
                self.push(item);
            }
        }
    }

    fn aliases(&mut self) {
        let sigil = &self.prefix[..1];
        // Aliases of locations are many, and made by machines.
        let others = self.analysis.aliases().iter();
        let others =
            others.filter(|(name, _)| name.starts_with(sigil) && !name.starts_with("#loc"));
        for (name, place) in others.take(MAX_VALUES) {
            let text = &self.analysis.text()[place.end as usize..];
            let line = text.lines().next().unwrap_or_default();
            let value: String = line.trim_start_matches([' ', '=']).chars().take(80).collect();
            let item = self.item(&**name, CompletionKind::Alias, value);
            self.push(Completion { rank: 10, ..item });
        }
    }

    fn dialect_types(&mut self) {
        for dialect in stablo::registry().dialects() {
            for def in dialect.types {
                let label = format!("!{}.{}", dialect.namespace, def.mnemonic);
                let doc = def.doc.trim().lines().next().unwrap_or_default().to_string();
                let item = self.item(label, CompletionKind::Type, doc);
                self.push(item);
            }
        }
    }

    /// The values that an attribute may have. In a dictionary, cases of enumerations are written as
    /// attributes.
    fn attribute_values(&mut self, slot: &'static AttrSlot, in_dictionary: bool) {
        if let Some(def) = enumeration(slot) {
            for (value, case) in def.cases {
                let label = match (in_dictionary, slot.constraint) {
                    (true, AttrConstraint::Enum(def)) => {
                        stablo::Attribute::enumeration(def, *value).to_string()
                    }
                    (true, _) => continue,
                    (false, _) => (*case).to_string(),
                };
                let item = self.item(label, CompletionKind::Case, slot.name.to_string());
                self.push(item);
            }
            return;
        }
        let values: &[(&str, &str)] = match slot.constraint {
            AttrConstraint::Bool => &[("true", "true"), ("false", "false")],
            AttrConstraint::Int(64)
            | AttrConstraint::NonNegative(64)
            | AttrConstraint::Positive(64) => &[("0 : i64", "${1:0} : i64")],
            AttrConstraint::Int(32)
            | AttrConstraint::NonNegative(32)
            | AttrConstraint::Positive(32) => &[("0 : i32", "${1:0} : i32")],
            AttrConstraint::I64Array => &[("array<i64: >", "array<i64: ${1}>")],
            AttrConstraint::BoolArray => &[("array<i1: >", "array<i1: ${1}>")],
            AttrConstraint::String => &[("\"\"", "\"${1}\"")],
            AttrConstraint::Elements | AttrConstraint::IntElements(_) => {
                &[("dense<>", "dense<${1}> : tensor<${2}>")]
            }
            AttrConstraint::Unit => &[("unit", "unit")],
            AttrConstraint::FlatSymbolRef | AttrConstraint::SymbolRef => {
                self.symbols();
                &[]
            }
            _ => &[],
        };
        for (label, snippet) in values {
            self.push(Completion {
                snippet: Some((*snippet).to_string()),
                ..self.item(*label, CompletionKind::Case, summary(slot))
            });
        }
        if let Some(default) = (slot.default_value)() {
            let label = crate::hover::shown(default);
            let item = self.item(label, CompletionKind::Case, "the default".to_string());
            self.push(item);
        }
    }

    /// Types: that of the first operand, then the others of the function.
    fn types(&mut self, statement: &Statement<'_>) {
        let known = statement.types_of_operands();
        if let Some(first) = known.first() {
            self.push(Completion {
                rank: 0,
                ..self.item(first.to_string(), CompletionKind::Type, "of the operand".to_string())
            });
            let signature: Vec<String> = known.iter().map(Type::to_string).collect();
            let result = first;
            self.push(Completion {
                rank: 1,
                ..self.item(
                    format!("({}) -> {result}", signature.join(", ")),
                    CompletionKind::Type,
                    "of operands and result".to_string(),
                )
            });
        }
        for (ty, rank) in self.types_around() {
            self.push(Completion { rank, ..self.item(ty, CompletionKind::Type, String::new()) });
        }
        let snippet = Some("tensor<${1}x${2:f32}>".to_string());
        let item = self.item("tensor<>", CompletionKind::Type, String::new());
        self.push(Completion { snippet, rank: 90, ..item });
    }

    /// The types of values before the cursor, nearest first.
    fn types_around(&self) -> Vec<(String, u32)> {
        let analysis = self.analysis;
        let before = analysis.map.definitions.partition_point(|d| d.name.start < self.at);
        let mut found: Vec<(&Type, u32)> = Vec::new();
        let nearest = (0..before).rev().take(MAX_VALUES);
        for value in nearest.flat_map(|index| analysis.values(index)) {
            let ty = analysis.module.ty(value);
            if found.iter().all(|(other, _)| *other != ty) {
                found.push((ty, 10 + found.len() as u32));
            }
        }
        found.into_iter().map(|(ty, rank)| (ty.to_string(), rank)).collect()
    }

    fn elements(&mut self) {
        const ELEMENTS: [&str; 16] = [
            "f32",
            "f64",
            "f16",
            "bf16",
            "i1",
            "i8",
            "i16",
            "i32",
            "i64",
            "ui8",
            "ui16",
            "ui32",
            "ui64",
            "complex<f32>",
            "f8E4M3FN",
            "f8E5M2",
        ];
        // The word before may have dimensions: `2x3x`.
        while let Some((size, rest)) = self.prefix.split_once('x') {
            if !size.bytes().all(|byte| byte.is_ascii_digit()) {
                break;
            }
            self.replace.start += size.len() as u32 + 1;
            self.prefix = rest;
        }
        for (rank, name) in (0..).zip(ELEMENTS) {
            self.push(Completion { rank, ..self.item(name, CompletionKind::Type, String::new()) });
        }
    }
}
