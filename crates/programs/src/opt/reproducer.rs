//! Reproducers: a module with the pipeline that failed on it, in one file.
//!
//! Source: MLIR documentation, "Pass Infrastructure", section "Crash and Failure Reproduction".

use super::PassFlags;
use crate::format::first;
use crate::io::{CommandFailure, Io};
use stablo::ir::{ExternalResource, OpId};
use stablo::passes::{Invocation, Pipeline};
use stablo::{Diagnostic, Module, PrintOptions, print_op};
use std::path::PathBuf;

/// The owner of the resources of a reproducer.
const OWNER: &str = "mlir_reproducer";

/// Makes the file that `--mlir-pass-pipeline-crash-reproducer` names.
#[derive(Default)]
pub(super) struct Reproducer {
    file: Option<PathBuf>,
    /// True if the file has only the pass that failed.
    local: bool,
    verify_each: bool,
    print: PrintOptions,
    /// The module before the pipeline, or before the pass that runs, and what runs.
    start: Option<(Module, String)>,
    failed: bool,
}

impl Reproducer {
    pub(super) fn new(flags: &PassFlags, print: PrintOptions) -> Reproducer {
        Reproducer {
            file: flags.mlir_pass_pipeline_crash_reproducer.clone(),
            local: flags.mlir_pass_pipeline_local_reproducer,
            verify_each: flags.verify_each,
            print,
            start: None,
            failed: false,
        }
    }

    /// Notes the start of a pipeline.
    pub(super) fn before_pipeline(&mut self, pipeline: &Pipeline, module: &Module) {
        if self.file.is_some() && !self.failed {
            self.start = Some((module.clone(), format!("builtin.module({pipeline})")));
        }
    }

    /// Notes the start of a pass.
    pub(super) fn before_pass(&mut self, invocation: &Invocation, module: &Module, root: OpId) {
        if self.file.is_none() || !self.local {
            return;
        }
        let mut pipeline = format!("{}{}", invocation.pass.name, invocation.options);
        let mut around = Some(module.op(root));
        while let Some(op) = around {
            pipeline = format!("{}({pipeline})", op.name());
            around = op.parent();
        }
        self.start = Some((module.clone(), pipeline));
    }

    /// Notes that the pipeline failed: what it ran on is kept until it is written.
    pub(super) fn pipeline_failed(&mut self) {
        self.failed = true;
    }

    /// Writes the file, if a pipeline failed.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn write(self, io: &mut Io<'_>) -> Result<(), CommandFailure> {
        let (Some(file), Some((mut module, pipeline)), true) = (self.file, self.start, self.failed)
        else {
            return Ok(());
        };
        // A pipeline is ASCII text without quotes and backslashes, unless an option has them.
        let pipeline = pipeline.replace('\\', "\\\\").replace('"', "\\22");
        let values = [
            ("pipeline", format!("\"{pipeline}\"")),
            ("disable_threading", "true".to_string()),
            ("verify_each", self.verify_each.to_string()),
        ];
        for (key, value) in values {
            module.add_external_resource(ExternalResource {
                owner: OWNER.into(),
                key: key.into(),
                value: value.as_str().into(),
            });
        }
        let text = print_op(module.top(), &self.print);
        io.write_file(&file, |out| out.write_all(text.as_bytes()))?;
        io.report(format_args!(
            "note: --run-reproducer on {} repeats this failure\n",
            file.display()
        ));
        Ok(())
    }
}

/// The pipeline of a reproducer, and whether the module is verified after each pass.
///
/// # Errors
/// If the module has none, or it cannot be read.
pub(super) fn pipeline(module: &Module) -> Result<(Pipeline, bool), Box<Diagnostic>> {
    let error = |message: String| Box::new(Diagnostic::error("reproducer", message));
    let value = |key: &str| {
        let resources = module.external_resources();
        resources.iter().find(|r| &*r.owner == OWNER && &*r.key == key).map(|r| &*r.value)
    };
    let Some(text) = value("pipeline") else {
        let message = format!(
            "this file has no reproducer: no `pipeline` of `{OWNER}` among its external resources"
        );
        return Err(error(message));
    };
    let text = stablo::parse_attribute(text).map_err(|e| error(e.to_string()))?;
    let Some(text) = text.as_str() else {
        return Err(error(format!("the pipeline of a reproducer is a string, not {text}")));
    };
    let pipeline = text.parse().map_err(|e: stablo::Error| error(first(&e).to_string()))?;
    Ok((pipeline, value("verify_each") != Some("false")))
}
