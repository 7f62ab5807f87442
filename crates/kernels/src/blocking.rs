//! How a product of matrices is divided: rows, columns and products of a sum that are in a cache at
//! a time.

use super::accumulator::Accumulator;
use super::matmul::{BLOCK, Product};
use super::rows::Rows;
use host::Machine;

/// Columns of at most this many elements are multiplied where they are: the rows of `b` with more
/// are on too many pages, and fall on the same places of the caches. The machine model has neither
/// pages nor ways of caches, which are alike on processors with AVX2.
pub(crate) const MAX_IN_PLACE: usize = 1 << 10;
/// Bytes of a row of the panels that are copied at a time, at most: four lines of a cache, with
/// which prefetchers keep up.
pub(crate) const PANELS_BYTES: usize = 256;
/// Blocks of products that are summed at a time for all tiles, as a power of two, if fewer rows of
/// more are in the second-level cache.
pub(crate) const CHUNK: usize = 4;

/// Number of elements of rows of `a` that are multiplied at a time: half of the second-level cache
/// holds them as `f32`.
fn rows_elements(machine: &Machine) -> usize {
    machine.l2.bytes / 8
}

/// True if the second-level cache holds some rows of `a` beside columns of `b`.
pub(crate) fn are_near<T>(a: &dyn Rows<T>, rows: usize, depth: usize) -> bool {
    a.footprint(rows, depth) <= rows_elements(host::machine())
}

/// Number of elements of columns of `b` that the second-level cache holds as `f32`.
pub(crate) fn panels_elements() -> usize {
    host::machine().l2.bytes / 4
}

/// Bytes of columns that are copied and multiplied with some rows after the others: these are in
/// the third-level cache.
pub fn deep_panels_bytes() -> usize {
    deep_bytes(host::machine())
}

fn deep_bytes(machine: &Machine) -> usize {
    (machine.l3.bytes / 4).min(8 * machine.l2.bytes)
}

/// Sizes of the parts of a product.
#[derive(Clone, Copy)]
pub(crate) struct Blocking {
    /// Rows of `a` at a time, which the second-level cache holds.
    pub tall: usize,
    /// Columns of `b` that are multiplied with all rows before the next ones.
    pub wide: usize,
    /// Columns of `b` that are copied at a time, and then multiplied with some rows: a few panels
    /// that the second-level cache holds beside the rows.
    pub group: usize,
    /// True if [`CHUNK`] blocks of products are summed at a time.
    pub has_chunks: bool,
}

impl Blocking {
    /// The parts of a product with this many rows and columns, in tiles of `R` x `C`; copies of
    /// columns are used again if `is_shared`.
    pub(crate) fn new<T: Accumulator, const R: usize, const C: usize>(
        product: &Product<'_, T>,
        rows: usize,
        columns: usize,
        is_shared: bool,
    ) -> Blocking {
        let (depth, machine) = (product.depth, host::machine());
        let most = rows_elements(machine);
        let is_far = |rows: usize, depth: usize| {
            rows.saturating_mul(depth) > most && product.a.footprint(rows, depth) > most
        };
        // Rows in a few parts of equal length.
        let parts = |depth: usize| {
            let mut parts = 1;
            loop {
                let tall = rows.div_ceil(parts).next_multiple_of(R);
                if tall <= R || !is_far(tall.min(rows), depth) {
                    return (parts, tall);
                }
                parts += 1 + parts / 8;
            }
        };
        // All columns are read for each part.
        let (whole, chunked) = (parts(depth), parts(depth.min(CHUNK * BLOCK)));
        let has_chunks = chunked.0 < whole.0;
        let tall = if has_chunks { chunked.1 } else { whole.1 };
        let wide = (deep_bytes(machine) / size_of::<T>() / depth / C).max(1) * C;
        let group = match has_chunks {
            true => wide,
            false => (machine.l2.bytes / 16 / depth / C * C)
                .clamp(C, (PANELS_BYTES / size_of::<T>()).max(C)),
        };
        let wide = if tall < rows || is_shared { wide } else { columns };
        Blocking { tall, wide: wide.min(columns), group: group.min(columns), has_chunks }
    }
}
