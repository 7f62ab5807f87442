//! Comparisons of computed with expected tensors, for the check dialect and the `check.*` custom
//! calls.
//!
//! Each reports the first element that differs.

use mlir::Type;
use mlir::diag::counted;
use numerics::math::{self, Direction};
use numerics::text::format_element;
use numerics::{DType, Tensor, dispatch_all};
use program::EvalError;

/// Fails unless the tensors are equal, element by element. NaN equals NaN, and zeros of both signs
/// are equal.
///
/// # Errors
/// The first pair of elements that differs, or different types.
pub fn expect_eq(actual: &Tensor, expected: &Tensor) -> Result<(), EvalError> {
    same_type(actual, expected)?;
    let unequal = math::compare(Direction::Ne, actual, expected)?.to_vec::<numerics::I1>()?;
    let differs = (0..unequal.len()).find(|&i| {
        unequal[i] == numerics::I1::new(true) && !(is_nan(actual, i) && is_nan(expected, i))
    });
    match differs {
        None => Ok(()),
        Some(i) => Err(mismatch("check.expect_eq", "the values differ", actual, expected, i)),
    }
}

/// Fails unless the elements are within `tolerance` of each other (both parts of complex numbers),
/// or equal infinities, or both NaN.
///
/// # Errors
/// The first pair of elements that differs, or different types.
pub fn expect_almost_eq(
    actual: &Tensor,
    expected: &Tensor,
    tolerance: f64,
) -> Result<(), EvalError> {
    same_type(actual, expected)?;
    let (a, b) = (parts(actual)?, parts(expected)?);
    let step = if actual.dtype().is_complex() { 2 } else { 1 };
    let near =
        |(&x, &y): (&f64, &f64)| x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= tolerance;
    match a.iter().zip(&b).position(|pair| !near(pair)) {
        None => Ok(()),
        Some(i) => {
            let what = format!("the values differ by more than {tolerance}");
            Err(mismatch("check.expect_almost_eq", &what, actual, expected, i / step))
        }
    }
}

/// Fails unless the distance of the elements in units in the last place is from `min` to `max`.
///
/// # Errors
/// The first pair of elements outside the range, or different types.
pub fn expect_close(
    actual: &Tensor,
    expected: &Tensor,
    min: u64,
    max: u64,
) -> Result<(), EvalError> {
    same_type(actual, expected)?;
    let distances = numerics::ulp::ulp_distances(actual, expected)?;
    match distances.iter().position(|d| !(min..=max).contains(d)) {
        None => Ok(()),
        Some(i) => {
            let far = distances.iter().filter(|d| !(min..=max).contains(d)).count();
            let are = if far == 1 { "is" } else { "are" };
            let what = format!(
                "{far} of {} {are} not {min} to {max} units in the last place apart; the first is {}",
                counted(distances.len() as u64, "value"),
                distances[i]
            );
            Err(mismatch("check.expect_close", &what, actual, expected, i))
        }
    }
}

fn same_type(actual: &Tensor, expected: &Tensor) -> Result<(), EvalError> {
    if actual.dtype() == expected.dtype() && actual.shape() == expected.shape() {
        return Ok(());
    }
    let show = |t: &Tensor| {
        let shape: Vec<i64> = t.shape().iter().map(|&d| d as i64).collect();
        Type::tensor(shape, Type::from(t.dtype()))
    };
    let message =
        format!("the value has type {}, but {} is expected", show(actual), show(expected));
    Err(EvalError::new("check", message))
}

/// The elements of real tensors; the interleaved parts of complex ones.
fn parts(tensor: &Tensor) -> Result<Vec<f64>, EvalError> {
    if tensor.dtype().is_complex() {
        let wide = math::convert(tensor.clone(), DType::C128)?;
        let values = wide.to_vec::<numerics::Complex64>()?;
        return Ok(values.into_iter().flat_map(|c| [c.re, c.im]).collect());
    }
    Ok(math::convert(tensor.clone(), DType::F64)?.to_vec()?)
}

#[allow(clippy::eq_op, reason = "only NaN is not equal to itself")]
fn is_nan(tensor: &Tensor, index: usize) -> bool {
    // NaN is the only value that differs from itself.
    dispatch_all!(tensor.dtype(), T => tensor.as_slice::<T>().is_ok_and(|v| v[index] != v[index]))
}

fn mismatch(
    label: &'static str,
    what: &str,
    actual: &Tensor,
    expected: &Tensor,
    position: usize,
) -> EvalError {
    let mut index = Vec::with_capacity(actual.rank());
    let mut rest = position;
    for stride in actual.strides() {
        index.push(rest / stride.max(1));
        rest %= stride.max(1);
    }
    let (found, wanted) = (element(actual, position), element(expected, position));
    EvalError::new(
        label,
        format!("{what}: at index {index:?} the value is {found}, but {wanted} is expected"),
    )
}

fn element(tensor: &Tensor, position: usize) -> String {
    let size = tensor.dtype().bytes();
    let bytes =
        position.checked_mul(size).and_then(|start| tensor.bytes().get(start..start + size));
    bytes.map_or(String::new(), |bytes| format_element(tensor.dtype(), bytes))
}
