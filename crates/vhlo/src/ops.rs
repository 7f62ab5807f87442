//! All ops of all versions, one row per op, sorted by name. A released row never changes.
//!
//! Source: StableHLO `docs/vhlo.md`. A VHLO op is the StableHLO op of the same name without
//! constraints: any types, any attributes, no defaults, no verification.

use crate::Version;
use mlir::ods::{
    Arity, Assembly, AttrConstraint, AttrSlot, BlockCount, OpDef, Presence, RegionSlot, Trait,
    TypeConstraint, ValueSlot,
};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// An op with the versions that have it.
pub struct VersionedOp {
    /// The declaration.
    pub def: &'static OpDef,
    /// The first version that has it.
    pub since: Version,
    /// The last version that has it; `None` if the current one does.
    pub until: Option<Version>,
}

impl VersionedOp {
    /// True if that version has the op.
    pub fn exists_in(&self, version: Version) -> bool {
        self.since <= version && self.until.is_none_or(|until| version.without_patch() <= until)
    }

    /// The name without the version: `add` of `vhlo.add_v1`.
    pub fn family(&self) -> &'static str {
        family(self.def)
    }
}

/// The name of an op of this dialect without its version.
pub fn family(def: &'static OpDef) -> &'static str {
    let mnemonic = def.mnemonic();
    mnemonic.trim_end_matches(|c: char| c.is_ascii_digit()).strip_suffix("_v").unwrap_or(mnemonic)
}

/// The row of a declaration.
pub fn versioned(def: &'static OpDef) -> Option<&'static VersionedOp> {
    static BY_DECLARATION: LazyLock<FxHashMap<usize, &VersionedOp>> = LazyLock::new(|| {
        VERSIONED_OPS.iter().map(|op| (std::ptr::from_ref(op.def).addr(), op)).collect()
    });
    BY_DECLARATION.get(&std::ptr::from_ref(def).addr()).copied()
}

/// The op of a family in a version.
pub fn in_version(name: &str, version: Version) -> Option<&'static VersionedOp> {
    let before = |op: &VersionedOp| op.def.mnemonic().bytes().lt(name.bytes().chain(*b"_v"));
    let first = VERSIONED_OPS.partition_point(before);
    VERSIONED_OPS[first..]
        .iter()
        .take_while(|op| op.family() == name)
        .find(|op| op.exists_in(version))
}

macro_rules! ops {
    ($(
        $ident:ident $name:literal since ($major:literal, $minor:literal) $(until ($last_major:literal, $last_minor:literal))?:
        ($($operand:ident $operand_arity:ident),*) [$($attr:ident),*] -> ($($result:ident $result_arity:ident),*)
        $(regions ($($region:ident $region_arity:ident),*))? $(traits [$($traits:expr),*])? $(assembly $assembly:expr)?;
    )*) => {
        $(static $ident: OpDef = OpDef {
            name: concat!("vhlo.", $name),
            doc: "The op of StableHLO of that name, as it was in a range of versions.",
            operands: &[$(ops!(@slot $operand $operand_arity)),*],
            results: &[$(ops!(@slot $result $result_arity)),*],
            attributes: &[$(AttrSlot {
                name: stringify!($attr),
                presence: Presence::Required,
                constraint: &AttrConstraint::Any,
                default_value: || None,
            }),*],
            $(regions: &[$(RegionSlot {
                name: stringify!($region), blocks: BlockCount::Any, variadic: ops!(@many $region_arity),
            }),*],)?
            $(traits: &[$($traits),*],)?
            $(assembly: $assembly,)?
            ..OpDef::EMPTY
        };)*

        /// The declarations.
        pub static OPS: &[&OpDef] = &[$(&$ident),*];

        /// The ops with their versions.
        pub static VERSIONED_OPS: &[VersionedOp] = &[$(VersionedOp {
            def: &$ident,
            since: Version::new($major, $minor),
            until: ops!(@until $($last_major, $last_minor)?),
        }),*];
    };
    (@slot $name:ident one) => { ValueSlot { name: stringify!($name), arity: Arity::Single, constraint: &TypeConstraint::ANY } };
    (@slot $name:ident many) => { ValueSlot { name: stringify!($name), arity: Arity::Variadic, constraint: &TypeConstraint::ANY } };
    (@many one) => { false };
    (@many many) => { true };
    (@until) => { None };
    (@until $major:literal, $minor:literal) => { Some(Version::new($major, $minor)) };
}

ops! {
    ABS_V1 "abs_v1" since (0, 9): (operand one) [] -> (result one);
    ADD_V1 "add_v1" since (0, 9): (lhs one, rhs one) [] -> (result one);
    AFTER_ALL_V1 "after_all_v1" since (0, 9): (inputs many) [] -> (result one);
    ALL_GATHER_V1 "all_gather_v1" since (0, 9) until (1, 4): (operand one) [all_gather_dim, replica_groups, channel_id, use_global_device_ids] -> (result one);
    ALL_GATHER_V2 "all_gather_v2" since (1, 5): (operands many) [all_gather_dim, replica_groups, channel_id, use_global_device_ids] -> (results many);
    ALL_REDUCE_V1 "all_reduce_v1" since (0, 9) until (1, 4): (operand one) [replica_groups, channel_id, use_global_device_ids] -> (result one) regions (computation one);
    ALL_REDUCE_V2 "all_reduce_v2" since (1, 5): (operands many) [replica_groups, channel_id, use_global_device_ids] -> (results many) regions (computation one);
    ALL_TO_ALL_V1 "all_to_all_v1" since (0, 9) until (1, 4): (operand one) [split_dimension, concat_dimension, split_count, replica_groups, channel_id] -> (result one);
    ALL_TO_ALL_V2 "all_to_all_v2" since (1, 5): (operands many) [split_dimension, concat_dimension, split_count, replica_groups, channel_id] -> (results many);
    AND_V1 "and_v1" since (0, 9): (lhs one, rhs one) [] -> (result one);
    ASYNC_DONE_V1 "async_done_v1" since (1, 15): (operand one) [] -> (result one);
    ASYNC_START_V1 "async_start_v1" since (1, 15): (operands many) [] -> (result one) regions (collective one);
    ATAN2_V1 "atan2_v1" since (0, 9): (lhs one, rhs one) [] -> (result one);
    BATCH_NORM_GRAD_V1 "batch_norm_grad_v1" since (0, 9): (operand one, scale one, mean one, variance one, grad_output one) [epsilon, feature_index] -> (grad_operand one, grad_scale one, grad_offset one);
    BATCH_NORM_INFERENCE_V1 "batch_norm_inference_v1" since (0, 9): (operand one, scale one, offset one, mean one, variance one) [epsilon, feature_index] -> (result one);
    BATCH_NORM_TRAINING_V1 "batch_norm_training_v1" since (0, 9): (operand one, scale one, offset one) [epsilon, feature_index] -> (output one, batch_mean one, batch_var one);
    BITCAST_CONVERT_V1 "bitcast_convert_v1" since (0, 9): (operand one) [] -> (result one);
    BROADCAST_IN_DIM_V1 "broadcast_in_dim_v1" since (0, 9): (operand one) [broadcast_dimensions] -> (result one);
    BROADCAST_V1 "broadcast_v1" since (0, 9): (operand one) [broadcast_sizes] -> (result one);
    CALL_V1 "call_v1" since (0, 9): (operands many) [callee] -> (results many);
    CASE_V1 "case_v1" since (0, 9): (index one) [] -> (results many) regions (branches many);
    CBRT_V1 "cbrt_v1" since (0, 9) until (1, 9): (operand one) [] -> (result one);
    CBRT_V2 "cbrt_v2" since (1, 10): (operand one) [result_accuracy] -> (result one);
    CEIL_V1 "ceil_v1" since (0, 9): (operand one) [] -> (result one);
    CHOLESKY_V1 "cholesky_v1" since (0, 9): (a one) [lower] -> (result one);
    CLAMP_V1 "clamp_v1" since (0, 9): (min one, operand one, max one) [] -> (result one);
    COLLECTIVE_BROADCAST_V1 "collective_broadcast_v1" since (0, 16) until (1, 19): (operand one) [replica_groups, channel_id] -> (result one);
    COLLECTIVE_BROADCAST_V2 "collective_broadcast_v2" since (1, 20): (operands many) [replica_groups, channel_id, has_dynamic_root] -> (results many);
    COLLECTIVE_PERMUTE_V1 "collective_permute_v1" since (0, 9): (operand one) [source_target_pairs, channel_id] -> (result one);
    COLLECTIVE_REDUCE_V1 "collective_reduce_v1" since (1, 19): (operands many) [replica_groups, channel_id, use_global_device_ids, has_dynamic_root] -> (results many) regions (computation one);
    COMPARE_V1 "compare_v1" since (0, 9): (lhs one, rhs one) [comparison_direction, compare_type] -> (result one);
    COMPLEX_V1 "complex_v1" since (0, 9): (lhs one, rhs one) [] -> (result one);
    COMPOSITE_V1 "composite_v1" since (0, 19) until (1, 13): (inputs many) [name, composite_attributes, decomposition, version] -> (results many);
    COMPOSITE_V2 "composite_v2" since (1, 14): (inputs many) [name, composite_attributes, decomposition, version] -> (results many) regions (composite_regions many);
    CONCATENATE_V1 "concatenate_v1" since (0, 9): (inputs many) [dimension] -> (result one);
    CONSTANT_V1 "constant_v1" since (0, 9): () [value] -> (output one);
    CONVERT_V1 "convert_v1" since (0, 9): (operand one) [] -> (result one);
    CONVOLUTION_V1 "convolution_v1" since (0, 9): (lhs one, rhs one) [window_strides, padding, lhs_dilation, rhs_dilation, window_reversal, input_batch_dimension, input_feature_dimension, input_spatial_dimensions, kernel_input_feature_dimension, kernel_output_feature_dimension, kernel_spatial_dimensions, output_batch_dimension, output_feature_dimension, output_spatial_dimensions, feature_group_count, batch_group_count, precision_config] -> (result one);
    COSINE_V1 "cosine_v1" since (0, 9) until (1, 9): (operand one) [] -> (result one);
    COSINE_V2 "cosine_v2" since (1, 10): (operand one) [result_accuracy] -> (result one);
    COUNT_LEADING_ZEROS_V1 "count_leading_zeros_v1" since (0, 9): (operand one) [] -> (result one);
    CREATE_TOKEN_V1 "create_token_v1" since (0, 9): () [] -> (output one);
    CROSS_REPLICA_SUM_V1 "cross-replica-sum_v1" since (0, 9): (operand one) [replica_groups] -> (result one);
    CUSTOM_CALL_V1 "custom_call_v1" since (0, 9) until (1, 17): (inputs many) [call_target_name, has_side_effect, backend_config, api_version, called_computations, operand_layouts, result_layouts, output_operand_aliases] -> (results many);
    CUSTOM_CALL_V2 "custom_call_v2" since (1, 18): (inputs many) [call_target_name, has_side_effect, backend_config, api_version, called_computations, operand_layouts, result_layouts, output_operand_aliases, result_tilings] -> (results many);
    DIVIDE_V1 "divide_v1" since (0, 9): (lhs one, rhs one) [] -> (result one);
    DOT_GENERAL_V1 "dot_general_v1" since (0, 9) until (1, 5): (lhs one, rhs one) [lhs_batching_dimensions, rhs_batching_dimensions, lhs_contracting_dimensions, rhs_contracting_dimensions, precision_config] -> (result one);
    DOT_GENERAL_V2 "dot_general_v2" since (1, 6): (lhs one, rhs one) [lhs_batching_dimensions, rhs_batching_dimensions, lhs_contracting_dimensions, rhs_contracting_dimensions, precision_config, lhs_precision_type, rhs_precision_type, accumulation_type, lhs_component_count, rhs_component_count, num_primitive_operations, allow_imprecise_accumulation] -> (result one);
    DOT_V1 "dot_v1" since (0, 9): (lhs one, rhs one) [precision_config] -> (result one);
    DYNAMIC_BROADCAST_IN_DIM_V1 "dynamic_broadcast_in_dim_v1" since (0, 9): (operand one, output_dimensions one) [broadcast_dimensions, known_expanding_dimensions, known_nonexpanding_dimensions] -> (result one);
    DYNAMIC_CONV_V1 "dynamic_conv_v1" since (0, 9) until (0, 19): (lhs one, rhs one, d_padding one) [window_strides, padding, lhs_dilation, rhs_dilation, window_reversal, input_batch_dimension, input_feature_dimension, input_spatial_dimensions, kernel_input_feature_dimension, kernel_output_feature_dimension, kernel_spatial_dimensions, output_batch_dimension, output_feature_dimension, output_spatial_dimensions, feature_group_count, batch_group_count, precision_config] -> (result one);
    DYNAMIC_CONV_V2 "dynamic_conv_v2" since (0, 20): (lhs one, rhs one, padding one) [window_strides, lhs_dilation, rhs_dilation, window_reversal, input_batch_dimension, input_feature_dimension, input_spatial_dimensions, kernel_input_feature_dimension, kernel_output_feature_dimension, kernel_spatial_dimensions, output_batch_dimension, output_feature_dimension, output_spatial_dimensions, feature_group_count, batch_group_count, precision_config] -> (result one);
    DYNAMIC_GATHER_V1 "dynamic_gather_v1" since (0, 9) until (1, 0): (operand one, start_indices one, slice_sizes one) [offset_dims, collapsed_slice_dims, start_index_map, index_vector_dim, indices_are_sorted] -> (result one);
    DYNAMIC_GATHER_V2 "dynamic_gather_v2" since (1, 1): (operand one, start_indices one, slice_sizes one) [offset_dims, collapsed_slice_dims, operand_batching_dims, start_indices_batching_dims, start_index_map, index_vector_dim, indices_are_sorted] -> (result one);
    DYNAMIC_IOTA_V1 "dynamic_iota_v1" since (0, 9): (output_shape one) [iota_dimension] -> (result one);
    DYNAMIC_PAD_V1 "dynamic_pad_v1" since (0, 9): (operand one, padding_value one, edge_padding_low one, edge_padding_high one, interior_padding one) [] -> (result one);
    DYNAMIC_RESHAPE_V1 "dynamic_reshape_v1" since (0, 9): (operand one, output_shape one) [] -> (result one);
    DYNAMIC_SLICE_V1 "dynamic_slice_v1" since (0, 9): (operand one, start_indices many) [slice_sizes] -> (result one);
    DYNAMIC_UPDATE_SLICE_V1 "dynamic_update_slice_v1" since (0, 9): (operand one, update one, start_indices many) [] -> (result one);
    EINSUM_V1 "einsum_v1" since (0, 9): (lhs one, rhs one) [einsum_config] -> (result one);
    EXPONENTIAL_MINUS_ONE_V1 "exponential_minus_one_v1" since (0, 9) until (1, 9): (operand one) [] -> (result one);
    EXPONENTIAL_MINUS_ONE_V2 "exponential_minus_one_v2" since (1, 10): (operand one) [result_accuracy] -> (result one);
    EXPONENTIAL_V1 "exponential_v1" since (0, 9) until (1, 8): (operand one) [] -> (result one);
    EXPONENTIAL_V2 "exponential_v2" since (1, 9): (operand one) [result_accuracy] -> (result one);
    FFT_V1 "fft_v1" since (0, 9): (operand one) [fft_type, fft_length] -> (result one);
    FLOOR_V1 "floor_v1" since (0, 9): (operand one) [] -> (result one);
    FUNC_V1 "func_v1" since (0, 9): () [sym_name, function_type, sym_visibility, arg_attrs, res_attrs] -> () regions (body one) assembly Assembly::Custom { parse: crate::func::parse, print: crate::func::print };
    GATHER_V1 "gather_v1" since (0, 9) until (1, 0): (operand one, start_indices one) [offset_dims, collapsed_slice_dims, start_index_map, index_vector_dim, slice_sizes, indices_are_sorted] -> (result one);
    GATHER_V2 "gather_v2" since (1, 1): (operand one, start_indices one) [offset_dims, collapsed_slice_dims, operand_batching_dims, start_indices_batching_dims, start_index_map, index_vector_dim, slice_sizes, indices_are_sorted] -> (result one);
    GET_DIMENSION_SIZE_V1 "get_dimension_size_v1" since (0, 9): (operand one) [dimension] -> (result one);
    GET_TUPLE_ELEMENT_V1 "get_tuple_element_v1" since (0, 9): (operand one) [index] -> (result one);
    IF_V1 "if_v1" since (0, 9): (pred one) [] -> (results many) regions (true_branch one, false_branch one);
    IMAG_V1 "imag_v1" since (0, 9): (operand one) [] -> (result one);
    INFEED_V1 "infeed_v1" since (0, 9): (token one) [infeed_config, layout] -> (results many);
    IOTA_V1 "iota_v1" since (0, 9): () [iota_dimension] -> (output one);
    IS_FINITE_V1 "is_finite_v1" since (0, 9): (x one) [] -> (y one);
    LOG_PLUS_ONE_V1 "log_plus_one_v1" since (0, 9) until (1, 9): (operand one) [] -> (result one);
    LOG_PLUS_ONE_V2 "log_plus_one_v2" since (1, 10): (operand one) [result_accuracy] -> (result one);
    LOG_V1 "log_v1" since (0, 9) until (1, 9): (operand one) [] -> (result one);
    LOG_V2 "log_v2" since (1, 10): (operand one) [result_accuracy] -> (result one);
    LOGISTIC_V1 "logistic_v1" since (0, 9) until (1, 9): (operand one) [] -> (result one);
    LOGISTIC_V2 "logistic_v2" since (1, 10): (operand one) [result_accuracy] -> (result one);
    MAP_V1 "map_v1" since (0, 9): (inputs many) [dimensions] -> (result one) regions (computation one);
    MAXIMUM_V1 "maximum_v1" since (0, 9): (lhs one, rhs one) [] -> (result one);
    MINIMUM_V1 "minimum_v1" since (0, 9): (lhs one, rhs one) [] -> (result one);
    MULTIPLY_V1 "multiply_v1" since (0, 9): (lhs one, rhs one) [] -> (result one);
    NEGATE_V1 "negate_v1" since (0, 9): (operand one) [] -> (result one);
    NOT_V1 "not_v1" since (0, 9): (operand one) [] -> (result one);
    OPTIMIZATION_BARRIER_V1 "optimization_barrier_v1" since (0, 9): (operand many) [] -> (result many);
    OR_V1 "or_v1" since (0, 9): (lhs one, rhs one) [] -> (result one);
    OUTFEED_V1 "outfeed_v1" since (0, 9): (inputs many, token one) [outfeed_config] -> (result one);
    PAD_V1 "pad_v1" since (0, 9): (operand one, padding_value one) [edge_padding_low, edge_padding_high, interior_padding] -> (result one);
    PARTITION_ID_V1 "partition_id_v1" since (0, 9): () [] -> (result one);
    POPCNT_V1 "popcnt_v1" since (0, 9): (operand one) [] -> (result one);
    POWER_V1 "power_v1" since (0, 9): (lhs one, rhs one) [] -> (result one);
    REAL_DYNAMIC_SLICE_V1 "real_dynamic_slice_v1" since (0, 9): (operand one, start_indices one, limit_indices one, strides one) [] -> (result one);
    REAL_V1 "real_v1" since (0, 9): (operand one) [] -> (result one);
    RECV_V1 "recv_v1" since (0, 9) until (1, 11): (token one) [channel_id, channel_type, is_host_transfer] -> (results many);
    RECV_V2 "recv_v2" since (1, 12): (token one) [channel_id, channel_type, is_host_transfer, source_target_pairs] -> (results many);
    REDUCE_PRECISION_V1 "reduce_precision_v1" since (0, 9): (operand one) [exponent_bits, mantissa_bits] -> (output one);
    REDUCE_SCATTER_V1 "reduce_scatter_v1" since (0, 9): (operand one) [scatter_dimension, replica_groups, channel_id, use_global_device_ids] -> (result one) regions (computation one);
    REDUCE_V1 "reduce_v1" since (0, 9): (inputs many, init_values many) [dimensions] -> (results many) regions (body one) traits [Trait::SameVariadicOperandSize];
    REDUCE_WINDOW_V1 "reduce_window_v1" since (0, 9): (inputs many, init_values many) [window_dimensions, window_strides, base_dilations, window_dilations, padding] -> (results many) regions (body one) traits [Trait::SameVariadicOperandSize];
    REMAINDER_V1 "remainder_v1" since (0, 9): (lhs one, rhs one) [] -> (result one);
    REPLICA_ID_V1 "replica_id_v1" since (0, 9): () [] -> (result one);
    RESHAPE_V1 "reshape_v1" since (0, 9): (operand one) [] -> (result one);
    RETURN_V1 "return_v1" since (0, 9): (results many) [] -> () traits [Trait::Terminator];
    REVERSE_V1 "reverse_v1" since (0, 9): (operand one) [dimensions] -> (result one);
    RNG_BIT_GENERATOR_V1 "rng_bit_generator_v1" since (0, 9): (initial_state one) [rng_algorithm] -> (output_state one, output one);
    RNG_V1 "rng_v1" since (0, 9): (a one, b one, shape one) [rng_distribution] -> (result one);
    ROUND_NEAREST_AFZ_V1 "round_nearest_afz_v1" since (0, 9): (operand one) [] -> (result one);
    ROUND_NEAREST_EVEN_V1 "round_nearest_even_v1" since (0, 9): (operand one) [] -> (result one);
    RSQRT_V1 "rsqrt_v1" since (0, 9) until (1, 9): (operand one) [] -> (result one);
    RSQRT_V2 "rsqrt_v2" since (1, 10): (operand one) [result_accuracy] -> (result one);
    SCATTER_V1 "scatter_v1" since (0, 9) until (1, 0): (inputs many, scatter_indices one, updates many) [update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims, index_vector_dim, indices_are_sorted, unique_indices] -> (results many) regions (update_computation one) traits [Trait::SameVariadicOperandSize];
    SCATTER_V2 "scatter_v2" since (1, 1): (inputs many, scatter_indices one, updates many) [update_window_dims, inserted_window_dims, input_batching_dims, scatter_indices_batching_dims, scatter_dims_to_operand_dims, index_vector_dim, indices_are_sorted, unique_indices] -> (results many) regions (update_computation one) traits [Trait::SameVariadicOperandSize];
    SELECT_AND_SCATTER_V1 "select_and_scatter_v1" since (0, 9): (operand one, source one, init_value one) [window_dimensions, window_strides, padding] -> (result one) regions (select one, scatter one);
    SELECT_V1 "select_v1" since (0, 9): (pred one, on_true one, on_false one) [] -> (result one);
    SEND_V1 "send_v1" since (0, 9) until (1, 11): (inputs many, token one) [channel_id, channel_type, is_host_transfer] -> (result one);
    SEND_V2 "send_v2" since (1, 12): (inputs many, token one) [channel_id, channel_type, is_host_transfer, source_target_pairs] -> (result one);
    SET_DIMENSION_SIZE_V1 "set_dimension_size_v1" since (0, 9): (operand one, size one) [dimension] -> (result one);
    SHIFT_LEFT_V1 "shift_left_v1" since (0, 9): (lhs one, rhs one) [] -> (result one);
    SHIFT_RIGHT_ARITHMETIC_V1 "shift_right_arithmetic_v1" since (0, 9): (lhs one, rhs one) [] -> (result one);
    SHIFT_RIGHT_LOGICAL_V1 "shift_right_logical_v1" since (0, 9): (lhs one, rhs one) [] -> (result one);
    SIGN_V1 "sign_v1" since (0, 9): (operand one) [] -> (result one);
    SINE_V1 "sine_v1" since (0, 9) until (1, 9): (operand one) [] -> (result one);
    SINE_V2 "sine_v2" since (1, 10): (operand one) [result_accuracy] -> (result one);
    SLICE_V1 "slice_v1" since (0, 9): (operand one) [start_indices, limit_indices, strides] -> (result one);
    SORT_V1 "sort_v1" since (0, 9): (inputs many) [dimension, is_stable] -> (results many) regions (comparator one);
    SQRT_V1 "sqrt_v1" since (0, 9) until (1, 9): (operand one) [] -> (result one);
    SQRT_V2 "sqrt_v2" since (1, 10): (operand one) [result_accuracy] -> (result one);
    SUBTRACT_V1 "subtract_v1" since (0, 9): (lhs one, rhs one) [] -> (result one);
    TAN_V1 "tan_v1" since (1, 4) until (1, 9): (operand one) [] -> (result one);
    TAN_V2 "tan_v2" since (1, 10): (operand one) [result_accuracy] -> (result one);
    TANH_V1 "tanh_v1" since (0, 9) until (1, 9): (operand one) [] -> (result one);
    TANH_V2 "tanh_v2" since (1, 10): (operand one) [result_accuracy] -> (result one);
    TORCH_INDEX_SELECT_V1 "torch_index_select_v1" since (0, 9): (operand one, index one) [dim, batch_dims] -> (result one);
    TRANSPOSE_V1 "transpose_v1" since (0, 9): (operand one) [permutation] -> (result one);
    TRIANGULAR_SOLVE_V1 "triangular_solve_v1" since (0, 9): (a one, b one) [left_side, lower, unit_diagonal, transpose_a] -> (result one);
    TUPLE_V1 "tuple_v1" since (0, 9): (val many) [] -> (result one);
    UNARY_EINSUM_V1 "unary_einsum_v1" since (0, 9): (operand one) [einsum_config] -> (result one);
    UNIFORM_DEQUANTIZE_V1 "uniform_dequantize_v1" since (0, 9): (operand one) [] -> (result one);
    UNIFORM_QUANTIZE_V1 "uniform_quantize_v1" since (0, 9): (operand one) [] -> (result one);
    WHILE_V1 "while_v1" since (0, 9): (operand many) [] -> (results many) regions (cond one, body one);
    XOR_V1 "xor_v1" since (0, 9): (lhs one, rhs one) [] -> (result one);
}
