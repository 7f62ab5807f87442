//! Reading programs of every format.

use crate::error::has_errors;
use crate::saved::saved_artifact;
use crate::{
    Bytes, Diagnostic, Diagnostics, Error, Exported, Module, Position, Result, Source, Version,
    artifact_version, is_bytecode, registry,
};
use memchr::memmem;
use mlir::OpRef;
use mlir::bytecode::{FileField, MAGIC, ReadOptions, ReadOutput};
use mlir::text::{ParseOptions, SourceMap};
use mlir::verify::{VerifyOptions, verify};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

/// Reads and verifies a program: MLIR text, MLIR bytecode, a portable artifact of any version, the
/// container that `jax.export` serializes, or the first artifact in a SavedModel of TensorFlow. The
/// format is detected from the first bytes. `name` is the program's name in diagnostics and
/// locations.
///
/// Programs in VHLO, such as artifacts, become StableHLO. Large constants of bytecode share
/// `bytes`. [`LoadOptions`] has alternatives to these choices, and gives warnings and a module
/// also if there are errors.
///
/// # Errors
/// Everything that is wrong with the program.
///
/// ```
/// let module = stablo::load("empty.mlir", "func.func @main() { return }")?;
/// # Ok::<(), stablo::Error>(())
/// ```
pub fn load(name: &str, bytes: impl Into<Bytes>) -> Result<Module> {
    LoadOptions::default().load(name, bytes).into_result()
}

/// Reads and verifies the program in a file, as [`load`] does, or in a folder, as
/// [`program_in_folder`](crate::program_in_folder) finds it. The path is its name in diagnostics.
///
/// # Errors
/// If the file cannot be read, or the folder holds no program; otherwise as [`load`].
pub fn load_file(path: impl AsRef<Path>) -> Result<Module> {
    let path = path.as_ref();
    let within = if path.is_dir() { Some(crate::program_in_folder(path)?) } else { None };
    let path = within.as_deref().unwrap_or(path);
    let name = path.to_string_lossy();
    let bytes = std::fs::read(path).map_err(|error| {
        std::io::Error::new(error.kind(), format!("cannot read {}: {error}", path.display()))
    })?;
    load(&name, bytes)
}

/// Options for reading a program.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LoadOptions {
    /// Allow ops, attributes and types of dialects that [`registry`] does not have. Off by default.
    pub allow_unregistered_dialects: bool,
    /// Verify the program. On by default; a module that has not been verified may be printed and
    /// inspected, but not run.
    pub verify: bool,
    /// Verify that ops mean something, too, where upstream's verifier does not. Off by default:
    /// backends may give a meaning to ops that break a rule of the specification.
    pub strict: bool,
    /// Convert VHLO to StableHLO. On by default.
    pub convert_vhlo: bool,
    /// Stop at the first error instead of going on with the next op. Off by default.
    pub stop_at_first_error: bool,
    /// Record where the ops, regions and names of a text are, as [`Loaded::source_map`]. Off by
    /// default.
    pub source_map: bool,
}

impl Default for LoadOptions {
    fn default() -> LoadOptions {
        LoadOptions {
            allow_unregistered_dialects: false,
            verify: true,
            strict: false,
            convert_vhlo: true,
            stop_at_first_error: false,
            source_map: false,
        }
    }
}

impl LoadOptions {
    /// Sets [`LoadOptions::allow_unregistered_dialects`].
    #[must_use]
    pub fn allow_unregistered_dialects(mut self, allow: bool) -> LoadOptions {
        self.allow_unregistered_dialects = allow;
        self
    }

    /// Sets [`LoadOptions::verify`].
    #[must_use]
    pub fn verify(mut self, verify: bool) -> LoadOptions {
        self.verify = verify;
        self
    }

    /// Sets [`LoadOptions::strict`].
    #[must_use]
    pub fn strict(mut self, strict: bool) -> LoadOptions {
        self.strict = strict;
        self
    }

    /// Sets [`LoadOptions::convert_vhlo`].
    #[must_use]
    pub fn convert_vhlo(mut self, convert: bool) -> LoadOptions {
        self.convert_vhlo = convert;
        self
    }

    /// Sets [`LoadOptions::stop_at_first_error`].
    #[must_use]
    pub fn stop_at_first_error(mut self, stop: bool) -> LoadOptions {
        self.stop_at_first_error = stop;
        self
    }

    /// Sets [`LoadOptions::source_map`].
    #[must_use]
    pub fn source_map(mut self, record: bool) -> LoadOptions {
        self.source_map = record;
        self
    }

    /// Reads a program of any format. Never fails: what could be read comes with the diagnostics.
    pub fn load(&self, name: &str, bytes: impl Into<Bytes>) -> Loaded {
        let bytes = bytes.into();
        if let Some(format) = other_format(&bytes) {
            return unreadable(Diagnostic::error("format", format!("{name} is {format}")));
        }
        let program = container(&bytes).unwrap_or(bytes);
        if is_bytecode(&program) {
            let mut loaded = self.read_bytecode(&program);
            name_file(name, &mut loaded.diagnostics);
            return self.complete(loaded, true);
        }
        if let Some(diagnostic) = damaged_container(name, &program) {
            return unreadable(diagnostic);
        }
        // Text is copied from a mapped file.
        if let Err(error) = host::check(program.len()) {
            return unreadable(Diagnostic::error(
                "memory_limit",
                format!("cannot read {name}: {error}"),
            ));
        }
        match String::from_utf8(program.into_vec()) {
            Ok(text) => self.load_source(Source::new(name, text)),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let line = error.as_bytes()[..at].iter().filter(|&&b| b == b'\n').count() + 1;
                let message = format!(
                    "{name}:{line}: this is neither bytecode nor UTF-8 text: byte {at} cannot stand there"
                );
                unreadable(Diagnostic::error("parse", message))
            }
        }
    }

    /// Reads MLIR text, which may be a chunk of a longer one. Like [`LoadOptions::load`], it never
    /// fails.
    pub fn load_source(&self, source: Source) -> Loaded {
        // Searching the text for the name is cheaper than walking all ops.
        let may_have_vhlo =
            memmem::find(source.text().as_bytes(), vhlo::VHLO.namespace.as_bytes()).is_some();
        let options = ParseOptions {
            allow_unregistered_dialects: self.allow_unregistered_dialects,
            stop_at_first_error: self.stop_at_first_error,
            source_map: self.source_map,
        };
        let has_former_ops = memmem::find(source.text().as_bytes(), b"mhlo.").is_some()
            && chlo::mhlo::may_be_in(source.text());
        let parsed = mlir::text::parse(Arc::new(source), registry(), options);
        let mut loaded = Loaded {
            module: parsed.module,
            diagnostics: parsed.diagnostics,
            source_map: parsed.source_map,
        };
        if has_former_ops && !loaded.has_errors() {
            chlo::mhlo::replace_former_ops(&mut loaded.module);
        }
        self.complete(loaded, may_have_vhlo)
    }

    fn read_bytecode(&self, bytes: &Bytes) -> Loaded {
        if self.convert_vhlo
            && let Some(module) = portable::read_program(bytes, registry())
        {
            return Loaded { module, diagnostics: Vec::new(), source_map: None };
        }
        let options = ReadOptions {
            allow_unregistered_dialects: self.allow_unregistered_dialects,
            ..ReadOptions::default()
        };
        let output = read_bytecode(bytes, options);
        Loaded { module: output.module, diagnostics: output.diagnostics, source_map: None }
    }

    /// Converts VHLO and verifies, as the options require.
    fn complete(&self, mut loaded: Loaded, may_have_vhlo: bool) -> Loaded {
        if self.convert_vhlo
            && may_have_vhlo
            && !has_errors(&loaded.diagnostics)
            && has_vhlo(&loaded.module)
        {
            let errors = portable::restore(&mut loaded.module).err();
            loaded.diagnostics.extend(errors.unwrap_or_default());
        }
        if self.verify {
            let options = VerifyOptions {
                allow_unregistered_dialects: self.allow_unregistered_dialects,
                strict: self.strict,
                ..VerifyOptions::default()
            };
            loaded.verify(&options);
        }
        loaded
    }
}

/// A program as far as it could be read, with diagnostics.
pub struct Loaded {
    /// The program. If a diagnostic is an error, it may only be inspected and printed.
    pub module: Module,
    /// Errors and warnings, in the order of the text.
    pub diagnostics: Diagnostics,
    /// Where the ops, regions and names of a text are, if that was asked for.
    pub source_map: Option<Box<SourceMap>>,
}

impl Loaded {
    /// True if a diagnostic is an error.
    pub fn has_errors(&self) -> bool {
        has_errors(&self.diagnostics)
    }

    /// The module, without the warnings.
    ///
    /// # Errors
    /// All diagnostics, if one is an error.
    pub fn into_result(self) -> Result<Module> {
        if self.has_errors() {
            return Err(Error::in_module(self.diagnostics, &self.module));
        }
        Ok(self.module)
    }

    /// Adds the verifier's diagnostics. After parse errors, only errors about other ops are added,
    /// as those about the same ones may be consequences.
    fn verify(&mut self, options: &VerifyOptions) {
        if !self.has_errors() {
            self.diagnostics.extend(verify(&self.module, options));
        } else if self.module.source().is_some() {
            let unread = Unread::new(&self.module, &self.diagnostics);
            let mut found = verify(&self.module, options);
            found.retain(|d| unread.is_independent(d));
            self.diagnostics.extend(found);
            mlir::diag::sort(&mut self.diagnostics);
        }
        mlir::text::narrow(&mut self.diagnostics, &self.module);
    }
}

/// A file that is no program, but is often taken for one.
fn other_format(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x1F, 0x8B, ..] => Some("compressed by gzip: decompress it first"),
        [b'P', b'K', 3, 4, ..] => {
            Some("a zip archive, such as NumPy's .npz or PyTorch's .pt2; a program may be in it")
        }
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Some("an array of NumPy, not a program"),
        [_, _, _, _, _, _, 0, 0, b'{', b'"', ..] => Some("a safetensors file, not a program"),
        _ if bytes.trim_ascii_start().starts_with(b"HloModule ") => {
            Some("HLO text, the format of XLA; StableHLO is MLIR, from which XLA makes HLO")
        }
        _ => None,
    }
}

/// The outcome for a file of which nothing can be read.
fn unreadable(diagnostic: Diagnostic) -> Loaded {
    let diagnostics = vec![diagnostic];
    Loaded { module: Module::new(registry()), diagnostics, source_map: None }
}

/// The position of a diagnostic in the text.
fn start(diagnostic: &Diagnostic) -> Option<u32> {
    diagnostic.position.span().map(|span| span.start)
}

/// The top-level ops of a text with parse errors.
struct Unread {
    /// Start of each top-level op.
    starts: Vec<u32>,
    /// Those with errors, as the number of ops that start at or before an error.
    ops: Vec<usize>,
    /// The symbols that top-level ops define.
    symbols: HashSet<String>,
}

/// The symbols in a message, without `@`.
fn symbols(message: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || "_.$-".contains(c);
    message.split('@').skip(1).map(move |rest| {
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        &rest[..end]
    })
}

impl Unread {
    fn new(module: &Module, errors: &[Diagnostic]) -> Unread {
        let body = module.top().regions().first().and_then(|&region| module.entry(region));
        let ops = || body.into_iter().flat_map(|block| module.ops(block));
        let place = |op: OpRef<'_>| op.position().span().map(|span| span.start);
        let starts: Vec<u32> = ops().filter_map(place).collect();
        let symbols = ops().filter_map(|op| op.symbol_name().map(String::from)).collect();
        let mut unread = Unread { starts, ops: Vec::new(), symbols };
        unread.ops = errors.iter().filter_map(start).map(|at| unread.number(at)).collect();
        unread
    }

    fn number(&self, at: u32) -> usize {
        self.starts.partition_point(|&start| start <= at)
    }

    /// True if a verifier error cannot be a consequence of a parse error: it is about another
    /// top-level op, and about no symbol whose definition may not have been read.
    fn is_independent(&self, diagnostic: &Diagnostic) -> bool {
        let elsewhere = start(diagnostic).is_some_and(|at| !self.ops.contains(&self.number(at)));
        elsewhere && symbols(&diagnostic.message).all(|name| self.symbols.contains(name))
    }
}

/// The bytecode in the container written by `jax.export`, or in a SavedModel of TensorFlow.
pub(crate) fn container(bytes: &Bytes) -> Option<Bytes> {
    if is_bytecode(bytes) {
        return None;
    }
    if let Some(artifact) = saved_artifact(bytes) {
        return Some(Bytes::from(artifact.to_vec()));
    }
    bytes.slice(Exported::read(bytes)?.module)
}

/// The error for a file that is no text and holds bytecode, but not as a container does.
fn damaged_container(name: &str, bytes: &Bytes) -> Option<Diagnostic> {
    let start = memmem::find(bytes, &MAGIC)?;
    let field = Exported::unreadable_field(bytes)?;
    let message = format!(
        "{name}: there is bytecode from byte {start} on, as in a container of jax.export, but {field} of \
         such a container cannot be read"
    );
    std::str::from_utf8(bytes).is_err().then(|| Diagnostic::error("container", message))
}

/// Reads bytecode. An error in an artifact of a newer version mentions the version.
pub(crate) fn read_bytecode(bytes: &Bytes, options: ReadOptions) -> ReadOutput {
    let mut output = mlir::bytecode::read(bytes, registry(), options);
    if let Some(version) = artifact_version(bytes).filter(|&version| version > Version::CURRENT) {
        let note = format!(
            "it was written for StableHLO {version}; this program knows versions up to {}",
            Version::CURRENT
        );
        output.diagnostics =
            output.diagnostics.into_iter().map(|d| d.note(note.clone(), Position::None)).collect();
    }
    output
}

/// True if a module has ops of VHLO.
pub(crate) fn has_vhlo(module: &Module) -> bool {
    module
        .walk(module.top().id())
        .any(|op| op.def().is_some_and(|def| def.dialect() == vhlo::VHLO.namespace))
}

/// The meaning of the bytes of a file of bytecode, or of the bytecode in a container of
/// `jax.export`: its fields in order, as far as it can be read, and the diagnostics.
pub fn bytecode_fields(bytes: &Bytes) -> (Vec<FileField>, Diagnostics) {
    let exported = if is_bytecode(bytes) { None } else { Exported::read(bytes) };
    let start = exported.as_ref().map_or(0, |exported| exported.module.start);
    let bytecode =
        exported.and_then(|exported| bytes.slice(exported.module)).unwrap_or_else(|| bytes.clone());
    if !is_bytecode(&bytecode) {
        return Default::default();
    }
    let options = ReadOptions { allow_unregistered_dialects: true, note_fields: true };
    let mut output = read_bytecode(&bytecode, options);
    for field in &mut output.fields {
        field.range = field.range.start + start..field.range.end + start;
    }
    (output.fields, output.diagnostics)
}

/// Begins errors of bytecode, which have no place in a text, with the name of the file.
pub(crate) fn name_file(name: &str, diagnostics: &mut Diagnostics) {
    for diagnostic in diagnostics.iter_mut().filter(|d| d.label == "bytecode") {
        diagnostic.message = format!("{name}: {}", diagnostic.message);
    }
}
