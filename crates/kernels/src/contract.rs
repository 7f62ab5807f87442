//! `dot_general`, and what it shares with convolutions: sums of products.

use super::matmul::{self, Matrix, Product};
use numerics::budget::Scratch;
use numerics::shape::{Indices, StridedView, num_elements};
use numerics::{DType, Element, Family, Tensor, TensorError, math};
use program::{DotDims, EvalError};

/// Fewer columns than this make a product go the other way round.
const FEW_COLUMNS: usize = 8;

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
/// or i64, of which they are the low bits.
///
/// Source: XLA.
pub(super) fn accumulation(lhs: &Tensor, rhs: &Tensor, result: DType) -> DType {
    let breadth = |dtype: &DType| match dtype.family() {
        Family::Boolean => (0, 0),
        Family::Signed | Family::Unsigned => (1, dtype.bits()),
        Family::Float => (2, dtype.bits()),
        Family::Complex => (3, dtype.bits()),
    };
    let widest =
        [lhs.dtype(), rhs.dtype(), result].into_iter().max_by_key(breadth).unwrap_or(result);
    match (widest.family(), widest.bits()) {
        (Family::Signed | Family::Unsigned, bits) if bits <= 32 => DType::I32,
        (Family::Signed | Family::Unsigned, _) => DType::I64,
        (Family::Float, bits) if bits < 32 => DType::F32,
        _ => widest,
    }
}

/// Evaluates an expression for the type of a sum, one that [`accumulation`] gives, with `T` bound
/// to it, and `R` and `C` to the rows and columns of a tile of results that registers hold.
macro_rules! dispatch_sum {
    ($dtype:expr, $T:ident, $R:ident, $C:ident => $body:expr) => {
        $crate::contract::dispatch_sum!(@arms $dtype, $T, $R, $C, $body,
            (F32 f32, 4, 16) (F64 f64, 4, 8) (I32 i32, 4, 16) (I64 i64, 2, 8)
            (I1 numerics::I1, 2, 16) (C64 numerics::Complex32, 2, 8)
            (C128 numerics::Complex64, 2, 4))
    };
    (@arms $dtype:expr, $T:ident, $R:ident, $C:ident, $body:expr,
        $(($variant:ident $ty:path, $rows:literal, $columns:literal))*) => {
        match $dtype {
            $(numerics::DType::$variant => {
                type $T = $ty;
                const $R: usize = $rows;
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
    let sum_type = accumulation(&lhs, &rhs, dtype);
    let (lhs, rhs) = (math::convert(lhs, sum_type)?, math::convert(rhs, sum_type)?);
    let lhs_batch = &numbers.lhs_batching_dimensions[..];
    let rhs_batch = &numbers.rhs_batching_dimensions[..];
    let lhs_taken = distinct(
        "dot_general_c3",
        &[lhs_batch, &numbers.lhs_contracting_dimensions].concat(),
        lhs.rank(),
    )?;
    let rhs_taken = distinct(
        "dot_general_c4",
        &[rhs_batch, &numbers.rhs_contracting_dimensions].concat(),
        rhs.rank(),
    )?;
    let (lhs_batch, lhs_contracting) = lhs_taken.split_at(lhs_batch.len());
    let (rhs_batch, rhs_contracting) = rhs_taken.split_at(rhs_batch.len());
    let lhs_kept: Vec<usize> = (0..lhs.rank()).filter(|d| !lhs_taken.contains(d)).collect();
    let rhs_kept: Vec<usize> = (0..rhs.rank()).filter(|d| !rhs_taken.contains(d)).collect();
    let sizes = |t: &Tensor, dims: &[usize]| dims.iter().map(|&d| t.shape()[d]).collect::<Vec<_>>();
    let (batch, contracting) = (sizes(&lhs, lhs_batch), sizes(&lhs, lhs_contracting));
    if batch != sizes(&rhs, rhs_batch) {
        return Err(invalid("dot_general_c9", "sizes of the batching dimensions differ"));
    }
    if contracting != sizes(&rhs, rhs_contracting) {
        return Err(invalid("dot_general_c10", "sizes of the contracting dimensions differ"));
    }
    let (lhs_sizes, rhs_sizes) = (sizes(&lhs, &lhs_kept), sizes(&rhs, &rhs_kept));
    let product = |sizes: &[usize]| {
        num_elements(sizes).ok_or_else(|| invalid("dot_general_c12", "too large"))
    };
    let (count, m, n) = (product(&batch)?, product(&lhs_sizes)?, product(&rhs_sizes)?);
    let k = product(&contracting)?;

    let shape = [&batch[..], &lhs_sizes, &rhs_sizes].concat();
    let left = Factor::new(lhs, lhs_batch, &lhs_kept, lhs_contracting)?;
    let right = Factor::new(rhs, rhs_batch, &rhs_kept, rhs_contracting)?;
    // The product of a matrix and a few columns goes the other way round: (A B)' = B' A'.
    let swap = n < FEW_COLUMNS && n < m;
    let (a, b, m, n) = if swap { (right, left, n, m) } else { (left, right, m, n) };
    let mut result = Tensor::zeros(sum_type, [count, m, n])?;
    if result.num_elements() > 0 && k > 0 {
        dispatch_sum!(sum_type, T, R, C => {
            let left = a.matrices::<T>(a.strides)?;
            let right = b.matrices::<T>([b.strides[1], b.strides[0]])?;
            let products = left.iter().zip(right);
            let products = products.map(|(a, b)| Product { rows: m, depth: k, columns: n, a, b });
            matmul::multiply::<T, R, C>(&products.collect::<Vec<_>>(), result.make_mut::<T>()?)
        })?;
    }
    if swap && m > 1 {
        let view = StridedView::dense(&[count, m, n])?.permute(&[0, 2, 1])?;
        result = result.gather(&view)?;
    }
    Ok(math::convert(result.into_shape(shape)?, dtype)?)
}

/// An operand of `dot_general`, as matrices whose rows are the kept dimensions and whose columns
/// are the contracted ones.
struct Factor {
    tensor: Tensor,
    /// Where the matrix of each batch index begins.
    starts: Scratch<usize>,
    /// Distances between rows and between columns.
    strides: [usize; 2],
}

impl Factor {
    /// Copies the tensor only if no strides make rows and columns of its dimensions.
    fn new(
        tensor: Tensor,
        batch: &[usize],
        kept: &[usize],
        contracting: &[usize],
    ) -> Result<Factor, EvalError> {
        let (shape, strides) = (tensor.shape(), tensor.strides());
        let sizes: Vec<usize> = batch.iter().map(|&d| shape[d]).collect();
        let count = if tensor.num_elements() == 0 { 0 } else { sizes.iter().product() };
        let mut starts = Scratch::new(count)?;
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
            dims.all(fits).then_some(strides[last])
        };
        if let (Some(row), Some(column)) = (merged(kept), merged(contracting)) {
            let mut indices = Indices::new(&sizes);
            while let Some(index) = indices.next_index().filter(|_| count > 0) {
                starts.push(index.iter().zip(batch).map(|(&i, &d)| i * strides[d]).sum());
            }
            return Ok(Factor { strides: [row, column], starts, tensor });
        }
        let depth = contracting.iter().map(|&d| shape[d]).product();
        let order = [batch, kept, contracting].concat();
        let copy = tensor.gather(&StridedView::dense(shape)?.permute(&order)?)?;
        starts.extend((0..count).map(|i| i * (copy.num_elements() / count)));
        Ok(Factor { strides: [depth, 1], starts, tensor: copy })
    }

    /// The matrix of each batch index, with these strides.
    fn matrices<T: Element>(&self, strides: [usize; 2]) -> Result<Vec<Matrix<'_, T>>, TensorError> {
        let elements = self.tensor.as_slice::<T>()?;
        let matrix = |&start: &usize| Matrix { elements: &elements[start..], strides };
        Ok(self.starts.iter().map(matrix).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(shape: &[usize], values: &[i64]) -> Tensor {
        Tensor::from_vec(shape, values.to_vec()).expect("shape and values agree")
    }

    #[test]
    fn dot_general_example_of_the_specification() {
        let lhs = tensor(&[2, 2, 2], &[1, 2, 3, 4, 5, 6, 7, 8]);
        let rhs = tensor(&[2, 2, 2], &[1, 0, 0, 1, 1, 0, 0, 1]);
        let numbers = DotDims {
            lhs_batching_dimensions: vec![0],
            rhs_batching_dimensions: vec![0],
            lhs_contracting_dimensions: vec![2],
            rhs_contracting_dimensions: vec![1],
        };
        assert_eq!(dot_general(lhs.clone(), rhs, &numbers, DType::I64).expect("valid"), lhs);
    }

    #[test]
    fn products_of_all_sizes() {
        for (m, k, n) in [(1, 1, 1), (1, 5, 9), (9, 3, 2), (4, 8, 8), (5, 7, 17), (13, 4, 1)] {
            let a = tensor(&[m, k], &(0..(m * k) as i64).collect::<Vec<_>>());
            let b = tensor(&[n, k], &(0..(n * k) as i64).map(|x| 3 * x - 7).collect::<Vec<_>>());
            let numbers = DotDims {
                lhs_contracting_dimensions: vec![1],
                rhs_contracting_dimensions: vec![1],
                ..DotDims::default()
            };
            let mut expected = Vec::new();
            for i in 0..m {
                for j in 0..n {
                    expected.push(
                        (0..k).map(|l| (i * k + l) as i64 * (3 * (j * k + l) as i64 - 7)).sum(),
                    );
                }
            }
            assert_eq!(
                dot_general(a, b, &numbers, DType::I64).expect("valid"),
                tensor(&[m, n], &expected)
            );
        }
    }
}
