//! Loads a program and its inputs from files, inspects it, runs it, and saves the results.

use stablo::arrays::{npy, npz};
use stablo::{RuntimeValue, Tensor};
use std::error::Error;
use std::fs::{self, File};
use std::path::Path;

/// Runs the example.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/nbody");
    let path = directory.join("module.mlir");
    let inspection = stablo::inspect("module.mlir", fs::read(&path)?)?;
    println!("functions: {:?}", inspection.functions);

    let module = stablo::load_file(&path)?;
    let input = |k: usize| -> Result<RuntimeValue, Box<dyn Error>> {
        let file = fs::read(directory.join(format!("input_{k}.npy")))?;
        Ok(RuntimeValue::Tensor(npy::read(file, None)?))
    };
    let inputs = (0..3).map(input).collect::<Result<Vec<_>, _>>()?;
    let results = stablo::run(&module, "main", inputs)?;

    let tensors: Vec<Tensor> =
        results.into_iter().map(RuntimeValue::into_tensor).collect::<Result<_, _>>()?;
    for (k, tensor) in tensors.iter().enumerate() {
        let expected = npy::read(fs::read(directory.join(format!("output_{k}.npy")))?, None)?;
        assert_eq!((tensor.dtype(), tensor.shape()), (expected.dtype(), expected.shape()));
    }
    let names = ["position", "velocity", "energy"];
    let path = std::env::temp_dir().join(format!("stablo-nbody-{}.npz", std::process::id()));
    npz::write(names.into_iter().zip(&tensors), true, File::create(&path)?)?;
    println!("results are in {}", path.display());
    fs::remove_file(path)?;
    Ok(())
}
