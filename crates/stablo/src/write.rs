//! Writing programs: text, bytecode, portable artifacts.

use crate::ir::OpRef;
use crate::{Error, Module, PrintOptions, Result, Version};
pub use mlir::bytecode::Encoded;
use mlir::bytecode::WriteOptions;
use portable::ForeignOps;
use std::path::Path;

/// The MLIR text of a module, as upstream prints it for the same options. `module.to_string()` is
/// the text with default options.
///
/// # Errors
/// If types or attributes that share parts would be too long when written out, or memory does not
/// suffice.
pub fn print(module: &Module, options: &PrintOptions) -> Result<String> {
    mlir::text::try_print_module(module, options).map_err(Error::from)
}

/// The MLIR text of one op with its regions.
pub fn print_op(op: OpRef<'_>, options: &PrintOptions) -> String {
    mlir::text::print_op(op, options)
}

/// Options for writing bytecode.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BytecodeOptions {
    /// Version of the format. The newest by default.
    pub version: u64,
    /// The producer string recorded in the file.
    pub producer: String,
}

impl Default for BytecodeOptions {
    fn default() -> BytecodeOptions {
        let WriteOptions { version, producer, .. } = WriteOptions::default();
        BytecodeOptions { version, producer }
    }
}

impl BytecodeOptions {
    /// Sets [`BytecodeOptions::version`].
    #[must_use]
    pub fn version(mut self, version: u64) -> BytecodeOptions {
        self.version = version;
        self
    }

    /// Sets [`BytecodeOptions::producer`].
    #[must_use]
    pub fn producer(mut self, producer: impl Into<String>) -> BytecodeOptions {
        self.producer = producer.into();
        self
    }
}

/// A module as MLIR bytecode of its dialects as they are. Readers of other versions may not know
/// them: see [`serialize`].
///
/// # Errors
/// If the version is unknown or cannot express the module.
pub fn write_bytecode(module: &Module, options: &BytecodeOptions) -> Result<Vec<u8>> {
    encode_bytecode(module, options).map(|encoded| encoded.to_vec())
}

fn encode_bytecode(module: &Module, options: &BytecodeOptions) -> Result<Encoded> {
    let BytecodeOptions { version, producer } = options.clone();
    let regions_first = module.source().is_some();
    let options = WriteOptions { version, producer, regions_first, ..WriteOptions::default() };
    let encoded = mlir::bytecode::write(module, &options);
    encoded.map_err(|error| Error::in_module(vec![error], module))
}

/// Options for writing a portable artifact. A [`Version`] converts to options with that target.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SerializeOptions {
    /// The version to write: readers of this version or newer can read the artifact.
    /// [`Version::CURRENT`] by default.
    pub target: Version,
    /// Write ops, types and attributes of dialects other than StableHLO, CHLO and func as they are,
    /// instead of refusing them. On by default, as programs for several devices have those of
    /// Shardy; but no compatibility is promised for them.
    pub allow_other_dialects: bool,
}

impl Default for SerializeOptions {
    fn default() -> SerializeOptions {
        Version::CURRENT.into()
    }
}

impl From<Version> for SerializeOptions {
    fn from(target: Version) -> SerializeOptions {
        SerializeOptions { target, allow_other_dialects: true }
    }
}

impl SerializeOptions {
    /// Sets [`SerializeOptions::target`].
    #[must_use]
    pub fn target(mut self, target: Version) -> SerializeOptions {
        self.target = target;
        self
    }

    /// Sets [`SerializeOptions::allow_other_dialects`].
    #[must_use]
    pub fn allow_other_dialects(mut self, allow: bool) -> SerializeOptions {
        self.allow_other_dialects = allow;
        self
    }
}

/// A verified program as a portable artifact, which readers of the target version and of all later
/// ones can read. The bytes are what upstream writes for the same program and target.
///
/// # Errors
/// Lists the features that the target version lacks, each with the op and the first version that
/// has it.
///
/// ```
/// let module = stablo::load("empty.mlir", "func.func @main() { return }")?;
/// let artifact = stablo::serialize(&module, stablo::target_version("WEEK_12")?)?;
/// assert_eq!(stablo::load("artifact", artifact)?.to_string(), module.to_string());
/// # Ok::<(), stablo::Error>(())
/// ```
pub fn serialize(module: &Module, options: impl Into<SerializeOptions>) -> Result<Vec<u8>> {
    encode_artifact(module, options.into()).map(|artifact| artifact.to_vec())
}

fn encode_artifact(module: &Module, options: SerializeOptions) -> Result<Encoded> {
    let SerializeOptions { target, allow_other_dialects } = options;
    let foreign = if allow_other_dialects { ForeignOps::Keep } else { ForeignOps::Refuse };
    let artifact = portable::serialize(module, portable::ArtifactOptions { target, foreign });
    artifact.map_err(|errors| Error::in_module(errors, module))
}

/// Parses a target version: `1.16.2`, `current`, `minimum`, or the version that readers of the last
/// weeks support: `WEEK_4`, `WEEK_12`.
///
/// # Errors
/// If the text is not a version, or that cannot be written.
pub fn target_version(target: &str) -> Result<Version> {
    portable::target_version(target).map_err(Error::from)
}

/// The format of a program file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// MLIR text without locations; [`print()`] has options.
    Text,
    /// MLIR bytecode of the dialects as they are.
    Bytecode,
    /// A portable artifact of that version.
    Artifact(Version),
}

impl Format {
    /// The format for the extension of a file name: `.mlir` and `.txt` are text, `.mlirbc` is
    /// bytecode, `.bc` (as in `.mlir.bc`), `.stablehlo`, `.vhlo` and `.stb` are artifacts of the
    /// current version. `None` for all others.
    pub fn from_path(path: impl AsRef<Path>) -> Option<Format> {
        match path.as_ref().extension()?.to_str()? {
            "mlir" | "txt" => Some(Format::Text),
            "mlirbc" => Some(Format::Bytecode),
            "bc" | "stablehlo" | "vhlo" | "stb" => Some(Format::Artifact(Version::CURRENT)),
            _ => None,
        }
    }

    /// A program in this format. `allow_other_dialects` is that of [`SerializeOptions`].
    ///
    /// # Errors
    /// If the program cannot be expressed in the format.
    pub fn write(self, module: &Module, allow_other_dialects: bool) -> Result<Vec<u8>> {
        self.encode(module, allow_other_dialects).map(|encoded| encoded.to_vec())
    }

    /// As [`Format::write`], without copies of large constants of bytecode and artifacts.
    ///
    /// # Errors
    /// As there.
    pub fn encode(self, module: &Module, allow_other_dialects: bool) -> Result<Encoded> {
        match self {
            Format::Text => {
                Ok((print(module, &PrintOptions::default())? + "\n").into_bytes().into())
            }
            Format::Bytecode => encode_bytecode(module, &BytecodeOptions::default()),
            Format::Artifact(target) => {
                encode_artifact(module, SerializeOptions { target, allow_other_dialects })
            }
        }
    }
}
