//! Portable artifacts and versions, on text and bytes.

use crate::arrays::{Array, Inputs, result};
use crate::errors::{message, raised};
use crate::program::{Program, detached};
use crate::stack::on_large_stack;
use programs::probes::Probes;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyTuple;
use std::path::PathBuf;
use std::sync::Arc;

use stablo::{
    BytecodeOptions, Bytes, LoadOptions, Observer, SerializeOptions, Tensor, Type, Version,
};

/// The name that jaxlib gives a program without a file: artifacts hold it in locations.
const NAME: &str = "-";

/// The bytes of a Python object, which it keeps.
pub fn shared(bytes: PyBackedBytes) -> Bytes {
    Bytes::from_owner(Arc::new(bytes))
}

/// A program in text or bytecode as a portable artifact for a version, with ops of other dialects
/// or without.
#[pyfunction]
pub fn serialize(
    py: Python<'_>,
    program: PyBackedBytes,
    target: &str,
    allow_other_dialects: bool,
) -> PyResult<Vec<u8>> {
    let work = || {
        let options = SerializeOptions::from(stablo::target_version(target)?)
            .allow_other_dialects(allow_other_dialects);
        let module = LoadOptions::default().load(NAME, shared(program)).into_result()?;
        stablo::serialize(&module, options)
    };
    py.detach(|| on_large_stack(work)).map_err(|error| raised(py, &error))
}

/// The bytecode of the program in a portable artifact.
#[pyfunction]
pub fn deserialize(py: Python<'_>, artifact: PyBackedBytes) -> PyResult<Vec<u8>> {
    let work = || {
        let module = LoadOptions::default().load(NAME, shared(artifact)).into_result()?;
        stablo::write_bytecode(&module, &BytecodeOptions::default())
    };
    py.detach(|| on_large_stack(work)).map_err(|error| raised(py, &error))
}

/// The version that a name such as `current`, `minimum` or `WEEK_12` stands for.
#[pyfunction]
pub fn target_version(py: Python<'_>, name: &str) -> PyResult<String> {
    let version = stablo::target_version(name).map_err(|error| raised(py, &error))?;
    Ok(version.to_string())
}

/// The older one of two versions.
#[pyfunction]
pub fn smaller_version(first: &str, second: &str) -> PyResult<String> {
    let version = |text: &str| -> PyResult<Version> {
        text.parse().map_err(|_| message(format!("`{text}` is not a version of three numbers")))
    };
    Ok(version(first)?.min(version(second)?).to_string())
}

/// Runs a program and saves what its probes see in a directory.
#[pyfunction]
pub fn run_with_probes<'py>(
    py: Python<'py>,
    program: &Program,
    inputs: Vec<Array<'_>>,
    directory: PathBuf,
) -> PyResult<Bound<'py, PyTuple>> {
    let prepared = program.prepared(py)?;
    let (inputs, _buffers) = Inputs::new(inputs)?.into_parts();
    let mut probing = Probing(Probes::new(directory, PathBuf::new()));
    let results = detached(py, || prepared.program.run_observed(inputs, &mut probing))?;
    probing.0.finish().map_err(message)?;
    let results: PyResult<Vec<_>> = results.into_iter().map(|value| result(py, value)).collect();
    PyTuple::new(py, results?)
}

/// Saves what probes see.
struct Probing(Probes);

impl Observer for Probing {
    fn probe(&mut self, name: &str, ty: &Type, tensor: &Tensor) -> Result<(), String> {
        self.0.save(name, ty, tensor)
    }

    fn probed(&mut self, name: &str, iteration: usize) -> Result<(String, Tensor), String> {
        self.0.read(name, iteration)
    }
}
