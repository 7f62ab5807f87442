//! Transformations of modules: one file a pass, and the tables by which programs find them.

mod calls;
mod canonicalize;
mod canonicalize_dynamism;
mod check_shape_assertions;
mod cse;
mod evaluate;
mod inline;
mod reconcile_unrealized_casts;
mod refine_arguments;
mod refine_shapes;
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
        canonicalize_dynamism::PASS,
        check_shape_assertions::PASS,
        refine_arguments::PASS,
        refine_shapes::PASS,
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
