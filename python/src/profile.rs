//! Profiles of programs.

use crate::errors::json;
use pyo3::prelude::*;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;

use stablo::{Module, Roofline};

/// The profile of runs of a program.
#[pyclass(frozen, module = "stablo")]
pub struct Profile {
    /// The module of the program.
    pub module: Arc<Module>,
    /// The records of the runs.
    pub profile: stablo::Profile,
    /// The limits of the machine, if they could be measured.
    pub roofline: Option<Roofline>,
}

#[pymethods]
impl Profile {
    /// The profile as a dictionary.
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json(py, &self.profile.to_json(self.roofline.as_ref()))
    }

    /// The table that the command-line tool prints.
    fn table(&self) -> String {
        programs::profile::table(&self.profile, self.roofline)
    }

    /// Writes the executions of steps in the trace event format. Returns the number of those that
    /// were not kept.
    fn write_trace(&self, py: Python<'_>, path: PathBuf) -> PyResult<usize> {
        let write = || {
            let mut out = BufWriter::new(File::create(path)?);
            self.profile.write_trace(&mut out)?;
            out.flush()
        };
        py.detach(write)?;
        Ok(self.profile.lost)
    }
}
