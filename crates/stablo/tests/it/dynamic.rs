//! Programs with symbolic dimensions, as JAX exports them, compute what JAX computes with them:
//! made static for two sets of sizes, and as they are.
//!
//! `dynamic/record.py` has the functions, wrote the programs, and says what its files hold.

use stablo::arrays::safetensors;
use stablo::numerics::{Complex64, math};
use stablo::{
    DType, Engine, Exported, Module, RefineOptions, RunOptions, RuntimeValue, Tensor, Type,
};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, OnceLock};

/// A line of `programs.txt`.
struct Program {
    name: String,
    /// Two sets of sizes by name.
    sizes: [Vec<(String, i64)>; 2],
    /// Bound on the difference of floats, absolute and relative. JAX's CPU sums in another order;
    /// programs with long chains of dependent float operations have a larger one.
    tolerance: f64,
    /// As it was exported, prepared on first use.
    dynamic: OnceLock<stablo::Program>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dynamic")
}

static PROGRAMS: LazyLock<Vec<Program>> = LazyLock::new(|| {
    let sizes = |text: &str| {
        let pair = |pair: &str| {
            let (name, size) = pair.split_once('=').unwrap();
            (name.to_string(), size.parse().unwrap())
        };
        text.split_whitespace().map(pair).collect()
    };
    let program = |line: &str| {
        let fields: Vec<&str> = line.split(';').map(str::trim).collect();
        let [name, first, second, tolerance] = fields[..] else { panic!("{line}") };
        Program {
            name: name.to_string(),
            sizes: [sizes(first), sizes(second)],
            tolerance: tolerance.parse().unwrap(),
            dynamic: OnceLock::new(),
        }
    };
    let text = std::fs::read_to_string(folder().join("programs.txt")).unwrap();
    text.lines().map(program).collect()
});

/// An argument of a type, by the formula in `record.py`.
fn argument(index: usize, ty: &Type) -> RuntimeValue {
    let shape: Vec<usize> =
        ty.shape().unwrap().iter().map(|&d| usize::try_from(d).unwrap()).collect();
    let count: usize = shape.iter().product();
    let numbers = (0..count).map(|i| (7 * i * i + 13 * i + 5 * index) % 61);
    let dtype = ty.element_type().dtype().unwrap();
    let element = |n: usize| match dtype {
        DType::I1 => Complex64::from(f64::from(u8::from(n.is_multiple_of(2)))),
        _ if dtype.is_integer() => Complex64::from((n % 5) as f64),
        _ if dtype.is_complex() => {
            Complex64::new((n as f64 - 30.0) / 16.0, ((n % 7) as f64 - 3.0) / 4.0)
        }
        _ => Complex64::from((n as f64 - 30.0) / 16.0),
    };
    let elements: Vec<Complex64> = numbers.map(element).collect();
    math::convert(Tensor::from_vec(shape, elements).unwrap(), dtype).unwrap().into()
}

/// Loads and prepares a program, for CPUs if it was exported for several platforms.
fn load(name: &str) -> stablo::Program {
    let bytes = std::fs::read(folder().join(name).with_extension("jax")).unwrap();
    let mut module = stablo::load(name, &*bytes).unwrap();
    stablo::select_platform(&mut module, &Exported::read(&bytes).unwrap().platforms, None).unwrap();
    prepare(module)
}

fn prepare(module: Module) -> stablo::Program {
    stablo::Program::prepare(module, "main", RunOptions::default()).unwrap()
}

/// The difference between results and those of JAX, if they are not equal.
fn difference(
    program: &Program,
    set: usize,
    results: &[RuntimeValue],
    types: &[Type],
) -> Option<String> {
    let file = std::fs::read(folder().join(&program.name).with_extension("safetensors")).unwrap();
    let file = safetensors::File::new(file).unwrap();
    let prefix = format!("{set}/");
    let count = file.names().iter().filter(|name| name.starts_with(&prefix)).count();
    if count != results.len() {
        return Some(format!("{} results instead of {count}", results.len()));
    }
    for (index, (result, ty)) in results.iter().zip(types).enumerate() {
        let dtype = ty.element_type().dtype().unwrap();
        let expected = file.tensor(&format!("{set}/{index}"), dtype).unwrap();
        let actual = result.tensor().unwrap();
        if actual.shape() != expected.shape() {
            return Some(format!(
                "result {index} has shape {:?} instead of {:?}",
                actual.shape(),
                expected.shape()
            ));
        }
        let exact = !dtype.is_float() && !dtype.is_complex();
        let parts = |t: &Tensor| math::convert(t.clone(), DType::C128).unwrap();
        let (a, e) = (parts(actual), parts(&expected));
        let (a, e) = (a.as_slice::<Complex64>().unwrap(), e.as_slice::<Complex64>().unwrap());
        let tolerance = if exact { 0.0 } else { program.tolerance };
        let close = |a: f64, e: f64| {
            a == e || a.is_nan() && e.is_nan() || (a - e).abs() <= tolerance * (1.0 + e.abs())
        };
        if let Some(at) =
            a.iter().zip(e).position(|(a, e)| !close(a.re, e.re) || !close(a.im, e.im))
        {
            return Some(format!("result {index}, element {at}: {} instead of {}", a[at], e[at]));
        }
    }
    None
}

/// Makes a program static, and runs it both so and as it was: once op by op, then twice by the plan
/// for the shapes of its inputs, with the bits of the interpreter.
fn run(program: &Program, set: usize) -> Result<(), String> {
    let dynamic = program.dynamic.get_or_init(|| load(&program.name));
    let mut module = Module::clone(dynamic.module());
    let mut options = RefineOptions::default();
    for (name, size) in &program.sizes[set] {
        options = options.dimension(name, *size);
    }
    stablo::refine(&mut module, &options).map_err(|error| error.to_string())?;
    let refined = prepare(module);
    let (inputs, types) = refined.signature();
    let inputs: Vec<RuntimeValue> =
        inputs.iter().enumerate().map(|(index, ty)| argument(index, ty)).collect();
    let reference = RunOptions { engine: Engine::Reference, ..RunOptions::default() };
    let reference = stablo::Program::prepare(dynamic.module().clone(), "main", reference).unwrap();
    let bits = |results: &[RuntimeValue]| -> Vec<Vec<u8>> {
        results.iter().map(|result| result.tensor().unwrap().bytes().to_vec()).collect()
    };
    let expected = bits(&reference.run(inputs.clone()).map_err(|error| error.to_string())?);
    let ways = ["static", "first", "second", "third"].into_iter();
    for (way, prepared) in ways.zip([&refined, dynamic, dynamic, dynamic]) {
        let results = prepared.run(inputs.clone()).map_err(|error| format!("{way}: {error}"))?;
        if let Some(difference) = difference(program, set, &results, types) {
            return Err(format!("{way}: {difference}"));
        }
        if bits(&results) != expected {
            return Err(format!("{way}: not the bits of the interpreter"));
        }
    }
    Ok(())
}

fn all(set: usize) {
    assert!(PROGRAMS.len() >= 100);
    let failures: Vec<String> = PROGRAMS
        .iter()
        .filter_map(|program| Some(format!("{}: {}", program.name, run(program, set).err()?)))
        .collect();
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn programs_of_the_first_sizes() {
    all(0);
}

#[test]
fn programs_of_the_second_sizes() {
    all(1);
}

#[test]
fn platforms_are_selected() {
    let bytes = std::fs::read(folder().join("two_platforms.jax")).unwrap();
    let exported = Exported::read(&bytes).unwrap();
    let select = |platform| {
        let mut module = stablo::load("two_platforms", &*bytes).unwrap();
        stablo::select_platform(&mut module, &exported.platforms, platform)?;
        stablo::run(&module, "main", vec![Tensor::from_vec([3], vec![1f32, 2.0, 3.0])?.into()])
    };
    // The function rolls on CPUs, and doubles elsewhere.
    let elements =
        |results: Vec<RuntimeValue>| results[0].tensor().unwrap().to_vec::<f32>().unwrap();
    assert_eq!(elements(select(None).unwrap()), [3.0, 1.0, 2.0]);
    assert_eq!(elements(select(Some("cpu")).unwrap()), [3.0, 1.0, 2.0]);
    assert_eq!(elements(select(Some("cuda")).unwrap()), [2.0, 4.0, 6.0]);
    let error = select(Some("tpu")).unwrap_err();
    assert!(error.to_string().contains("exported for cpu, cuda"), "{error}");
}
