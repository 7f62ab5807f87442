//! Judging results of backends by proof: true values, bounds of conforming rounding, verdicts.

pub use crate::measurements::OpMeasurements;
pub use crate::op_accuracy::{OpAccuracy, OpCase, Run};
pub use crate::sum_accuracy::SumAccuracy;
pub use crate::within::check_within;

pub use judge::{
    Array, Blame, Blames, DoubtAt, Element, Elements, Enclosure, Estimate, Growth, Judgement,
    Licence, Limits, Model, Number, OpError, Options, Output, Record, Truth, Verdict,
};

use crate::{Error, Program, Result, RuntimeValue, Tensor};

/// Judges results that a backend has computed with a program from `inputs`, tuples taken apart:
/// each element is inside of the bounds of conforming rounding, outside of them, or cannot be
/// decided. With a record of the values of all ops on the backend, the ops to blame are found.
///
/// ```
/// use stablo::judging::{Options, Verdict};
/// use stablo::{Program, RunOptions, Tensor};
///
/// let module = stablo::load(
///     "third.mlir",
///     "func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
///        %0 = stablehlo.divide %x, %y : tensor<f32>
///        return %0 : tensor<f32>
///      }",
/// )?;
/// let program = Program::prepare(module, "main", RunOptions::default())?;
/// let inputs = || vec![Tensor::scalar(1f32).into(), Tensor::scalar(3f32).into()];
/// let judge = |result: f32| {
///     let found = [Tensor::scalar(result)];
///     stablo::judge(&program, inputs(), &found, None, &Options::default())
/// };
/// assert_eq!(judge(1.0 / 3.0)?.verdict(), Verdict::Inside);
/// assert_eq!(judge(0.333)?.verdict(), Verdict::Outside);
/// # Ok::<(), stablo::Error>(())
/// ```
///
/// # Errors
/// If inputs, results or recorded values do not have the number and types that the program has, an
/// op fails, or a limit is exceeded.
pub fn judge(
    program: &Program,
    inputs: Vec<RuntimeValue>,
    results: &[Tensor],
    record: Option<&mut dyn Record>,
    options: &Options,
) -> Result<Judgement> {
    let judgement = ::judge::judge(program.prepared(), inputs, results, record, options);
    let mut judgement = judgement.map_err(|errors| Error::in_module(errors, program.module()))?;
    let names = program.result_names();
    // Of tuples, elements are outputs.
    if names.len() == judgement.outputs.len() {
        let named = judgement.outputs.iter_mut().zip(names);
        named.for_each(|(output, name)| output.name.clone_from(name));
    }
    Ok(judgement)
}

/// The true values of the results of a program, and the bounds of conforming rounding.
///
/// # Errors
/// If inputs do not have the number and types that the program has, an op fails, or a limit is
/// exceeded.
pub fn enclose(
    program: &Program,
    inputs: Vec<RuntimeValue>,
    options: &Options,
) -> Result<Enclosure> {
    let enclosure = ::judge::enclose(program.prepared(), inputs, options);
    enclosure.map_err(|errors| Error::in_module(errors, program.module()))
}

/// Judges the values that a program itself expects of its results: each op of the check dialect, by
/// the bounds of conforming rounding in place of its tolerance.
///
/// # Errors
/// If inputs do not have the number and types that the program has, an op fails, or a limit is
/// exceeded.
pub fn judge_expectations(
    program: &Program,
    inputs: Vec<RuntimeValue>,
    options: &Options,
) -> Result<Judgement> {
    let judgement = ::judge::judge_expectations(program.prepared(), inputs, options);
    judgement.map_err(|errors| Error::in_module(errors, program.module()))
}
