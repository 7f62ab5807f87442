//! Textual pipelines: `builtin.module(func.func(cse,canonicalize{max-iterations=3}),inline)`.

use super::{NamedPipeline, Pass, PassOptions};
use crate::nearest::nearest;
use crate::options::end_of;
use std::fmt;

/// The registered passes and named pipelines.
#[derive(Clone, Copy)]
pub struct Passes {
    /// Passes.
    pub passes: &'static [Pass],
    /// Named pipelines.
    pub pipelines: &'static [NamedPipeline],
}

/// A pass with its options.
pub struct Invocation {
    /// The pass.
    pub pass: &'static Pass,
    /// Its options.
    pub options: PassOptions,
}

/// A sequence of passes on ops of one name.
#[derive(Default)]
pub struct PassPipeline {
    pub(super) steps: Vec<PipelineStep>,
}

pub(super) enum PipelineStep {
    Pass(Invocation),
    /// Runs a pipeline on each directly nested op of the given name.
    Nested(String, PassPipeline),
}

impl fmt::Display for PassPipeline {
    /// Its passes with all options, in the syntax between the brackets of `builtin.module(…)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.steps.iter().enumerate() {
            f.write_str(if i > 0 { "," } else { "" })?;
            match step {
                PipelineStep::Pass(pass) => write!(f, "{}{}", pass.pass.name, pass.options)?,
                PipelineStep::Nested(on, nested) => write!(f, "{on}({nested})")?,
            }
        }
        Ok(())
    }
}

/// An error in the text of a pipeline.
pub type PipelineError = String;

/// Maximum nesting of pipelines.
const MAX_DEPTH: usize = 64;

impl Passes {
    /// Looks up a pass by name.
    pub fn pass(&self, name: &str) -> Option<&'static Pass> {
        self.passes.iter().find(|pass| pass.name == name)
    }

    /// Parses a pipeline, with or without `builtin.module(…)` around it.
    ///
    /// # Errors
    /// If a pass or option is unknown, a pass does not run on the given op, or brackets do not
    /// match.
    pub fn parse(&self, text: &str) -> Result<PassPipeline, PipelineError> {
        let text = text.trim();
        let mut pipeline = PassPipeline::default();
        match text
            .strip_prefix("builtin.module")
            .map(str::trim_start)
            .and_then(|rest| rest.strip_prefix('('))
        {
            Some(rest) if end_of(text, |_| false) == text.len() => {
                let Some(within) = rest.strip_suffix(')') else {
                    return Err(format!("`(` without `)` in the pipeline `{text}`"));
                };
                self.add(&mut pipeline, "builtin.module", within, 0)?;
            }
            _ => self.add(&mut pipeline, "builtin.module", text, 0)?,
        }
        Ok(pipeline)
    }

    /// Adds one pass or named pipeline with textual options.
    ///
    /// # Errors
    /// As [`Passes::parse`].
    pub fn add_named(
        &self,
        pipeline: &mut PassPipeline,
        name: &str,
        options: &str,
    ) -> Result<(), PipelineError> {
        self.add_step(pipeline, "builtin.module", name, options, 0)
    }

    fn add(
        &self,
        pipeline: &mut PassPipeline,
        anchor: &str,
        text: &str,
        depth: usize,
    ) -> Result<(), PipelineError> {
        if depth > MAX_DEPTH {
            return Err(format!("a pipeline nests deeper than {MAX_DEPTH} levels"));
        }
        let mut rest = text.trim();
        while !rest.is_empty() {
            let end = end_of(rest, |c| c == ',' || c == ')');
            let item = rest[..end].trim();
            match rest[end..].chars().next() {
                Some(')') => return Err(format!("`)` without `(` in the pipeline `{text}`")),
                Some(_) if rest[end + 1..].trim().is_empty() => {
                    return Err(format!("nothing follows the last comma in the pipeline `{text}`"));
                }
                Some(_) => rest = rest[end + 1..].trim_start(),
                None => rest = "",
            }
            self.item(pipeline, anchor, item, depth)?;
        }
        Ok(())
    }

    /// Adds `name`, `name{options}` or `op.name(pipeline)`.
    fn item(
        &self,
        pipeline: &mut PassPipeline,
        anchor: &str,
        item: &str,
        depth: usize,
    ) -> Result<(), PipelineError> {
        let at = item.find(['(', '{']).unwrap_or(item.len());
        let (name, rest) = (item[..at].trim(), item[at..].trim());
        if let Some(within) = rest.strip_prefix('(') {
            let Some(within) = within.strip_suffix(')') else {
                return Err(format!("`(` without `)` in the pipeline `{item}`"));
            };
            let mut nested = PassPipeline::default();
            self.add(&mut nested, name, within, depth + 1)?;
            pipeline.steps.push(PipelineStep::Nested(name.to_string(), nested));
            return Ok(());
        }
        let options = match rest.strip_prefix('{') {
            Some(options) => options
                .strip_suffix('}')
                .ok_or_else(|| format!("`{{` without `}}` in the pipeline `{item}`"))?,
            None => "",
        };
        self.add_step(pipeline, anchor, name, options, depth)
    }

    fn add_step(
        &self,
        pipeline: &mut PassPipeline,
        anchor: &str,
        name: &str,
        options: &str,
        depth: usize,
    ) -> Result<(), PipelineError> {
        if let Some(named) = self.pipelines.iter().find(|p| p.name == name) {
            if !options.trim().is_empty() {
                return Err(format!("the pipeline `{name}` has no options"));
            }
            return self.add(pipeline, anchor, named.passes, depth + 1);
        }
        let Some(pass) = self.pass(name) else { return Err(self.unknown(name)) };
        let options = PassOptions::parse(name, pass.options, options)?;
        let step = PipelineStep::Pass(Invocation { pass, options });
        match pass.anchor {
            Some(on) if on != anchor && anchor == "builtin.module" => {
                pipeline
                    .steps
                    .push(PipelineStep::Nested(on.to_string(), PassPipeline { steps: vec![step] }));
            }
            Some(on) if on != anchor => {
                return Err(format!("the pass `{name}` runs on {on}, not on {anchor}"));
            }
            _ => pipeline.steps.push(step),
        }
        Ok(())
    }

    fn unknown(&self, name: &str) -> PipelineError {
        let names = || {
            let pipelines = self.pipelines.iter().map(|pipeline| pipeline.name);
            self.passes.iter().map(|pass| pass.name).chain(pipelines)
        };
        // As people write them from memory: `CSE`, `refine_shapes`.
        let plain = name.to_ascii_lowercase().replace('_', "-");
        let is_end = |whole: &&str| {
            let start = whole.strip_suffix(&*plain);
            start.is_some_and(|start| start.is_empty() || start.ends_with('-'))
        };
        match names().find(is_end).or_else(|| nearest(&plain, names())) {
            Some(near) => format!("there is no pass `{name}`; did you mean `{near}`?"),
            None => format!("there is no pass `{name}`"),
        }
    }
}
