//! Default values of attributes that are optional in StableHLO and mandatory in VHLO.

use crate::attributes::bool_elements;
use mlir::Attribute;
use mlir::types::MAX_RANK;
use vhlo::attrs;
use vhlo::enums::{API_VERSION, COMPARISON_TYPE as COMPARISON_TYPE_V1, PRECISION as PRECISION_V1};

/// The default value of an absent attribute.
#[derive(Clone, Copy)]
enum Implied {
    Bool(bool),
    Int(i64),
    EmptyString,
    /// An empty string, or an empty dictionary for typed-FFI calls.
    EmptyConfig,
    EmptyArray,
    EmptyDictionary,
    EmptyInts,
    NoneType,
    /// This number for each window dimension.
    PerDimension(i64),
    /// `false` for each window dimension.
    NotReversed,
    /// No padding on either side of each window dimension.
    NoPadding,
    /// `DEFAULT` for both operands.
    Precisions,
    ResultAccuracy,
    Enum(&'static mlir::ods::EnumDef, u64),
}

use Implied::*;

/// Defaults of VHLO attributes by name, in alphabetical order. A name has the same default in every
/// op where it is optional.
static DEFAULTS: &[(&str, Implied)] = &[
    ("accumulation_type", NoneType),
    ("allow_imprecise_accumulation", NoneType),
    ("api_version", Enum(&API_VERSION, 1)),
    ("arg_attrs", EmptyArray),
    ("backend_config", EmptyConfig),
    ("base_dilations", PerDimension(1)),
    ("called_computations", EmptyArray),
    ("channel_id", Int(0)),
    ("compare_type", Enum(&COMPARISON_TYPE_V1, 0)),
    ("composite_attributes", EmptyDictionary),
    ("dimension", Int(-1)),
    ("has_dynamic_root", Bool(false)),
    ("has_side_effect", Bool(false)),
    ("indices_are_sorted", Bool(false)),
    ("infeed_config", EmptyString),
    ("input_batching_dims", EmptyInts),
    ("is_host_transfer", Bool(false)),
    ("is_stable", Bool(false)),
    ("known_expanding_dimensions", EmptyInts),
    ("known_nonexpanding_dimensions", EmptyInts),
    ("layout", EmptyArray),
    ("lhs_component_count", NoneType),
    ("lhs_dilation", PerDimension(1)),
    ("lhs_precision_type", NoneType),
    ("lower", Bool(false)),
    ("num_primitive_operations", NoneType),
    ("operand_batching_dims", EmptyInts),
    ("operand_layouts", EmptyArray),
    ("outfeed_config", EmptyString),
    ("output_operand_aliases", EmptyArray),
    ("padding", NoPadding),
    ("precision_config", Precisions),
    ("res_attrs", EmptyArray),
    ("result_accuracy", ResultAccuracy),
    ("result_layouts", EmptyArray),
    ("result_tilings", EmptyArray),
    ("rhs_component_count", NoneType),
    ("rhs_dilation", PerDimension(1)),
    ("rhs_precision_type", NoneType),
    ("scatter_indices_batching_dims", EmptyInts),
    ("source_target_pairs", EmptyInts),
    ("start_indices_batching_dims", EmptyInts),
    ("sym_visibility", EmptyString),
    ("unique_indices", Bool(false)),
    ("use_global_device_ids", Bool(false)),
    ("version", Int(0)),
    ("window_dilations", PerDimension(1)),
    ("window_reversal", NotReversed),
    ("window_strides", PerDimension(1)),
];

/// Names of attributes that have a default, in alphabetical order.
pub fn names() -> impl Iterator<Item = &'static str> {
    DEFAULTS.iter().map(|(name, _)| *name)
}

fn lookup(name: &str) -> Option<Implied> {
    let index = DEFAULTS.binary_search_by_key(&name, |(name, _)| name).ok()?;
    Some(DEFAULTS[index].1)
}

/// The default of an attribute of a VHLO op whose other attributes `get` looks up by name. `None`
/// if the attribute is mandatory.
pub fn value<'a>(name: &str, get: &dyn Fn(&str) -> Option<&'a Attribute>) -> Option<Attribute> {
    let dimensions = || -> Option<usize> {
        let window = get("input_spatial_dimensions").or_else(|| get("window_dimensions"))?;
        Some(attrs::as_tensor(window)?.as_dense()?.num_elements()).filter(|&n| n <= MAX_RANK)
    };
    Some(match lookup(name)? {
        Bool(value) => attrs::bool(value),
        Int(value) => attrs::i64(value),
        EmptyString => attrs::string(""),
        EmptyConfig => match get("api_version").and_then(|a| a.as_enum(&API_VERSION)) {
            Some(TYPED_FFI) => attrs::dictionary(Vec::new()),
            _ => attrs::string(""),
        },
        EmptyArray => attrs::array(Vec::new()),
        EmptyDictionary => attrs::dictionary(Vec::new()),
        EmptyInts => ints(&[0], &[])?,
        NoneType => attrs::ty(vhlo::types::none()),
        PerDimension(value) => {
            let n = dimensions()?;
            ints(&[n as i64], &vec![value; n])?
        }
        NotReversed => attrs::typed(&attrs::TENSOR, bool_elements(vec![false; dimensions()?])?)?,
        NoPadding => {
            let n = dimensions()?;
            ints(&[n as i64, 2], &vec![0; 2 * n])?
        }
        Precisions => attrs::array(vec![Attribute::enumeration(&PRECISION_V1, 0); 2]),
        ResultAccuracy => {
            let [zero, mode] = [
                Attribute::f64(0.0),
                Attribute::enumeration(&vhlo::enums::RESULT_ACCURACY_MODE, 0),
            ];
            let params = [zero.clone(), zero, Attribute::i64(0), mode];
            Attribute::dialect(&attrs::RESULT_ACCURACY, params.map(Some).to_vec())
        }
        Enum(def, value) => Attribute::enumeration(def, value),
    })
}

/// The `api_version` whose configuration is a dictionary.
pub(crate) const TYPED_FFI: u64 = 4;

fn ints(shape: &[i64], values: &[i64]) -> Option<Attribute> {
    attrs::typed(&attrs::TENSOR, Attribute::i64_elements(shape, values)?)
}

/// True if an attribute of a VHLO op has its default value.
pub fn is_default(name: &str, value: &Attribute) -> bool {
    let is_empty_dictionary = || attrs::as_dictionary(value).is_some_and(<[_]>::is_empty);
    let is_splat = |of: i64| {
        let elements = attrs::as_tensor(value).and_then(Attribute::as_dense);
        elements
            .is_some_and(|e| e.is_splat() && e.int_values().is_some_and(|v| v.first() == Some(&of)))
    };
    match lookup(name) {
        None => false,
        Some(Bool(default)) => attrs::as_bool(value) == Some(default),
        Some(Int(default)) => attrs::as_i64(value) == Some(default),
        Some(EmptyString) => attrs::as_str(value) == Some(""),
        Some(EmptyConfig) => attrs::as_str(value) == Some("") || is_empty_dictionary(),
        Some(EmptyArray) => attrs::as_array(value).is_some_and(<[_]>::is_empty),
        Some(EmptyDictionary) => is_empty_dictionary(),
        Some(EmptyInts) => attrs::as_tensor(value)
            .and_then(Attribute::as_dense)
            .is_some_and(|e| e.num_elements() == 0),
        Some(NoneType) => attrs::as_type(value).is_some_and(|t| *t == vhlo::types::none()),
        Some(PerDimension(default)) => is_splat(default),
        Some(NotReversed | NoPadding) => is_splat(0),
        Some(Precisions) => attrs::as_array(value)
            .is_some_and(|list| list.iter().all(|p| p.as_enum(&PRECISION_V1) == Some(0))),
        Some(ResultAccuracy) => Some(value) == self::value(name, &|_| None).as_ref(),
        Some(Enum(def, default)) => value.as_enum(def) == Some(default),
    }
}
