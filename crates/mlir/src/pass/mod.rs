//! Passes: named transformations with options, textual pipelines of passes, and the pass manager.

mod manager;
mod pipeline;

pub use crate::options::{OptionKind, OptionValue, PassOption, PassOptions};
pub use manager::{NoObserver, PassObserver, Step};
pub use pipeline::{Invocation, PassPipeline, Passes, PipelineError};

use crate::diag::{Diagnostic, Diagnostics, Severity};
use crate::ir::{Module, OpId};
use crate::rewrite::Statistics;

/// A transformation, as data. Lists of passes are sorted by name.
pub struct Pass {
    /// The name in pipelines; `--name` on the command line.
    pub name: &'static str,
    /// Documentation; the first line is the summary.
    pub doc: &'static str,
    /// The op that it runs on, such as `func.func`; `None` for any.
    pub anchor: Option<&'static str>,
    /// Its options.
    pub options: &'static [PassOption],
    /// Transforms one op of a verified module, with its regions. The result must be valid unless an
    /// error is reported.
    pub run: fn(&mut PassContext<'_>),
}

impl Pass {
    /// A pass on functions without options.
    pub const fn on_functions(
        name: &'static str,
        doc: &'static str,
        run: fn(&mut PassContext<'_>),
    ) -> Pass {
        Pass { name, doc, anchor: Some("func.func"), options: &[], run }
    }

    /// A pass on modules without options.
    pub const fn on_modules(
        name: &'static str,
        doc: &'static str,
        run: fn(&mut PassContext<'_>),
    ) -> Pass {
        Pass { name, doc, anchor: Some("builtin.module"), options: &[], run }
    }

    /// A pass on any op without options.
    pub const fn on_any(
        name: &'static str,
        doc: &'static str,
        run: fn(&mut PassContext<'_>),
    ) -> Pass {
        Pass { name, doc, anchor: None, options: &[], run }
    }

    /// The same pass with options.
    #[must_use]
    pub const fn with_options(self, options: &'static [PassOption]) -> Pass {
        Pass { options, ..self }
    }
}

/// A named pipeline.
pub struct NamedPipeline {
    /// The name in pipelines; `--name` on the command line.
    pub name: &'static str,
    /// Documentation, in one line.
    pub doc: &'static str,
    /// Its passes, in the syntax between the brackets of `builtin.module(…)`.
    pub passes: &'static str,
}

/// The context of a running pass.
pub struct PassContext<'m> {
    /// The module; the pass may only change `root` and its regions.
    pub module: &'m mut Module,
    /// The op to transform.
    pub root: OpId,
    /// The pass options, with defaults filled in.
    pub options: &'m PassOptions,
    /// Diagnostics reported by the pass.
    pub diagnostics: Diagnostics,
    /// Pattern statistics.
    pub statistics: Statistics,
}

impl PassContext<'_> {
    /// Reports a problem. An error makes the pass fail.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// True if an error was reported.
    pub fn failed(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }

    /// Applies patterns greedily to the ops nested in the root. Returns true if anything changed.
    pub fn rewrite_greedily(&mut self, patterns: &mut crate::rewrite::PatternSet) -> bool {
        self.rewrite_with(patterns, crate::rewrite::greedy::Config::default())
    }

    /// As [`PassContext::rewrite_greedily`], with a driver configuration.
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

    /// Applies a dialect conversion to the ops nested in the root.
    pub fn convert(
        &mut self,
        patterns: &mut crate::rewrite::PatternSet,
        conversion: &crate::rewrite::conversion::ConversionTarget<'_>,
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
