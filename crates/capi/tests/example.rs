//! The C example compiles against the header, links with the library and works.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The static library that this test was built with.
fn library() -> PathBuf {
    std::env::current_exe().unwrap().with_file_name("libstablo_c.a")
}

/// The example, compiled into a directory.
fn example(directory: &Path) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let program = directory.join("convert");
    let status = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(root.join("crates/capi/include"))
        .arg(root.join("examples/c/convert.c"))
        .arg(library())
        .args(["-lm", "-lpthread", "-ldl", "-o"])
        .arg(&program)
        .status()
        .unwrap();
    assert!(status.success());
    program
}

#[test]
fn the_example_converts_programs() {
    // A directory per process, so that concurrent test runs do not interfere.
    let directory =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("example-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let program = example(&directory);
    let (input, output) = (directory.join("add.mlir"), directory.join("add.mlir.bc"));
    let run = |text: &str, target: &str| -> Output {
        std::fs::write(&input, text).unwrap();
        Command::new(&program).arg(&input).arg(&output).arg(target).output().unwrap()
    };
    let text = "module {\n  func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {\n    \
                %0 = stablehlo.tan %arg0 : tensor<2xf32>\n    return %0 : tensor<2xf32>\n  }\n}\n";
    let done = run(text, "1.16.2");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(String::from_utf8_lossy(&done.stdout), text);
    let artifact = std::fs::read(&output).unwrap();
    assert!(artifact.starts_with(b"ML\xefR\x0dStableHLO_v1.16.2\0"));

    for (text, target, error) in [
        ("module { nonsense", "current", "load: "),
        (
            "func.func @f(%x: tensor<2xf32>) -> tensor<3xf32> { return %x : tensor<2xf32> }",
            "current",
            "verify: ",
        ),
        (text, "1.3.0", "the first version that has it is 1.4.0"),
        (text, "x", "three numbers"),
    ] {
        let done = run(text, target);
        let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(1));
        assert!(stderr.contains(error), "{stderr}");
    }
    std::fs::remove_dir_all(&directory).unwrap();
}
