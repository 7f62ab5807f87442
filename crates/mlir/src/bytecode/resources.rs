//! The resource sections: named blobs that attributes refer to.

use super::cursor::{Cursor, Read, ReadError};
use super::emitter::Emitter;
use super::fields::Notes;
use super::numbering::{Numbering, Strings};
use super::tables::Tables;
use super::{SectionId, resource_kind};
use crate::attrs::{Blob, Name, Resource};
use std::ops::Range;

/// Writes the referenced resources: first those with contents, then the others as declarations.
pub(super) fn write(numbering: &Numbering, strings: &mut Strings, file: &mut Emitter) {
    let (mut data, mut offsets) = (Emitter::default(), Emitter::default());
    // There are no external resources.
    offsets.varint(0);
    if !numbering.resources.is_empty() {
        let builtin = numbering.dialects.iter().position(|d| d.name == "builtin").unwrap_or(0);
        offsets.varint(builtin as u64);
        offsets.varint(numbering.resources.len() as u64);
        for resource in &numbering.resources {
            let start = data.len();
            if let Some(blob) = resource.blob() {
                data.varint(u64::from(blob.alignment));
                data.varint(blob.data.len() as u64);
                data.align(u64::from(blob.alignment.max(1)));
                data.shared(&blob.data);
            }
            offsets.varint(strings.number(resource.key().as_bytes()));
            offsets.varint((data.len() - start) as u64);
            offsets.byte(resource_kind::BLOB);
        }
    }
    file.section(SectionId::ResourceOffsets, offsets);
    file.section(SectionId::Resources, data);
}

/// Reads the dialect resources; others are skipped.
pub(super) fn read(
    offsets: Range<usize>,
    data: Range<usize>,
    tables: &Tables,
    notes: &Notes,
) -> Read<Vec<Resource>> {
    let file = tables.file();
    let (mut offsets, mut data) = (Cursor::new(file, offsets), Cursor::new(file, data));
    let at = offsets.offset();
    let external = offsets.count("groups of resources")?;
    notes.add(at..offsets.offset(), || format!("{external} groups of resources of no dialect"));
    for _ in 0..external {
        let at = offsets.offset();
        let group = offsets.varint()?;
        notes.add(at..offsets.offset(), || format!("a group whose name is string {group}"));
        read_group(&mut offsets, &mut data, tables, notes, &mut |_, _| Ok(()))?;
    }
    let mut resources = Vec::new();
    while !offsets.is_empty() {
        let at = offsets.offset();
        let dialect = offsets.index(tables.dialects.len(), "dialect")?;
        notes.add(at..offsets.offset(), || {
            format!("resources of {}", tables.dialects[dialect].name)
        });
        read_group(&mut offsets, &mut data, tables, notes, &mut |key, contents| {
            let resource = Resource::new(key);
            if let Some((alignment, range)) = contents {
                resource.define(Blob { alignment, data: tables.shared(range) });
            }
            resources.push(resource);
            Ok(())
        })?;
    }
    Ok(resources)
}

type Found<'f> = &'f mut dyn FnMut(Name, Option<(u32, Range<usize>)>) -> Read<()>;

fn read_group<'a>(
    offsets: &mut Cursor<'a>,
    data: &mut Cursor<'a>,
    tables: &Tables,
    notes: &Notes,
    found: Found<'_>,
) -> Read<()> {
    let at = offsets.offset();
    let count = offsets.count("resources")?;
    notes.add(at..offsets.offset(), || format!("{count} resources"));
    for _ in 0..count {
        let at = offsets.offset();
        let key = offsets.varint()?;
        let key = tables.utf8(key, at)?;
        let size = offsets.varint()?;
        let kind = offsets.byte()?;
        let range = data.range(size)?;
        notes.add(at..offsets.offset(), || {
            format!("{key:?}: {} of {size} bytes", resource_kind::name(kind))
        });
        let mut contents = None;
        if kind == resource_kind::BLOB && !range.is_empty() {
            let mut blob = Cursor::new(tables.file(), range);
            let at = blob.offset();
            let alignment = blob.varint()?;
            let len = blob.varint()?;
            blob.align(alignment.max(1))?;
            let Ok(alignment) = u32::try_from(alignment) else {
                return Err(ReadError::new(at, format!("the alignment {alignment} is too large")));
            };
            let start = blob.offset();
            let data = blob.range(len)?;
            notes
                .add(at..start, || format!("{key:?}: alignment {alignment}, {len} bytes, padding"));
            notes.add(data.clone(), || format!("{key:?}: contents"));
            contents = Some((alignment, data));
        } else if kind != resource_kind::BLOB
            && kind != resource_kind::BOOL
            && kind != resource_kind::STRING
        {
            return offsets.error(format!("{kind} is not a kind of resource"));
        }
        found(key.into(), contents)?;
    }
    Ok(())
}
