//! Transformations of modules: one file per pass, and the tables in which programs look them up.

mod calls;
mod canonicalize;
mod canonicalize_dynamism;
mod check_shape_assertions;
mod chlo_legalize;
mod compatibility_expander;
mod complex_math_expander;
mod composite_to_call;
mod convert_to_signless;
mod cse;
mod dimensions;
mod dynamic_values;
mod evaluate;
mod folder;
mod inline;
mod instrument_with_probe;
mod integers;
mod legalize_deprecated_ops;
mod platform;
mod qdq_to_quantized_op;
mod quant_to_math;
mod quantized_op_to_qdq;
mod reconcile_unrealized_casts;
mod refine_arguments;
mod refine_shapes;
mod remove_dynamism;
mod shape_legalize;
mod simplify;
mod strip_debuginfo;
mod symbol_dce;
mod symbol_privatize;
mod symbols;
mod target_independent_optimization;
mod test_broadcast;
mod test_infer;
mod test_speculatability;
mod trivial_dce;
mod weights;
mod wrap_in_composite;

pub use chlo_legalize::{expand_for_evaluation, has_expansion, needs_expansion};

use mlir::pass::{NamedPipeline, Passes};
use portable::passes;

pub use legalize_deprecated_ops::is_deprecated;
pub use platform::select_platform;
pub use remove_dynamism::{Sizes, dynamic_entry, make_static};
pub use weights::{POSITION, WEIGHT, WeightForm, bind_arguments, extract_weights, insert_weights};

/// All passes and pipelines, each in alphabetical order.
pub static PASSES: Passes = Passes {
    passes: &[
        canonicalize::PASS,
        chlo_legalize::PASS,
        cse::PASS,
        test_broadcast::PASS,
        test_infer::PASS,
        test_speculatability::PASS,
        inline::PASS,
        instrument_with_probe::PASS,
        reconcile_unrealized_casts::PASS,
        shape_legalize::PASS,
        folder::PASS,
        simplify::PASS,
        canonicalize_dynamism::PASS,
        check_shape_assertions::PASS,
        compatibility_expander::PASS,
        complex_math_expander::PASS,
        convert_to_signless::PASS,
        composite_to_call::PASS,
        legalize_deprecated_ops::PASS,
        qdq_to_quantized_op::PASS,
        quant_to_math::PASS,
        quantized_op_to_qdq::PASS,
        passes::STABLEHLO_LEGALIZE_TO_VHLO,
        refine_arguments::PASS,
        refine_shapes::PASS,
        remove_dynamism::PASS,
        target_independent_optimization::PASS,
        wrap_in_composite::PASS,
        strip_debuginfo::PASS,
        symbol_dce::PASS,
        symbol_privatize::PASS,
        trivial_dce::PASS,
        passes::VHLO_LEGALIZE_TO_STABLEHLO,
        passes::VHLO_TO_VERSION,
    ],
    pipelines: PIPELINES,
};

static PIPELINES: &[NamedPipeline] = &[
    NamedPipeline {
        name: "chlo-pre-serialization-pipeline",
        doc: "Lower CHLO, shape ops and index types, which artifacts cannot contain, to StableHLO",
        passes: "func.func(chlo-legalize-to-stablehlo,shape-legalize-to-stablehlo),reconcile-unrealized-casts",
    },
    passes::STABLEHLO_DESERIALIZE,
];
