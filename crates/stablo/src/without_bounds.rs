//! Replaces `within.rs` without the feature `judge`.

use crate::dialects::check::ExpectWithinOp;
use crate::{Module, RuntimeValue, walk};
use interpreter::{Grid, Observer, RunOptions};
use mlir::diag::Diagnostics;
use std::sync::Arc;

/// There is no such program.
pub(crate) enum BoundsProgram {}

impl BoundsProgram {
    /// `None`.
    ///
    /// # Errors
    /// If the module has an op `check.expect_within`.
    pub(crate) fn of(
        module: &Arc<Module>,
        _entry: &str,
        _options: &RunOptions,
    ) -> Result<Option<BoundsProgram>, Diagnostics> {
        let Some(op) = walk(module).find_map(ExpectWithinOp::cast) else { return Ok(None) };
        let message = "this build derives no bounds: it is without the feature `judge`";
        Err(vec![op.error("check.expect_within", message)])
    }

    /// Never called, as there is no program.
    pub(crate) fn run(
        &self,
        _program: &interpreter::Program,
        _grid: Grid,
        _inputs: Vec<Vec<RuntimeValue>>,
        _observer: &mut dyn Observer,
    ) -> Result<Vec<Vec<RuntimeValue>>, Diagnostics> {
        match *self {}
    }
}
