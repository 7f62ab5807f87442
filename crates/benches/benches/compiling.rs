//! Preparing programs of a thousand ops: `cargo bench -p benches --bench compiling`.

use divan::{Bencher, black_box};
use stablo::{Module, Program, RunOptions};
use std::sync::Arc;

fn main() {
    divan::main();
}

const OPS: usize = 1000;

/// A chain of functions of a vector.
fn chain(elements: usize, functions: &[&str]) -> Arc<Module> {
    let ty = format!("tensor<{elements}xf32>");
    let op =
        |(k, function): (usize, &&str)| format!("%{} = stablehlo.{function} %{k} : {ty}\n", k + 1);
    let ops: String = functions.iter().cycle().take(OPS).enumerate().map(op).collect();
    let text = format!("func.func @main(%0: {ty}) -> {ty} {{\n{ops}return %{OPS} : {ty}\n}}");
    Arc::new(stablo::load("bench.mlir", text).expect("the program is valid"))
}

fn prepare(module: &Arc<Module>) -> Program {
    let program = Program::prepare(black_box(module.clone()), "main", RunOptions::default());
    program.expect("the program is prepared")
}

const SHORT: &[&str] = &["negate", "abs", "sqrt", "floor", "tanh"];
const LONG: &[&str] =
    &["sine", "exponential", "logistic", "tanh", "cosine", "log_plus_one", "rsqrt", "log"];
/// Elements in the memory of small values, and in loops.
const SIZES: [usize; 2] = [8, 20_000];

#[divan::bench(args = SIZES)]
fn short_functions(bencher: Bencher<'_, '_>, elements: usize) {
    let module = chain(elements, SHORT);
    bencher.bench(|| prepare(&module));
}

#[divan::bench(args = SIZES)]
fn long_functions(bencher: Bencher<'_, '_>, elements: usize) {
    let module = chain(elements, LONG);
    bencher.bench(|| prepare(&module));
}

/// The plan and the machine code are there already.
#[divan::bench(args = SIZES)]
fn equal_programs(bencher: Bencher<'_, '_>, elements: usize) {
    let module = chain(elements, LONG);
    let first = prepare(&module);
    assert!(first.shares_code_with(&prepare(&chain(elements, LONG))));
    bencher.bench(|| prepare(&module));
}
