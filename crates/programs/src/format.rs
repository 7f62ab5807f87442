//! The format of an output file.

use crate::io::Failure;
use stablo::Format;
use std::path::Path;

/// The format for the name of an output file; an artifact if a target version is given.
///
/// # Errors
/// If the extension is unknown, or the target is not a version.
pub fn output_format(path: &Path, target: Option<&str>) -> Result<Format, Failure> {
    if let Some(target) = target {
        let version = stablo::target_version(target);
        return version.map(Format::Artifact).map_err(|error| Failure::usage(first(&error)));
    }
    let format = if path == Path::new("-") { Some(Format::Text) } else { Format::from_path(path) };
    format.ok_or_else(|| {
        Failure::usage(format!(
            "the extension of {} is unknown: end it in .mlir (text), .mlirbc (bytecode), .mlir.bc \
             or .stablehlo (artifact), or give --target=VERSION",
            path.display()
        ))
    })
}

/// The message of the first diagnostic.
pub fn first(error: &stablo::Error) -> &str {
    error.diagnostics().first().map_or("", |diagnostic| &diagnostic.message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stablo::Version;

    #[test]
    fn names_tell_formats() {
        let of = |name: &str, target| output_format(Path::new(name), target).ok();
        assert_eq!(of("-", None), Some(Format::Text));
        assert_eq!(of("a.mlir", None), Some(Format::Text));
        assert_eq!(of("a.mlirbc", None), Some(Format::Bytecode));
        assert_eq!(of("a.mlir.bc", None), Some(Format::Artifact(Version::CURRENT)));
        assert_eq!(of("a.mlir", Some("1.0.0")), Some(Format::Artifact(Version::new(1, 0))));
        assert_eq!(of("a.pdf", None), None);
        assert_eq!(of("a.bc", Some("one")), None);
    }
}
