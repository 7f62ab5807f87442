//! Conversion of VHLO ops between versions.
//!
//! The differences between two versions of an op follow from the rows of `vhlo::ops`: an attribute
//! that only one version has must have its default value, and a variadic operand or result matches
//! a single one of count one.

use crate::convert::{ConversionError, OpConversion, OpReplacement};
use crate::defaults;
use mlir::attrs::AttrKind;
use mlir::ods::{Arity, ValueSlot};
use mlir::{Attribute, OpRef, Type, TypeKind};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;
use vhlo::attrs::{DICTIONARY, VERSIONED_ATTRIBUTES};
use vhlo::enums::{API_VERSION, VERSIONED_ENUMS};
use vhlo::ops::{VERSIONED_OPS, VersionedOp, family, in_version, versioned};
use vhlo::types::{self, FUTURE, versioned_types};
use vhlo::{VHLO, Version};

/// First versions of attributes, enumerations and types, keyed by the address of their declaration.
static SINCE: LazyLock<FxHashMap<usize, Version>> = LazyLock::new(|| {
    let attributes =
        VERSIONED_ATTRIBUTES.iter().map(|a| (std::ptr::from_ref(a.def) as usize, a.since));
    let enums = VERSIONED_ENUMS.iter().map(|e| (std::ptr::from_ref(e.def) as usize, e.since));
    let types = versioned_types().map(|t| (std::ptr::from_ref(t.def) as usize, t.since));
    attributes.chain(enums).chain(types).collect()
});

/// Converts a VHLO op to `version`.
///
/// # Errors
/// If that version has no equivalent op.
pub(crate) fn convert(op: OpRef<'_>, version: Version) -> Result<OpConversion, ConversionError> {
    let Some(from) = op.def().and_then(versioned) else { return Ok(OpConversion::ForeignOps) };
    if from.until.is_none() && version == Version::CURRENT {
        return Ok(OpConversion::Same);
    }
    let to = in_version(from.family(), version).ok_or_else(|| missing_op(from))?;
    check_constraints(op, version)?;
    check_values(op, version)?;
    if std::ptr::eq(from, to) {
        check_attributes(op.properties().iter().flatten(), version)?;
        return Ok(OpConversion::Same);
    }
    let mut replacement = OpReplacement::new(to.def);
    replacement.attributes = op.attributes().clone();
    for (slot, value) in from.def.attributes.iter().zip(op.properties()) {
        match (to.def.attribute_index(slot.name), value) {
            (_, None) => {}
            (Some(index), Some(value)) => replacement.properties[index] = Some(value.clone()),
            (None, Some(value)) if defaults::is_default(slot.name, value) => {}
            (None, Some(value)) => {
                let message =
                    format!("attribute {} = {value} must be absent or the default", slot.name);
                return Err(ConversionError::since(since(from, version), message));
            }
        }
    }
    replacement.fill_defaults()?;
    check_counts(op, from, to, version)?;
    check_attributes(replacement.properties.iter().flatten(), version)?;
    Ok(OpConversion::Replace(replacement))
}

/// The oldest version that can express a VHLO op unchanged, and the reason why older ones cannot.
/// `None` if the op is of another dialect or of no version.
pub fn oldest_version(op: OpRef<'_>) -> Option<(Version, Option<ConversionError>)> {
    let mut oldest = (Version::MINIMUM, None);
    loop {
        match convert(op, oldest.0) {
            Ok(OpConversion::ForeignOps) => return None,
            Ok(_) => return Some(oldest),
            Err(error) => {
                let since =
                    error.since.filter(|&since| since > oldest.0 && since <= Version::CURRENT)?;
                oldest = (since, Some(error));
            }
        }
    }
}

fn missing_op(op: &VersionedOp) -> ConversionError {
    let first = VERSIONED_OPS.iter().filter(|o| o.family() == op.family()).map(|o| o.since).min();
    let since = first.unwrap_or(op.since);
    ConversionError::since(since, format!("there is no op {}", op.family()))
}

/// The first version with the features of `from` that the op of `version` lacks.
fn since(from: &VersionedOp, version: Version) -> Version {
    if from.since > version {
        return from.since;
    }
    from.until.unwrap_or(from.since)
}

/// Checks that operands, results and regions of an op fit a declaration with fewer of them.
fn check_counts(
    op: OpRef<'_>,
    from: &VersionedOp,
    to: &VersionedOp,
    version: Version,
) -> Result<(), ConversionError> {
    let takes = |slots: &[ValueSlot], count: usize| {
        slots.iter().any(|slot| slot.arity != Arity::Single) || slots.len() == count
    };
    let refuse = |what: &str, found: usize, wanted: usize| {
        let message = format!("{found} {what} where version {version} has {wanted}");
        Err(ConversionError::since(since(from, version), message))
    };
    if !takes(to.def.operands, op.operands().len()) {
        return refuse("operands", op.operands().len(), to.def.operands.len());
    }
    if !takes(to.def.results, op.num_results()) {
        return refuse("results", op.num_results(), to.def.results.len());
    }
    if to.def.regions.is_empty() && !op.regions().is_empty() {
        return refuse("regions", op.regions().len(), 0);
    }
    Ok(())
}

/// Ops whose operands and results once had to have the same element types.
const SAME_ELEMENT_TYPES: [&str; 6] =
    ["all_reduce", "reduce", "reduce_scatter", "reduce_window", "scatter", "select_and_scatter"];

/// Checks constraints that were relaxed in later versions of an unchanged op.
fn check_constraints(op: OpRef<'_>, version: Version) -> Result<(), ConversionError> {
    let allowed_since =
        |since: Version, broken: bool, message: &str| match version < since && broken {
            true => Err(ConversionError::since(since, message)),
            false => Ok(()),
        };
    let name = op.def().map_or("", family);
    if SAME_ELEMENT_TYPES.contains(&name) {
        let promotes = op
            .operand_types()
            .zip(op.result_types())
            .any(|(o, r)| types::element(o) != types::element(r));
        allowed_since(
            Version::new(0, 17),
            promotes,
            "results have other element types than operands",
        )?;
    }
    if name == "custom_call" {
        let is_dictionary =
            op.attr("backend_config").is_some_and(|c| c.as_dialect(&DICTIONARY).is_some());
        let is_typed = op.attr("api_version").and_then(|a| a.as_enum(&API_VERSION))
            == Some(defaults::TYPED_FFI);
        let message =
            "the backend_config is a dictionary, or the api_version is that of the typed FFI";
        allowed_since(Version::new(1, 3), is_dictionary || is_typed, message)?;
        let takes_future = op.operand_types().any(|ty| ty.as_dialect(&FUTURE).is_some());
        allowed_since(Version::new(1, 17), takes_future, "an operand is a future")?;
    }
    Ok(())
}

/// Checks that `version` has the types of the op's operands and results, and its discardable
/// attributes.
fn check_values(op: OpRef<'_>, version: Version) -> Result<(), ConversionError> {
    op.operand_types().chain(op.result_types()).try_for_each(|ty| check_type(ty, version))?;
    check_attributes(op.attributes().iter().map(|(_, value)| value), version)
}

fn check_attributes<'a>(
    mut attributes: impl Iterator<Item = &'a Attribute>,
    version: Version,
) -> Result<(), ConversionError> {
    attributes.try_for_each(|value| check_attribute(value, version))
}

/// Checks that `version` has a declaration.
fn check_declaration<T>(
    def: &T,
    dialect: &str,
    version: Version,
    name: &dyn Fn() -> String,
) -> Result<(), ConversionError> {
    match SINCE.get(&(std::ptr::from_ref(def) as usize)) {
        Some(&since) if dialect == VHLO.namespace && since > version => {
            Err(ConversionError::since(since, name()))
        }
        _ => Ok(()),
    }
}

fn check_attribute(attribute: &Attribute, version: Version) -> Result<(), ConversionError> {
    let name = || format!("there is no attribute {attribute}");
    match &**attribute {
        AttrKind::Enum(e) => check_declaration(e.def, e.def.dialect, version, &name),
        AttrKind::Dialect(d) => {
            check_declaration(d.def, d.def.dialect, version, &name)?;
            d.params.iter().flatten().try_for_each(|param| check_attribute(param, version))
        }
        AttrKind::Array(elements) => elements.iter().try_for_each(|e| check_attribute(e, version)),
        AttrKind::Type(ty) => check_type(ty, version),
        _ => Ok(()),
    }
}

fn check_type(ty: &Type, version: Version) -> Result<(), ConversionError> {
    let TypeKind::Dialect(t) = &**ty else { return Ok(()) };
    check_declaration(t.def, t.def.dialect, version, &|| format!("there is no type {ty}"))?;
    t.params.iter().flatten().try_for_each(|param| check_attribute(param, version))
}
