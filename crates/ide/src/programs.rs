//! Commands on whole programs: runs, costs, graphs, other forms.

use crate::file::File;
use crate::hints::scaled;
use stablo::dialects::func::FuncOp;
use stablo::ir::TypeKind;
use stablo::{
    Limits, Module, PrintOptions, Program, RefineOptions, RunOptions, RuntimeValue, Span, Type,
};
use std::fmt::Write as _;
use std::time::Duration;

/// A command offered above a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lens {
    /// The name of the function.
    pub span: Span,
    /// The name of the function without `@`.
    pub function: String,
    /// The command.
    pub kind: LensKind,
}

/// Commands offered above functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LensKind {
    /// Run it with random inputs.
    Run,
    /// Show the values of all ops in that run.
    Trace,
    /// Report its cost.
    Cost,
    /// Show it as a graph.
    Graph,
    /// Make it static.
    Refine,
    /// Show the places that refer to it: their number.
    References(usize),
}

/// The limits of runs that an editor asks for.
pub(crate) const MAX_TIME: Duration = Duration::from_secs(20);
pub(crate) const MAX_MEMORY: usize = 2 << 30;

/// Longer results are cut.
const MAX_SHOWN: usize = 4000;

impl File {
    /// The commands above functions with a body.
    pub fn lenses(&self) -> Vec<Lens> {
        let mut lenses = Vec::new();
        for section in self.sections() {
            let analysis = self.analysis(section);
            let references = analysis.symbol_references();
            for (symbol, references) in analysis.symbols().iter().zip(references) {
                let Some(function) = analysis.op(&analysis.map.ops[symbol.op]) else { continue };
                let Some(function) = FuncOp::cast(function) else { continue };
                let has_body =
                    function.0.regions().iter().any(|&r| !analysis.module.blocks(r).is_empty());
                if !has_body {
                    continue;
                }
                let (inputs, _) = signature(function.0);
                let is_static = inputs
                    .iter()
                    .all(|ty| ty.as_tensor().is_none_or(|t| t.static_shape().is_some()));
                let mut kinds = vec![LensKind::Cost, LensKind::Graph];
                let first: &[LensKind] = match is_static {
                    true => &[LensKind::Run, LensKind::Trace],
                    false => &[LensKind::Refine],
                };
                kinds.splice(0..0, first.iter().copied());
                if !analysis.is_valid() {
                    kinds.clear();
                }
                kinds.push(LensKind::References(references));
                let span = crate::file::moved(symbol.span, section.start);
                let lens = |kind| Lens { span, function: symbol.name.clone(), kind };
                lenses.extend(kinds.into_iter().map(lens));
            }
        }
        lenses
    }

    /// The program of the section at byte `at`.
    ///
    /// # Errors
    /// If it has errors.
    pub fn program(&self, at: u32) -> Result<Module, stablo::Error> {
        let (analysis, ..) = self.analysis_at(at);
        match analysis.is_valid() {
            true => Ok(analysis.module.clone()),
            false => {
                let diagnostics = analysis.diagnostics.clone();
                Err(stablo::Error::in_module(diagnostics, &analysis.module))
            }
        }
    }

    /// Runs a function of the program at byte `at` with random inputs, which follow from a seed.
    /// Returns a readable list of arguments and results.
    ///
    /// # Errors
    /// If the program has errors, or the run fails or reaches a limit.
    pub fn run(&self, at: u32, function: &str, seed: u32) -> Result<String, stablo::Error> {
        let module = self.program(at)?;
        let (inputs, results) = entry(&module, function)?;
        let values = stablo::random_inputs(&inputs, seed)?;
        let mut limits = Limits::default();
        (limits.time, limits.memory) = (Some(MAX_TIME), Some(MAX_MEMORY));
        let program = Program::prepare(module, function, RunOptions::from(limits))?;
        let found = program.run(values.clone())?;
        let mut text = String::new();
        let lists = [("argument", &inputs, &values), ("result", &results, &found)];
        for (what, types, values) in lists {
            for (index, (value, ty)) in values.iter().zip(types).enumerate() {
                let _ = writeln!(text, "{what} {index}: {}", shown(value, ty, MAX_SHOWN));
            }
        }
        Ok(text)
    }

    /// The cost of a run of a function of the program at byte `at`, with its costliest ops.
    ///
    /// # Errors
    /// If the program has errors, or there is no such function.
    pub fn cost(&self, at: u32, function: &str) -> Result<String, stablo::Error> {
        const MAX_ROWS: usize = 20;
        let module = self.program(at)?;
        let cost = stablo::cost(&module, function)?;
        let mut text = format!(
            "{} FLOP, {} transcendental, {} bytes moved, {} bytes of memory at most\n",
            scaled(cost.total.flops),
            scaled(cost.total.transcendentals),
            scaled(cost.total.bytes),
            scaled(cost.peak_memory),
        );
        for (doubt, ops) in &cost.doubts {
            let _ = writeln!(text, "not exact ({ops}): {}", doubt.name());
        }
        for row in cost.rows(stablo::Grouping::Op).iter().take(MAX_ROWS) {
            let (flops, bytes) = (scaled(row.work.flops), scaled(row.work.bytes));
            let _ = writeln!(text, "{flops:>10} FLOP {bytes:>10} B {:>6}× {}", row.runs, row.name);
        }
        Ok(text)
    }

    /// The program at byte `at` as a graph: a page for browsers.
    ///
    /// # Errors
    /// If the program has errors.
    pub fn graph(&self, at: u32) -> Result<String, stablo::Error> {
        let module = self.program(at)?;
        Ok(stablo::view(&module, self.name(), stablo::ViewOptions::default())?.to_html())
    }

    /// The model of [`File::graph`] as JSON, for a page that is elsewhere.
    ///
    /// # Errors
    /// If the program has errors.
    pub fn graph_model(&self, at: u32) -> Result<String, stablo::Error> {
        let module = self.program(at)?;
        Ok(stablo::view(&module, self.name(), stablo::ViewOptions::default())?.to_json())
    }

    /// The text of the program at byte `at`, made static.
    ///
    /// # Errors
    /// If the program has errors or does not become static.
    pub fn refined(
        &self,
        at: u32,
        function: &str,
        options: &RefineOptions,
    ) -> Result<String, stablo::Error> {
        let mut module = self.program(at)?;
        stablo::set_entry(&mut module, function)?;
        stablo::refine(&mut module, options)?;
        printed(&module)
    }

    /// The program at byte `at` after passes, as text.
    ///
    /// # Errors
    /// If the program has errors, or a pass fails.
    pub fn transformed(&self, at: u32, pipeline: &str) -> Result<String, stablo::Error> {
        let mut module = self.program(at)?;
        stablo::run_pipeline(&mut module, pipeline)?;
        printed(&module)
    }

    /// The program at byte `at` as a portable artifact of a version.
    ///
    /// # Errors
    /// If the program has errors, or the version cannot express it.
    pub fn artifact(&self, at: u32, version: &str) -> Result<Vec<u8>, stablo::Error> {
        stablo::serialize(&self.program(at)?, stablo::target_version(version)?)
    }
}

fn printed(module: &Module) -> Result<String, stablo::Error> {
    Ok(stablo::print(module, &PrintOptions::default())? + "\n")
}

/// The types of the arguments and results of the function that is run.
pub(crate) fn entry(
    module: &Module,
    function: &str,
) -> Result<(Vec<Type>, Vec<Type>), stablo::Error> {
    Ok(signature(stablo::entry_function(module, function)?.0))
}

/// The types of the arguments and results of a function.
pub(crate) fn signature(function: stablo::ir::OpRef<'_>) -> (Vec<Type>, Vec<Type>) {
    let ty = function.attr("function_type").and_then(|ty| ty.as_type());
    match ty.map(|ty| &**ty) {
        Some(TypeKind::Function { inputs, results }) => (inputs.to_vec(), results.to_vec()),
        _ => (Vec::new(), Vec::new()),
    }
}

/// A value on one line, cut to `max` characters.
pub(crate) fn shown(value: &RuntimeValue, ty: &Type, max: usize) -> String {
    let Ok(tensor) = value.tensor() else { return ty.to_string() };
    // A character shows at most an element.
    let elements = tensor.shape().iter().product::<usize>();
    if elements > 2 * max {
        return format!("{ty}, {}", stablo::counted(elements as u64, "element"));
    }
    let text = stablo::Attribute::from_tensor(tensor).to_string();
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}… : {ty}", &text[..end]),
        None => text,
    }
}
