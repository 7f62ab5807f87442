//! Passes and pipelines by name.
//!
//! ```
//! let mut module = stablo::load(
//!     "twice.mlir",
//!     "func.func @main(%x: tensor<f32>) -> tensor<f32> {
//!        %0 = stablehlo.abs %x : tensor<f32>
//!        %1 = stablehlo.abs %x : tensor<f32>
//!        %2 = stablehlo.add %0, %1 : tensor<f32>
//!        return %2 : tensor<f32>
//!      }",
//! )?;
//! stablo::run_pipeline(&mut module, "cse,canonicalize{top-down=true}")?;
//! assert_eq!(module.to_string().matches("stablehlo.abs").count(), 1);
//! # Ok::<(), stablo::Error>(())
//! ```

use crate::error::check;
use crate::{Diagnostics, Error, Module, Result, VerifyOptions};
use std::fmt;
use std::str::FromStr;
use transforms::PASSES;

pub use mlir::pass::{
    Invocation, NamedPipeline, NoObserver, OptionKind, Pass, PassObserver, PassOption, Step,
};
pub use mlir::rewrite::{Count as PatternCount, Statistics as PatternStatistics};

/// All passes, in alphabetical order.
pub fn all() -> &'static [Pass] {
    PASSES.passes
}

/// Looks up a pass by name.
pub fn find(name: &str) -> Option<&'static Pass> {
    PASSES.pass(name)
}

/// All named pipelines, in alphabetical order.
pub fn named_pipelines() -> &'static [NamedPipeline] {
    PASSES.pipelines
}

/// Runs a pipeline on a verified module and verifies the result. See [`Pipeline`] for the text.
/// Returns warnings and remarks.
///
/// # Errors
/// If the pipeline cannot be read, a pass fails, or its result is not valid. In the last two cases
/// the module may be half transformed.
pub fn run_pipeline(module: &mut Module, pipeline: &str) -> Result<Diagnostics> {
    pipeline.parse::<Pipeline>()?.run(module)
}

/// Passes to run in sequence.
///
/// The text of a pipeline is MLIR's: names of passes and pipelines with commas between, options in
/// braces, and `op.name(…)` around passes for each op of that name, as in
/// `func.func(cse,canonicalize{max-iterations=3}),inline`. A pass on functions need not be nested.
#[derive(Default)]
pub struct Pipeline(mlir::pass::PassPipeline);

impl Pipeline {
    /// Adds one pass or named pipeline; `options` are as between the braces: `a=1 b=x,y`.
    ///
    /// # Errors
    /// If there is no such pass or option, or the value of an option is not valid.
    pub fn add(&mut self, name: &str, options: &str) -> Result<&mut Pipeline> {
        PASSES
            .add_named(&mut self.0, name, options)
            .map_err(|message| Error::message("pipeline", message))?;
        Ok(self)
    }

    /// True if there are no passes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Runs the passes on a verified module, which is verified again after each of them. Returns
    /// warnings and remarks.
    ///
    /// # Errors
    /// If a pass fails or its result is not valid; the module may then be half transformed.
    pub fn run(&self, module: &mut Module) -> Result<Diagnostics> {
        let verify = VerifyOptions { allow_unregistered_dialects: true, ..Default::default() };
        let diagnostics = self.run_observed(module, Some(&verify), &mut NoObserver);
        check(diagnostics, module)
    }

    /// As [`Pipeline::run`], with a choice of how to verify between passes, if at all, and an
    /// observer. Returns errors among the diagnostics.
    pub fn run_observed(
        &self,
        module: &mut Module,
        verify_each: Option<&VerifyOptions>,
        observer: &mut dyn PassObserver,
    ) -> Diagnostics {
        self.0.run(module, verify_each, observer)
    }
}

impl FromStr for Pipeline {
    type Err = Error;

    fn from_str(text: &str) -> Result<Pipeline> {
        let pipeline = PASSES.parse(text);
        pipeline.map(Pipeline).map_err(|message| Error::message("pipeline", message))
    }
}

impl fmt::Display for Pipeline {
    /// The text of the pipeline with all options, including defaults.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
