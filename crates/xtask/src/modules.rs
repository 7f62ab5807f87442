//! Checks which modules of crate `mlir` name which others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The modules of `mlir`, each with the others that it may name. Ops are data with functions in
/// them, so declarations name what these functions take: `ods` and `params` see the parser, the
/// printer and the rewriter. What must not be is that data knows its formats (`ir`, `attrs` and
/// `types` name neither `bytecode` nor `text`), or that rewriting knows passes.
const MODULES: [(&str, &[&str]); 20] = [
    ("affine", &[]),
    ("attrs", &["affine", "node", "params", "types"]),
    ("builtin", &["attrs", "bytecode", "diag", "ir", "ods", "rewrite", "text"]),
    (
        "bytecode",
        &["affine", "attrs", "builtin", "diag", "ir", "node", "ods", "raw", "text", "types"],
    ),
    ("diag", &["attrs"]),
    ("ir", &["attrs", "builtin", "diag", "ods", "types"]),
    ("location", &["attrs"]),
    ("nearest", &[]),
    ("node", &[]),
    (
        "ods",
        &[
            "attrs", "builtin", "bytecode", "diag", "ir", "params", "prepare", "rewrite", "text",
            "types", "verify",
        ],
    ),
    ("options", &["nearest"]),
    ("params", &["attrs", "text", "types"]),
    ("pass", &["diag", "ir", "nearest", "options", "rewrite", "verify"]),
    ("prepare", &["attrs", "ir", "ods", "types"]),
    ("raw", &["attrs", "types"]),
    ("rewrite", &["attrs", "builtin", "diag", "ir", "ods", "options", "types"]),
    (
        "text",
        &["affine", "attrs", "builtin", "diag", "ir", "nearest", "node", "ods", "raw", "types"],
    ),
    ("types", &["attrs", "node", "params"]),
    ("verify", &["attrs", "diag", "ir", "nearest", "ods", "types"]),
    ("lib", &[]),
];

/// The modules that a source file names by `crate::…`, comments aside.
fn named(source: &str) -> BTreeSet<String> {
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut found = BTreeSet::new();
    for line in code {
        for rest in line.split("crate::").skip(1).filter(|_| !line.contains("$crate::")) {
            let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next();
            found
                .extend(name.filter(|name| name.starts_with(char::is_lowercase)).map(String::from));
        }
    }
    found
}

/// Adds what the files at `path` name to what their module names.
fn scan(path: &Path, module: &str, found: &mut BTreeMap<String, BTreeSet<String>>) {
    if let Ok(entries) = std::fs::read_dir(path) {
        entries.flatten().for_each(|entry| scan(&entry.path(), module, found));
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        let source = std::fs::read_to_string(path).expect("sources are readable");
        found.entry(module.to_owned()).or_default().extend(named(&source));
    }
}

#[test]
fn modules_of_mlir_name_only_what_they_may() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mlir/src");
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(root).expect("the crate is there").flatten() {
        let path = entry.path();
        let module = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        scan(&path, &module, &mut found);
    }
    // Macros stand at the top of a crate and may be named by all.
    let macros = ["op"];
    let mut violations = Vec::new();
    for (module, names) in &found {
        let allowed = MODULES.iter().find(|(name, _)| name == module).map(|(_, allowed)| *allowed);
        let Some(allowed) = allowed else {
            violations.push(format!("{module} is not in the table"));
            continue;
        };
        let others =
            names.iter().filter(|name| *name != module && !macros.contains(&name.as_str()));
        let bad = others.filter(|name| !allowed.contains(&name.as_str()));
        violations.extend(bad.map(|name| format!("{module} names {name}")));
        let unused = allowed.iter().filter(|name| !names.contains(**name));
        violations.extend(
            unused.map(|name| format!("{module} no longer names {name}: tighten the table")),
        );
    }
    assert_eq!(violations, [""; 0]);
}

#[test]
fn names_are_found() {
    let source =
        "use crate::ir::{Module};\n// crate::text\nlet x: crate::types::Type = crate::op!();";
    assert!(named(source).iter().eq(["ir", "op", "types"]));
}
