//! The list of passes.

use transforms::PASSES;

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
