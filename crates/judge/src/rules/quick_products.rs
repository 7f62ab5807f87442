//! Sums of products of real numbers of narrow types in a quick run, where all bounds and true
//! values are finite: as few kernels on `f64` as tell the results and their errors.

use super::slopes::rest;
use super::sums::{Sum, SumRounding, ball, granularity_of};
use crate::array::{Array, Elements, Number, tensor, to_f64s};
use crate::ball::{Ball, up};
use crate::exact_sums::{Kernel, bounded};
use crate::quick_sums::{EXACT, MAX_QUICK_TERMS, roundoff};
use program::EvalError;

/// One operand.
struct Factor<'a> {
    shape: &'a [usize],
    /// The middles of bounds, and how far these reach from there; no distances if all are zero.
    middles: Vec<f64>,
    distances: Option<Vec<f64>>,
    /// The largest absolute values of bounds.
    sizes: Vec<f64>,
    /// The middles of true values with their radii; `None` if they are the middles of bounds.
    truths: Option<[Vec<f64>; 2]>,
    has_zero: bool,
    /// All middles are multiples of this, if there are no distances.
    unit: f64,
}

/// The least of the absolute values that are not zero.
fn least(values: &[f64]) -> f64 {
    values.iter().map(|x| x.abs()).filter(|&x| x > 0.0).fold(f64::INFINITY, f64::min)
}

fn absolute(values: &[f64]) -> Vec<f64> {
    values.iter().map(|x| x.abs()).collect()
}

impl<'a> Factor<'a> {
    /// `None` unless everything is finite.
    fn new(array: &'a Array) -> Result<Option<Factor<'a>>, EvalError> {
        let shape = &array.shape[..];
        match &array.elements {
            Elements::Exact(tensor) => {
                let middles = to_f64s(tensor)?;
                if !array.dtype.is_float() || !middles.iter().all(|x| x.is_finite()) {
                    return Ok(None);
                }
                Ok(Some(Factor {
                    shape,
                    distances: None,
                    sizes: absolute(&middles),
                    truths: None,
                    has_zero: middles.contains(&0.0),
                    unit: granularity_of(middles.iter().copied()),
                    middles,
                }))
            }
            Elements::Numbers(numbers) => Ok(Factor::of_numbers(shape, numbers)),
        }
    }

    fn of_numbers(shape: &'a [usize], numbers: &[Number]) -> Option<Factor<'a>> {
        let with_room = || Vec::with_capacity(numbers.len());
        let [mut middles, mut distances, mut sizes] = [(); 3].map(|()| with_room());
        let [mut truths, mut radii] = [(); 2].map(|()| with_room());
        let mut has_zero = false;
        for number in numbers {
            let around = ball(number.bounds);
            if !around.is_finite() || !number.truth.is_finite() {
                return None;
            }
            middles.push(around.hi);
            distances.push(around.radius);
            sizes.push(number.bounds.magnitude());
            truths.push(number.truth.hi);
            radii.push(rest(number.truth));
            has_zero |= number.bounds.value() == Some(0.0) && number.truth.hi == 0.0;
        }
        let is_point = distances.iter().all(|&distance| distance == 0.0);
        let unit = if is_point { granularity_of(middles.iter().copied()) } else { 0.0 };
        let distances = (!is_point).then_some(distances);
        let truths = Some([truths, radii]);
        Some(Factor { shape, middles, distances, sizes, truths, has_zero, unit })
    }

    fn truths(&self) -> &[f64] {
        self.truths.as_ref().map_or(&self.middles, |[truths, _]| truths)
    }

    fn used(&self) -> Vec<f64> {
        let is_used = |(x, t): (&f64, &f64)| f64::from(u8::from(*x != 0.0 || *t != 0.0));
        self.sizes.iter().zip(self.truths()).map(is_used).collect()
    }
}

/// The shape and the elements of a result.
type ShapedNumbers = (Vec<usize>, Vec<Number>);

/// The sums of products that a kernel makes of two operands, with their shape. `None` unless
/// everything is finite, and sums have few terms. `terms` is the number of products of each sum, if
/// all have as many.
///
/// # Errors
/// Errors of the kernel.
pub(super) fn quick_products(
    [lhs, rhs]: [&Array; 2],
    terms: Option<f64>,
    sums: &SumRounding,
    kernel: &mut Kernel<'_>,
) -> Result<Option<ShapedNumbers>, EvalError> {
    let (Some(a), Some(b)) = (Factor::new(lhs)?, Factor::new(rhs)?) else { return Ok(None) };
    let mut run = |x: Vec<f64>, y: Vec<f64>| kernel(vec![tensor(a.shape, x)?, tensor(b.shape, y)?]);
    // Products with zero are exact.
    let counts = match terms.filter(|_| !a.has_zero && !b.has_zero) {
        Some(_) => None,
        None => Some(run(a.used(), b.used())?.to_vec::<f64>()?),
    };
    let most = match &counts {
        Some(counts) => counts.iter().copied().fold(0.0, f64::max),
        None => terms.unwrap_or(0.0),
    };
    if most > MAX_QUICK_TERMS {
        return Ok(None);
    }
    let share = roundoff(most);
    let sizes = run(a.sizes.clone(), b.sizes.clone())?;
    let shape = sizes.shape().to_vec();
    let sizes: Vec<f64> = sizes.as_slice::<f64>()?.iter().map(|&x| bounded(x, most)).collect();
    let middles = run(a.middles.clone(), b.middles.clone())?.to_vec::<f64>()?;
    let unit = a.unit * b.unit;
    let unit = if unit.is_nan() { 0.0 } else { unit };
    let largest = |values: &[f64]| values.iter().map(|x| x.abs()).fold(0.0, f64::max);
    let is_point = a.distances.is_none() && b.distances.is_none();
    let is_exact = is_point && largest(&a.middles) * largest(&b.middles) * most <= EXACT * unit;
    // Products below the range.
    let underflow = |x: &[f64], y: &[f64]| match least(x) * least(y) < 1e-250 {
        true => most * 1e-322,
        false => 0.0,
    };
    let below = underflow(&a.middles, &b.middles);
    let mut errors: Vec<f64> = match is_exact {
        true => vec![0.0; middles.len()],
        false => sizes.iter().map(|size| size * share + below).collect(),
    };
    let mut widen = |errors: &mut [f64], x: Vec<f64>, y: Vec<f64>| -> Result<(), EvalError> {
        for (own, &error) in errors.iter_mut().zip(run(x, y)?.as_slice::<f64>()?) {
            *own += bounded(error, most);
        }
        Ok(())
    };
    // (a + r)(b + s) - ab = r b + (a + r) s.
    if let Some(distances) = &a.distances {
        widen(&mut errors, distances.clone(), b.sizes.clone())?;
    }
    if let Some(distances) = &b.distances {
        widen(&mut errors, a.sizes.clone(), distances.clone())?;
    }
    let truths = match a.truths.is_none() && b.truths.is_none() {
        true => None,
        false => {
            let zeros = |factor: &Factor<'_>| vec![0.0; factor.middles.len()];
            let radii = |factor: &Factor<'_>| match &factor.truths {
                Some([_, radii]) => radii.clone(),
                None => zeros(factor),
            };
            let (a_radii, b_radii) = (radii(&a), radii(&b));
            let below = underflow(a.truths(), b.truths());
            let mut errors = vec![below; middles.len()];
            let rounded = a.truths().iter().zip(&a_radii).map(|(x, r)| r + share * x.abs());
            widen(&mut errors, rounded.collect(), absolute(b.truths()))?;
            if b_radii.iter().any(|&radius| radius != 0.0) {
                let sizes = a.truths().iter().zip(&a_radii).map(|(x, r)| up(x.abs() + r));
                widen(&mut errors, sizes.collect(), b_radii)?;
            }
            let truths = run(a.truths().to_vec(), b.truths().to_vec())?.to_vec::<f64>()?;
            Some((truths, errors))
        }
    };
    let known = |value: f64, error: f64| match value.is_finite() && error.is_finite() {
        true => Ball::exact(value).widened(up(error)),
        false => Ball::UNKNOWN,
    };
    let number = |i: usize| {
        let image = known(middles[i], errors[i]);
        let truth = match &truths {
            Some((truths, errors)) => known(truths[i], errors[i]),
            None => image,
        };
        let terms = counts.as_ref().map_or(most, |counts| counts[i]);
        Number { truth, bounds: sums.bounds(&Sum { image, size: sizes[i], terms, unit }) }
    };
    let numbers = (0..middles.len()).map(number).collect();
    Ok(Some((shape, numbers)))
}
