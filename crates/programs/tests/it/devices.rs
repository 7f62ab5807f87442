//! `stablo run --device`: what goes wrong ends in a message and exit code 1. Values are tested by
//! the plugin's own tests, as these have no plugin.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const NBODY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/nbody");

fn run(flags: &[&str]) -> Output {
    let mut stablo = Command::new(env!("CARGO_BIN_EXE_stablo"));
    stablo.args(["run", "module.mlir", "--inputs", "."]).args(flags).current_dir(NBODY);
    stablo.output().expect("the program starts")
}

/// The exit code and standard error.
fn failure(flags: &[&str]) -> (Option<i32>, String) {
    let output = run(flags);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn wrong_command_lines_are_refused() {
    let (code, text) = failure(&["--device", "cpu"]);
    assert!(code == Some(2) && text.contains("it does not begin with `pjrt:`"), "{text}");
    for other in [["--engine", "fast"], ["--replicas", "2"], ["--trace", "values"]] {
        let (code, text) = failure(&["--device", "pjrt:a.so", other[0], other[1]]);
        assert!(code == Some(2) && text.contains("cannot be used with"), "{text}");
    }
}

#[test]
fn missing_plugins_are_reported() {
    let (code, text) = failure(&["--device", "pjrt:missing.so"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.starts_with("error[device]: "), "{text}");
    assert!(text.contains("missing.so: it cannot be loaded as a shared library"), "{text}");
}

/// A library that ends the process when it is loaded, or when its function is called.
fn crashing(name: &str, code: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [source, library] = ["c", "so"].map(|end| folder.join(format!("{name}.{end}")));
    std::fs::write(&source, code).expect("the folder is there");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-w", "-o"]).arg(&library).arg(source);
    cc.output().ok().filter(|output| output.status.success()).map(|_| library)
}

#[test]
#[cfg(unix)]
fn plugins_that_crash_are_reported() {
    for (name, code) in [
        ("aborts", "#include <stdlib.h>\n__attribute__((constructor)) void f(void) { abort(); }"),
        ("derefers_null", "void *GetPjrtApi(void) { return *(void *volatile *)16; }"),
    ] {
        let Some(library) = crashing(name, code) else {
            return println!("skipped: there is no compiler of C");
        };
        let (code, text) = failure(&["--device", &format!("pjrt:{}", library.display())]);
        assert_eq!(code, Some(1), "{text}");
        let expected = format!("error[device]: {}: the plugin crashed", library.display());
        assert!(text.contains(&expected), "{text}");
    }
}
