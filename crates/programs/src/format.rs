//! Formats of programs, and which one the name of a file means.

use crate::io::Failure;
use mlir::diag::Diagnostics;
use stablo::{
    Foreign, Module, PrintOptions, SerializeOptions, Version, WriteOptions, write_bytecode,
};
use std::path::Path;

/// How a program is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// MLIR text, with locations where they are explicit.
    Text,
    /// MLIR bytecode of the dialects as they are.
    Bytecode,
    /// A portable artifact of that version.
    Artifact(Version),
}

impl FileFormat {
    /// The format that the name of a file means. A target version asks for an artifact.
    ///
    /// # Errors
    /// If the name tells nothing or the version is none.
    pub fn of(path: &Path, target: Option<&str>) -> Result<FileFormat, Failure> {
        if let Some(target) = target {
            return stablo::target_version(target)
                .map(FileFormat::Artifact)
                .map_err(|e| Failure::usage(e.message));
        }
        match path.extension().and_then(|e| e.to_str()) {
            Some("mlir" | "txt") => Ok(FileFormat::Text),
            None if path == Path::new("-") => Ok(FileFormat::Text),
            Some("mlirbc") => Ok(FileFormat::Bytecode),
            Some("bc" | "stablehlo" | "vhlo") => Ok(FileFormat::Artifact(Version::CURRENT)),
            _ => Err(Failure::usage(format!(
                "the name {} tells no format: end it in .mlir (text), .mlirbc (bytecode), .mlir.bc or .stablehlo (artifact), \
                 or give --target=VERSION",
                path.display()
            ))),
        }
    }

    /// The bytes of a program.
    ///
    /// # Errors
    /// What cannot be expressed in the format.
    pub fn write(self, module: &Module, foreign: Foreign) -> Result<Vec<u8>, Diagnostics> {
        match self {
            FileFormat::Text => {
                let text = stablo::try_print(module, &PrintOptions::default())
                    .map_err(|error| vec![error])?;
                Ok((text + "\n").into_bytes())
            }
            FileFormat::Bytecode => write_bytecode(module, &WriteOptions::default())
                .map(|b| b.to_vec())
                .map_err(|error| vec![error]),
            FileFormat::Artifact(target) => {
                stablo::serialize(module, SerializeOptions { target, foreign })
                    .map(|artifact| artifact.to_vec())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_formats() {
        let of = |name: &str, target| FileFormat::of(Path::new(name), target).ok();
        assert_eq!(of("a.mlir", None), Some(FileFormat::Text));
        assert_eq!(of("a.mlirbc", None), Some(FileFormat::Bytecode));
        assert_eq!(of("a.mlir.bc", None), Some(FileFormat::Artifact(Version::CURRENT)));
        assert_eq!(of("a.mlir", Some("1.0.0")), Some(FileFormat::Artifact(Version::new(1, 0))));
        assert_eq!(of("a.pdf", None), None);
        assert_eq!(of("a.bc", Some("one")), None);
    }
}
