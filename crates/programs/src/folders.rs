//! Folders of torch_xla as programs: the weights beside a function are its arguments.

use crate::io::{CommandFailure, Io};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The file to read for a program: its own, or that in a folder that another framework saved.
///
/// # Errors
/// If the folder holds no program.
pub fn program_file(path: &Path, io: &Io<'_>) -> Result<PathBuf, CommandFailure> {
    let full = io.path(path);
    if !full.is_dir() {
        return Ok(path.to_path_buf());
    }
    let file = stablo::program_in_folder(&full)?;
    Ok(file.strip_prefix(&full).map_or(file.clone(), |file| path.join(file)))
}

/// The values of `--input` for all arguments of the function in a folder of torch_xla: weights and
/// constants from the files beside it, and `given` for the arguments of the user, in their order.
/// `None` if `path` is no such folder.
///
/// # Errors
/// If the description of the function cannot be read.
pub fn with_weights(
    path: &Path,
    given: &[String],
    io: &mut Io<'_>,
) -> Result<Option<Vec<String>>, CommandFailure> {
    if !io.path(path).is_dir() {
        return Ok(None);
    }
    let meta = program_file(path, io)?.with_extension("meta");
    if !io.path(&meta).is_file() {
        return Ok(None);
    }
    let invalid = |why: &str| CommandFailure::input(format!("{}: {why}", meta.display()));
    let bytes = io.read(&meta)?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|e| invalid(&e.to_string()))?;
    let locations = value["input_locations"].as_array();
    let locations = locations.ok_or_else(|| invalid("there is no list `input_locations`"))?;
    let mut values = Vec::with_capacity(locations.len());
    for (index, location) in locations.iter().enumerate() {
        let position = location["position"].as_u64().and_then(|n| usize::try_from(n).ok());
        let file = match (location["type_"].as_str(), position, location["name"].as_str()) {
            (Some("parameter"), _, Some(name)) if is_file_name(name) => {
                path.join("data").join(name)
            }
            (Some("constant"), Some(position), _) => {
                path.join("constants").join(position.to_string())
            }
            (Some("input_arg"), Some(position), _) => {
                // Named and missing inputs are reported with the others.
                values.extend(given.get(position).map(|value| named(index, value)));
                continue;
            }
            _ => return Err(invalid(&format!("input {index} has no readable location"))),
        };
        values.push(format!("{index}={}", file.display()));
    }
    Ok(Some(values))
}

/// True for the name of a file in a folder, which leads to no other folder.
pub fn is_file_name(name: &str) -> bool {
    Path::new(name).file_name() == Some(name.as_ref())
}

/// `INDEX=VALUE`, unless the value already names its argument.
fn named(index: usize, value: &str) -> String {
    match value.split_once('=') {
        Some(_) if !value.starts_with("dense") => value.to_string(),
        _ => format!("{index}={value}"),
    }
}
