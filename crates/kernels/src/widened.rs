//! Products of factors whose elements are stored in other types than their sums.
//!
//! Stored elements stay where they are: for a product with a vector they are converted in
//! registers, for products of matrices some columns and rows at a time, which stay in the
//! second-level cache. So weights of 16 bits are read as such, and no factor is converted as a
//! whole. Sums have the bits of [`matmul`](super::matmul) on converted factors.

use super::accumulator::Accumulator;
use super::contract::{FEW_COLUMNS, dispatch_sum};
use super::converted::convert_into;
use super::matmul::{FEW, Product, Results, result_work};
use super::parallel::task_size;
use super::rows::Matrix;
use super::vector_products::{VectorProduct, VectorsProduct, with_panels};
use numerics::budget::reserve;
use numerics::math::AlignedBytes;
use numerics::simd::{
    ColumnScales, ColumnSums, Isa, Kernel, PanelColumns, WIDE_GROUP, WORD_COLUMNS,
};
use numerics::{DType, Element, TensorError, Widen, bf16, f16};
use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

/// Memory for converted parts that is kept for the next product has at most this many bytes.
const KEPT_BYTES: usize = 4 << 20;
/// Maximum number of rows that are multiplied with stored elements, as vectors, several at a time.
const MAX_VECTORS: usize = 8;
/// Maximum number of rows that are multiplied with stored elements, each of which reads them all.
const MAX_LONE_VECTORS: usize = 2;

/// Memory for converted parts of both factors, for sums, and for elements in another order.
type Rooms = [AlignedBytes; 4];

thread_local! {
    static ROOMS: Cell<Rooms> = const { Cell::new([const { AlignedBytes::new() }; 4]) };
}

/// Runs a function with memory that is kept for the next one on this thread.
fn with_rooms<R>(run: impl FnOnce(&mut Rooms) -> R) -> R {
    let mut rooms = ROOMS.take();
    let result = run(&mut rooms);
    if rooms.iter().map(|room| room.len()).sum::<usize>() <= KEPT_BYTES {
        ROOMS.set(rooms);
    }
    result
}

/// A factor of products: matrices in memory.
#[derive(Clone, Copy)]
pub(crate) struct WidenedFactor<'a> {
    /// The bytes of all elements.
    pub bytes: &'a [u8],
    /// Their type.
    pub dtype: DType,
    /// Where each matrix begins.
    pub starts: &'a [usize],
    /// The distance between elements that belong to different results, and between elements that
    /// belong to different products of a result.
    pub strides: [usize; 2],
    /// The factors of the elements, a column for each result. Sums are of `f32` then.
    pub scales: ColumnScales<'a, f32>,
    /// The type of the elements times their scales.
    pub scaled_type: DType,
}

impl WidenedFactor<'_> {
    /// True if the matrices, of `kept` x `depth` elements, are in the memory.
    pub(crate) fn is_inside(&self, kept: usize, depth: usize) -> bool {
        let [row, column] = self.strides;
        let last = row.checked_mul(kept - 1).zip(column.checked_mul(depth - 1));
        let last = last.and_then(|(row, column)| row.checked_add(column));
        let last = last.zip(self.starts.iter().max());
        let end = last.and_then(|(last, start)| start.checked_add(last)?.checked_add(1));
        end.is_some_and(|end| end <= self.bytes.len() / self.dtype.bytes())
    }

    /// Some rows of a matrix, of `depth` elements, as elements of `T`: where they are, or converted
    /// to a room, the second one of which is for elements in another order.
    fn part<'r, T: Element>(
        &'r self,
        number: usize,
        rows: Range<usize>,
        depth: usize,
        [room, gathered]: [&'r mut AlignedBytes; 2],
    ) -> Result<Matrix<'r, T>, TensorError> {
        let [row, column] = self.strides;
        let first = self.starts[number] + rows.start * row;
        if self.dtype == T::DTYPE {
            let elements = bytemuck::try_cast_slice(&self.bytes[first * size_of::<T>()..]);
            let elements = elements.map_err(|_| TensorError::OutOfBounds)?;
            return Ok(Matrix { elements, strides: self.strides });
        }
        let (count, size) = (rows.len(), self.dtype.bytes());
        // Lines of neighbouring elements, and the distance between lines.
        let ([lines, line], stride, strides, are_rows) = match [row, column] {
            [1, _] => ([depth, count], column, [1, count], true),
            _ => ([count, depth], row, [depth, 1], false),
        };
        let is_gathered = !self.strides.contains(&1) && depth > 1;
        room.resize(lines * line * size_of::<T>());
        let types = [self.dtype, T::DTYPE];
        let bytes = &self.bytes[first * size..];
        if T::DTYPE == DType::F32 {
            let step = if is_gathered { column } else { 1 };
            let scales = self.scales.from(0, rows.start);
            let places = StoredLines { line, stride, step, are_rows };
            if self.widen(bytes, places, scales, room)? {
                return Ok(Matrix { elements: bytemuck::cast_slice(room), strides });
            }
        }
        if !is_gathered && (stride == line || lines == 1) {
            convert_into(&bytes[..lines * line * size], types, room)?;
        } else {
            gathered.resize(line * size);
            for (number, out) in room.chunks_exact_mut(line * size_of::<T>()).enumerate() {
                let from = &bytes[number * stride * size..];
                if is_gathered {
                    let elements = from.chunks(column * size);
                    for (to, from) in gathered.chunks_exact_mut(size).zip(elements) {
                        to.copy_from_slice(&from[..size]);
                    }
                    convert_into(gathered, types, out)?;
                } else {
                    convert_into(&from[..line * size], types, out)?;
                }
            }
        }
        Ok(Matrix { elements: bytemuck::cast_slice(room), strides })
    }

    /// Writes lines of elements of few bits, times their scales, as `f32`; false, and nothing is
    /// written, if the type has more bits or is rare.
    fn widen(
        &self,
        bytes: &[u8],
        lines: StoredLines,
        scales: ColumnScales<'_, f32>,
        room: &mut AlignedBytes,
    ) -> Result<bool, TensorError> {
        macro_rules! widen {
            ($ty:ty) => {{
                let elements = bytemuck::try_cast_slice::<u8, $ty>(bytes);
                let elements = elements.map_err(|_| TensorError::OutOfBounds)?;
                let out = bytemuck::cast_slice_mut(&mut room[..]);
                Isa::best().run(WidenLines { elements, lines, scales, out });
            }};
        }
        match self.dtype {
            DType::I8 | DType::I4 | DType::I2 => widen!(i8),
            DType::U8 | DType::U4 | DType::U2 => widen!(u8),
            DType::I16 => widen!(i16),
            DType::U16 => widen!(u16),
            DType::BF16 => widen!(bf16),
            DType::F16 => widen!(f16),
            _ if scales.are_some() => return Err(TensorError::OutOfBounds),
            _ => return Ok(false),
        }
        if self.scaled_type != DType::F32 && scales.are_some() {
            let mut rounded = AlignedBytes::new();
            rounded.resize(room.len() / size_of::<f32>() * self.scaled_type.bytes());
            convert_into(room, [DType::F32, self.scaled_type], &mut rounded)?;
            convert_into(&rounded, [self.scaled_type, DType::F32], room)?;
        }
        Ok(true)
    }

    /// True if products with vectors of `depth` elements read the elements where they are.
    fn is_read_in_place(&self, depth: usize) -> bool {
        /// Elements of a column that are converted at a time.
        const CONVERTED: usize = 16;
        let ColumnScales { factors, group, .. } = self.scales;
        let is_one_group = factors.is_empty() || group >= depth;
        let is_grouped = is_one_group || self.strides[0] == 1 || group % CONVERTED == 0;
        is_grouped && self.scaled_type == DType::F32 && self.strides.contains(&1)
    }
}

impl WidenedFactor<'_> {
    /// Writes the sums of products of vectors of `f32` with some columns, whose elements are of 16
    /// bits, to the bytes of `sums`.
    fn multiply_vectors(
        &self,
        number: usize,
        columns: Range<usize>,
        vectors: &[f32],
        depth: usize,
        sums: &mut [u8],
    ) -> Result<(), TensorError> {
        let [row, column] = self.strides;
        let start = self.starts[number] + columns.start * row;
        let (isa, out) = (Isa::best(), bytemuck::cast_slice_mut(sums));
        macro_rules! multiply {
            ($ty:ty) => {{
                let elements: Result<&[$ty], _> = bytemuck::try_cast_slice(self.bytes);
                let elements = &elements.map_err(|_| TensorError::OutOfBounds)?[start..];
                let b = Matrix { elements, strides: [column, row] };
                isa.run(VectorsProduct { isa, a: vectors, depth, b, out });
            }};
        }
        match self.dtype {
            DType::BF16 => multiply!(bf16),
            DType::F16 => multiply!(f16),
            dtype => return Err(TensorError::Unsupported { op: "a product of halves", dtype }),
        }
        Ok(())
    }
}

/// Lines of elements in memory.
#[derive(Clone, Copy)]
struct StoredLines {
    /// The elements of a line.
    line: usize,
    /// The distance between lines.
    stride: usize,
    /// The distance between the elements of a line.
    step: usize,
    /// True if a line has an element of each column; else it is a column.
    are_rows: bool,
}

/// Converts elements to `f32`, and shifts and multiplies them by their scales.
struct WidenLines<'a, S> {
    elements: &'a [S],
    lines: StoredLines,
    scales: ColumnScales<'a, f32>,
    out: &'a mut [f32],
}

impl<S: Widen<f32>> Kernel for WidenLines<'_, S> {
    #[inline(always)]
    fn run(self) {
        let WidenLines {
            elements,
            lines: StoredLines { line, stride, step, are_rows },
            scales,
            out,
        } = self;
        for (number, out) in out.chunks_exact_mut(line).enumerate() {
            let elements = &elements[number * stride..];
            if step == 1 {
                let elements = &elements[..line];
                out.iter_mut().zip(elements).for_each(|(out, element)| *out = element.widen());
            } else {
                let elements = elements.iter().step_by(step);
                out.iter_mut().zip(elements).for_each(|(out, element)| *out = element.widen());
            }
            if !scales.are_some() {
                continue;
            }
            if are_rows {
                let shifts = scales.shifts_of_row(number);
                out.iter_mut().zip(shifts).for_each(|(x, shift)| *x += shift);
                out.iter_mut().zip(scales.of_row(number)).for_each(|(x, scale)| *x *= scale);
                continue;
            }
            for (group, out) in out.chunks_mut(scales.group.min(line)).enumerate() {
                let row = group * scales.group;
                let shift = scales.shifts_of_row(row).get(number).copied().unwrap_or_default();
                let scale = scales.of_row(row)[number];
                out.iter_mut().for_each(|x| *x = (*x + shift) * scale);
            }
        }
    }
}

/// The rows of a matrix, of `depth` elements each, without gaps in memory.
fn dense<'a, T: Element>(matrix: &Matrix<'a, T>, rows: usize, depth: usize) -> Cow<'a, [T]> {
    let [row, column] = matrix.strides;
    if column == 1 && (row == depth || rows == 1) {
        return Cow::Borrowed(&matrix.elements[..rows * depth]);
    }
    let places = (0..rows).flat_map(|i| (0..depth).map(move |k| i * row + k * column));
    Cow::Owned(places.map(|at| matrix.elements[at]).collect())
}

/// Writes the products of a vector with the columns of a matrix, given by bytes, the first element
/// in them, and the distances between rows and between columns.
type StoredProduct = fn(
    &[f32],
    (&[u8], usize, [usize; 2]),
    ColumnScales<'_, f32>,
    &mut [f32],
) -> Result<(), TensorError>;

/// The [`StoredProduct`] of elements that are stored as `S`.
fn multiply_stored<S: Widen<f32>>(
    a: &[f32],
    (bytes, start, strides): (&[u8], usize, [usize; 2]),
    scales: ColumnScales<'_, f32>,
    out: &mut [f32],
) -> Result<(), TensorError>
where
    f32: ColumnSums<S>,
{
    let elements = bytemuck::try_cast_slice::<u8, S>(bytes).ok();
    let elements = elements.and_then(|elements| elements.get(start..));
    let (elements, isa) = (elements.ok_or(TensorError::OutOfBounds)?, Isa::best());
    isa.run(VectorProduct { isa, a, b: Matrix { elements, strides }, scales, out });
    Ok(())
}

/// The [`StoredProduct`] of panels of words, from the column with a number on.
fn multiply_words<S>(
    a: &[f32],
    (bytes, column, _): (&[u8], usize, [usize; 2]),
    scales: ColumnScales<'_, f32>,
    out: &mut [f32],
) -> Result<(), TensorError>
where
    f32: ColumnSums<S>,
{
    let per_word = <f32 as ColumnSums<S>>::PER_WORD;
    let distance = WORD_COLUMNS * a.len() / per_word;
    let elements = bytemuck::try_cast_slice::<u8, i32>(bytes).ok();
    let elements = elements.and_then(|words| words.get(column / WORD_COLUMNS * distance..));
    let elements = elements.ok_or(TensorError::OutOfBounds)?;
    let panels = PanelColumns { elements, stride: WORD_COLUMNS, distance };
    let isa = Isa::best();
    let chains =
        |[row, column]: [usize; 2], a: &[f32], panels: PanelColumns<'_, i32>, sums: &mut [f32]| {
            <f32 as ColumnSums<S>>::word_chains(isa, a, panels, scales.from(row, column), sums)
        };
    // The last panel may have columns of no use.
    let mut sums = vec![0.0; out.len().next_multiple_of(WORD_COLUMNS)];
    if column % WORD_COLUMNS > 0
        || !with_panels(a, panels, [WORD_COLUMNS, per_word], &mut sums, chains)
    {
        return Err(TensorError::OutOfBounds);
    }
    out.iter_mut().zip(sums).for_each(|(out, sum)| *out = sum.finish());
    Ok(())
}

/// Products of pairs of matrices of `m` x `k` and `n` x `k` elements.
#[derive(Clone, Copy)]
pub(crate) struct WidenedProducts<'a> {
    /// `m`, `n` and `k`, none of which is zero.
    pub sizes: [usize; 3],
    /// The left factors.
    pub lhs: WidenedFactor<'a>,
    /// The right factors, one for each left one.
    pub rhs: WidenedFactor<'a>,
    /// Panels of words of the only right factor, which a vector is multiplied with.
    pub panels: Option<&'a [u8]>,
    /// The type of sums, of real numbers.
    pub sum: DType,
    /// The type of results.
    pub result: DType,
}

impl WidenedProducts<'_> {
    /// Writes the products as elements of the type of results, consecutively.
    ///
    /// # Errors
    /// If factors or results are not inside of the memory, or no memory is left for converted
    /// parts.
    pub(crate) fn write(&self, out: &mut [u8]) -> Result<(), TensorError> {
        let [m, n, k] = self.sizes;
        let count = self.lhs.starts.len();
        let results = count.checked_mul(m).and_then(|rows| rows.checked_mul(n));
        let bytes = results.and_then(|results| results.checked_mul(self.result.bytes()));
        let is_inside = m * n * k > 0
            && self.rhs.starts.len() == count
            && bytes == Some(out.len())
            && self.lhs.is_inside(m, k)
            && self.rhs.is_inside(n, k);
        if !is_inside {
            return Err(TensorError::OutOfBounds);
        }
        if let Some(bytes) = self.panels {
            let multiply: StoredProduct = match self.rhs.dtype {
                DType::BF16 => multiply_words::<bf16>,
                DType::F16 => multiply_words::<f16>,
                DType::U8 | DType::U4 | DType::U2 => multiply_words::<u8>,
                _ => multiply_words::<i8>,
            };
            // A distance of one is that of columns.
            let panels = WidenedFactor { bytes, starts: &[0], strides: [1, 1], ..self.rhs };
            return self.vectors(multiply, self.lhs, panels, out);
        }
        let (vector, matrix) = if n == 1 { (self.rhs, self.lhs) } else { (self.lhs, self.rhs) };
        let is_vector = (m == 1 || n == 1) && k > FEW && matrix.is_read_in_place(k);
        if is_vector && self.sum == DType::F32 {
            let multiply: Option<StoredProduct> = match matrix.dtype {
                DType::I8 | DType::I4 | DType::I2 => Some(multiply_stored::<i8>),
                DType::U8 | DType::U4 | DType::U2 => Some(multiply_stored::<u8>),
                DType::BF16 => Some(multiply_stored::<bf16>),
                DType::F16 => Some(multiply_stored::<f16>),
                DType::F32 => Some(multiply_stored::<f32>),
                _ => None,
            };
            if let Some(multiply) = multiply {
                return self.vectors(multiply, vector, matrix, out);
            }
        }
        dispatch_sum!(real self.sum, T, R, C => self.matrices::<T, R, C>(out))
    }

    /// The products of vectors with matrices, by the function for the type of their elements.
    fn vectors(
        &self,
        multiply: StoredProduct,
        vector: WidenedFactor<'_>,
        matrix: WidenedFactor<'_>,
        out: &mut [u8],
    ) -> Result<(), TensorError> {
        let [m, n, k] = self.sizes;
        let (count, len, bytes) = (vector.starts.len(), m.max(n), self.result.bytes());
        let _reserved = reserve::<f32>(count.saturating_mul(k).saturating_add(len))?;
        let mut vectors = vec![0.0; count * k];
        with_rooms(|[room, gathered, ..]| {
            for (number, to) in vectors.chunks_exact_mut(k).enumerate() {
                let part = vector.part::<f32>(number, 0..1, k, [room, gathered])?;
                let from = part.elements.iter().step_by(part.strides[1]);
                to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            }
            Ok::<(), TensorError>(())
        })?;
        // Columns of integers are read in registers with scales alone.
        let [row, column] = matrix.strides;
        let has_ones = matrix.dtype.is_integer() && row != 1 && !matrix.scales.are_some();
        let ones = if has_ones { vec![1.0; len] } else { Vec::new() };
        let scales = if has_ones {
            ColumnScales { factors: &ones, ..ColumnScales::NONE }
        } else {
            matrix.scales
        };
        // Several products, or some results of one.
        let size = task_size(count * len, k, 2 * WIDE_GROUP);
        let size = if size >= len { size / len * len } else { size };
        let mut tasks = Vec::new();
        for (group, out) in out.chunks_mut(size.max(len) * bytes).enumerate() {
            let product = group * (size.max(len) / len);
            let parts = out.chunks_mut(size * bytes).enumerate();
            tasks.extend(parts.map(|(part, out)| (product, part * size, out)));
        }
        host::parallel(tasks, |(product, first, out)| {
            with_rooms(|[.., sums, _]| {
                for (at, out) in out.chunks_mut(len * bytes).enumerate() {
                    let start = matrix.starts[product + at] + first * row;
                    let a = &vectors[(product + at) * k..][..k];
                    sums.resize(out.len() / bytes * size_of::<f32>());
                    let to: &mut [f32] = bytemuck::cast_slice_mut(sums);
                    let columns = (matrix.bytes, start, [column, row]);
                    multiply(a, columns, scales.from(0, first), to)?;
                    convert_into(sums, [self.sum, self.result], out)?;
                }
                Ok(())
            })
        })
    }

    /// The products of matrices, some rows and columns of results at a time.
    fn matrices<T: Accumulator, const R: usize, const C: usize>(
        &self,
        out: &mut [u8],
    ) -> Result<(), TensorError> {
        let [m, n, k] = self.sizes;
        let (count, bytes) = (self.lhs.starts.len(), self.result.bytes());
        // The product of a matrix and a few columns is computed as its transpose.
        let is_swapped = n < FEW_COLUMNS && n < m;
        let (rows, columns) = if is_swapped { (n, m) } else { (m, n) };
        let results = task_size(count * m * n, result_work::<T>(rows, k), 1);
        let parts = (m * n).div_ceil(results);
        // Half of the second-level cache holds the columns that are converted at a time.
        let near = host::machine().l2.bytes / 2 / size_of::<T>();
        let most = (near / k / C).max(1) * C;
        let column_parts = parts.min(columns.div_ceil(C)).max(columns.div_ceil(most));
        let part_columns = columns.div_ceil(column_parts).next_multiple_of(C);
        let row_parts = parts.div_ceil(column_parts).min(rows.div_ceil(4 * R)).max(1);
        let part_rows = rows.div_ceil(row_parts).next_multiple_of(R);
        let mut tasks = Vec::new();
        for (number, out) in out.chunks_mut(m * n * bytes).enumerate() {
            let part = |first: usize| first..columns.min(first + part_columns);
            if is_swapped {
                let parts = out.chunks_mut(part_columns * rows * bytes).enumerate();
                tasks.extend(
                    parts.map(|(nth, out)| (number, 0..rows, part(nth * part_columns), vec![out])),
                );
                continue;
            }
            for (nth, out) in out.chunks_mut(part_rows * columns * bytes).enumerate() {
                let first = nth * part_rows;
                let range = first..rows.min(first + part_rows);
                let mut lines: Vec<_> = out
                    .chunks_mut(columns * bytes)
                    .map(|line| line.chunks_mut(part_columns * bytes))
                    .collect();
                for first in (0..columns).step_by(part_columns) {
                    let out = lines.iter_mut().filter_map(Iterator::next).collect();
                    tasks.push((number, range.clone(), part(first), out));
                }
            }
        }
        host::parallel(tasks, |(number, rows, columns, mut out)| {
            with_rooms(|rooms| {
                self.part::<T, R, C>(number, [rows, columns], is_swapped, &mut out, rooms)
            })
        })
    }

    /// True if these rows are multiplied as vectors with the elements of the factor as they are.
    fn is_of_vectors(&self, rows: &Range<usize>, rhs: &WidenedFactor<'_>) -> bool {
        let is_stored = matches!(rhs.dtype, DType::BF16 | DType::F16) && rhs.strides.contains(&1);
        let most = if rhs.strides[0] == 1 { MAX_LONE_VECTORS } else { MAX_VECTORS };
        is_stored && self.sum == DType::F32 && rows.len() <= most && self.sizes[2] > FEW
    }

    /// Some rows and columns of a product. `out` has the rows of results, or all of them column by
    /// column if the factors are `swapped`.
    fn part<T: Accumulator, const R: usize, const C: usize>(
        &self,
        number: usize,
        [rows, columns]: [Range<usize>; 2],
        swapped: bool,
        out: &mut [&mut [u8]],
        [a_room, b_room, sums, gathered]: &mut Rooms,
    ) -> Result<(), TensorError> {
        let k = self.sizes[2];
        let (lhs, rhs) = if swapped { (&self.rhs, &self.lhs) } else { (&self.lhs, &self.rhs) };
        // A quarter of the second-level cache holds the rows that are converted at a time.
        let near = host::machine().l2.bytes / 4 / size_of::<T>();
        let tall = (near / k / R).max(1) * R;
        let width = columns.len();
        let converted = k.saturating_mul(width + tall.min(rows.len()));
        let _reserved = reserve::<T>(converted.saturating_add(width * tall.min(rows.len())))?;
        if self.is_of_vectors(&rows, rhs) {
            let count = rows.len();
            let a = lhs.part::<T>(number, rows, k, [a_room, gathered])?;
            sums.resize(count * width * size_of::<T>());
            let vectors = dense(&a, count, k);
            rhs.multiply_vectors(number, columns, bytemuck::cast_slice(&vectors), k, sums)?;
            return self.store::<T>(sums, [count, width], swapped, out);
        }
        let b = rhs.part::<T>(number, columns, k, [b_room, gathered])?;
        let b = Matrix { elements: b.elements, strides: [b.strides[1], b.strides[0]] };
        for first in rows.clone().step_by(tall) {
            let range = first..rows.end.min(first + tall);
            let (at, count) = (first - rows.start, range.len());
            // The gathered elements of the other factor are converted already.
            let mut gathered = AlignedBytes::new();
            let a = lhs.part::<T>(number, range, k, [a_room, &mut gathered])?;
            sums.resize(count * width * size_of::<T>());
            let results: &mut [T] = bytemuck::cast_slice_mut(sums);
            let (rows, columns, order) = (count, width, None);
            let product = Product { rows, depth: k, columns, a: &a, b, order, panels: None };
            let mut strided = Results::Strided(&mut *results, width);
            product.compute::<R, C>(Isa::best(), 0..count, 0..width, &mut strided)?;
            self.store::<T>(
                sums,
                [count, width],
                swapped,
                &mut out[if swapped { 0 } else { at }..],
            )?;
        }
        Ok(())
    }

    /// Writes sums of some rows and columns as results: to the rows of `out`, or to the first one
    /// column by column if the factors are `swapped`.
    fn store<T: Element>(
        &self,
        sums: &[u8],
        [count, width]: [usize; 2],
        swapped: bool,
        out: &mut [&mut [u8]],
    ) -> Result<(), TensorError> {
        let types = [self.sum, self.result];
        if swapped {
            let sums: &[T] = bytemuck::cast_slice(sums);
            let places =
                (0..width).flat_map(|column| (0..count).map(move |row| row * width + column));
            let turned: Vec<T> = places.map(|at| sums[at]).collect();
            let out = out.first_mut().ok_or(TensorError::OutOfBounds)?;
            return convert_into(bytemuck::cast_slice(&turned), types, out);
        }
        let lines = sums.chunks_exact(width * size_of::<T>());
        out.iter_mut().zip(lines).try_for_each(|(out, line)| convert_into(line, types, out))
    }
}
