//! Input files: optionally split into chunks, parsed and verified as in upstream's programs.

use crate::folders::program_file;
use crate::io::{CommandFailure, Io};
use ide::Expectations;
use stablo::ir::ValueNames;
use stablo::{
    Bytes, Diagnostics, Exported, LoadOptions, Loaded, Module, Position, Reporting, Source,
    VerifyOptions, has_errors, is_bytecode,
};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// The default chunk separator, anywhere in a line.
pub const SEPARATOR: &str = "// -----";

/// Input flags of both upstream programs.
#[derive(clap::Args, Debug)]
pub struct InputFlags {
    /// The file to read; `-` is standard input
    #[arg(default_value = "-")]
    input: PathBuf,
    /// Treat the parts of the input between markers as separate files
    #[arg(long, value_name = "MARKER", num_args = 0..=1, require_equals = true, default_missing_value = SEPARATOR)]
    split_input_file: Option<String>,
    /// Check that the diagnostics are those expected by comments; with `only-expected`, allow
    /// others, too; with `update`, rewrite comments of the input that do not fit
    #[arg(long, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    verify_diagnostics: Option<CheckedSource>,
    /// Allow ops, types and attributes of unknown dialects
    #[arg(long)]
    allow_unregistered_dialect: bool,
    /// Add the op that an error is about to its diagnostic
    #[arg(long)]
    mlir_print_op_on_diagnostic: bool,
    /// The output file; `-` is standard output
    #[arg(short, default_value = "-")]
    o: PathBuf,
}

/// The diagnostics to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum CheckedSource {
    /// All: unexpected ones are errors.
    #[value(alias = "true")]
    All,
    /// Only the expected ones.
    OnlyExpected,
    /// All, after comments that do not fit are rewritten to name the rules of the diagnostics.
    Update,
}

/// The chunk separator; `None` for `false`.
fn marker(text: &str) -> Option<&str> {
    match text {
        "false" => None,
        "true" | "" => Some(SEPARATOR),
        text => Some(text),
    }
}

/// Processes one chunk: writes its output, and returns diagnostics.
pub type Process<'a> = &'a mut dyn FnMut(&mut Module, &mut Vec<u8>) -> Diagnostics;

impl InputFlags {
    /// Reads, parses and verifies the input, and runs `process` on each valid chunk. Writes the
    /// outputs, with `separator` and a newline between chunks; to a file only if there were no
    /// errors.
    ///
    /// # Errors
    /// If the input cannot be read or a chunk is not valid; with `--verify-diagnostics`, if the
    /// diagnostics are not as expected.
    pub fn run(
        &self,
        io: &mut Io<'_>,
        separator: &str,
        process: Process<'_>,
    ) -> Result<(), CommandFailure> {
        let bytes = self.read(io)?;
        self.run_on(bytes, io, separator, process)
    }

    /// Reads the input.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(&self, io: &mut Io<'_>) -> Result<Bytes, CommandFailure> {
        read_program(io, &self.input)
    }

    /// As [`InputFlags::run`], on input that is already read.
    ///
    /// # Errors
    /// As [`InputFlags::run`].
    pub fn run_on(
        &self,
        bytes: Bytes,
        io: &mut Io<'_>,
        separator: &str,
        process: Process<'_>,
    ) -> Result<(), CommandFailure> {
        let name = program_name(&self.input);
        let mut output = Vec::new();
        let mut failed = false;
        let updates = self.verify_diagnostics == Some(CheckedSource::Update);
        if updates && self.input == Path::new("-") {
            return Err(CommandFailure::usage(
                "standard input has no comments to update: name a file",
            ));
        }
        if is_bytecode(&bytes) {
            let loaded = self.load_options().load(&name, bytes);
            let (diagnostics, _) = self.chunk(loaded, &mut output, process);
            failed = has_errors(&diagnostics);
            io.diagnose(&diagnostics, None);
        } else {
            let text = text(&bytes, &self.input)?;
            let marker = self.split_input_file.as_deref().and_then(marker);
            let sources = match marker {
                Some(marker) => split(&name, text, marker),
                None => vec![Source::new(&*name, text)],
            };
            let mut updated: Vec<String> = Vec::new();
            for (index, source) in sources.into_iter().enumerate() {
                if index > 0 {
                    output.extend_from_slice(separator.as_bytes());
                    output.push(b'\n');
                }
                let loaded = self.load_options().load_source(source);
                let (diagnostics, module) = self.chunk(loaded, &mut output, process);
                let source = module.source().map(|source| &**source);
                if let (Some(checked), Some(source)) = (self.verify_diagnostics, source) {
                    let expected = Expectations::read(source);
                    let problems = match checked {
                        CheckedSource::All => expected.check(&diagnostics, source, true),
                        CheckedSource::OnlyExpected => expected.check(&diagnostics, source, false),
                        CheckedSource::Update => {
                            let mut problems = Diagnostics::new();
                            updated.push(expected.update(&diagnostics, source, &mut problems));
                            problems
                        }
                    };
                    failed |= !problems.is_empty();
                    io.diagnose(&problems, Some(source));
                } else {
                    failed |= has_errors(&diagnostics);
                    io.diagnose(&diagnostics, source);
                }
            }
            if updates {
                let updated = updated.join(marker.unwrap_or_default());
                if updated != text {
                    io.write(&self.input, updated.as_bytes())?;
                }
                output.clear();
            }
        }
        // A file is written completely or not at all; on standard output, the results of other
        // chunks may be useful.
        if !failed || self.o == Path::new("-") {
            io.write(&self.o, &output)?;
        }
        if failed { Err(CommandFailure::reported()) } else { Ok(()) }
    }

    fn load_options(&self) -> LoadOptions {
        LoadOptions::default()
            .allow_unregistered_dialects(self.allow_unregistered_dialect)
            .convert_vhlo(false)
            .stop_at_first_error(true)
            .verify(false)
    }

    fn chunk(
        &self,
        loaded: Loaded,
        output: &mut Vec<u8>,
        process: Process<'_>,
    ) -> (Diagnostics, Module) {
        let allow_unregistered_dialects = self.allow_unregistered_dialect;
        let Loaded { mut module, mut diagnostics, .. } = loaded;
        if !has_errors(&diagnostics) {
            let options = VerifyOptions {
                reporting: Reporting::LikeUpstream,
                allow_unregistered_dialects,
                strict: false,
            };
            diagnostics.extend(stablo::verify_with(&module, &options));
        }
        if !has_errors(&diagnostics) {
            diagnostics.extend(process(&mut module, output));
        }
        // Comments that expect diagnostics expect no notes about ops, in MLIR, either.
        if self.mlir_print_op_on_diagnostic && self.verify_diagnostics.is_none() {
            add_ops(&mut diagnostics, &module);
        }
        (diagnostics, module)
    }
}

/// Adds a note with the op to each diagnostic that has the position of one.
fn add_ops(diagnostics: &mut Diagnostics, module: &Module) {
    let mut names = ValueNames::of(module.top());
    for diagnostic in diagnostics.iter_mut().filter(|d| d.position != Position::None) {
        let ops = module.walk(module.top().id());
        if let Some(op) = { ops }.find(|op| op.position() == diagnostic.position) {
            diagnostic
                .notes
                .push((format!("the op is: {}", names.text(op).trim()), Position::None));
        }
    }
}

/// Reports diagnostics.
///
/// # Errors
/// If one is an error.
pub fn report(
    diagnostics: Diagnostics,
    module: &Module,
    io: &mut Io<'_>,
) -> Result<(), CommandFailure> {
    io.diagnose(&diagnostics, module.source().map(|source| &**source));
    if has_errors(&diagnostics) { Err(CommandFailure::reported()) } else { Ok(()) }
}

/// Reads and verifies a program of any format; warnings are shown.
///
/// # Errors
/// If it cannot be read or is not valid.
pub fn load(path: &Path, io: &mut Io<'_>) -> Result<Module, CommandFailure> {
    let bytes = read_program(io, path)?;
    load_bytes(path, bytes, io)
}

/// As [`load`], from the bytes of the file.
///
/// # Errors
/// If the program is not valid.
pub fn load_bytes(path: &Path, bytes: Bytes, io: &mut Io<'_>) -> Result<Module, CommandFailure> {
    let loaded = LoadOptions::default().load(&program_name(path), bytes);
    report(loaded.diagnostics, &loaded.module, io)?;
    Ok(loaded.module)
}

/// Makes a program that was exported for several platforms one for `platform`, else for CPUs;
/// `bytes` is the file.
///
/// # Errors
/// If the program was not exported for the platform, or the file says nothing about platforms.
pub fn select_platform(
    module: &mut Module,
    bytes: &[u8],
    platform: Option<&str>,
) -> Result<(), CommandFailure> {
    let exported = if is_bytecode(bytes) { None } else { Exported::read(bytes) };
    match (exported, platform) {
        (Some(exported), _) => Ok(stablo::select_platform(module, &exported.platforms, platform)?),
        (None, None) => Ok(()),
        (None, Some(_)) => Err(CommandFailure::usage(
            "`--platform` is for programs that `jax.export` serialized: other files name no platforms",
        )),
    }
}

/// Reads a program: text or bytecode, or what another framework saved in a folder.
///
/// # Errors
/// If it cannot be read.
pub fn read_program(io: &mut Io<'_>, path: &Path) -> Result<Bytes, CommandFailure> {
    let path = program_file(path, io)?;
    io.map(&path)
}

/// The name of a program in diagnostics.
pub fn program_name(path: &Path) -> Cow<'_, str> {
    if path == Path::new("-") { "<stdin>".into() } else { path.to_string_lossy() }
}

/// Decodes text.
///
/// # Errors
/// If the bytes are not UTF-8.
pub fn text<'a>(bytes: &'a [u8], path: &Path) -> Result<&'a str, CommandFailure> {
    std::str::from_utf8(bytes).map_err(|e| {
        let at = e.valid_up_to();
        let line = bytes[..at].iter().filter(|&&b| b == b'\n').count() + 1;
        CommandFailure::input(format!(
            "{}:{line}: this is not UTF-8 text: byte {at} cannot stand there",
            path.display()
        ))
    })
}

/// Splits a text into chunks, which start right after the separator, unless that is part of a
/// longer row of dashes.
pub fn split(name: &str, text: &str, marker: &str) -> Vec<Source> {
    let mut chunks = Vec::new();
    let (mut start, mut first_line) = (0, 1);
    let mut add = |end: usize, next: usize| {
        chunks.push(Source::chunk(name, &text[start..end], first_line));
        first_line += text[start..next].matches('\n').count() as u32;
        start = next;
    };
    for (at, separator) in text.match_indices(marker) {
        let next = at + separator.len();
        if !text[next..].starts_with('-') {
            add(at, next);
        }
    }
    add(text.len(), text.len());
    chunks
}
