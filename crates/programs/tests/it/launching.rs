//! `stablehlo-opt` and `stablehlo-translate` as processes: parts of `stablo` that are started by
//! their own files, by a link or by name.

use std::path::Path;
use std::process::{Command, Output};

const STABLO: &str = env!("CARGO_BIN_EXE_stablo");

/// The two parts, with options that only they have.
const PARTS: [(&str, &str); 2] = [
    (env!("CARGO_BIN_EXE_stablehlo-opt"), "--mlir-print-op-generic"),
    (env!("CARGO_BIN_EXE_stablehlo-translate"), "--deserialize"),
];

fn program() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tutorial/newton.mlir")
}

fn run(command: &mut Command) -> Output {
    command.output().expect("the program starts")
}

fn name(path: &str) -> &str {
    Path::new(path).file_stem().and_then(|name| name.to_str()).expect("a name")
}

#[test]
fn own_files_start_stablo() {
    for (path, option) in PARTS {
        let version = run(Command::new(path).arg("--version"));
        let expected = format!("{} {}\n", name(path), env!("CARGO_PKG_VERSION"));
        assert_eq!(String::from_utf8_lossy(&version.stdout), expected);
        let help = run(Command::new(path).arg("--help"));
        assert!(String::from_utf8_lossy(&help.stdout).contains(option), "{path} {help:?}");
        assert_eq!(run(Command::new(path).arg("--no-such-option")).status.code(), Some(2));
        let size = |path: &str| std::fs::metadata(path).expect("it is there").len();
        assert!(size(path) < size(STABLO) / 5, "{path} holds no second copy");
    }
    let [opt, _] = PARTS.map(|(path, _)| path);
    assert_eq!(run(Command::new(opt).arg("no such file")).status.code(), Some(1));
    let printed = run(Command::new(opt).arg(program()));
    assert!(String::from_utf8_lossy(&printed.stdout).contains("func.func"), "{printed:?}");
}

#[test]
fn stablo_is_all_programs() {
    for (path, option) in PARTS {
        let help = run(Command::new(STABLO).args([name(path), "--help"]));
        assert!(String::from_utf8_lossy(&help.stdout).contains(option), "{help:?}");
    }
    // An argument of another program is not replaced.
    let check = run(Command::new(STABLO).args(["check", "stablehlo-opt"]));
    assert_eq!(check.status.code(), Some(1), "there is no such file");
}

#[test]
#[cfg(unix)]
fn links_are_programs() {
    let folder = std::env::temp_dir().join(format!("stablo-links-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    for (path, option) in PARTS {
        let link = folder.join(name(path));
        std::os::unix::fs::symlink(STABLO, &link).expect("a link");
        let help = run(Command::new(&link).arg("--help"));
        assert!(String::from_utf8_lossy(&help.stdout).contains(option), "{help:?}");
    }
    // Away from `stablo`, the own files cannot start it.
    let (path, _) = PARTS[0];
    let alone = folder.join("alone");
    std::fs::copy(path, &alone).expect("a copy");
    let failed = run(Command::new(&alone).arg("--version"));
    assert_eq!(failed.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&failed.stderr);
    assert!(errors.starts_with("error: cannot start ") && errors.contains("/stablo"), "{errors}");
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}

#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn closed_streams_stay_closed() {
    let shell =
        |command: &str| run(Command::new("sh").args(["-c", command, PARTS[0].0]).arg(program()));
    let output = shell("\"$0\" \"$1\" >&-");
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(errors, "error: cannot write the output: standard output is closed\n");
    let input = shell("\"$0\" - <&-");
    assert_eq!(input.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&input.stderr);
    assert!(errors.contains("standard input is closed"), "{errors}");
}
