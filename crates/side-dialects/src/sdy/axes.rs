//! The axes that shardings use, resolved in their mesh.

use super::attrs::{AXIS_REF, MESH, MESH_AXIS, SUB_AXIS_INFO, int, list, text_of};
use super::ops::MeshOp;
use mlir::ods::Params;
use mlir::verify::nearest_symbol;
use mlir::{Attribute, OpRef};
use std::cmp::Ordering;
use std::fmt::{self, Display, Formatter};
use std::ops::Range;

/// The axes of a mesh with their sizes.
pub(super) fn mesh_axes(mesh: &Attribute) -> Vec<(&str, i64)> {
    let axes = mesh.as_dialect(&MESH).map_or(&[][..], |params| list(params, 0));
    axes.iter()
        .filter_map(|a| a.as_dialect(&MESH_AXIS))
        .map(|a| (text_of(a, 0), int(a, 1).unwrap_or(1)))
        .collect()
}

/// The mesh that a sharding holds or refers to.
pub(super) fn mesh_of<'a>(op: OpRef<'a>, sharding: &'a Params) -> Result<&'a Attribute, String> {
    let Some(Some(mesh)) = sharding.first() else { return Err("a sharding needs a mesh".into()) };
    let Some(name) = mesh.as_flat_symbol() else { return Ok(mesh) };
    nearest_symbol(op, name)
        .and_then(MeshOp::cast)
        .and_then(|m| m.mesh())
        .ok_or_else(|| format!("there is no mesh @{name}"))
}

/// Resolves lists of axis references in the axes of a mesh: each axis or part must exist and be
/// used once, and parts that follow one another are one part.
pub(super) fn used_axes<'a>(
    axes: &[(&str, i64)],
    lists: &[&'a [Attribute]],
) -> Result<Vec<Vec<UsedAxis<'a>>>, String> {
    let mut used: Vec<UsedAxis<'_>> = Vec::new();
    let mut ends = Vec::new();
    for list in lists {
        let start = used.len();
        for axis in *list {
            let Some(axis) = used_axis(axes, axis)? else { continue };
            if used.iter().any(|other| other.overlaps(&axis)) {
                return Err(format!("the axis \"{}\" is used twice", axis.name));
            }
            if used[start..].last().is_some_and(|last| last.is_continued_by(&axis)) {
                return Err(format!(
                    "two parts of the axis \"{}\" follow one another; they must be one",
                    axis.name
                ));
            }
            used.push(axis);
        }
        ends.push(start..used.len());
    }
    Ok(ends.into_iter().map(|range| used[range].to_vec()).collect())
}

/// An axis of a mesh that a sharding uses, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UsedAxis<'a> {
    pub name: &'a str,
    index: usize,
    /// The size of the whole axis.
    whole: i64,
    /// From the size before the part to that including it.
    parts: Range<i64>,
}

impl Display for UsedAxis<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.name)?;
        match self.whole == self.parts.end && self.parts.start == 1 {
            true => Ok(()),
            false => write!(f, ":({}){}", self.parts.start, self.size()),
        }
    }
}

impl PartialOrd for UsedAxis<'_> {
    /// The order of the mesh.
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self.index, self.parts.start).partial_cmp(&(other.index, other.parts.start))
    }
}

impl UsedAxis<'_> {
    /// The number of shards along it.
    pub(crate) fn size(&self) -> i64 {
        self.parts.end / self.parts.start
    }

    /// True if `next` is the part of the same axis after this one.
    fn is_continued_by(&self, next: &UsedAxis<'_>) -> bool {
        self.index == next.index && self.parts.end == next.parts.start
    }

    /// Appends an axis to the axes of a dimension.
    pub(crate) fn append(self, axes: &mut Vec<Self>) {
        match axes.last_mut() {
            Some(last) if last.is_continued_by(&self) => last.parts.end = self.parts.end,
            _ => axes.push(self),
        }
    }

    /// Removes the axis, which must be the innermost one, from the axes of a dimension.
    /// Returns false if it is not.
    pub(crate) fn remove_last(&self, axes: &mut Vec<Self>) -> bool {
        match axes.last_mut() {
            Some(last) if last == self => axes.pop().is_some(),
            Some(last)
                if last.index == self.index
                    && last.parts.end == self.parts.end
                    && last.parts.start < self.parts.start =>
            {
                last.parts.end = self.parts.start;
                true
            }
            _ => false,
        }
    }

    pub(crate) fn overlaps(&self, other: &UsedAxis<'_>) -> bool {
        let is_apart = self.parts.end <= other.parts.start || other.parts.end <= self.parts.start;
        self.index == other.index && (!is_apart || self.parts == other.parts)
    }
}

/// Resolves an axis reference in the axes of a mesh. `None` if it is no axis reference.
fn used_axis<'a>(
    axes: &[(&str, i64)],
    axis: &'a Attribute,
) -> Result<Option<UsedAxis<'a>>, String> {
    let Some(part) = axis.as_dialect(&AXIS_REF) else { return Ok(None) };
    let name = text_of(part, 0);
    let Some(index) = axes.iter().position(|(n, _)| *n == name) else {
        return Err(format!("the mesh has no axis \"{name}\""));
    };
    let size = axes[index].1;
    let info = part.get(1).and_then(Option::as_ref).and_then(|a| a.as_dialect(&SUB_AXIS_INFO));
    let used = |parts| Some(UsedAxis { name, index, whole: size, parts });
    let Some(info) = info else { return Ok(used(1..size)) };
    let parts = int(info, 0)
        .zip(int(info, 1))
        .and_then(|(before, own)| Some((own, before..before.checked_mul(own)?)))
        .filter(|(own, parts)| {
            parts.start >= 1 && *own > 1 && *own < size && size % parts.end == 0
        });
    match parts {
        Some((_, parts)) => Ok(used(parts)),
        None => Err(format!(
            "the axis \"{name}\" of size {size} has no part {info}: a part (m)k has a size k from 2 \
             to less than that of the axis, and m*k divides it",
            info = part_text(info)
        )),
    }
}

/// A part of an axis as it is written.
fn part_text(info: &Params) -> String {
    format!("({}){}", int(info, 0).unwrap_or(0), int(info, 1).unwrap_or(0))
}

/// Appends the pieces of `axis` that none of `others` overlaps.
fn without<'a>(axis: &UsedAxis<'a>, others: &[UsedAxis<'_>], pieces: &mut Vec<UsedAxis<'a>>) {
    let Some(other) = others.iter().find(|other| other.overlaps(axis)) else {
        pieces.push(axis.clone());
        return;
    };
    let (before, after) = (axis.parts.start..other.parts.start, other.parts.end..axis.parts.end);
    for parts in [before, after] {
        if parts.start < parts.end && parts.end % parts.start == 0 {
            without(&UsedAxis { parts, ..axis.clone() }, others, pieces);
        }
    }
}

/// The parts of axes that are in `axes` but not in `others`.
pub(super) fn difference<'a>(axes: &[UsedAxis<'a>], others: &[UsedAxis<'_>]) -> Vec<UsedAxis<'a>> {
    let mut pieces = Vec::new();
    axes.iter().for_each(|axis| without(axis, others, &mut pieces));
    pieces
}

/// The names of axes, for messages.
pub(super) fn names(axes: &[UsedAxis<'_>]) -> String {
    let names: Vec<String> = axes.iter().map(ToString::to_string).collect();
    format!("[{}]", names.join(", "))
}
