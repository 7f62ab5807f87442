//! Rewriting: patterns, the [`Rewriter`] through which they change the IR, and two drivers.
//!
//! [`greedy`] applies patterns, folds and removes dead code up to a fixed point; [`conversion`]
//! converts ops that are illegal in a target into legal ones, and may change types on the way.

pub mod conversion;
pub mod effects;
pub mod fold;
pub mod greedy;
mod rewriter;

pub use fold::{FoldFn, Folded};
pub use rewriter::{NewOp, Rewriter};

use crate::ir::OpId;
use crate::ods::{OpDef, Registry, Trait};
use std::collections::HashMap;

/// Tries to rewrite an op. Returns `None`, without having changed anything, if the pattern does not
/// apply.
pub type Rewrite = fn(&mut Rewriter<'_>, OpId) -> Option<()>;

/// A named rewrite and the ops that it may apply to.
#[derive(Clone, Copy)]
pub struct RewritePattern {
    /// Name in statistics and diagnostics, in kebab case.
    pub name: &'static str,
    /// The ops that it may apply to.
    pub root: Root,
    /// Patterns with greater benefit are tried first; among equals, the list order decides.
    pub benefit: u16,
    /// The rewrite.
    pub rewrite: Rewrite,
}

/// The ops that a pattern may apply to.
#[derive(Clone, Copy)]
pub enum Root {
    /// Ops of one declaration.
    Op(&'static OpDef),
    /// Ops with a trait.
    Trait(Trait),
    /// All ops.
    Any,
}

impl RewritePattern {
    /// A pattern for ops of one declaration, of benefit 1.
    pub const fn new(name: &'static str, root: &'static OpDef, rewrite: Rewrite) -> RewritePattern {
        RewritePattern { name, root: Root::Op(root), benefit: 1, rewrite }
    }

    /// A pattern for all ops, of benefit 1.
    pub const fn any(name: &'static str, rewrite: Rewrite) -> RewritePattern {
        RewritePattern { name, root: Root::Any, benefit: 1, rewrite }
    }

    /// The pattern with another benefit.
    #[must_use]
    pub const fn with_benefit(self, benefit: u16) -> RewritePattern {
        RewritePattern { benefit, ..self }
    }

    fn applies_to(&self, def: Option<&'static OpDef>) -> bool {
        match self.root {
            Root::Op(root) => def.is_some_and(|def| std::ptr::eq(def, root)),
            Root::Trait(t) => def.is_some_and(|def| def.has_trait(&t)),
            Root::Any => true,
        }
    }
}

/// Patterns indexed by the ops that they apply to.
#[derive(Default)]
pub struct PatternSet {
    patterns: Vec<RewritePattern>,
    by_op: HashMap<*const OpDef, Vec<usize>>,
    any: Vec<usize>,
}

impl PatternSet {
    /// A set of all patterns in the lists.
    pub fn new(lists: &[&[RewritePattern]]) -> PatternSet {
        lists.iter().copied().flatten().copied().collect()
    }

    /// The canonicalization patterns of all registered ops.
    pub fn canonicalization(registry: &Registry) -> PatternSet {
        let of = |def: &'static OpDef| {
            def.canonicalize.iter().map(move |&(name, f)| RewritePattern::new(name, def, f))
        };
        registry.ops().flat_map(of).collect()
    }

    /// All patterns, in order of decreasing benefit.
    pub fn patterns(&self) -> &[RewritePattern] {
        &self.patterns
    }

    fn of(patterns: Vec<RewritePattern>) -> PatternSet {
        let mut set = PatternSet { patterns, ..PatternSet::default() };
        set.patterns.sort_by_key(|p| std::cmp::Reverse(p.benefit));
        set.any = set.matching(None);
        set
    }

    fn matching(&self, def: Option<&'static OpDef>) -> Vec<usize> {
        (0..self.patterns.len()).filter(|&i| self.patterns[i].applies_to(def)).collect()
    }

    /// The indices of the patterns for an op declaration.
    fn indices(&mut self, def: Option<&'static OpDef>) -> &[usize] {
        let Some(def) = def else { return &self.any };
        if !self.by_op.contains_key(&std::ptr::from_ref(def)) {
            let indices = self.matching(Some(def));
            self.by_op.insert(def, indices);
        }
        &self.by_op[&std::ptr::from_ref(def)]
    }
}

impl FromIterator<RewritePattern> for PatternSet {
    fn from_iter<I: IntoIterator<Item = RewritePattern>>(patterns: I) -> PatternSet {
        PatternSet::of(patterns.into_iter().collect())
    }
}

/// Statistics of one pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Number of times tried.
    pub tried: u64,
    /// Number of times applied.
    pub applied: u64,
}

/// Statistics of a run, by pattern name; the drivers count their own work as `fold` and
/// `dead-code`.
#[derive(Clone, Debug, Default)]
pub struct Statistics(std::collections::BTreeMap<&'static str, Count>);

impl Statistics {
    /// Counts one attempt.
    pub fn count(&mut self, name: &'static str, applied: bool) {
        let count = self.0.entry(name).or_default();
        count.tried += 1;
        count.applied += u64::from(applied);
    }

    /// Adds the statistics of another run.
    pub fn merge(&mut self, other: &Statistics) {
        for (name, count) in &other.0 {
            let sum = self.0.entry(name).or_default();
            sum.tried += count.tried;
            sum.applied += count.applied;
        }
    }

    /// The statistics sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Count)> + '_ {
        self.0.iter().map(|(name, count)| (*name, *count))
    }
}
