//! Runs of a judged program: with the digits of true values that are needed, or random rounding.

use crate::array::{Array, Elements, Number, Value};
use crate::ball::Ball;
use crate::doubts::Doubts;
use crate::judgement::{Options, Truth};
use crate::machine::{CheckedValue, Limits, Machine, Source, Watch};
use crate::model::Model;
use crate::precise;
use crate::rules::RoundingNumbers;
use crate::source::ModuleSource;
use host::Host;
use interpreter::Program;
use mlir::diag::Diagnostics;
use program::{EvalError, Origin, RuntimeValue};

/// The values of a run, with its doubts.
pub(crate) struct MachineRun {
    pub(crate) results: Vec<Array>,
    pub(crate) doubts: Doubts,
    pub(crate) checked: Vec<CheckedValue>,
    /// The number of elements that ops have computed.
    pub(crate) elements: u64,
    /// About the least work of the same run with more digits.
    pub(crate) work: u64,
    /// True if values are known to few digits that could be known to more.
    pub(crate) is_quick: bool,
}

/// The digits of true values that a run computes.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Digits {
    /// All that a ball has, or more.
    All,
    /// About 50 bits of values of types narrower than `f64`.
    Few,
    /// None: bounds only.
    None,
    /// None: a value that random rounding leads to, with numbers of this seed.
    Random(u64),
}

impl Options {
    /// The digits of a run whose results are final unless it is repeated with more.
    pub(crate) fn least_digits(&self) -> Digits {
        if self.bits < BITS { Digits::Few } else { Digits::All }
    }
}

/// Runs a program on arrays.
pub(crate) fn run(
    program: &Program,
    inputs: Vec<RuntimeValue>,
    (model, limits): (&Model, Limits),
    digits: Digits,
    watch: &mut dyn Watch,
) -> Result<MachineRun, Diagnostics> {
    program.check_inputs(&inputs)?;
    let _entered = on_all_threads(program).enter();
    let source = ModuleSource(program.module());
    let code = program.code();
    let mut machine = Machine::new(code, model, limits, watch, &source as &dyn Source);
    machine.has_truth = digits != Digits::None;
    machine.is_quick = digits != Digits::All;
    if let Digits::Random(seed) = digits {
        machine.random = Some(RoundingNumbers::new(seed));
    }
    let inputs = inputs.into_iter().map(Value::from).collect();
    let failed = |error: EvalError| vec![program.diagnostic(&error)];
    let results = machine.call_function(program.entry(), inputs).map_err(failed)?;
    let mut arrays = Vec::new();
    for value in results {
        leaves(value, &mut arrays);
    }
    let Machine { doubts, checked, elements, work, was_quick, .. } = machine;
    Ok(MachineRun { results: arrays, doubts, checked, elements, work, is_quick: was_quick.get() })
}

/// The host of a program, with all processors.
fn on_all_threads(program: &Program) -> Host {
    let host = program.host();
    let count = host.workers().max(host::available_threads());
    host.with_workers(count)
}

/// Appends the tensors of a value.
fn leaves(value: Value, arrays: &mut Vec<Array>) {
    match value {
        Value::Array(array) => arrays.push(array),
        Value::Token => {}
        Value::Tuple(values) => values.into_iter().for_each(|value| leaves(value, arrays)),
    }
}

/// The bits of a ball.
pub(crate) const BITS: usize = 106;

/// The bits of true values of narrow types after a quick run.
pub(crate) const FEW_BITS: usize = 48;

/// The bits with which a run is repeated of which true values are not known well enough.
pub(crate) const MORE_BITS: [usize; 3] = [256, 512, 1000];

/// Radii up to this come from exact operations on the smallest numbers, whatever the digits.
const LEAST_RADIUS: f64 = 1e-321;

/// More bits than can be missing.
const MAX_MISSING: f64 = 2000.0;

/// A run with more inexact numbers is not repeated with still more digits if it did not help.
const MAX_KEPT: usize = 100_000;

/// The bits by which true values that have been computed are less well known than 24 bits beyond
/// the last digit of their type, in all, and the number of elements whose last digit is unknown.
pub(crate) fn unknown_bits(run: &MachineRun) -> Result<(f64, usize), EvalError> {
    let (mut bits, mut unknown) = (0.0, 0);
    for array in run.results.iter().chain(run.checked.iter().map(|checked| &checked.actual)) {
        let Some(format) = array.dtype.part().float_format() else { continue };
        let codes = array.doubt_codes()?;
        for (at, number) in array.numbers()?.iter().enumerate() {
            let Ball { hi, radius, .. } = number.truth;
            if number.truth.is_unknown() {
                // Of an element in doubt, no digits would help.
                let is_open = codes.as_ref().is_none_or(|codes| codes[at / array.width()] == 0);
                bits += if is_open { MAX_MISSING } else { 0.0 };
                unknown += usize::from(is_open);
            } else if number.truth.is_finite() && radius > LEAST_RADIUS {
                let unit = numerics::ulp::unit_in_the_last_place(hi, format);
                bits += (radius / unit).log2().clamp(-24.0, MAX_MISSING) + 24.0;
                unknown += usize::from(radius > unit);
            }
        }
    }
    Ok((bits, unknown))
}

/// True if true values are known to a 256th of their unit in the last place, decisions included, so
/// that verdicts and distances are what they are with more digits. Elements that may be infinite are
/// undecided, whatever their true value is.
pub(crate) fn is_decided(run: &MachineRun) -> Result<bool, EvalError> {
    for array in &run.results {
        let codes = array.doubt_codes()?;
        let numbers = match array.dtype.part().float_format() {
            Some(format) => Some((format, array.reader()?)),
            None => None,
        };
        let (width, numbers) = (array.width(), numbers.as_ref());
        let is_settled = |i: usize| {
            // An odd code is that of a doubt about a true value.
            let is_open = codes.as_ref().is_some_and(|codes| codes[i / width] & 1 == 1);
            let Some((format, numbers)) = numbers else { return !is_open };
            let Number { truth, bounds } = numbers.at(i);
            if bounds.low == f64::NEG_INFINITY && bounds.high == f64::INFINITY {
                return true;
            }
            let unit = || numerics::ulp::unit_in_the_last_place(truth.hi, format);
            let is_known =
                truth.radius == 0.0 || (truth.is_finite() && truth.radius <= unit() / 256.0);
            is_known && !is_open
        };
        if !(0..array.len() * width).all(is_settled) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Ends a run with more digits when there is no time for more of them.
struct WhileDigitsLast;

impl Watch for WhileDigitsLast {
    fn value(&mut self, _: Origin, _: usize, array: Array) -> Result<Array, EvalError> {
        match precise::is_exhausted() {
            true => Err(EvalError::new("digits", "more digits take too long")),
            false => Ok(array),
        }
    }
}

/// Repeats a run with more digits as long as true values are not known well enough, become better
/// known, and a budget of work lasts.
pub(crate) fn refined(
    program: &Program,
    inputs: &[RuntimeValue],
    options: &Options,
    first: MachineRun,
) -> Result<(MachineRun, Truth), Diagnostics> {
    let model = (&options.model, options.limits);
    let failed = |error: EvalError| vec![program.diagnostic(&error)];
    let least = if options.bits < BITS { FEW_BITS } else { BITS };
    let (mut own, mut truth) = (first, Truth { bits: least, unknown: 0 });
    let (mut missing, unknown) = unknown_bits(&own).map_err(failed)?;
    truth.unknown = unknown;
    // In proportion to what the interpreter does.
    let mut budget = (own.elements / 8).clamp(precise::BUDGET / 4, precise::BUDGET);
    for bits in MORE_BITS.into_iter().filter(|&bits| bits <= options.bits) {
        if missing == 0.0 || own.work > budget {
            break;
        }
        let again = || run(program, inputs.to_vec(), model, Digits::All, &mut WhileDigitsLast);
        let (again, spent) = precise::with_bits(bits, budget, again);
        budget -= spent.work;
        if budget == 0 {
            break;
        }
        let again = again?;
        let (left, unknown) = unknown_bits(&again).map_err(failed)?;
        if left < missing {
            (own, missing, truth) = (without_handles(again), left, Truth { bits, unknown });
        } else {
            truth.bits = bits;
            if spent.numbers > MAX_KEPT {
                break;
            }
        }
        if spent.numbers == 0 {
            break;
        }
    }
    Ok((own, truth))
}

/// The values of a run whose numbers have the digits of balls.
fn without_handles(mut run: MachineRun) -> MachineRun {
    let checked = run.checked.iter_mut().map(|checked| &mut checked.actual);
    for array in run.results.iter_mut().chain(checked) {
        if let Elements::Numbers(numbers) = &mut array.elements {
            numbers.make_mut().iter_mut().for_each(|number| number.truth.handle = 0);
        }
    }
    run
}
