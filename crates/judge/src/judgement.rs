//! The judgement of a run.

use crate::array::Array;
use crate::doubts::Doubts;
use crate::machine::{CheckRequirement, CheckedValue, Limits, Unwatched, Watch};
use crate::model::Model;
use crate::record::{Blame, Comparison, FoundResult, Record, Widths};
use crate::runs::{
    BITS, Digits, FEW_BITS, MORE_BITS, MachineRun, is_decided, refined, run, unknown_bits,
};
use crate::verdict::{self, DoubtAt, Output, Verdict};
use analysis::Location;
use interpreter::Program;
use mlir::OpId;
use mlir::diag::{Diagnostic, Diagnostics};
use mlir::text::ValueNames;
use numerics::Tensor;
use program::{EvalError, Origin, RuntimeValue};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};

/// Options of a judgement.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// How the backend may round.
    pub model: Model,
    /// Limits of each run.
    pub limits: Limits,
    /// Bounds that are wider than this, in units in the last place of the largest element, say
    /// nothing about values within; by default, bounds further apart than the element is large.
    pub widest: Option<f64>,
    /// The most runs with random rounding where bounds are too wide: there are four if all results
    /// are near them.
    pub samples: usize,
    /// True if results that are outside are judged with one more licence each.
    pub licences: bool,
    /// The most bits of true values: runs are repeated with 256, 512 and 1,000 bits if that helps.
    /// With less than 106, values of types narrower than `f64` have about 48.
    pub bits: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            model: Model::built_in("ieee").unwrap_or_default(),
            limits: Limits::default(),
            widest: None,
            samples: 16,
            licences: true,
            bits: MORE_BITS[MORE_BITS.len() - 1],
        }
    }
}

impl Options {
    /// Sets [`Options::model`].
    #[must_use]
    pub fn model(self, model: Model) -> Options {
        Options { model, ..self }
    }

    /// Sets [`Options::limits`].
    #[must_use]
    pub fn limits(self, limits: Limits) -> Options {
        Options { limits, ..self }
    }

    /// Sets [`Options::widest`].
    #[must_use]
    pub fn widest(self, widest: impl Into<Option<f64>>) -> Options {
        Options { widest: widest.into(), ..self }
    }

    /// Sets [`Options::samples`].
    #[must_use]
    pub fn samples(self, samples: usize) -> Options {
        Options { samples, ..self }
    }

    /// Sets [`Options::licences`].
    #[must_use]
    pub fn licences(self, licences: bool) -> Options {
        Options { licences, ..self }
    }

    /// Sets [`Options::bits`].
    #[must_use]
    pub fn bits(self, bits: usize) -> Options {
        Options { bits, ..self }
    }
}

/// A change of the model that explains results which are outside of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Licence {
    /// Its name.
    pub name: String,
    /// The elements that are still outside with it.
    pub outside: usize,
}

/// An estimate of the elements whose bounds are too wide, from runs with random rounding.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Estimate {
    /// The output.
    pub output: usize,
    /// Number of runs.
    pub samples: usize,
    /// Number of elements that are estimated.
    pub elements: usize,
    /// Number of these that are further from all samples than the samples are spread.
    pub apart: usize,
    /// The largest spread of an element's samples, in units in the last place.
    pub spread_ulps: f64,
}

/// An op at which errors grow.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Growth {
    /// The op.
    pub location: Location,
    /// The op as text.
    pub text: String,
    /// The width of the bounds of its result, in proportion to the largest element.
    pub relative: f64,
    /// The growth of the width over the operands: about the condition number of the op.
    pub factor: f64,
}

/// The error of an op in a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpError {
    /// The op.
    pub op: OpId,
    /// The largest width of the bounds of its results, in proportion to the largest element; `None`
    /// for exact ones.
    pub width: Option<f64>,
    /// The largest distance of recorded results from the true ones for its actual operands, in
    /// units in the last place.
    pub ulps: Option<f64>,
    /// The verdict about recorded results, given its actual operands.
    pub verdict: Option<Verdict>,
}

/// The ops to blame, found with recorded values.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Blames {
    /// Number of recorded results that were compared.
    pub compared: usize,
    /// The ops whose results are outside of the bounds for their actual operands, in the order of
    /// the run.
    pub isolated: Vec<Blame>,
    /// The first op whose result leaves the bounds for the inputs of the program.
    pub accumulated: Option<Blame>,
}

/// The verdicts about the results of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Judgement {
    /// The name of the model.
    pub model: String,
    /// The judged outputs.
    pub outputs: Vec<Output>,
    /// How well true values are known.
    pub truth: Truth,
    /// The reasons for doubt, in the order in which they arose.
    pub doubts: Vec<DoubtAt>,
    /// The licences that explain elements outside, the most effective first.
    pub licences: Vec<Licence>,
    /// Estimates where bounds are too wide.
    pub estimates: Vec<Estimate>,
    /// Of ill-conditioned programs, the ops at which errors grow most, in descending order.
    pub growth: Vec<Growth>,
    /// The ops to blame; `None` without recorded values.
    pub blames: Option<Blames>,
    /// The errors of ops that have some.
    pub ops: Vec<OpError>,
}

impl Judgement {
    /// The worst verdict about an output, or a recorded result of an op.
    pub fn verdict(&self) -> Verdict {
        if self.blames.as_ref().is_some_and(|blames| !blames.isolated.is_empty()) {
            return Verdict::Outside;
        }
        self.outputs.iter().map(Output::verdict).max().unwrap_or(Verdict::Inside)
    }
}

/// True values and bounds of the results of a program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Enclosure {
    /// The results.
    pub results: Vec<Array>,
    /// The reasons for doubt.
    pub doubts: Vec<DoubtAt>,
    /// How well true values are known.
    pub truth: Truth,
}

/// How well true values are known.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Truth {
    /// The bits that they were computed with.
    pub bits: usize,
    /// The number of elements of which not all digits of their type are known.
    pub unknown: usize,
}

/// The doubts of a run, with their ops.
fn located(program: &Program, doubts: &Doubts) -> Vec<DoubtAt> {
    let mut names = ValueNames::of(program.module().top());
    let locate = |doubt: &crate::doubts::Doubt| {
        let op = program.module().op(OpId::from(doubt.origin));
        DoubtAt {
            kind: doubt.kind.name(),
            description: doubt.kind.description(),
            location: Location::of(op),
            text: analysis::line(op, &mut names),
            elements: doubt.elements,
            distance: doubt.distance,
            example: doubt.example.clone(),
        }
    };
    doubts.all().iter().map(locate).collect()
}

/// Computes true values and bounds of the results of a program, tuples taken apart. The program
/// must have been prepared for the engine `reference`.
///
/// # Errors
/// If inputs do not have the number and types that the program has, an op fails, or a limit is
/// exceeded.
pub fn enclose(
    program: &Program,
    inputs: Vec<RuntimeValue>,
    options: &Options,
) -> Result<Enclosure, Diagnostics> {
    let model = (&options.model, options.limits);
    let digits = options.least_digits();
    let first = run(program, inputs.clone(), model, digits, &mut Unwatched)?;
    let (MachineRun { results, doubts, .. }, truth) = refined(program, &inputs, options, first)?;
    Ok(Enclosure { results, doubts: located(program, &doubts), truth })
}

/// Judges results of a program, tuples taken apart, which a backend has computed from `inputs`.
/// With a record of the values of that run, the ops to blame are searched. The program must have
/// been prepared for the engine `reference`.
///
/// # Errors
/// If inputs or results do not have the number and types that the program has, an op fails, or a
/// limit is exceeded.
pub fn judge(
    program: &Program,
    inputs: Vec<RuntimeValue>,
    found: &[Tensor],
    record: Option<&mut dyn Record>,
    options: &Options,
) -> Result<Judgement, Diagnostics> {
    let model = (&options.model, options.limits);
    let (mut blames, mut record, mut errors) = (None, record, FxHashMap::default());
    let mut accumulated = None;
    // A run with few digits can show that results are inside. With recorded values, any op may be
    // compared.
    let quick = match record.is_none() {
        true => {
            let mut unwatched = Unwatched;
            let mut widths = Widths::new(&mut unwatched);
            widths.may_give_up = options.bits >= BITS;
            match run(program, inputs.clone(), model, Digits::Few, &mut widths) {
                Err(_) if widths.has_given_up => None,
                own => Some((own?, widths.relative)),
            }
        }
        false => None,
    };
    let told = match quick {
        Some((own, relative)) if own.is_quick && options.bits >= BITS => {
            let outputs = compared(program, &own.results, found, &own.doubts, options)?;
            let is_outside = outputs.iter().any(|output| output.verdict() == Verdict::Outside);
            let is_decided = is_decided(&own).map_err(|error| vec![program.diagnostic(&error)])?;
            let unknown = unknown_bits(&own).map_err(|error| vec![program.diagnostic(&error)])?;
            let truth = Truth { bits: FEW_BITS, unknown: unknown.1 };
            (is_decided && !is_outside).then_some((own, relative, outputs, truth))
        }
        Some((own, relative)) => {
            let (own, truth) = refined(program, &inputs, options, own)?;
            let outputs = compared(program, &own.results, found, &own.doubts, options)?;
            Some((own, relative, outputs, truth))
        }
        None => None,
    };
    let (own, relative, outputs, truth) = match told {
        Some(told) => told,
        None => {
            let mut watched =
                record.as_deref_mut().map(|r| Comparison::new(r, false, options.widest));
            let mut unwatched = Unwatched;
            let inner: &mut dyn Watch = match &mut watched {
                Some(watch) => watch,
                None => &mut unwatched,
            };
            let mut widths = Widths::new(inner);
            let digits = options.least_digits();
            let first = run(program, inputs.clone(), model, digits, &mut widths)?;
            let relative = widths.relative;
            accumulated = watched.map(|watch| watch.found.into_iter().next());
            let (own, truth) = refined(program, &inputs, options, first)?;
            let outputs = compared(program, &own.results, found, &own.doubts, options)?;
            (own, relative, outputs, truth)
        }
    };
    if let (Some(record), Some(accumulated)) = (record, accumulated) {
        let mut watch = Comparison::new(record, true, options.widest);
        run(program, inputs.clone(), model, Digits::All, &mut watch)?;
        errors = std::mem::take(&mut watch.errors);
        let mut names = ValueNames::of(program.module().top());
        let mut blame = |found: FoundResult| {
            let op = program.module().op(OpId::from(found.origin));
            Blame {
                location: Location::of(op),
                text: analysis::line(op, &mut names),
                iteration: found.iteration,
                result: found.result,
            }
        };
        blames = Some(Blames {
            compared: watch.compared,
            isolated: watch.found.into_iter().map(&mut blame).collect(),
            accumulated: accumulated.map(&mut blame),
        });
    }
    let doubts = own.doubts;
    let mut judgement = Judgement {
        model: options.model.name.clone(),
        outputs,
        truth,
        doubts: located(program, &doubts),
        licences: Vec::new(),
        estimates: Vec::new(),
        growth: Vec::new(),
        blames,
        ops: op_errors(&relative, errors),
    };
    let wide = |output: &Output| (0..output.verdicts.len()).any(|i| output.is_wide(i));
    if judgement.outputs.iter().any(|output| wide(output) || output.is_ill_conditioned()) {
        judgement.growth = growth(program, &relative);
    }
    let outside: usize = judgement.outputs.iter().map(|output| output.counts[2]).sum();
    if outside > 0 && options.licences {
        let mut explained = Vec::new();
        for (name, group, model) in options.model.licences() {
            // Less of the same explains it.
            if explained.contains(&group) {
                continue;
            }
            let model = (&model, options.limits);
            let with = run(program, inputs.clone(), model, Digits::None, &mut Unwatched)?;
            let outputs = compared(program, &with.results, found, &with.doubts, options)?;
            let left = outputs.iter().map(|output| output.counts[2]).sum();
            if left == 0 {
                explained.push(group);
            }
            if left < outside {
                judgement.licences.push(Licence { name, outside: left });
            }
        }
        judgement.licences.sort_by_key(|licence| licence.outside);
    }
    estimate(program, &inputs, found, options, &mut judgement)?;
    Ok(judgement)
}

/// Judges the values that a program itself expects: each op of the check dialect that compares a
/// result with an expected value; tolerances play no part. The program must have been prepared
/// for the engine `reference`.
///
/// # Errors
/// If inputs do not have the number and types that the program has, an op fails, or a limit is
/// exceeded.
pub fn judge_expectations(
    program: &Program,
    inputs: Vec<RuntimeValue>,
    options: &Options,
) -> Result<Judgement, Diagnostics> {
    let model = (&options.model, options.limits);
    let first = run(program, inputs.clone(), model, Digits::All, &mut Unwatched)?;
    let (MachineRun { doubts, checked, .. }, truth) = refined(program, &inputs, options, first)?;
    let mut names = ValueNames::of(program.module().top());
    let mut outputs = Vec::with_capacity(checked.len());
    for CheckedValue { origin, actual, check } in &checked {
        let CheckRequirement::Value(expected) = check else { continue };
        let index = outputs.len();
        let op = program.module().op(OpId::from(*origin));
        let found = (expected.dtype(), expected.shape());
        if found != (actual.dtype, &actual.shape[..]) {
            let message = "the expected value has another type than the result";
            return Err(vec![program.diagnostic(&EvalError::new("check", message).at(*origin))]);
        }
        let judged = verdict::judge(index, actual, expected, &doubts, options.widest);
        let judged = judged.map_err(|error| vec![program.diagnostic(&error)])?;
        let check = Some((Location::of(op), analysis::line(op, &mut names)));
        outputs.push(Output { check, ..judged });
    }
    Ok(Judgement {
        model: options.model.name.clone(),
        outputs,
        truth,
        doubts: located(program, &doubts),
        licences: Vec::new(),
        estimates: Vec::new(),
        growth: Vec::new(),
        blames: None,
        ops: Vec::new(),
    })
}

/// Bounds of the values that the ops `check.expect_within` of a program check, for its inputs.
pub struct DerivedBounds {
    model: String,
    /// By op: the values, in the order of the run.
    values: FxHashMap<OpId, VecDeque<Array>>,
    doubts: Doubts,
    located: Vec<DoubtAt>,
    widest: Option<f64>,
}

/// Derives the bounds of all values that ops `check.expect_within` check. The program must have
/// been prepared for the engine `reference`.
///
/// # Errors
/// If inputs do not have the number and types that the program has, an op fails, or a limit is
/// exceeded.
pub fn derive_bounds(
    program: &Program,
    inputs: Vec<RuntimeValue>,
    options: &Options,
) -> Result<DerivedBounds, Diagnostics> {
    let model = (&options.model, options.limits);
    let MachineRun { doubts, checked, .. } =
        run(program, inputs, model, Digits::All, &mut Unwatched)?;
    let mut values: FxHashMap<OpId, VecDeque<Array>> = FxHashMap::default();
    for CheckedValue { origin, actual, check } in checked {
        if matches!(check, CheckRequirement::Within) {
            values.entry(OpId::from(origin)).or_default().push_back(actual);
        }
    }
    let located = located(program, &doubts);
    let (model, widest) = (options.model.name.clone(), options.widest);
    Ok(DerivedBounds { model, values, doubts, located, widest })
}

impl DerivedBounds {
    /// Compares the next value of a `check.expect_within` with its bounds.
    ///
    /// # Errors
    /// If an element is outside, or it cannot be decided.
    pub fn check(&mut self, op: OpId, actual: &Tensor) -> Result<(), String> {
        let Some(array) = self.values.get_mut(&op).and_then(VecDeque::pop_front) else {
            return Err("rounding has changed the path of the program to this op".to_string());
        };
        if (array.dtype, &array.shape[..]) != (actual.dtype(), actual.shape()) {
            return Err("rounding has changed the shape of the value".to_string());
        }
        let output = verdict::judge(0, &array, actual, &self.doubts, self.widest);
        let output = output.map_err(|error| error.message().to_string())?;
        match output.verdict() {
            Verdict::Inside => Ok(()),
            Verdict::Undecided | Verdict::Outside => {
                Err(crate::report::failed_check(&output, &self.located, &self.model))
            }
        }
    }
}

/// The errors of ops, in their order.
fn op_errors(
    relative: &FxHashMap<Origin, f64>,
    recorded: FxHashMap<Origin, (f64, Verdict)>,
) -> Vec<OpError> {
    let mut ops: BTreeMap<usize, OpError> = BTreeMap::new();
    let new = |op: OpId| OpError { op, width: None, ulps: None, verdict: None };
    for (&origin, &width) in relative {
        let op = OpId::from(origin);
        ops.entry(op.index()).or_insert_with(|| new(op)).width = Some(width);
    }
    for (origin, (ulps, verdict)) in recorded {
        let op = OpId::from(origin);
        let own = ops.entry(op.index()).or_insert_with(|| new(op));
        (own.ulps, own.verdict) = (Some(ulps), Some(verdict));
    }
    ops.into_values().collect()
}

/// At most this many ops are listed at which errors grow.
const MAX_GROWTH: usize = 3;

/// The ops at which errors grow most.
fn growth(program: &Program, relative: &FxHashMap<Origin, f64>) -> Vec<Growth> {
    let module = program.module();
    let known = |op: OpId| relative.get(&Origin::from(op)).copied();
    // Of an update, whose width is not known, that of the new elements.
    let width = |op: OpId| {
        let is_update = module.op(op).name() == "stablehlo.dynamic_update_slice";
        let new = module.op(op).operands().get(1).copied().filter(|_| is_update);
        known(op).or_else(|| known(module.defining_op(new?)?.id()))
    };
    let mut found: Vec<(f64, f64, OpId)> = Vec::new();
    for (&origin, &own) in relative {
        let op = module.op(OpId::from(origin));
        let before =
            op.operands().iter().filter_map(|&value| width(module.defining_op(value)?.id()));
        let before = before.fold(0.0, f64::max);
        if before > 0.0 && own > 8.0 * before && own.is_finite() {
            found.push((own / before, own, op.id()));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.2.index().cmp(&b.2.index())));
    let mut names = ValueNames::of(module.top());
    let growth = found.into_iter().take(MAX_GROWTH).map(|(factor, relative, op)| {
        let op = module.op(op);
        let (location, text) = (Location::of(op), analysis::line(op, &mut names));
        Growth { location, text, relative, factor }
    });
    growth.collect()
}

/// Judges each output.
fn compared(
    program: &Program,
    results: &[Array],
    found: &[Tensor],
    doubts: &Doubts,
    options: &Options,
) -> Result<Vec<Output>, Diagnostics> {
    let error = |message: String| vec![Diagnostic::error("results", message)];
    if results.len() != found.len() {
        let (found, required) = (found.len(), results.len());
        return Err(error(format!("the program has {required} results; found {found}")));
    }
    let mut outputs = Vec::new();
    for (index, (array, found)) in results.iter().zip(found).enumerate() {
        if (array.dtype, &array.shape[..]) != (found.dtype(), found.shape()) {
            return Err(error(format!(
                "result {index} has type {} and shape {:?}; found {} and {:?}",
                array.dtype,
                array.shape,
                found.dtype(),
                found.shape()
            )));
        }
        let output = verdict::judge(index, array, found, doubts, options.widest);
        outputs.push(output.map_err(|e| vec![program.diagnostic(&e)])?);
    }
    Ok(outputs)
}

/// The least number of runs with random rounding, if no more are needed to see that no element is
/// apart from them.
const LEAST_SAMPLES: u64 = 4;

/// The values of an output in runs with random rounding.
struct Samples<'a> {
    output: &'a Output,
    runs: &'a [Vec<f64>],
}

/// The range of the values of a number.
struct Spread {
    low: f64,
    high: f64,
    /// The unit in the last place.
    unit: f64,
}

impl Samples<'_> {
    /// The spread of a number whose bounds are too wide; `None` for others, and if values are not
    /// finite.
    fn of(&self, i: usize) -> Option<Spread> {
        let dtype = self.output.dtype;
        let format = dtype.part().float_format()?;
        let width = if dtype.is_complex() { 2 } else { 1 };
        let own = self.runs.iter().map(|run| run[i]);
        if !self.output.is_wide(i / width) || !own.clone().all(f64::is_finite) {
            return None;
        }
        let low = own.clone().fold(f64::INFINITY, f64::min);
        let high = own.fold(f64::NEG_INFINITY, f64::max);
        let unit = numerics::ulp::unit_in_the_last_place(low.abs().max(high.abs()), format);
        Some(Spread { low, high, unit })
    }
}

impl Spread {
    fn size(&self) -> f64 {
        self.high - self.low
    }

    /// True if a value is in the range, widened. More samples make it wider.
    fn is_near(&self, value: f64) -> bool {
        let room = 3.0 * self.size() + self.unit;
        (self.low - room..=self.high + room).contains(&value)
    }
}

/// Estimates elements whose bounds are too wide from runs with random rounding.
fn estimate(
    program: &Program,
    inputs: &[RuntimeValue],
    found: &[Tensor],
    options: &Options,
    judgement: &mut Judgement,
) -> Result<(), Diagnostics> {
    // Ops without a rule have no bounds to choose from.
    if judgement.doubts.iter().any(|doubt| doubt.kind == "no_rule") {
        return Ok(());
    }
    let is_wide = |output: &Output, i: usize| output.is_wide(i);
    let wanted: Vec<usize> = (0..judgement.outputs.len())
        .filter(|&index| {
            let output = &judgement.outputs[index];
            (0..output.verdicts.len()).any(|i| is_wide(output, i))
        })
        .collect();
    if wanted.is_empty() || options.samples < 2 {
        return Ok(());
    }
    let model = (&options.model, options.limits);
    let failed = |error: EvalError| vec![program.diagnostic(&error)];
    let mut samples: Vec<Vec<Vec<f64>>> = vec![Vec::new(); judgement.outputs.len()];
    let mut parts_found = Vec::with_capacity(wanted.len());
    for &index in &wanted {
        let parts = crate::array::parts(&found[index]).and_then(|t| crate::array::to_f64s(&t));
        parts_found.push(parts.map_err(|e| failed(EvalError::from(e)))?);
    }
    for seed in 0..options.samples as u64 {
        // A value that is near some samples is near more of them.
        let are_near = |(&index, values): (&usize, &Vec<f64>)| {
            let output = &judgement.outputs[index];
            let samples = Samples { output, runs: &samples[index] };
            values
                .iter()
                .enumerate()
                .all(|(i, &value)| samples.of(i).is_none_or(|spread| spread.is_near(value)))
        };
        if seed >= LEAST_SAMPLES && wanted.iter().zip(&parts_found).all(are_near) {
            break;
        }
        let digits = Digits::Random(seed + 1);
        let run = run(program, inputs.to_vec(), model, digits, &mut Unwatched)?;
        for &index in &wanted {
            let tensor = run.results[index].approximate().map_err(EvalError::from);
            let values = tensor
                .and_then(|tensor| Ok(crate::array::to_f64s(&crate::array::parts(&tensor)?)?));
            samples[index].push(values.map_err(failed)?);
        }
    }
    for (index, values) in wanted.into_iter().zip(parts_found) {
        let samples = Samples { output: &judgement.outputs[index], runs: &samples[index] };
        let (mut elements, mut apart, mut spread_ulps) = (0, 0, 0.0f64);
        for (i, &value) in values.iter().enumerate() {
            let Some(spread) = samples.of(i).filter(|spread| spread.size() > 0.0) else { continue };
            elements += 1;
            spread_ulps = spread_ulps.max(spread.size() / spread.unit);
            apart += usize::from(!spread.is_near(value));
        }
        if elements == 0 {
            continue;
        }
        let samples = samples.runs.len();
        judgement.estimates.push(Estimate { output: index, samples, elements, apart, spread_ulps });
    }
    Ok(())
}
