//! Outlines: functions and other ops with names or regions.

use crate::analysis::Analysis;
use crate::file::{File, moved};
use stablo::Span;
use stablo::ir::{OpRef, Type};

/// An entry of the outline of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Name without `@`; the op's name for ops that define no symbol.
    pub name: String,
    /// Signature or result types.
    pub detail: String,
    /// Kind.
    pub kind: SymbolKind,
    /// The op.
    pub span: Span,
    /// Its name.
    pub selection: Span,
    /// Entries within.
    pub children: Vec<Symbol>,
}

/// Kind of an entry of an outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// A module.
    Module,
    /// A function.
    Function,
    /// Another op that defines a symbol.
    Object,
    /// An op with regions.
    Region,
}

impl File {
    /// The outline: modules, functions, and ops with regions in them.
    pub fn symbols(&self) -> Vec<Symbol> {
        let mut found = Vec::new();
        for section in self.sections() {
            found.extend(self.analysis(section).outline(section.start));
        }
        found
    }
}

impl Analysis {
    fn outline(&self, start: u32) -> Vec<Symbol> {
        // Open entries with the end of their op.
        let mut open: Vec<(u32, Symbol)> = Vec::new();
        let mut roots = Vec::new();
        fn close(open: &mut Vec<(u32, Symbol)>, roots: &mut Vec<Symbol>) {
            if let Some((_, symbol)) = open.pop() {
                open.last_mut().map_or(roots, |(_, parent)| &mut parent.children).push(symbol);
            }
        }
        let mut symbols = self.symbols().iter().peekable();
        for (index, extent) in self.map.ops.iter().enumerate() {
            let symbol = symbols.next_if(|symbol| symbol.op == index);
            let op = self.op(extent);
            let has_regions = op.is_some_and(|op| !op.regions().is_empty());
            if symbol.is_none() && !has_regions {
                continue;
            }
            while open.last().is_some_and(|(end, _)| *end <= extent.span.start) {
                close(&mut open, &mut roots);
            }
            let written = self.slice(extent.name).trim_matches('"');
            let kind = match (written, symbol) {
                ("module" | "builtin.module", _) => SymbolKind::Module,
                ("func.func", Some(_)) => SymbolKind::Function,
                (_, Some(_)) => SymbolKind::Object,
                (_, None) => SymbolKind::Region,
            };
            let entry = Symbol {
                name: symbol.map_or_else(|| written.to_string(), |symbol| symbol.name.clone()),
                detail: op.map(detail).unwrap_or_default(),
                kind,
                span: moved(extent.span, start),
                selection: moved(symbol.map_or(extent.name, |symbol| symbol.span), start),
                children: Vec::new(),
            };
            open.push((extent.span.end, entry));
        }
        while !open.is_empty() {
            close(&mut open, &mut roots);
        }
        roots
    }
}

/// The signature of a function, or the types of results.
pub(crate) fn detail(op: OpRef<'_>) -> String {
    match op.attr("function_type").and_then(|ty| ty.as_type()) {
        Some(ty) => ty.to_string(),
        None => op.result_types().map(Type::to_string).collect::<Vec<_>>().join(", "),
    }
}
