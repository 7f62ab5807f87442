//! Passes: transformations with names and options, pipelines of them as text, and the manager that
//! runs them.

mod manager;
mod options;
mod pipeline;

pub use manager::{NoObserver, Observer, Step};
pub use options::{OptionKind, OptionValue, Options, PassOption};
pub use pipeline::{Invocation, Passes, Pipeline, PipelineError};

use crate::diag::{Diagnostic, Diagnostics, Severity};
use crate::ir::{Module, OpId};
use crate::rewrite::Statistics;

/// A transformation, as data. Lists of passes are written out, in alphabetical order of the names.
pub struct Pass {
    /// The name in pipelines; `--name` on the command line.
    pub name: &'static str,
    /// What it does; the first line is the summary.
    pub doc: &'static str,
    /// The op that it runs on, such as `func.func`; none for any.
    pub anchor: Option<&'static str>,
    /// Its options.
    pub options: &'static [PassOption],
    /// Transforms one op of a verified module, and what is in it. The result is valid if no error
    /// is reported.
    pub run: fn(&mut Context<'_>),
}

impl Pass {
    /// A pass on functions without options.
    pub const fn on_functions(
        name: &'static str,
        doc: &'static str,
        run: fn(&mut Context<'_>),
    ) -> Pass {
        Pass { name, doc, anchor: Some("func.func"), options: &[], run }
    }

    /// A pass on modules without options.
    pub const fn on_modules(
        name: &'static str,
        doc: &'static str,
        run: fn(&mut Context<'_>),
    ) -> Pass {
        Pass { name, doc, anchor: Some("builtin.module"), options: &[], run }
    }

    /// A pass on any op without options.
    pub const fn on_any(name: &'static str, doc: &'static str, run: fn(&mut Context<'_>)) -> Pass {
        Pass { name, doc, anchor: None, options: &[], run }
    }

    /// The same pass with options.
    #[must_use]
    pub const fn with_options(self, options: &'static [PassOption]) -> Pass {
        Pass { options, ..self }
    }
}

/// A pipeline under a name.
pub struct NamedPipeline {
    /// The name in pipelines; `--name` on the command line.
    pub name: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
    /// Its passes, as they are written between the brackets of `builtin.module(…)`.
    pub passes: &'static str,
}

/// What a pass sees while it runs.
pub struct Context<'m> {
    /// The module, to be changed within `root`.
    pub module: &'m mut Module,
    /// The op to transform.
    pub root: OpId,
    /// The options given, with defaults for the others.
    pub options: &'m Options,
    /// What the pass reports.
    pub diagnostics: Diagnostics,
    /// How often its patterns applied.
    pub statistics: Statistics,
}

impl Context<'_> {
    /// Reports a problem. An error makes the pass fail.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Whether an error was reported.
    pub fn failed(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }

    /// Applies patterns greedily to everything in the op. Whether anything changed.
    pub fn rewrite_greedily(&mut self, patterns: &mut crate::rewrite::PatternSet) -> bool {
        self.rewrite_with(patterns, crate::rewrite::greedy::Config::default())
    }

    /// As [`Context::rewrite_greedily`], in a way that `config` says.
    pub fn rewrite_with(
        &mut self,
        patterns: &mut crate::rewrite::PatternSet,
        config: crate::rewrite::greedy::Config,
    ) -> bool {
        let outcome =
            crate::rewrite::greedy::rewrite(self.module, self.root, patterns, self.options, config);
        self.diagnostics.extend(outcome.diagnostics);
        self.statistics.merge(&outcome.statistics);
        outcome.changed
    }

    /// Converts everything in the op.
    pub fn convert(
        &mut self,
        patterns: &mut crate::rewrite::PatternSet,
        conversion: &crate::rewrite::conversion::Conversion<'_>,
    ) {
        let (diagnostics, statistics) = crate::rewrite::conversion::convert(
            self.module,
            self.root,
            patterns,
            conversion,
            self.options,
        );
        self.diagnostics.extend(diagnostics);
        self.statistics.merge(&statistics);
    }
}
