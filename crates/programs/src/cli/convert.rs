//! `stablo convert`: converts programs between formats.

use crate::files::{FileSet, is_same_file};
use crate::format::output_format;
use crate::io::{CommandFailure, Io};
use crate::source::{load, report};
use stablo::arrays::safetensors;
use stablo::ir::{Loc, OpRef};
use stablo::{Format, Module, PrintOptions, Tensor, Type, WeightForm};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  stablo convert model.mlir model.mlir.bc --target WEEK_12
  stablo convert model.mlir.bc - --strip-debuginfo
  stablo convert model.mlir small.mlir --extract-constants weights.safetensors";

/// The command line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ConvertArgs {
    /// The program: MLIR text, bytecode, a portable artifact or an export of `jax.export`; `-` is
    /// standard input
    input: PathBuf,
    /// The output file: `.mlir` is text, `.mlirbc` bytecode, `.mlir.bc` and `.stablehlo` a portable
    /// artifact; `-` is standard output
    output: PathBuf,
    /// Version of the artifact: 1.20.0, current, minimum, WEEK_4 or WEEK_12; implies that the
    /// output is an artifact
    #[arg(long, value_name = "VERSION")]
    target: Option<String>,
    /// Refuse to write an artifact with ops, types or attributes of dialects other than StableHLO,
    /// CHLO and func, such as Shardy's: no compatibility is promised for them
    #[arg(long)]
    only_portable: bool,
    /// Move large constants to this file, in safetensors format
    #[arg(long, value_name = "FILE")]
    extract_constants: Option<PathBuf>,
    /// Representation of moved constants
    #[arg(long, value_enum, default_value = "arguments", requires = "extract_constants")]
    extract_to: ConstantForm,
    /// Minimum size in bytes of constants to move
    #[arg(long, value_name = "N", default_value_t = 1024, requires = "extract_constants")]
    min_constant_bytes: usize,
    /// Restore the constants from this file, written by --extract-constants
    #[arg(long, value_name = "FILE", conflicts_with = "extract_constants")]
    insert_constants: Option<PathBuf>,
    /// Remove all locations; text has none, either, if the input is text without them
    #[arg(long)]
    strip_debuginfo: bool,
}

/// The representation of constants in a program without its weights.
#[derive(Clone, Copy, clap::ValueEnum)]
enum ConstantForm {
    /// Arguments of the entry function, passed on by calls
    Arguments,
    /// `dense_resource` attributes without contents; in text and bytecode only, not in artifacts
    Resources,
}

/// Runs the command.
///
/// # Errors
/// If the program cannot be read, is not valid, or cannot be expressed in the output format.
pub(crate) fn run(options: &ConvertArgs, io: &mut Io<'_>) -> Result<(), CommandFailure> {
    let format = output_format(&options.output, options.target.as_deref())?;
    if let Some(weights) = &options.extract_constants
        && is_same_file(&io.path(weights), &io.path(&options.output))
    {
        return Err(CommandFailure::usage(
            "the constants must go to another file than the program",
        ));
    }
    let mut module = load(&options.input, io)?;
    let debug_info = !options.strip_debuginfo && has_locations(&module);
    if options.strip_debuginfo {
        let warnings = stablo::run_pipeline(&mut module, "strip-debuginfo")?;
        report(warnings, &module, io)?;
    }
    let mut extracted = Vec::new();
    if options.extract_constants.is_some() {
        let form = match options.extract_to {
            ConstantForm::Arguments => WeightForm::Arguments,
            ConstantForm::Resources => WeightForm::Resources,
        };
        extracted = stablo::extract_weights(&mut module, options.min_constant_bytes, form)?;
    }
    if let Some(path) = &options.insert_constants {
        let file = safetensors::File::new(io.map(path)?).map_err(|error| {
            CommandFailure::input(format!("the file of weights is not valid: {error}"))
        })?;
        stablo::insert_weights(&mut module, |name, ty| weight(&file, name, ty))?;
    }
    let output = match format {
        Format::Text => {
            let print = PrintOptions { debug_info, ..PrintOptions::default() };
            let mut text = stablo::print(&module, &print)?;
            text.push('\n');
            text.into_bytes().into()
        }
        format => format.encode(&module, !options.only_portable)?,
    };
    let Some(path) = &options.extract_constants else {
        return io.write_encoded(&options.output, &output);
    };
    let output = output.to_vec();
    let weights = extracted.iter().map(|(name, tensor)| (&**name, tensor));
    let weights = safetensors::write(weights).map_err(CommandFailure::input)?;
    let mut files = FileSet::default();
    for (path, bytes) in [(path, &weights), (&options.output, &output)] {
        match path == Path::new("-") {
            true => io.print(bytes)?,
            false => io.add_file(&mut files, path, |out| out.write_all(bytes))?,
        }
    }
    files.commit().map_err(|e| CommandFailure::input(format!("cannot write the files: {e}")))
}

/// True if an op or argument has a location that is not its position in the text.
fn has_locations(module: &Module) -> bool {
    let is_known = |loc: &Loc| match loc {
        Loc::Unknown | Loc::Source(_) => false,
        loc => module.location(loc) != module.location(&Loc::Unknown),
    };
    let in_arguments = |op: OpRef<'_>| {
        let mut blocks = op.regions().iter().flat_map(|&region| module.blocks(region));
        blocks.any(|&block| module.argument_locs(block).iter().any(is_known))
    };
    // The module itself may be implied by the text, and has its place there then.
    stablo::walk(module).skip(1).any(|op| is_known(op.loc()) || in_arguments(op))
}

/// A weight of a file, for a constant of that type.
fn weight(file: &safetensors::File, name: &str, ty: &Type) -> Result<Tensor, String> {
    let dtype = ty.element_type().dtype();
    let dtype = dtype.ok_or_else(|| format!("no file can hold elements of {ty}"))?;
    file.tensor(name, dtype).map_err(|error| error.to_string())
}
