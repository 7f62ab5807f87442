//! A program as far as it can be read, with the places of its parts.

use crate::hints::scaled;
use crate::names::{SymbolDefinition, SymbolIndex};
use rustc_hash::FxHashMap;
use stablo::ir::{OpId, OpRef, Value};
use stablo::syntax::{Defined, OpExtent, SourceMap, Token, TokenKind, tokens};
use stablo::{Diagnostics, LoadOptions, Module, Source, Span};
use std::cell::OnceCell;

/// The work of an op in a run of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpCost {
    /// Floating-point operations of all runs of it.
    pub flops: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// How often it runs.
    pub runs: u64,
}

/// A section of a file, read and verified.
pub(crate) struct Analysis {
    pub module: Module,
    pub map: SourceMap,
    pub diagnostics: Diagnostics,
    tokens: OnceCell<Vec<Token>>,
    parents: OnceCell<Vec<Option<u32>>>,
    definitions: OnceCell<FxHashMap<Span, u32>>,
    by_name: OnceCell<FxHashMap<u32, FxHashMap<Box<str>, u32>>>,
    lints: OnceCell<Diagnostics>,
    costs: OnceCell<FxHashMap<OpId, OpCost>>,
    pub(crate) symbols: OnceCell<Vec<SymbolDefinition>>,
    pub(crate) symbol_index: OnceCell<SymbolIndex>,
    /// Aliases in alphabetical order, with the place of their definition.
    pub(crate) aliases: OnceCell<Vec<(Box<str>, Span)>>,
}

impl Analysis {
    pub(crate) fn new(source: Source, allow_unregistered: bool) -> Analysis {
        let options = LoadOptions::default()
            .strict(true)
            .allow_unregistered_dialects(allow_unregistered)
            .source_map(true);
        let loaded = options.load_source(source);
        Analysis {
            module: loaded.module,
            map: loaded.source_map.map(|map| *map).unwrap_or_default(),
            diagnostics: loaded.diagnostics,
            tokens: OnceCell::new(),
            parents: OnceCell::new(),
            definitions: OnceCell::new(),
            by_name: OnceCell::new(),
            lints: OnceCell::new(),
            costs: OnceCell::new(),
            symbols: OnceCell::new(),
            symbol_index: OnceCell::new(),
            aliases: OnceCell::new(),
        }
    }

    /// The text of the section.
    pub(crate) fn text(&self) -> &str {
        self.module.source().map_or("", |source| source.text())
    }

    /// The text of a span; empty if it is out of range.
    pub(crate) fn slice(&self, span: Span) -> &str {
        self.text().get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// True if the program has no errors.
    pub(crate) fn is_valid(&self) -> bool {
        !stablo::has_errors(&self.diagnostics)
    }

    /// Findings of the lints; none if the program has errors.
    pub(crate) fn lints(&self) -> &Diagnostics {
        self.lints.get_or_init(|| match self.is_valid() {
            true => stablo::lint(&self.module),
            false => Diagnostics::new(),
        })
    }

    /// The costs of ops in a run of `main`, or of the only function. Empty if there is no such
    /// function, or the program has errors or is long: all of it is prepared for that.
    pub(crate) fn op_costs(&self) -> &FxHashMap<OpId, OpCost> {
        const MAX_BYTES: usize = 1 << 20;
        self.costs.get_or_init(|| {
            let is_short = self.text().len() <= MAX_BYTES;
            let cost = (is_short && self.is_valid()).then(|| stablo::cost(&self.module, "main"));
            match cost {
                Some(Ok(cost)) => {
                    let of = |cost: &stablo::OpCost| OpCost {
                        flops: cost.work.flops,
                        bytes: cost.work.bytes,
                        runs: cost.runs,
                    };
                    cost.ops.iter().map(|cost| (cost.op, of(cost))).collect()
                }
                Some(Err(_)) | None => FxHashMap::default(),
            }
        })
    }

    /// The cost of an op, for people.
    pub(crate) fn cost_of(&self, op: OpId) -> Option<String> {
        let cost = self.op_costs().get(&op)?;
        let mut text = format!("{} FLOP, {} bytes moved", scaled(cost.flops), scaled(cost.bytes));
        if cost.runs != 1 {
            text.push_str(&format!(", in {} runs", scaled(cost.runs)));
        }
        Some(text)
    }

    /// All tokens.
    pub(crate) fn tokens(&self) -> &[Token] {
        self.tokens.get_or_init(|| tokens(self.text()).collect())
    }

    /// Index of the first token that ends after byte `at`.
    pub(crate) fn token_index(&self, at: u32) -> usize {
        self.tokens().partition_point(|token| token.span.end <= at)
    }

    /// The token that holds or touches byte `at`; names are preferred to punctuation.
    pub(crate) fn token_at(&self, at: u32) -> Option<(usize, Token)> {
        let tokens = self.tokens();
        let index = self.token_index(at);
        let holds = tokens.get(index).filter(|token| token.span.start <= at);
        let before = index.checked_sub(1).and_then(|before| Some((before, tokens.get(before)?)));
        let before = before.filter(|(_, token)| token.span.end == at);
        let is_name = |token: &Token| !matches!(token.kind, TokenKind::Punct(_));
        match (holds, before) {
            (Some(token), Some((i, other))) if !is_name(token) && is_name(other) => {
                Some((i, *other))
            }
            (Some(token), _) => Some((index, *token)),
            (None, Some((i, other))) => Some((i, *other)),
            (None, None) => None,
        }
    }

    /// Index of the op around each op.
    fn parents(&self) -> &[Option<u32>] {
        self.parents.get_or_init(|| {
            let mut open: Vec<u32> = Vec::new();
            let parent = |(index, op): (u32, &OpExtent)| {
                let is_over = |last: &mut u32| {
                    let last = &self.map.ops[*last as usize].span;
                    last.end <= op.span.start
                };
                while open.pop_if(is_over).is_some() {}
                let parent = open.last().copied();
                open.push(index);
                parent
            };
            (0..).zip(&self.map.ops).map(parent).collect()
        })
    }

    /// Index of the innermost op that holds or touches byte `at`.
    pub(crate) fn op_index_at(&self, at: u32) -> Option<usize> {
        let after = self.map.ops.partition_point(|op| op.span.start <= at);
        let mut index = Some(after.checked_sub(1)?);
        while let Some(found) = index {
            if self.map.ops[found].span.end >= at {
                return Some(found);
            }
            index = self.parents()[found].map(|parent| parent as usize);
        }
        None
    }

    /// Index of the op around an op.
    pub(crate) fn parent(&self, op: usize) -> Option<usize> {
        self.parents()[op].map(|parent| parent as usize)
    }

    /// The innermost op that holds or touches byte `at`.
    pub(crate) fn op_at(&self, at: u32) -> Option<&OpExtent> {
        self.op_index_at(at).map(|index| &self.map.ops[index])
    }

    /// The op of an extent, if it was read and is still part of the module.
    pub(crate) fn op(&self, extent: &OpExtent) -> Option<OpRef<'_>> {
        let op = extent.op?;
        self.module.is_attached(op).then(|| self.module.op(op))
    }

    /// Index of the op with that name token.
    pub(crate) fn op_named_at(&self, name: Span) -> Option<usize> {
        let index = self.op_index_at(name.start)?;
        (self.map.ops[index].name == name).then_some(index)
    }

    /// The innermost scope that holds byte `at`.
    pub(crate) fn scope_at(&self, at: u32) -> Option<u32> {
        let scopes = &self.map.scopes;
        let after = scopes.partition_point(|scope| scope.span.start < at || scope.parent.is_none());
        let mut index = Some(after.checked_sub(1)? as u32);
        while let Some(found) = index {
            let scope = &scopes[found as usize];
            if scope.span.end > at || scope.parent.is_none() {
                return Some(found);
            }
            index = scope.parent;
        }
        None
    }

    /// Index of the first definition whose name is at a span. The arguments of several regions may
    /// be written once.
    pub(crate) fn definition_at(&self, name: Span) -> Option<usize> {
        let definitions = self.definitions.get_or_init(|| {
            let mut first = FxHashMap::default();
            for (index, definition) in (0..).zip(&self.map.definitions) {
                first.entry(definition.name).or_insert(index);
            }
            first
        });
        definitions.get(&name).map(|&index| index as usize)
    }

    /// The scopes in which the name of a definition is visible.
    pub(crate) fn scopes_of(&self, definition: usize) -> Vec<u32> {
        let name = self.map.definitions[definition].name;
        // Regions that share arguments follow each other.
        let all = self.map.definitions[definition..].iter();
        all.filter(|other| other.name == name).map(|other| other.scope).collect()
    }

    /// Index of the definition that a name, `%` included, refers to in a scope.
    pub(crate) fn resolve(&self, name: &str, scope: u32) -> Option<usize> {
        let by_name = self.by_name.get_or_init(|| {
            let mut scopes: FxHashMap<u32, FxHashMap<Box<str>, u32>> = FxHashMap::default();
            for (index, definition) in (0..).zip(&self.map.definitions) {
                let names = scopes.entry(definition.scope).or_default();
                names.entry(self.slice(definition.name).into()).or_insert(index);
            }
            scopes
        });
        let mut scope = Some(scope);
        while let Some(index) = scope {
            if let Some(&found) = by_name.get(&index).and_then(|names| names.get(name)) {
                return self.definition_at(self.map.definitions[found as usize].name);
            }
            let data = self.map.scopes.get(index as usize)?;
            scope = data.parent.filter(|_| !data.isolated);
        }
        None
    }

    /// The values that a definition names; empty if they could not be read.
    pub(crate) fn values(&self, definition: usize) -> Vec<Value> {
        match self.map.definitions[definition].values {
            Defined::Results { op, first, count } if self.module.is_attached(op) => {
                let op = self.module.op(op);
                let results = first as usize..(first + count) as usize;
                results.filter(|&i| i < op.num_results()).map(|i| op.result(i)).collect()
            }
            Defined::Results { .. } | Defined::Unread => Vec::new(),
            Defined::Argument(value) => vec![value],
        }
    }
}
