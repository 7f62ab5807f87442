//! Runs small suites with a stand-in for the programs under test.

use filetests::{ProcessOutcome, Report, Suite, Tools};
use std::fs;
use std::path::{Path, PathBuf};

/// `stablo upper` writes its input in capitals; `stablo fail` fails; `stablo panic` panics. A last
/// argument that names a file replaces the standard input.
struct Fake;

impl Tools for Fake {
    fn run(&self, argv: &[String], stdin: &[u8], cwd: &Path) -> ProcessOutcome {
        let input = match argv.get(2) {
            None => stdin.to_vec(),
            Some(path) => match fs::read(cwd.join(path)) {
                Ok(bytes) => bytes,
                Err(error) => return ProcessOutcome::failure(1, error),
            },
        };
        match argv.get(1).map(String::as_str) {
            Some("upper") => {
                ProcessOutcome { stdout: input.to_ascii_uppercase(), ..ProcessOutcome::default() }
            }
            Some("fail") => ProcessOutcome::failure(3, "the tool fails"),
            Some("panic") => panic!("the tool panics"),
            _ => ProcessOutcome::failure(2, "unknown mode"),
        }
    }
}

/// Writes these tests to a fresh directory and runs them.
fn run(name: &str, tests: &[(&str, &str)]) -> (PathBuf, Report) {
    let base = Path::new(env!("CARGO_TARGET_TMPDIR")).join("runner").join(name);
    let root = base.join("tests");
    let _ = fs::remove_dir_all(&base);
    for (path, text) in tests {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("the path has a file name")).expect("can write");
        fs::write(path, text).expect("can write");
    }
    let mut suite = Suite::new(&root, base.join("scratch"), &Fake);
    suite.filter = None;
    let report = suite.run();
    (root, report)
}

#[test]
fn passing_tests() {
    let (_, report) = run(
        "passing",
        &[
            ("pipe.mlir", "// RUN: stablo upper %s | FileCheck %s\n// CHECK: BODY\nbody\n"),
            (
                "sub/dir/not.mlir",
                "// RUN: not stablo fail 2>&1 | FileCheck %s\n// CHECK: tool fails",
            ),
            ("not.mlir", "// RUN: not stablo fail\n"),
            (
                "files.mlir",
                "// RUN: stablo upper %s > %t.0 && cat %t.0 | stablo upper > %t.1\n\
                 // RUN: diff %t.0 %t.1\n\
                 // RUN: not diff %s %t.0\n\
                 // RUN: mkdir -p %t.dir && cp %t.0 %t.dir && rm %t.dir/files.mlir.tmp.0\n\
                 // RUN: not cat %t.dir/files.mlir.tmp.0 2> %t.error && FileCheck %s < %t.error\n\
                 // CHECK: cat:\n",
            ),
            ("condition.mlir", "// RUN: %if nothing %{ stablo fail %}\n"),
            ("Inputs/no-test.mlir", "text"),
            ("no-test.txt", "text"),
        ],
    );
    assert!(report.failures.is_empty(), "{report}");
    assert_eq!(report.passed, 5);
}

#[test]
fn failing_tests() {
    let tests = [
        ("check.mlir", "// RUN: stablo upper | FileCheck --allow-empty %s\n// CHECK: a\n", "CHECK"),
        ("diff.mlir", "// RUN: stablo upper %s > %t\n// RUN: diff %s %t\nlower\n", "+LOWER"),
        ("exit.mlir", "// RUN: stablo fail\n", "exit code 3"),
        ("middle.mlir", "// RUN: stablo fail | stablo upper\n", "the tool fails"),
        ("no-run.mlir", "module {}\n", "no RUN line"),
        ("not.mlir", "// RUN: not stablo upper %s\n", "exit code 1"),
        ("panic.mlir", "// RUN: stablo panic\n", "the tool panics"),
        ("rm.mlir", "// RUN: rm -rf /etc\n", "scratch"),
        ("syntax.mlir", "// RUN: stablo upper ; stablo fail\n", "`;`"),
        ("unknown.mlir", "// RUN: sh -c true\n", "unknown program `sh`"),
    ];
    let (root, report) = run("failing", &tests.map(|(path, text, _)| (path, text)));
    assert_eq!(report.passed, 0, "{report}");
    for ((path, _, details), failure) in tests.iter().zip(&report.failures) {
        assert_eq!(failure.path, root.join(path));
        assert!(failure.details.contains(details), "{failure}");
    }
    let text = report.to_string();
    assert!(text.contains("diff.mlir:2\nRUN: diff %s %t\n"), "{text}");
    assert!(text.contains("0 passed, 10 failed"), "{text}");
}

#[test]
fn a_filter_selects_by_path() {
    let (root, _) = run("filter", &[("a/x.mlir", "// RUN: stablo upper\n"), ("b/y.mlir", "")]);
    let mut suite = Suite::new(&root, root.join("../scratch"), &Fake);
    suite.filter = Some("a/".to_owned());
    let report = suite.run();
    assert_eq!((report.passed, report.failures.len()), (1, 0), "{report}");
    suite.root = root.join("absent");
    assert_eq!(suite.run().failures.len(), 1);
}
