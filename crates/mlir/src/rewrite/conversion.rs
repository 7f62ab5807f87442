//! Dialect conversion: rewrites illegal ops of a target until all ops are legal, and converts types
//! on the way.
//!
//! Ops are visited in order, parents before their regions. If a pattern replaces a value by one of
//! another type, the uses of the old value are rewritten later: patterns read them through
//! [`Rewriter::converted_operands`], and legal ops get a `builtin.unrealized_conversion_cast` back
//! to the original type.

use super::rewriter::RewriteEvent;
use super::{PatternSet, Rewriter, Statistics};
use crate::builtin::UnrealizedConversionCastOp;
use crate::diag::{Diagnostics, Severity};
use crate::ir::{Module, OpId, OpRef, Value};
use crate::options::PassOptions;
use crate::types::Type;
use rustc_hash::{FxHashMap, FxHashSet};

/// The legality of an op in the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Legality {
    /// The op stays.
    Legal,
    /// The op must be rewritten.
    Illegal,
    /// The op is rewritten if a pattern applies.
    Unknown,
}

/// Converts types.
pub trait TypeConverter {
    /// Converts a type; returns it unchanged if it is legal. `None` rejects it.
    fn convert(&self, ty: &Type) -> Option<Type>;
}

impl<F: Fn(&Type) -> Option<Type>> TypeConverter for F {
    fn convert(&self, ty: &Type) -> Option<Type> {
        self(ty)
    }
}

/// The target of a conversion.
pub struct ConversionTarget<'c> {
    /// The legality of each op.
    pub legality: &'c dyn Fn(OpRef<'_>) -> Legality,
    /// The type conversion, if any.
    pub types: Option<&'c dyn TypeConverter>,
}

/// Maximum depth of rewrites of ops that patterns created.
const MAX_DEPTH: usize = 64;

/// Converts all ops in the regions of `root`. If a diagnostic is an error, the module is left
/// partially converted.
pub fn convert(
    module: &mut Module,
    root: OpId,
    patterns: &mut PatternSet,
    conversion: &ConversionTarget<'_>,
    options: &PassOptions,
) -> (Diagnostics, Statistics) {
    let mut rewriter = Rewriter::new(module, options);
    rewriter.types = conversion.types;
    let mut driver = ConversionDriver {
        patterns,
        conversion,
        statistics: Statistics::default(),
        gone: FxHashSet::default(),
        created: Vec::new(),
    };
    let ops: Vec<OpId> = rewriter.walk(root).skip(1).map(OpRef::id).collect();
    for op in ops {
        if rewriter.is_attached(op)
            && !driver.gone.contains(&op)
            && !driver.legalize(&mut rewriter, op, 0)
        {
            break;
        }
    }
    if !rewriter.diagnostics.iter().any(|d| d.severity == Severity::Error) {
        driver.finish(&mut rewriter, root);
    }
    (rewriter.diagnostics, driver.statistics)
}

struct ConversionDriver<'d> {
    patterns: &'d mut PatternSet,
    conversion: &'d ConversionTarget<'d>,
    statistics: Statistics,
    /// Ops that are replaced but stay until the uses of their results are converted.
    gone: FxHashSet<OpId>,
    /// Ops that patterns made and that were not looked at yet.
    created: Vec<OpId>,
}

impl ConversionDriver<'_> {
    /// Legalizes an op, and recursively the ops that this creates. On failure, reports it and
    /// returns false.
    fn legalize(&mut self, rewriter: &mut Rewriter<'_>, op: OpId, depth: usize) -> bool {
        let legality = (self.conversion.legality)(rewriter.op(op));
        if legality == Legality::Legal {
            return true;
        }
        let errors = rewriter.diagnostics.len();
        if depth < MAX_DEPTH && self.apply(rewriter, op) {
            let failed =
                rewriter.diagnostics[errors..].iter().any(|d| d.severity == Severity::Error);
            return !failed && self.legalize_created(rewriter, depth);
        }
        if legality == Legality::Unknown {
            return true;
        }
        let reported = rewriter.diagnostics[errors..].iter().any(|d| d.severity == Severity::Error);
        if !reported {
            let op = rewriter.op(op);
            let meaningless =
                op.def().and_then(|def| def.verify_strict).and_then(|verify| verify(op).err());
            let error = meaningless.unwrap_or_else(|| {
                let message =
                    format!("{} cannot be converted: no pattern applies to it", op.name());
                op.error("conversion", message)
            });
            rewriter.report(error);
        }
        false
    }

    fn apply(&mut self, rewriter: &mut Rewriter<'_>, op: OpId) -> bool {
        for at in 0..self.patterns.indices(rewriter.op(op).def()).len() {
            let index = self.patterns.indices(rewriter.op(op).def())[at];
            let pattern = self.patterns.patterns[index];
            rewriter.set_root(op);
            let applied = (pattern.rewrite)(rewriter, op).is_some();
            self.statistics.count(pattern.name, applied);
            self.drain(rewriter);
            if applied {
                return true;
            }
        }
        false
    }

    fn drain(&mut self, rewriter: &mut Rewriter<'_>) {
        for event in std::mem::take(&mut rewriter.events) {
            match event {
                RewriteEvent::Created(op) => self.created.push(op),
                RewriteEvent::Erased(op) => {
                    self.gone.insert(op);
                }
                RewriteEvent::Changed(_) | RewriteEvent::LostUse(_) => {}
            }
        }
    }

    fn legalize_created(&mut self, rewriter: &mut Rewriter<'_>, depth: usize) -> bool {
        // Ops nested in the new ops are new, too.
        let created = std::mem::take(&mut self.created);
        let mut within: Vec<OpId> = Vec::new();
        for op in created.into_iter().filter(|&op| rewriter.is_attached(op)) {
            within.extend(rewriter.walk(op).map(OpRef::id));
        }
        for op in within {
            if rewriter.is_attached(op)
                && !self.gone.contains(&op)
                && !self.legalize(rewriter, op, depth + 1)
            {
                return false;
            }
        }
        true
    }

    /// Replaces operands of the remaining ops by their converted values, with casts where the types
    /// differ, and erases replaced ops.
    fn finish(&mut self, rewriter: &mut Rewriter<'_>, root: OpId) {
        let mut casts: FxHashMap<(Value, Value), Value> = FxHashMap::default();
        let ops: Vec<OpId> =
            rewriter.walk(root).map(OpRef::id).filter(|op| !self.gone.contains(op)).collect();
        for op in ops {
            for index in 0..rewriter.op(op).operands().len() {
                let old = rewriter.op(op).operand(index);
                let new = rewriter.converted_value(old);
                if new == old {
                    continue;
                }
                let value = *casts.entry((old, new)).or_insert_with(|| {
                    match rewriter.defining_op(new).map(OpRef::id) {
                        Some(def) => rewriter.after(def),
                        None => rewriter.before(op),
                    }
                    let ty = rewriter.ty(old).clone();
                    rewriter.make(UnrealizedConversionCastOp::DEF, [new]).result(ty)
                });
                rewriter.set_operand(op, index, value);
            }
        }
        let mut gone: Vec<OpId> =
            self.gone.iter().copied().filter(|&op| rewriter.is_attached(op)).collect();
        gone.sort();
        gone.into_iter().for_each(|op| rewriter.erase(op));
        reconcile_casts(rewriter, root);
    }
}

/// Removes pairs of casts that cancel out, and unused casts. Requires use lists.
pub fn reconcile_casts(rewriter: &mut Rewriter<'_>, root: OpId) {
    let is_cast = |op: &OpRef<'_>| op.is(UnrealizedConversionCastOp::DEF);
    let casts: Vec<OpId> = rewriter.walk(root).filter(is_cast).map(OpRef::id).collect();
    for &cast in &casts {
        let op = rewriter.op(cast);
        // The original value before a chain of two casts, if it has the requested type.
        let sources = op.operands().iter().map(|&v| {
            let before = rewriter.defining_op(v).filter(is_cast)?;
            let index = before.results().position(|r| r == v)?;
            before.operands().get(index).copied()
        });
        let Some(sources) = sources.collect::<Option<Vec<Value>>>() else { continue };
        if sources.len() == op.num_results()
            && sources.iter().map(|&v| rewriter.ty(v)).eq(op.result_types())
        {
            rewriter.replace(cast, &sources);
        }
    }
    for &cast in casts.iter().rev() {
        if rewriter.is_attached(cast) && rewriter.op(cast).results().all(|r| rewriter.is_unused(r))
        {
            rewriter.erase(cast);
        }
    }
}
