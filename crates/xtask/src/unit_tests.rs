//! Checks that no unit test stands where it would not run: a library without unit tests says so in
//! its manifest (`test = false`), which saves compiling it a second time.

use std::fs;
use std::path::{Path, PathBuf};

/// The files below a folder that have unit tests.
fn with_tests(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            with_tests(&path, found);
        } else if fs::read_to_string(&path).is_ok_and(|text| text.contains("#[test]")) {
            found.push(path);
        }
    }
}

#[test]
fn unit_tests_run() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut wrong = Vec::new();
    for entry in fs::read_dir(crates).expect("the crates are there").flatten() {
        let Ok(manifest) = fs::read_to_string(entry.path().join("Cargo.toml")) else { continue };
        let section = manifest.split("[lib]").nth(1).unwrap_or_default();
        let section = section.split("\n[").next().unwrap_or_default();
        if section.lines().any(|line| line == "test = false") {
            with_tests(&entry.path().join("src"), &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "the manifest says `test = false`, but there are tests: {wrong:?}");
}
