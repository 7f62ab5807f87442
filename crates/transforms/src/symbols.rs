//! Symbol references in attributes of ops.

use mlir::attrs::{AttrKind, Name};
use mlir::{Attribute, Module, OpId, OpRef, RegionId};
use std::collections::{HashMap, HashSet};

/// Names of referenced symbols.
#[derive(Default)]
pub(crate) struct SymbolUses(HashSet<Name>);

impl SymbolUses {
    /// The symbols referenced from outside of `candidates`, from candidates so referenced, and so
    /// on transitively.
    pub(crate) fn reachable(module: &Module, candidates: &[OpId]) -> SymbolUses {
        let mut bodies: HashMap<Name, Vec<OpId>> = HashMap::new();
        for &op in candidates {
            if let Some(name) = module.op(op).symbol_name() {
                bodies.entry(name.into()).or_default().push(op);
            }
        }
        let candidates: HashSet<OpId> = candidates.iter().copied().collect();
        let mut uses = SymbolUses::default();
        let mut found = Vec::new();
        let mut roots = vec![module.top().id()];
        while let Some(root) = roots.pop() {
            walk_without(module, root, &candidates, &mut |op| collect(op, &mut found));
            for name in found.drain(..) {
                if uses.0.insert(name.clone()) {
                    roots.extend(bodies.get(&name).into_iter().flatten());
                }
            }
        }
        uses
    }

    /// True if a symbol is referenced.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}

/// Visits an op and everything nested in it, except the ops in `without`.
fn walk_without(
    module: &Module,
    root: OpId,
    without: &HashSet<OpId>,
    visit: &mut dyn FnMut(OpRef<'_>),
) {
    let mut stack = vec![root];
    while let Some(op) = stack.pop() {
        let op = module.op(op);
        visit(op);
        let blocks = op.regions().iter().flat_map(|&region: &RegionId| module.blocks(region));
        let ops = blocks.flat_map(|&block| module.ops(block)).map(OpRef::id);
        stack.extend(ops.filter(|op| !without.contains(op)));
    }
}

/// Adds the symbols that the attributes of an op name, with repetitions.
pub(crate) fn collect(op: OpRef<'_>, found: &mut Vec<Name>) {
    let attributes = op.properties().iter().flatten().chain(op.attributes().iter().map(|(_, a)| a));
    attributes.for_each(|a| collect_in(a, found));
}

fn collect_in(attribute: &Attribute, found: &mut Vec<Name>) {
    match &**attribute {
        AttrKind::Symbol { root, nested } => {
            found.push(root.clone());
            found.extend(nested.iter().cloned());
        }
        AttrKind::Array(elements) => elements.iter().for_each(|a| collect_in(a, found)),
        AttrKind::Dictionary(entries) => entries.iter().for_each(|(_, a)| collect_in(a, found)),
        AttrKind::Dialect(dialect) => {
            dialect.params.iter().flatten().for_each(|a| collect_in(a, found))
        }
        _ => {}
    }
}
