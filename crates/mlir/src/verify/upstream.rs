//! Upstream's order of errors, for tests that were written against its tools: see
//! [`Reporting::LikeUpstream`](super::Reporting::LikeUpstream). Nothing else depends on it.

use super::Verifier;
use crate::ir::OpRef;
use crate::ods::OpDef;

/// The ops of a dialect whose errors upstream finds at another time than this verifier.
///
/// Upstream reports an error that it finds during type inference twice: the reason, and that types
/// could not be inferred. Usually, these are the errors of [`OpDef::infer`].
pub struct UpstreamErrors {
    /// Ops of which it finds no error during inference.
    pub infers_nothing: &'static [&'static OpDef],
    /// Ops of which it finds the errors of all hooks during inference.
    pub infers_everything: &'static [&'static OpDef],
    /// Ops whose regions it checks before the ops in them.
    pub regions_first: &'static [&'static OpDef],
}

impl UpstreamErrors {
    /// No exception.
    pub const NONE: UpstreamErrors =
        UpstreamErrors { infers_nothing: &[], infers_everything: &[], regions_first: &[] };
}

/// The step that found an error.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FoundBy {
    /// The hook `infer`.
    Inferring,
    /// The hooks `verify` and `verify_regions`.
    Verifying,
    /// The comparison of types that follow from regions.
    Comparing,
}

impl<'m> Verifier<'m> {
    /// True if the op is in the list that `select` takes from those of its dialect.
    fn is_listed(
        &self,
        def: &OpDef,
        select: fn(&UpstreamErrors) -> &'static [&'static OpDef],
    ) -> bool {
        let dialect = self.module.registry().dialect(def.dialect());
        dialect.is_some_and(|d| select(&d.upstream_errors).iter().any(|op| std::ptr::eq(*op, def)))
    }

    /// True if an op's requirements on its regions are checked before the nested ops.
    pub(super) fn regions_first(&self, def: &OpDef) -> bool {
        self.stops && self.is_listed(def, |errors| errors.regions_first)
    }

    /// Repeats an error that upstream finds during type inference.
    pub(super) fn repeat_like_upstream(&mut self, op: OpRef<'m>, def: &OpDef, found: FoundBy) {
        if !self.stops {
            return;
        }
        let during_inference = match found {
            FoundBy::Inferring => !self.is_listed(def, |errors| errors.infers_nothing),
            FoundBy::Verifying => self.is_listed(def, |errors| errors.infers_everything),
            FoundBy::Comparing => true,
        };
        if during_inference {
            self.errors.push(op.error(def.infer_label, "the types of the results do not follow"));
        }
    }
}
