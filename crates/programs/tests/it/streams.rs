//! Standard output that nothing reads, or that is closed; standard input that stalls, or that is
//! closed; and an address space that is too small for inputs.

#![cfg(unix)] // the commands are those of a shell

use std::path::Path;
use std::process::{Command, Stdio};

/// Exit code and standard error of a command that runs `$0`, `stablo`, on `$1`, a program.
fn run(command: &str) -> (Option<i32>, String) {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tutorial/newton.mlir");
    let output = Command::new("sh")
        .args(["-c", command, env!("CARGO_BIN_EXE_stablo")])
        .arg(program)
        .output()
        .expect("a shell runs");
    (output.status.code(), String::from_utf8(output.stderr).expect("messages are UTF-8"))
}

#[test]
fn a_reader_that_is_gone_ends_the_process_silently() {
    // The reader ends before the run does.
    let piped = "{ { sleep 0.5; \"$0\" run \"$1\" --input 2; echo $? >&3; } | true; } 3>&2";
    let (code, errors) = run(piped);
    assert_eq!((code, &*errors), (Some(0), "141\n"));
}

#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn closed_output_is_an_error() {
    let (code, errors) = run("\"$0\" run \"$1\" --input 2 >&-");
    assert_eq!(code, Some(1));
    assert_eq!(errors, "error: cannot write the output: standard output is closed\n");
    // A run that writes nothing there does not need it.
    assert_eq!(run("\"$0\" convert \"$1\" /dev/null >&-").0, Some(2), "no known extension");
}

#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn closed_input_is_an_error() {
    let (code, errors) = run("\"$0\" check - <&-");
    assert_eq!(code, Some(1));
    assert!(errors.contains("cannot read -: standard input is closed"), "{errors}");
    assert_eq!(run("\"$0\" check - </dev/null").0, Some(0), "an empty program is valid");
    assert_eq!(run("\"$0\" check \"$1\" <&-").0, Some(0), "nothing is read there");
}

/// 600 MB in an address space of 500 MB: zeros, which take no space on the disk, behind the starts
/// of an array, an archive, and named tensors; and a program.
#[test]
#[cfg(target_os = "linux")]
fn inputs_that_no_memory_is_left_for_are_errors() {
    let starts = ["\\223NUMPY\\001\\000", "PK", "12345678{", "module {"];
    for (nth, start) in starts.into_iter().enumerate() {
        let use_file = match nth {
            3 => "\"$0\" check $f",
            _ => "\"$0\" run \"$1\" --input $f",
        };
        let (code, errors) = run(&format!(
            "f=$(mktemp) && printf '{start}' > $f && truncate -s 600M $f && (ulimit -v 500000; \
             {use_file}); code=$?; rm $f; exit $code"
        ));
        assert_eq!(code, Some(1), "{errors}");
        assert!(errors.contains("cannot read") && errors.contains(" bytes"), "{errors}");
    }
}

/// A constant of 64 MB, whose text has 128 MB, in an address space of 250 MB.
#[test]
#[cfg(target_os = "linux")]
fn text_that_no_memory_is_left_for_is_an_error() {
    // A list of elements: equal digits would be a splat in bytecode.
    let digits = "0123456789ABCDEF".repeat(64 << 17);
    let ty = "tensor<16777216xf32>";
    let text = format!(
        "func.func @main() -> {ty} {{\n  %0 = stablehlo.constant dense<\"0x{digits}\"> : {ty}\n  \
         return %0 : {ty}\n}}\n"
    );
    let folder = std::env::temp_dir().join(format!("stablo-text-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary directory");
    std::fs::write(folder.join("x.mlir"), text).expect("the program is written");
    let (code, errors) = run(&format!(
        "cd {} && \"$0\" convert x.mlir x.mlirbc && (ulimit -v 250000; \"$0\" convert x.mlirbc y.mlir)",
        folder.display()
    ));
    std::fs::remove_dir_all(&folder).expect("the directory is removed");
    assert_eq!(code, Some(1), "{errors}");
    assert!(errors.contains("error[print]: no memory is left"), "{errors}");
}

#[test]
fn input_that_stalls_is_waited_for_until_the_limit() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_stablo"))
        .args(["run", "-", "--max-time", "0.1"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // Held open, and nothing is written.
    let stdin = child.stdin.take();
    let output = child.wait_with_output().expect("the program ends");
    drop(stdin);
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8(output.stderr).expect("messages are UTF-8");
    assert_eq!(errors, "error[time_limit]: this takes longer than 100ms, which is the limit\n");
}
