//! `stablo inspect`: reports the format and contents of a file.

use crate::args::ReportStyle;
use crate::hex;
use crate::io::{CommandFailure, Io};
use crate::source::{program_name, read_program, report};
use crate::units::size;
use stablo::{Exported, FileFormat, Inspection};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  stablo inspect model.mlir.bc
  stablo inspect model.mlir.bc --hex";

/// The command line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InspectArgs {
    /// The program: MLIR text, bytecode, a portable artifact or an export of `jax.export`; `-` is
    /// standard input
    file: PathBuf,
    /// Output format
    #[arg(long, default_value = "human")]
    format: ReportStyle,
    /// Dump the bytes of the file, annotated with their meaning
    #[arg(long)]
    hex: bool,
}

/// Runs the command.
///
/// # Errors
/// If the file cannot be read or is not a valid program.
pub(crate) fn run(options: &InspectArgs, io: &mut Io<'_>) -> Result<(), CommandFailure> {
    let bytes = read_program(io, &options.file)?;
    if options.hex {
        let (fields, diagnostics) = stablo::bytecode_fields(&bytes);
        io.print(hex::annotated(&bytes, &fields))?;
        return report(diagnostics, &stablo::new_module(), io);
    }
    let name = program_name(&options.file);
    let inspection = stablo::inspect(&name, bytes)?;
    match options.format {
        ReportStyle::Human => io.print(to_text(&name, &inspection)),
        ReportStyle::Json => io.print(format!("{}\n", inspection.to_json())),
    }
}

/// `name (count)` for each entry, in order of decreasing count.
fn counted(counts: &BTreeMap<String, usize>) -> String {
    let mut entries: Vec<_> = counts.iter().collect();
    entries.sort_by_key(|&(name, &count)| (std::cmp::Reverse(count), name));
    entries.iter().map(|(name, count)| format!("  {count:>6}  {name}\n")).collect()
}

fn to_text(name: &str, inspection: &Inspection) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_text(&mut out, name, inspection);
    out
}

fn write_text(out: &mut String, name: &str, inspection: &Inspection) -> std::fmt::Result {
    writeln!(out, "{name}: {}, {}", describe(&inspection.format), size(inspection.bytes))?;
    if let Some(exported) = &inspection.exported {
        write_exported(out, exported)?;
    }
    if let FileFormat::Bytecode { producer, sections, .. } = &inspection.format {
        writeln!(out, "producer: {producer}\nsections:")?;
        for (section, bytes) in sections {
            writeln!(out, "  {:>10}  {section}", size(*bytes))?;
        }
    }
    writeln!(out, "functions:")?;
    for (function, ty) in &inspection.functions {
        writeln!(out, "  @{function} : {ty}")?;
    }
    let constants = &inspection.constants;
    write!(out, "constants: {}, {}", constants.count, size(constants.bytes))?;
    match &constants.largest {
        Some((ty, bytes)) => writeln!(out, "; the largest is a {ty} of {}", size(*bytes))?,
        None => writeln!(out)?,
    }
    match &inspection.oldest_target {
        Ok(version) => writeln!(out, "oldest target: {version}")?,
        Err(why) => writeln!(out, "oldest target: none; {why}")?,
    }
    for (op, requirement) in &inspection.requirements {
        let (version, count, reason) =
            (requirement.version, requirement.count, &requirement.reason);
        writeln!(
            out,
            "  {version} for {count} {op}: before, {reason}; first at {}",
            requirement.location
        )?;
    }
    if !inspection.other_dialects.is_empty() {
        let names: Vec<&str> = inspection.other_dialects.iter().map(String::as_str).collect();
        let names = names.join(", ");
        writeln!(
            out,
            "other dialects, kept in artifacts without a promise of compatibility: {names}"
        )?;
    }
    for (title, counts) in [
        ("custom calls", &inspection.custom_calls),
        ("composites", &inspection.composites),
        ("ops", &inspection.ops),
    ] {
        if !counts.is_empty() {
            write!(out, "{title}:\n{}", counted(counts))?;
        }
    }
    Ok(())
}

fn describe(format: &FileFormat) -> String {
    match format {
        FileFormat::Text => "MLIR text".to_string(),
        FileFormat::Bytecode { version, artifact: None, .. } => {
            format!("MLIR bytecode of format {version}")
        }
        FileFormat::Bytecode { version, artifact: Some(artifact), .. } => {
            format!("portable artifact of version {artifact} in MLIR bytecode of format {version}")
        }
    }
}

fn write_exported(out: &mut String, exported: &Exported) -> std::fmt::Result {
    writeln!(out, "exported by jax.export: {}", exported.function_name)?;
    writeln!(out, "  platforms: {}", exported.platforms.join(", "))?;
    writeln!(out, "  devices: {}", exported.num_devices)?;
    writeln!(out, "  calling convention: version {}", exported.calling_convention_version)?;
    writeln!(out, "  inputs: {} as {}", exported.inputs.join(", "), exported.input_tree)?;
    writeln!(out, "  outputs: {} as {}", exported.outputs.join(", "), exported.output_tree)?;
    for (what, shardings) in [
        ("input shardings", &exported.input_shardings),
        ("output shardings", &exported.output_shardings),
    ] {
        if shardings.iter().any(Option::is_some) {
            let list: Vec<&str> =
                shardings.iter().map(|s| s.as_deref().unwrap_or("open")).collect();
            writeln!(out, "  {what}: {}", list.join("; "))?;
        }
    }
    for (what, names) in [
        ("ordered effects", &exported.ordered_effects),
        ("effects", &exported.unordered_effects),
        ("disabled checks", &exported.disabled_checks),
    ] {
        if !names.is_empty() {
            writeln!(out, "  {what}: {}", names.join(", "))?;
        }
    }
    if exported.num_derivatives > 0 {
        writeln!(out, "  derivatives: {}", exported.num_derivatives)?;
    }
    if exported.kept_inputs.len() < exported.inputs.len() {
        let kept: Vec<String> = exported.kept_inputs.iter().map(u16::to_string).collect();
        writeln!(out, "  inputs that the module takes: {}", kept.join(", "))?;
    }
    Ok(())
}
