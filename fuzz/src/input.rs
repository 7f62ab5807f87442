//! Inputs, and what is done with them.

use crate::Kind;
use crate::seeds::Seeds;
use crate::{bytes, engines, text};
use generate::{GenerateOptions, Random, Within, generate};
use programs::Io;
use stablo::arrays::{npy, npz, safetensors};
use stablo::{Bytes, DType, Tensor};
use std::io::Cursor;

/// Limits of runs, in the form of arguments.
const LIMITS: [&str; 6] = ["--max-steps", "20000", "--max-time", "2", "--max-memory", "256M"];

/// The outcome of an input.
pub enum Outcome {
    /// It is invalid, and was refused.
    Refused,
    /// It is valid.
    Accepted,
    /// Engines compute different bits.
    Differs(String),
    /// The programs wrote something that they refuse to read, or read as something else.
    NotReadBack(String),
}

/// Output of a program, and its exit code.
struct Output {
    code: i32,
    stdout: Vec<u8>,
    stderr: String,
}

/// Runs a program in this process.
fn run(args: &[&str], mut input: &[u8]) -> Output {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut io = Io {
        styles: Default::default(),
        stdin: &mut input,
        stdout: &mut stdout,
        stderr: &mut stderr,
        cwd: std::env::temp_dir(),
        terminal: false,
        own_process: false,
    };
    let arguments: Vec<_> = args.iter().map(Into::into).collect();
    let code = programs::program(args[0]).map_or(127, |program| program(&arguments, &mut io));
    Output { code, stdout, stderr: String::from_utf8_lossy(&stderr).into_owned() }
}

/// The random numbers of an input.
fn random_of(kind: Kind, number: u64) -> Random {
    Random::new(number ^ (kind as u64) << 56)
}

/// Makes an input. The random numbers go on for [`try_input`].
pub fn make(kind: Kind, number: u64, seeds: &Seeds) -> (Vec<u8>, Random) {
    let mut random = random_of(kind, number);
    let input = match kind {
        Kind::Text => text::mutate_tokens(text_of(seeds, &mut random), &mut random).into_bytes(),
        Kind::Program => program(seeds, &mut random).into_bytes(),
        Kind::Bytecode => {
            let mut input = match random.one_in(10) {
                true => random.choose(&seeds.bytecode).clone(),
                false => encoded(text_of(seeds, &mut random), &mut random),
            };
            bytes::mutate(&mut input, &mut random);
            input
        }
        Kind::Container => {
            let mut input = container(seeds, &mut random);
            bytes::mutate(&mut input, &mut random);
            input
        }
    };
    (input, random)
}

/// Mutates an input in place, as its kind wants: bytes, or tokens of a text.
pub fn mutate(kind: Kind, input: &mut Vec<u8>, random: &mut Random) {
    let mutate_text = match kind {
        Kind::Bytecode | Kind::Container => return bytes::mutate(input, random),
        Kind::Text => text::mutate_tokens,
        Kind::Program if random.one_in(4) => text::mutate_tokens,
        Kind::Program => text::mutate_types,
    };
    *input = mutate_text(&String::from_utf8_lossy(input), random).into_bytes();
}

/// All seeds of a kind; texts once in each form that the kind has.
pub fn corpus(kind: Kind, seeds: &Seeds) -> Box<dyn Iterator<Item = Vec<u8>> + '_> {
    let texts = || seeds.texts.iter();
    match kind {
        Kind::Text | Kind::Program => Box::new(texts().map(|text| text.clone().into_bytes())),
        Kind::Bytecode => {
            let numbered = (0..).zip(texts());
            let encoded = numbered.map(|(seed, text)| encoded(text, &mut Random::new(seed)));
            let encoded = encoded.filter(|bytes| !bytes.is_empty());
            Box::new(seeds.bytecode.iter().cloned().chain(encoded))
        }
        Kind::Container => {
            let files = seeds.exported.iter().chain(&seeds.arrays).cloned();
            let made = (0..20).map(|seed| container(seeds, &mut Random::new(seed)));
            Box::new(files.chain(made))
        }
    }
}

/// A mutant of a program, or a random one: of sizes at which kernels change their way, with values
/// that nothing uses, in a function, a loop or a branch.
fn program(seeds: &Seeds, random: &mut Random) -> String {
    if random.one_in(2) {
        return text::mutate_types(text_of(seeds, random), random);
    }
    let options = GenerateOptions {
        seed: random.bits(),
        ops: 1 + random.below(12),
        edges: random.one_in(2),
        few_results: random.one_in(2),
        constants: random.one_in(8),
        within: *random.choose(&[None, None, Some(Within::Loop), Some(Within::Branch)]),
        ..GenerateOptions::default()
    };
    generate(&options).map_or_else(|_| String::new(), |program| program.module.to_string())
}

fn text_of<'s>(seeds: &'s Seeds, random: &mut Random) -> &'s str {
    let text: &String = random.choose(&seeds.texts);
    text
}

/// A program as an artifact or in bytecode.
fn encoded(text: &str, random: &mut Random) -> Vec<u8> {
    let target = *random.choose(&["--target=current", "--target=minimum", "--target=1.0.0"]);
    let artifact = ["stablehlo-translate", "--serialize", target, "-"];
    let bytecode = ["stablehlo-opt", "--emit-bytecode", "--allow-unregistered-dialect", "-"];
    let forms: [&[&str]; 2] = [&artifact, &bytecode];
    let order = if random.one_in(3) { [1, 0] } else { [0, 1] };
    let outputs = order.map(|i| run(forms[i], text.as_bytes()));
    outputs.into_iter().find(|output| output.code == 0).map_or_else(Vec::new, |o| o.stdout)
}

fn container(seeds: &Seeds, random: &mut Random) -> Vec<u8> {
    let Ok(tensor) = Tensor::iota(DType::F32, [2, 3], 0) else { return Vec::new() };
    let arrays = [("a", &tensor), ("b", &tensor)];
    match random.below(4) {
        0 => random.choose(&seeds.arrays).clone(),
        1 => safetensors::write(arrays).unwrap_or_default(),
        2 => {
            let mut file = Cursor::new(Vec::new());
            // An empty file is a seed, too.
            let _ = npz::write(arrays, random.one_in(2), &mut file);
            file.into_inner()
        }
        _ => random.choose(&seeds.exported).clone(),
    }
}

/// Does with an input what users do with files.
pub fn try_input(kind: Kind, input: &[u8], random: &mut Random) -> Outcome {
    if kind == Kind::Container && !try_arrays(input) && random.one_in(2) {
        return Outcome::Refused;
    }
    if run(&["stablo", "check", "-"], input).code != 0 {
        match random.below(4) {
            0 => drop(run(&["stablo", "inspect", "-"], input)),
            1 => drop(run(&["stablehlo-opt", "--allow-unregistered-dialect", "-"], input)),
            2 if kind != Kind::Text => drop(run(&["stablo", "inspect", "--hex", "-"], input)),
            _ => {}
        }
        return Outcome::Refused;
    }
    if kind == Kind::Program
        && let Err(message) = engines::compare(input, random)
    {
        return Outcome::Differs(message);
    }
    match use_program(input, random) {
        Ok(()) => Outcome::Accepted,
        Err(message) => Outcome::NotReadBack(message),
    }
}

/// Reads arrays; true if one could be read.
fn try_arrays(input: &[u8]) -> bool {
    let bytes = Bytes::from(input.to_vec());
    let dtypes = [DType::F32, DType::I64, DType::BF16];
    let tensors = safetensors::File::new(bytes.clone())
        .map(|file| dtypes.map(|dtype| file.tensor("a", dtype).is_ok()));
    let archived = npz::Archive::new(bytes)
        .map(|mut archive| dtypes.map(|dtype| archive.tensor("a", dtype).is_ok()));
    let read = dtypes.map(|dtype| npy::read(input.to_vec(), dtype).is_ok());
    tensors.is_ok() || archived.is_ok() || read.contains(&true)
}

/// Checks that an accepted program, printed as `text`, reads back as the same program from each
/// form: as it prints, one of the other texts, bytecode, and an artifact where it converts. The
/// error names the form that is refused or differs.
fn read_back(input: &[u8], text: &[u8], random: &mut Random) -> Result<(), String> {
    let same = |form: &str, written: &[u8], opener: &[&str]| {
        let read = run(opener, written);
        if read.code != 0 {
            return Err(format!("its {form} is refused: {}", read.stderr));
        }
        if read.stdout != text {
            return Err(format!("its {form} is another program"));
        }
        Ok(())
    };
    let print = ["stablehlo-opt", "-"];
    same("text", text, &print)?;
    let texts: [(&str, &[&str]); 3] = [
        ("generic text", &["stablehlo-opt", "-mlir-print-op-generic", "-"]),
        ("text with locations", &["stablehlo-opt", "-mlir-print-debuginfo", "-"]),
        (
            "text with locations in place",
            &["stablehlo-opt", "-mlir-print-debuginfo", "-mlir-print-local-scope", "-"],
        ),
    ];
    let (form, args) = *random.choose(&texts);
    let written = run(args, input);
    if written.code == 0 {
        same(form, &written.stdout, &print)?;
    }
    let bytecode = run(&["stablehlo-opt", "--emit-bytecode", "-"], input);
    if bytecode.code == 0 {
        same("bytecode", &bytecode.stdout, &print)?;
    }
    let artifact = run(&["stablehlo-translate", "--serialize", "--target=current", "-"], input);
    if artifact.code == 0 {
        // Artifacts omit attributes that have their default values, so that the text may differ.
        let read = run(&["stablehlo-translate", "--deserialize", "-"], &artifact.stdout);
        if read.code != 0 {
            return Err(format!("its artifact is refused: {}", read.stderr));
        }
        let again = run(&print, &read.stdout);
        if again.code != 0 || again.stdout != read.stdout {
            return Err(format!("the text of its artifact is not read back: {}", again.stderr));
        }
    }
    Ok(())
}

/// Prints, transforms, serializes and runs a valid program. The error is something that was written
/// but cannot be read.
fn use_program(input: &[u8], random: &mut Random) -> Result<(), String> {
    run(&["stablo", "inspect", "-"], input);
    let printed = run(&["stablehlo-opt", "-"], input);
    if printed.code == 0 {
        read_back(input, &printed.stdout, random)?;
    }
    let pass = random.choose(stablo::passes::all()).name;
    // Numbers of a shape become negative without their unsigned type.
    let keeps_numbers = pass != "stablehlo-convert-to-signless";
    let pass = format!("--{pass}");
    let transformed = run(&["stablehlo-opt", &pass, "-"], input);
    if transformed.code == 0 && keeps_numbers {
        let read = run(&["stablehlo-opt", "-"], &transformed.stdout);
        if read.code != 0 {
            return Err(format!("what {pass} makes is refused: {}", read.stderr));
        }
    }
    let functions = text::functions(&String::from_utf8_lossy(&printed.stdout));
    if !functions.is_empty() {
        let (name, count) = random.choose(&functions);
        let mut args = vec!["stablo", "run", "-", "--entry", name];
        args.extend(LIMITS);
        for _ in 0..*count {
            args.extend(["--input", *random.choose(&["zeros", "iota", "random"])]);
        }
        run(&args, input);
    }
    Ok(())
}
