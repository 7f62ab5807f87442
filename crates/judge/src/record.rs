//! Recorded values of a run on a backend, and the ops to blame for them.

use crate::array::{Array, Elements, Number};
use crate::doubts::Doubts;
use crate::machine::Watch;
use crate::verdict::{self, Output, Verdict};
use analysis::Location;
use mlir::OpId;
use numerics::{DType, Tensor};
use program::{EvalError, Origin};
use rustc_hash::FxHashMap;

/// The values that a backend has computed in a run.
pub trait Record {
    /// Result `index` of an op in its run number `iteration`, counted from 0; `None` if it was not
    /// recorded.
    ///
    /// # Errors
    /// If it cannot be read.
    fn value(&mut self, op: OpId, index: usize, iteration: usize)
    -> Result<Option<Tensor>, String>;
}

/// An op whose recorded result is outside of its bounds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Blame {
    /// The op.
    pub location: Location,
    /// The op as text.
    pub text: String,
    /// How often it had run before.
    pub iteration: usize,
    /// The judged result.
    pub result: Output,
}

/// A result that is outside, before its op is looked up.
pub(crate) struct FoundResult {
    pub origin: Origin,
    pub iteration: usize,
    pub result: Output,
}

/// Compares values with recorded ones.
pub(crate) struct Comparison<'r> {
    record: &'r mut dyn Record,
    /// True if the run goes on with recorded values, so that each op is judged on its actual
    /// operands.
    isolates: bool,
    iterations: FxHashMap<(Origin, usize), usize>,
    widest: Option<f64>,
    /// The results that are outside, in the order of the run; in a run that does not go on with
    /// recorded values, only the first.
    pub found: Vec<FoundResult>,
    /// By op: the largest error of its results, in units in the last place, and the worst verdict.
    pub errors: FxHashMap<Origin, (f64, Verdict)>,
    /// Number of results that were compared.
    pub compared: usize,
}

/// At most this many results are kept.
const MAX_FOUND: usize = 64;

impl<'r> Comparison<'r> {
    pub(crate) fn new(
        record: &'r mut dyn Record,
        isolates: bool,
        widest: Option<f64>,
    ) -> Comparison<'r> {
        let iterations = FxHashMap::default();
        let (found, errors) = (Vec::new(), FxHashMap::default());
        Comparison { record, isolates, iterations, widest, found, errors, compared: 0 }
    }
}

impl Watch for Comparison<'_> {
    fn value(&mut self, origin: Origin, index: usize, array: Array) -> Result<Array, EvalError> {
        let count = self.iterations.entry((origin, index)).or_default();
        let iteration = *count;
        *count += 1;
        let recorded = self.record.value(OpId::from(origin), index, iteration);
        let recorded = recorded.map_err(|error| EvalError::new("trace", error))?;
        let Some(recorded) = recorded else { return Ok(array) };
        if (recorded.dtype(), recorded.shape()) != (array.dtype, &array.shape[..]) {
            let message = format!(
                "a recorded value has type {} and shape {:?}; the op gives {} and {:?}",
                recorded.dtype(),
                recorded.shape(),
                array.dtype,
                array.shape
            );
            return Err(EvalError::new("trace", message));
        }
        self.compared += 1;
        let is_open = self.isolates || self.found.is_empty();
        if is_open && self.found.len() < MAX_FOUND {
            let none = Doubts::default();
            let result = verdict::judge(index, &array, &recorded, &none, self.widest)?;
            let own = self.errors.entry(origin).or_insert((0.0, Verdict::Inside));
            *own = (own.0.max(result.max_ulps()), own.1.max(result.verdict()));
            if result.verdict() == Verdict::Outside {
                self.found.push(FoundResult { origin, iteration, result });
            }
        }
        Ok(if self.isolates { Array::exact(recorded) } else { array })
    }
}

/// Takes note of how wide the bounds of values are, and passes them on.
pub(crate) struct Widths<'w> {
    pub inner: &'w mut dyn Watch,
    /// True if the run ends once few digits are not going to be enough.
    pub may_give_up: bool,
    /// True if it has.
    pub has_given_up: bool,
    /// By op: the largest width of bounds in proportion to the largest element of the result.
    pub relative: FxHashMap<Origin, f64>,
}

impl<'w> Widths<'w> {
    pub(crate) fn new(inner: &'w mut dyn Watch) -> Widths<'w> {
        let relative = FxHashMap::default();
        Widths { inner, may_give_up: false, has_given_up: false, relative }
    }
}

/// Minimum number of elements of a sample.
const MIN_SAMPLE: usize = 64;

/// True if true values of a result have lost so many digits that those of the program are unlikely
/// to be known to a 256th of a unit in the last place: nine of ten are not known to a 16th.
fn has_lost_digits(array: &Array, numbers: &[Number]) -> bool {
    let format = array.dtype.part().float_format().filter(|_| array.dtype.part() != DType::F64);
    let (Some(format), true) = (format, numbers.len() >= MIN_SAMPLE) else { return false };
    let share = 0.5f64.powi(format.precision() as i32 + 4);
    let is_lost = |n: &&Number| {
        let is_open = n.bounds.low > f64::NEG_INFINITY || n.bounds.high < f64::INFINITY;
        is_open && n.truth.radius > share * n.truth.hi.abs()
    };
    numbers.iter().filter(is_lost).count() >= numbers.len() / 10 * 9
}

impl Watch for Widths<'_> {
    fn value(&mut self, origin: Origin, index: usize, array: Array) -> Result<Array, EvalError> {
        if let Elements::Numbers(numbers) = &array.elements {
            let (mut width, mut size) = (0.0f64, 0.0f64);
            for number in numbers.iter().filter(|number| number.truth.is_finite()) {
                size = size.max(number.truth.hi.abs());
                width = width.max(number.bounds.width());
            }
            if size > 0.0 && width > 0.0 {
                let own = self.relative.entry(origin).or_default();
                *own = own.max(width / size);
            }
            if self.may_give_up && has_lost_digits(&array, numbers) {
                self.has_given_up = true;
                return Err(EvalError::new("digits", "few digits are not enough"));
            }
        }
        self.inner.value(origin, index, array)
    }

    fn updated(&mut self, origin: Origin, index: usize, array: Array) -> Result<Array, EvalError> {
        self.inner.updated(origin, index, array)
    }
}
