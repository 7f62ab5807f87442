//! Reading, verifying and transforming the programs in `examples/`, and those in
//! `../shared/programs` if available.

use divan::Bencher;
use stablo::{Bytes, LoadOptions, Module};
use std::path::{Path, PathBuf};

fn main() {
    divan::main();
}

/// The folders of programs, by name.
fn programs() -> Vec<String> {
    let mut names: Vec<String> = roots()
        .iter()
        .filter_map(|root| std::fs::read_dir(root).ok())
        .flat_map(|entries| entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()))
        .filter(|name| file(name, "module.mlir").is_some())
        .collect();
    names.sort();
    names.dedup();
    names
}

fn roots() -> [PathBuf; 2] {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    [top.join("examples"), top.join("../shared/programs")]
}

fn file(program: &str, name: &str) -> Option<Bytes> {
    roots()
        .iter()
        .find_map(|root| std::fs::read(root.join(program).join(name)).ok())
        .map(Bytes::from)
}

fn read(name: &str, bytes: &Bytes) -> Module {
    let output = LoadOptions::default().verify(false).load(name, bytes.clone());
    assert!(output.diagnostics.is_empty(), "{:?}", output.diagnostics);
    output.module
}

/// MLIR text to a module.
#[divan::bench(args = programs())]
fn text(bencher: Bencher<'_, '_>, program: &str) {
    let bytes = file(program, "module.mlir").unwrap_or_default();
    bencher.bench(|| read(program, &bytes));
}

/// A portable artifact to a module of StableHLO.
#[divan::bench(args = programs())]
fn artifact(bencher: Bencher<'_, '_>, program: &str) {
    if let Some(bytes) = file(program, "module.mlir.bc") {
        bencher.bench(|| read(program, &bytes));
    }
}

#[divan::bench(args = programs())]
fn verify(bencher: Bencher<'_, '_>, program: &str) {
    let module = read(program, &file(program, "module.mlir").unwrap_or_default());
    bencher.bench(|| stablo::verify(&module));
}

#[divan::bench(args = programs())]
fn print(bencher: Bencher<'_, '_>, program: &str) {
    let module = read(program, &file(program, "module.mlir").unwrap_or_default());
    bencher.bench(|| module.to_string());
}
