//! Properties: the inherent attributes of an op in alphabetical order, then the segment sizes.

use super::encoding::{EntryReader, EntryWriter};
use super::fields;
use super::{Read, version};
use crate::attrs::{AttrKind, Attribute};
use crate::diag::counted;
use crate::ir::{OpRef, Properties};
use crate::ods::{OpDef, Presence};
use crate::types::Type;
use rustc_hash::FxHashMap;
use smallvec::smallvec;
use std::sync::Arc;

/// The encoding order of a declaration's attribute slots.
pub(super) struct PropertyOrder {
    /// Slots encoded as attributes, and true for optional ones.
    attributes: Vec<(usize, bool)>,
    /// Slots with segment sizes, and the number of segments.
    segments: Vec<(usize, usize)>,
}

/// Cache of the orders by declaration.
#[derive(Default)]
pub(super) struct PropertyOrders(FxHashMap<*const OpDef, Arc<PropertyOrder>>);

impl PropertyOrders {
    /// The order for a declaration.
    pub(super) fn of(&mut self, def: &'static OpDef) -> Arc<PropertyOrder> {
        self.0.entry(def).or_insert_with(|| Arc::new(PropertyOrder::new(def))).clone()
    }
}

impl PropertyOrder {
    fn new(def: &'static OpDef) -> PropertyOrder {
        let segments_of = |name: &str, count: usize| Some((def.attribute_index(name)?, count));
        let segments: Vec<_> = [
            segments_of("operandSegmentSizes", def.operands.len()),
            segments_of("resultSegmentSizes", def.results.len()),
        ]
        .into_iter()
        .flatten()
        .collect();
        let mut slots: Vec<usize> = (0..def.attributes.len())
            .filter(|&i| segments.iter().all(|&(slot, _)| slot != i))
            .collect();
        slots.sort_by_key(|&i| def.attributes[i].name);
        let optional = |i: usize| {
            !matches!(def.attributes[i].presence, Presence::Required | Presence::RequiredUnless(_))
        };
        PropertyOrder {
            attributes: slots.into_iter().map(|i| (i, optional(i))).collect(),
            segments,
        }
    }
}

/// Writes the properties of an op.
pub(super) fn write(op: OpRef<'_>, order: &PropertyOrder, out: &mut EntryWriter<'_>) {
    if out.version() < version::SEGMENT_SIZES {
        for &(slot, count) in &order.segments {
            let sizes = segment_sizes(op.property(slot), count);
            out.attribute(&AttrKind::DenseArray { element: Type::i32(), values: sizes }.into());
        }
    }
    for &(slot, optional) in &order.attributes {
        match op.property(slot) {
            value if optional => out.optional_attribute(value),
            Some(value) => out.attribute(value),
            None => out.attribute(&Attribute::unit()),
        }
    }
    if out.version() >= version::SEGMENT_SIZES {
        for &(slot, count) in &order.segments {
            write_sparse(&segment_sizes(op.property(slot), count), out);
        }
    }
}

/// Reads the properties of an op: one entry per slot of the declaration. Absent ones have their
/// defaults, as in text.
pub(super) fn read(
    def: &'static OpDef,
    order: &PropertyOrder,
    entry: &mut EntryReader<'_, '_>,
) -> Read<Properties> {
    let start = entry.cursor.clone();
    read_known(def.attributes.len(), def, order, entry).or_else(|error| {
        // Older writers know fewer optional attributes: they lack those declared last.
        for known in (0..def.attributes.len()).rev() {
            entry.cursor = start.clone();
            if let Ok(properties) = read_known(known, def, order, entry) {
                return Ok(properties);
            }
        }
        Err(error)
    })
}

/// Reads all properties, assuming that the writer knew only the required attributes and the first
/// `known` ones.
fn read_known(
    known: usize,
    def: &'static OpDef,
    order: &PropertyOrder,
    entry: &mut EntryReader<'_, '_>,
) -> Read<Properties> {
    let mut properties: Properties = smallvec![None; def.attributes.len()];
    if entry.version() < version::SEGMENT_SIZES {
        for &(slot, _) in &order.segments {
            properties[slot] = Some(entry.attribute()?);
        }
    }
    for &(slot, optional) in &order.attributes {
        if optional && slot >= known {
            continue;
        }
        properties[slot] =
            if optional { entry.optional_attribute()? } else { Some(entry.attribute()?) };
        // An attribute that is absent but has a place in bytecode is encoded as `unit`.
        if matches!(def.attributes[slot].presence, Presence::RequiredUnless(_)) {
            properties[slot].take_if(|value| matches!(**value, AttrKind::Unit));
        }
    }
    if entry.version() >= version::SEGMENT_SIZES {
        for &(slot, count) in &order.segments {
            let values = read_sparse(count, entry)?;
            properties[slot] = Some(AttrKind::DenseArray { element: Type::i32(), values }.into());
        }
    }
    for (property, slot) in properties.iter_mut().zip(def.attributes) {
        if let (None, Presence::Default(default)) = (&property, slot.presence) {
            *property = Some(default.attribute());
        }
    }
    match entry.cursor.remaining() {
        0 => Ok(properties),
        left => {
            let left = counted(left, "byte");
            entry.error(format!("the properties of {} are followed by {left}", def.name))
        }
    }
}

/// Properties with their names, as text.
pub(super) fn text_of(def: &'static OpDef, properties: &[Option<Attribute>]) -> String {
    let present = def
        .attributes
        .iter()
        .zip(properties)
        .filter_map(|(slot, value)| Some((slot.name, value.as_ref()?)));
    let entries: Vec<String> =
        present.map(|(name, value)| format!("{name} = {}", fields::text_of(value))).collect();
    format!("{} {}", def.name, entries.join(", "))
}

fn segment_sizes(attribute: Option<&Attribute>, count: usize) -> Vec<i64> {
    attribute.and_then(Attribute::as_int_array).map_or_else(|| vec![0; count], <[i64]>::to_vec)
}

/// Writes a list of integers: dense, or sparse as index and value if at least half are zero.
fn write_sparse(values: &[i64], out: &mut EntryWriter<'_>) {
    let present = || values.iter().enumerate().filter(|(_, v)| **v != 0);
    let (count, last) = (present().count(), present().next_back().map_or(0, |(i, _)| i));
    if last > 256 || count > values.len() / 2 {
        out.varint_with_flag(values.len() as u64, false);
        values.iter().for_each(|&v| out.varint(v as u64));
        return;
    }
    out.varint_with_flag(count as u64, true);
    if count == 0 {
        return;
    }
    let index_bits = (last + 1).next_power_of_two().trailing_zeros();
    out.varint(u64::from(index_bits));
    present().for_each(|(i, &v)| out.varint((v as u64) << index_bits | i as u64));
}

fn read_sparse(len: usize, entry: &mut EntryReader<'_, '_>) -> Read<Vec<i64>> {
    let mut values = vec![0; len];
    let (count, sparse) = entry.varint_with_flag()?;
    if count > len as u64 {
        return entry.error(format!("{count} sizes of segments; there are {len} segments"));
    }
    if !sparse {
        for value in values.iter_mut().take(count as usize) {
            *value = entry.varint()? as i64;
        }
        return Ok(values);
    }
    if count == 0 {
        return Ok(values);
    }
    let index_bits = entry.varint()?;
    if index_bits > 8 {
        return entry.error(format!("indices of {index_bits} bits; at most 8 are allowed"));
    }
    for _ in 0..count {
        let packed = entry.varint()?;
        let index = (packed & ((1 << index_bits) - 1)) as usize;
        match values.get_mut(index) {
            Some(value) => *value = (packed >> index_bits) as i64,
            None => return entry.error(format!("segment {index} does not exist; there are {len}")),
        }
    }
    Ok(values)
}
