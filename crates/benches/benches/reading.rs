//! Reading, verifying and writing the programs in `examples/`, and those in `../shared/programs` if
//! available.

use divan::Bencher;
use stablo::{BytecodeOptions, Bytes, LoadOptions, Module, Version};
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

/// A module to a portable artifact.
#[divan::bench(args = programs())]
fn serialize(bencher: Bencher<'_, '_>, program: &str) {
    let module = read(program, &file(program, "module.mlir").unwrap_or_default());
    bencher.bench(|| stablo::serialize(&module, Version::CURRENT));
}

/// Bytecode to a portable artifact, as `stablo.compat` in Python does.
#[divan::bench(args = programs())]
fn bytecode_to_artifact(bencher: Bencher<'_, '_>, program: &str) {
    let module = read(program, &file(program, "module.mlir").unwrap_or_default());
    let Ok(bytecode) = stablo::write_bytecode(&module, &BytecodeOptions::default()) else { return };
    let bytecode = Bytes::from(bytecode);
    bencher.bench(|| {
        let module = LoadOptions::default().load(program, bytecode.clone()).module;
        stablo::serialize(&module, Version::CURRENT)
    });
}
