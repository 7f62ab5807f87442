//! The format of an output file.

use crate::io::CommandFailure;
use stablo::Format;
use std::path::Path;

/// The format for the name of an output file; an artifact if a target version is given.
///
/// # Errors
/// If the extension is unknown, or the target is not a version.
pub fn output_format(path: &Path, target: Option<&str>) -> Result<Format, CommandFailure> {
    if let Some(target) = target {
        if path.extension().is_some_and(|extension| extension == "mlir") {
            return Err(CommandFailure::usage(format!(
                "{} is the name of a text, but --target asks for an artifact: end it in .mlir.bc or \
                 .stablehlo",
                path.display()
            )));
        }
        let version = stablo::target_version(target);
        return version.map(Format::Artifact).map_err(|error| CommandFailure::usage(first(&error)));
    }
    let format = if path == Path::new("-") { Some(Format::Text) } else { Format::from_path(path) };
    format.ok_or_else(|| {
        CommandFailure::usage(format!(
            "the extension of {} is unknown: end it in .mlir (text), .mlirbc (bytecode), .mlir.bc, \
             .stablehlo or .stb (artifact), or give --target=VERSION",
            path.display()
        ))
    })
}

/// The message of the first diagnostic.
pub fn first(error: &stablo::Error) -> &str {
    error.diagnostics().first().map_or("", |diagnostic| &diagnostic.message)
}
