//! Checks that no test stands where it would not run: a library without unit tests says so in its
//! manifest (`test = false`), which saves compiling it a second time; so does one without examples
//! in its documentation (`doctest = false`).

use std::fs;
use std::path::{Path, PathBuf};

/// Unit tests that `tests/it` of their crate includes.
const INCLUDED: [&str; 1] = ["hlo/src/sharding.rs"];

/// The files below a folder whose text satisfies a predicate.
fn files_with(folder: &Path, predicate: fn(&str) -> bool, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files_with(&path, predicate, found);
        } else if fs::read_to_string(&path).is_ok_and(|text| predicate(&text)) {
            found.push(path);
        }
    }
}

/// True if a file has code in its documentation that is compiled, which other text is not.
fn has_examples(text: &str) -> bool {
    let docs = text.lines().filter_map(|line| {
        let line = line.trim_start();
        line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))
    });
    let mut fences = docs.filter_map(|line| line.trim_start().strip_prefix("```"));
    // Each fence that opens a block is followed by one that closes it.
    std::iter::from_fn(|| Some((fences.next()?, fences.next()).0)).any(|kind| kind != "text")
}

/// The files with tests that their crates' manifests turn off by a line of `[lib]`.
fn turned_off(line: &str, is_test: fn(&str) -> bool) -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut wrong = Vec::new();
    for entry in fs::read_dir(crates).expect("the crates are there").flatten() {
        let Ok(manifest) = fs::read_to_string(entry.path().join("Cargo.toml")) else { continue };
        let section = manifest.split("[lib]").nth(1).unwrap_or_default();
        let section = section.split("\n[").next().unwrap_or_default();
        if section.lines().any(|other| other == line) {
            files_with(&entry.path().join("src"), is_test, &mut wrong);
        }
    }
    wrong.retain(|path| !INCLUDED.iter().any(|included| path.ends_with(included)));
    wrong
}

#[test]
fn unit_tests_run() {
    let wrong = turned_off("test = false", |text| text.contains("#[test]"));
    assert!(wrong.is_empty(), "the manifest says `test = false`, but there are tests: {wrong:?}");
}

#[test]
fn examples_in_documentation_run() {
    let wrong = turned_off("doctest = false", has_examples);
    assert!(
        wrong.is_empty(),
        "the manifest says `doctest = false`, but there are examples: {wrong:?}"
    );
}
