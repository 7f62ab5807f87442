//! Verifies an op against the traits of its declaration.

use super::Verifier;
use super::compatible::have_compatible_shapes;
use crate::ir::OpRef;
use crate::ods::{OpDef, Trait};
use crate::types::{Type, TypeKind};
use std::borrow::Cow;

impl<'m> Verifier<'m> {
    /// Checks the traits that do not depend on the op's regions.
    pub(super) fn check_traits(&mut self, op: OpRef<'m>, def: &'static OpDef) -> bool {
        for t in def.traits {
            let (label, message) = match t {
                Trait::Terminator => ("terminator", misplaced_terminator(op)),
                Trait::HasParent(parents) => ("trait-has-parent", wrong_parent(op, parents)),
                Trait::Symbol => ("symbol", bad_symbol(op)),
                Trait::SameOperandsAndResultType => ("trait-same-type", {
                    different(all_types(op), |a, b| {
                        same_element(a, b) && same_encoding(a, b) && have_compatible_shapes(a, b)
                    })
                    .map(|(a, b)| {
                        format!("operands and results must have one type, found {a} and {b}")
                    })
                }),
                Trait::SameOperandsAndResultElementType => ("trait-same-element-type", {
                    different(all_types(op), same_element).map(|(a, b)| {
                        format!(
                            "operands and results must have one element type, found {a} and {b}"
                        )
                    })
                }),
                Trait::SameOperandsAndResultShape => ("trait-same-shape", {
                    different(all_types(op), have_compatible_shapes).map(|(a, b)| {
                        format!("operands and results must have one shape, found {a} and {b}")
                    })
                }),
                Trait::SameTypeOperands => ("trait-same-type", {
                    different(op.operand_types(), |a, b| a == b)
                        .map(|(a, b)| format!("operands must have one type, found {a} and {b}"))
                }),
                Trait::AllTypesMatch(names) => {
                    ("trait-same-type", named_types_differ(op, def, names))
                }
                Trait::SingleBlock => ("region", several_blocks(op)),
                Trait::NoRegionArguments => ("region", region_arguments(op)),
                _ => continue,
            };
            if let Some(message) = message {
                return self.report(op.error(label, format!("`{}`: {message}", def.name)));
            }
        }
        true
    }

    /// Checks the traits that depend on the ops in the regions.
    pub(super) fn check_region_traits(&mut self, op: OpRef<'m>, def: &'static OpDef) {
        for t in def.traits {
            let Trait::ImplicitTerminator(name) = t else { continue };
            let blocks = op.regions().iter().flat_map(|&r| self.module.blocks(r));
            let wrong =
                blocks.filter_map(|&b| self.module.terminator(b)).find(|last| last.name() != *name);
            if let Some(last) = wrong {
                let message = format!(
                    "regions of `{}` must end with `{name}`, found `{}`",
                    def.name,
                    last.name()
                );
                self.report(last.error("terminator", message));
            }
        }
    }
}

fn all_types<'m>(op: OpRef<'m>) -> impl Iterator<Item = &'m Type> {
    op.operand_types().chain(op.result_types())
}

/// The first type that is not compatible with the first one.
fn different<'m>(
    mut types: impl Iterator<Item = &'m Type>,
    same: impl Fn(&Type, &Type) -> bool,
) -> Option<(&'m Type, &'m Type)> {
    let first = types.next()?;
    types.find(|t| !same(first, t)).map(|t| (first, t))
}

fn same_element(a: &Type, b: &Type) -> bool {
    a.element_type() == b.element_type()
}

fn same_encoding(a: &Type, b: &Type) -> bool {
    match (&**a, &**b) {
        (TypeKind::RankedTensor(a), TypeKind::RankedTensor(b)) => a.encoding == b.encoding,
        _ => true,
    }
}

fn misplaced_terminator(op: OpRef<'_>) -> Option<String> {
    let is_last = op.block().is_some() && op.next_in_block().is_none();
    (!is_last).then(|| "a terminator must be the last op of its block".into())
}

fn wrong_parent(op: OpRef<'_>, parents: &[&str]) -> Option<String> {
    let parent = op.parent();
    if parent.is_some_and(|p| parents.contains(&p.name())) {
        return None;
    }
    let found =
        parent.map_or(Cow::from("is at the top"), |p| format!("is in `{}`", p.name()).into());
    let names: Vec<String> = parents.iter().map(|p| format!("`{p}`")).collect();
    Some(format!("must be in {}, but {found}", names.join(" or ")))
}

fn bad_symbol(op: OpRef<'_>) -> Option<String> {
    // A module need not have a name; the attribute slot checks whether a name is required.
    op.symbol_name()?;
    let visibility = op.symbol_visibility().unwrap_or("public");
    if !["public", "private", "nested"].contains(&visibility) {
        return Some(format!(
            "the visibility must be public, private or nested, but is `{visibility}`"
        ));
    }
    if op.parent().is_some_and(|p| p.def().is_some() && !p.has_trait(&Trait::SymbolTable)) {
        return Some("defines a symbol, but does not stand in an op that holds symbols".into());
    }
    // A symbol with an empty region is a declaration, defined in another module.
    let declares = op.def().is_some_and(|d| !d.has_trait(&Trait::SymbolTable))
        && !op.regions().is_empty()
        && op.regions().iter().all(|&r| op.module().blocks(r).is_empty());
    (declares && visibility == "public").then(|| {
        let name = op.symbol_name().unwrap_or("");
        format!("@{name} has no body and is public; a declaration must be private")
    })
}

fn several_blocks(op: OpRef<'_>) -> Option<String> {
    let count = |&&r: &&crate::ir::RegionId| op.module().blocks(r).len() > 1;
    op.regions().iter().find(count).map(|&r| {
        let found = op.module().blocks(r).len();
        format!("a region must have at most one block, found {found}")
    })
}

fn region_arguments(op: OpRef<'_>) -> Option<String> {
    let module = op.module();
    let mut blocks = op.regions().iter().flat_map(|&r| module.blocks(r));
    blocks
        .any(|&b| !module.arguments(b).is_empty())
        .then(|| "a region must have no arguments".into())
}

/// The type of the single operand, result or typed attribute with the given name.
fn named_type<'m>(op: OpRef<'m>, def: &'static OpDef, name: &str) -> Option<Cow<'m, Type>> {
    if let Some(slot) = def.operands.iter().position(|s| s.name == name) {
        return Some(Cow::Borrowed(op.module().ty(*op.operand_slot(slot).first()?)));
    }
    if let Some(slot) = def.results.iter().position(|s| s.name == name) {
        return op.result_slot(slot).next().map(|i| Cow::Borrowed(op.result_type(i)));
    }
    Some(Cow::Owned(op.property(def.attribute_index(name)?)?.ty()))
}

fn named_types_differ(op: OpRef<'_>, def: &'static OpDef, names: &[&str]) -> Option<String> {
    let mut types = names.iter().filter_map(|name| Some((*name, named_type(op, def, name)?)));
    let (first_name, first) = types.next()?;
    types.find(|(_, ty)| *ty != first).map(|(name, ty)| {
        format!("`{first_name}` and `{name}` must have one type, found {first} and {ty}")
    })
}
