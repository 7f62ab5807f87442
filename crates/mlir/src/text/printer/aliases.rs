//! Aliases for locations, affine maps and attributes and types chosen by dialects, defined at the
//! top or the end of the text.

use super::Printer;
use super::types::LONG_TUPLE;
use crate::attrs::{AttrKind, Attribute, LocationKind};
use crate::ods::{ParamKind, Registry};
use crate::text::MAX_PARTS;
use crate::types::{Type, TypeKind};
use rustc_hash::FxHashMap;

/// The aliases of a text.
#[derive(Default)]
pub(super) struct Aliases {
    by_attribute: FxHashMap<Attribute, usize>,
    /// Name, attribute, and true if the definition is at the end.
    definitions: Vec<(String, Attribute, bool)>,
}

struct AliasUse {
    attribute: Attribute,
    word: String,
    depth: usize,
    deferred: bool,
}

/// The first pass over the text, which collects everything that has an alias, in order of first
/// occurrence.
pub(super) struct Collector {
    registry: &'static Registry,
    found: Vec<AliasUse>,
    positions: FxHashMap<Attribute, usize>,
    visited: usize,
}

impl Collector {
    pub(super) fn new(registry: &'static Registry) -> Collector {
        Collector { registry, found: Vec::new(), positions: FxHashMap::default(), visited: 0 }
    }

    /// The aliases with their names.
    pub(super) fn finish(self) -> Aliases {
        let mut found = self.found;
        // Leaves first, so that definitions only refer to earlier ones; then by word, in order of
        // occurrence.
        found.sort_by(|a, b| (a.depth, &a.word).cmp(&(b.depth, &b.word)));
        let mut counts: FxHashMap<String, usize> = FxHashMap::default();
        let mut aliases = Aliases::default();
        for one in found {
            let count = counts.entry(one.word.clone()).or_insert(0);
            let name = match *count {
                0 => one.word,
                n if one.word.ends_with(|c: char| c.is_ascii_digit()) => {
                    format!("{}_{n}", one.word)
                }
                n => format!("{}{n}", one.word),
            };
            *count += 1;
            aliases.by_attribute.insert(one.attribute.clone(), aliases.definitions.len());
            aliases.definitions.push((name, one.attribute, one.deferred));
        }
        aliases
    }

    /// Visits the aliases in a type; returns their nesting depth.
    fn ty(&mut self, ty: &Type) -> usize {
        if !self.may_visit() {
            return 0;
        }
        match &**ty {
            TypeKind::RankedTensor(tensor) => {
                let encoding =
                    tensor.encoding.as_ref().map_or(0, |encoding| self.attribute(encoding, false));
                encoding.max(self.ty(&tensor.element))
            }
            TypeKind::Tuple(types) if types.len() > LONG_TUPLE => {
                self.attribute(&Attribute::from(ty.clone()), false)
            }
            TypeKind::Tuple(types) => self.types(types),
            TypeKind::Function { inputs, results } => self.types(inputs).max(self.types(results)),
            TypeKind::MemRef { element, layout, memory_space, .. } => {
                let parameters = layout.iter().chain(memory_space);
                parameters
                    .map(|a| self.attribute(a, false))
                    .max()
                    .unwrap_or(0)
                    .max(self.ty(element))
            }
            _ => 0,
        }
    }

    fn types(&mut self, types: &[Type]) -> usize {
        types.iter().map(|ty| self.ty(ty)).max().unwrap_or(0)
    }

    /// Resets the counter for the next op, unless the limit was exceeded.
    pub(super) fn next_op(&mut self) {
        if self.visited <= MAX_PARTS {
            self.visited = 0;
        }
    }

    /// Counts a type or attribute; false if the limit is exceeded, beyond which printing stops,
    /// too.
    fn may_visit(&mut self) -> bool {
        self.visited += 1;
        self.visited <= MAX_PARTS
    }

    /// Visits an attribute and its nested attributes; returns the nesting depth of their aliases.
    pub(super) fn attribute(&mut self, attribute: &Attribute, deferred: bool) -> usize {
        if let Some(&at) = self.positions.get(attribute) {
            if self.found[at].deferred && !deferred {
                self.found[at].deferred = false;
                self.children(attribute, false);
            }
            return self.found[at].depth + 1;
        }
        let word = match &**attribute {
            AttrKind::AffineMap(_) => Some("map".to_string()),
            AttrKind::IntegerSet(_) => Some("set".to_string()),
            AttrKind::Location(_) => Some("loc".to_string()),
            AttrKind::Distinct { .. } => Some("distinct".to_string()),
            AttrKind::Dialect(a) => self
                .registry
                .dialect(a.def.dialect)
                .and_then(|d| d.alias_for)
                .and_then(|alias| alias(attribute)),
            AttrKind::Type(ty) if matches!(&**ty, TypeKind::Tuple(types) if types.len() > LONG_TUPLE) => {
                Some("tuple".to_string())
            }
            _ => None,
        };
        let Some(word) = word else { return self.children(attribute, deferred) };
        let at = self.found.len();
        self.positions.insert(attribute.clone(), at);
        self.found.push(AliasUse { attribute: attribute.clone(), word, depth: 0, deferred });
        let depth = self.children(attribute, deferred);
        self.found[at].depth = depth;
        depth + 1
    }

    fn children(&mut self, attribute: &Attribute, deferred: bool) -> usize {
        if !self.may_visit() {
            return 0;
        }
        let mut depth = 0;
        let mut visit = |a: &Attribute| depth = self.attribute(a, deferred).max(depth);
        match &**attribute {
            AttrKind::Array(elements) => elements.iter().for_each(visit),
            AttrKind::Dictionary(d) => d.iter().for_each(|(_, a)| visit(a)),
            AttrKind::Distinct { value, .. } => visit(value),
            AttrKind::Dialect(a) => {
                let written_out = |i: usize| {
                    a.def.params.get(i).is_some_and(|p| matches!(p.kind, ParamKind::AffineMap))
                };
                let params = a.params.iter().enumerate().filter(|&(i, _)| !written_out(i));
                params.filter_map(|(_, p)| p.as_ref()).for_each(visit);
            }
            AttrKind::Location(kind) => match kind {
                LocationKind::Unknown | LocationKind::File { .. } => {}
                // An unknown child is not printed.
                LocationKind::Named { child, .. } => {
                    if !matches!(child.as_location(), Some(LocationKind::Unknown)) {
                        visit(child);
                    }
                }
                LocationKind::CallSite { callee, caller } => {
                    visit(callee);
                    visit(caller);
                }
                LocationKind::Fused { metadata, locations } => {
                    metadata.iter().for_each(&mut visit);
                    locations.iter().for_each(visit);
                }
            },
            AttrKind::Type(ty) => {
                depth = match &**ty {
                    TypeKind::Tuple(types) => self.types(types),
                    _ => self.ty(ty),
                }
            }
            _ => {}
        }
        depth
    }
}

/// The sigil of an attribute's or type's alias.
fn sigil(attribute: &Attribute) -> char {
    if attribute.as_type().is_some() { '!' } else { '#' }
}

impl Printer<'_> {
    /// Writes `#alias` if the attribute has one. In the first pass, collects the attribute instead.
    pub(super) fn alias(&mut self, attribute: &Attribute) -> bool {
        if let Some(collector) = &mut self.collector {
            collector.attribute(attribute, false);
            return true;
        }
        if self.aliases.definitions.is_empty() {
            return false;
        }
        let Some(&at) = self.aliases.by_attribute.get(attribute) else { return false };
        self.out.push(sigil(attribute));
        self.out.push_str(&self.aliases.definitions[at].0);
        true
    }

    /// Writes the alias definitions at the top, or those at the end.
    pub(super) fn alias_definitions(&mut self, deferred: bool) {
        for i in 0..self.aliases.definitions.len() {
            if self.aliases.definitions[i].2 != deferred {
                continue;
            }
            let (name, attribute, _) = self.aliases.definitions[i].clone();
            self.next_op();
            self.out.push(sigil(&attribute));
            self.write(&name);
            self.write(" = ");
            self.attribute_in_full(&attribute);
            self.write("\n");
        }
    }
}
