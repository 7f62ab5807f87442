//! The folder that reports a judgement: the report in all formats, what was judged, and a
//! reproducer.

use crate::io::{CommandFailure, Io};
use stablo::arrays::npy;
use stablo::ir::ValueDef;
use stablo::judging::{self, Judgement, Record};
use stablo::{Engine, Format, Module, Program, RunOptions, RuntimeValue, Tensor};
use std::path::Path;

/// A program with inputs, and results that a backend has computed from them.
pub(crate) struct ReducedCase {
    /// The program, whose entry is `main`.
    pub module: Module,
    /// Its inputs.
    pub inputs: Vec<RuntimeValue>,
    /// The results.
    pub results: Vec<Tensor>,
}

/// A judgement with what it is about.
pub(crate) struct JudgedRun<'r> {
    /// The name of the program.
    pub name: &'r str,
    /// The program as it was judged.
    pub program: &'r Program,
    /// Its inputs.
    pub inputs: &'r [RuntimeValue],
    /// The results.
    pub results: &'r [Tensor],
    /// The judgement.
    pub judgement: &'r Judgement,
}

fn make(directory: &Path, io: &Io<'_>) -> Result<(), CommandFailure> {
    std::fs::create_dir_all(io.path(directory)).map_err(|error| {
        CommandFailure::input(format!("cannot make the directory {}: {error}", directory.display()))
    })
}

fn save(
    directory: &Path,
    stem: &str,
    tensors: &[&Tensor],
    io: &mut Io<'_>,
) -> Result<(), CommandFailure> {
    for (index, tensor) in tensors.iter().enumerate() {
        let mut bytes = Vec::new();
        npy::write(tensor, &mut bytes).map_err(CommandFailure::input)?;
        io.write(&directory.join(format!("{stem}_{index}.npy")), &bytes)?;
    }
    Ok(())
}

/// Writes a program with its inputs and results.
fn save_case(
    directory: &Path,
    module: &Module,
    inputs: &[RuntimeValue],
    results: &[Tensor],
    io: &mut Io<'_>,
) -> Result<(), CommandFailure> {
    make(directory, io)?;
    io.write(&directory.join("program.mlir"), &Format::Text.write(module, true)?)?;
    let inputs: Vec<&Tensor> = inputs.iter().filter_map(|value| value.tensor().ok()).collect();
    save(directory, "input", &inputs, io)?;
    save(directory, "output", &results.iter().collect::<Vec<_>>(), io)
}

impl JudgedRun<'_> {
    /// The page of the program with the errors of its ops and the elements of its results.
    ///
    /// # Errors
    /// If the program cannot be shown.
    pub(crate) fn page(&self) -> Result<String, CommandFailure> {
        let options = stablo::ViewOptions::default();
        let view = stablo::view(self.program.module(), self.name, options)?;
        Ok(self.judgement.shown_in(view).to_html())
    }

    /// Writes the folder: `report.txt`, `.json`, `.xml`, `.sarif` and `.html`, the program with its
    /// inputs and results, and in `reproducer` a smaller program that shows the same, with a report
    /// of its own.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(crate) fn write(
        &self,
        directory: &Path,
        reproducer: Option<&ReducedCase>,
        options: &judging::Options,
        io: &mut Io<'_>,
    ) -> Result<(), CommandFailure> {
        save_case(directory, self.program.module(), self.inputs, self.results, io)?;
        let judgement = self.judgement;
        let mut text = judgement.to_text();
        if let Some(case) = reproducer {
            let own = directory.join("reproducer");
            save_case(&own, &case.module, &case.inputs, &case.results, io)?;
            let run = RunOptions { engine: Engine::Reference, ..RunOptions::default() };
            let program = Program::prepare(case.module.clone(), "main", run)?;
            let inputs = case.inputs.clone();
            let judged = stablo::judge(&program, inputs, &case.results, None, options)?.to_text();
            io.write(&own.join("report.txt"), judged.as_bytes())?;
            text += "a smaller program that shows it is in `reproducer`\n";
        }
        for (name, content) in [
            ("report.txt", text),
            ("report.json", judgement.to_json() + "\n"),
            ("report.xml", judgement.to_junit(self.name)),
            ("report.sarif", judgement.to_sarif(self.name) + "\n"),
            ("report.html", self.page()?),
        ] {
            io.write(&directory.join(name), content.as_bytes())?;
        }
        Ok(())
    }
}

/// The program of the first op that is wrong for its actual operands, with these and its recorded
/// results. `None` if there is no such op, or its operands were not recorded.
pub(crate) fn isolated(
    program: &Program,
    entry: &str,
    inputs: &[RuntimeValue],
    judgement: &Judgement,
    record: &mut dyn Record,
) -> Option<ReducedCase> {
    let blame = judgement.blames.as_ref()?.isolated.first()?;
    let (source, op) = (program.module(), blame.location.id);
    let isolated = stablo::isolate(source, op)?;
    let entry = stablo::entry_function(source, entry).ok()?;
    let body = source.entry(entry.body());
    let mut operands = Vec::with_capacity(isolated.arguments.len());
    for &argument in &isolated.arguments {
        let operand: RuntimeValue = match source.definition(argument) {
            ValueDef::Result { op, index } => {
                record.value(op, index as usize, blame.iteration).ok()??.into()
            }
            ValueDef::Argument { block, index } => {
                inputs.get(index as usize).filter(|_| body == Some(block))?.clone()
            }
        };
        operands.push(operand);
    }
    let count = source.op(op).num_results();
    let results = (0..count).map(|index| record.value(op, index, blame.iteration).ok().flatten());
    let results = results.collect::<Option<Vec<Tensor>>>()?;
    Some(ReducedCase { module: isolated.module, inputs: operands, results })
}
