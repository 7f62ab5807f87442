//! Copies of parts of memory to parts of a result, on several threads where that pays.

use super::parallel::task_size;
use numerics::budget::reserve;
use numerics::math::{self, AlignedBytes};
use numerics::shape::Runs;
use numerics::{DType, TensorError};
use std::cell::Cell;

/// Elements of a task are a multiple of this number, so that few lines have two writers.
const UNIT: usize = 1024;

/// Memory for elements between two places that is kept for the next copy has at most this many
/// bytes.
const KEPT_BYTES: usize = 4 << 20;

thread_local! {
    /// Memory for elements between two places.
    static ROOM: Cell<AlignedBytes> = const { Cell::new(AlignedBytes::new()) };
}

/// Elements that are copied.
#[derive(Clone, Copy, Debug)]
pub struct CopyPart<'a> {
    /// The memory that they are in.
    pub source: &'a [u8],
    /// How many they are.
    pub elements: usize,
    /// Which they are; `None` for the first ones in order.
    pub read: Option<&'a Runs>,
    /// Where they go; `None` for the first places in order.
    pub write: Option<&'a Runs>,
}

/// Writes the bytes of a result: `fill` where given, and over it the elements that are copied, one
/// part after the other.
///
/// # Errors
/// If memory is not aligned for the type, or has fewer elements.
pub fn copy(
    parts: &[CopyPart<'_>],
    fill: Option<&[u8]>,
    dtype: DType,
    out: &mut [u8],
) -> Result<(), TensorError> {
    let size = dtype.bytes();
    if let Some([rows, row]) = common_rows(parts, out.len() / size) {
        let count = task_size(rows, row * size, 1);
        if count < rows {
            let tasks = out.chunks_mut(count * row * size).enumerate().collect();
            return host::parallel(tasks, |(task, out): (usize, &mut [u8])| {
                fill.into_iter().for_each(|fill| math::fill(out, fill));
                let range = [task * count, out.len() / (row * size)];
                parts.iter().try_for_each(|part| part.copy_rows(rows, range, dtype, out))
            });
        }
    }
    fill.into_iter().for_each(|fill| math::fill(out, fill));
    for part in parts {
        match part.write.map_or(Some(0), Runs::contiguous) {
            Some(first) => {
                let places = first * size..(first + part.elements) * size;
                let out = out.get_mut(places).ok_or(TensorError::OutOfBounds)?;
                let count = task_size(part.elements, size, UNIT);
                if count >= part.elements {
                    part.read(dtype, 0, out)?;
                    continue;
                }
                let tasks = out.chunks_mut(count * size).enumerate().collect();
                host::parallel(tasks, |(task, out): (usize, &mut [u8])| {
                    part.read(dtype, task * count, out)
                })?;
            }
            None => part.copy_rows(1, [0, 1], dtype, out)?,
        }
    }
    Ok(())
}

/// Returns the number of rows that all parts go to, and the elements of a row: equal parts of the
/// result in order. `None` if they have no rows in common.
fn common_rows(parts: &[CopyPart<'_>], elements: usize) -> Option<[usize; 2]> {
    let rows = |part: &CopyPart<'_>| part.write.and_then(Runs::rows);
    let [count, row] = rows(parts.first()?)?;
    let is_all = count.checked_mul(row) == Some(elements);
    let are_common = parts.iter().all(|part| rows(part) == Some([count, row]));
    (is_all && are_common && count > 1).then_some([count, row])
}

impl CopyPart<'_> {
    /// Writes elements from number `start` on, in order.
    fn read(&self, dtype: DType, start: usize, out: &mut [u8]) -> Result<(), TensorError> {
        match self.read {
            None => out.copy_from_slice(self.adjacent(dtype, 0, [start, out.len()])?),
            Some(runs) => runs.read_bytes(dtype, self.source, start, out)?,
        }
        Ok(())
    }

    /// Returns `len` bytes of elements that are adjacent in memory from number `first` on, from
    /// the one with number `start` among them.
    fn adjacent(
        &self,
        dtype: DType,
        first: usize,
        [start, len]: [usize; 2],
    ) -> Result<&[u8], TensorError> {
        let elements = self.source.get((first + start) * dtype.bytes()..);
        elements.and_then(|elements| elements.get(..len)).ok_or(TensorError::OutOfBounds)
    }

    /// Writes the elements that go to some of `rows` equal parts of the result, from the first one
    /// of which on `out` is.
    fn copy_rows(
        &self,
        rows: usize,
        [first, count]: [usize; 2],
        dtype: DType,
        out: &mut [u8],
    ) -> Result<(), TensorError> {
        let Some(write) = self.write else { return Err(TensorError::OutOfBounds) };
        let part = (count < rows).then(|| write.first_rows(count));
        let write = part.as_ref().unwrap_or(write);
        let row = self.elements / rows;
        let (start, len) = (first * row, count * row * dtype.bytes());
        match self.read.map_or(Some(0), Runs::contiguous) {
            Some(first) => {
                write.write_bytes(dtype, self.adjacent(dtype, first, [start, len])?, out)
            }
            None => {
                let _reserved = reserve::<u8>(len)?;
                let mut room = ROOM.take();
                room.try_resize(len)?;
                self.read(dtype, start, &mut room)?;
                write.write_bytes(dtype, &room, out)?;
                if len <= KEPT_BYTES {
                    ROOM.set(room);
                }
                Ok(())
            }
        }
    }
}
