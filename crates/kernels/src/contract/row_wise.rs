//! Products some rows at a time: of matrices, of pairs of matrices, and of a matrix with a vector.

use super::{
    DotKernel, MIN_MATRIX_ROWS, MIN_PRODUCTS, ProductSizes, TILE_UNIT, cast, cast_mut, dispatch_sum,
};
use super::{max_shared, packed};
use crate::fused::Registers;
use crate::kernel::{RowOperand, RowWise};
use crate::matmul::{self, Product, Results};
use crate::rows::Matrix;
use crate::small_products::{self, MatrixBatch};
use numerics::TensorError;
use numerics::simd::{Isa, WIDE_GROUP};
use std::ops::Range;

impl DotKernel {
    /// Number of matrix products for each of `rows` equal parts of the result in order, and of rows
    /// of these; `None` if the parts are not computed one by one.
    fn parts(&self, rows: usize) -> Option<[usize; 2]> {
        let ProductSizes { count, m, n, k } = self.sizes;
        let is_empty = m == 0 || k == 0 || n == 0;
        if self.is_converted() || self.is_swapped || is_empty || rows == 0 {
            return None;
        }
        if count == 1 && m % rows == 0 {
            return Some([1, m / rows]);
        }
        (count % rows == 0 && count > 0).then_some([count / rows, m])
    }

    /// The number of elements in each of `rows` equal parts of the result in order; `None` if the
    /// parts are not computed one by one.
    pub fn row_results(&self, rows: usize) -> Option<usize> {
        self.parts(rows).map(|[count, m]| count * m * self.sizes.n)
    }

    /// True if each of `rows` parts of the result needs no more of the left operand, or of the
    /// right one, than the same part when the operand is divided into parts of `elements` each.
    pub fn reads_rows(&self, rows: usize, is_right: bool, elements: usize) -> bool {
        let Some([count, m]) = self.parts(rows) else { return false };
        let matrices = if is_right { &self.rhs } else { &self.lhs };
        let [row, column] = matrices.strides;
        let size = if is_right { self.sizes.n } else { m };
        let last = (size - 1).saturating_mul(row) + (self.sizes.k - 1).saturating_mul(column);
        if self.sizes.count == 1 && rows > 1 {
            let start = matrices.starts.first().copied().unwrap_or(usize::MAX);
            return !is_right && start.saturating_add(last) < elements && m * row == elements;
        }
        matrices.starts.iter().enumerate().all(|(nth, &start)| {
            let first = nth / count * elements;
            first <= start && start + last < first + elements
        })
    }

    /// As [`DotKernel::run_packed`], of some of `rows` parts of the result, on this thread.
    /// Operands are whole, or the same parts of them if that is true.
    ///
    /// # Errors
    /// As [`DotKernel::run`], or if the parts are not computed one by one.
    pub fn run_rows(
        &self,
        rows: usize,
        range: Range<usize>,
        operands: [(&[u8], bool); 2],
        panels: Option<&[u8]>,
        out: &mut [u8],
    ) -> Result<(), TensorError> {
        let [count, m] = self.parts(rows).ok_or(TensorError::OutOfBounds)?;
        let ProductSizes { count: all, n, k, .. } = self.sizes;
        dispatch_sum!(self.dtype, T, R, C => {
            let [lhs, rhs] = [cast::<T>(operands[0].0)?, cast::<T>(operands[1].0)?];
            let out = cast_mut::<T>(out)?;
            if out.len() != range.len() * count * m * n || out.is_empty() {
                return Err(TensorError::OutOfBounds);
            }
            // Where the elements begin that are given.
            let given = |elements: &[T], is_part: bool| match is_part {
                true => range.start * (elements.len() / range.len()),
                false => 0,
            };
            let firsts = [given(lhs, operands[0].1), given(rhs, operands[1].1)];
            let from = |elements, start: usize, first| {
                let part = start.checked_sub(first).and_then(|at| <[T]>::get(elements, at..));
                part.ok_or(TensorError::OutOfBounds)
            };
            let is_one = all == 1;
            let (products, m) = match is_one {
                true => (0..1, m * range.len()),
                false => (range.start * count..range.end * count, m),
            };
            let (left, right) = (&self.lhs, &self.rhs);
            for (product, out) in products.zip(out.chunks_mut(m * n)) {
                let row = if is_one { range.start * (m / range.len()) } else { 0 };
                let start = left.starts[product] + row * left.strides[0];
                let a = Matrix { elements: from(lhs, start, firsts[0])?, strides: left.strides };
                let elements = from(rhs, right.starts[product], firsts[1])?;
                if small_products::are_small(m, k, n) {
                    let one = |elements, strides| MatrixBatch { elements, starts: &[0], strides };
                    let (a, b) = (one(a.elements, a.strides), one(elements, right.strides));
                    small_products::multiply_here([m, k, n], a, b, out)?;
                    continue;
                }
                let b = Matrix { elements, strides: [right.strides[1], right.strides[0]] };
                let panels = packed::<T, C>(panels, [k, n])?;
                let product = Product { rows: m, depth: k, columns: n, a: &a, b, order: None, panels };
                let mut results = Results::Strided(out, n);
                product.compute::<R, C>(Isa::best(), 0..m, 0..n, &mut results)?;
            }
            Ok(())
        })
    }
}

impl DotKernel {
    /// The number of the operand that is a matrix of rows of neighbouring elements, one for each
    /// result, where the other operand is a vector; `None` for other products.
    fn matrix_of_rows(&self) -> Option<usize> {
        let ProductSizes { count, m, n, k } = self.sizes;
        let is_vector = count == 1 && m == 1 && k > matmul::FEW && n >= MIN_MATRIX_ROWS;
        let is_of_rows = self.rhs.strides == [k, 1] && self.rhs.starts == [0];
        let is_it = is_vector && is_of_rows && !self.is_converted();
        is_it.then_some(usize::from(!self.is_swapped))
    }

    /// Computes results of a vector's products with some of the rows of a matrix, which may have
    /// panels.
    fn run_matrix_rows(
        &self,
        range: Range<usize>,
        vector: &[u8],
        matrix: RowOperand<'_>,
        panels: Option<&[u8]>,
        out: &mut [u8],
    ) -> Result<(), TensorError> {
        let ProductSizes { n, k, .. } = self.sizes;
        dispatch_sum!(self.dtype, T, R, C => {
            let out = cast_mut::<T>(out)?;
            if range.end > n || out.len() != range.len() || out.is_empty() {
                return Err(TensorError::OutOfBounds);
            }
            let [start] = self.lhs.starts[..] else { return Err(TensorError::OutOfBounds) };
            let vector = cast::<T>(vector)?.get(start..).ok_or(TensorError::OutOfBounds)?;
            let a = Matrix { elements: vector, strides: self.lhs.strides };
            let elements = cast::<T>(matrix.bytes)?;
            // Panels have the columns of the whole product.
            let panels = packed::<T, C>(panels, [k, n])?.filter(|_| range.start.is_multiple_of(C));
            let (columns, part) = match panels {
                Some(_) => (n, range.clone()),
                None => (range.len(), 0..range.len()),
            };
            let first = if matrix.is_part || panels.is_some() { 0 } else { range.start * k };
            let elements = elements.get(first..).filter(|rest| rest.len() >= columns * k);
            let b = Matrix { elements: elements.ok_or(TensorError::OutOfBounds)?, strides: [1, k] };
            let product = Product { rows: 1, depth: k, columns, a: &a, b, order: None, panels };
            let mut results = Results::Strided(out, range.len());
            product.compute::<R, C>(Isa::best(), 0..1, part, &mut results)
        })
    }
}

impl RowWise for DotKernel {
    fn rows(&self) -> Option<usize> {
        let ProductSizes { count, m, n, k } = self.sizes;
        if self.matrix_of_rows().is_some() {
            return Some(n);
        }
        match count {
            1 => (m >= MIN_MATRIX_ROWS && n.saturating_mul(k) <= max_shared()).then_some(m),
            _ => (count >= MIN_PRODUCTS).then_some(count),
        }
    }

    fn row_results(&self, rows: usize) -> Option<usize> {
        match self.rows() {
            // Of a matrix, each row is one of the loop.
            Some(own) if own != rows => None,
            Some(_) if self.matrix_of_rows().is_some() => Some(1),
            Some(_) => self.row_results(rows),
            None => None,
        }
    }

    fn row_inputs(&self, rows: usize) -> Option<usize> {
        let is_of_rows = self.matrix_of_rows().is_some() && rows == self.sizes.n;
        is_of_rows.then_some(self.sizes.k)
    }

    fn reads_rows(&self, rows: usize, operand: usize, elements: usize) -> bool {
        match self.matrix_of_rows() {
            Some(matrix) => operand == matrix && elements == self.sizes.k && rows == self.sizes.n,
            None => operand < 2 && self.reads_rows(rows, operand == 1, elements),
        }
    }

    fn tile_rows(&self) -> usize {
        match self.matrix_of_rows() {
            Some(_) => 2 * WIDE_GROUP,
            None if self.sizes.count == 1 => TILE_UNIT,
            None => 1,
        }
    }

    fn work(&self) -> usize {
        let ProductSizes { count, m, n, k } = self.sizes;
        [m, n, k].into_iter().fold(count, usize::saturating_mul)
    }

    fn run_rows(
        &self,
        rows: usize,
        range: Range<usize>,
        operands: &[RowOperand<'_>],
        prepacked: Option<&[u8]>,
        results: &mut [&mut [u8]],
        _: &mut Registers,
    ) -> Result<(), TensorError> {
        let (&[lhs, rhs], [result]) = (operands, results) else {
            return Err(TensorError::OutOfBounds);
        };
        if let Some(matrix) = self.matrix_of_rows() {
            let (vector, matrix) = if matrix == 0 { (rhs, lhs) } else { (lhs, rhs) };
            return self.run_matrix_rows(range, vector.whole()?, matrix, prepacked, result);
        }
        let operands = [lhs, rhs].map(|operand| (operand.bytes, operand.is_part));
        self.run_rows(rows, range, operands, prepacked, result)
    }
}
