//! Conversion of ops between programs and VHLO of the current version.
//!
//! Operands, results and regions stay. Attributes are converted one by one, except structured
//! StableHLO attributes (dimension numbers, channels, algorithms): VHLO flattens them into one
//! attribute per parameter.

use crate::cache::ConversionCache;
use crate::convert::{ConversionError, ForeignOps, OpConversion, OpReplacement};
use crate::{attributes, defaults, types};
use hlo::attrs::CHANNEL_HANDLE;
use mlir::attrs::AttrKind;
use mlir::ods::{AttrConstraint, AttrDef, AttrSlot, OpDef, ParamDef, ParamKind, Presence};
use mlir::{Attribute, OpRef, Type};
use side_dialects::func::{CallOp, FuncOp, ReturnOp};
use vhlo::attrs as portable;
use vhlo::enums::API_VERSION;
use vhlo::ops::{family, in_version, versioned};
use vhlo::{VHLO, Version};

/// Function ops by their names in VHLO.
static FUNCTIONS: [(&str, &OpDef); 3] =
    [("call", CallOp::DEF), ("func", FuncOp::DEF), ("return", ReturnOp::DEF)];

/// The VHLO name of a program op.
fn portable_name(def: &'static OpDef) -> Option<&'static str> {
    if def.dialect() == hlo::STABLEHLO.namespace {
        return Some(def.mnemonic());
    }
    FUNCTIONS.iter().find(|(_, op)| std::ptr::eq(*op, def)).map(|(name, _)| *name)
}

/// The structured attribute in `slot` if the VHLO op `portable` flattens it.
fn spread(slot: &AttrSlot, portable: &OpDef) -> Option<&'static AttrDef> {
    match slot.constraint {
        AttrConstraint::Def(def) if portable.attribute_index(slot.name).is_none() => Some(def),
        _ => None,
    }
}

/// The VHLO attribute for a parameter of a flattened attribute.
fn part_name(parts: &AttrDef, param: &ParamDef) -> &'static str {
    match param.name {
        "handle" if std::ptr::eq(parts, &CHANNEL_HANDLE) => "channel_id",
        "type" if std::ptr::eq(parts, &CHANNEL_HANDLE) => "channel_type",
        name => name,
    }
}

/// The default of an absent parameter of a flattened attribute.
fn empty(kind: ParamKind) -> Attribute {
    match kind {
        ParamKind::I64s => Attribute::i64_array([]),
        _ => Attribute::i64(0),
    }
}

/// Converts a program op to VHLO.
pub(crate) fn to_vhlo(
    op: OpRef<'_>,
    foreign: ForeignOps,
    cache: &mut ConversionCache,
) -> Result<OpConversion, ConversionError> {
    let Some((def, name)) = op.def().and_then(|def| Some((def, portable_name(def)?))) else {
        return Ok(OpConversion::ForeignOps);
    };
    let to = in_version(name, Version::CURRENT)
        .ok_or_else(|| ConversionError::new("VHLO has no equivalent op"))?
        .def;
    let mut replacement = OpReplacement::new(to);
    let refuse = |name: &str, value: &Attribute| ConversionError::attribute(name, value, foreign);
    for (slot, value) in def.attributes.iter().zip(op.properties()) {
        let Some(value) = value else { continue };
        if let Some(parts) = spread(slot, to) {
            let values = value.as_dialect(parts).ok_or_else(|| refuse(slot.name, value))?;
            for (param, part) in parts.params.iter().zip(values) {
                let Some(index) = to.attribute_index(part_name(parts, param)) else { continue };
                let part = part.clone().unwrap_or_else(|| empty(param.kind));
                let part = attributes::to_vhlo(&part, foreign, cache)
                    .ok_or_else(|| refuse(slot.name, value))?;
                replacement.properties[index] = Some(part);
            }
        } else {
            let part = slot_to_vhlo(to, slot, value, foreign, cache)
                .ok_or_else(|| refuse(slot.name, value))?;
            replacement.set(slot.name, part);
        }
    }
    for (name, value) in op.attributes().iter() {
        let part = attributes::to_vhlo(value, foreign, cache).ok_or_else(|| refuse(name, value))?;
        replacement.set(name, part);
    }
    replacement.fill_defaults()?;
    Ok(OpConversion::Replace(replacement))
}

fn slot_to_vhlo(
    to: &OpDef,
    slot: &AttrSlot,
    value: &Attribute,
    foreign: ForeignOps,
    cache: &mut ConversionCache,
) -> Option<Attribute> {
    match (slot.constraint, &**value) {
        // As a discardable attribute it would be read back as a boolean.
        (AttrConstraint::Unit, AttrKind::Unit) => {
            to.attribute_index(slot.name).map(|_| portable::bool(true))
        }
        (AttrConstraint::IntEnum(..), _) => {
            let case = u64::try_from(value.as_i64()?).ok()?;
            API_VERSION.case(case).map(|_| Attribute::enumeration(&API_VERSION, case))
        }
        _ => attributes::to_vhlo(value, foreign, cache),
    }
}

/// True if the conversion of this VHLO op depends on its parent: the terminator of a function is
/// another op than that of other regions.
pub(crate) fn depends_on_place(def: &'static OpDef) -> bool {
    family(def) == "return"
}

/// True if the op's parent is a function.
fn ends_function(op: OpRef<'_>) -> bool {
    op.parent().is_some_and(|p| p.is(FuncOp::DEF) || p.name().starts_with("vhlo.func_v"))
}

/// Converts an op of VHLO of the current version to a program op.
pub(crate) fn from_vhlo(
    op: OpRef<'_>,
    cache: &mut ConversionCache,
) -> Result<OpConversion, ConversionError> {
    let Some(from) = op.def().filter(|def| def.dialect() == VHLO.namespace) else {
        return Ok(OpConversion::ForeignOps);
    };
    if versioned(from).is_none_or(|op| op.until.is_some()) {
        let message = format!(
            "it is not an op of version {}; the pass vhlo-to-version makes it one",
            Version::CURRENT
        );
        return Err(ConversionError::new(message));
    }
    let to = program_op(op, family(from))
        .ok_or_else(|| ConversionError::new("StableHLO has no equivalent op"))?;
    let mut replacement = OpReplacement::new(to);
    let refuse = |name: &str, value: &Attribute| refuse(to, name, value);
    for (index, slot) in to.attributes.iter().enumerate() {
        replacement.properties[index] = match spread(slot, from) {
            Some(parts) => gather(op, to, slot, parts, cache)?,
            None => match op.attr(slot.name) {
                Some(value) if !is_implied(op, slot, value) => Some(
                    slot_from_vhlo(slot.constraint, value, cache)
                        .ok_or_else(|| refuse(slot.name, value))?,
                ),
                _ => None,
            },
        };
        if let (None, Presence::Default(default)) = (&replacement.properties[index], slot.presence)
        {
            replacement.properties[index] = Some(default.attribute());
        }
    }
    for (name, value) in op.attributes().iter() {
        replacement
            .set(name, attributes::from_vhlo(value, cache).ok_or_else(|| refuse(name, value))?);
    }
    Ok(OpConversion::Replace(replacement))
}

/// For an attribute that has no counterpart in the program op.
fn refuse(to: &OpDef, name: &str, value: &Attribute) -> ConversionError {
    if let Some(reason) = types::refusal(value) {
        return ConversionError::new(reason);
    }
    let message = format!("attribute {name} = {value} is not one that {} can have", to.name);
    ConversionError::new(message)
}

/// The program op with the given VHLO name.
fn program_op(op: OpRef<'_>, name: &str) -> Option<&'static OpDef> {
    let may_be = |def: &'static OpDef| !depends_on_place(def) || ends_function(op);
    let function = FUNCTIONS.iter().find(|(n, _)| *n == name && op.def().is_some_and(may_be));
    function.map(|(_, def)| *def).or_else(|| hlo::STABLEHLO.op(name))
}

/// True if an attribute has its default value, so that it can be omitted.
fn is_implied(op: OpRef<'_>, slot: &AttrSlot, value: &Attribute) -> bool {
    let is_default = |name| op.attr(name).is_none_or(|value| defaults::is_default(name, value));
    match slot.name {
        _ if slot.presence == Presence::Required => false,
        // Layouts are present for both operands and results or for neither.
        "operand_layouts" | "result_layouts" => {
            is_default("operand_layouts") && is_default("result_layouts")
        }
        name => defaults::is_default(name, value),
    }
}

fn slot_from_vhlo(
    constraint: &AttrConstraint,
    value: &Attribute,
    cache: &mut ConversionCache,
) -> Option<Attribute> {
    let ints = || portable::as_tensor(value)?.as_dense()?.int_values();
    match constraint {
        AttrConstraint::I64Array => cache.get_or_convert(
            |cache| &mut cache.i64_arrays,
            value,
            |_| Some(Attribute::i64_array(ints()?)),
        ),
        AttrConstraint::BoolArray => {
            Some(Attribute::bool_array(ints()?.into_iter().map(|b| b != 0)))
        }
        AttrConstraint::Unit => portable::as_bool(value)?.then(Attribute::unit),
        AttrConstraint::IntEnum(..) => {
            let case = value.as_enum(&API_VERSION)?;
            Some(Attribute::integer(case.into(), Type::i32()))
        }
        AttrConstraint::FlatSymbolRef => Some(Attribute::symbol(portable::as_str(value)?)),
        AttrConstraint::ArrayOf(AttrConstraint::FlatSymbolRef) => {
            let symbol = |name| Some(Attribute::symbol(portable::as_str(name)?));
            let symbols = portable::as_array(value)?.iter().map(symbol).collect::<Option<_>>()?;
            Some(Attribute::array(symbols))
        }
        _ => attributes::from_vhlo(value, cache),
    }
}

/// Rebuilds a structured attribute from its flattened VHLO attributes; `None` if they all have
/// default values.
///
/// # Errors
/// If an attribute is missing or has an invalid value.
fn gather(
    op: OpRef<'_>,
    to: &OpDef,
    slot: &AttrSlot,
    parts: &'static AttrDef,
    cache: &mut ConversionCache,
) -> Result<Option<Attribute>, ConversionError> {
    let value = |param: &'static ParamDef| op.attr(part_name(parts, param));
    let is_implied =
        |param| value(param).is_none_or(|v| defaults::is_default(part_name(parts, param), v));
    if slot.presence != Presence::Required && parts.params.iter().all(is_implied) {
        return Ok(None);
    }
    let params = parts.params.iter().map(|param| {
        let name = part_name(parts, param);
        let part = match (param.kind, value(param)) {
            (_, None) if name == "channel_type" => Some(empty(param.kind)),
            (ParamKind::I64s, Some(value)) => {
                slot_from_vhlo(&AttrConstraint::I64Array, value, cache)
            }
            (ParamKind::I64, Some(value)) => portable::as_i64(value).map(Attribute::i64),
            (ParamKind::Bool, Some(value)) => portable::as_bool(value).map(Attribute::bool),
            (ParamKind::Type, Some(value)) => {
                attributes::from_vhlo(value, cache).filter(|v| v.as_type().is_some())
            }
            _ => None,
        };
        part.map(Some).ok_or_else(|| match op.attr(name) {
            Some(value) => refuse(to, name, value),
            None => ConversionError::new(format!("attribute {name} is missing")),
        })
    });
    match attributes::checked(parts, params.collect::<Result<_, _>>()?) {
        Ok(attribute) => Ok(Some(attribute)),
        Err(reason) => {
            let message = format!("{} of {} is invalid: {reason}", slot.name, to.name);
            Err(ConversionError::new(message))
        }
    }
}
