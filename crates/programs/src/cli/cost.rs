//! `stablo cost`: reports the arithmetic, memory traffic and memory of a program.

use crate::args::ReportStyle;
use crate::display::printable;
use crate::io::{CommandFailure, Io};
use crate::source::{load_bytes, program_name, read_program, select_platform};
use crate::units::{flops, size};
use stablo::{Cost, Grouping, Tensors, Work, counted};
use std::fmt::Write as _;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  stablo cost model.mlir
  stablo cost model.mlir.bc --by scope --top 10
  stablo cost model.mlir --format json

Each op counts as if it read its operands from memory and wrote its results. An operation on an
element is one FLOP, a multiplication with an addition two; transcendental functions are counted
apart. Loops count as often as they run, if a constant says how often.";

/// The command line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CostArgs {
    /// The program: MLIR text, bytecode, a portable artifact or an export of `jax.export`; `-` is
    /// standard input
    file: PathBuf,
    /// The function that runs
    #[arg(long, value_name = "NAME", default_value = "main")]
    entry: String,
    /// Group by which costs are added up
    #[arg(long, value_name = "GROUP", default_value = "op")]
    by: By,
    /// Number of rows to print; 0 for all
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// The platform, for a program that was exported for several; otherwise `cpu`
    #[arg(long, value_name = "NAME")]
    platform: Option<String>,
    /// Output format: a readable table, or a JSON object with the cost of each op
    #[arg(long, default_value = "human")]
    format: ReportStyle,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum By {
    /// The name of the op
    Op,
    /// The function that contains it
    Function,
    /// The line that it was made from, as far as the exporter recorded it
    Source,
    /// The scope that it was made in, such as a layer, as far as the exporter recorded it
    Scope,
    /// Each op by itself
    Each,
}

/// Runs the command.
///
/// # Errors
/// If the program cannot be read or is not valid.
pub(crate) fn run(options: &CostArgs, io: &mut Io<'_>) -> Result<(), CommandFailure> {
    let bytes = read_program(io, &options.file)?;
    let mut module = load_bytes(&options.file, bytes.clone(), io)?;
    select_platform(&mut module, &bytes, options.platform.as_deref())?;
    let entry = options.entry.strip_prefix('@').unwrap_or(&options.entry);
    let cost = stablo::cost(&module, entry)?;
    let ReportStyle::Human = options.format else {
        return io.print(format!("{}\n", cost.to_json()));
    };
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = summary(&mut out, &program_name(&options.file), &cost);
    let _ = table(&mut out, &cost, options);
    io.print(out)
}

fn summary(out: &mut String, name: &str, cost: &Cost) -> std::fmt::Result {
    let Work { flops: arithmetic, transcendentals, bytes } = cost.total;
    writeln!(
        out,
        "{name}: {}, {transcendentals} transcendental, {} moved{}",
        flops(arithmetic),
        bytes_of(bytes),
        intensity(cost.total),
    )?;
    for (what, Tensors { count, elements, bytes }) in
        [("arguments", cost.arguments), ("constants", cost.constants), ("results", cost.results)]
    {
        writeln!(out, "{what}: {count}, {}, {}", counted(elements, "element"), bytes_of(bytes))?;
    }
    write!(out, "peak memory: {}", bytes_of(cost.peak_memory))?;
    match &cost.peak_op {
        Some(location) => {
            let source = location.source.as_deref().unwrap_or("an unknown place");
            writeln!(out, " at {} in @{}, {source}", location.op, location.function)?;
        }
        None => writeln!(out)?,
    }
    for (doubt, ops) in &cost.doubts {
        writeln!(out, "not exact ({ops}): {}", doubt.explain())?;
    }
    Ok(())
}

/// Arithmetic per byte moved.
fn intensity(work: Work) -> String {
    match work.bytes {
        0 => String::new(),
        bytes => format!(", {:.2} FLOP/B", work.flops as f64 / bytes as f64),
    }
}

fn bytes_of(bytes: u64) -> String {
    size(usize::try_from(bytes).unwrap_or(usize::MAX))
}

fn table(out: &mut String, cost: &Cost, options: &CostArgs) -> std::fmt::Result {
    /// Width of the longest bar.
    const BAR: u64 = 12;
    let (grouping, title) = match options.by {
        By::Op => (Grouping::Op, "op"),
        By::Function => (Grouping::Function, "function"),
        By::Source => (Grouping::Source, "source"),
        By::Scope => (Grouping::Scope, "scope"),
        By::Each => (Grouping::Each, "op"),
    };
    let rows = cost.rows(grouping);
    if rows.is_empty() {
        return Ok(());
    }
    let shown = if options.top == 0 { rows.len() } else { options.top };
    let all = cost.total.arithmetic().max(1);
    writeln!(
        out,
        "\n{:>12} {:<13}{:>10} {:>10} {:>6} {:>8}  {title}",
        "FLOPs", "share", "functions", "moved", "ops", "runs"
    )?;
    for row in rows.iter().take(shown) {
        let share = row.work.arithmetic() as f64 / all as f64;
        let bar = "#".repeat((share * BAR as f64).round() as usize);
        writeln!(
            out,
            "{:>12} {bar:<13}{:>10} {:>10} {:>6} {:>8}  {}",
            row.work.flops,
            row.work.transcendentals,
            bytes_of(row.work.bytes),
            row.ops,
            row.runs,
            printable(&row.name),
        )?;
    }
    match rows.len().saturating_sub(shown) {
        0 => Ok(()),
        more => writeln!(out, "{:>12} rows more; --top 0 prints all", more),
    }
}
