//! The native part of the Python package `stablo`, on the façade of the Rust library.
//!
//! Its functions take and give plain values (text, bytes, numbers); `stablo/__init__.py` makes the
//! interface of the package from them.

mod arrays;
mod attributes;
mod builder;
mod comparisons;
mod compat;
mod devices;
mod dlpack;
mod errors;
mod profile;
mod program;
mod settings;
mod stack;
mod trees;

// JAX loads the extension module as a PJRT plugin, too: this links `GetPjrtApi`.
use pjrt as _;
use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command-line tool. Returns its exit code.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> i32 {
    py.detach(|| programs::io::run_as_process("stablo", arguments))
}

#[pymodule(gil_used = false)]
mod _stablo {
    #[pymodule_export]
    use super::arrays::Memory;
    #[pymodule_export]
    use super::builder::{Builder, Region, SSAValue, op_names, tensor_type};
    #[pymodule_export]
    use super::comparisons::{bisect, compare, judge, random_inputs, reduce};
    #[pymodule_export]
    use super::compat::{deserialize, run_with_probes, serialize, smaller_version, target_version};
    #[pymodule_export]
    use super::devices::Device;
    #[pymodule_export]
    use super::dlpack::{Lent, from_dlpack};
    #[pymodule_export]
    use super::errors::Error;
    #[pymodule_export]
    use super::main;
    #[pymodule_export]
    use super::profile::Profile;
    #[pymodule_export]
    use super::program::{Op, Program, inspect, load, program_in_folder};
    #[pymodule_export]
    use super::trees::calling_convention;
    use pyo3::prelude::*;
    use pyo3::types::PyTuple;

    /// Errors about arguments have no diagnostics.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        py.get_type::<Error>().setattr("diagnostics", PyTuple::empty(py))
    }
}
