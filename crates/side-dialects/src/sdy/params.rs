//! Checks of the parameters of attributes, which hold wherever an attribute is.

use super::attrs::{MESH, MESH_AXIS, int, ints, list, text_of};
use mlir::Attribute;
use mlir::attrs::AttrKind;
use mlir::diag::counted;
use mlir::ods::Params;

/// Checks that axes have distinct names and positive sizes, and that device ids are a permutation
/// of 0, 1, 2, …, or a single id if there are no axes.
pub(super) fn mesh(params: &Params) -> Result<(), String> {
    let mut devices = 1i64;
    let mut names = Vec::new();
    for axis in list(params, 0).iter().filter_map(|a| a.as_dialect(&MESH_AXIS)) {
        let (name, size) = (text_of(axis, 0), int(axis, 1).unwrap_or(0));
        if names.contains(&name) {
            return Err(format!("the mesh has two axes named \"{name}\""));
        }
        if size <= 0 {
            return Err(format!("the axis \"{name}\" must have a positive size, found {size}"));
        }
        names.push(name);
        devices =
            devices.checked_mul(size).ok_or("the mesh has more devices than 64 bits can count")?;
    }
    if params.get(1).is_none_or(Option::is_none) {
        return Ok(());
    }
    let ids = ints(params, 1);
    if let Some(id) = ids.iter().find(|&&id| id < 0) {
        return Err(format!("the device id {id} is negative"));
    }
    if names.is_empty() {
        return match ids {
            [] | [_] => Ok(()),
            _ => Err(format!("a mesh without axes has one device id, found {}", ids.len())),
        };
    }
    if ids.len() as i64 != devices {
        return Err(format!(
            "{} for {}",
            counted(ids.len(), "device id"),
            counted(devices, "device")
        ));
    }
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..devices) {
        return Err(format!("device ids must be the numbers from 0 to {}, each once", devices - 1));
    }
    Ok(())
}

/// Checks that manual axes are names.
pub(super) fn manual_axes(params: &Params) -> Result<(), String> {
    let is_string = |axis: &Attribute| matches!(**axis, AttrKind::String { .. });
    match params.first() {
        Some(Some(axes)) if axes.as_array().is_some_and(|axes| axes.iter().all(is_string)) => {
            Ok(())
        }
        _ => Err("the axes must be a list of strings".into()),
    }
}

/// Checks that a sharding has a mesh, or the symbol of one.
pub(super) fn sharding(params: &Params) -> Result<(), String> {
    let is_mesh =
        |mesh: &Attribute| mesh.as_flat_symbol().is_some() || mesh.as_dialect(&MESH).is_some();
    match params.first() {
        Some(Some(mesh)) if is_mesh(mesh) => Ok(()),
        _ => Err("expected a mesh, or the symbol of one".into()),
    }
}

/// The device ids of a mesh as it holds them: none if they count up from 0.
pub(super) fn device_ids(axes: &[Attribute], ids: Vec<i64>) -> Option<Attribute> {
    let sizes = axes.iter().filter_map(|axis| int(axis.as_dialect(&MESH_AXIS)?, 1));
    let devices = sizes.fold(1i64, |devices, size| devices.saturating_mul(size));
    let counts_up = !axes.is_empty()
        && i64::try_from(ids.len()) == Ok(devices)
        && (0..).zip(&ids).all(|(index, &id)| index == id);
    (!ids.is_empty() && !counts_up).then(|| Attribute::i64_array(ids))
}
