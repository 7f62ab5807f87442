//! `stablo compile`: makes files of programs that are loaded often.

use crate::array_files::Arrays;
use crate::inputs::Arguments;
use crate::io::{CommandFailure, Io};
use crate::source::{load_bytes, read_program, select_platform};
use stablo::{Format, Version};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  stablo compile model.mlir.bc -o model.stb
  stablo compile model.mlir --constants weights.safetensors -o model.stb
  stablo run model.stb --input image.npy

The file is a portable artifact that all commands read, and readers of StableHLO, too. Its weights
are mapped instead of read; those that kernels read in another order are there in that order, too.";

/// The command line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompileArgs {
    /// The program, as MLIR text or bytecode, or what torch_xla or TensorFlow saved in a folder;
    /// `-` is standard input
    file: PathBuf,
    /// The function that runs; the others become private
    #[arg(long, value_name = "NAME", default_value = "main")]
    entry: String,
    /// Make constants of the arguments that this .npz or safetensors file, or directory of .npy
    /// files, has by their names or as input_0, input_1, …
    #[arg(long, value_name = "PATH")]
    constants: Option<PathBuf>,
    /// The platform, for a program that was exported for several; otherwise `cpu`
    #[arg(long, value_name = "NAME")]
    platform: Option<String>,
    /// The output file: a portable artifact, or bytecode if it ends in `.mlirbc`; `-` is standard
    /// output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// If the program cannot be read, is not valid or cannot run, or the output cannot be written.
pub(crate) fn run(options: &CompileArgs, io: &mut Io<'_>) -> Result<(), CommandFailure> {
    let format = match Format::from_path(&options.output) {
        None if options.output.as_os_str() == "-" => Format::Artifact(Version::CURRENT),
        None | Some(Format::Text) => {
            let message =
                "the file is mapped when it runs: end its name in .stb, .mlir.bc or .mlirbc";
            return Err(CommandFailure::usage(message));
        }
        Some(format) => format,
    };
    let bytes = read_program(io, &options.file)?;
    let mut module = load_bytes(&options.file, bytes.clone(), io)?;
    select_platform(&mut module, &bytes, options.platform.as_deref())?;
    stablo::set_entry(&mut module, &options.entry)?;
    if let Some(path) = &options.constants {
        let function = stablo::entry_function(&module, &options.entry)?;
        let mut arrays = Arrays::open(path, io)?;
        let constants = Arguments::of(function).found(&mut arrays, path, io)?;
        stablo::bind_arguments(&mut module, &constants)?;
    }
    let compiled = stablo::compile(module, &options.entry)?;
    io.write_encoded(&options.output, &format.encode(&compiled, true)?)
}
