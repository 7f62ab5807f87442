//! Engines compute the same bits: programs of the test-suite and generated ones run by the
//! interpreter and by plans, with and without machine code, with one thread and with two.

use crate::corpus::{programs, tensors};
use crate::generated::generated;
use generate::{GenerateOptions, Within, runtime_values};
use stablo::numerics::math;
use stablo::{
    DType, Engine, Host, Limits, Machine, Module, Program, RunOptions, RuntimeValue, Tensor,
    TensorMut, TensorRef, Type,
};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Results, or the error as text.
type Outcome = Result<Vec<Tensor>, String>;

fn prepare(module: &Module, entry: &str, options: RunOptions) -> Result<Program, String> {
    let limits = Limits { steps: Some(1 << 22), ..Limits::default() };
    let program = Program::prepare(module.clone(), entry, RunOptions { limits, ..options });
    program.map_err(|error| error.to_string())
}

fn run(program: &Result<Program, String>, inputs: &[RuntimeValue]) -> Outcome {
    let program = program.as_ref().map_err(String::clone)?;
    let results = program.run(inputs.to_vec()).map_err(|error| error.to_string())?;
    let types = program.signature().1;
    if let Some((result, ty)) = results.iter().zip(types).find(|(x, ty)| !stablo::value_fits(x, ty))
    {
        return Err(format!("{result:?} is not a {ty}"));
    }
    let results = tensors(results)?;
    let written = run_into(program, inputs, &results)?;
    match results.iter().zip(&written).position(|(result, written)| !same(result, written)) {
        Some(i) => Err(format!("result {i} in memory of the caller: {:?}", written[i])),
        None => Ok(results),
    }
}

/// The results in memory of the caller, which has bits of its own before, on inputs there.
fn run_into(program: &Program, inputs: &[RuntimeValue], results: &[Tensor]) -> Outcome {
    fn text(error: impl std::error::Error) -> String {
        error.to_string()
    }
    let input = |value: &RuntimeValue| value.tensor().cloned().map_err(text);
    let inputs: Vec<Tensor> = inputs.iter().map(input).collect::<Result<_, _>>()?;
    // Without their tensors, which a run would share.
    let lent = inputs.iter().map(|x| TensorRef::from_bytes(x.dtype(), x.shape(), x.bytes()));
    let lent = lent.collect::<Result<Vec<_>, _>>().map_err(text)?;
    let before = |result: &Tensor| {
        let mut before = Tensor::zeros(result.dtype(), result.shape()).map_err(text)?;
        before.bytes_mut().map_err(text)?.fill(1);
        Ok(before)
    };
    let mut written: Vec<Tensor> = results.iter().map(before).collect::<Result<_, String>>()?;
    let outputs = written.iter_mut().map(TensorMut::of).collect::<Result<Vec<_>, _>>();
    program.run_into(&lent, &mut outputs.map_err(text)?).map_err(text)?;
    Ok(written)
}

/// True if tensors have the same bits, but for the payloads of NaNs.
fn same(a: &Tensor, b: &Tensor) -> bool {
    if a.dtype() != b.dtype() || a.shape() != b.shape() {
        return false;
    }
    // The real and imaginary parts.
    let size = a.dtype().part().bytes();
    let is_nan = |dtype: DType, bytes: &[u8]| {
        dtype.is_float()
            && Tensor::from_bytes(dtype, [], bytes.to_vec().into())
                .and_then(|t| math::convert(t, DType::F64)?.item::<f64>())
                .is_ok_and(f64::is_nan)
    };
    let parts = a.bytes().chunks_exact(size).zip(b.bytes().chunks_exact(size));
    let dtype = a.dtype().part();
    parts.into_iter().all(|(a, b)| a == b || is_nan(dtype, a) && is_nan(dtype, b))
}

/// The difference between two outcomes.
fn difference(expected: &Outcome, found: &Outcome) -> Option<String> {
    match (expected, found) {
        (Ok(expected), Ok(found)) => {
            let differs = expected.iter().zip(found).position(|(a, b)| !same(a, b));
            differs.map(|i| format!("result {i}: {:?}, not {:?}", found[i], expected[i]))
        }
        (expected, found) if expected == found => None,
        (expected, found) => Some(format!("{found:?}, not {expected:?}")),
    }
}

/// The threads with which plans run, and true if they make no machine code.
const WAYS: [(usize, bool); 3] = [(1, false), (2, false), (1, true)];

/// How plans of `main` differ from the interpreter, a line each.
fn differences(name: &str, module: &Module, inputs: &[RuntimeValue]) -> Vec<String> {
    differences_at("main", name, module, inputs)
}

/// How plans of a function differ from the interpreter, a line each.
pub(crate) fn differences_at(
    entry: &str,
    name: &str,
    module: &Module,
    inputs: &[RuntimeValue],
) -> Vec<String> {
    let reference = RunOptions { engine: Engine::Reference, ..RunOptions::default() };
    let expected = run(&prepare(module, entry, reference), inputs);
    // All live at the same time, so that those with the same code make it once.
    let plans = WAYS.map(|(threads, without_machine_code)| {
        let threads = NonZeroUsize::new(threads);
        prepare(
            module,
            entry,
            RunOptions { threads, without_machine_code, ..RunOptions::default() },
        )
    });
    let differs = |((threads, without_machine_code), plan)| {
        let what = difference(&expected, &run(plan, inputs))?;
        let code = if without_machine_code { "no machine code" } else { "machine code" };
        Some(format!("{name} with {threads} threads and {code}: {what}"))
    };
    WAYS.into_iter().zip(&plans).filter_map(differs).collect()
}

/// How plans of `main` for machines with little and much of everything differ from the interpreter,
/// a line each.
fn differences_by_machine(name: &str, module: &Module, inputs: &[RuntimeValue]) -> Vec<String> {
    let reference = RunOptions { engine: Engine::Reference, ..RunOptions::default() };
    let expected = run(&prepare(module, "main", reference), inputs);
    let machines = Machine::presets().iter().filter(|machine| {
        // The one without AVX-512, too.
        matches!(&*machine.name, "tiny" | "huge" | "haswell")
    });
    let differs = |machine: &'static Machine| {
        let _entered = Host::default().with_machine(machine).enter();
        let threads = NonZeroUsize::new(2);
        let plan = prepare(module, "main", RunOptions { threads, ..RunOptions::default() });
        let what = difference(&expected, &run(&plan, inputs))?;
        Some(format!("{name} with the model {}: {what}", machine.name))
    };
    machines.filter_map(differs).collect()
}

/// Numbers for each argument of `main`, if all have static shapes.
pub(crate) fn inputs(module: &Module) -> Option<Vec<RuntimeValue>> {
    let main = stablo::entry_function(module, "main").ok()?;
    let input = |(k, ty): (usize, &Type)| {
        let dtype = stablo::storage_dtype(ty)?;
        let shape = ty.shape()?.iter().map(|&size| usize::try_from(size).ok());
        let shape: Vec<usize> = shape.collect::<Option<_>>()?;
        let count = shape.iter().product::<usize>().min(1 << 20);
        let numbers = (0..count).map(|i| ((i * 37 + k * 11) % 23) as f64 / 4.0 - 2.0);
        let numbers = Tensor::from_vec(&shape, numbers.collect()).ok()?;
        Some(RuntimeValue::Tensor(math::convert(numbers, dtype).ok()?))
    };
    main.signature().0.iter().enumerate().map(input).collect()
}

#[test]
fn bits_do_not_depend_on_the_machine_model() {
    let (mut count, mut wrong) = (0, Vec::new());
    for program in programs() {
        let own = Some(program.inputs).filter(|own| !own.is_empty());
        let Some(inputs) = own.or_else(|| inputs(&program.module)) else { continue };
        count += 1;
        wrong.extend(differences_by_machine(&program.name, &program.module, &inputs));
    }
    assert!(count > 60 && wrong.is_empty(), "{count} programs:\n{}", wrong.join("\n"));
}

#[test]
fn plans_have_the_bits_of_the_interpreter() {
    let (mut count, mut wrong) = (0, Vec::new());
    for program in programs() {
        let own = Some(program.inputs).filter(|own| !own.is_empty());
        let Some(inputs) = own.or_else(|| inputs(&program.module)) else { continue };
        count += 1;
        wrong.extend(differences(&program.name, &program.module, &inputs));
    }
    println!("{count} programs, {} mismatches", wrong.len());
    assert!(count > 60 && wrong.is_empty(), "{count} programs:\n{}", wrong.join("\n"));
}

#[test]
fn plans_of_generated_programs_have_the_bits_of_the_interpreter() {
    let wide = [DType::F32, DType::BF16, DType::I32, DType::I1];
    let mut wrong = Vec::new();
    for seed in 0..300 {
        let mut options = GenerateOptions { seed, ops: 40, ..GenerateOptions::default() };
        options.extremes = seed % 3 == 0;
        options.constants = seed % 10 == 9;
        if seed % 2 == 0 {
            options.types = wide.to_vec();
        }
        let program = generated(&options);
        let inputs = runtime_values(&program.inputs);
        wrong.extend(differences(&format!("seed {seed}"), &program.module, &inputs));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Programs of which most values are dead, in the function, in a loop or in a branch, with sizes
/// beside those at which kernels change their way. `GENERATED` is the number of programs,
/// `GENERATED_SEED` the first one.
#[test]
fn dead_values_and_sizes_at_edges() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("GENERATED_SEED").unwrap_or(0);
    let mut wrong = Vec::new();
    for seed in first..first + number("GENERATED").unwrap_or(150) {
        let options = GenerateOptions {
            seed: seed + (1 << 32),
            ops: 4 + seed as usize % 12,
            edges: seed % 2 == 0,
            few_results: seed % 5 != 0,
            constants: seed % 11 == 0,
            extremes: seed % 3 == 0,
            within: [None, Some(Within::Loop), Some(Within::Branch)][seed as usize / 2 % 3],
            ..GenerateOptions::default()
        };
        let program = generated(&options);
        let inputs = runtime_values(&program.inputs);
        let compare = || differences(&format!("seed {seed}"), &program.module, &inputs);
        let found = catch_unwind(AssertUnwindSafe(compare));
        let found = found.unwrap_or_else(|_| vec![format!("seed {seed} panics")]);
        if !found.is_empty() {
            wrong.extend(found);
            wrong.push(program.module.to_string());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Sines of very large angles have no machine code: loops with one are run by the kernels.
#[test]
fn angles_of_any_size() {
    let module = stablo::load(
        "angles.mlir",
        "func.func @main(%x: tensor<300xf32>) -> (tensor<300xf32>, tensor<300xf32>) {
           %0 = stablehlo.sine %x : tensor<300xf32>
           %1 = stablehlo.cosine %x : tensor<300xf32>
           %2 = stablehlo.multiply %0, %1 : tensor<300xf32>
           return %0, %2 : tensor<300xf32>, tensor<300xf32>
         }",
    )
    .unwrap();
    for large in [0, 1, 299, 300] {
        let angle = |i: usize| (i as f32 * 0.37 - 40.0) * if i < large { 1e7 } else { 1.0 };
        let angles = Tensor::from_vec([300], (0..300).map(angle).collect()).unwrap();
        let inputs = [RuntimeValue::Tensor(angles)];
        assert_eq!(differences("angles", &module, &inputs), Vec::<String>::new());
        let results = run(&prepare(&module, "main", RunOptions::default()), &inputs).unwrap();
        for (i, &sine) in results[0].as_slice::<f32>().unwrap().iter().enumerate() {
            assert_eq!(sine, f64::from(angle(i)).sin() as f32, "{i}");
        }
    }
}

/// Runs `@main` with a body on arguments with NaNs, infinities and zeros of both signs.
fn differences_of(signature: &str, body: &str) -> Vec<String> {
    let text = format!("func.func @main{signature} {{\n{body}\n}}");
    let module = stablo::load("main.mlir", text).unwrap();
    let mut inputs = inputs(&module).unwrap();
    for input in &mut inputs {
        let RuntimeValue::Tensor(tensor) = input else { continue };
        if let Ok(elements) = tensor.make_mut::<f32>() {
            let special = [f32::NAN, -0.0, f32::INFINITY, 0.0, -f32::NAN, f32::NEG_INFINITY];
            elements.iter_mut().skip(2).step_by(5).zip(special).for_each(|(x, y)| *x = y);
        }
    }
    differences(body, &module, &inputs)
}

/// Steps for some results of a `sort` compute each on its own, if they are few.
#[test]
fn sorts_with_unused_results() {
    let mut wrong = Vec::new();
    for (shape, dimension) in [("6x17", 1), ("6x17", 0), ("5x9x3", 1), ("200", 0), ("3x3000", 1)] {
        for (key, order) in [(0, "TOTALORDER"), (0, "FLOAT"), (1, "SIGNED")] {
            let (f, i) = (format!("tensor<{shape}xf32>"), format!("tensor<{shape}xi32>"));
            let compared = if key == 0 { "f32" } else { "i32" };
            let sort = format!(
                "%0:3 = \"stablehlo.sort\"(%x, %y, %z) ({{
                 ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>,
                      %e: tensor<i32>, %f: tensor<i32>):
                   %1 = stablehlo.compare GT, %{}, %{}, {order}
                     : (tensor<{compared}>, tensor<{compared}>) -> tensor<i1>
                   stablehlo.return %1 : tensor<i1>
                 }}) {{dimension = {dimension} : i64, is_stable = true}}
                   : ({f}, {i}, {i}) -> ({f}, {i}, {i})",
                ["a", "c"][key],
                ["b", "d"][key],
            );
            for used in [&[0][..], &[1], &[2], &[0, 2], &[0, 1, 2]] {
                let types: Vec<&str> =
                    used.iter().map(|&n| if n == 0 { &f } else { &i } as &str).collect();
                let names: Vec<String> = used.iter().map(|n| format!("%0#{n}")).collect();
                let (types, names) = (types.join(", "), names.join(", "));
                let signature = format!("(%x: {f}, %y: {i}, %z: {i}) -> ({types})");
                wrong.extend(differences_of(
                    &signature,
                    &format!("{sort}\nreturn {names} : {types}"),
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Types of two bytes or less: functions with code, by tables, in both, alone and together, and
/// conversions.
#[test]
fn functions_of_narrow_types() {
    let mut wrong = Vec::new();
    for (count, dtype) in [300, 70_000].into_iter().flat_map(|n| ["f16", "bf16"].map(|t| (n, t))) {
        let ty = format!("tensor<{count}x{dtype}>");
        for op in ["tanh", "sine", "floor", "sqrt", "sign", "negate", "round_nearest_even"] {
            let alone = format!("%0 = stablehlo.{op} %x : {ty}");
            wrong.extend(differences_of(
                &format!("(%x: {ty}) -> {ty}"),
                &format!("{alone}\nreturn %0 : {ty}"),
            ));
            wrong.extend(differences_of(
                &format!("(%x: {ty}, %y: {ty}) -> ({ty}, tensor<{count}xf8E4M3FN>)"),
                &format!(
                    "{alone}
                     %1 = stablehlo.multiply %0, %y : {ty}
                     %2 = stablehlo.convert %1 : ({ty}) -> tensor<{count}xf8E4M3FN>
                     %3 = stablehlo.convert %2 : (tensor<{count}xf8E4M3FN>) -> {ty}
                     %4 = stablehlo.add %3, %x : {ty}
                     return %4, %2 : {ty}, tensor<{count}xf8E4M3FN>"
                ),
            ));
        }
    }
    let types = ["f16", "bf16", "f8E4M3FN", "f8E5M2FNUZ", "i1", "i8", "ui8", "i32", "f32", "f64"];
    for (from, to) in types.into_iter().flat_map(|from| types.map(|to| (from, to))) {
        let (x, y) = (format!("tensor<1003x{from}>"), format!("tensor<1003x{to}>"));
        wrong.extend(differences_of(
            &format!("(%x: {x}) -> {y}"),
            &format!("%0 = stablehlo.convert %x : ({x}) -> {y}\nreturn %0 : {y}"),
        ));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Small values in loops, whose code has vectors of several widths: sizes of whole vectors and of
/// parts of one, with constants of each type.
#[test]
fn constants_in_loops() {
    let mut wrong = Vec::new();
    for dtype in ["i8", "ui8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"] {
        for count in [9, 16, 31, 200, 509, 1009] {
            let ty = format!("tensor<{count}x{dtype}>");
            let (three, seven) = if dtype.contains('f') { ("3.0", "-0.7") } else { ("3", "7") };
            let op = if dtype.contains('f') { "tanh %b" } else { "divide %b, %seven" };
            let body = format!(
                "%zero = stablehlo.constant dense<0> : tensor<i32>
                 %one = stablehlo.constant dense<1> : tensor<i32>
                 %many = stablehlo.constant dense<9> : tensor<i32>
                 %three = stablehlo.constant dense<{three}> : {ty}
                 %seven = stablehlo.constant dense<{seven}> : {ty}
                 %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, {ty}
                 cond {{
                   %1 = stablehlo.compare LT, %i, %many : (tensor<i32>, tensor<i32>) -> tensor<i1>
                   stablehlo.return %1 : tensor<i1>
                 }} do {{
                   %next = stablehlo.add %i, %one : tensor<i32>
                   %a = stablehlo.multiply %y, %three : {ty}
                   %b = stablehlo.add %a, %seven : {ty}
                   %c = stablehlo.{op} : {ty}
                   %d = stablehlo.maximum %c, %x : {ty}
                   stablehlo.return %next, %d : tensor<i32>, {ty}
                 }}
                 return %0#1 : {ty}"
            );
            wrong.extend(differences_of(&format!("(%x: {ty}) -> {ty}"), &body));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The first elements of sorted ones, as `top_k` takes them, of which nothing uses some, or any.
#[test]
fn first_elements_without_uses() {
    let mut wrong = Vec::new();
    for (size, count) in [(8, 2), (8, 4), (40, 1), (3000, 16)] {
        let body = |used: &str| {
            let (i, f) = (format!("tensor<{size}xi32>"), format!("tensor<{size}xf32>"));
            format!(
                "%0:2 = \"stablehlo.sort\"(%x, %y) ({{
                 ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<f32>):
                   %1 = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
                   stablehlo.return %1 : tensor<i1>
                 }}) {{dimension = 0 : i64, is_stable = true}} : ({i}, {f}) -> ({i}, {f})
                 %2 = stablehlo.slice %0#0 [0:{count}] : ({i}) -> tensor<{count}xi32>
                 %3 = stablehlo.slice %0#1 [0:{count}] : ({f}) -> tensor<{count}xf32>
                 %4 = stablehlo.negate %3 : tensor<{count}xf32>
                 {used}"
            )
        };
        for (used, ty) in [
            ("%x", format!("tensor<{size}xi32>")),
            ("%2", format!("tensor<{count}xi32>")),
            ("%3", format!("tensor<{count}xf32>")),
        ] {
            let signature = format!("(%x: tensor<{size}xi32>, %y: tensor<{size}xf32>) -> {ty}");
            wrong.extend(differences_of(&signature, &body(&format!("return {used} : {ty}"))));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Sizes whose product is too large, beside a size of 0 or in broadcasts: engines agree on what is
/// nothing and what is too large.
#[test]
fn sizes_beyond_memory() {
    let huge = 1u64 << 62;
    let mut wrong = Vec::new();
    for sizes in [vec![huge, 8], vec![0, huge, 8], vec![huge, 8, 0], vec![8, 0, huge, huge]] {
        let named = |sizes: &[u64], element: &str| {
            let sizes: String = sizes.iter().map(|size| format!("{size}x")).collect();
            format!("tensor<{sizes}{element}>")
        };
        let last = sizes.len() - 1;
        for (element, zero) in [("f32", "0.0"), ("complex<f32>", "(0.0,0.0)"), ("i8", "0")] {
            let (ty, scalar) = (named(&sizes, element), named(&[], element));
            let turned: Vec<u64> = sizes.iter().rev().copied().collect();
            let order: Vec<String> = (0..=last).rev().map(|d| d.to_string()).collect();
            let start = format!(
                "%c = stablehlo.constant dense<{zero}> : {scalar}
                 %x = stablehlo.broadcast_in_dim %c, dims = [] : ({scalar}) -> {ty}\n"
            );
            let mut bodies = vec![
                (format!("%0 = stablehlo.add %x, %x : {ty}"), ty.clone()),
                (
                    format!(
                        "%0 = stablehlo.transpose %x, dims = [{}] : ({ty}) -> {}",
                        order.join(", "),
                        named(&turned, element)
                    ),
                    named(&turned, element),
                ),
            ];
            for first in 0..=last {
                let reduced: Vec<String> = (first..=last).map(|d| d.to_string()).collect();
                let result = named(&sizes[..first], element);
                bodies.push((
                    format!(
                        "%0 = stablehlo.reduce(%x init: %c) applies stablehlo.add
                           across dimensions = [{}] : ({ty}, {scalar}) -> {result}",
                        reduced.join(", ")
                    ),
                    result,
                ));
            }
            if element == "complex<f32>" && sizes[last] < huge {
                let length = sizes[last];
                let fft = format!("%0 = stablehlo.fft %x, type = FFT, length = [{length}]");
                bodies.push((format!("{fft} : ({ty}) -> {ty}"), ty.clone()));
            }
            for (body, result) in bodies {
                let body = format!("{start}{body}\nreturn %0 : {result}");
                wrong.extend(differences_of(&format!("() -> {result}"), &body));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Normalization is a step of its own where means and variances are not used.
#[test]
fn normalization_without_statistics() {
    let mut wrong = Vec::new();
    for (ty, shape, features) in [
        ("f32", "1x17x96", 17),
        ("f32", "3x40x7", 40),
        ("f64", "2x5x1200", 5),
        ("f32", "300x9", 9),
        ("bf16", "4x3x20", 3),
        ("f32", "2x0x3", 0),
    ] {
        for used in ["%y", "%y, %v"] {
            let (x, one) = (format!("tensor<{shape}x{ty}>"), format!("tensor<{features}x{ty}>"));
            let types = if used == "%y" { x.clone() } else { format!("{x}, {one}") };
            let body = format!(
                "%y, %m, %v = \"stablehlo.batch_norm_training\"(%x, %s, %o)
                   {{epsilon = 0.001 : f32, feature_index = 1 : i64}}
                   : ({x}, {one}, {one}) -> ({x}, {one}, {one})
                 return {used} : {types}"
            );
            let signature = format!("(%x: {x}, %s: {one}, %o: {one}) -> ({types})");
            wrong.extend(differences_of(&signature, &body));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn random_bits_and_states() {
    let mut wrong = Vec::new();
    let states = [("THREE_FRY", 2), ("PHILOX", 2), ("PHILOX", 3), ("DEFAULT", 2)];
    for (algorithm, words) in states {
        for ty in ["33xui32", "7x5xui32", "6x3xui8", "5xi16", "3x7xui64", "0xui32", "1x1xi32"] {
            let (state, bits) = (format!("tensor<{words}xui64>"), format!("tensor<{ty}>"));
            for (used, types) in [
                ("%1", bits.clone()),
                ("%0", state.clone()),
                ("%0, %1", format!("{state}, {bits}")),
            ] {
                let body = format!(
                    "%0, %1 = stablehlo.rng_bit_generator %x, algorithm = {algorithm}
                       : ({state}) -> ({state}, {bits})
                     return {used} : {types}"
                );
                wrong.extend(differences_of(&format!("(%x: {state}) -> ({types})"), &body));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
