//! The cost of a call beside its work, and the time that writing results into memory of the
//! caller saves:
//! `cargo bench -p benches --bench calls`.

use divan::{Bencher, black_box, counter::BytesCount};
use stablo::{Program, RunOptions, RuntimeValue, Tensor, TensorMut, TensorRef};

fn main() {
    divan::main();
}

fn prepared(text: String) -> Program {
    let module = stablo::load("bench.mlir", text).expect("the program is valid");
    Program::prepare(module, "main", RunOptions::default()).expect("the program is prepared")
}

/// The sum of ten arguments of four elements.
fn tiny() -> (Program, Vec<Tensor>) {
    let arguments: Vec<String> = (0..10).map(|i| format!("%x{i}: tensor<4xf32>")).collect();
    let mut text = format!("func.func @main({}) -> tensor<4xf32> {{\n", arguments.join(", "));
    let mut sum = "%x0".to_string();
    for i in 1..10 {
        text += &format!("%{i} = stablehlo.add {sum}, %x{i} : tensor<4xf32>\n");
        sum = format!("%{i}");
    }
    text += &format!("return {sum} : tensor<4xf32>\n}}");
    let tensor = |i: usize| Tensor::splat([4], i as f32).expect("memory");
    (prepared(text), (0..10).map(tensor).collect())
}

/// The negatives and the squares of a vector.
fn large(elements: usize) -> (Program, Tensor) {
    let ty = format!("tensor<{elements}xf32>");
    let text = format!(
        "func.func @main(%x: {ty}) -> ({ty}, {ty}) {{
         %0 = stablehlo.negate %x : {ty}
         %1 = stablehlo.multiply %x, %x : {ty}
         return %0, %1 : {ty}, {ty}
         }}"
    );
    (prepared(text), Tensor::splat([elements], 0.5f32).expect("memory"))
}

#[divan::bench]
fn ten_arguments(bencher: Bencher<'_, '_>) {
    let (program, inputs) = tiny();
    let inputs: Vec<RuntimeValue> = inputs.into_iter().map(RuntimeValue::from).collect();
    bencher.bench(|| program.run(black_box(inputs.clone())));
}

#[divan::bench]
fn ten_arguments_into(bencher: Bencher<'_, '_>) {
    let (program, inputs) = tiny();
    let inputs: Vec<TensorRef<'_>> = inputs.iter().map(TensorRef::from).collect();
    let mut sum = [0f32; 4];
    bencher.bench_local(|| {
        let output = TensorMut::new(&[4], &mut sum).expect("four elements");
        program.run_into(black_box(&inputs), &mut [output])
    });
}

const SIZES: [usize; 3] = [1 << 16, 1 << 20, 1 << 24];

#[divan::bench(args = SIZES)]
fn results(bencher: Bencher<'_, '_>, elements: usize) {
    let (program, x) = large(elements);
    let bencher = bencher.counter(BytesCount::new(12 * elements));
    bencher.bench(|| program.run(vec![black_box(x.clone()).into()]));
}

#[divan::bench(args = SIZES)]
fn results_and_copies(bencher: Bencher<'_, '_>, elements: usize) {
    let (program, x) = large(elements);
    let mut outputs = [vec![0f32; elements], vec![0f32; elements]];
    let bencher = bencher.counter(BytesCount::new(12 * elements));
    bencher.bench_local(|| {
        let results = program.run(vec![black_box(x.clone()).into()]).expect("the program runs");
        for (output, result) in outputs.iter_mut().zip(&results) {
            let result = result.tensor().expect("a tensor");
            output.copy_from_slice(result.as_slice().expect("floats"));
        }
    });
}

#[divan::bench(args = SIZES)]
fn results_into(bencher: Bencher<'_, '_>, elements: usize) {
    let (program, x) = large(elements);
    let [mut negated, mut squares] = [vec![0f32; elements], vec![0f32; elements]];
    let (inputs, shape) = ([TensorRef::from(&x)], [elements]);
    let bencher = bencher.counter(BytesCount::new(12 * elements));
    bencher.bench_local(|| {
        let output = |elements| TensorMut::new(&shape, elements).expect("as many elements");
        let outputs = &mut [output(&mut negated), output(&mut squares)];
        program.run_into(black_box(&inputs), outputs)
    });
}
