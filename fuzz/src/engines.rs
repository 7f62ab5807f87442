//! The engines on a program: the interpreter, and plans on one thread and two, with machine code
//! and without.

use generate::Random;
use stablo::numerics::math;
use stablo::{
    Budget, DType, Diagnostic, Engine, Host, Limits, Module, Program, RunOptions, RuntimeValue,
    Tensor, Type, VerifyOptions,
};
use std::num::NonZeroUsize;
use std::time::Duration;

/// The threads with which plans run, and true if they make no machine code.
const WAYS: [(usize, bool); 3] = [(1, false), (2, false), (1, true)];
/// Ops that a run executes, at most.
const MAX_STEPS: u64 = 20_000;
/// Seconds that it takes, at most.
const MAX_TIME: Duration = Duration::from_secs(1);
/// Bytes that it uses, at most.
const MAX_MEMORY: usize = 128 << 20;
/// Maximum number of elements of an input.
const MAX_ELEMENTS: usize = 1 << 18;

/// Runs `main` on random inputs, if it has static arguments, with all engines. The error says which
/// of them computes other bits than the interpreter, or fails where that does not, or the other way
/// round.
pub(crate) fn compare(text: &[u8], random: &mut Random) -> Result<(), String> {
    let _entered = Host::current().with_budget(Budget::new(MAX_MEMORY)).enter();
    let Ok(module) = stablo::load("program.mlir", text.to_vec()) else { return Ok(()) };
    let Some(inputs) = inputs(&module, random) else { return Ok(()) };
    compare_runs(&module, &inputs).map(drop)
}

/// The outcome of all engines, or how they differ.
fn compare_runs(module: &Module, inputs: &[RuntimeValue]) -> Result<Outcome, String> {
    let reference = RunOptions { engine: Engine::Reference, ..RunOptions::default() };
    let expected = run(module, reference, inputs);
    for (threads, without_machine_code) in WAYS {
        let threads = NonZeroUsize::new(threads);
        let options = RunOptions { threads, without_machine_code, ..RunOptions::default() };
        let found = run(module, options, inputs);
        if let Some(difference) = difference(&expected, &found) {
            let code = if without_machine_code { "without" } else { "with" };
            let threads = threads.map_or(0, NonZeroUsize::get);
            return Err(format!("threads {threads}, {code} machine code: {difference}"));
        }
    }
    Ok(expected)
}

/// The outcome of a module in the verifier and in all engines.
pub enum Verdict {
    /// The verifier refuses it.
    Refused,
    /// It runs.
    Ran,
    /// It reaches a limit, or its arguments are not tensors of storage types.
    Skipped,
    /// The verifier accepts it, and a run fails with this message after a label.
    Failed(String),
    /// Engines differ.
    Differs(String),
}

/// Verifies `module`, and runs `main` on random inputs.
pub(crate) fn verdict(module: &Module, random: &mut Random) -> Verdict {
    let _entered = Host::current().with_budget(Budget::new(MAX_MEMORY)).enter();
    let options = VerifyOptions { strict: true, ..VerifyOptions::default() };
    if stablo::has_errors(&stablo::verify_with(module, &options)) {
        return Verdict::Refused;
    }
    let Some(inputs) = inputs(module, random) else { return Verdict::Skipped };
    match compare_runs(module, &inputs) {
        Ok(Outcome::Results(_)) => Verdict::Ran,
        Ok(Outcome::Failed(message)) => Verdict::Failed(message),
        Ok(Outcome::Limited) => Verdict::Skipped,
        Err(difference) => Verdict::Differs(difference),
    }
}

/// Results of a run. An error is the program's or a limit's; engines reach limits at different
/// places.
enum Outcome {
    Results(Vec<RuntimeValue>),
    Failed(String),
    Limited,
}

fn run(module: &Module, options: RunOptions, inputs: &[RuntimeValue]) -> Outcome {
    let limits = Limits { steps: Some(MAX_STEPS), time: Some(MAX_TIME), ..Limits::default() };
    let program = Program::prepare(module.clone(), "main", RunOptions { limits, ..options });
    match program.and_then(|program| program.run(inputs.to_vec())) {
        Ok(results) => Outcome::Results(results),
        Err(error) => {
            let is_limit =
                error.limit().is_some() || error.diagnostics().iter().any(|d| d.label == "tensor");
            // Notes say what was inlined.
            let message = |d: &Diagnostic| format!("{}: {}", d.label, d.message);
            let messages: Vec<String> = error.diagnostics().iter().map(message).collect();
            if is_limit { Outcome::Limited } else { Outcome::Failed(messages.join("; ")) }
        }
    }
}

fn difference(expected: &Outcome, found: &Outcome) -> Option<String> {
    match (expected, found) {
        (Outcome::Limited, _) | (_, Outcome::Limited) => None,
        (Outcome::Failed(expected), Outcome::Failed(found)) => {
            (expected != found).then(|| format!("it fails with {found}, not {expected}"))
        }
        (Outcome::Results(_), Outcome::Failed(error)) => Some(format!("it fails: {error}")),
        (Outcome::Failed(error), Outcome::Results(_)) => {
            Some(format!("it does not fail with {error}"))
        }
        (Outcome::Results(expected), Outcome::Results(found)) => {
            let pairs = expected.iter().zip(found);
            let differs = |(a, b): (&RuntimeValue, &RuntimeValue)| !is_same(a, b);
            pairs.into_iter().position(differs).map(|i| format!("result {i} has other bits"))
        }
    }
}

/// True if values have the same bits, but for the signs and payloads of NaNs.
fn is_same(a: &RuntimeValue, b: &RuntimeValue) -> bool {
    match (a, b) {
        (RuntimeValue::Tensor(a), RuntimeValue::Tensor(b)) => {
            let is_nan = |tensor: &Tensor, at: usize| {
                let (dtype, size) = (tensor.dtype().part(), tensor.dtype().part().bytes());
                let part = tensor.bytes()[at * size..][..size].to_vec();
                dtype.is_float()
                    && Tensor::from_bytes(dtype, [], part.into())
                        .and_then(|part| math::convert(part, DType::F64)?.item::<f64>())
                        .is_ok_and(f64::is_nan)
            };
            let size = a.dtype().part().bytes();
            let parts = a.bytes().chunks_exact(size).zip(b.bytes().chunks_exact(size));
            (a.dtype(), a.shape()) == (b.dtype(), b.shape())
                && parts.enumerate().all(|(i, (x, y))| x == y || is_nan(a, i) && is_nan(b, i))
        }
        (RuntimeValue::Tuple(a), RuntimeValue::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| is_same(a, b))
        }
        (RuntimeValue::Token, RuntimeValue::Token) => true,
        (RuntimeValue::Tensor(_) | RuntimeValue::Tuple(_) | RuntimeValue::Token, _) => false,
    }
}

/// Random numbers for each argument of `main`: quarters, and now and then special ones.
fn inputs(module: &Module, random: &mut Random) -> Option<Vec<RuntimeValue>> {
    const SPECIAL: [f64; 6] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e-40, 1e30];
    let main = stablo::entry_function(module, "main").ok()?;
    let has_special = random.one_in(3);
    fn input(ty: &Type, number: &mut dyn FnMut() -> f64) -> Option<RuntimeValue> {
        if let Some(types) = ty.as_tuple() {
            let elements = types.iter().map(|ty| input(ty, number)).collect::<Option<Vec<_>>>()?;
            return Some(RuntimeValue::Tuple(elements));
        }
        if ty.to_string() == "!stablehlo.token" {
            return Some(RuntimeValue::Token);
        }
        let dtype = stablo::storage_dtype(ty)?;
        let shape = ty.shape()?.iter().map(|&size| usize::try_from(size).ok());
        let shape: Vec<usize> = shape.collect::<Option<_>>()?;
        let count = shape.iter().try_fold(1, |count: usize, &size| count.checked_mul(size));
        let count = count.filter(|&count| count <= MAX_ELEMENTS)?;
        let numbers = (0..count).map(|_| number()).collect();
        let numbers = Tensor::from_vec(&shape, numbers).ok()?;
        Some(RuntimeValue::Tensor(math::convert(numbers, dtype).ok()?))
    }
    let mut number = || match has_special && random.one_in(8) {
        true => *random.choose(&SPECIAL),
        false => random.between(-24, 24) as f64 / 4.0,
    };
    main.signature().0.iter().map(|ty| input(ty, &mut number)).collect()
}
