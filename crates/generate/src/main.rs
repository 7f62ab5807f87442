//! `generate`: writes a random program and its inputs into a directory, in the layout of the
//! recorded programs: `module.mlir` and `input_K.npy`.

use clap::Parser;
use generate::{GenerateOptions, Within, generate};
use numerics::DType;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Writes a valid random StableHLO program and inputs for it.
#[derive(Parser)]
struct Args {
    /// Seed of all random choices
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Number of ops; for one seed, fewer ops are a prefix of more
    #[arg(long, default_value_t = 10)]
    ops: usize,
    /// Element types, such as i32,f32 (default: all common ones)
    #[arg(long, value_delimiter = ',')]
    types: Vec<String>,
    /// Include infinities, NaN and very large and small numbers in the inputs
    #[arg(long)]
    extremes: bool,
    /// Embed the inputs as constants in the program
    #[arg(long)]
    constants: bool,
    /// Use sizes at and beside the limits at which kernels change their way
    #[arg(long)]
    edges: bool,
    /// Return few of the values, so that most are dead
    #[arg(long)]
    few_results: bool,
    /// Run all ops in a loop
    #[arg(long, conflicts_with = "in_branch")]
    in_loop: bool,
    /// Run all ops in a branch
    #[arg(long)]
    in_branch: bool,
    /// Keep only the op with this number and its dependencies
    #[arg(long)]
    only: Option<usize>,
    /// Directory to write the program to
    #[arg(long, default_value = ".")]
    output_dir: PathBuf,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), Box<dyn std::error::Error>> {
    let &Args { seed, ops, extremes, constants, edges, few_results, only, .. } = args;
    let within = match (args.in_loop, args.in_branch) {
        (true, _) => Some(Within::Loop),
        (_, true) => Some(Within::Branch),
        _ => None,
    };
    let types = GenerateOptions::default().types;
    let mut options =
        GenerateOptions { seed, ops, types, extremes, constants, edges, few_results, within, only };
    if !args.types.is_empty() {
        let named = |name: &String| {
            DType::from_name(name).ok_or_else(|| format!("there is no type {name}"))
        };
        options.types = args.types.iter().map(named).collect::<Result<_, _>>()?;
    }
    let program = generate(&options)?;
    std::fs::create_dir_all(&args.output_dir)?;
    let text = format!("// generate --seed {} --ops {}\n{}", args.seed, args.ops, program.module);
    std::fs::write(args.output_dir.join("module.mlir"), text)?;
    for (index, input) in program.inputs.iter().enumerate() {
        let mut file =
            BufWriter::new(File::create(args.output_dir.join(format!("input_{index}.npy")))?);
        stablo::arrays::npy::write(input, &mut file)?;
        file.flush()?;
    }
    Ok(())
}
