//! Ops of programs as ops of VHLO of the current version, and back.
//!
//! Operands, results and regions are the same; attributes are converted one by one, but for those
//! of StableHLO that hold several (dimension numbers, channels, algorithms): VHLO has an attribute
//! for each of their parameters.

use crate::convert::{Foreign, Outcome, Refusal, Restated};
use crate::known::Known;
use crate::{attributes, defaults};
use hlo::attrs::CHANNEL_HANDLE;
use mlir::attrs::AttrKind;
use mlir::ods::{AttrConstraint, AttrDef, AttrSlot, OpDef, ParamDef, ParamKind, Presence};
use mlir::{Attribute, OpRef, Type};
use side_dialects::func::{CallOp, FuncOp, ReturnOp};
use vhlo::attrs as portable;
use vhlo::enums::API_VERSION;
use vhlo::ops::{family, in_version, versioned};
use vhlo::{VHLO, Version};

/// Ops of functions by their names in VHLO.
static FUNCTIONS: [(&str, &OpDef); 3] =
    [("call", CallOp::DEF), ("func", FuncOp::DEF), ("return", ReturnOp::DEF)];

/// The name in VHLO of an op of a program.
fn portable_name(def: &'static OpDef) -> Option<&'static str> {
    if def.dialect() == hlo::STABLEHLO.namespace {
        return Some(def.mnemonic());
    }
    FUNCTIONS.iter().find(|(_, op)| std::ptr::eq(*op, def)).map(|(name, _)| *name)
}

/// The attribute whose parameters are attributes of the op `portable` on their own, if the slot
/// holds such a one.
fn spread(slot: &AttrSlot, portable: &OpDef) -> Option<&'static AttrDef> {
    match slot.constraint {
        AttrConstraint::Def(def) if portable.attribute_index(slot.name).is_none() => Some(def),
        _ => None,
    }
}

/// The attribute of VHLO for a parameter of an attribute that is spread.
fn part_name(parts: &AttrDef, param: &ParamDef) -> &'static str {
    match param.name {
        "handle" if std::ptr::eq(parts, &CHANNEL_HANDLE) => "channel_id",
        "type" if std::ptr::eq(parts, &CHANNEL_HANDLE) => "channel_type",
        name => name,
    }
}

/// What an absent parameter of an attribute that is spread stands for.
fn empty(kind: ParamKind) -> Attribute {
    match kind {
        ParamKind::I64s => Attribute::i64_array([]),
        _ => Attribute::i64(0),
    }
}

/// The op of VHLO that an op of a program becomes.
pub(crate) fn to_vhlo(op: OpRef<'_>, foreign: Foreign) -> Result<Outcome, Refusal> {
    let Some((def, name)) = op.def().and_then(|def| Some((def, portable_name(def)?))) else {
        return Ok(Outcome::Foreign);
    };
    let to = in_version(name, Version::CURRENT)
        .ok_or_else(|| Refusal::new("no op of VHLO stands for it"))?
        .def;
    let mut restated = Restated::new(to);
    let refuse = |name: &str, value: &Attribute| Refusal::attribute(name, value, foreign);
    for (slot, value) in def.attributes.iter().zip(op.properties()) {
        let Some(value) = value else { continue };
        if let Some(parts) = spread(slot, to) {
            let values = value.as_dialect(parts).ok_or_else(|| refuse(slot.name, value))?;
            for (param, part) in parts.params.iter().zip(values) {
                let Some(index) = to.attribute_index(part_name(parts, param)) else { continue };
                let part = part.clone().unwrap_or_else(|| empty(param.kind));
                let part =
                    attributes::to_vhlo(&part, foreign).ok_or_else(|| refuse(slot.name, value))?;
                restated.properties[index] = Some(part);
            }
        } else {
            let part =
                slot_to_vhlo(slot, value, foreign).ok_or_else(|| refuse(slot.name, value))?;
            restated.set(slot.name, part);
        }
    }
    for (name, value) in op.attributes().iter() {
        restated.set(name, attributes::to_vhlo(value, foreign).ok_or_else(|| refuse(name, value))?);
    }
    restated.fill_defaults()?;
    Ok(Outcome::Becomes(restated))
}

fn slot_to_vhlo(slot: &AttrSlot, value: &Attribute, foreign: Foreign) -> Option<Attribute> {
    match (slot.constraint, &**value) {
        (AttrConstraint::Unit, AttrKind::Unit) => Some(portable::bool(true)),
        (AttrConstraint::IntEnum(..), _) => {
            let case = u64::try_from(value.as_i64()?).ok()?;
            API_VERSION.case(case).map(|_| Attribute::enumeration(&API_VERSION, case))
        }
        _ => attributes::to_vhlo(value, foreign),
    }
}

/// Whether what an op of VHLO becomes depends on where it stands: what ends a function is another
/// op than what ends other regions.
pub(crate) fn depends_on_place(def: &'static OpDef) -> bool {
    family(def) == "return"
}

/// Whether an op stands in a function.
fn ends_function(op: OpRef<'_>) -> bool {
    op.parent().is_some_and(|p| p.is(FuncOp::DEF) || p.name().starts_with("vhlo.func_v"))
}

/// The op of a program that an op of VHLO of the current version becomes.
pub(crate) fn from_vhlo(op: OpRef<'_>, known: &mut Known) -> Result<Outcome, Refusal> {
    let Some(from) = op.def().filter(|def| def.dialect() == VHLO.namespace) else {
        return Ok(Outcome::Foreign);
    };
    if versioned(from).is_none_or(|op| op.until.is_some()) {
        let message = format!(
            "it is not an op of version {}; --vhlo-to-version makes it one",
            Version::CURRENT
        );
        return Err(Refusal::new(message));
    }
    let to = program_op(op, family(from))
        .ok_or_else(|| Refusal::new("no op of StableHLO stands for it"))?;
    let mut restated = Restated::new(to);
    let refuse = |name: &str, value: &Attribute| {
        Refusal::new(format!("attribute {name} = {value} is not one that {} can have", to.name))
    };
    for (index, slot) in to.attributes.iter().enumerate() {
        restated.properties[index] = match spread(slot, from) {
            Some(parts) => gather(op, slot, parts, known).map_err(|part| match op.attr(part) {
                Some(value) => refuse(part, value),
                None => Refusal::new(format!("attribute {part} is missing")),
            })?,
            None => match op.attr(slot.name) {
                Some(value) if !is_implied(op, slot, value) => Some(
                    slot_from_vhlo(slot.constraint, value, known)
                        .ok_or_else(|| refuse(slot.name, value))?,
                ),
                _ => None,
            },
        };
        if let (None, Presence::Default(default)) = (&restated.properties[index], slot.presence) {
            restated.properties[index] = Some(default.attribute());
        }
    }
    for (name, value) in op.attributes().iter() {
        restated.set(name, attributes::from_vhlo(value, known).ok_or_else(|| refuse(name, value))?);
    }
    Ok(Outcome::Becomes(restated))
}

/// The op of a program with that name in VHLO.
fn program_op(op: OpRef<'_>, name: &str) -> Option<&'static OpDef> {
    let may_be = |def: &'static OpDef| !depends_on_place(def) || ends_function(op);
    let function = FUNCTIONS.iter().find(|(n, _)| *n == name && op.def().is_some_and(may_be));
    function.map(|(_, def)| *def).or_else(|| hlo::STABLEHLO.op(name))
}

/// Whether an attribute says no more than its absence.
fn is_implied(op: OpRef<'_>, slot: &AttrSlot, value: &Attribute) -> bool {
    let is_default = |name| op.attr(name).is_none_or(|value| defaults::is_default(name, value));
    match slot.name {
        _ if slot.presence == Presence::Required => false,
        // Layouts are given for operands and results or not at all.
        "operand_layouts" | "result_layouts" => {
            is_default("operand_layouts") && is_default("result_layouts")
        }
        name => defaults::is_default(name, value),
    }
}

fn slot_from_vhlo(
    constraint: &AttrConstraint,
    value: &Attribute,
    known: &mut Known,
) -> Option<Attribute> {
    let ints = || portable::as_tensor(value)?.as_dense()?.int_values();
    match constraint {
        AttrConstraint::I64Array => known.or_convert(
            |known| &mut known.i64_arrays,
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
        _ => attributes::from_vhlo(value, known),
    }
}

/// The attribute that holds what VHLO has several attributes for; none if those say no more than
/// its absence.
///
/// # Errors
/// The name of one that does not fit.
fn gather(
    op: OpRef<'_>,
    slot: &AttrSlot,
    parts: &'static AttrDef,
    known: &mut Known,
) -> Result<Option<Attribute>, &'static str> {
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
                slot_from_vhlo(&AttrConstraint::I64Array, value, known)
            }
            (ParamKind::I64, Some(value)) => portable::as_i64(value).map(Attribute::i64),
            (ParamKind::Bool, Some(value)) => portable::as_bool(value).map(Attribute::bool),
            (ParamKind::Type, Some(value)) => {
                attributes::from_vhlo(value, known).filter(|v| v.as_type().is_some())
            }
            _ => None,
        };
        part.map(Some).ok_or(name)
    });
    Ok(Some(Attribute::dialect(parts, params.collect::<Result<_, _>>()?)))
}
