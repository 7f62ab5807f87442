//! Symbols of the other files of a workspace.

use crate::convert::symbol_kind;
use crate::handlers::Found;
use crate::server::{Document, Server};
use ide::{File, Symbol, SymbolKind};
use ls_types as types;
use ls_types::Uri;
use std::path::{Path, PathBuf};

/// The most files that are read for a request, and their largest size in bytes.
const MAX_FILES: usize = 2000;
const MAX_BYTES: u64 = 4 << 20;

/// The most symbols in a response.
const MAX_SYMBOLS: usize = 500;

/// The symbols of the open texts and of the files in the workspace whose names hold the letters of
/// the query in order.
#[allow(deprecated, reason = "the field must be set")]
pub(crate) fn symbols(
    server: &Server,
    params: types::WorkspaceSymbolParams,
) -> Found<Vec<types::SymbolInformation>> {
    let query = params.query.to_ascii_lowercase();
    let mut found = Vec::new();
    let mut open: Vec<(&Uri, &Document)> = server.documents.iter().collect();
    open.sort_by_key(|(uri, _)| *uri);
    for (uri, document) in open {
        add(&document.file.symbols(), uri, document, &query, &mut found);
    }
    for path in files(&server.folders) {
        if found.len() >= MAX_SYMBOLS {
            break;
        }
        let Some(uri) = Uri::from_file_path(&path) else { continue };
        if server.documents.contains_key(&uri) {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        // Reading the program is not worth it for files that cannot have such a name.
        if !text.to_ascii_lowercase().contains(query.get(..1).unwrap_or_default()) {
            continue;
        }
        let file = File::new(path.to_string_lossy(), text);
        let document = Document::new(file, server.encoding, 0);
        add(&document.file.symbols(), &uri, &document, &query, &mut found);
    }
    found.truncate(MAX_SYMBOLS);
    Ok(found)
}

#[allow(deprecated, reason = "the field must be set")]
fn add(
    symbols: &[Symbol],
    uri: &Uri,
    document: &Document,
    query: &str,
    found: &mut Vec<types::SymbolInformation>,
) {
    for symbol in symbols {
        let mut letters = symbol.name.chars().map(|c| c.to_ascii_lowercase());
        let matches = query.chars().all(|wanted| letters.any(|letter| letter == wanted));
        if matches && symbol.kind != SymbolKind::Region {
            found.push(types::SymbolInformation {
                name: symbol.name.clone(),
                kind: symbol_kind(symbol.kind),
                tags: None,
                deprecated: None,
                location: types::Location {
                    uri: uri.clone(),
                    range: document.range(symbol.selection),
                },
                container_name: None,
            });
        }
        add(&symbol.children, uri, document, query, found);
    }
}

/// The texts of programs in folders, hidden ones aside, in alphabetical order.
fn files(folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left: Vec<PathBuf> = folders.to_vec();
    while let Some(folder) = left.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            if kind.is_dir() && !is_hidden && found.len() < MAX_FILES {
                left.push(path);
            } else if kind.is_file() && is_text(&path) && is_small(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    found.truncate(MAX_FILES);
    found
}

fn is_text(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "mlir")
}

fn is_small(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.len() <= MAX_BYTES)
}
