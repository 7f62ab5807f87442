//! Texts shown between those of the program: types that are not written, and what ops cost.

use crate::analysis::Analysis;
use crate::file::File;
use stablo::Span;
use stablo::ir::Type;
use stablo::syntax::{Defined, TokenKind};

/// A text to show at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The place.
    pub at: u32,
    /// The text.
    pub text: String,
    /// Kind.
    pub kind: HintKind,
}

/// Kind of a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintKind {
    /// A type that is not written.
    Type,
    /// Arithmetic of an op.
    Cost,
}

/// Ops that do less are not worth a hint.
const MIN_FLOPS: u64 = 1_000_000;

impl File {
    /// The hints in a range, in order.
    pub fn hints(&self, range: Span) -> Vec<Hint> {
        let mut hints = Vec::new();
        for section in self.sections() {
            if section.end < range.start || section.start > range.end {
                continue;
            }
            let analysis = self.analysis(section);
            let from = range.start.saturating_sub(section.start);
            let within = Span { start: from, end: range.end.saturating_sub(section.start) };
            let found = analysis.hints(within).into_iter();
            hints.extend(found.map(|hint| Hint { at: hint.at + section.start, ..hint }));
        }
        hints.sort_by_key(|hint| hint.at);
        hints
    }
}

impl Analysis {
    fn hints(&self, range: Span) -> Vec<Hint> {
        let mut hints = Vec::new();
        let first = self.map.ops.partition_point(|op| op.span.start < range.start);
        for extent in &self.map.ops[first..] {
            if extent.span.start > range.end {
                break;
            }
            let Some(op) = self.op(extent) else { continue };
            if op.num_results() == 0 || !op.regions().is_empty() {
                continue;
            }
            let written = self.slice(extent.span);
            let types: Vec<String> = op.result_types().map(Type::to_string).collect();
            let is_written = |ty: &String| written.contains(&**ty) || written.contains(" : ");
            if !types.iter().all(is_written) {
                let text = format!(": {}", types.join(", "));
                hints.push(Hint { at: extent.span.end, text, kind: HintKind::Type });
            }
        }
        for definition in &self.map.definitions {
            let Defined::Argument(value) = definition.values else { continue };
            if definition.name.start < range.start || definition.name.start > range.end {
                continue;
            }
            let next = self.tokens().get(self.token_index(definition.name.end));
            if next.is_some_and(|next| next.kind != TokenKind::Punct(b':')) {
                let text = format!(": {}", self.module.ty(value));
                let hint = Hint { at: definition.name.end, text, kind: HintKind::Type };
                if !hints.contains(&hint) {
                    hints.push(hint);
                }
            }
        }
        hints.extend(self.costs(range));
        hints
    }

    /// The arithmetic of the costly ops of the program.
    fn costs(&self, range: Span) -> Vec<Hint> {
        let costs = self.op_costs();
        let places = self.map.ops.iter().filter(|op| {
            range.start <= op.span.start && op.span.start <= range.end && op.op.is_some()
        });
        let hint = |extent: &stablo::syntax::OpExtent| {
            let flops = costs.get(&extent.op?)?.flops;
            (flops >= MIN_FLOPS).then(|| Hint {
                at: extent.span.end,
                text: format!("{} FLOP", scaled(flops)),
                kind: HintKind::Cost,
            })
        };
        places.filter_map(hint).collect()
    }
}

/// A number with three digits and a prefix: `12.3 M`.
pub(crate) fn scaled(number: u64) -> String {
    let (mut value, mut prefix) = (number as f64, 0);
    const PREFIXES: [&str; 6] = ["", "k", "M", "G", "T", "P"];
    while value >= 1000.0 && prefix + 1 < PREFIXES.len() {
        value /= 1000.0;
        prefix += 1;
    }
    match (prefix, value) {
        (0, _) => format!("{number}"),
        (_, value) if value >= 100.0 => format!("{value:.0} {}", PREFIXES[prefix]),
        (_, value) => format!("{value:.1} {}", PREFIXES[prefix]),
    }
}
