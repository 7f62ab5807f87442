//! Bytecode encoding of the dialect's types: a code, then flags and an integer storage type, then
//! the parameters of the kind of type.
//!
//! The codes and the order of fields are part of the format and never change.

use super::types::{ANY, CALIBRATED, Granularity, Uniform, UniformParts, storage_from_held};
use mlir::attrs::{AttrKind, DenseElements};
use mlir::bytecode::{CustomEncodings, DialectBytecode, EntryReader, EntryWriter, Read};
use mlir::types::Signedness;
use mlir::{Attribute, Type, TypeKind};
use numerics::{DType, Tensor, math};

/// The encodings of the dialect.
pub(crate) static BYTECODE: DialectBytecode = DialectBytecode {
    attributes: &[],
    types: &[],
    custom: Some(CustomEncodings {
        write_attribute: |_, _| false,
        read_attribute: |_, _| Ok(None),
        write_type,
        read_type,
    }),
};

/// Codes of types.
mod code {
    pub(crate) const ANY: u64 = 1;
    pub(crate) const ANY_WITH_EXPRESSED: u64 = 2;
    pub(crate) const CALIBRATED: u64 = 3;
    pub(crate) const UNIFORM: u64 = 4;
    pub(crate) const UNIFORM_PER_AXIS: u64 = 5;
    pub(crate) const UNIFORM_SUB_CHANNEL: u64 = 6;
}

/// The flag for signed storage.
const SIGNED: u64 = 1;

fn write_storage(held: &Type, is_signed: bool, out: &mut EntryWriter<'_>) {
    out.varint(if is_signed { SIGNED } else { 0 });
    out.ty(held);
}

/// The storage type, and whether only the flag marks it as unsigned.
fn read_storage(entry: &mut EntryReader<'_, '_>) -> Read<(Type, bool)> {
    let flags = entry.varint()?;
    let held = entry.ty()?;
    match *held {
        TypeKind::Integer { .. } => Ok(storage_from_held(&held, flags & SIGNED != 0)),
        _ => entry.error(format!("quantized numbers are stored as integers, not as {held}")),
    }
}

fn write_f64(value: f64, out: &mut EntryWriter<'_>) {
    out.bits(value.to_bits().into(), 64);
}

fn read_f64(entry: &mut EntryReader<'_, '_>) -> Read<f64> {
    Ok(f64::from_bits(entry.bits(64)? as u64))
}

fn write_type(ty: &Type, out: &mut EntryWriter<'_>) -> bool {
    if let Some(view) = Uniform::of(ty) {
        return write_uniform(&view, out).is_some();
    }
    if let Some([Some(storage), Some(min), Some(max), expressed]) = ty.as_dialect(&ANY) {
        let (Some(storage), Some(min), Some(max)) = (storage.as_type(), min.as_i64(), max.as_i64())
        else {
            return false;
        };
        let expressed = expressed.as_ref().and_then(Attribute::as_type);
        out.varint(if expressed.is_some() { code::ANY_WITH_EXPRESSED } else { code::ANY });
        let is_signed =
            !matches!(**storage, TypeKind::Integer { signedness: Signedness::Unsigned, .. });
        let width = storage.bit_width().unwrap_or(0);
        write_storage(&Type::integer(width, Signedness::Signless), is_signed, out);
        expressed.iter().for_each(|e| out.ty(e));
        out.signed(min);
        out.signed(max);
        return true;
    }
    if let Some([Some(expressed), Some(min), Some(max)]) = ty.as_dialect(&CALIBRATED) {
        let (Some(expressed), Some(min), Some(max)) =
            (expressed.as_type(), min.as_f64(), max.as_f64())
        else {
            return false;
        };
        out.varint(code::CALIBRATED);
        out.ty(expressed);
        write_f64(min, out);
        write_f64(max, out);
        return true;
    }
    false
}

fn write_uniform(view: &Uniform<'_>, out: &mut EntryWriter<'_>) -> Option<()> {
    let range = [view.storage_min, view.storage_max];
    let header = |code: u64, out: &mut EntryWriter<'_>| {
        out.varint(code);
        write_storage(&view.held_storage(), view.is_signed(), out);
        out.ty(view.expressed);
    };
    match view.granularity() {
        Granularity::PerTensor => {
            let (scale, zero_point) = (view.scales().next()?, *view.zero_points.first()?);
            header(code::UNIFORM, out);
            write_f64(scale, out);
            out.signed(zero_point);
            range.iter().for_each(|&n| out.signed(n));
        }
        Granularity::PerAxis => {
            let axis = u64::try_from(*view.axes.first()?).ok()?;
            header(code::UNIFORM_PER_AXIS, out);
            out.varint(axis);
            range.iter().for_each(|&n| out.signed(n));
            out.varint(view.scales().len() as u64);
            view.scales().for_each(|scale| write_f64(scale, out));
            out.signed_list(view.zero_points);
        }
        Granularity::SubChannel => {
            let shape: Vec<usize> = view
                .scales_shape
                .iter()
                .map(|&d| usize::try_from(d).ok())
                .collect::<Option<_>>()?;
            let scales = Tensor::from_vec(&shape, view.scales().collect::<Vec<f64>>()).ok()?;
            let scales = math::convert(scales, view.expressed.dtype()?).ok()?;
            let zero_points = Tensor::from_vec(&shape, view.zero_points.to_vec()).ok()?;
            let stored = Type::integer(view.storage_width(), Signedness::Signless);
            let zero_points = math::convert(zero_points, stored.dtype()?).ok()?;
            header(code::UNIFORM_SUB_CHANNEL, out);
            range.iter().for_each(|&n| out.signed(n));
            out.signed_list(view.axes);
            out.signed_list(view.block_sizes);
            out.attribute(&Attribute::from_tensor(&scales));
            out.attribute(&Attribute::from_tensor(&zero_points));
        }
    }
    Some(())
}

fn read_type(code: u64, entry: &mut EntryReader<'_, '_>) -> Read<Option<Type>> {
    if code == code::CALIBRATED {
        let expressed = entry.ty()?;
        let limits = [read_f64(entry)?, read_f64(entry)?].map(|f| Some(Attribute::f64(f)));
        let [min, max] = limits;
        return Ok(Some(Type::dialect(&CALIBRATED, vec![Some(expressed.into()), min, max])));
    }
    if !(code::ANY..=code::UNIFORM_SUB_CHANNEL).contains(&code) {
        return Ok(None);
    }
    let (storage, unsigned_by_flag) = read_storage(entry)?;
    if code == code::ANY || code == code::ANY_WITH_EXPRESSED {
        let expressed = if code == code::ANY { None } else { Some(entry.ty()?.into()) };
        let [min, max] = [entry.signed()?, entry.signed()?].map(|n| Some(Attribute::i64(n)));
        return Ok(Some(Type::dialect(&ANY, vec![Some(storage.into()), min, max, expressed])));
    }
    let expressed = entry.ty()?;
    let mut parts = UniformParts {
        storage,
        unsigned_by_flag,
        storage_range: (0, 0),
        expressed,
        scales: Vec::new(),
        zero_points: Vec::new(),
        axes: None,
        blocks: None,
    };
    match code {
        code::UNIFORM => {
            parts.scales.push(read_f64(entry)?);
            parts.zero_points.push(entry.signed()?);
            parts.storage_range = (entry.signed()?, entry.signed()?);
        }
        code::UNIFORM_PER_AXIS => {
            let axis = entry.varint()?;
            parts.axes = Some(vec![i64::try_from(axis).unwrap_or(i64::MAX)]);
            parts.storage_range = (entry.signed()?, entry.signed()?);
            let count = entry.count("scales")?;
            parts.scales = (0..count).map(|_| read_f64(entry)).collect::<Read<_>>()?;
            parts.zero_points = entry.signed_list()?;
        }
        _ => {
            parts.storage_range = (entry.signed()?, entry.signed()?);
            parts.axes = Some(entry.signed_list()?);
            let block_sizes = entry.signed_list()?;
            let (scales, zero_points) = (entry.attribute()?, entry.attribute()?);
            let (Some(scale_values), Some(zero_values)) = (floats(&scales), integers(&zero_points))
            else {
                return entry
                    .error(format!("{scales} and {zero_points} are not scales and zero points"));
            };
            (parts.scales, parts.zero_points) = (scale_values, zero_values);
            parts.blocks = Some((block_sizes, scales.ty().shape().unwrap_or(&[]).to_vec()));
        }
    }
    Ok(Some(parts.into_type()))
}

fn floats(elements: &Attribute) -> Option<Vec<f64>> {
    let tensor = math::convert(elements.to_tensor()?.ok()?, DType::F64).ok()?;
    tensor.to_vec::<f64>().ok()
}

fn integers(elements: &Attribute) -> Option<Vec<i64>> {
    let AttrKind::Dense(elements) = &**elements else { return None };
    DenseElements::int_values(elements)
}
