//! Two programs on the same inputs, and programs that are made smaller while a test holds.

use crate::arrays::{Array, Inputs, result};
use crate::errors::{json, message, raised};
use crate::program::{Program, detached, run_on_inputs};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::mpsc::channel;

use stablo::judging::{self, Model};
use stablo::{DType, Module, RuntimeValue, Tensor, Tolerance};

/// How far results may be apart: units in the last place, absolute and relative distance.
type Distances = (u64, f64, f64);

/// A comparison of two results: the number of elements that are not close, the position of the
/// worst element, the largest distance, and the largest in units in the last place.
type Compared = (usize, Option<usize>, f64, Option<u64>);

/// A parting: its description, the operands of the op by name, and its result on both sides.
type Parting<'py> = (
    Bound<'py, PyAny>,
    Vec<(String, Bound<'py, PyAny>)>,
    Bound<'py, PyAny>,
    Option<Bound<'py, PyAny>>,
);

fn tolerance((ulps, absolute, relative): Distances) -> Tolerance {
    Tolerance { ulps, absolute, relative }
}

/// Random arguments of `main`, which follow from the seed.
#[pyfunction]
pub fn random_inputs<'py>(
    py: Python<'py>,
    program: &Program,
    seed: u32,
) -> PyResult<Bound<'py, PyTuple>> {
    let types = program.prepared(py)?.program.signature().0;
    let inputs = stablo::random_inputs(types, seed).map_err(|error| raised(py, &error))?;
    let inputs: PyResult<Vec<_>> = inputs.into_iter().map(|value| result(py, value)).collect();
    PyTuple::new(py, inputs?)
}

/// Runs both programs on these arguments and compares their results; none for a token.
#[pyfunction]
pub fn compare(
    py: Python<'_>,
    left: &Program,
    right: &Program,
    inputs: Vec<Array<'_>>,
    distances: Distances,
) -> PyResult<Vec<Option<Compared>>> {
    let programs = [left.prepared(py)?, right.prepared(py)?];
    stablo::same_signature(&programs[0].program, &programs[1].program)
        .map_err(|error| raised(py, &error))?;
    let expected = run_on_inputs(py, programs[0], Inputs::new(inputs.clone())?, None)?;
    let found = run_on_inputs(py, programs[1], Inputs::new(inputs)?, None)?;
    let tolerance = tolerance(distances);
    let compared = |(expected, found): (&RuntimeValue, &RuntimeValue)| {
        let (RuntimeValue::Tensor(expected), RuntimeValue::Tensor(found)) = (expected, found)
        else {
            return Ok(None);
        };
        if expected.shape() != found.shape() {
            return Ok(Some((
                expected.num_elements().max(found.num_elements()),
                None,
                f64::INFINITY,
                None,
            )));
        }
        let comparison = stablo::compare(found, expected, &tolerance);
        let comparison = comparison.map_err(|error| message(error.to_string()))?;
        let stablo::Comparison { differing, worst, max_distance, max_ulps } = comparison;
        Ok(Some((differing, worst, max_distance, max_ulps)))
    };
    expected.iter().zip(&found).map(compared).collect()
}

/// The first op at which the runs of both programs on these arguments part; none if their results
/// agree.
#[pyfunction]
pub fn bisect<'py>(
    py: Python<'py>,
    left: &Program,
    right: &Program,
    inputs: Vec<Array<'_>>,
    distances: Distances,
) -> PyResult<Option<Parting<'py>>> {
    let (left, right) = (left.prepared(py)?, right.prepared(py)?);
    let (inputs, _buffers) = Inputs::new(inputs)?.into_parts();
    let tolerance = |_: DType| tolerance(distances);
    let parting =
        detached(py, || stablo::bisect(&left.program, &right.program, inputs, &tolerance))?;
    let Some(parting) = parting else { return Ok(None) };
    let array = |tensor: Tensor| result(py, tensor.into());
    let description = json(py, &parting.to_json())?;
    let operands = parting.operands.into_iter().map(|(name, value)| Ok((name, array(value)?)));
    let operands: PyResult<Vec<_>> = operands.collect();
    let other = parting.other.map(array).transpose()?;
    Ok(Some((description, operands?, array(parting.result.1)?, other)))
}

/// Judges results for these arguments; `model` is the name of a model, or the text of a model file.
#[pyfunction]
pub fn judge<'py>(
    py: Python<'py>,
    program: &Program,
    results: Vec<Array<'_>>,
    inputs: Vec<Array<'_>>,
    model: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let program = program.prepared(py)?;
    let model = match Model::built_in(model) {
        Some(model) => model,
        None => Model::parse(model).map_err(|error| message(format!("model: {error}")))?,
    };
    let options = judging::Options::default().model(model);
    let (inputs, _buffers) = Inputs::new(inputs)?.into_parts();
    let (results, _result_buffers) = Inputs::new(results)?.into_parts();
    let tensors = results.into_iter().map(RuntimeValue::into_tensor);
    let tensors = tensors.collect::<Result<Vec<Tensor>, _>>();
    let tensors = tensors.map_err(|error| message(error.to_string()))?;
    let judgement =
        detached(py, || stablo::judge(&program.program, inputs, &tensors, None, &options))?;
    json(py, &judgement.to_json())
}

/// The smallest program found that passes a test, and the number of tests. The thread of the
/// caller, which takes signals, runs the tests.
#[pyfunction]
pub fn reduce(
    py: Python<'_>,
    program: &Program,
    test: &Bound<'_, PyAny>,
    max_tests: usize,
) -> PyResult<(Program, usize)> {
    let module = program.verified().map_err(|error| raised(py, &error))?;
    let module = Module::clone(module);
    let (candidates, mut tested) = channel::<Module>();
    let (answers, answered) = channel::<Option<bool>>();
    let work = move || {
        // The other end is gone if the test raised.
        let mut test = |module: &Module| {
            candidates.send(module.clone()).map_err(drop)?;
            answered.recv().map_err(drop)?.ok_or(())
        };
        stablo::reduce(module, max_tests, &mut test)
    };
    let failed = |text: String| message(format!("programs cannot be made smaller here: {text}"));
    let thread = std::thread::Builder::new().stack_size(stablo::STACK_BYTES).spawn(work);
    let thread = thread.map_err(|error| failed(error.to_string()))?;
    let mut raised = None;
    loop {
        let tested = &mut tested;
        let Ok(module) = py.detach(move || tested.recv()) else { break };
        let candidate = Bound::new(py, Program::of(module))?;
        let answer = test.call1((candidate,)).and_then(|answer| answer.is_truthy());
        let answer = answer.map_err(|error| raised = Some(error)).ok();
        // The thread has ended if it panicked.
        if answers.send(answer).is_err() {
            break;
        }
    }
    match (py.detach(|| thread.join()), raised) {
        (_, Some(error)) => Err(error),
        (Ok(Ok(reduced)), None) => Ok((Program::of(reduced.module), reduced.tests)),
        (_, None) => Err(failed("their reduction ended without a result".to_string())),
    }
}
