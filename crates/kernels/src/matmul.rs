//! Sums of products: matrix products, and the products of convolutions.
//!
//! A sum of products is a chain of fused multiply-adds in the order of the contracted index, from
//! zero. Where there are more than [`BLOCK`] products, each block has a separate chain, and the
//! sums of the blocks are the leaves of a [`Tree`](super::tree::Tree). A sum of at most [`FEW`]
//! products rounds each of them, so that perpendicular vectors have a product of zero. The same
//! bits follow for every shape of tile, width of vectors and number of threads; `docs/accuracy.md`
//! states the definition.

use super::accumulator::Accumulator;
pub use super::blocking::deep_panels_bytes;
use super::blocking::{Blocking, CHUNK, MAX_IN_PLACE, PANELS_BYTES, are_near, panels_elements};
use super::direct::DirectRow;
use super::panels::{Ahead, Pack, Panels, RowOrder};
use super::parallel::task_size;
use super::rows::{Matrix, RowScratch, Rows, SomeRows};
use super::vector_products::{VectorProduct, with_panels};
use numerics::budget::{Scratch, reserve};
use numerics::math::AlignedBytes;
use numerics::simd::{
    ColumnScales, Factors, Isa, Kernel, PanelColumns, ResultRows, Sums, TreeLeaf, WORD_COLUMNS,
};
use numerics::{AlignedMemory, TensorError};
use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Products that are summed in one chain.
pub const BLOCK: usize = 256;
/// At most this many products are rounded before they are added.
pub const FEW: usize = 4;
/// Products of at most this many multiplications are computed without copies.
const SMALL: usize = 1 << 10;
/// From this many rows on, a task may have all columns.
const SHARED_ROWS: usize = 96;
/// Memory for copies of columns that is kept for the next product on every machine.
const KEPT_BYTES: usize = 1 << 20;

thread_local! {
    static ROOM: Cell<Room> = const {
        Cell::new(Room { bytes: AlignedBytes::new(), copied: None, sums: AlignedBytes::new() })
    };
}

/// Memory for copies of columns, and which it has, and for sums of chunks.
#[derive(Default)]
struct Room {
    bytes: AlignedBytes,
    copied: Option<CopiedPanels>,
    sums: AlignedBytes,
}

/// All columns of a part of a product, as panels: the call of [`multiply`], the product in it, and
/// the columns.
#[derive(PartialEq)]
struct CopiedPanels {
    call: Call,
    product: usize,
    columns: Range<usize>,
}

/// A call of [`multiply`], while which factors do not change.
#[derive(Clone, Copy, PartialEq)]
pub struct Call(usize);

impl Call {
    /// One that is equal to no other.
    fn new() -> Call {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        Call(CALLS.fetch_add(1, Ordering::Relaxed))
    }
}

/// Where results are written.
pub enum Results<'o, T> {
    /// Rows with a distance between them.
    Strided(&'o mut [T], usize),
    /// Rows anywhere.
    Rows(Vec<&'o mut [T]>),
}

impl<'o, T> Results<'o, T> {
    /// A part of a row.
    #[inline(always)]
    pub(crate) fn part(&mut self, row: usize, columns: Range<usize>) -> &mut [T] {
        match self {
            Results::Strided(elements, stride) => &mut elements[row * *stride..][columns],
            Results::Rows(rows) => &mut rows[row][columns],
        }
    }

    /// Parts of rows, from a column on.
    #[inline(always)]
    fn rows(&mut self, rows: Range<usize>, column: usize) -> ResultRows<'_, 'o, T> {
        match self {
            Results::Strided(elements, stride) => {
                ResultRows::Strided(&mut elements[rows.start * *stride + column..], *stride)
            }
            Results::Rows(all) => ResultRows::Rows(&mut all[rows], column),
        }
    }
}

/// The product of a matrix `a` of `rows` x `depth` and a matrix `b` of `depth` x `columns`, none of
/// which is zero.
#[derive(Clone, Copy)]
pub struct Product<'a, T> {
    /// Rows of `a` and of the result.
    pub rows: usize,
    /// Columns of `a` and rows of `b`: the number of products of a sum.
    pub depth: usize,
    /// Columns of `b` and of the result.
    pub columns: usize,
    /// The left factor.
    pub a: &'a dyn Rows<T>,
    /// The right factor.
    pub b: Matrix<'a, T>,
    /// Where the rows of the right factor are, if the distances between them are not all equal:
    /// for more than [`FEW`] products.
    pub order: Option<&'a RowOrder>,
    /// The columns of the right factor as [`pack`] copies them, if they are.
    pub panels: Option<&'a [T]>,
}

/// Copies all columns of a right factor to panels, for several products with it; `None` if products
/// of the type read them where they are, or large panels would be mostly empty. Its rows are in
/// this `order`, if the distances between them are not all equal.
///
/// # Errors
/// If there is no memory for them.
pub fn pack<T: Accumulator, const C: usize>(
    b: Matrix<'_, T>,
    order: Option<&RowOrder>,
    [depth, columns]: [usize; 2],
) -> Result<Option<AlignedMemory>, TensorError> {
    if const { !T::HAS_TILES } {
        return Ok(None);
    }
    let width = columns.next_multiple_of(C);
    let elements = width.saturating_mul(depth);
    if width > 2 * columns && elements > panels_elements() {
        return Ok(None);
    }
    let _reserved = reserve::<T>(elements)?;
    let mut copy = AlignedMemory::try_zeros(elements.saturating_mul(size_of::<T>()))?;
    let (panels, _) = bytemuck::cast_slice_mut::<u8, T>(&mut copy).as_chunks_mut::<C>();
    let together = task_size(width / C, depth * C, 1);
    let tasks = panels.chunks_mut((together * depth).max(1)).enumerate();
    host::parallel(tasks.collect(), |(task, panels)| {
        let first = task * together * C;
        let elements = &b.elements[first * b.strides[1]..];
        let (b, width) = (Matrix { elements, ..b }, (columns - first).min(together * C));
        Isa::best().run(Pack { b, order, width, depth, panels });
        Ok::<(), TensorError>(())
    })?;
    Ok(Some(copy))
}

/// The panels of words of a factor of elements of 16 bits, whose rows begin `row_stride` elements
/// apart: each word has elements of two consecutive rows, of an even number.
///
/// # Errors
/// If there is no memory for them, or elements are missing.
pub fn pack_pairs(
    elements: &[u16],
    row_stride: usize,
    [depth, columns]: [usize; 2],
) -> Result<AlignedMemory, TensorError> {
    const C: usize = WORD_COLUMNS;
    let (pairs, count) = (depth / 2, columns.div_ceil(C));
    let end = (depth - 1).saturating_mul(row_stride).saturating_add(columns);
    if end > elements.len() {
        return Err(TensorError::OutOfBounds);
    }
    let _reserved = reserve::<[i32; C]>(pairs.saturating_mul(count))?;
    let mut copy = AlignedMemory::try_zeros(pairs.saturating_mul(count * size_of::<[i32; C]>()))?;
    let (panels, _) = bytemuck::cast_slice_mut::<u8, u32>(&mut copy).as_chunks_mut::<C>();
    let together = task_size(count, depth * C, 1);
    let tasks = panels.chunks_mut((together * pairs).max(1)).enumerate();
    host::parallel(tasks.collect(), |(task, panels)| {
        let first = task * together * C;
        let width = (columns - first).min(together * C);
        for pair in 0..pairs {
            let row = |row: usize| elements[row * row_stride + first..][..width].chunks(C);
            for (panel, (low, high)) in row(2 * pair).zip(row(2 * pair + 1)).enumerate() {
                let words = panels[panel * pairs + pair].iter_mut();
                for (word, (&low, &high)) in words.zip(low.iter().zip(high)) {
                    *word = u32::from(low) | u32::from(high) << 16;
                }
            }
        }
        Ok::<(), TensorError>(())
    })?;
    Ok(copy)
}

/// The work for a result of a product of matrices, in elementary operations: a few products with an
/// element of `b` take as long as reading it.
pub fn result_work<T: Accumulator>(rows: usize, depth: usize) -> usize {
    let reuse = host::machine().products_per_operation();
    depth.div_ceil(if T::HAS_TILES { rows.clamp(1, reuse) } else { 1 })
}

/// Writes products of the same sizes to `out`, consecutively, with `R` rows and `C` columns
/// of results at a time, on several threads where that pays if a result takes this `work`.
///
/// # Errors
/// If there is no memory for a copy of columns of `b`.
pub fn multiply<T: Accumulator, const R: usize, const C: usize>(
    products: &[Product<'_, T>],
    work: usize,
    out: &mut [T],
) -> Result<(), TensorError> {
    let Some(&Product { rows, depth, columns, .. }) = products.first() else { return Ok(()) };
    let isa = Isa::best();
    let task_results = task_size(out.len(), work, 1);
    if task_results >= rows * columns {
        let products_at_a_time = task_results / (rows * columns);
        let results = out.chunks_mut(products_at_a_time * rows * columns);
        let tasks = products.chunks(products_at_a_time).zip(results).collect();
        return host::parallel(tasks, |(products, out): (&[Product<'_, T>], &mut [T])| {
            products.iter().zip(out.chunks_mut(rows * columns)).try_for_each(|(product, out)| {
                let mut results = Results::Strided(out, columns);
                product.compute::<R, C>(isa, 0..rows, 0..columns, &mut results)
            })
        });
    }
    let parts = (rows * columns).div_ceil(task_results);
    let is_packed = products.iter().all(|product| product.panels.is_some());
    let may_stay = is_packed || products.iter().all(Product::may_stay);
    let is_in_place = rows <= 2 * SHARED_ROWS && may_stay;
    let is_wide = columns >= PANELS_BYTES / size_of::<T>();
    let least = if is_wide && !is_in_place { SHARED_ROWS } else { 2 * R };
    let (panels, workers) = (columns.div_ceil(C), host::workers());
    // A thread that has the same rows in the kernels before and after finds them in its cache. But
    // columns that are copied, or too many for a cache, are read by one thread each if there are
    // fewer rows than these are long.
    let is_read_once = match is_packed {
        true => columns.saturating_mul(depth) > panels_elements(),
        false => !is_in_place,
    };
    let is_by_columns = is_read_once && rows <= depth;
    let is_near = || products.iter().all(|product| are_near(product.a, rows, depth));
    let row_parts = match () {
        // Packing takes longer than to read all rows for a few columns.
        () if is_by_columns && (depth > CHUNK * BLOCK || is_near()) => 1,
        () if is_by_columns => parts / panels.min(workers),
        () if is_in_place => workers,
        () => parts,
    };
    let row_parts = row_parts.min(rows / least).max(1);
    // A thread that has the same columns for every vector finds them in its cache.
    let caches = workers.saturating_mul(host::machine().l2.bytes);
    let is_cached = columns.saturating_mul(depth) <= 2 * caches / size_of::<T>();
    let parts = if rows == 1 && (is_packed || is_cached) { workers } else { parts };
    let column_parts = parts.div_ceil(row_parts).min(panels);
    // Parts of tiles are less of a loss than uneven tasks.
    let part_rows = rows.div_ceil(row_parts).next_multiple_of(R.div_ceil(3));
    let part_columns = columns.div_ceil(column_parts).next_multiple_of(C);
    // Tasks of the same columns are consecutive if these are read by one thread.
    let mut groups: Vec<Vec<_>> = Vec::new();
    groups.resize_with(columns.div_ceil(part_columns), Vec::new);
    for (product, out) in products.iter().zip(out.chunks_mut(rows * columns)) {
        for (part, out) in out.chunks_mut(part_rows * columns).enumerate() {
            let first = part * part_rows;
            let range = first..first + out.len() / columns;
            if column_parts == 1 {
                groups[0].push((product, range, 0..columns, Results::Strided(out, columns)));
                continue;
            }
            let mut lines: Vec<_> =
                out.chunks_mut(columns).map(|line| line.chunks_mut(part_columns)).collect();
            for start in (0..columns).step_by(part_columns) {
                let out = lines.iter_mut().filter_map(Iterator::next).collect();
                let end = columns.min(start + part_columns);
                let group = if is_by_columns { start / part_columns } else { 0 };
                groups[group].push((product, range.clone(), start..end, Results::Rows(out)));
            }
        }
    }
    let mut tasks = Vec::new();
    groups.iter_mut().for_each(|group| tasks.append(group));
    if (is_packed || is_by_columns) && row_parts == 1 {
        // Helpers begin with the last task. They, too, go on with the columns after the ones they
        // had, which are prefetched.
        let own = tasks.len().div_ceil(workers);
        tasks[own..].reverse();
    }
    // A thread that takes neighbouring tasks may have copied the columns of the next one.
    let call = (row_parts > 1).then(Call::new);
    host::parallel(tasks, |(product, rows, columns, mut results)| {
        T::compute::<R, C>(product, isa, rows, columns, &mut results, call)
    })
}

impl<T: Accumulator> Product<'_, T> {
    /// True if few rows may be multiplied with the columns of `b` where they are.
    fn may_stay(&self) -> bool {
        let is_adjacent = self.b.strides[1] == 1 && self.order.is_none();
        T::HAS_TILES && is_adjacent && self.depth <= MAX_IN_PLACE
    }

    /// Writes a part of the product to `out`, whose rows begin with the first of the columns.
    ///
    /// # Errors
    /// If there is no memory for a copy of columns of `b`.
    pub fn compute<const R: usize, const C: usize>(
        &self,
        isa: Isa,
        rows: Range<usize>,
        columns: Range<usize>,
        out: &mut Results<'_, T>,
    ) -> Result<(), TensorError> {
        T::compute::<R, C>(self, isa, rows, columns, out, None)
    }

    /// Writes a part of a row, if the columns are copied to panels and there are instructions for
    /// the type.
    fn row_with_panels<const C: usize>(
        &self,
        isa: Isa,
        row: usize,
        columns: &Range<usize>,
        out: &mut Results<'_, T>,
    ) -> bool {
        let depth = self.depth;
        let Some(panels) = self.panels.filter(|_| depth > FEW && !self.a.has_segments()) else {
            return false;
        };
        let mut scratch = RowScratch::default();
        let a = self.a.rows(row..row + 1, depth, &mut scratch);
        let elements = &panels[columns.start / C * C * depth..];
        let panels = PanelColumns { elements, stride: C, distance: C * depth };
        // The last panel may have columns of no use.
        let mut sums = vec![T::ZERO; columns.len().next_multiple_of(C)];
        let chains = |_, a: &[T], columns: PanelColumns<'_, T>, sums: &mut [T]| {
            T::row_chains(isa, a, columns, sums)
        };
        if !with_panels(&a.start_of(0)[..depth], panels, [C, 1], &mut sums, chains) {
            return false;
        }
        for (out, sum) in out.part(0, 0..columns.len()).iter_mut().zip(&sums) {
            *out = sum.finish();
        }
        true
    }

    /// Elements that are read after `width` columns of `b`, if `next` more columns are copied then:
    /// lines of their rows, or adjacent columns.
    fn after_columns<'b, const C: usize>(
        &self,
        b: Matrix<'b, T>,
        width: usize,
        next: usize,
    ) -> (Ahead<'b, T>, &'b [T]) {
        let ([stride, column_stride], depth) = (b.strides, self.depth);
        let is_by_rows = column_stride == 1 && self.order.is_none();
        let panels = if is_by_rows { next.div_ceil(C) } else { 0 };
        let elements = b.elements.get(width..).unwrap_or_default();
        let ahead = Ahead { elements, stride, depth, panels, panel: 0, row: 0 };
        if column_stride < depth {
            return (ahead, &[]);
        }
        let columns = b.elements.get(width * column_stride..).unwrap_or_default();
        (ahead, &columns[..columns.len().min(next * column_stride)])
    }

    /// As [`Product::compute`], in tiles. Copies of columns are used again in the same call.
    pub(crate) fn compute_tiles<const R: usize, const C: usize>(
        &self,
        isa: Isa,
        rows: Range<usize>,
        columns: Range<usize>,
        out: &mut Results<'_, T>,
        call: Option<Call>,
    ) -> Result<(), TensorError> {
        let depth = self.depth;
        if rows.len() == 1 && self.row_with_panels::<C>(isa, rows.start, &columns, out) {
            return Ok(());
        }
        let is_small = rows.len().saturating_mul(columns.len()).saturating_mul(depth) <= SMALL;
        let has_segments = self.a.has_segments();
        // The factor itself is not read if there are panels, nor if its rows are not in order.
        let is_raw = self.panels.is_none() && self.order.is_none();
        let is_vector = rows.len() == 1
            && depth > FEW
            && self.b.strides.contains(&1)
            && !has_segments
            && is_raw;
        let is_chain = is_small && depth <= BLOCK && !is_vector && !has_segments && is_raw;
        let is_direct = depth <= FEW || is_chain;
        let is_copied = !(is_direct || is_vector);
        let ready = self.panels.filter(|_| is_copied).map(|panels| panels.as_chunks::<C>().0);
        let may_stay = ready.is_none() && self.may_stay();
        let Blocking { tall, wide, group, has_chunks } =
            Blocking::new::<T, R, C>(self, rows.len(), columns.len(), call.is_some());
        // Columns that are multiplied where they are: one panel at a time is copied, by its first
        // tile.
        let is_in_place = is_copied && may_stay && rows.len() <= tall.max(SHARED_ROWS);
        let whole = if is_in_place { columns.len() / C * C } else { 0 };
        let (wide, group) = match whole {
            0 if is_copied && ready.is_none() => (wide, group),
            0 => (columns.len(), columns.len()),
            whole => (whole, whole),
        };
        // Copies of all columns, if they are used again.
        let are_kept = rows.len() > tall || call.is_some();
        let copied = match is_copied {
            true if whole > 0 => C,
            true if ready.is_some() => 0,
            true => if are_kept { wide } else { group }.next_multiple_of(C),
            false => 0,
        };
        let blocks = self.a.blocks(depth);
        let is_deep = is_copied && blocks > 1;
        // Those of subtrees of all sizes but the last one.
        let depths = if is_deep { (blocks - 1).ilog2() as usize + 1 } else { 0 };
        // Whole vectors in lines of the cache.
        let mut levels = AlignedBytes::try_zeros(depths * R * C * size_of::<T>())?;
        let levels = bytemuck::cast_slice_mut::<u8, T>(&mut levels);
        let levels = levels.as_chunks_mut::<C>().0.as_chunks_mut::<R>().0;
        // Few products with columns in another order: these are copied for several rows.
        let is_reordered = depth <= FEW && self.b.strides[1] != 1 && rows.len() > FEW;
        let reordered = if is_reordered { columns.len() } else { 0 };
        let copied_rows = self.a.copied(tall.min(rows.len()), depth);
        let copied_columns = depth.saturating_mul(copied + reordered);
        let _reserved = reserve::<T>(copied_columns.saturating_add(copied_rows))?;
        let Room { bytes: mut room, copied: before, sums: mut chunk_sums } = ROOM.take();
        room.resize(copied * depth * size_of::<T>());
        let (panels, _) = bytemuck::cast_slice_mut::<u8, T>(&mut room).as_chunks_mut::<C>();
        let is_kept = copied > 0 && whole == 0 && wide >= columns.len();
        let kept = call.filter(|_| is_kept).map(|call| CopiedPanels {
            call,
            product: std::ptr::from_ref(self).addr(),
            columns: columns.clone(),
        });
        let has_copies = kept.is_some() && kept == before;
        let mut scratch = RowScratch::default();
        let mut in_order = Scratch::new(depth * reordered)?;
        let right = if is_reordered {
            let [row_stride, column_stride] = self.b.strides;
            for k in 0..depth {
                let elements = &self.b.elements[k * row_stride + columns.start * column_stride..];
                let elements = elements.iter().step_by(column_stride);
                elements.take(columns.len()).for_each(|&element| in_order.push(element));
            }
            (Matrix { elements: &in_order[..], strides: [columns.len(), 1] }, columns.start)
        } else {
            (self.b, 0)
        };
        for first_wide in columns.clone().step_by(wide.max(1)) {
            let end = columns.end.min(first_wide + wide);
            for first in rows.clone().step_by(tall) {
                let range = first..rows.end.min(first + tall);
                let (row, count) = (first - rows.start, range.len());
                let a = self.a.rows(range, depth, &mut scratch);
                for first_column in (first_wide..end).step_by(group.max(1)) {
                    let width = group.min(end - first_column);
                    let at = first_column - columns.start;
                    let (right, skipped) = right;
                    let elements = &right.elements[(first_column - skipped) * right.strides[1]..];
                    let b = Matrix { elements, ..right };
                    if is_direct {
                        for i in 0..count {
                            let a = &a.start_of(i)[..depth];
                            isa.run(DirectRow { a, b, out: out.part(row + i, at..at + width) });
                        }
                        continue;
                    }
                    if is_vector {
                        let out = out.part(row, at..at + width);
                        let (a, scales) = (&a.start_of(0)[..depth], ColumnScales::NONE);
                        isa.run(VectorProduct { isa, a, b, scales, out });
                        continue;
                    }
                    let is_in_place = at < whole;
                    let place = if are_kept { first_column - first_wide } else { 0 };
                    let place = if is_in_place { 0 } else { place / C * depth };
                    let panels = panels.get_mut(place..).unwrap_or_default();
                    let count_of_panels = copied.min(width.next_multiple_of(C)) / C;
                    let panels = &mut panels[..count_of_panels * depth];
                    let is_first = copied > 0 && !is_in_place && !has_copies && row == 0;
                    if is_first {
                        isa.run(Pack { b, order: self.order, width, depth, panels });
                    }
                    // Columns that are copied after these, in this task or the next one.
                    let after = self.columns - first_column - width;
                    let next = if is_first { group.min(after) } else { 0 };
                    let (ahead, next) = self.after_columns::<C>(b, width, next);
                    let panels = match ready {
                        Some(ready) => Panels::Copied(&ready[first_column / C * depth..]),
                        None if is_in_place => Panels::InPlace(b, panels),
                        None => Panels::Copied(panels),
                    };
                    let block = Block { isa, a, count, depth, panels, width, ahead, next };
                    let chunk = if has_chunks { CHUNK } else { blocks };
                    let (levels, chunk_sums) = (&mut *levels, &mut chunk_sums);
                    let sums = TreeSums { chunk, levels, chunk_sums };
                    let column = at;
                    isa.run(Tiles { block, row, column, sums, out });
                }
            }
        }
        // For the next product.
        let bytes = room.len() + chunk_sums.len();
        if bytes <= KEPT_BYTES || bytes <= deep_panels_bytes() {
            ROOM.set(Room { bytes: room, copied: kept, sums: chunk_sums });
        }
        Ok(())
    }
}

/// Rows of `a` to be multiplied with copied columns of `b`.
struct Block<'a, T, const C: usize> {
    isa: Isa,
    a: SomeRows<'a, T>,
    count: usize,
    depth: usize,
    panels: Panels<'a, T, C>,
    width: usize,
    ahead: Ahead<'a, T>,
    /// Elements that are read after these products.
    next: &'a [T],
}

/// The results of a block.
struct Tiles<'a, 'o, T, const R: usize, const C: usize> {
    block: Block<'a, T, C>,
    row: usize,
    column: usize,
    sums: TreeSums<'a, T, R, C>,
    out: &'a mut Results<'o, T>,
}

/// Room for sums of several chains.
struct TreeSums<'a, T, const R: usize, const C: usize> {
    /// The number of chains of a chunk, which are summed for all tiles before the next one: a power
    /// of two, or all.
    chunk: usize,
    /// Scratch for sums of 1, 2, 4, … chains of a tile and a chunk.
    levels: &'a mut [[[T; C]; R]],
    /// Memory for the sums of chunks of each tile.
    chunk_sums: &'a mut AlignedBytes,
}

impl<T: Accumulator, const R: usize, const C: usize> Kernel for Tiles<'_, '_, T, R, C> {
    #[inline(always)]
    fn run(self) {
        self.run_with::<false>();
    }

    fn run_baseline(self) {
        self.run_with::<true>();
    }
}

impl<T: Accumulator, const R: usize, const C: usize> Tiles<'_, '_, T, R, C> {
    /// Computes one chain at a time if `SINGLE`.
    #[inline(always)]
    fn run_with<const SINGLE: bool>(self) {
        let Block { isa, a, count, depth, mut panels, width, mut ahead, next } = self.block;
        let TreeSums { chunk, levels, chunk_sums } = self.sums;
        let (columns_of_tiles, rows_of_tiles) = (width.div_ceil(C), count.div_ceil(R));
        let tiles = columns_of_tiles * rows_of_tiles;
        let blocks = a.blocks(depth);
        let chunks = blocks.div_ceil(chunk);
        let lines = (ahead.panels * depth).div_ceil(tiles * chunks);
        // Columns that are copied later are prefetched tile by tile.
        let together = if lines == 0 { count } else { R };
        let mut next = next.chunks(next.len().div_ceil(columns_of_tiles * chunks).max(1));
        let next_panels = self.block.next.is_empty();
        let lower = if chunks == 1 { levels.len() } else { chunk.ilog2() as usize };
        let upper = levels.len() - lower;
        let levels = &mut levels[..lower];
        chunk_sums.resize(tiles * upper * size_of::<[[T; C]; R]>());
        let chunk_sums = bytemuck::cast_slice_mut::<u8, T>(chunk_sums);
        let chunk_sums = chunk_sums.as_chunks_mut::<C>().0.as_chunks_mut::<R>().0;
        for number in 0..chunks {
            let chunk_at = |number: usize| {
                let blocks = blocks.min(number * chunk)..blocks.min((number + 1) * chunk);
                (a.products(&blocks, depth), blocks)
            };
            let (products, some) = chunk_at(number);
            let (next_products, _) = chunk_at(number + 1);
            let (some_blocks, start) = a.some_blocks(&some, depth);
            let mut upper_levels = chunk_sums.chunks_mut((rows_of_tiles * upper).max(1));
            for (panel, at) in (0..width).step_by(C).enumerate() {
                let columns = self.column + at..self.column + width.min(at + C);
                let upper_levels = upper_levels.next().unwrap_or_default();
                let next = match &panels {
                    // The same products of the next panel, or the next ones of the first.
                    Panels::Copied(panels) if next_panels => {
                        let is_last = at + C >= width && number + 1 < chunks;
                        let (panel, products) = match is_last {
                            true => (0, &next_products),
                            false => (panel + 1, &products),
                        };
                        let next = panels.get(panel * depth..).unwrap_or_default();
                        next.get(products.clone()).unwrap_or_default().as_flattened()
                    }
                    _ => next.next().unwrap_or_default(),
                };
                let mut next = next.chunks(next.len().div_ceil(count.div_ceil(together)).max(1));
                for first in (0..count).step_by(together) {
                    let used = together.min(count - first);
                    ahead.prefetch::<C>(lines);
                    let (panel, stride, copy) = match &mut panels {
                        Panels::Copied(panels) => (panels[panel * depth..].as_flattened(), C, None),
                        Panels::InPlace(b, copy) if first == 0 => {
                            (&b.elements[at..], b.strides[0], Some(copy.as_flattened_mut()))
                        }
                        Panels::InPlace(_, copy) => (copy.as_flattened(), C, None),
                    };
                    let (row, tile) = (self.row + first, first / R * upper);
                    let (elements, starts) = a.starts(first);
                    let factors = Factors {
                        elements,
                        starts,
                        count: used,
                        blocks: some_blocks,
                        // A block without products may be after the last element.
                        panel: (panel.get(start * stride..).unwrap_or_default(), stride),
                        columns: columns.len(),
                        copy: copy.map(|copy| &mut copy[start * C..]),
                        next: next.next().unwrap_or_default(),
                    };
                    let upper_levels = upper_levels.get_mut(tile..).unwrap_or_default();
                    let sums = Sums {
                        blocks: (some.start, blocks),
                        levels: levels.as_flattened_mut().as_flattened_mut(),
                        upper_levels: upper_levels.as_flattened_mut().as_flattened_mut(),
                        results: self.out.rows(row..row + used, columns.start),
                    };
                    add_tiles::<T, R, C, SINGLE>(isa, factors, sums);
                }
            }
        }
    }
}

/// Adds the sums of chains to those of the blocks before, as a [`Tree`](super::tree::Tree) combines
/// them, and writes results if these are all.
#[inline(always)]
fn add_tiles<T: Accumulator, const R: usize, const C: usize, const SINGLE: bool>(
    isa: Isa,
    mut factors: Factors<'_, T>,
    mut sums: Sums<'_, '_, T>,
) {
    if T::tree(isa, &mut factors, &mut sums) {
        return;
    }
    let Factors { elements, starts, count, blocks, panel: (panel, stride), columns, copy, .. } =
        factors;
    let Sums { blocks: (done, total), levels, upper_levels, mut results } = sums;
    let levels = levels.as_chunks_mut::<C>().0.as_chunks_mut::<R>().0;
    let upper_levels = upper_levels.as_chunks_mut::<C>().0.as_chunks_mut::<R>().0;
    let copies = copy.map_or(&mut [][..], |copy| copy.as_chunks_mut::<C>().0);
    for (copy, row) in copies.iter_mut().zip(panel.chunks(stride)) {
        row.first_chunk().into_iter().for_each(|row| *copy = *row);
    }
    let upper = upper_levels.len() / count.div_ceil(R);
    let mut upper_levels = upper_levels.chunks_mut(upper.max(1));
    for tile in (0..count).step_by(R) {
        let upper_levels = upper_levels.next().unwrap_or_default();
        // If there are fewer rows, the last one is repeated.
        let row = |r: usize| &elements[starts.of((tile + r).min(count - 1))..];
        let rows: [&[T]; R] = std::array::from_fn(row);
        let mut panel = panel;
        for block in 0..blocks.count() {
            let mut one = 0..0;
            let runs = blocks.runs(block, &mut one);
            let mut sums = [[T::ZERO; C]; R];
            // Types with tiles come here only without the instructions for them.
            if SINGLE || T::HAS_TILES {
                single_chains(rows, runs, (panel, stride), &mut sums);
            } else {
                chains(rows, runs, (panel, stride), &mut sums);
            }
            let TreeLeaf { added, level } = TreeLeaf::new(done + block, total);
            for (left, sums_on_left) in levels.iter().chain(&*upper_levels).enumerate() {
                if added >> left & 1 == 1 {
                    add_sums(sums_on_left, &mut sums);
                }
            }
            if done + block + 1 < total {
                let to = levels.iter_mut().chain(&mut *upper_levels).nth(level);
                to.into_iter().for_each(|to| *to = sums);
            } else {
                for (r, sums) in sums.iter().enumerate().take(count - tile) {
                    let result = results.row(tile + r, columns).unwrap_or_default();
                    for (result, sums) in result.iter_mut().zip(sums) {
                        *result = sums.finish();
                    }
                }
            }
            let depth: usize = runs.iter().map(ExactSizeIterator::len).sum();
            panel = panel.get(depth * stride..).unwrap_or_default();
        }
    }
}

/// As [`chains`], one chain at a time: each step is a call.
#[inline(never)]
fn single_chains<T: Accumulator, const R: usize, const C: usize>(
    rows: [&[T]; R],
    segments: &[Range<usize>],
    (panel, stride): (&[T], usize),
    sums: &mut [[T; C]; R],
) {
    for (sums, row) in sums.iter_mut().zip(rows) {
        for (j, sum) in sums.iter_mut().enumerate() {
            let step = |sum: T, (a, b): (&T, &T)| sum.multiply_add(*a, *b);
            let elements = segments.iter().flat_map(|segment| &row[segment.clone()]);
            *sum = elements.zip(panel[j..].iter().step_by(stride)).fold(T::ZERO, step);
        }
    }
}

/// Writes chains of products for `R` x `C` results, in registers.
#[inline(always)]
fn chains<T: Accumulator, const R: usize, const C: usize>(
    rows: [&[T]; R],
    segments: &[Range<usize>],
    (panel, stride): (&[T], usize),
    sums: &mut [[T; C]; R],
) {
    // In registers, which memory that is given may not become.
    let mut chains = [[T::ZERO; C]; R];
    let mut next = 0;
    for k in segments.iter().cloned().flatten() {
        let b = &panel[next..next + C];
        for (sums, row) in chains.iter_mut().zip(rows) {
            for (sum, &b) in sums.iter_mut().zip(b) {
                *sum = sum.multiply_add(row[k], b);
            }
        }
        next += stride;
    }
    *sums = chains;
}

/// Adds sums to the sums on their left.
#[inline(always)]
fn add_sums<T: Accumulator, const R: usize, const C: usize>(
    left: &[[T; C]; R],
    sums: &mut [[T; C]; R],
) {
    for (left, sum) in left.as_flattened().iter().zip(sums.as_flattened_mut()) {
        *sum = left.add(*sum);
    }
}
