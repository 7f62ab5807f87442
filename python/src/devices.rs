//! Devices of PJRT plugins.

use crate::arrays::{Array, Inputs, result};
use crate::errors::raised;
use crate::program::{Program, detached};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A device.
#[pyclass(frozen, module = "stablo._stablo")]
pub struct Device(stablo::Device);

#[pymethods]
impl Device {
    #[new]
    fn new(py: Python<'_>, text: &str) -> PyResult<Device> {
        let spec: stablo::DeviceSpec = text.parse().map_err(|error| raised(py, &error))?;
        detached(py, || stablo::Device::open(&spec)).map(Device)
    }

    /// A line about the device.
    fn describe(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || self.0.describe())
    }

    /// Runs the function of a program on arrays.
    fn run<'py>(
        &self,
        py: Python<'py>,
        program: &Program,
        inputs: Vec<Array<'_>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let (inputs, _buffers) = Inputs::new(inputs)?.into_parts();
        let results = detached(py, || self.0.run(program.verified()?, program.entry(), &inputs))?;
        let results: PyResult<Vec<_>> = results.into_iter().map(|v| result(py, v)).collect();
        PyTuple::new(py, results?)
    }
}
