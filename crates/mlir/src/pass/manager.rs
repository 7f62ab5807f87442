//! Runs pass pipelines.

use super::PassContext;
use super::pipeline::{Invocation, PassPipeline, PipelineStep};
use crate::diag::{Diagnostic, Diagnostics, Severity};
use crate::ir::{Module, OpId, OpRef};
use crate::nearest::suggestion;
use crate::rewrite::Statistics;
use crate::verify::{VerifyOptions, verify};
use host::Host;
use std::time::Duration;

/// The execution of a pass on one op.
pub struct Step<'a> {
    /// The pass with its options.
    pub invocation: &'a Invocation,
    /// The op that it ran on.
    pub root: OpId,
    /// Elapsed time, excluding verification.
    pub elapsed: Duration,
    /// Pattern statistics.
    pub statistics: &'a Statistics,
}

/// Callbacks for the execution of a pipeline.
pub trait PassObserver {
    /// Called before a pass runs on an op.
    fn before(&mut self, _invocation: &Invocation, _module: &Module, _root: OpId) {}
    /// Called after a pass ran on an op without errors.
    fn after(&mut self, _step: &Step<'_>, _module: &Module) {}
    /// Called after a pass reported an error.
    fn failed(&mut self, _invocation: &Invocation, _module: &Module, _root: OpId) {}
}

/// No-op observer.
pub struct NoObserver;

impl PassObserver for NoObserver {}

impl PassPipeline {
    /// True if there are no passes.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Runs the passes on a verified module, and stops at the first that reports an error. With
    /// `verify_each` the module is verified after each, and after all passes on the ops in it.
    /// Invalidates ids: see [`Module::compact`].
    pub fn run(
        &self,
        module: &mut Module,
        verify_each: Option<&VerifyOptions>,
        observer: &mut dyn PassObserver,
    ) -> Diagnostics {
        let mut runner = Runner { module, verify_each, observer, diagnostics: Vec::new() };
        for step in &self.steps {
            let top = runner.module.top().id();
            runner.step(step, top);
            // No ids are held here.
            if runner.module.is_sparse() {
                runner.module.compact();
            }
        }
        runner.diagnostics
    }
}

struct Runner<'r> {
    module: &'r mut Module,
    verify_each: Option<&'r VerifyOptions>,
    observer: &'r mut dyn PassObserver,
    diagnostics: Diagnostics,
}

impl Runner<'_> {
    fn failed(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }

    fn step(&mut self, step: &PipelineStep, root: OpId) {
        if self.failed() {
            return;
        }
        match step {
            PipelineStep::Pass(invocation) => self.pass(invocation, root),
            PipelineStep::Nested(name, nested) => {
                self.check_name(name);
                let op = self.module.op(root);
                let blocks = op.regions().iter().flat_map(|&region| self.module.blocks(region));
                let ops = blocks.flat_map(|&block| self.module.ops(block));
                let ops: Vec<OpId> = ops.filter(|op| op.name() == name).map(OpRef::id).collect();
                for op in ops {
                    if self.module.is_attached(op) {
                        nested.steps.iter().for_each(|step| self.step(step, op));
                    }
                }
                // Ops may refer to each other: verify only once the passes ran on all of them.
                if root == self.module.top().id() && !self.failed() {
                    self.verify();
                }
            }
        }
    }

    /// Warns about a name in a pipeline that no op of the module has.
    fn check_name(&mut self, name: &str) {
        let registry = self.module.registry();
        if registry.op(name).is_some()
            || self.module.walk(self.module.top().id()).any(|op| op.name() == name)
        {
            return;
        }
        let help = suggestion(name, registry.ops().map(|op| op.name));
        let message = format!("passes on `{name}` do not run: there is no such op");
        if self.diagnostics.iter().all(|d| d.message != message) {
            let warning = Diagnostic {
                severity: Severity::Warning,
                ..Diagnostic::error("pipeline", message).help(help)
            };
            self.diagnostics.push(warning);
        }
    }

    fn verify(&mut self) {
        if let Some(options) = self.verify_each {
            self.diagnostics.extend(verify(self.module, options));
        }
    }

    fn pass(&mut self, invocation: &Invocation, root: OpId) {
        self.observer.before(invocation, self.module, root);
        let host = Host::current();
        let start = host.now();
        let mut context = PassContext {
            module: self.module,
            root,
            options: &invocation.options,
            diagnostics: Vec::new(),
            statistics: Statistics::default(),
        };
        (invocation.pass.run)(&mut context);
        // Zero if the host has no clock.
        let elapsed = host.now().unwrap_or_default().saturating_sub(start.unwrap_or_default());
        let PassContext { diagnostics, statistics, .. } = context;
        self.diagnostics.extend(diagnostics);
        if self.failed() {
            return self.observer.failed(invocation, self.module, root);
        }
        if root == self.module.top().id() {
            self.verify();
        }
        if !self.failed() {
            self.observer
                .after(&Step { invocation, root, elapsed, statistics: &statistics }, self.module);
        }
    }
}
