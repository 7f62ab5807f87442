//! Checks that the Python package is built as the programs are, but for crates that these do not
//! optimize at all, for the time of a build: in a wheel, which is downloaded, they are small.
//! Profiles belong to a workspace, and `python/` is another one.

use std::path::Path;

/// The optimization of packages in a manifest: lines of `[profile.release.package]`.
fn packages(manifest: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join(manifest)).expect("the manifest is there");
    let section = text.split("\n[profile.release.package]\n").nth(1).unwrap_or_default();
    let lines = section.lines().take_while(|line| !line.starts_with('[') && !line.is_empty());
    lines.map(str::to_string).collect()
}

#[test]
fn python_is_built_as_programs_are() {
    let ours = packages("Cargo.toml");
    assert!(!ours.is_empty());
    let small = ours.iter().map(|line| line.replace("opt-level = 0", "opt-level = \"s\""));
    assert_eq!(packages("python/Cargo.toml"), small.collect::<Vec<_>>());
}
