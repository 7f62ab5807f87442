//! Analyses: what a program costs, how two differ, and where their values part.

pub use analysis::bisect::Parting;
pub use analysis::cost::{Cost, Doubt, Grouping, OpCost, Row, Tensors, Work};
pub use analysis::diff::{Change, Detail, Diff, Side};
pub use analysis::reduce::Reduced;
pub use analysis::view::{LastValues, View};
pub use analysis::{
    Comparison, IsolatedOp, Location, Measurement, Measurements, Profile, Roofline, StepProfile,
    Tolerance, compare, generated, isolate, model_to_json, random,
};

use crate::{
    DType, Diagnostics, Engine, Error, Module, Program, Result, RunOptions, RuntimeValue, Type,
};
use analysis::bisect::ValueRecorder;
use mlir::OpId;

/// The cost of running the function `entry` of a verified module once, op by op: arithmetic, bytes
/// moved and memory, by formulas of the types. Nothing runs. `main` may also mean the only
/// function.
///
/// # Errors
/// If there is no such function.
///
/// ```
/// let module = stablo::load(
///     "dot.mlir",
///     "func.func @main(%x: tensor<2x3xf32>, %y: tensor<3x5xf32>) -> tensor<2x5xf32> {
///        %0 = stablehlo.dot %x, %y : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
///        return %0 : tensor<2x5xf32>
///      }",
/// )?;
/// let cost = stablo::cost(&module, "main")?;
/// assert_eq!(cost.total.flops, 2 * 2 * 3 * 5);
/// assert_eq!(cost.total.bytes, 4 * (2 * 3 + 3 * 5 + 2 * 5));
/// # Ok::<(), stablo::Error>(())
/// ```
pub fn cost(module: &Module, entry: &str) -> Result<Cost> {
    let options = RunOptions { engine: Engine::Reference, ..RunOptions::default() };
    let program = Program::prepare(module.clone(), entry, options)?;
    Ok(analysis::cost::cost(program.prepared()))
}

/// Options of a view.
#[derive(Clone, Copy, Default)]
#[non_exhaustive]
pub struct ViewOptions<'a> {
    /// The function of whose run costs are shown; by default `main`, if there is such a function
    /// that can run.
    pub entry: Option<&'a str>,
    /// The values of a run, of which statistics are shown.
    pub values: Option<&'a LastValues>,
    /// A profile of the program, from which times of ops are shown.
    pub profile: Option<&'a Profile>,
}

impl<'a> ViewOptions<'a> {
    /// Sets [`ViewOptions::entry`].
    #[must_use]
    pub fn entry(mut self, name: impl Into<Option<&'a str>>) -> ViewOptions<'a> {
        self.entry = name.into();
        self
    }

    /// Sets [`ViewOptions::values`].
    #[must_use]
    pub fn values(mut self, values: impl Into<Option<&'a LastValues>>) -> ViewOptions<'a> {
        self.values = values.into();
        self
    }

    /// Sets [`ViewOptions::profile`].
    #[must_use]
    pub fn profile(mut self, profile: impl Into<Option<&'a Profile>>) -> ViewOptions<'a> {
        self.profile = profile.into();
        self
    }
}

/// A verified program to look at: a page that shows it as a graph, or the model of that as JSON.
/// `name` is that of the program.
///
/// ```
/// let module = stablo::load(
///     "sine.mlir",
///     "func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
///        %0 = stablehlo.sine %x : tensor<2x3xf32>
///        return %0 : tensor<2x3xf32>
///      }",
/// )?;
/// let view = stablo::view(&module, "sine.mlir", stablo::ViewOptions::default())?;
/// assert!(view.to_html().starts_with("<!doctype html>"));
/// assert!(view.to_json().contains("%0 = stablehlo.sine %x : tensor<2x3xf32>"));
/// # Ok::<(), stablo::Error>(())
/// ```
///
/// # Errors
/// If there is no function of the name in the options, or it cannot run.
pub fn view(module: &Module, name: &str, options: ViewOptions<'_>) -> Result<View> {
    let ViewOptions { entry, values, profile } = options;
    let cost = match entry {
        Some(entry) => Some(cost(module, entry)?),
        None => cost(module, "main").ok(),
    };
    let cost = cost.as_ref().map(|cost| (entry.unwrap_or("main"), cost));
    Ok(analysis::view::view(module, name, cost, values, profile))
}

/// The differences between two verified programs, but for names, locations and the order of
/// independent ops. Differences of attributes named in `ignored` do not count.
///
/// ```
/// let program = |op: &str| {
///     stablo::load("f.mlir", format!(
///         "func.func @main(%x: tensor<f32>) -> tensor<f32> {{
///            %0 = stablehlo.{op} %x : tensor<f32>
///            return %0 : tensor<f32>
///          }}"))
/// };
/// let diff = stablo::diff(&program("sine")?, &program("cosine")?, &[]);
/// assert_eq!(diff.changes.len(), 1);
/// assert!(stablo::diff(&program("sine")?, &program("sine")?, &[]).is_empty());
/// # Ok::<(), stablo::Error>(())
/// ```
pub fn diff(left: &Module, right: &Module, ignored: &[String]) -> Diff {
    analysis::diff::diff(left, right, ignored)
}

/// Random inputs of these types, which follow from the seed: small integers, booleans, and floats
/// from `[0, 1)` for the seed 0, from `[-2, 2)` for others.
///
/// # Errors
/// If a type has dynamic sizes, or its values cannot be given.
pub fn random_inputs(types: &[Type], seed: u32) -> Result<Vec<RuntimeValue>> {
    let input = |(index, ty): (u64, &Type)| {
        if crate::value_fits(&RuntimeValue::Token, ty) {
            return Ok(RuntimeValue::Token);
        }
        let known = crate::storage_dtype(ty)
            .and_then(|dtype| Some((dtype, ty.as_tensor()?.static_shape()?)));
        let Some((dtype, shape)) = known else {
            let message = format!(
                "argument {index} is a {ty}, for which no random values can be made: its sizes \
                 must be known"
            );
            return Err(Error::message("inputs", message));
        };
        let floats = if seed == 0 { 0.0..1.0 } else { -2.0..2.0 };
        Ok(random(dtype, &shape, u64::from(seed) << 32 | index, floats)?.into())
    };
    (0..).zip(types).map(input).collect()
}

/// The first op at which runs of two programs on the same inputs part, if results differ by more
/// than `tolerance` allows for their element type. The programs may differ as much as passes make
/// them differ; results that agree are not looked into.
///
/// ```
/// let program = |op: &str| {
///     let module = stablo::load("f.mlir", format!(
///         "func.func @main(%x: tensor<f32>) -> tensor<f32> {{
///            %0 = stablehlo.negate %x : tensor<f32>
///            %1 = stablehlo.{op} %0 : tensor<f32>
///            %2 = stablehlo.sine %1 : tensor<f32>
///            return %2 : tensor<f32>
///          }}"))?;
///     stablo::Program::prepare(module, "main", stablo::RunOptions::default())
/// };
/// let inputs = vec![stablo::Tensor::scalar(2.5f32).into()];
/// let exact = &|_| stablo::Tolerance::EXACT;
/// let parting = stablo::bisect(&program("floor")?, &program("ceil")?, inputs, exact)?.unwrap();
/// assert_eq!(parting.left.location.op, "stablehlo.floor");
/// assert_eq!(parting.operands[0].1.item::<f32>()?, -2.5);
/// # Ok::<(), stablo::Error>(())
/// ```
///
/// # Errors
/// If the programs take or give other numbers or types of values, or a run fails.
pub fn bisect(
    left: &Program,
    right: &Program,
    inputs: Vec<RuntimeValue>,
    tolerance: &dyn Fn(DType) -> Tolerance,
) -> Result<Option<Parting>> {
    same_signature(left, right)?;
    let mut recorders = [left, right].map(|program| ValueRecorder::new(program.module().clone()));
    let [on_left, on_right] = &mut recorders;
    let expected = left.run_observed(inputs.clone(), on_left)?;
    let found = right.run_observed(inputs.clone(), on_right)?;
    let wrong = wrong(&expected, &found, tolerance);
    if wrong.is_empty() {
        return Ok(None);
    }
    Ok(analysis::bisect::bisect(recorders, entry(left), &inputs, &wrong, tolerance))
}

/// The function at which runs of a program start.
fn entry(program: &Program) -> OpId {
    let prepared = program.prepared();
    OpId::from(prepared.code().function(prepared.entry()).origin)
}

/// The results that differ, with their indices and values.
fn wrong(
    expected: &[RuntimeValue],
    found: &[RuntimeValue],
    tolerance: &dyn Fn(DType) -> Tolerance,
) -> Vec<(usize, numerics::Tensor, numerics::Tensor)> {
    let pairs = expected.iter().zip(found).enumerate();
    let wrong = pairs.filter_map(|(index, values)| match values {
        (RuntimeValue::Tensor(expected), RuntimeValue::Tensor(found)) => {
            let comparison = compare(found, expected, &tolerance(expected.dtype()));
            let is_close = comparison.is_ok_and(|comparison| comparison.differing == 0);
            (!is_close).then(|| (index, expected.clone(), found.clone()))
        }
        _ => None,
    });
    wrong.collect()
}

/// As [`bisect`], between a run of a program and one of the same program on a device. A device
/// shows no values but results: it is asked for all values of the function, then for those of the
/// blocks of loops, branches and calls that part, each on the operands that the run had here.
///
/// # Errors
/// If the program has dynamic shapes, a run fails, or the device refuses a part of the program.
#[cfg(feature = "devices")]
pub fn bisect_on_device(
    program: &Program,
    device: &crate::Device,
    inputs: Vec<RuntimeValue>,
    tolerance: &dyn Fn(DType) -> Tolerance,
) -> Result<Option<Parting>> {
    let mut recorder = ValueRecorder::new(program.module().clone());
    let expected = program.run_observed(inputs.clone(), &mut recorder)?;
    let function = program.module().op(entry(program));
    let name = function.symbol_name().unwrap_or_default();
    let found = device.run(program.module(), name, &inputs)?;
    let wrong = wrong(&expected, &found, tolerance);
    if wrong.is_empty() {
        return Ok(None);
    }
    let entry = entry(program);
    let executor = &mut crate::devices::OnDevice(device);
    analysis::bisect::bisect_on(recorder, executor, entry, &inputs, &wrong, tolerance)
}

/// Fails unless two programs take and give values of the same types.
///
/// # Errors
/// See above.
pub fn same_signature(left: &Program, right: &Program) -> Result<()> {
    let ((inputs, results), (other_inputs, other_results)) = (left.signature(), right.signature());
    let types = |types: &[Type]| types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
    let check = |what: &str, left: &[Type], right: &[Type]| match left == right {
        true => Ok(()),
        false => Err(Error::message(
            "signature",
            format!("the {what} differ: ({}) and ({})", types(left), types(right)),
        )),
    };
    check("arguments", inputs, other_inputs)?;
    check("results", results, other_results)
}

/// The smallest program that can be made from a verified one and still passes a test, by delta
/// debugging with at most `max_tests` tests: ops become zeros, operands or arguments, functions,
/// results and arguments go, regions take the place of their ops, dimensions shrink. The program
/// itself is not tested; every program that is tested is valid. The result depends on nothing but
/// the program and the answers of the test.
///
/// ```
/// let module = stablo::load(
///     "large.mlir",
///     "func.func @main(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
///        %0 = stablehlo.sine %x : tensor<64xf32>
///        %1 = stablehlo.tanh %0 : tensor<64xf32>
///        %2 = stablehlo.add %0, %1 : tensor<64xf32>
///        return %0, %2 : tensor<64xf32>, tensor<64xf32>
///      }",
/// )?;
/// let reduced = stablo::reduce(module, 1000, &mut |candidate: &stablo::Module| {
///     Ok::<bool, stablo::Error>(candidate.to_string().contains("tanh"))
/// })?;
/// let ops = stablo::walk(&reduced.module).filter(|op| op.name().starts_with("stablehlo"));
/// let names: Vec<&str> = ops.map(|op| op.name()).collect();
/// assert_eq!(names, ["stablehlo.constant", "stablehlo.tanh"]);
/// # Ok::<(), stablo::Error>(())
/// ```
///
/// # Errors
/// Errors of the test.
pub fn reduce<E>(
    module: Module,
    max_tests: usize,
    test: &mut dyn FnMut(&Module) -> Result<bool, E>,
) -> Result<Reduced, E> {
    analysis::reduce::reduce(module, max_tests, test)
}

/// Warnings about what is valid, but probably not meant, or costs for nothing: see
/// [`lints`](crate::lints).
pub fn lint(module: &Module) -> Diagnostics {
    analysis::lint::lint(module)
}

/// Mends what [`lint`] finds and can be mended without changing results: dead ops and functions go,
/// deprecated ops are replaced by their successors, expressions of constants are folded. Returns
/// warnings.
///
/// # Errors
/// If a replacement fails; the module is then not fit for use.
pub fn fix_lints(module: &mut Module) -> Result<Diagnostics> {
    crate::run_pipeline(module, analysis::lint::FIXES)
}
