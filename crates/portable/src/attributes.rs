//! Conversion of attributes between programs and VHLO.

use crate::cache::ConversionCache;
use crate::{ForeignOps, types};
use hlo::attrs as stable;
use mlir::attrs::{AttrKind, DenseElements, Dictionary};
use mlir::ods::{AttrDef, EnumDef, ParamKind};
use mlir::types::Signedness;
use mlir::{Attribute, Type, TypeKind};
use numerics::Bytes;
use vhlo::VHLO;
use vhlo::attrs::{self as portable, FLOAT, INTEGER, TENSOR};
use vhlo::enums::ENUMS;

/// StableHLO attributes and the VHLO attributes with the same parameters.
static COUNTERPARTS: [(&AttrDef, &AttrDef); 7] = [
    (&stable::AXIS_REF, &portable::AXIS_REF),
    (&stable::MESH, &portable::MESH),
    (&stable::MESH_AXIS, &portable::MESH_AXIS),
    (&stable::OUTPUT_OPERAND_ALIAS, &portable::OUTPUT_OPERAND_ALIAS),
    (&stable::REPLICA_GROUP_MESH_AXES, &portable::REPLICA_GROUP_MESH_AXES),
    (&stable::RESULT_ACCURACY, &portable::RESULT_ACCURACY),
    (&stable::SUB_AXIS_INFO, &portable::SUB_AXIS_INFO),
];

/// Converts an attribute to VHLO; `None` if it has no VHLO form.
pub(crate) fn to_vhlo(
    attribute: &Attribute,
    foreign: ForeignOps,
    cache: &mut ConversionCache,
) -> Option<Attribute> {
    match &**attribute {
        AttrKind::Enum(e) => enumeration_to_vhlo(e.def, e.value),
        AttrKind::Dialect(d) if d.def.dialect == hlo::STABLEHLO.namespace => {
            let (_, def) = COUNTERPARTS.iter().find(|(from, _)| std::ptr::eq(*from, d.def))?;
            let params =
                def.params.iter().zip(&d.params).map(|(param, value)| match (param.kind, value) {
                    (ParamKind::Attribute, Some(value)) => to_vhlo(value, foreign, cache).map(Some),
                    (ParamKind::F64, None) => Some(Some(Attribute::f64(0.0))),
                    (ParamKind::I64, None) => Some(Some(Attribute::i64(0))),
                    _ => Some(value.clone()),
                });
            Some(Attribute::dialect(def, params.collect::<Option<_>>()?))
        }
        AttrKind::Array(elements) => cache.get_or_convert(
            |cache| &mut cache.attributes,
            attribute,
            |cache| {
                let elements = elements
                    .iter()
                    .map(|element| to_vhlo(element, foreign, cache))
                    .collect::<Option<_>>()?;
                Some(portable::array(elements))
            },
        ),
        AttrKind::Dictionary(entries) => cache.get_or_convert(
            |cache| &mut cache.attributes,
            attribute,
            |cache| {
                let mut keys_and_values = Vec::with_capacity(2 * entries.len());
                for (key, value) in entries.iter() {
                    let value = to_vhlo(value, foreign, cache)?;
                    keys_and_values.extend([portable::string(&**key), value]);
                }
                Some(portable::dictionary(keys_and_values))
            },
        ),
        AttrKind::Dense(_) => typed(&TENSOR, attribute.clone(), foreign, cache),
        AttrKind::DenseArray { .. } => match attribute_elements(attribute) {
            Some(elements) => typed(&TENSOR, elements, foreign, cache),
            None => foreign.keep(attribute),
        },
        AttrKind::Float { .. } => typed(&FLOAT, attribute.clone(), foreign, cache),
        AttrKind::Integer { .. } => match attribute.as_bool() {
            Some(value) => Some(portable::bool(value)),
            None => typed(&INTEGER, attribute.clone(), foreign, cache),
        },
        AttrKind::Symbol { .. } => match attribute.as_flat_symbol() {
            Some(name) => Some(portable::string(&**name)),
            None => foreign.keep(attribute),
        },
        AttrKind::String { value, ty } if matches!(**ty, TypeKind::None) => {
            Some(portable::string(value))
        }
        AttrKind::String { .. } => None,
        AttrKind::Type(ty) => Some(portable::ty(types::to_vhlo(ty, foreign, cache)?)),
        _ => foreign.keep(attribute),
    }
}

/// Converts an attribute from VHLO. Attributes of other dialects are unchanged. Returns `None` if a
/// part of it has no counterpart.
pub(crate) fn from_vhlo(attribute: &Attribute, cache: &mut ConversionCache) -> Option<Attribute> {
    let d = match &**attribute {
        AttrKind::Enum(e) if e.def.dialect == VHLO.namespace => {
            return enumeration_from_vhlo(e.def, e.value);
        }
        AttrKind::Dialect(d) if d.def.dialect == VHLO.namespace => d,
        _ => return Some(attribute.clone()),
    };
    if let Some(elements) = portable::as_array(attribute) {
        return cache.get_or_convert(
            |cache| &mut cache.attributes,
            attribute,
            |cache| {
                let elements = elements
                    .iter()
                    .map(|element| from_vhlo(element, cache))
                    .collect::<Option<_>>()?;
                Some(Attribute::array(elements))
            },
        );
    }
    if let Some(keys_and_values) = portable::as_dictionary(attribute) {
        return cache.get_or_convert(
            |cache| &mut cache.attributes,
            attribute,
            |cache| {
                let entry = |entry: &[Attribute]| {
                    Some((portable::as_str(&entry[0])?.into(), from_vhlo(&entry[1], cache)?))
                };
                let entries = keys_and_values.chunks_exact(2).map(entry).collect::<Option<_>>()?;
                Some(Dictionary::new(entries).ok()?.into())
            },
        );
    }
    if let Some(ty) = portable::as_type(attribute) {
        return Some(types::from_vhlo(ty, cache)?.into());
    }
    let param = |index: usize| d.params.get(index)?.as_ref();
    let is = |def| std::ptr::eq(d.def, def);
    if is(&portable::BOOL) || is(&portable::STRING) {
        return param(0).cloned();
    }
    if is(&INTEGER) || is(&FLOAT) || is(&TENSOR) {
        return param(1).cloned();
    }
    let (def, _) = COUNTERPARTS.iter().find(|(_, from)| std::ptr::eq(*from, d.def))?;
    let is_mesh_axes = is(&portable::REPLICA_GROUP_MESH_AXES);
    let params = d.def.params.iter().zip(&d.params).enumerate().map(|(index, (param, value))| {
        match (param.kind, value) {
            // A mesh is either inline or a symbol reference.
            (ParamKind::Attribute, Some(value)) if is_mesh_axes && index == 0 => {
                match portable::as_str(value) {
                    Some(name) => Some(Some(Attribute::symbol(name))),
                    None => from_vhlo(value, cache).map(Some),
                }
            }
            (ParamKind::Attribute, Some(value)) => from_vhlo(value, cache).map(Some),
            _ => Some(value.clone()),
        }
    });
    checked(def, params.collect::<Option<_>>()?).ok()
}

/// The attribute with these parameters.
///
/// # Errors
/// The reason why the declaration refuses them.
pub(crate) fn checked(
    def: &'static AttrDef,
    params: Vec<Option<Attribute>>,
) -> Result<Attribute, String> {
    def.verify.map_or(Ok(()), |verify| verify(&params))?;
    Ok(Attribute::dialect(def, params))
}

/// The elements of an array of i64 or i1 as `dense`.
fn attribute_elements(attribute: &Attribute) -> Option<Attribute> {
    let AttrKind::DenseArray { element, values } = &**attribute else { return None };
    let TypeKind::Integer { width, signedness: Signedness::Signless } = **element else {
        return None;
    };
    let length = i64::try_from(values.len()).ok()?;
    match width {
        64 => Attribute::i64_elements(&[length], values),
        1 => bool_elements(values.iter().map(|&b| b != 0).collect()),
        _ => None,
    }
}

/// `dense<…> : tensor<Nxi1>`
pub(crate) fn bool_elements(values: Vec<bool>) -> Option<Attribute> {
    let ty = Type::tensor([i64::try_from(values.len()).ok()?], Type::i1());
    DenseElements::new(ty, Bytes::from_vec(values.into_iter().map(u8::from).collect()))
        .map(Attribute::from)
}

fn typed(
    def: &'static AttrDef,
    value: Attribute,
    foreign: ForeignOps,
    cache: &mut ConversionCache,
) -> Option<Attribute> {
    let ty: Type = types::to_vhlo(&value.ty(), foreign, cache)?;
    Some(Attribute::dialect(def, vec![Some(ty.into()), Some(value)]))
}

/// The mnemonic of an enumeration of VHLO without its version.
fn name(def: &EnumDef) -> &str {
    def.mnemonic.rsplit_once("_v").map_or(def.mnemonic, |(name, _)| name)
}

/// The case of `to` with the same name as `value` in `from`, if the enumerations have the same
/// name.
fn same_case(from: &EnumDef, value: u64, to: &'static EnumDef) -> Option<Attribute> {
    let case = from.case(value)?;
    let (value, _) = to.cases.iter().find(|(_, name)| *name == case)?;
    Some(Attribute::enumeration(to, *value))
}

fn enumeration_to_vhlo(def: &EnumDef, value: u64) -> Option<Attribute> {
    same_case(def, value, ENUMS.iter().find(|e| name(e) == def.mnemonic)?)
}

fn enumeration_from_vhlo(def: &EnumDef, value: u64) -> Option<Attribute> {
    same_case(def, value, hlo::enums::ENUMS.iter().find(|e| name(def) == e.mnemonic)?)
}
