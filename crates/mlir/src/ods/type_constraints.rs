//! Type constraints of operands and results, as data.

use crate::types::{DYNAMIC, Type, TypeKind};

/// A named set of types.
pub struct TypeConstraint {
    /// A description of the set, which completes "must be …".
    pub summary: &'static str,
    /// Membership.
    pub rule: TypeRule,
}

/// Membership in a set of types.
#[derive(Clone, Copy)]
pub enum TypeRule {
    /// Every type.
    Any,
    /// Exactly one type, which the pretty form may omit.
    Exactly(fn() -> Type),
    /// A predicate.
    Is(fn(&Type) -> bool),
    /// Tensors.
    Tensor(TensorRule),
    /// A union.
    AnyOf(&'static [&'static TypeConstraint]),
    /// Tuples, nested or not, whose leaves are in the set.
    TupleOf(&'static TypeConstraint),
}

/// A set of tensors.
#[derive(Clone, Copy)]
pub struct TensorRule {
    /// Element types; an empty list allows all.
    pub elements: &'static [&'static ElementSet],
    /// Ranks.
    pub ranks: Ranks,
    /// All dimensions must be static.
    pub static_shape: bool,
    /// Any further condition.
    pub also: Option<fn(&Type) -> bool>,
}

impl TensorRule {
    /// Ranked tensors with the given element types.
    pub const fn ranked(elements: &'static [&'static ElementSet]) -> TensorRule {
        TensorRule { elements, ranks: Ranks::Ranked, static_shape: false, also: None }
    }
}

/// Allowed ranks of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranks {
    /// Any rank, or unranked.
    Any,
    /// Any rank, but ranked.
    Ranked,
    /// One of the given ranks.
    OneOf(&'static [usize]),
}

/// A named set of element types.
pub struct ElementSet {
    /// The name of the set, such as "float".
    pub name: &'static str,
    /// Membership.
    pub contains: fn(&Type) -> bool,
}

impl TypeConstraint {
    /// Every type.
    pub const ANY: TypeConstraint = TypeConstraint { summary: "any type", rule: TypeRule::Any };

    /// True if `ty` is in the set.
    pub fn holds(&self, ty: &Type) -> bool {
        match self.rule {
            TypeRule::Any => true,
            TypeRule::Exactly(make) => *ty == make(),
            TypeRule::Is(predicate) => predicate(ty),
            TypeRule::AnyOf(sets) => sets.iter().any(|s| s.holds(ty)),
            TypeRule::TupleOf(leaf) => match &**ty {
                TypeKind::Tuple(types) => types.iter().all(|t| leaf.holds(t) || self.holds(t)),
                _ => false,
            },
            TypeRule::Tensor(rule) => {
                let (element, shape) = match &**ty {
                    TypeKind::RankedTensor(t) => (&t.element, Some(&t.shape)),
                    TypeKind::UnrankedTensor(e) => (e, None),
                    _ => return false,
                };
                let rank_fits = match (rule.ranks, shape) {
                    (Ranks::Any, _) | (Ranks::Ranked, Some(_)) => true,
                    (Ranks::OneOf(ranks), Some(s)) => ranks.contains(&s.len()),
                    (_, None) => false,
                };
                rank_fits
                    && (!rule.static_shape
                        || shape.is_some_and(|s| s.iter().all(|&d| d != DYNAMIC)))
                    && (rule.elements.is_empty()
                        || rule.elements.iter().any(|e| (e.contains)(element)))
                    && rule.also.is_none_or(|also| also(ty))
            }
        }
    }
}
