//! Comparison of computed with expected tensors.

use numerics::{Complex64, DType, Integer, Tensor, TensorError, dispatch, math, ulp};

/// How far a computed element may be from the expected one.
///
/// An element is close if it equals the expected one, if both are NaN, if their distance is at most
/// `absolute + relative * |expected|`, or if they are at most `ulps` units in the last place apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Distance that is allowed for every element.
    pub absolute: f64,
    /// Distance that is allowed in proportion to the expected element.
    pub relative: f64,
    /// Units in the last place of floating-point elements.
    pub ulps: u64,
}

impl Tolerance {
    /// Only equal elements are close.
    pub const EXACT: Tolerance = Tolerance { absolute: 0.0, relative: 0.0, ulps: 0 };

    /// The distances that `torch.testing.assert_close` allows for elements of a type; two units
    /// in the last place of types that PyTorch does not have. Integers and booleans must be equal.
    ///
    /// Source: PyTorch documentation, `torch.testing.assert_close`.
    pub fn of(dtype: DType) -> Tolerance {
        let (absolute, relative) = match dtype.part() {
            DType::F64 => (1e-7, 1e-7),
            DType::F32 => (1e-5, 1.3e-6),
            DType::F16 => (1e-5, 1e-3),
            DType::BF16 => (1e-5, 1.6e-2),
            part if part.is_float() => return Tolerance { ulps: 2, ..Tolerance::EXACT },
            _ => (0.0, 0.0),
        };
        Tolerance { absolute, relative, ulps: 0 }
    }
}

/// The elements of a tensor that are not close to the expected ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Their number.
    pub differing: usize,
    /// Position, in row-major order, of the element farthest from the expected one; among the
    /// differing ones if there are any. `None` if no elements differ at all.
    pub worst: Option<usize>,
    /// The largest distance: of complex numbers in the plane, infinite between NaN and a number.
    pub max_distance: f64,
    /// The largest distance in units in the last place; `None` for integers and booleans.
    pub max_ulps: Option<u64>,
}

/// Compares a computed tensor with the expected one, element by element.
///
/// # Errors
/// If their shapes or element types differ, or there is no memory.
pub fn compare(
    found: &Tensor,
    expected: &Tensor,
    tolerance: &Tolerance,
) -> Result<Comparison, TensorError> {
    let dtype = found.dtype();
    if dtype != expected.dtype() {
        return Err(TensorError::DType { expected: expected.dtype(), found: dtype });
    }
    if found.shape() != expected.shape() {
        let (lhs, rhs) = (found.shape().to_vec(), expected.shape().to_vec());
        return Err(TensorError::Shape { lhs, rhs });
    }
    let has_ulps = dtype.is_float() || dtype.is_complex();
    let ulps = has_ulps.then(|| ulp::ulp_distances(found, expected)).transpose()?;
    let mut comparison = Comparison {
        differing: 0,
        worst: None,
        max_distance: 0.0,
        max_ulps: ulps.as_ref().map(|_| 0),
    };
    // The distance of the worst element, and whether it is close.
    let mut worst = (true, 0.0);
    for (i, (distance, magnitude)) in distances(found, expected)?.into_iter().enumerate() {
        if distance == 0.0 {
            continue;
        }
        let apart = ulps.as_ref().map(|ulps| ulps[i]);
        let allowed = tolerance.absolute + tolerance.relative * magnitude;
        let close = distance.is_finite() && distance <= allowed
            || apart.is_some_and(|apart| apart <= tolerance.ulps);
        comparison.differing += usize::from(!close);
        comparison.max_distance = comparison.max_distance.max(distance);
        comparison.max_ulps = comparison.max_ulps.max(apart);
        if (worst.0 && !close) || (worst.0 == close && distance > worst.1) {
            worst = (close, distance);
            comparison.worst = Some(i);
        }
    }
    Ok(comparison)
}

/// For each pair of elements, their distance and the magnitude of the expected one. The distance of
/// NaN and NaN and of equal infinities is 0.
fn distances(found: &Tensor, expected: &Tensor) -> Result<Vec<(f64, f64)>, TensorError> {
    let part = |x: f64, y: f64| match () {
        () if x == y || (x.is_nan() && y.is_nan()) => 0.0,
        () if x.is_nan() || y.is_nan() => f64::INFINITY,
        () => (x - y).abs(),
    };
    let of_numbers =
        |x: Complex64, e: Complex64| (part(x.re, e.re).hypot(part(x.im, e.im)), e.re.hypot(e.im));
    let of_integers = |x: i128, e: i128| (x.abs_diff(e) as f64, e.unsigned_abs() as f64);
    dispatch!(
        found.dtype(),
        [integer] T => {
            let pairs = found.as_slice::<T>()?.iter().zip(expected.as_slice::<T>()?);
            Ok(pairs.map(|(x, e)| of_integers(x.to_i128(), e.to_i128())).collect())
        },
        else {
            let numbers = |tensor: &Tensor| {
                math::convert(tensor.clone(), DType::C128)?.to_vec::<Complex64>()
            };
            let pairs = numbers(found)?.into_iter().zip(numbers(expected)?);
            Ok(pairs.map(|(x, e)| of_numbers(x, e)).collect())
        }
    )
}
