//! Verdicts about recorded results.

use crate::array::{Array, Number};
use crate::bounds::{Bounds, largest, nearest};
use crate::doubts::Doubts;
use analysis::Location;
use numerics::ulp::unit_in_the_last_place as ulp;
use numerics::{DType, Tensor};
use program::EvalError;

/// The verdict about an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// A conforming backend may compute the value.
    Inside,
    /// It depends on a decision that rounding can flip, on an op without a rule, or its bounds are
    /// too wide to say anything.
    Undecided,
    /// No conforming backend computes the value.
    Outside,
}

impl Verdict {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Inside => "inside",
            Verdict::Undecided => "undecided",
            Verdict::Outside => "outside",
        }
    }
}

/// A judged element.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Element {
    /// Its index.
    pub index: Vec<usize>,
    /// The verdict.
    pub verdict: Verdict,
    /// The value that was found; of a complex number, the part that is further off.
    pub found: f64,
    /// The true value in decimal.
    pub truth: String,
    /// The bounds of conforming values, and true if NaN is one.
    pub bounds: (f64, f64, bool),
    /// Of an integer that decisions in doubt lead to several values of: the others.
    pub others: Vec<f64>,
    /// The distance from the true value in units of its last place.
    pub ulps: f64,
    /// The index of the doubt that it depends on.
    pub doubt: Option<usize>,
}

/// A judged output, the result of an op, or a value that the program expects.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Output {
    /// Its index.
    pub index: usize,
    /// Its name in the program, if it has one.
    pub name: Option<String>,
    /// The op of the check dialect that expects the judged value of a result, as text.
    pub check: Option<(Location, String)>,
    /// Its element type.
    pub dtype: DType,
    /// Its shape.
    pub shape: Vec<usize>,
    /// The numbers of elements by verdict: inside, undecided, outside.
    pub counts: [usize; 3],
    /// The verdict about each element.
    pub verdicts: Vec<Verdict>,
    /// The distance of each element from the true value, in units of its last place.
    pub ulps: Vec<f64>,
    /// The width of the bounds of each element in such units.
    pub widths: Vec<f64>,
    /// The largest error of a conforming value in units in the last place of the largest element:
    /// the factor by which the program amplifies an error of rounding.
    pub amplification: f64,
    /// The worst element: the one that is furthest off among elements with the worst verdict.
    pub worst: Option<Element>,
}

impl Output {
    /// The worst verdict about an element.
    pub fn verdict(&self) -> Verdict {
        match self.counts {
            [_, _, outside] if outside > 0 => Verdict::Outside,
            [_, undecided, _] if undecided > 0 => Verdict::Undecided,
            _ => Verdict::Inside,
        }
    }

    /// True if an element is undecided and a float.
    pub(crate) fn is_wide(&self, element: usize) -> bool {
        self.verdicts[element] == Verdict::Undecided && self.dtype.float_format().is_some()
    }

    /// True if rounding may change half of the digits of the largest element, or more.
    pub fn is_ill_conditioned(&self) -> bool {
        let precision = self.dtype.part().float_format().map(|format| format.precision());
        precision.is_some_and(|precision| self.amplification > 2f64.powf(precision as f64 / 2.0))
    }

    /// The largest distance from a true value, in units of its last place.
    pub fn max_ulps(&self) -> f64 {
        self.ulps.iter().copied().fold(0.0, f64::max)
    }
}

/// A reason for doubt, with its op.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DoubtAt {
    /// The name of the reason: `decision`, `order`, `control` or `no_rule`.
    pub kind: &'static str,
    /// A sentence about it.
    pub description: &'static str,
    /// The op.
    pub location: Location,
    /// The op as text.
    pub text: String,
    /// The number of elements.
    pub elements: usize,
    /// The least distance from the flip, in units in the last place, where there is one.
    pub distance: Option<f64>,
    /// An example, such as the operands of a comparison.
    pub example: String,
}

/// The distance of a value from the true one in units of the last place of that.
fn distance(found: f64, number: &Number, dtype: DType) -> f64 {
    let Some(format) = dtype.float_format() else {
        return if number.bounds.contains(found) { 0.0 } else { f64::INFINITY };
    };
    let truth = number.truth;
    if truth.is_unknown() {
        return f64::NAN;
    }
    if found.is_nan() || truth.is_nan() {
        return if found.is_nan() == truth.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if found == truth.hi && truth.lo == 0.0 {
        return 0.0;
    }
    let apart = (found - truth.hi) - truth.lo;
    (apart / ulp(truth.hi, format)).abs()
}

/// The width of bounds in units of the last place of the true value.
fn width(number: &Number, dtype: DType) -> f64 {
    let Some(format) = dtype.float_format() else { return 0.0 };
    let Bounds { low, high, .. } = number.bounds;
    if number.bounds.value().is_some() {
        return 0.0;
    }
    let at = if number.truth.is_finite() { number.truth.hi } else { low };
    (high - low) / ulp(at, format)
}

/// The distance of bounds of a type, in which infinity is next to the largest number. That a value
/// may be NaN does not count.
fn spread(bounds: Bounds, dtype: DType) -> f64 {
    let Bounds { low, high, .. } = bounds;
    if low == high || bounds.is_empty() {
        return 0.0;
    }
    let limit = dtype.float_format().map_or(f64::MAX, largest);
    let [low, high] = [low, high].map(|bound| bound.clamp(-limit, limit));
    high - low
}

/// The largest error of a conforming value, as far as it is finite.
fn deviation(number: &Number, dtype: DType) -> f64 {
    let spread = spread(number.bounds, dtype);
    let truth = number.truth;
    if number.bounds.is_empty() || !truth.is_finite() {
        return spread;
    }
    let errors = [number.bounds.low, number.bounds.high].map(|bound| (bound - truth.hi).abs());
    let finite = errors.into_iter().filter(|error| error.is_finite());
    finite.fold(0.0, f64::max)
}

/// A number as a result of a type, to which numbers that stayed unrounded are rounded.
fn stored(number: Number, dtype: DType) -> Number {
    let Bounds { low, high, nan } = number.bounds;
    if !dtype.is_float() || low > high {
        return number;
    }
    let [low, high] = [low, high].map(|bound| nearest(bound.into(), dtype));
    let nan = nan || low.is_nan() || high.is_nan();
    Number { bounds: Bounds { nan, ..Bounds::new(low, high) }, ..number }
}

/// Judges the elements of a result. Bounds of more than `widest` units in the last place of the
/// largest element, by default bounds that are further apart than that is large, say nothing about
/// values within.
///
/// # Errors
/// If there is no memory.
pub(crate) fn judge(
    index: usize,
    array: &Array,
    found: &Tensor,
    doubts: &Doubts,
    widest: Option<f64>,
) -> Result<Output, EvalError> {
    let numbers = array.numbers()?;
    let codes = array.doubt_codes()?;
    let is_float = array.dtype.is_float() || array.dtype.is_complex();
    let values = crate::array::to_f64s(&crate::array::parts(found)?)?;
    let exact_equal = |i: usize| -> bool {
        let size = array.dtype.bytes();
        let at = i * size..(i + 1) * size;
        let equals = |own: &Tensor| own.bytes()[at.clone()] == found.bytes()[at.clone()];
        array.tensor().is_some_and(equals) || array.others.iter().any(equals)
    };
    // Integers in doubt whose values are known are decided; of booleans, that says nothing.
    let is_settled = !is_float && !array.others.is_empty() && array.dtype != DType::I1;
    let width_of = array.width();
    let part = array.dtype.part();
    let n = array.len();
    let finite = numbers.iter().filter(|number| number.truth.is_finite());
    let largest = finite.map(|number| number.truth.hi.abs()).fold(0.0, f64::max);
    let unit = part.float_format().map_or(0.0, |format| ulp(largest, format));
    // Bounds between the smallest normal numbers of both signs are bounds of zeros.
    let widest = match (widest, part.float_format()) {
        (Some(ulps), _) => ulps * unit,
        (None, Some(format)) => {
            let least = 2f64.powi(format.min_exponent() + 2);
            2f64.powi(format.precision() as i32) * ulp(largest.max(least), format)
        }
        (None, None) => 0.0,
    };
    let mut output = Output {
        index,
        name: None,
        check: None,
        dtype: array.dtype,
        shape: array.shape.clone(),
        counts: [0; 3],
        verdicts: Vec::with_capacity(n),
        ulps: Vec::with_capacity(n),
        widths: Vec::with_capacity(n),
        amplification: 0.0,
        worst: None,
    };
    let mut worst: Option<(Verdict, f64, usize, usize)> = None;
    for i in 0..n {
        let code = codes.as_ref().map_or(0, |codes| if is_settled { 0 } else { codes[i] });
        let mut own = (Verdict::Inside, 0.0f64, i * width_of);
        let mut widest_part = 0.0f64;
        for at in i * width_of..(i + 1) * width_of {
            let number = &stored(numbers[at], part);
            let value = values[at];
            let wide = width(number, part);
            let inside = if is_float { number.bounds.contains(value) } else { exact_equal(i) };
            let verdict = match (code, inside) {
                // Integers beyond the digits of f64 are compared as they are.
                (0, true) if is_float && spread(number.bounds, part) > widest => Verdict::Undecided,
                (0, true) => Verdict::Inside,
                (0, false) => Verdict::Outside,
                _ => Verdict::Undecided,
            };
            if is_float && unit > 0.0 {
                let own = deviation(number, part) / unit;
                output.amplification = output.amplification.max(own);
            }
            let distance = match is_float {
                true => distance(value, number, part),
                false if exact_equal(i) => 0.0,
                false => f64::INFINITY,
            };
            widest_part = widest_part.max(wide);
            if (verdict, distance) > (own.0, own.1) {
                own = (verdict, distance, at);
            }
        }
        let (verdict, distance, at) = own;
        output.counts[verdict as usize] += 1;
        output.verdicts.push(verdict);
        output.ulps.push(distance);
        output.widths.push(widest_part);
        let is_worse = worst.is_none_or(|(v, d, ..)| (verdict, distance) > (v, d));
        if is_worse {
            worst = Some((verdict, distance, i, at));
        }
    }
    let describe =
        |(verdict, ulps, i, at): (Verdict, f64, usize, usize)| -> Result<Element, EvalError> {
            let number = &stored(numbers[at], part);
            let code = codes.as_ref().map_or(0, |codes| codes[i]);
            let doubt = doubts.index_of(code);
            Ok(Element {
                index: position(i, &array.shape),
                verdict,
                found: values[at],
                truth: crate::digits::decimal(number.truth),
                bounds: (number.bounds.low, number.bounds.high, number.bounds.nan),
                others: others(array, i)?,
                ulps,
                doubt,
            })
        };
    output.worst = worst.map(describe).transpose()?;
    Ok(output)
}

/// The other values of an exact element that decisions in doubt lead to.
fn others(array: &Array, element: usize) -> Result<Vec<f64>, EvalError> {
    let own = |tensor: &Tensor| Ok(crate::array::to_f64s(tensor)?[element]);
    let mut values = array.others.iter().map(own).collect::<Result<Vec<f64>, EvalError>>()?;
    if let Some(first) = array.tensor().filter(|_| !values.is_empty()) {
        let first = own(first)?;
        values.retain(|&value| value != first);
    }
    values.dedup();
    Ok(values)
}

/// The index of an element in row-major order.
fn position(mut number: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (place, &size) in index.iter_mut().zip(shape).rev() {
        *place = number % size.max(1);
        number /= size.max(1);
    }
    index
}
