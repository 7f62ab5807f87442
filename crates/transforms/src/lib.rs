//! Transformations of modules: one file a pass, and the tables by which programs find them.

mod canonicalize;
mod cse;
mod inline;
mod reconcile_unrealized_casts;
mod strip_debuginfo;
mod symbol_dce;
mod symbols;

use mlir::pass::{NamedPipeline, Passes};

/// All passes and pipelines, each in alphabetical order.
pub static PASSES: Passes = Passes {
    passes: &[
        canonicalize::PASS,
        cse::PASS,
        inline::PASS,
        reconcile_unrealized_casts::PASS,
        strip_debuginfo::PASS,
        symbol_dce::PASS,
    ],
    pipelines: PIPELINES,
};

static PIPELINES: &[NamedPipeline] = &[];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_are_in_order() {
        assert!(PASSES.passes.is_sorted_by_key(|pass| pass.name));
        assert!(PASSES.pipelines.is_sorted_by_key(|pipeline| pipeline.name));
    }

    #[test]
    fn pipelines_name_passes_that_there_are() {
        for pipeline in PASSES.pipelines {
            assert!(PASSES.parse(pipeline.passes).is_ok(), "{}", pipeline.name);
        }
    }
}
