//! `generate`: writes a random program with its inputs into a directory, as the recorded programs
//! are: `module.mlir` and `input_K.npy`.

use clap::Parser;
use generate::{Options, generate};
use numerics::DType;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Writes a valid random StableHLO program and inputs for it.
#[derive(Parser)]
struct Args {
    /// What all choices follow from
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many ops; fewer of one seed are the beginning of more
    #[arg(long, default_value_t = 10)]
    ops: usize,
    /// Element types, such as i32,f32; all that are common if absent
    #[arg(long, value_delimiter = ',')]
    types: Vec<String>,
    /// Inputs with infinities, NaN and very large and small numbers
    #[arg(long)]
    extremes: bool,
    /// Inputs as constants in the program
    #[arg(long)]
    constants: bool,
    /// Only the op of that number, and what it needs
    #[arg(long)]
    only: Option<usize>,
    /// Where to write the program
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
    let &Args { seed, ops, extremes, constants, only, .. } = args;
    let mut options = Options { seed, ops, extremes, constants, only, ..Options::default() };
    if !args.types.is_empty() {
        let named = |name: &String| {
            DType::from_name(name).ok_or_else(|| format!("there is no type {name}"))
        };
        options.types = args.types.iter().map(named).collect::<Result<_, _>>()?;
    }
    let program = generate(&options)?;
    std::fs::create_dir_all(&args.output_dir)?;
    let text = format!(
        "// generate --seed {} --ops {}\n{}",
        args.seed,
        args.ops,
        stablo::print(&program.module, &Default::default())
    );
    std::fs::write(args.output_dir.join("module.mlir"), text)?;
    for (index, input) in program.inputs.iter().enumerate() {
        let mut file =
            BufWriter::new(File::create(args.output_dir.join(format!("input_{index}.npy")))?);
        programs::npy::write(input, &mut file)?;
        file.flush()?;
    }
    Ok(())
}
