//! The attributes of the dialect, and typed views of what ops use.

use crate::directives::{Unnamed, parse_conv_dims, print_conv_dims};
use crate::enums::{RESULT_ACCURACY_MODE, RESULT_ACCURACY_TOLERANCE};
use mlir::ods::{AttrDef, AttrValue, ParamAssembly, ParamDef, ParamKind};
use mlir::text::{Parsed, Parser, Printer};
use mlir::types::{DYNAMIC, FloatKind};
use mlir::{AttrKind, Attribute, OpRef, Type, TypeKind};

/// All attributes, in alphabetical order.
pub static ATTRIBUTES: &[&AttrDef] = &[
    &AXIS_REF,
    &TYPE_EXTENSIONS,
    &CHANNEL_HANDLE,
    &CONV_DIMENSION_NUMBERS,
    &DOT_DIMENSION_NUMBERS,
    &DOT_ALGORITHM,
    &GATHER_DIMENSION_NUMBERS,
    &MESH,
    &MESH_AXIS,
    &OUTPUT_OPERAND_ALIAS,
    &REPLICA_GROUP_MESH_AXES,
    &RESULT_ACCURACY,
    &SCATTER_DIMENSION_NUMBERS,
    &SUB_AXIS_INFO,
];

/// Default fields of a declaration, for struct update syntax.
const EMPTY: AttrDef = AttrDef {
    dialect: "stablehlo",
    mnemonic: "",
    doc: "",
    params: &[],
    assembly: ParamAssembly::Struct,
    verify: None,
    bounds: None,
    verify_encoding: None,
    becomes: None,
};

/// `#stablehlo.scatter<…>`
pub static SCATTER_DIMENSION_NUMBERS: AttrDef = AttrDef {
    mnemonic: "scatter",
    doc: "Which dimensions of inputs, indices and updates of `scatter` correspond.",
    params: ScatterDims::PARAMS,
    assembly: ParamAssembly::Custom {
        parse: |p| parse_dims(p, &SCATTER_DIMENSION_NUMBERS),
        print: |p, v| print_dims(p, &SCATTER_DIMENSION_NUMBERS, v),
    },
    ..EMPTY
};

/// `#stablehlo.gather<…>`
pub static GATHER_DIMENSION_NUMBERS: AttrDef = AttrDef {
    mnemonic: "gather",
    doc: "Which dimensions of operand, indices and result of `gather` correspond.",
    params: GatherDims::PARAMS,
    assembly: ParamAssembly::Custom {
        parse: |p| parse_dims(p, &GATHER_DIMENSION_NUMBERS),
        print: |p, v| print_dims(p, &GATHER_DIMENSION_NUMBERS, v),
    },
    ..EMPTY
};

/// `#stablehlo.dot<…>`
pub static DOT_DIMENSION_NUMBERS: AttrDef = AttrDef {
    mnemonic: "dot",
    doc: "Which dimensions `dot_general` batches and which it contracts.",
    params: DotDims::PARAMS,
    assembly: ParamAssembly::Custom {
        parse: |p| parse_dims(p, &DOT_DIMENSION_NUMBERS),
        print: |p, v| print_dims(p, &DOT_DIMENSION_NUMBERS, v),
    },
    ..EMPTY
};

/// `#stablehlo.dot_algorithm<…>`
pub static DOT_ALGORITHM: AttrDef = AttrDef {
    mnemonic: "dot_algorithm",
    doc: "The algorithm that `dot_general` is to use: types of its operands and sums, and how operands are split.",
    params: &[
        ParamDef::required("lhs_precision_type", ParamKind::Type),
        ParamDef::required("rhs_precision_type", ParamKind::Type),
        ParamDef::required("accumulation_type", ParamKind::Type),
        ParamDef::required("lhs_component_count", ParamKind::I64),
        ParamDef::required("rhs_component_count", ParamKind::I64),
        ParamDef::required("num_primitive_operations", ParamKind::I64),
        ParamDef::required("allow_imprecise_accumulation", ParamKind::Bool),
    ],
    verify: Some(verify_dot_algorithm),
    ..EMPTY
};

/// `#stablehlo.output_operand_alias<…>`
pub static OUTPUT_OPERAND_ALIAS: AttrDef = AttrDef {
    mnemonic: "output_operand_alias",
    doc: "Says that a part of the result of a `custom_call` shares the buffer of a part of an operand.",
    params: &[
        ParamDef::required("output_tuple_indices", ParamKind::I64s),
        ParamDef::required("operand_index", ParamKind::I64),
        ParamDef::required("operand_tuple_indices", ParamKind::I64s),
    ],
    ..EMPTY
};

/// `#stablehlo.channel_handle<…>`
pub static CHANNEL_HANDLE: AttrDef = AttrDef {
    mnemonic: "channel_handle",
    doc: "Names a channel between processes: its number and its kind.",
    params: &[
        ParamDef::required("handle", ParamKind::I64),
        ParamDef::required("type", ParamKind::I64),
    ],
    ..EMPTY
};

/// `#stablehlo.bounds<…>`, the encoding of a tensor type with bounded dimensions.
pub static TYPE_EXTENSIONS: AttrDef = AttrDef {
    mnemonic: "bounds",
    doc: "Upper bounds of the dynamic dimensions of a tensor; `?` where there is none.",
    params: &[ParamDef::required("bounds", ParamKind::I64s)],
    bounds: Some(0),
    verify_encoding: Some(verify_bounds),
    assembly: ParamAssembly::Custom { parse: parse_bounds, print: print_bounds },
    ..EMPTY
};

/// `#stablehlo.conv<…>`
pub static CONV_DIMENSION_NUMBERS: AttrDef = AttrDef {
    mnemonic: "conv",
    doc: "Which dimensions of input, kernel and output of a convolution are batch, feature and spatial ones.",
    params: ConvDims::PARAMS,
    assembly: ParamAssembly::Custom {
        parse: |p| parse_conv_dims(p, Unnamed::Refused),
        print: print_conv_dims,
    },
    ..EMPTY
};

/// `#mhlo.conv<…>`, in which dimensions may have no number.
pub static MHLO_CONV_DIMENSION_NUMBERS: AttrDef = AttrDef {
    dialect: "mhlo",
    mnemonic: "conv",
    doc: "As `#stablehlo.conv`; `?` stands for a dimension without a number.",
    params: ConvDims::PARAMS,
    assembly: ParamAssembly::Custom {
        parse: |p| parse_conv_dims(p, Unnamed::Written),
        print: print_conv_dims,
    },
    becomes: Some(&CONV_DIMENSION_NUMBERS),
    ..EMPTY
};

/// `#stablehlo.result_accuracy<…>`
pub static RESULT_ACCURACY: AttrDef = AttrDef {
    mnemonic: "result_accuracy",
    doc: "How accurate the result of a transcendental op must be: absolute, relative and in units in the last place.",
    params: &[
        ParamDef::optional("atol", ParamKind::F64),
        ParamDef::optional("rtol", ParamKind::F64),
        ParamDef::optional("ulps", ParamKind::I64),
        ParamDef::required("mode", ParamKind::Enum(&RESULT_ACCURACY_MODE)),
    ],
    verify: Some(verify_result_accuracy),
    assembly: ParamAssembly::Custom { parse: parse_result_accuracy, print: print_result_accuracy },
    ..EMPTY
};

/// The default accuracy.
pub fn default_result_accuracy() -> Attribute {
    let mode = Attribute::enumeration(&RESULT_ACCURACY_MODE, 0);
    let zero = Some(Attribute::f64(0.0));
    Attribute::dialect(
        &RESULT_ACCURACY,
        vec![zero.clone(), zero, Some(Attribute::i64(0)), Some(mode)],
    )
}

/// `#stablehlo.sub_axis_info<(pre_size)size>`
pub static SUB_AXIS_INFO: AttrDef = AttrDef {
    mnemonic: "sub_axis_info",
    doc: "Which part of a mesh axis: the size of the parts before it and its own.",
    params: &[
        ParamDef::required("pre_size", ParamKind::I64),
        ParamDef::required("size", ParamKind::I64),
    ],
    assembly: ParamAssembly::Custom { parse: parse_sub_axis_info, print: print_sub_axis_info },
    ..EMPTY
};

/// `#stablehlo.axis_ref<…>`
pub static AXIS_REF: AttrDef = AttrDef {
    mnemonic: "axis_ref",
    doc: "A mesh axis, or a part of one.",
    params: &[
        ParamDef::required("name", ParamKind::String),
        ParamDef::optional("sub_axis_info", ParamKind::Def(&SUB_AXIS_INFO)),
    ],
    ..EMPTY
};

/// `#stablehlo.mesh_axis<…>`
pub static MESH_AXIS: AttrDef = AttrDef {
    mnemonic: "mesh_axis",
    doc: "One axis of a mesh of devices: its name and size.",
    params: &[
        ParamDef::required("name", ParamKind::String),
        ParamDef::required("size", ParamKind::I64),
    ],
    ..EMPTY
};

static MESH_PARAMS: [ParamDef; 2] = [
    ParamDef::required("axes", ParamKind::Defs(&MESH_AXIS)),
    ParamDef::optional("device_ids", ParamKind::Attribute),
];

/// `#stablehlo.mesh<axes=[…], device_ids=…>`
pub static MESH: AttrDef = AttrDef {
    mnemonic: "mesh",
    doc: "A mesh of devices: its axes and, unless they count up, the ids of its devices.",
    params: &MESH_PARAMS,
    assembly: ParamAssembly::Custom { parse: parse_mesh, print: print_mesh },
    ..EMPTY
};

/// `#stablehlo.replica_group_mesh_axes<…>`
pub static REPLICA_GROUP_MESH_AXES: AttrDef = AttrDef {
    mnemonic: "replica_group_mesh_axes",
    doc: "Replica groups of a collective, given as axes of a mesh instead of lists of devices.",
    params: &[
        ParamDef::required("mesh", ParamKind::Attribute),
        ParamDef::required("axes", ParamKind::Attribute),
    ],
    verify: Some(verify_mesh_axes),
    ..EMPTY
};

/// Algorithms supported by some hardware: types of lhs, rhs and accumulation, and the number of
/// primitive operations.
const DOT_ALGORITHMS: [([FloatKind; 3], i64); 11] = {
    use FloatKind::{BF16, F16, F32, F64, TF32};
    [
        ([F16, F16, F16], 1),
        ([F16, F16, F32], 1),
        ([BF16, BF16, BF16], 1),
        ([BF16, BF16, F32], 1),
        ([BF16, BF16, F32], 3),
        ([BF16, BF16, F32], 6),
        ([BF16, BF16, F32], 9),
        ([TF32, TF32, F32], 1),
        ([TF32, TF32, F32], 3),
        ([F32, F32, F32], 1),
        ([F64, F64, F64], 1),
    ]
};

/// Checks `dot_general_c22` to `dot_general_c24`, and that the algorithm is known (`dot_general_i8`
/// and following).
fn verify_dot_algorithm(params: &[Option<Attribute>]) -> Result<(), String> {
    let [components @ .., operations] = [3, 4, 5].map(|i| int(params, i));
    for (name, n) in ["lhs_component_count", "rhs_component_count", "num_primitive_operations"]
        .iter()
        .zip(components.iter().chain([&operations]))
    {
        if *n < 1 {
            return Err(format!("{name} must be positive; found {n}"));
        }
    }
    let kind = |i: usize| match &**params[i].as_ref()?.as_type()? {
        TypeKind::Float(kind) => Some(*kind),
        _ => None,
    };
    let imprecise = flag(params[6].as_ref());
    let is_f8 = |kind: FloatKind| kind.width() == 8 && kind != FloatKind::F8E8M0FNU;
    let known = match [kind(0), kind(1), kind(2)] {
        [Some(lhs), Some(rhs), Some(FloatKind::F32)] if is_f8(lhs) && is_f8(rhs) => operations == 1,
        [Some(lhs), Some(rhs), Some(sum)] => {
            !imprecise && DOT_ALGORITHMS.contains(&([lhs, rhs, sum], operations))
        }
        _ => false,
    };
    if known && components == [1, 1] {
        Ok(())
    } else {
        Err("no hardware is known to run this dot algorithm".into())
    }
}

/// Checks that tolerances are not negative, and zero for modes without tolerances.
fn verify_result_accuracy(params: &[Option<Attribute>]) -> Result<(), String> {
    let float = |i: usize| match params[i].as_deref() {
        Some(AttrKind::Float { bits, .. }) => f64::from_bits(*bits as u64),
        _ => 0.0,
    };
    let (atol, rtol, ulps) = (float(0), float(1), int(params, 2));
    if atol < 0.0 || rtol < 0.0 || ulps < 0 {
        return Err(format!(
            "tolerances must not be negative; found atol {atol}, rtol {rtol}, ulps {ulps}"
        ));
    }
    let mode = params[3].as_ref().and_then(|m| m.as_enum(&RESULT_ACCURACY_MODE)).unwrap_or(0);
    if mode != RESULT_ACCURACY_TOLERANCE && (atol, rtol, ulps) != (0.0, 0.0, 0) {
        return Err("tolerances must be zero unless the mode is TOLERANCE".into());
    }
    Ok(())
}

/// Checks that the mesh is inline or a reference, and that an inline one has the axes.
fn verify_mesh_axes(params: &[Option<Attribute>]) -> Result<(), String> {
    let [Some(mesh), Some(axes)] = params else { return Err("mesh or axes are missing".into()) };
    let Some(axes) = axes.as_array() else { return Err("axes must be an array".into()) };
    let Some(mesh) = mesh.as_dialect(&MESH) else {
        let named = mesh.as_flat_symbol().is_some();
        return if named {
            Ok(())
        } else {
            Err("mesh must be a symbol or a #stablehlo.mesh".into())
        };
    };
    let names = mesh[0].as_ref().and_then(Attribute::as_array).unwrap_or(&[]);
    let name =
        |attr: &Attribute, def| attr.as_dialect(def)?[0].as_ref()?.as_str().map(str::to_string);
    for axis in axes {
        let Some(axis) = name(axis, &AXIS_REF) else {
            return Err("axes must hold #stablehlo.axis_ref".into());
        };
        if !names.iter().any(|n| name(n, &MESH_AXIS).as_deref() == Some(&axis)) {
            return Err(format!("the mesh has no axis `{axis}`"));
        }
    }
    Ok(())
}

/// Reads `<name = […], …>`; empty lists and zeros may be omitted.
fn parse_dims(parser: &mut Parser<'_>, def: &'static AttrDef) -> Parsed<Vec<Option<Attribute>>> {
    parser.expect("<")?;
    let params = parser.within("the dimension numbers", |p| p.struct_params(def.params, ">"))?;
    let absent = |kind: ParamKind| match kind {
        ParamKind::I64 => Attribute::i64(0),
        _ => Attribute::i64_array([]),
    };
    Ok(params
        .into_iter()
        .zip(def.params)
        .map(|(value, param)| value.or_else(|| Some(absent(param.kind))))
        .collect())
}

fn print_dims(printer: &mut Printer<'_>, def: &'static AttrDef, values: &[Option<Attribute>]) {
    let says_something = |v: &Attribute| {
        v.as_i64().is_some_and(|n| n != 0) || v.as_int_array().is_some_and(|l| !l.is_empty())
    };
    let shown: Vec<_> = values.iter().map(|v| v.clone().filter(says_something)).collect();
    printer.write("<");
    printer.struct_params(def.params, &shown);
    printer.write(">");
}

/// Reads `<atol = 1.0e-5, rtol = 0.0, ulps = 2, mode = …>`; all but the mode are optional.
fn parse_result_accuracy(parser: &mut Parser<'_>) -> Parsed<Vec<Option<Attribute>>> {
    parser.expect("<")?;
    let (mut atol, mut rtol, mut ulps) =
        (Attribute::f64(0.0), Attribute::f64(0.0), Attribute::i64(0));
    for (name, tolerance) in [("atol", &mut atol), ("rtol", &mut rtol)] {
        if parser.eat(name) {
            parser.expect("=")?;
            *tolerance = parser.attribute(Some(&Type::f64()))?;
            parser.expect(",")?;
        }
    }
    if parser.eat("ulps") {
        parser.expect("=")?;
        ulps = Attribute::i64(parser.integer()?);
        parser.expect(",")?;
    }
    parser.expect("mode")?;
    parser.expect("=")?;
    let at = parser.here();
    let mode = parser.attribute(None)?;
    if mode.as_enum(&RESULT_ACCURACY_MODE).is_none() {
        return parser.error_at(at, "expected a #stablehlo.result_accuracy_mode");
    }
    parser.expect(">")?;
    Ok(vec![Some(atol), Some(rtol), Some(ulps), Some(mode)])
}

fn print_result_accuracy(printer: &mut Printer<'_>, values: &[Option<Attribute>]) {
    let is_zero = |v: &Attribute| match &**v {
        AttrKind::Float { bits, .. } => f64::from_bits(*bits as u64) == 0.0,
        _ => v.as_i64() == Some(0),
    };
    printer.write("<");
    for (param, value) in RESULT_ACCURACY.params.iter().zip(values) {
        let Some(value) = value else { continue };
        if param.name == "mode" {
            printer.write("mode = ");
            printer.attribute(value);
        } else if !is_zero(value) {
            printer.number(format_args!("{} = ", param.name));
            printer.attribute_without_type(value);
            printer.write(", ");
        }
    }
    printer.write(">");
}

/// Reads `(pre_size)size`.
fn parse_sub_axis_info(parser: &mut Parser<'_>) -> Parsed<Vec<Option<Attribute>>> {
    parser.expect("(")?;
    let pre_size = parser.integer()?;
    parser.expect(")")?;
    Ok([pre_size, parser.integer()?].map(|n| Some(Attribute::i64(n))).to_vec())
}

fn print_sub_axis_info(printer: &mut Printer<'_>, values: &[Option<Attribute>]) {
    printer.number(format_args!("({}){}", int(values, 0), int(values, 1)));
}

fn parse_mesh(parser: &mut Parser<'_>) -> Parsed<Vec<Option<Attribute>>> {
    parser.expect("<")?;
    parser.struct_params(&MESH_PARAMS, ">")
}

/// Writes a mesh in the syntax of named parameters, but without spaces around `=`.
fn print_mesh(printer: &mut Printer<'_>, values: &[Option<Attribute>]) {
    let present =
        MESH_PARAMS.iter().zip(values).filter_map(|(param, value)| Some((param, value.as_ref()?)));
    printer.write("<");
    printer.separated(", ", present, |p, (param, value)| {
        p.write(param.name);
        p.write("=");
        p.param(param.kind, value);
    });
    printer.write(">");
}

/// Reads `<?, 4>` or `<bounds = [?, 4]>`.
fn parse_bounds(parser: &mut Parser<'_>) -> Parsed<Vec<Option<Attribute>>> {
    parser.expect("<")?;
    let named = parser.eat("bounds");
    if named {
        parser.expect("=")?;
        parser.expect("[")?;
    }
    let mut bounds = Vec::new();
    parser.list_until(if named { "]" } else { ">" }, |p| {
        bounds.push(if p.eat("?") { DYNAMIC } else { p.integer()? });
        Ok(())
    })?;
    if named {
        parser.expect(">")?;
    }
    Ok(vec![Some(Attribute::i64_array(bounds))])
}

fn print_bounds(printer: &mut Printer<'_>, values: &[Option<Attribute>]) {
    printer.write("<");
    printer.separated(", ", dims(values, 0), |p, &bound| {
        if bound == DYNAMIC { p.write("?") } else { p.number(bound) }
    });
    printer.write(">");
}

/// Checks that there is one bound per dimension, and none for static dimensions.
fn verify_bounds(
    params: &[Option<Attribute>],
    shape: &[i64],
    _element: &Type,
) -> Result<(), String> {
    let bounds = dims(params, 0);
    if bounds.len() != shape.len() {
        return Err(format!(
            "there must be one bound a dimension: {} bounds for rank {}",
            bounds.len(),
            shape.len()
        ));
    }
    match shape.iter().zip(bounds).position(|(&size, &bound)| size != DYNAMIC && bound != DYNAMIC) {
        Some(i) => Err(format!(
            "dimension {i} is static ({}), so it cannot have the bound {}",
            shape[i], bounds[i]
        )),
        None => Ok(()),
    }
}

fn dims(params: &[Option<Attribute>], index: usize) -> &[i64] {
    params.get(index).and_then(Option::as_ref).and_then(|a| a.as_int_array()).unwrap_or(&[])
}

fn int(params: &[Option<Attribute>], index: usize) -> i64 {
    params.get(index).and_then(Option::as_ref).and_then(Attribute::as_i64).unwrap_or(0)
}

/// Declares the parameters of an attribute together with a typed view of them.
macro_rules! dimension_numbers {
    ($(#[doc = $doc:literal])+ $view:ident, $def:ident, $presence:ident {
        $($field:ident : $kind:ident),* $(,)?
    }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug)]
        #[allow(missing_docs, reason = "the names are the specification's")]
        pub struct $view<'a> {
            $(pub $field: dimension_numbers!(@type $kind)),*
        }

        impl<'a> $view<'a> {
            /// The declaration.
            pub const DEF: &'static AttrDef = &$def;
            const PARAMS: &'static [ParamDef] =
                &[$(ParamDef::$presence(stringify!($field), ParamKind::$kind)),*];

            /// The view, if `attr` is one.
            pub fn of(attr: &'a Attribute) -> Option<$view<'a>> {
                Some($view::from_params(attr.as_dialect(Self::DEF)?))
            }

            /// The view of the attribute's parameters; absent ones are zero or empty.
            pub fn from_params(params: &'a [Option<Attribute>]) -> $view<'a> {
                let mut params = params.iter().map(Option::as_ref);
                $view { $($field: AttrValue::of(params.next().flatten())),* }
            }

            /// The same numbers, owned.
            pub fn to_owned(self) -> program::primitives::$view {
                program::primitives::$view { $($field: self.$field.to_owned()),* }
            }
        }

        impl<'a> AttrValue<'a> for $view<'a> {
            fn of(attr: Option<&'a Attribute>) -> $view<'a> {
                $view::from_params(attr.and_then(|a| a.as_dialect(Self::DEF)).unwrap_or(&[]))
            }
        }
    };
    (@type I64s) => { &'a [i64] };
    (@type I64) => { i64 };
}

dimension_numbers! {
    /// A view of `#stablehlo.scatter`.
    ScatterDims, SCATTER_DIMENSION_NUMBERS, optional {
        update_window_dims: I64s,
        inserted_window_dims: I64s,
        input_batching_dims: I64s,
        scatter_indices_batching_dims: I64s,
        scatter_dims_to_operand_dims: I64s,
        index_vector_dim: I64,
    }
}

dimension_numbers! {
    /// A view of `#stablehlo.gather`.
    GatherDims, GATHER_DIMENSION_NUMBERS, optional {
        offset_dims: I64s,
        collapsed_slice_dims: I64s,
        operand_batching_dims: I64s,
        start_indices_batching_dims: I64s,
        start_index_map: I64s,
        index_vector_dim: I64,
    }
}

dimension_numbers! {
    /// A view of `#stablehlo.dot`.
    DotDims, DOT_DIMENSION_NUMBERS, optional {
        lhs_batching_dimensions: I64s,
        rhs_batching_dimensions: I64s,
        lhs_contracting_dimensions: I64s,
        rhs_contracting_dimensions: I64s,
    }
}

dimension_numbers! {
    /// A view of `#stablehlo.conv`.
    ConvDims, CONV_DIMENSION_NUMBERS, required {
        input_batch_dimension: I64,
        input_feature_dimension: I64,
        input_spatial_dimensions: I64s,
        kernel_input_feature_dimension: I64,
        kernel_output_feature_dimension: I64,
        kernel_spatial_dimensions: I64s,
        output_batch_dimension: I64,
        output_feature_dimension: I64,
        output_spatial_dimensions: I64s,
    }
}

/// The attributes by which collective ops name the processes that take part.
#[derive(Clone, Copy)]
pub struct CollectiveAttrs<'m> {
    /// Groups as a matrix of ids, or as axes of a mesh.
    pub replica_groups: Option<&'m Attribute>,
    /// The channel id, if there is a channel.
    pub channel: Option<i64>,
    /// Ids are of devices instead of replicas.
    pub use_global_device_ids: bool,
}

impl<'m> CollectiveAttrs<'m> {
    /// The attributes of any collective op.
    pub fn of(op: OpRef<'m>) -> CollectiveAttrs<'m> {
        CollectiveAttrs {
            replica_groups: op.attr("replica_groups"),
            channel: op.attr("channel_handle").map(channel_id),
            use_global_device_ids: flag(op.attr("use_global_device_ids")),
        }
    }

    /// The channel id, or 0.
    pub fn channel_or_zero(&self) -> i64 {
        self.channel.unwrap_or(0)
    }
}

/// The channel id of `#stablehlo.channel_handle`; 0 if `attr` is something else.
pub fn channel_id(attr: &Attribute) -> i64 {
    attr.as_dialect(&CHANNEL_HANDLE).map_or(0, |p| int(p, 0))
}

/// The channel type of `#stablehlo.channel_handle`; 0 if `attr` is something else.
pub fn channel_type(attr: &Attribute) -> i64 {
    attr.as_dialect(&CHANNEL_HANDLE).map_or(0, |p| int(p, 1))
}

/// The values of an integer `array<…>` attribute; empty if absent.
pub fn ints(attr: Option<&Attribute>) -> &[i64] {
    attr.and_then(Attribute::as_int_array).unwrap_or(&[])
}

/// The value of an integer attribute; 0 if absent.
pub fn integer(attr: Option<&Attribute>) -> i64 {
    attr.and_then(Attribute::as_i64).unwrap_or(0)
}

/// True if a boolean or unit attribute is present and true.
pub fn flag(attr: Option<&Attribute>) -> bool {
    attr.is_some_and(|a| a.as_bool().unwrap_or(true))
}

/// The encoding of a tensor type with the given bounds; `DYNAMIC` for none.
pub fn type_extensions(bounds: Vec<i64>) -> Attribute {
    Attribute::dialect(&TYPE_EXTENSIONS, vec![Some(Attribute::i64_array(bounds))])
}

/// The bounds in a tensor encoding, one per dimension; `DYNAMIC` for none.
pub fn bounds(encoding: &Attribute) -> Option<&[i64]> {
    Some(dims(encoding.as_dialect(&TYPE_EXTENSIONS)?, 0))
}
