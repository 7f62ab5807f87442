//! Products of quantized weights: integers that are multiplied with scales.

use super::{DotKernel, ProductSizes, multiply_stored, panels_bytes};
use crate::converted::convert_into;
use crate::kernel::{Kernel, expect_bytes};
use numerics::budget::{Scratch, reserve};
use numerics::math::AlignedBytes;
use numerics::simd::{ColumnScales, WORD_COLUMNS};
use numerics::{AlignedMemory, DType, TensorError};

/// Bytes in a word of 32 bits.
const PER_WORD: usize = 4;

/// The fewest products that share a scale: with fewer, scales would take as much memory as wide
/// elements.
const MIN_GROUP: usize = 16;

/// Where the scales of the elements of an operand are.
#[derive(Clone, Debug)]
pub struct ScaleLayout {
    /// The operand: 0 or 1.
    pub operand: usize,
    /// The type of the scales, in which elements are multiplied with them.
    pub dtype: DType,
    /// The number of consecutive products of a result with the same scale.
    pub group: usize,
    /// The distances between the scales of different results, and between those of groups.
    pub strides: [usize; 2],
}

/// A `dot_general` one of whose operands is stored as integers, converted to a float type and
/// multiplied with scales, which are the third operand of the kernel. From elements with zero
/// points, the fourth operand, these are subtracted before. No wide operand is stored: elements are
/// scaled when they are multiplied, with the same roundings.
#[derive(Debug)]
pub struct ScaledDot {
    dot: DotKernel,
    layout: ScaleLayout,
    zeros: Option<ScaleLayout>,
}

impl ScaledDot {
    /// A product with scales of integers; `None` if it is not one of large matrices that are summed
    /// in `f32`, or a scaled element could be rounded twice.
    pub fn new(
        dot: DotKernel,
        layout: ScaleLayout,
        zeros: Option<ScaleLayout>,
    ) -> Option<ScaledDot> {
        let stored = *dot.types.get(layout.operand)?;
        // The product of numbers of few bits is exact before it is rounded.
        let is_rounded_once = match layout.dtype {
            DType::F32 => true,
            DType::BF16 | DType::F16 => stored.bits() <= 8,
            _ => false,
        };
        let is_large = dot.is_streamed && dot.sizes.count == 1 && dot.dtype == DType::F32;
        let is_grouped = layout.group >= MIN_GROUP.min(dot.sizes.k.max(1));
        let is_valid = stored.is_integer() && stored.bits() <= 16 && is_rounded_once && is_grouped;
        // A scale for each of some consecutive elements with a zero point.
        let are_shared = zeros.as_ref().is_none_or(|zeros| {
            let types = [zeros.dtype, layout.dtype];
            types == [DType::F32; 2]
                && (zeros.group >= dot.sizes.k || zeros.group.is_multiple_of(layout.group))
        });
        (is_large && is_valid && are_shared).then_some(ScaledDot { dot, layout, zeros })
    }

    /// Scales or zero points as numbers of `f32`: those of the first group of all results, and so
    /// on.
    fn numbers(
        &self,
        scales: &[u8],
        layout: &ScaleLayout,
        kept: usize,
    ) -> Result<Scratch<f32>, TensorError> {
        let ScaleLayout { dtype, group: own, strides: [row, column], .. } = *layout;
        let group = self.layout.group;
        let groups = self.dot.sizes.k.div_ceil(group);
        let _reserved = reserve::<f32>(scales.len() / dtype.bytes())?;
        let mut wide = AlignedBytes::new();
        wide.resize(scales.len() / dtype.bytes() * size_of::<f32>());
        convert_into(scales, [dtype, DType::F32], &mut wide)?;
        let wide: &[f32] = bytemuck::cast_slice(&wide);
        let own_group = |g: usize| if own == group { g } else { g * group / own };
        let places = (0..groups).map(own_group);
        let places = places.flat_map(|g| (0..kept).map(move |i| i * row + g * column));
        let mut factors = Scratch::new(kept.saturating_mul(groups))?;
        for at in places {
            factors.push(*wide.get(at).ok_or(TensorError::OutOfBounds)?);
        }
        Ok(factors)
    }

    /// True if the right factor is packed as words of four elements of a column: if it is of
    /// columns of bytes that a vector is multiplied with.
    fn has_words(&self) -> bool {
        let ScaleLayout { operand, dtype, group, .. } = self.layout;
        let (dot, ProductSizes { n, k, .. }) = (&self.dot, self.dot.sizes);
        let are_shared = group >= k || group.is_multiple_of(PER_WORD);
        let are_bytes = dot.types[1].bytes() == 1 && dtype == DType::F32;
        // The factors of a panel are read with its rows.
        let are_panels = n.is_multiple_of(WORD_COLUMNS) && dot.rhs.has_words(PER_WORD);
        operand == 1 && dot.is_of_vector(PER_WORD) && are_bytes && are_shared && are_panels
    }
}

impl Kernel for ScaledDot {
    fn run(&self, operands: &[&[u8]], results: &mut [&mut [u8]]) -> Result<(), TensorError> {
        self.run_prepacked(operands, None, results)
    }

    fn is_packable(&self) -> bool {
        self.has_words()
    }

    fn prepacked_bytes(&self) -> usize {
        panels_bytes::<i32, WORD_COLUMNS>([self.dot.sizes.k / PER_WORD, self.dot.sizes.n])
    }

    fn prepack(&self, operand: &[u8]) -> Result<Option<AlignedMemory>, TensorError> {
        if !self.has_words() {
            return Ok(None);
        }
        let ProductSizes { n, k, .. } = self.dot.sizes;
        self.dot.rhs.pack_words(operand, PER_WORD, [k, n])
    }

    fn run_prepacked(
        &self,
        operands: &[&[u8]],
        prepacked: Option<&[u8]>,
        results: &mut [&mut [u8]],
    ) -> Result<(), TensorError> {
        let (operands, zeros) = match self.zeros {
            Some(_) => operands.split_at_checked(3).ok_or(TensorError::OutOfBounds)?,
            None => (operands, &[][..]),
        };
        let ([lhs, rhs, scales], out) = expect_bytes(operands, results)?;
        let (dot, ScaleLayout { operand, dtype, group, .. }) = (&self.dot, self.layout.clone());
        let ProductSizes { m, n, k, .. } = dot.sizes;
        if m * n * k == 0 {
            out.fill(0);
            return Ok(());
        }
        let kept = [m, n][operand];
        let factors = self.numbers(scales, &self.layout, kept)?;
        let mut shifts = match (&self.zeros, zeros) {
            (Some(layout), &[zeros]) => self.numbers(zeros, layout, kept)?,
            (None, []) => Scratch::new(0)?,
            _ => return Err(TensorError::OutOfBounds),
        };
        shifts.iter_mut().for_each(|zero| *zero = -*zero);
        let (factors, shifts) = (&factors[..], &shifts[..]);
        let scales = ColumnScales { factors, shifts, stride: kept, group, first: 0 };
        let [left, right, _] = dot.types;
        let mut factors = [dot.lhs.stored(lhs, left), dot.rhs.stored(rhs, right)];
        (factors[operand].scales, factors[operand].scaled_type) = (scales, dtype);
        multiply_stored(dot, factors, prepacked.filter(|_| self.has_words()), out)
    }

    fn table_entries(&self) -> usize {
        self.dot.table_entries()
    }
}
