//! Programs as other frameworks save them: TensorFlow's SavedModel and the folders of torch_xla.
//!
//! Source: TensorFlow, `saved_model.proto`, `graph.proto`, `function.proto`, `node_def.proto`;
//! PyTorch/XLA, `torch_xla/stablehlo.py`.

use crate::{Error, Result};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use wire::protobuf::ProtobufMessage;

/// The file of a SavedModel in its folder.
const SAVED_MODEL: &str = "saved_model.pb";

/// The function of torch_xla's folders that is preferred: what it calls the only one.
const FORWARD: &str = "forward";

/// The op whose attribute `module` is an artifact.
const CALL: &str = "XlaCallModule";

/// The file with the program of a folder: a SavedModel of TensorFlow, or what torch_xla's
/// `save_as_stablehlo` writes, where `forward` comes before other functions and bytecode before
/// text.
///
/// # Errors
/// If the folder is neither.
pub fn program_in_folder(folder: impl AsRef<Path>) -> Result<PathBuf> {
    let folder = folder.as_ref();
    let saved = folder.join(SAVED_MODEL);
    if saved.is_file() {
        return Ok(saved);
    }
    in_folder_of_torch(folder).ok_or_else(|| {
        let message = format!(
            "{} is a directory without {SAVED_MODEL} of TensorFlow or functions/*.meta of \
             torch_xla",
            folder.display()
        );
        Error::message("input", message)
    })
}

/// The file with the program in a folder that torch_xla wrote.
fn in_folder_of_torch(folder: &Path) -> Option<PathBuf> {
    let files = std::fs::read_dir(folder.join("functions")).ok()?;
    let rank = |path: &Path| -> Option<(bool, u8, PathBuf)> {
        let form = match path.extension().and_then(OsStr::to_str)? {
            "bytecode" => 0,
            "mlir" => 1,
            _ => return None,
        };
        let is_other = path.file_stem().is_none_or(|stem| stem != FORWARD);
        path.with_extension("meta").is_file().then(|| (is_other, form, path.to_path_buf()))
    };
    let ranked = files.filter_map(|file| rank(&file.ok()?.path()));
    ranked.min().map(|(_, _, path)| path)
}

/// The artifact in a SavedModel: the only one, or the first of several. `None` if the bytes are no
/// SavedModel with an artifact.
pub(crate) fn saved_artifact(bytes: &[u8]) -> Option<&[u8]> {
    // The version of the format, 1, comes first, then a graph.
    if !bytes.starts_with(&[0x08, 0x01, 0x12]) {
        return None;
    }
    let mut graphs = ProtobufMessage(bytes).messages(2).flat_map(|meta| meta.messages(2));
    graphs.find_map(|graph| {
        let functions = graph.messages(2).flat_map(|library| library.messages(1));
        let within = functions.flat_map(|function| function.messages(3));
        within.chain(graph.messages(1)).find_map(artifact)
    })
}

/// The artifact that a node calls.
fn artifact(node: ProtobufMessage<'_>) -> Option<&[u8]> {
    if node.string(2) != CALL {
        return None;
    }
    let mut attributes = node.messages(5);
    let module = attributes.find(|entry| entry.string(1) == "module")?;
    module.messages(2).next()?.all(2).next()
}
