//! Discrete Fourier transforms along the last dimensions.
//!
//! All are computed in double precision and rounded once.

use super::parallel::task_size;
use numerics::budget;
use numerics::math::{self, UnaryOp};
use numerics::shape::StridedView;
use numerics::{Complex64, DType, Tensor, TensorError};
use program::{EvalError, Fourier};
use rustfft::{Fft, FftDirection, FftPlanner};
use std::cell::RefCell;
use std::sync::Arc;

/// Elementary operations for an element of a line, roughly.
const LINE_WORK: usize = 32;
/// At most so many plans are kept.
const MAX_PLANS: usize = 8;
/// Plans for longer lines are not kept.
const LONG_PLAN: usize = 1 << 12;

/// Transforms the last `lengths.len()` dimensions. `lengths` are their sizes, on the real side of a
/// real transform.
///
/// # Errors
/// If the element type is not that of the transform, or the lengths do not fit the shape.
pub fn fourier(
    transform: Fourier,
    operand: Tensor,
    lengths: &[usize],
) -> Result<Tensor, EvalError> {
    let dtype = operand.dtype();
    let result = match (transform, dtype) {
        (Fourier::RealForward, DType::F32) => DType::C64,
        (Fourier::RealForward, DType::F64) => DType::C128,
        (Fourier::RealInverse, DType::C64) => DType::F32,
        (Fourier::RealInverse, DType::C128) => DType::F64,
        (Fourier::Forward | Fourier::Inverse, DType::C64 | DType::C128) => dtype,
        _ => {
            return Err(EvalError::new(
                "fft_c2",
                format!("no {transform:?} transform of elements of type {dtype}"),
            ));
        }
    };
    let rank = operand.rank();
    let Some(&length) = lengths.last().filter(|_| lengths.len() <= rank) else {
        return Err(EvalError::new(
            "fft_c1",
            format!("{} lengths do not fit rank {rank}", lengths.len()),
        ));
    };
    let given = &operand.shape()[rank - lengths.len()..];
    let mut required = lengths.to_vec();
    if transform == Fourier::RealInverse {
        required[lengths.len() - 1] = half(length);
    }
    if given != required {
        let message = format!(
            "the last dimensions have sizes {given:?}, but {required:?} are required for lengths {lengths:?}"
        );
        return Err(EvalError::new("fft_c4", message));
    }
    let mut values = math::convert(operand, DType::C128)?;
    let (outer, last) = (rank - lengths.len()..rank - 1, rank - 1);
    match transform {
        Fourier::Forward | Fourier::RealForward => {
            values = along(values, last, FftDirection::Forward)?;
            if transform == Fourier::RealForward {
                values = truncated(&values, half(length))?;
            }
            for axis in outer.rev() {
                values = along(values, axis, FftDirection::Forward)?;
            }
        }
        Fourier::Inverse | Fourier::RealInverse => {
            for axis in outer {
                values = along(values, axis, FftDirection::Inverse)?;
            }
            if transform == Fourier::RealInverse {
                values = extended(&values, length)?;
            }
            values = along(values, last, FftDirection::Inverse)?;
        }
    }
    if !result.is_complex() {
        values = math::unary(UnaryOp::Real, values)?;
    }
    Ok(math::convert(values, result)?)
}

/// Number of elements of a real transform that determine the rest.
fn half(length: usize) -> usize {
    if length == 0 { 0 } else { length / 2 + 1 }
}

/// The transforms of all lines along `axis`.
fn along(values: Tensor, axis: usize, direction: FftDirection) -> Result<Tensor, EvalError> {
    let length = values.shape()[axis];
    if values.num_elements() == 0 {
        return Ok(values);
    }
    // The lines lie one after the other when their dimension is last.
    let mut order: Vec<usize> = (0..values.rank()).collect();
    order.swap(axis, values.rank() - 1);
    let mut lines = values.gather(&StridedView::dense(values.shape())?.permute(&order)?)?;
    drop(values);
    // The plan for a line, and its scratch memory.
    let _reserved = budget::reserve::<[Complex64; 2]>(length.saturating_mul(host::workers()))?;
    let plan = plan(length, direction);
    let elements = lines.make_mut::<Complex64>()?;
    let size = task_size(elements.len() / length, length.saturating_mul(LINE_WORK), 1) * length;
    host::parallel(elements.chunks_mut(size).collect(), |lines: &mut [Complex64]| {
        plan.process(lines);
        if direction == FftDirection::Inverse {
            for x in lines {
                *x /= length as f64;
            }
        }
        Ok::<(), TensorError>(())
    })?;
    Ok(lines.gather(&StridedView::dense(lines.shape())?.permute(&order)?)?)
}

/// A plan for transforms of a length; plans of short ones are kept.
fn plan(length: usize, direction: FftDirection) -> Arc<dyn Fft<f64>> {
    thread_local! {
        static PLANS: RefCell<Vec<Arc<dyn Fft<f64>>>> = const { RefCell::new(Vec::new()) };
    }
    if length > LONG_PLAN {
        return FftPlanner::new().plan_fft(length, direction);
    }
    PLANS.with_borrow_mut(|plans| {
        let fits =
            |plan: &Arc<dyn Fft<f64>>| plan.len() == length && plan.fft_direction() == direction;
        let plan = match plans.iter().position(fits) {
            Some(at) => plans.remove(at),
            None => FftPlanner::new().plan_fft(length, direction),
        };
        plans.truncate(MAX_PLANS - 1);
        // The last one used is the first.
        plans.insert(0, plan.clone());
        plan
    })
}

/// The first `size` elements of each line of the last dimension.
fn truncated(values: &Tensor, size: usize) -> Result<Tensor, EvalError> {
    let (rank, mut limits) = (values.rank(), values.shape().to_vec());
    if let Some(last) = limits.last_mut() {
        *last = size;
    }
    super::slice(values, &vec![0; rank], &limits, &vec![1; rank])
}

/// Each line of the last dimension with the second half that the transform of real numbers has: the
/// first one backwards, conjugated.
fn extended(values: &Tensor, length: usize) -> Result<Tensor, EvalError> {
    let mut shape = values.shape().to_vec();
    if let Some(last) = shape.last_mut() {
        *last = length;
    }
    let mut result = Tensor::zeros(DType::C128, &shape)?;
    if result.num_elements() > 0 {
        let lines = result.make_mut::<Complex64>()?.chunks_exact_mut(length);
        for (line, given) in lines.zip(values.as_slice::<Complex64>()?.chunks_exact(half(length))) {
            let (first, second) = line.split_at_mut(given.len());
            first.copy_from_slice(given);
            for (to, from) in second.iter_mut().rev().zip(&given[1..]) {
                *to = from.conj();
            }
        }
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complex(shape: &[usize], values: &[(f64, f64)]) -> Tensor {
        Tensor::from_vec(shape, values.iter().map(|&(re, im)| Complex64::new(re, im)).collect())
            .unwrap()
    }

    fn close(actual: &Tensor, expected: &Tensor) {
        assert_eq!(actual.shape(), expected.shape());
        let (a, b) =
            (actual.as_slice::<Complex64>().unwrap(), expected.as_slice::<Complex64>().unwrap());
        assert!(a.iter().zip(b).all(|(x, y)| (x - y).norm() < 1e-12), "{actual:?} {expected:?}");
    }

    #[test]
    fn example_of_the_specification() {
        let x = complex(&[4], &[(1.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)]);
        close(&fourier(Fourier::Forward, x, &[4]).unwrap(), &complex(&[4], &[(1.0, 0.0); 4]));
    }

    #[test]
    fn two_dimensions_and_back() {
        let x = complex(&[2, 2], &[(1.0, 2.0), (3.0, -4.0), (-5.0, 6.0), (-7.0, -8.0)]);
        let y = fourier(Fourier::Forward, x.clone(), &[2, 2]).unwrap();
        close(&y, &complex(&[2, 2], &[(-8.0, -4.0), (0.0, 20.0), (16.0, 0.0), (-4.0, -8.0)]));
        close(&fourier(Fourier::Inverse, y, &[2, 2]).unwrap(), &x);
    }

    #[test]
    fn real_lines_of_even_and_odd_length() {
        let x = Tensor::from_vec([4], vec![1.0, 2.0, 3.0, 4.0f64]).unwrap();
        let y = fourier(Fourier::RealForward, x.clone(), &[4]).unwrap();
        close(&y, &complex(&[3], &[(10.0, 0.0), (-2.0, 2.0), (-2.0, 0.0)]));
        let there = fourier(Fourier::RealInverse, y, &[4]).unwrap();
        assert!(
            there
                .as_slice::<f64>()
                .unwrap()
                .iter()
                .zip([1.0, 2.0, 3.0, 4.0])
                .all(|(a, b)| (a - b).abs() < 1e-12)
        );
        let x = Tensor::from_vec([2, 3, 3], (0..18).map(|i| i as f32).collect()).unwrap();
        let y = fourier(Fourier::RealForward, x.clone(), &[2, 3, 3]).unwrap();
        assert_eq!((y.dtype(), y.shape()), (DType::C64, &[2, 3, 2][..]));
        let there = fourier(Fourier::RealInverse, y, &[2, 3, 3]).unwrap();
        let near = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-5;
        assert!(there.as_slice().unwrap().iter().zip(x.as_slice().unwrap()).all(near), "{there:?}");
    }

    #[test]
    fn empty_and_invalid() {
        let x = Tensor::from_vec([2, 0], Vec::<f32>::new()).unwrap();
        assert_eq!(fourier(Fourier::RealForward, x.clone(), &[0]).unwrap().shape(), [2, 0]);
        assert!(fourier(Fourier::Forward, x.clone(), &[0]).is_err());
        assert!(fourier(Fourier::RealForward, x.clone(), &[1]).is_err());
        assert!(fourier(Fourier::RealForward, x, &[]).is_err());
    }
}
