//! Upstream's own tests, from a clone of openxla/stablehlo: the hand-written ones in
//! `stablehlo/tests` and the programs in `stablehlo/testdata`. `cargo xtask upstream` fetches the
//! clone and runs this.
//!
//! They run twice: unmodified, as under `lit`, and with empty texts of expected diagnostics, whose
//! words differ here, so that only severity and position count.

use crate::files::InProcess;
use crate::tree;
use filetests::Suite;
use std::collections::BTreeSet;
use std::path::Path;

/// Files that fail, by their paths in the clone; `words:` marks files that differ in words alone.
const FAILING: &str = include_str!("../../../../tests/upstream-failing.txt");

/// Empties the texts of expected diagnostics, and drops checks of what a failing program says.
fn reworded(path: &Path, contents: Vec<u8>) -> Vec<u8> {
    if path.extension().is_none_or(|extension| extension != "mlir") {
        return contents;
    }
    let Ok(text) = String::from_utf8(contents) else { return Vec::new() };
    let mut result = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if line.contains("RUN: not ")
            && let Some((command, _)) = line.split_once("2>&1")
        {
            result.push_str(command);
            result.push('\n');
            continue;
        }
        result.push_str(&without_message(line));
    }
    result.into_bytes()
}

/// A line without the text between the braces of an expected diagnostic.
fn without_message(line: &str) -> String {
    let kinds = ["expected-error", "expected-warning", "expected-remark", "expected-note"];
    let parts = kinds.iter().find_map(|kind| line.find(kind)).and_then(|start| {
        let open = start + line[start..].find("{{")? + 2;
        let close = open + line[open..].rfind("}}")?;
        Some((&line[..open], &line[close..]))
    });
    match parts {
        Some((before, after)) => format!("{}{after}", before.replace("-re ", " ")),
        None => line.to_string(),
    }
}

/// Copies folders of the clone, changed by `edit`, runs their tests and compares the failing ones
/// with `known`.
fn check(
    clone: &Path,
    parts: &[&str],
    folder: &Path,
    edit: &dyn Fn(&Path, Vec<u8>) -> Vec<u8>,
    known: &BTreeSet<String>,
) {
    let files = folder.join("stablehlo");
    for part in parts {
        tree::copy(&clone.join("stablehlo").join(part), &files.join(part), edit);
    }
    let report = Suite::new(&files, folder.join("scratch"), &InProcess).run();
    println!("{} files passed, {} failed", report.passed, report.failures.len());
    let path = |path: &Path| path.strip_prefix(&files).unwrap_or(path).display().to_string();
    let failed: BTreeSet<String> = report.failures.iter().map(|f| path(&f.path)).collect();
    for failure in report.failures.iter().filter(|f| !known.contains(&path(&f.path))) {
        println!("{}: {:?}\n{}", failure.path.display(), failure.run_line, failure.details);
    }
    let new: Vec<_> = failed.difference(known).collect();
    let fixed: Vec<_> = known.difference(&failed).collect();
    assert!(new.is_empty(), "these fail: {new:#?}");
    assert!(fixed.is_empty() || report.filtered, "these pass now, and are listed: {fixed:#?}");
}

#[test]
#[ignore = "needs a clone of openxla/stablehlo: cargo xtask upstream"]
fn upstream_tests_pass() {
    let clone = std::env::var_os("STABLO_UPSTREAM").expect("STABLO_UPSTREAM names the clone");
    let clone = Path::new(&clone);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("upstream");
    let lines = FAILING.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let (words, failing): (Vec<&str>, Vec<&str>) =
        lines.partition(|line| line.starts_with("words: "));
    let failing: BTreeSet<String> = failing.into_iter().map(str::to_string).collect();
    check(clone, &["tests", "testdata"], &folder.join("reworded"), &reworded, &failing);
    let words = words.into_iter().map(|line| line["words: ".len()..].to_string());
    let failing = failing.iter().cloned().chain(words).collect();
    check(clone, &["tests"], &folder.join("unmodified"), &|_, contents| contents, &failing);
}
