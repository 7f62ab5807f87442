//! Products of some reflections, which are applied together by products of matrices: R. Schreiber
//! and C. Van Loan, *A Storage-Efficient WY Representation for Products of Householder
//! Transformations*, 1989.

use crate::matrix::{Matrix, Scalar};
use crate::product::subtract;
use std::ops::Range;

/// Reflections that are applied together.
pub(crate) const BLOCK: usize = 16;

/// `I - v * t * v^H`, which is the product of reflections.
pub(crate) struct BlockReflector<T> {
    /// The row of matrices that the first element of vectors meets.
    first: usize,
    /// The adjoints of the vectors as rows, with zeros in front of shorter vectors.
    adjoints: Vec<T>,
    /// The vectors as columns.
    vectors: Vec<T>,
    /// The rows of `t`.
    factor: Vec<T>,
}

impl<T: Scalar> BlockReflector<T> {
    /// The product of reflections whose vectors have the elements `vector(k)` from row `first + k`
    /// on, of `len` rows from `first` on, with these factors. The last reflection is applied first
    /// if `reversed`.
    pub(crate) fn new<'a>(
        first: usize,
        len: usize,
        vector: impl Fn(usize) -> &'a [T],
        taus: &[T],
        reversed: bool,
    ) -> BlockReflector<T>
    where
        T: 'a,
    {
        let depth = taus.len();
        let mut adjoints = vec![T::ZERO; depth * len];
        let mut vectors = vec![T::ZERO; len * depth];
        for (k, adjoint) in adjoints.chunks_exact_mut(len).enumerate() {
            let v = vector(k);
            adjoint[k..].iter_mut().zip(v).for_each(|(to, x)| *to = x.conj());
            let column = vectors[k * depth + k..].iter_mut().step_by(depth);
            column.zip(v).for_each(|(to, &x)| *to = x);
        }
        // The negated products of all pairs of vectors.
        let mut products = vec![T::ZERO; depth * depth];
        subtract((&mut products, depth), depth, &adjoints, (&vectors, depth), len);
        let mut t = Matrix::zeros(depth, depth);
        for (i, &tau) in taus.iter().enumerate() {
            // The product in the other order is the adjoint of the product of the adjoints.
            let tau = if reversed { tau } else { tau.conj() };
            for row in 0..i {
                let mut sum = T::ZERO;
                for k in row..i {
                    sum += t[(row, k)] * products[k * depth + i];
                }
                t[(row, i)] = sum * tau;
            }
            t[(i, i)] = tau;
        }
        let factor = if reversed { t } else { t.adjoint() };
        BlockReflector { first, adjoints, vectors, factor: factor.into_elements() }
    }

    /// Replaces some columns of a matrix by their product with this one.
    pub(crate) fn apply(&self, a: &mut Matrix<T>, columns: Range<usize>) {
        let (stride, count) = (a.columns(), columns.len());
        let depth = self.factor.len().isqrt();
        if depth == 0 || count == 0 {
            return;
        }
        let len = self.vectors.len() / depth;
        let part = &mut a.elements_mut()[self.first * stride + columns.start..];
        let mut products = vec![T::ZERO; depth * count];
        subtract((&mut products, count), count, &self.adjoints, (part, stride), len);
        let mut factors = vec![T::ZERO; depth * count];
        subtract((&mut factors, count), count, &self.factor, (&products, count), depth);
        subtract((part, stride), count, &self.vectors, (&factors, count), depth);
    }
}
