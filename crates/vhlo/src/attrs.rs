//! All attributes of all versions, except the enumerations, and their syntax.

use crate::enums::RESULT_ACCURACY_MODE;
use crate::{Version, types};
use mlir::attrs::AttrKind;
use mlir::ods::{AttrDef, ParamAssembly, ParamDef, ParamKind};
use mlir::text::{Parsed, Parser, Printer};
use mlir::types::DYNAMIC;
use mlir::{Attribute, Type};
use numerics::{Tensor, math};

/// Default fields of a declaration, for struct update syntax.
const EMPTY: AttrDef = AttrDef {
    dialect: "vhlo",
    mnemonic: "",
    doc: "An attribute of StableHLO as it was in a range of versions.",
    params: &[],
    assembly: ParamAssembly::Struct,
    verify: None,
    bounds: None,
    verify_encoding: None,
    becomes: None,
};

/// An attribute with the first version that has it. No attribute was ever removed.
pub struct VersionedAttr {
    /// The declaration.
    pub def: &'static AttrDef,
    /// The first version that has it.
    pub since: Version,
}

macro_rules! attributes {
    ($($(#[doc = $doc:literal])+ $ident:ident $mnemonic:literal since ($major:literal, $minor:literal) [$($param:expr),*]
        $assembly:expr $(, verify $verify:expr)?;)+) => {
        $($(#[doc = $doc])+
        pub static $ident: AttrDef =
            AttrDef { mnemonic: $mnemonic, params: &[$($param),*], assembly: $assembly, $(verify: Some($verify),)? ..EMPTY };)+

        /// The declarations.
        pub static ATTRIBUTES: &[&AttrDef] = &[$(&$ident),+];

        /// The attributes with their versions.
        pub static VERSIONED_ATTRIBUTES: &[VersionedAttr] =
            &[$(VersionedAttr { def: &$ident, since: Version::new($major, $minor) }),+];
    };
}

attributes! {
    /// `#vhlo.array_v1<[a, b]>`
    ARRAY "array_v1" since (0, 9) [ParamDef::required("value", ParamKind::Attribute)] ParamAssembly::List;
    /// `#vhlo.axis_ref_v1<name = …, sub_axis_info = …>`
    AXIS_REF "axis_ref_v1" since (1, 16)
        [ParamDef::required("name", ParamKind::Attribute), ParamDef::optional("sub_axis_info", ParamKind::Attribute)] ParamAssembly::Struct;
    /// `#vhlo.bool_v1<true>`
    BOOL "bool_v1" since (0, 9) [ParamDef::required("value", ParamKind::Bool)] ParamAssembly::List;
    /// `#vhlo.dict_v1<{key = value}>`: an array of keys and values in turn.
    DICTIONARY "dict_v1" since (0, 9) [ParamDef::required("value", ParamKind::Attribute)]
        ParamAssembly::Custom { parse: parse_dictionary, print: print_dictionary }, verify verify_keys;
    /// `#vhlo.float_v1<1.0 : T>`: the type and the number as a builtin attribute.
    FLOAT "float_v1" since (0, 9) [ParamDef::required("type", ParamKind::Type), ParamDef::required("value", ParamKind::Attribute)]
        ParamAssembly::Custom { parse: parse_float, print: print_float };
    /// `#vhlo.integer_v1<1 : i64>`: the type and the number as a builtin attribute.
    INTEGER "integer_v1" since (0, 9) [ParamDef::required("type", ParamKind::Type), ParamDef::required("value", ParamKind::Attribute)]
        ParamAssembly::Custom { parse: parse_typed, print: print_value };
    /// `#vhlo.mesh_axis_v1<name = …, size = 2>`
    MESH_AXIS "mesh_axis_v1" since (1, 16)
        [ParamDef::required("name", ParamKind::Attribute), ParamDef::required("size", ParamKind::I64)] ParamAssembly::Struct;
    /// `#vhlo.mesh_v1<axes = …, device_ids = …>`
    MESH "mesh_v1" since (1, 16)
        [ParamDef::required("axes", ParamKind::Attribute), ParamDef::optional("device_ids", ParamKind::Attribute)] ParamAssembly::Struct;
    /// `#vhlo.output_operand_alias_v1<…>`
    OUTPUT_OPERAND_ALIAS "output_operand_alias_v1" since (0, 9) [
        ParamDef::required("outputTupleIndices", ParamKind::I64s),
        ParamDef::required("operandIndex", ParamKind::I64),
        ParamDef::required("operandTupleIndices", ParamKind::I64s)
    ] ParamAssembly::Struct;
    /// `#vhlo.replica_group_mesh_axes_v1<mesh = …, axes = …>`
    REPLICA_GROUP_MESH_AXES "replica_group_mesh_axes_v1" since (1, 16)
        [ParamDef::required("mesh", ParamKind::Attribute), ParamDef::required("axes", ParamKind::Attribute)] ParamAssembly::Struct;
    /// `#vhlo.result_accuracy_v1<…>`
    RESULT_ACCURACY "result_accuracy_v1" since (1, 9) [
        ParamDef::required("atol", ParamKind::F64),
        ParamDef::required("rtol", ParamKind::F64),
        ParamDef::required("ulps", ParamKind::I64),
        ParamDef::required("mode", ParamKind::Attribute)
    ] ParamAssembly::Struct, verify verify_mode;
    /// `#vhlo.string_v1<"text">`
    STRING "string_v1" since (0, 9) [ParamDef::required("value", ParamKind::String)] ParamAssembly::List;
    /// `#vhlo.sub_axis_info_v1<pre_size = 1, size = 2>`
    SUB_AXIS_INFO "sub_axis_info_v1" since (1, 16)
        [ParamDef::required("pre_size", ParamKind::I64), ParamDef::required("size", ParamKind::I64)] ParamAssembly::Struct;
    /// `#vhlo.tensor_v1<dense<…> : tensor<…>>`: the type and the elements as a builtin attribute.
    TENSOR "tensor_v1" since (0, 9) [ParamDef::required("type", ParamKind::Type), ParamDef::required("data", ParamKind::Attribute)]
        ParamAssembly::Custom { parse: parse_typed, print: print_value };
    /// `#vhlo.type_extensions_v1<bounds = [8, ?]>`
    TYPE_EXTENSIONS "type_extensions_v1" since (0, 9) [ParamDef::required("bounds", ParamKind::I64s)]
        ParamAssembly::Custom { parse: parse_bounds, print: print_bounds };
    /// `#vhlo.type_v1<T>`
    TYPE "type_v1" since (0, 9) [ParamDef::required("value", ParamKind::Type)] ParamAssembly::List;
}

/// `#vhlo.array_v1<[…]>`
pub fn array(elements: Vec<Attribute>) -> Attribute {
    Attribute::dialect(&ARRAY, vec![Some(Attribute::array(elements))])
}

/// The elements of `#vhlo.array_v1<[…]>`.
pub fn as_array(attribute: &Attribute) -> Option<&[Attribute]> {
    attribute.as_dialect(&ARRAY)?.first()?.as_ref()?.as_array()
}

/// `#vhlo.bool_v1<…>`
pub fn bool(value: bool) -> Attribute {
    Attribute::dialect(&BOOL, vec![Some(Attribute::bool(value))])
}

/// The value of `#vhlo.bool_v1<…>`.
pub fn as_bool(attribute: &Attribute) -> Option<bool> {
    attribute.as_dialect(&BOOL)?.first()?.as_ref()?.as_bool()
}

/// `#vhlo.string_v1<…>`
pub fn string(value: impl AsRef<[u8]>) -> Attribute {
    Attribute::dialect(&STRING, vec![Some(Attribute::string(value))])
}

/// The value of `#vhlo.string_v1<…>`, if it is valid UTF-8.
pub fn as_str(attribute: &Attribute) -> Option<&str> {
    attribute.as_dialect(&STRING)?.first()?.as_ref()?.as_str()
}

/// `#vhlo.type_v1<…>`
pub fn ty(value: Type) -> Attribute {
    Attribute::dialect(&TYPE, vec![Some(value.into())])
}

/// The type of `#vhlo.type_v1<…>`.
pub fn as_type(attribute: &Attribute) -> Option<&Type> {
    attribute.as_dialect(&TYPE)?.first()?.as_ref()?.as_type()
}

/// `#vhlo.dict_v1<…>` of keys and values in turn.
pub fn dictionary(keys_and_values: Vec<Attribute>) -> Attribute {
    Attribute::dialect(&DICTIONARY, vec![Some(Attribute::array(keys_and_values))])
}

/// The keys and values of `#vhlo.dict_v1<…>` in turn.
pub fn as_dictionary(attribute: &Attribute) -> Option<&[Attribute]> {
    attribute.as_dialect(&DICTIONARY)?.first()?.as_ref()?.as_array()
}

/// `#vhlo.integer_v1<value : i64>`
pub fn i64(value: i64) -> Attribute {
    typed(&INTEGER, Attribute::i64(value)).unwrap_or_else(Attribute::unit)
}

/// The value of `#vhlo.integer_v1<…>`.
pub fn as_i64(attribute: &Attribute) -> Option<i64> {
    attribute.as_dialect(&INTEGER)?.get(1)?.as_ref()?.as_i64()
}

/// The builtin `dense` of `#vhlo.tensor_v1<…>`.
pub fn as_tensor(attribute: &Attribute) -> Option<&Attribute> {
    attribute.as_dialect(&TENSOR)?.get(1)?.as_ref()
}

/// A number or tensor with its type and the builtin attribute `value`; `None` if that type has no
/// counterpart.
pub fn typed(def: &'static AttrDef, value: Attribute) -> Option<Attribute> {
    let ty = types::from_builtin(&value.ty())?;
    Some(Attribute::dialect(def, vec![Some(ty.into()), Some(value)]))
}

type Params = Vec<Option<Attribute>>;

fn param(params: &[Option<Attribute>], index: usize) -> Option<&Attribute> {
    params.get(index).and_then(Option::as_ref)
}

fn verify_keys(params: &[Option<Attribute>]) -> Result<(), String> {
    let entries = param(params, 0).and_then(Attribute::as_array).unwrap_or(&[]);
    match entries.chunks_exact(2).find(|entry| entry[0].as_dialect(&STRING).is_none()) {
        Some(entry) => Err(format!("the key {} is not a #vhlo.string_v1", entry[0])),
        None => Ok(()),
    }
}

fn verify_mode(params: &[Option<Attribute>]) -> Result<(), String> {
    match param(params, 3) {
        Some(mode) if mode.as_enum(&RESULT_ACCURACY_MODE).is_none() => {
            Err(format!("the mode {mode} is not a #vhlo<result_accuracy_mode_v1 …>"))
        }
        _ => Ok(()),
    }
}

fn parse_dictionary(p: &mut Parser<'_>) -> Parsed<Params> {
    p.expect("<")?;
    p.expect("{")?;
    let mut entries = Vec::new();
    p.list_until("}", |p| {
        entries.push(p.attribute(None)?);
        p.expect("=")?;
        entries.push(p.attribute(None)?);
        Ok(())
    })?;
    p.expect(">")?;
    Ok(vec![Some(Attribute::array(entries))])
}

fn print_dictionary(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
    p.write("<{");
    let entries = param(params, 0).and_then(Attribute::as_array).unwrap_or(&[]);
    p.separated(", ", entries.chunks_exact(2), |p, entry| {
        p.attribute(&entry[0]);
        p.write(" = ");
        p.attribute(&entry[1]);
    });
    p.write("}>");
}

fn parse_float(p: &mut Parser<'_>) -> Parsed<Params> {
    p.expect("<")?;
    let start = p.here();
    let value = p.param(ParamKind::F64)?;
    p.expect(":")?;
    let ty = p.ty()?;
    let builtin = types::to_scalar(&ty).filter(Type::is_float);
    let number = builtin.and_then(|builtin| {
        let AttrKind::Float { bits, .. } = &*value else { return None };
        let wide = Tensor::scalar(f64::from_bits(*bits as u64));
        let narrow = math::convert(wide, builtin.dtype()?).ok()?;
        let bits = narrow.bytes().iter().rev().fold(0u128, |bits, &b| bits << 8 | u128::from(b));
        Some(Attribute::float_bits(bits, builtin))
    });
    let Some(number) = number else {
        return p.error_at(p.span_from(start), format!("a float cannot have the type {ty}"));
    };
    p.expect(">")?;
    Ok(vec![Some(ty.into()), Some(number)])
}

fn print_float(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
    p.write("<");
    param(params, 1).iter().for_each(|v| p.attribute_without_type(v));
    p.write(" : ");
    param(params, 0).iter().for_each(|t| p.attribute(t));
    p.write(">");
}

fn parse_typed(p: &mut Parser<'_>) -> Parsed<Params> {
    p.expect("<")?;
    let start = p.here();
    let value = p.attribute(None)?;
    let Some(ty) = types::from_builtin(&value.ty()) else {
        return p.error_at(
            p.span_from(start),
            format!("VHLO has no equivalent of the type {}", value.ty()),
        );
    };
    p.expect(">")?;
    Ok(vec![Some(ty.into()), Some(value)])
}

fn print_value(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
    p.write("<");
    param(params, 1).iter().for_each(|v| p.attribute(v));
    p.write(">");
}

fn parse_bounds(p: &mut Parser<'_>) -> Parsed<Params> {
    p.expect("<")?;
    p.expect("bounds")?;
    p.expect("=")?;
    p.expect("[")?;
    let mut bounds = Vec::new();
    p.list_until("]", |p| {
        bounds.push(if p.eat("?") { DYNAMIC } else { p.integer()? });
        Ok(())
    })?;
    p.expect(">")?;
    Ok(vec![Some(Attribute::i64_array(bounds))])
}

fn print_bounds(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
    p.write("<bounds = [");
    let bounds = param(params, 0).and_then(Attribute::as_int_array).unwrap_or(&[]);
    p.separated(
        ", ",
        bounds,
        |p, &bound| if bound == DYNAMIC { p.write("?") } else { p.number(bound) },
    );
    p.write("]>");
}
