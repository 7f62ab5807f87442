//! `dot_general`, and what it shares with convolutions: sums of products.

mod row_wise;
mod scaled;

pub use scaled::{ScaleLayout, ScaledDot};

use super::converted::{MAX_CONVERTED, convert_into, converted, is_convertible};
use super::few_results;
use super::kernel::{Form, Kernel, RowWise, expect_bytes};
use super::matmul::{self, Product};
use super::narrow_integers;
use super::rows::Matrix;
use super::small_products;
use super::widened::{self, WidenedFactor};
use numerics::budget::{self, Reserved, Scratch};
use numerics::math::AlignedBytes;
use numerics::shape::{Indices, StridedView, num_elements};
use numerics::simd::{ColumnScales, Isa, TILE_ROWS, WORD_COLUMNS, transpose};
use numerics::{AlignedMemory, DType, Element, Family, Tensor, TensorError, math};
use program::EvalError;
use program::primitives::DotDims;
use smallvec::SmallVec;

/// Fewer columns than this make a product go the other way round.
pub(super) const FEW_COLUMNS: usize = 8;
/// With few products it makes no difference.
const FEW_PRODUCTS: usize = 1 << 12;
/// At most this many products are prepared.
const MAX_PREPARED: usize = 1 << 20;
/// Fewer products of matrices are not divided among rows.
const MIN_PRODUCTS: usize = 8;
/// Matrices of fewer rows leave too few to each thread, which reads all of the other factor.
pub(super) const MIN_MATRIX_ROWS: usize = 4 * TILE_ROWS;
/// Rows of products are divided into multiples of this number, a third of a tile.
pub(super) const TILE_UNIT: usize = TILE_ROWS / 3;

/// Right factors of more elements are in no near cache while rows are multiplied with them.
pub(super) fn max_shared() -> usize {
    host::machine().l2.bytes / 4
}

/// Halves in a word of 32 bits.
const PER_WORD: usize = 2;

/// Factors of fewer elements are read where they are: a third of the first-level cache holds them.
fn min_packed() -> usize {
    host::machine().l1.bytes / 12
}

pub(super) fn invalid(label: &'static str, message: impl Into<String>) -> EvalError {
    EvalError::new(label, message)
}

/// The dimensions of a list, after a check that they are different ones of `rank`.
pub(super) fn distinct(
    label: &'static str,
    values: &[i64],
    rank: usize,
) -> Result<Vec<usize>, EvalError> {
    let dims: Option<Vec<usize>> =
        values.iter().map(|&v| usize::try_from(v).ok().filter(|&d| d < rank)).collect();
    dims.filter(|dims| (1..dims.len()).all(|i| !dims[..i].contains(&dims[i]))).ok_or_else(|| {
        invalid(label, format!("{values:?} are not different dimensions of rank {rank}"))
    })
}

/// The type in which products of elements of two types are summed, to be converted to that of the
/// result at the end: the widest of the three. Small floats are summed in f32, and integers in i32
/// or i64, of which they are the low bits. Booleans are summed in f32, where a sum of zeros and
/// ones is zero only without ones, however many there are.
///
/// Source: XLA.
pub fn accumulation(lhs: DType, rhs: DType, result: DType) -> DType {
    let breadth = |dtype: &DType| match dtype.family() {
        Family::Boolean => (0, 0),
        Family::Signed | Family::Unsigned => (1, dtype.bits()),
        Family::Float => (2, dtype.bits()),
        Family::Complex => (3, dtype.bits()),
    };
    let widest = [lhs, rhs, result].into_iter().max_by_key(breadth).unwrap_or(result);
    match (widest.family(), widest.bits()) {
        (Family::Signed | Family::Unsigned, bits) if bits <= 32 => DType::I32,
        (Family::Signed | Family::Unsigned, _) => DType::I64,
        (Family::Float, bits) if bits < 32 => DType::F32,
        (Family::Boolean, _) => DType::F32,
        _ => widest,
    }
}

/// Evaluates an expression for the type of a sum, one that [`accumulation`] gives, with `T` bound
/// to it, and `R` and `C` to the rows and columns of a tile of results that registers hold;
/// `dispatch_sum!(real ...)` without complex types, `dispatch_sum!(float ...)` for floating-point
/// types alone.
macro_rules! dispatch_sum {
    (float $dtype:expr, $T:ident, $R:ident, $C:ident => $body:expr) => {
        $crate::contract::dispatch_sum!(@float $dtype, $T, $R, $C, $body,)
    };
    (real $dtype:expr, $T:ident, $R:ident, $C:ident => $body:expr) => {
        $crate::contract::dispatch_sum!(@real $dtype, $T, $R, $C, $body,)
    };
    ($dtype:expr, $T:ident, $R:ident, $C:ident => $body:expr) => {
        $crate::contract::dispatch_sum!(@real $dtype, $T, $R, $C, $body,
            (C64 numerics::Complex32, numerics::simd::TILE_ROWS, 8)
            (C128 numerics::Complex64, numerics::simd::TILE_ROWS, 4))
    };
    (@real $dtype:expr, $T:ident, $R:ident, $C:ident, $body:expr, $($complex:tt)*) => {
        $crate::contract::dispatch_sum!(@float $dtype, $T, $R, $C, $body,
            (I32 i32, numerics::simd::TILE_ROWS, 32) (I64 i64, 2, 8) $($complex)*)
    };
    (@float $dtype:expr, $T:ident, $R:ident, $C:ident, $body:expr, $($others:tt)*) => {
        $crate::contract::dispatch_sum!(@arms $dtype, $T, $R, $C, $body,
            (F32 f32, numerics::simd::TILE_ROWS, 32) (F64 f64, numerics::simd::TILE_ROWS, 16)
            $($others)*)
    };
    (@arms $dtype:expr, $T:ident, $R:ident, $C:ident, $body:expr,
        $(($variant:ident $ty:path, $rows:expr, $columns:literal))*) => {
        match $dtype {
            $(numerics::DType::$variant => {
                type $T = $ty;
                #[allow(dead_code, reason = "some expressions need only the columns, or the type")]
                const $R: usize = $rows;
                #[allow(dead_code, reason = "likewise")]
                const $C: usize = $columns;
                $body
            })*
            dtype => Err(numerics::TensorError::Unsupported { op: "a sum of products", dtype }),
        }
    };
}

pub(super) use dispatch_sum;

/// Dot products of slices of `lhs` and `rhs` as elements of type `dtype`, for each batch index.
///
/// # Errors
/// If the dimension numbers do not fit the shapes.
pub fn dot_general(
    lhs: Tensor,
    rhs: Tensor,
    numbers: &DotDims,
    dtype: DType,
) -> Result<Tensor, EvalError> {
    let sum_type = accumulation(lhs.dtype(), rhs.dtype(), dtype);
    let (lhs, rhs) = (math::convert(lhs, sum_type)?, math::convert(rhs, sum_type)?);
    let contraction = Contraction::new(lhs.shape(), rhs.shape(), numbers)?;
    let Contraction { sizes: ProductSizes { count, m, n, k }, .. } = contraction;
    let left = DotFactor::new(lhs, &contraction.lhs)?;
    let right = DotFactor::new(rhs, &contraction.rhs)?;
    // The product of a matrix and a few columns goes the other way round: (A B)' = B' A'.
    let swap = n < FEW_COLUMNS && n < m;
    let (a, b, m, n) = if swap { (right, left, n, m) } else { (left, right, m, n) };
    let mut result = Tensor::zeros(sum_type, [count, m, n])?;
    let sizes = ProductSizes { count, m, n, k };
    let (a_bytes, b_bytes) = (a.tensor.bytes(), b.tensor.bytes());
    let (left, right) = ((a_bytes.as_ref(), &a.matrices), (b_bytes.as_ref(), &b.matrices));
    multiply(sum_type, sizes, left, right, None, result.bytes_mut()?)?;
    if swap && m > 1 {
        let view = StridedView::dense(&[count, m, n])?.permute(&[0, 2, 1])?;
        result = result.gather(&view)?;
    }
    Ok(math::convert(result.into_shape(contraction.shape)?, dtype)?)
}

/// `count` products of matrices of `m` x `k` and `k` x `n` elements.
#[derive(Clone, Copy, Debug)]
struct ProductSizes {
    count: usize,
    m: usize,
    n: usize,
    k: usize,
}

/// The roles of the dimensions of an operand.
#[derive(Debug)]
struct Roles {
    batch: Vec<usize>,
    kept: Vec<usize>,
    contracting: Vec<usize>,
}

/// Dimension numbers applied to shapes.
struct Contraction {
    lhs: Roles,
    rhs: Roles,
    sizes: ProductSizes,
    /// The shape of the result.
    shape: Vec<usize>,
}

impl Contraction {
    fn new(lhs: &[usize], rhs: &[usize], numbers: &DotDims) -> Result<Contraction, EvalError> {
        let roles = |label, shape: &[usize], batch: &[i64], contracting: &[i64]| {
            let mut taken = distinct(label, &[batch, contracting].concat(), shape.len())?;
            let kept = (0..shape.len()).filter(|d| !taken.contains(d)).collect();
            let contracting = taken.split_off(batch.len());
            Ok::<Roles, EvalError>(Roles { batch: taken, kept, contracting })
        };
        let (batch, contracting) =
            (&numbers.lhs_batching_dimensions, &numbers.lhs_contracting_dimensions);
        let left = roles("dot_general_c3", lhs, batch, contracting)?;
        let (batch, contracting) =
            (&numbers.rhs_batching_dimensions, &numbers.rhs_contracting_dimensions);
        let right = roles("dot_general_c4", rhs, batch, contracting)?;
        let sizes = |shape: &[usize], dims: &[usize]| -> Vec<usize> {
            dims.iter().map(|&d| shape[d]).collect()
        };
        let (batch, contracting) = (sizes(lhs, &left.batch), sizes(lhs, &left.contracting));
        if batch != sizes(rhs, &right.batch) {
            return Err(invalid("dot_general_c9", "sizes of the batching dimensions differ"));
        }
        if contracting != sizes(rhs, &right.contracting) {
            return Err(invalid("dot_general_c10", "sizes of the contracting dimensions differ"));
        }
        let (lhs_sizes, rhs_sizes) = (sizes(lhs, &left.kept), sizes(rhs, &right.kept));
        let product = |sizes: &[usize]| {
            num_elements(sizes).ok_or_else(|| invalid("dot_general_c12", "too large"))
        };
        let (m, n) = (product(&lhs_sizes)?, product(&rhs_sizes)?);
        let sizes = ProductSizes { count: product(&batch)?, m, n, k: product(&contracting)? };
        let shape = [&batch[..], &lhs_sizes, &rhs_sizes].concat();
        Ok(Contraction { lhs: left, rhs: right, sizes, shape })
    }
}

/// Products of matrices in the bytes of elements of a type, consecutively in `out`, which has
/// zeros where there is nothing to add. `panels` is what [`DotKernel::pack`] made, if given.
fn multiply(
    dtype: DType,
    ProductSizes { m, n, k, .. }: ProductSizes,
    (a, left): (&[u8], &Matrices),
    (b, right): (&[u8], &Matrices),
    panels: Option<&[u8]>,
    out: &mut [u8],
) -> Result<(), TensorError> {
    if out.is_empty() || k == 0 {
        return Ok(());
    }
    dispatch_sum!(dtype, T, R, C => {
        if small_products::are_small(m, k, n) {
            let (a, b) = (left.small::<T>(a)?, right.small(b)?);
            return small_products::multiply([m, k, n], a, b, cast_mut(out)?);
        }
        let left = left.over::<T>(a, left.strides)?;
        let right = right.over::<T>(b, [right.strides[1], right.strides[0]])?;
        if few_results::are_few::<T>([m, k, n]) {
            let products = left.into_iter().zip(right).zip(cast_mut(out)?.chunks_exact_mut(m * n));
            products.for_each(|((a, b), out)| few_results::multiply([m, k, n], a, b, out));
            return Ok(());
        }
        let products = left.iter().zip(right);
        let panels = packed::<T, C>(panels, [k, n])?;
        let products =
            products.map(|(a, b)| Product { rows: m, depth: k, columns: n, a, b, order: None, panels });
        let products: SmallVec<[Product<'_, T>; 1]> = products.collect();
        let work = matmul::result_work::<T>(m, k).max(column_work::<T>([m, n, k]));
        matmul::multiply::<T, R, C>(&products, work, cast_mut(out)?)
    })
}

/// The work for a result of a product to read its part of a column, where the second-level cache
/// does not hold the right factor: few rows wait for the memory.
fn column_work<T>([rows, columns, depth]: [usize; 3]) -> usize {
    let (machine, column) = (host::machine(), depth.saturating_mul(size_of::<T>()));
    match column.saturating_mul(columns) > machine.l2.bytes {
        true => machine.reading_work(column) / rows.max(1),
        false => 0,
    }
}

/// The panels of a right factor of this many rows and columns.
pub(super) fn packed<T: Element, const C: usize>(
    panels: Option<&[u8]>,
    [depth, columns]: [usize; 2],
) -> Result<Option<&[T]>, TensorError> {
    let Some(panels) = panels else { return Ok(None) };
    if panels.len() != panels_bytes::<T, C>([depth, columns]) {
        return Err(TensorError::OutOfBounds);
    }
    cast::<T>(panels).map(Some)
}

/// The bytes of all panels of `C` columns of a factor.
pub(super) fn panels_bytes<T, const C: usize>([depth, columns]: [usize; 2]) -> usize {
    columns.div_ceil(C).saturating_mul(C * size_of::<T>()).saturating_mul(depth)
}

fn cast<T: Element>(bytes: &[u8]) -> Result<&[T], TensorError> {
    bytemuck::try_cast_slice(bytes).map_err(|_| TensorError::OutOfBounds)
}

fn cast_mut<T: Element>(bytes: &mut [u8]) -> Result<&mut [T], TensorError> {
    bytemuck::try_cast_slice_mut(bytes).map_err(|_| TensorError::OutOfBounds)
}

/// A `dot_general` of tensors of known types whose elements are multiplied where they are. Others
/// are converted: few of them before, of many some at a time.
#[derive(Debug)]
pub struct DotKernel {
    /// The types of operands and result.
    types: [DType; 3],
    /// The type of sums.
    dtype: DType,
    sizes: ProductSizes,
    lhs: Matrices,
    rhs: Matrices,
    is_swapped: bool,
    /// True if elements are converted some at a time, while they are multiplied, to real numbers.
    is_streamed: bool,
    /// The shape of the result.
    shape: Vec<usize>,
}

impl DotKernel {
    /// Prepares a `dot_general` of operands of these types, which are views of memory; `None` if
    /// they have to be copied before, or there is no conversion.
    pub fn new(
        lhs: (DType, &StridedView),
        rhs: (DType, &StridedView),
        numbers: &DotDims,
        dtype: DType,
    ) -> Option<DotKernel> {
        let types = [lhs.0, rhs.0, dtype];
        let sum_type = accumulation(lhs.0, rhs.0, dtype);
        let contraction = Contraction::new(lhs.1.shape(), rhs.1.shape(), numbers).ok()?;
        let ProductSizes { count, m, n, k } = contraction.sizes;
        if count > MAX_PREPARED {
            return None;
        }
        let largest =
            [m, n].map(|n| n.saturating_mul(k)).into_iter().max()?.max(m.saturating_mul(n));
        let is_converted = types != [sum_type; 3];
        let is_convertible = || {
            is_convertible(lhs.0, sum_type)
                && is_convertible(rhs.0, sum_type)
                && is_convertible(sum_type, dtype)
        };
        if is_converted && !is_convertible() {
            return None;
        }
        let is_large = largest.saturating_mul(count) > MAX_CONVERTED;
        let kernel = DotKernel {
            types,
            dtype: sum_type,
            sizes: contraction.sizes,
            lhs: Matrices::of(lhs.1, &contraction.lhs)?,
            rhs: Matrices::of(rhs.1, &contraction.rhs)?,
            is_swapped: false,
            is_streamed: is_converted && is_large && !sum_type.is_complex(),
            shape: contraction.shape,
        };
        let is_swapped = n < FEW_COLUMNS && n < m;
        if kernel.is_streamed || !is_swapped {
            return Some(kernel);
        }
        // The sums of real numbers are the same both ways; the other way is faster for large ones.
        let is_real = sum_type.family() != Family::Complex;
        let is_small = m.saturating_mul(n).saturating_mul(k) <= FEW_PRODUCTS
            || small_products::are_small(m, k, n);
        if n > 1 && is_real && is_small {
            return Some(kernel);
        }
        if n > 1 && is_converted {
            return None;
        }
        let sizes = ProductSizes { count, m: n, n: m, k };
        let types = [types[1], types[0], types[2]];
        let (lhs, rhs) = (kernel.rhs, kernel.lhs);
        Some(DotKernel { types, sizes, lhs, rhs, is_swapped, ..kernel })
    }

    /// True if operands or results are of another type than sums.
    pub fn is_converted(&self) -> bool {
        self.types != [self.dtype; 3]
    }

    /// The numbers of rows and of columns of a product.
    pub fn kept(&self) -> [usize; 2] {
        [self.sizes.m, self.sizes.n]
    }

    /// True if elements are converted while they are multiplied, and no operand as a whole.
    pub fn is_streamed(&self) -> bool {
        self.is_streamed
    }

    /// True if all elements of the operands' memory are converted to the type of sums.
    pub fn converts_all(&self) -> bool {
        self.is_converted() && !self.is_streamed
    }

    /// The shape of the result.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Computes it on the bytes of elements.
    ///
    /// # Errors
    /// If their sizes do not match the types and shapes, or there is no memory for copies
    /// of parts.
    pub fn run(&self, lhs: &[u8], rhs: &[u8], out: &mut [u8]) -> Result<(), TensorError> {
        self.run_packed(lhs, rhs, None, out)
    }

    /// True if the right factor is packed as words of two elements of a column: if it is of
    /// elements of 16 bits that a vector is multiplied with.
    fn has_words(&self) -> bool {
        let is_of_halves = matches!(self.types[1], DType::BF16 | DType::F16);
        let has_lines = self.rhs.strides[0] == 1 || self.rhs.has_words(PER_WORD);
        self.is_of_vector(PER_WORD) && is_of_halves && has_lines
    }

    /// True for a product of a vector, of elements that make whole words, whose right factor may be
    /// packed as words.
    fn is_of_vector(&self, per_word: usize) -> bool {
        let ProductSizes { count, m, k, .. } = self.sizes;
        let is_vector = count == 1 && m == 1 && k > matmul::FEW && k.is_multiple_of(per_word);
        is_vector && self.is_streamed && self.dtype == DType::F32 && Isa::best().has_avx2()
    }

    /// The panels of words of the right factor, of halves.
    fn pack_words(&self, rhs: &[u8]) -> Result<Option<AlignedMemory>, TensorError> {
        let ProductSizes { n, k, .. } = self.sizes;
        match (self.rhs.strides, &self.rhs.starts[..]) {
            ([1, row], &[start]) if row > 1 => {
                let elements = cast::<u16>(rhs)?.get(start..).ok_or(TensorError::OutOfBounds)?;
                matmul::pack_pairs(elements, row, [k, n]).map(Some)
            }
            _ => self.rhs.pack_words(rhs, PER_WORD, [k, n]),
        }
    }

    /// True if [`DotKernel::pack`] makes it faster.
    pub fn is_packable(&self) -> bool {
        if self.has_words() {
            return true;
        }
        let ProductSizes { count, m, n, k } = self.sizes;
        let is_vector = m < 2 || n < 2;
        let is_small = k <= matmul::FEW || small_products::are_small(m, k, n);
        let elements = k.saturating_mul(n);
        let is_worth_it = elements >= min_packed() && (m == 1 || !is_vector) && !is_small;
        count == 1 && is_worth_it && !self.is_converted() && !self.is_swapped
    }

    /// The right operand in the order in which products read it, which does not change from run to
    /// run; `None` if it has it.
    ///
    /// # Errors
    /// As [`DotKernel::run`].
    pub fn pack(&self, rhs: &[u8]) -> Result<Option<AlignedMemory>, TensorError> {
        if !self.is_packable() {
            return Ok(None);
        }
        if self.has_words() {
            return self.pack_words(rhs);
        }
        let ProductSizes { n, k, .. } = self.sizes;
        let [row, column] = self.rhs.strides;
        dispatch_sum!(self.dtype, T, R, C => {
            let matrices = self.rhs.over::<T>(rhs, [column, row])?;
            match matrices.first() {
                Some(&b) => matmul::pack::<T, C>(b, None, [k, n]),
                None => Ok(None),
            }
        })
    }

    /// As [`DotKernel::run`], with the right operand as [`DotKernel::pack`] has ordered it, too.
    ///
    /// # Errors
    /// As there.
    pub fn run_packed(
        &self,
        lhs: &[u8],
        rhs: &[u8],
        panels: Option<&[u8]>,
        out: &mut [u8],
    ) -> Result<(), TensorError> {
        let (a, b) = if self.is_swapped { (rhs, lhs) } else { (lhs, rhs) };
        let (lhs, rhs) = (&self.lhs, &self.rhs);
        if self.sizes.k == 0 {
            out.fill(0);
        }
        if self.is_swapped && self.sizes.m > 1 {
            return self.multiply_swapped(a, b, out);
        }
        if !self.is_converted() || self.sizes.k == 0 {
            return multiply(self.dtype, self.sizes, (a, lhs), (b, rhs), panels, out);
        }
        let (dtype, [left, right, result]) = (self.dtype, self.types);
        let ProductSizes { m, n, k, .. } = self.sizes;
        if narrow_integers::are_pairs([left, right], dtype, [m, n, k]) {
            let factors = [lhs.stored(a, left), rhs.stored(b, right)];
            if result == dtype {
                return narrow_integers::multiply([m, n, k], factors, cast_mut(out)?);
            }
            let mut sums: Scratch<i32> = Scratch::filled(out.len() / result.bytes(), 0)?;
            narrow_integers::multiply([m, n, k], factors, &mut sums)?;
            return convert_into(bytemuck::cast_slice(&sums[..]), [dtype, result], out);
        }
        if self.is_streamed {
            if m * n == 0 {
                return Ok(());
            }
            let panels = panels.filter(|_| self.has_words());
            return multiply_stored(self, [lhs.stored(a, left), rhs.stored(b, right)], panels, out);
        }
        let mut rooms = [const { AlignedBytes::new() }; 3];
        let [a_room, b_room, sums] = &mut rooms;
        let (a, b) = (converted(a, [left, dtype], a_room)?, converted(b, [right, dtype], b_room)?);
        if result == dtype {
            return multiply(dtype, self.sizes, (a, lhs), (b, rhs), None, out);
        }
        sums.resize(out.len() / result.bytes() * dtype.bytes());
        multiply(dtype, self.sizes, (a, lhs), (b, rhs), None, sums)?;
        convert_into(sums, [dtype, result], out)
    }
}

impl DotKernel {
    /// The products of swapped factors, transposed to the order of the result.
    fn multiply_swapped(&self, a: &[u8], b: &[u8], out: &mut [u8]) -> Result<(), TensorError> {
        let ProductSizes { m, n, .. } = self.sizes;
        dispatch_sum!(self.dtype, T, R, C => {
            let out = cast_mut::<T>(out)?;
            let mut results: Scratch<T> = Scratch::filled(out.len(), T::ZERO)?;
            let bytes = bytemuck::cast_slice_mut(&mut results[..]);
            multiply(self.dtype, self.sizes, (a, &self.lhs), (b, &self.rhs), None, bytes)?;
            for (from, to) in results.chunks_exact(m * n).zip(out.chunks_exact_mut(m * n)) {
                transpose((from, n), (to, m), [m, n]);
            }
            Ok(())
        })
    }
}

/// The products of a `dot` that converts the elements of its factors while they are multiplied.
fn multiply_stored(
    dot: &DotKernel,
    [lhs, rhs]: [WidenedFactor<'_>; 2],
    panels: Option<&[u8]>,
    out: &mut [u8],
) -> Result<(), TensorError> {
    let (ProductSizes { m, n, k, .. }, sum, [.., result]) = (dot.sizes, dot.dtype, dot.types);
    widened::WidenedProducts { sizes: [m, n, k], lhs, rhs, panels, sum, result }.write(out)
}

impl Kernel for DotKernel {
    fn run(&self, operands: &[&[u8]], results: &mut [&mut [u8]]) -> Result<(), TensorError> {
        self.run_prepacked(operands, None, results)
    }

    fn table_entries(&self) -> usize {
        self.lhs.starts.len() + self.rhs.starts.len()
    }

    fn is_packable(&self) -> bool {
        self.is_packable()
    }

    fn prepacked_bytes(&self) -> usize {
        let ProductSizes { n, k, .. } = self.sizes;
        if self.has_words() {
            return panels_bytes::<i32, WORD_COLUMNS>([k / PER_WORD, n]);
        }
        dispatch_sum!(self.dtype, T, R, C => Ok(panels_bytes::<T, C>([k, n]))).unwrap_or(0)
    }

    fn prepack(&self, operand: &[u8]) -> Result<Option<AlignedMemory>, TensorError> {
        self.pack(operand)
    }

    fn run_prepacked(
        &self,
        operands: &[&[u8]],
        prepacked: Option<&[u8]>,
        results: &mut [&mut [u8]],
    ) -> Result<(), TensorError> {
        let ([lhs, rhs], result) = expect_bytes(operands, results)?;
        self.run_packed(lhs, rhs, prepacked, result)
    }

    fn row_wise(&self) -> Option<&dyn RowWise> {
        self.rows().is_some().then_some(self)
    }

    fn form(&self) -> Form<'_> {
        Form::Dot(self)
    }
}

/// The products that [`DotKernel`] adds where these are few, in order, from zero on.
pub struct ProductTerms<'a> {
    dot: &'a DotKernel,
}

impl DotKernel {
    /// The products, if they are few and of `f32` or `f64`.
    pub fn products(&self) -> Option<ProductTerms<'_>> {
        let ProductSizes { count, m, n, k } = self.sizes;
        let is_float = matches!(self.dtype, DType::F32 | DType::F64);
        let is_tiny = small_products::are_tiny(count, m, k, n) && count * m * n * k > 0;
        (is_float && is_tiny && !self.is_converted()).then_some(ProductTerms { dot: self })
    }
}

impl ProductTerms<'_> {
    /// The type of elements.
    pub fn dtype(&self) -> DType {
        self.dot.dtype
    }

    /// Number of results.
    pub fn results(&self) -> usize {
        self.dot.sizes.count * self.dot.sizes.m * self.dot.sizes.n
    }

    /// Number of products of each result.
    pub fn depth(&self) -> usize {
        self.dot.sizes.k
    }

    /// True if a product is added with one rounding, else it is rounded before.
    pub fn is_fused(&self) -> bool {
        small_products::is_fused(self.depth())
    }

    /// The numbers of the elements of both operands whose product is added to a result.
    pub fn factors(&self, result: usize, product: usize) -> [usize; 2] {
        let ProductSizes { m, n, .. } = self.dot.sizes;
        let (batch, row, column) = (result / (m * n), result / n % m, result % n);
        let at = |matrices: &Matrices, row: usize| {
            matrices.starts[batch] + row * matrices.strides[0] + product * matrices.strides[1]
        };
        let (a, b) = (at(&self.dot.lhs, row), at(&self.dot.rhs, column));
        if self.dot.is_swapped { [b, a] } else { [a, b] }
    }
}

/// An operand of `dot_general`, as matrices.
struct DotFactor {
    tensor: Tensor,
    matrices: Matrices,
    _reserved: Reserved,
}

impl DotFactor {
    /// Copies the tensor only if no strides make rows and columns of its dimensions.
    fn new(tensor: Tensor, roles: &Roles) -> Result<DotFactor, EvalError> {
        let count = roles.batch.iter().map(|&d| tensor.shape()[d]);
        let reserved = budget::reserve::<usize>(count.fold(1, usize::saturating_mul))?;
        if let Some(matrices) = Matrices::of(&StridedView::dense(tensor.shape())?, roles) {
            return Ok(DotFactor { tensor, matrices, _reserved: reserved });
        }
        let Roles { batch, kept, contracting } = roles;
        let order = [&batch[..], kept, contracting].concat();
        let copy = tensor.gather(&StridedView::dense(tensor.shape())?.permute(&order)?)?;
        let front = |from: usize, len: usize| (from..from + len).collect::<Vec<_>>();
        let roles = Roles {
            batch: front(0, batch.len()),
            kept: front(batch.len(), kept.len()),
            contracting: front(batch.len() + kept.len(), contracting.len()),
        };
        let matrices = Matrices::of(&StridedView::dense(copy.shape())?, &roles);
        let matrices = matrices.ok_or(TensorError::OutOfBounds)?;
        Ok(DotFactor { tensor: copy, matrices, _reserved: reserved })
    }
}

/// Matrices in the memory of a tensor, whose rows are the kept dimensions and whose columns are the
/// contracted ones.
#[derive(Debug)]
struct Matrices {
    /// Where the matrix of each batch index begins.
    starts: Vec<usize>,
    /// Distances between rows and between columns.
    strides: [usize; 2],
}

impl Matrices {
    /// True if the elements of each column of a right factor are words in memory, of some elements
    /// each.
    fn has_words(&self, per_word: usize) -> bool {
        let [column, element] = self.strides;
        let mut places = self.starts.iter().chain([&column]);
        element == 1 && places.all(|place| place.is_multiple_of(per_word))
    }

    /// The panels of the words of one right factor of this depth and number of columns; `None` if
    /// there is no such factor, or it has no words.
    fn pack_words(
        &self,
        bytes: &[u8],
        per_word: usize,
        [depth, columns]: [usize; 2],
    ) -> Result<Option<AlignedMemory>, TensorError> {
        let &[start] = &self.starts[..] else { return Ok(None) };
        if !self.has_words(per_word) {
            return Ok(None);
        }
        let elements = cast::<i32>(bytes)?.get(start / per_word..);
        let elements = elements.ok_or(TensorError::OutOfBounds)?;
        let words = Matrix { elements, strides: [1, self.strides[0] / per_word] };
        matmul::pack::<i32, WORD_COLUMNS>(words, None, [depth / per_word, columns])
    }

    /// The matrices in a view; `None` if no strides make rows and columns.
    fn of(view: &StridedView, roles: &Roles) -> Option<Matrices> {
        let shape = view.shape();
        if shape.contains(&0) {
            return Some(Matrices { starts: Vec::new(), strides: [1, 1] });
        }
        let strides = view.strides().iter().map(|&stride| usize::try_from(stride).ok());
        let strides = strides.collect::<Option<Vec<usize>>>()?;
        let sizes: Vec<usize> = roles.batch.iter().map(|&d| shape[d]).collect();
        let count = sizes.iter().product();
        // The distance between elements along several dimensions at once.
        let merged = |dims: &[usize]| {
            let mut dims = dims.iter().rev().filter(|&&d| shape[d] != 1);
            let Some(&last) = dims.next() else { return Some(1) };
            let mut next = strides[last].saturating_mul(shape[last]);
            let fits = |&d: &usize| {
                let expected = next;
                next = next.saturating_mul(shape[d]);
                strides[d] == expected
            };
            // Repeated elements have no distance.
            dims.all(fits).then_some(strides[last]).filter(|&stride| stride > 0)
        };
        let (row, column) = (merged(&roles.kept)?, merged(&roles.contracting)?);
        let mut starts = Vec::with_capacity(count);
        let mut indices = Indices::new(&sizes);
        while let Some(index) = indices.next_index() {
            let start: usize = index.iter().zip(&roles.batch).map(|(&i, &d)| i * strides[d]).sum();
            starts.push(view.offset() + start);
        }
        Some(Matrices { starts, strides: [row, column] })
    }

    /// The matrices of elements that are stored as `dtype`.
    fn stored<'a>(&'a self, bytes: &'a [u8], dtype: DType) -> WidenedFactor<'a> {
        let (starts, strides, scales) = (&self.starts[..], self.strides, ColumnScales::NONE);
        WidenedFactor { bytes, dtype, starts, strides, scales, scaled_type: DType::F32 }
    }

    /// The matrices of a tensor's elements, as small ones.
    fn small<'a, T: Element>(
        &'a self,
        bytes: &'a [u8],
    ) -> Result<small_products::MatrixBatch<'a, T>, TensorError> {
        let (elements, starts) = (cast(bytes)?, &self.starts[..]);
        Ok(small_products::MatrixBatch { elements, starts, strides: self.strides })
    }

    /// The matrices of a tensor's elements, with these strides.
    fn over<'a, T: Element>(
        &self,
        bytes: &'a [u8],
        strides: [usize; 2],
    ) -> Result<SmallVec<[Matrix<'a, T>; 1]>, TensorError> {
        let elements: &[T] = cast(bytes)?;
        let matrix = |&start: &usize| {
            let elements = elements.get(start..).ok_or(TensorError::OutOfBounds)?;
            Ok(Matrix { elements, strides })
        };
        self.starts.iter().map(matrix).collect()
    }
}
