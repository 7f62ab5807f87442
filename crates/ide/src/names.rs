//! Names in a text: what each refers to, and where else that is used.

use crate::analysis::Analysis;
use crate::file::{File, moved};
use rustc_hash::FxHashMap;
use stablo::Span;
use stablo::ir::Trait;
use stablo::syntax::{Token, TokenKind};

/// The definition of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The name, sigil included.
    pub name: Span,
    /// The op or alias that defines it.
    pub whole: Span,
}

/// A place that names something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The name, sigil included.
    pub name: Span,
    /// True if it is the definition.
    pub is_definition: bool,
}

/// The thing that a token names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A value, by the index of its definition.
    Value(usize),
    /// A value that nothing readable defines: its name, and the index of a scope it is used in.
    UnreadValue(String, u32),
    /// A block: its name, and the index of its scope.
    Block(String, u32),
    /// A symbol, by its index in [`Analysis::symbols`].
    Symbol(usize),
    /// An alias of an attribute or type, sigil included.
    Alias(String),
}

/// An op that defines a symbol.
#[derive(Clone, Debug)]
pub(crate) struct SymbolDefinition {
    /// Index of the op's extent.
    pub op: usize,
    /// The name without `@` and quotes.
    pub name: String,
    /// The token of the name.
    pub span: Span,
    /// Index of the extent of the symbol table.
    pub table: Option<usize>,
}

/// The symbols of a text by place and by name: indices of their definitions.
#[derive(Default)]
pub(crate) struct SymbolIndex {
    by_span: FxHashMap<Span, usize>,
    /// By symbol table. The first of a name counts.
    by_name: FxHashMap<Option<usize>, FxHashMap<Box<str>, usize>>,
}

impl SymbolIndex {
    fn new(symbols: &[SymbolDefinition]) -> SymbolIndex {
        let mut index = SymbolIndex::default();
        for (number, symbol) in symbols.iter().enumerate() {
            index.by_span.entry(symbol.span).or_insert(number);
            let names = index.by_name.entry(symbol.table).or_default();
            names.entry(symbol.name.as_str().into()).or_insert(number);
        }
        index
    }

    /// Returns the symbol whose name is at a place.
    pub(crate) fn at(&self, name: Span) -> Option<usize> {
        self.by_span.get(&name).copied()
    }

    fn named(&self, table: Option<usize>, name: &str) -> Option<usize> {
        self.by_name.get(&table)?.get(name).copied()
    }
}

impl File {
    /// The definition of the name at byte `at`.
    pub fn definition(&self, at: u32) -> Option<Definition> {
        let (analysis, start, here) = self.analysis_at(at);
        let target = analysis.target(here)?;
        let name = analysis.definition_name(&target)?;
        let whole = analysis.extent_of(&target, name);
        Some(Definition { name: moved(name, start), whole: moved(whole, start) })
    }

    /// All places that name what is named at byte `at`, in order; empty if nothing is.
    pub fn references(&self, at: u32) -> Vec<Reference> {
        let (analysis, start, here) = self.analysis_at(at);
        let Some(target) = analysis.target(here) else { return Vec::new() };
        let references = analysis.references(&target).into_iter();
        references.map(|r| Reference { name: moved(r.name, start), ..r }).collect()
    }
}

/// The name of a symbol without `@` and quotes.
pub(crate) fn symbol_name(token: &str) -> &str {
    let name = token.strip_prefix('@').unwrap_or(token);
    name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(name)
}

impl Analysis {
    /// The thing named at byte `at`.
    pub(crate) fn target(&self, at: u32) -> Option<Target> {
        let (index, token) = self.token_at(at)?;
        // `%0#1`: the number belongs to the name.
        match index.checked_sub(1).map(|before| self.tokens()[before]) {
            Some(name) if is_result_number(&name, &token) => self.target_of(index - 1, name),
            _ => self.target_of(index, token),
        }
    }

    fn target_of(&self, index: usize, token: Token) -> Option<Target> {
        let text = self.slice(token.span);
        match token.kind {
            TokenKind::Percent => match self.definition_at(token.span) {
                Some(definition) => Some(Target::Value(definition)),
                None => {
                    let scope = self.scope_at(token.span.start)?;
                    let found = self.resolve(text, scope).map(Target::Value);
                    found.or_else(|| Some(Target::UnreadValue(text.to_string(), scope)))
                }
            },
            TokenKind::Caret => {
                Some(Target::Block(text.to_string(), self.scope_at(token.span.start)?))
            }
            TokenKind::Symbol => self.symbol_at(index, token).map(Target::Symbol),
            TokenKind::Hash | TokenKind::Exclaim => {
                let known = self.alias_definition(text).is_some();
                known.then(|| Target::Alias(text.to_string()))
            }
            // The name of a symbol in the generic form.
            TokenKind::String => self.symbol_index().at(token.span).map(Target::Symbol),
            _ => None,
        }
    }

    /// Where the name is defined.
    pub(crate) fn definition_name(&self, target: &Target) -> Option<Span> {
        match target {
            Target::Value(index) => Some(self.map.definitions[*index].name),
            Target::Symbol(index) => Some(self.symbols()[*index].span),
            Target::Alias(name) => self.alias_definition(name),
            Target::Block(..) | Target::UnreadValue(..) => {
                self.references(target).iter().find(|r| r.is_definition).map(|r| r.name)
            }
        }
    }

    /// The op or line that defines a target whose name is at `name`.
    fn extent_of(&self, target: &Target, name: Span) -> Span {
        let op = match target {
            Target::Symbol(index) => Some(self.symbols()[*index].op),
            Target::Value(_) | Target::UnreadValue(..) => self.op_index_at(name.start),
            Target::Block(..) => None,
            Target::Alias(_) => {
                let line = self.text()[name.start as usize..].lines().next().unwrap_or_default();
                return Span { start: name.start, end: name.start + line.len() as u32 };
            }
        };
        op.map_or(name, |op| self.map.ops[op].span)
    }

    /// All places that name a target, in order.
    pub(crate) fn references(&self, target: &Target) -> Vec<Reference> {
        let tokens = self.tokens();
        match target {
            Target::Value(index) => {
                let definition = &self.map.definitions[*index];
                let (text, name) = (self.slice(definition.name), definition.name);
                let scopes = self.scopes_of(*index);
                let end =
                    scopes.iter().map(|&scope| self.map.scopes[scope as usize].span.end).max();
                let start = self.map.scopes[definition.scope as usize].span.start.min(name.start);
                let from = self.token_index(start);
                let uses = (from..).zip(&tokens[from..]);
                let uses = uses.take_while(|(_, token)| Some(token.span.start) < end);
                let uses = uses.filter(|(_, token)| {
                    token.kind == TokenKind::Percent && self.slice(token.span) == text
                });
                let uses =
                    uses.filter(|(i, token)| self.target_of(*i, **token).as_ref() == Some(target));
                let reference = |(_, token): (usize, &Token)| Reference {
                    name: token.span,
                    is_definition: token.span == name,
                };
                uses.map(reference).collect()
            }
            Target::UnreadValue(text, scope) => {
                let within = self.isolated_around(*scope);
                let uses = tokens.iter().enumerate().filter(|(_, token)| {
                    token.kind == TokenKind::Percent
                        && within.start <= token.span.start
                        && token.span.end <= within.end
                        && self.slice(token.span) == text
                });
                let mut defined = false;
                let mut reference = |(index, token): (usize, &Token)| {
                    let is_definition = !defined && self.looks_like_definition(index);
                    defined |= is_definition;
                    Reference { name: token.span, is_definition }
                };
                uses.map(&mut reference).collect()
            }
            Target::Block(text, scope) => {
                let uses = tokens.iter().enumerate().filter(|(_, token)| {
                    token.kind == TokenKind::Caret
                        && self.slice(token.span) == text
                        && self.scope_at(token.span.start) == Some(*scope)
                });
                let reference = |(index, token): (usize, &Token)| Reference {
                    name: token.span,
                    is_definition: self.starts_line(index),
                };
                uses.map(reference).collect()
            }
            Target::Symbol(symbol) => {
                let symbol = &self.symbols()[*symbol];
                let uses = tokens.iter().enumerate().filter(|(index, token)| {
                    token.span == symbol.span
                        || token.kind == TokenKind::Symbol
                            && symbol_name(self.slice(token.span)) == symbol.name
                            && self.target_of(*index, **token).as_ref() == Some(target)
                });
                let reference = |(_, token): (usize, &Token)| Reference {
                    name: token.span,
                    is_definition: token.span == symbol.span,
                };
                uses.map(reference).collect()
            }
            Target::Alias(text) => {
                let definition = self.alias_definition(text);
                let uses = tokens.iter().enumerate().filter(|(index, token)| {
                    matches!(token.kind, TokenKind::Hash | TokenKind::Exclaim)
                        && self.slice(token.span) == text
                        && !(*index > 0 && is_result_number(&tokens[index - 1], token))
                });
                let reference = |(_, token): (usize, &Token)| Reference {
                    name: token.span,
                    is_definition: Some(token.span) == definition,
                };
                uses.map(reference).collect()
            }
        }
    }

    /// The range of the innermost isolated scope around a scope.
    pub(crate) fn isolated_around(&self, scope: u32) -> Span {
        let scopes = &self.map.scopes;
        let mut scope = scope as usize;
        while let (false, Some(parent)) = (scopes[scope].isolated, scopes[scope].parent) {
            scope = parent as usize;
        }
        match scopes[scope].parent {
            Some(_) => scopes[scope].span,
            None => Span { start: 0, end: self.text().len() as u32 },
        }
    }

    /// True if the value name at that token is followed by `=`, or by `:` in parentheses.
    fn looks_like_definition(&self, index: usize) -> bool {
        let tokens = self.tokens();
        let next = tokens.get(index + 1).map(|token| token.kind);
        let before = index.checked_sub(1).map(|before| tokens[before].kind);
        match next {
            Some(TokenKind::Punct(b'=')) => true,
            Some(TokenKind::Punct(b':')) => {
                matches!(before, Some(TokenKind::Punct(b'(' | b',')))
            }
            _ => false,
        }
    }

    /// True if no token stands before this one on its line.
    pub(crate) fn starts_line(&self, index: usize) -> bool {
        let start = self.tokens()[index].span.start as usize;
        let end = index.checked_sub(1).map_or(0, |before| self.tokens()[before].span.end as usize);
        index == 0 || self.text()[end..start].contains('\n')
    }

    /// The ops that define symbols, in order.
    pub(crate) fn symbols(&self) -> &[SymbolDefinition] {
        self.symbols.get_or_init(|| {
            let ops = self.map.ops.iter().enumerate();
            ops.filter_map(|(index, _)| self.symbol_of(index)).collect()
        })
    }

    /// The symbols by place and name.
    pub(crate) fn symbol_index(&self) -> &SymbolIndex {
        self.symbol_index.get_or_init(|| SymbolIndex::new(self.symbols()))
    }

    /// Counts the references to each symbol.
    pub(crate) fn symbol_references(&self) -> Vec<usize> {
        let mut counts = vec![0; self.symbols().len()];
        for (index, token) in self.tokens().iter().enumerate() {
            if token.kind == TokenKind::Symbol
                && let Some(symbol) = self.symbol_at(index, *token)
                && self.symbols()[symbol].span != token.span
            {
                counts[symbol] += 1;
            }
        }
        counts
    }

    /// The symbol that an op defines.
    fn symbol_of(&self, index: usize) -> Option<SymbolDefinition> {
        let extent = &self.map.ops[index];
        let op = self.op(extent);
        let written = self.slice(extent.name);
        let def = match op {
            Some(op) => op.def(),
            None => self.find_op(written),
        };
        let name = op.and_then(|op| op.symbol_name());
        if name.is_none() && !def.is_some_and(|def| def.has_trait(&Trait::Symbol)) {
            return None;
        }
        let from = self.token_index(extent.name.end);
        let tokens = self.tokens()[from..].iter();
        let mut within = tokens.take_while(|token| token.span.start < extent.span.end);
        let is_generic = written.starts_with('"');
        let token = within.find(|token| match token.kind {
            TokenKind::Symbol => {
                let found = symbol_name(self.slice(token.span));
                name.is_none_or(|name| name == found)
            }
            TokenKind::String if is_generic => name == Some(symbol_name(self.slice(token.span))),
            _ => false,
        })?;
        let mut table = self.parent(index);
        while let Some(above) = table {
            let def = self.op(&self.map.ops[above]).and_then(|op| op.def());
            let def = def.or_else(|| self.find_op(self.slice(self.map.ops[above].name)));
            if def.is_some_and(|def| def.has_trait(&Trait::SymbolTable)) {
                break;
            }
            table = self.parent(above);
        }
        let name = symbol_name(self.slice(token.span)).to_string();
        Some(SymbolDefinition { op: index, name, span: token.span, table })
    }

    /// The declaration of an op as it is written, perhaps in quotes or without its dialect.
    pub(crate) fn find_op(&self, written: &str) -> Option<&'static stablo::ir::OpDef> {
        let registry = stablo::registry();
        let name = written.trim_matches('"');
        registry
            .op(name)
            .or_else(|| registry.op(&format!("func.{name}")))
            .or_else(|| registry.op(&format!("builtin.{name}")))
    }

    /// Index of the symbol that a token refers to.
    fn symbol_at(&self, index: usize, token: Token) -> Option<usize> {
        let index_of = self.symbol_index();
        if let Some(found) = index_of.at(token.span) {
            return Some(found);
        }
        let name = symbol_name(self.slice(token.span));
        let tokens = self.tokens();
        let is_nested = index >= 2 && tokens[index - 1].kind == TokenKind::ColonColon;
        if is_nested {
            let outer = self.symbol_at(index - 2, tokens[index - 2])?;
            return index_of.named(Some(self.symbols()[outer].op), name);
        }
        // From the innermost symbol table outwards.
        let mut around = self.op_index_at(token.span.start);
        loop {
            if let Some(found) = index_of.named(around, name) {
                return Some(found);
            }
            around = self.parent(around?);
        }
    }

    /// Where an alias is defined, sigil included.
    pub(crate) fn alias_definition(&self, name: &str) -> Option<Span> {
        let aliases = self.aliases.get_or_init(|| {
            let tokens = self.tokens();
            let pairs = tokens.iter().enumerate().zip(tokens.iter().skip(1));
            let is_definition = |((index, token), next): &((usize, &Token), &Token)| {
                matches!(token.kind, TokenKind::Hash | TokenKind::Exclaim)
                    && next.kind == TokenKind::Punct(b'=')
                    && self.starts_line(*index)
            };
            let named = |((_, token), _): ((usize, &Token), &Token)| {
                (Box::from(self.slice(token.span)), token.span)
            };
            let mut all: Vec<(Box<str>, Span)> = pairs.filter(is_definition).map(named).collect();
            all.sort_by(|a, b| a.0.cmp(&b.0));
            all.dedup_by(|a, b| a.0 == b.0);
            all
        });
        let found = aliases.binary_search_by(|(alias, _): &(Box<str>, Span)| (**alias).cmp(name));
        found.ok().map(|index| aliases[index].1)
    }

    /// Names of aliases with their definitions, in alphabetical order.
    pub(crate) fn aliases(&self) -> &[(Box<str>, Span)] {
        self.alias_definition("");
        self.aliases.get().map_or(&[], |aliases| aliases)
    }
}

/// True if a token is the number of a result after the name of several.
pub(crate) fn is_result_number(name: &Token, token: &Token) -> bool {
    name.kind == TokenKind::Percent
        && token.kind == TokenKind::Hash
        && name.span.end == token.span.start
}
