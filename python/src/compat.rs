//! Portable artifacts and versions, on text and bytes.

use crate::errors::{message, raised};
use pyo3::prelude::*;
use stablo::{BytecodeOptions, LoadOptions, SerializeOptions, Version};

/// The name that jaxlib gives a program without a file: artifacts hold it in locations.
const NAME: &str = "-";

/// A program in text or bytecode as a portable artifact for a version.
#[pyfunction]
pub fn serialize(py: Python<'_>, program: Vec<u8>, target: &str) -> PyResult<Vec<u8>> {
    let work = || {
        let options = SerializeOptions::from(stablo::target_version(target)?);
        let module = LoadOptions::default().load(NAME, program).into_result()?;
        stablo::serialize(&module, options)
    };
    py.detach(|| stablo::with_large_stack(work)).map_err(|error| raised(py, &error))
}

/// The bytecode of the program in a portable artifact.
#[pyfunction]
pub fn deserialize(py: Python<'_>, artifact: Vec<u8>) -> PyResult<Vec<u8>> {
    let work = || {
        let module = LoadOptions::default().load(NAME, artifact).into_result()?;
        stablo::write_bytecode(&module, &BytecodeOptions::default())
    };
    py.detach(|| stablo::with_large_stack(work)).map_err(|error| raised(py, &error))
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
