//! Programs in bytecode, opened as text and saved as they were.

use stablo::{
    BytecodeOptions, Bytes, Exported, FileFormat, LoadOptions, Module, PrintOptions,
    SerializeOptions, Version, counted, has_errors,
};
use std::fmt;

/// A file of bytecode, an artifact or an export of JAX, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The program as text.
    pub text: String,
    /// The format, for people: `portable artifact of StableHLO 1.5.0`.
    pub format: String,
}

/// Why a text cannot be saved in the format of a file.
#[derive(Clone, Debug)]
pub enum SaveError {
    /// The file or the text has errors, or the format cannot express the program.
    Program(stablo::Error),
    /// The format is another or cannot be kept: why.
    Format(String),
}

impl From<stablo::Error> for SaveError {
    fn from(error: stablo::Error) -> SaveError {
        SaveError::Program(error)
    }
}

impl fmt::Display for SaveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SaveError::Program(error) => error.fmt(f),
            SaveError::Format(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for SaveError {}

/// How the program of a file is written.
enum Form {
    Bytecode { version: u64, producer: String },
    Artifact(Version),
}

impl Opened {
    /// Reads a program from the bytes of a file; text stays as it is.
    ///
    /// # Errors
    /// Everything that is wrong with the program.
    pub fn read(name: &str, bytes: &[u8]) -> Result<Opened, SaveError> {
        if let Ok(text) = std::str::from_utf8(bytes)
            && !stablo::is_bytecode(&Bytes::from(bytes.to_vec()))
            && Exported::read(bytes).is_none()
        {
            return Ok(Opened { text: text.to_string(), format: "MLIR text".to_string() });
        }
        let module = read(name, bytes)?;
        let format = match form(name, bytes)? {
            Form::Bytecode { version, producer } => {
                format!("MLIR bytecode of version {version} by {producer}")
            }
            Form::Artifact(version) => format!("portable artifact of StableHLO {version}"),
        };
        let format = match Exported::read(bytes) {
            Some(exported) => {
                let devices = counted(u64::from(exported.num_devices), "device");
                format!("export of JAX for {devices}: {format}")
            }
            None => format,
        };
        let options = PrintOptions { debug_info: true, ..PrintOptions::default() };
        let text = stablo::print(&module, &options)? + "\n";
        Ok(Opened { text, format })
    }

    /// A text as bytes in the format of a file: bytecode or an artifact of the same version, in a
    /// container of `jax.export` if the file is one.
    ///
    /// # Errors
    /// If the text has errors, the version cannot express it, or the container describes other
    /// arguments and results.
    pub fn save(name: &str, text: &str, file: &[u8]) -> Result<Vec<u8>, SaveError> {
        let module = read(name, text.as_bytes())?;
        let bytes = match form(name, file)? {
            Form::Bytecode { version, producer } => {
                let options = BytecodeOptions::default().version(version).producer(producer);
                stablo::write_bytecode(&module, &options)?
            }
            Form::Artifact(version) => stablo::serialize(&module, SerializeOptions::from(version))?,
        };
        if Exported::read(file).is_none() {
            return Ok(bytes);
        }
        let before = read(name, file)?;
        if signature(&before) != signature(&module) {
            let message = "the file describes the arguments and results of its program, which are \
                           others now: they cannot change in an export of JAX";
            return Err(SaveError::Format(message.to_string()));
        }
        let container = Exported::with_module(file, &bytes);
        container.ok_or_else(|| SaveError::Format("the export of JAX would be too large".into()))
    }
}

fn read(name: &str, bytes: &[u8]) -> Result<Module, SaveError> {
    let loaded = LoadOptions::default().load(name, Bytes::from(bytes.to_vec()));
    match has_errors(&loaded.diagnostics) {
        true => Err(stablo::Error::in_module(loaded.diagnostics, &loaded.module).into()),
        false => Ok(loaded.module),
    }
}

/// The types of the arguments and results of `main`.
fn signature(module: &Module) -> Option<String> {
    let main = stablo::entry_function(module, "main").ok()?;
    main.0.attr("function_type").map(ToString::to_string)
}

fn form(name: &str, bytes: &[u8]) -> Result<Form, SaveError> {
    let inspection = stablo::inspect(name, Bytes::from(bytes.to_vec()))?;
    match inspection.format {
        FileFormat::Bytecode { artifact: Some(version), .. } => Ok(Form::Artifact(version)),
        FileFormat::Bytecode { version, producer, artifact: None, .. } => {
            Ok(Form::Bytecode { version, producer })
        }
        FileFormat::Text => Err(SaveError::Format("the file is text already".to_string())),
    }
}
