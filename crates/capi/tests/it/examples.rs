//! The examples in C compile against the installed header, link with the static library or the
//! shared one through pkg-config, and do what they say.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// A directory that is removed after use. No other has its name, in this run of the tests or in one
/// at the same time.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{name}-{}-{number}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).unwrap();
        Directory(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The directory where the library is installed: one for all tests that run at the same time, since
/// the library is large.
fn installation() -> Arc<Directory> {
    static SHARED: Mutex<Weak<Directory>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap();
    if let Some(directory) = shared.upgrade() {
        return directory;
    }
    let directory = Arc::new(Directory::new("installed"));
    // The library that this test was built with lies beside it.
    let built = std::env::current_exe().unwrap().parent().unwrap().to_path_buf();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("install.sh");
    let status = Command::new("sh").arg(script).arg(&directory.0).arg(built).status().unwrap();
    assert!(status.success());
    *shared = Arc::downgrade(&directory);
    directory
}

/// The library that an example is linked with. To link the static one takes seconds.
#[derive(Clone, Copy, PartialEq)]
enum Library {
    Shared,
    Static,
}

/// An example, compiled in a directory of its own.
struct Example {
    directory: Directory,
    program: PathBuf,
    /// Where it finds the shared library when it runs.
    _installed: Arc<Directory>,
}

impl Example {
    fn new(name: &str, library: Library) -> Example {
        let (installed, directory) = (installation(), Directory::new(name));
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c");
        let program = directory.0.join(name);
        let status = Command::new("cc")
            .args(["-std=c11", "-Wall", "-Wextra", "-Werror"])
            .args(["-Wno-missing-field-initializers", "-pthread", "-o"])
            .arg(&program)
            .arg(examples.join(name).with_extension("c"))
            .args(flags(&installed.0, library))
            .status()
            .unwrap();
        assert!(status.success());
        Example { directory, program, _installed: installed }
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.directory.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

/// The compiler flags that `pkg-config --cflags --libs stablo` prints, with `--static` for that
/// library, read from the `.pc` file where pkg-config is not installed.
fn flags(prefix: &Path, library: Library) -> Vec<String> {
    let directory = prefix.join("lib");
    let is_static = library == Library::Static;
    let output = Command::new("pkg-config")
        .env("PKG_CONFIG_PATH", directory.join("pkgconfig"))
        .args(is_static.then_some("--static"))
        .args(["--cflags", "--libs", "stablo"])
        .output();
    let flags = match output {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        }
        Err(_) => {
            let file = std::fs::read_to_string(directory.join("pkgconfig/stablo.pc")).unwrap();
            let field = |name: &str| file.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            let prefix = field("prefix=");
            let private = if is_static { field("Libs.private:") } else { "" };
            let flags = [field("Cflags:"), field("Libs:"), private].join(" ");
            flags
                .replace("${includedir}", &format!("{prefix}/include"))
                .replace("${libdir}", &format!("{prefix}/lib"))
        }
    };
    let mut flags: Vec<String> = flags.split_whitespace().map(str::to_string).collect();
    match library {
        // Found where it is when the example runs.
        Library::Shared => flags.push(format!("-Wl,-rpath,{}", directory.display())),
        // Linkers prefer the shared library, which is installed beside it.
        Library::Static => {
            let named = flags.iter_mut().find(|flag| *flag == "-lstablo_c").unwrap();
            *named = directory.join("libstablo_c.a").display().to_string();
        }
    }
    flags
}

#[test]
fn convert_converts_programs() {
    let example = Example::new("convert", Library::Static);
    let output = example.directory.0.join("add.mlir.bc");
    let run = |text: &str, target: &str| -> Output {
        let input = example.file("add.mlir", text);
        Command::new(&example.program).arg(&input).arg(&output).arg(target).output().unwrap()
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
}

#[test]
fn run_refines_and_runs() {
    let example = Example::new("run", Library::Shared);
    let input = example.file(
        "twice.mlir",
        "func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
           %0 = stablehlo.add %x, %x : tensor<?x2xf32>
           return %0 : tensor<?x2xf32>
         }",
    );
    let done = Command::new(&example.program).arg(&input).arg("3").output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let stdout = String::from_utf8(done.stdout).unwrap();
    assert!(stdout.contains("\"stablehlo.add\":1"), "{stdout}");
    assert!(stdout.ends_with("output 0: f32 of rank 2: 2 2 2 2 2 2\n"), "{stdout}");

    let done = Command::new(&example.program).arg(&input).arg("-1").output().unwrap();
    assert_eq!(done.status.code(), Some(1));
    assert!(String::from_utf8(done.stderr).unwrap().starts_with("refine: "));
}

#[test]
fn threads_run_one_prepared_program() {
    let example = Example::new("threads", Library::Shared);
    let run = |text: &str| {
        let input = example.file("twice.mlir", text);
        Command::new(&example.program).arg(&input).output().unwrap()
    };
    let done = run("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
           %0 = stablehlo.add %x, %x : tensor<2xf32>
           return %0 : tensor<2xf32>
         }");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(String::from_utf8_lossy(&done.stdout), "0 0\n2 20\n4 40\n6 60\n");

    let nothing = "func.func @other() { return }\nfunc.func @another() { return }";
    let large = "func.func @main(%x: tensor<2xf32>) -> tensor<1000000xf32> {
           %0 = stablehlo.iota dim = 0 : tensor<1000000xf32>
           return %0 : tensor<1000000xf32>
         }";
    for (text, error) in [(nothing, "prepare: "), (large, "the limit of 1048576 bytes")] {
        let done = run(text);
        let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(1));
        assert!(stderr.contains(error), "{stderr}");
    }
}

#[test]
fn into_writes_results_into_memory_of_the_caller() {
    let example = Example::new("into", Library::Shared);
    let run = |text: &str, steps: &str| {
        let input = example.file("half.mlir", text);
        Command::new(&example.program).arg(&input).arg(steps).output().unwrap()
    };
    let done = run(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
           %0 = stablehlo.add %x, %x : tensor<4xf32>
           return %0 : tensor<4xf32>
         }",
        "5",
    );
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(String::from_utf8_lossy(&done.stdout), "32 64 96 128\n");

    let wider = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf64> {
           %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf64>
           return %0 : tensor<4xf64>
         }";
    let done = run(wider, "1");
    assert_eq!(done.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(stderr.contains("tensor<4xf64>, the output given has type tensor<4xf32>"), "{stderr}");
}

#[test]
fn custom_calls_cancellation_and_codes() {
    let example = Example::new("custom_call", Library::Shared);
    let run = |text: &str| {
        let input = example.file("program.mlir", text);
        let done = Command::new(&example.program).arg(&input).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (done.status.code(), text(done.stdout), text(done.stderr))
    };
    let (code, stdout, stderr) = run("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
           %0 = stablehlo.custom_call @scale(%x) : (tensor<2xf32>) -> tensor<2xf32>
           %1 = stablehlo.add %0, %x : tensor<2xf32>
           return %1 : tensor<2xf32>
         }");
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(stdout, "input 0: tensor<2xf32>\n1 outputs, the first: tensor<2xf32>\n4 4 \n");
    assert_eq!(stderr, "");

    // The function fails with a message, in which it has the attributes of the op.
    let (code, _, stderr) = run("func.func @main(%x: tensor<2xf32>) -> tensor<3xf32> {
           %0 = stablehlo.custom_call @scale(%x) {backend_config = \"b\"} : (tensor<2xf32>) -> tensor<3xf32>
           return %0 : tensor<3xf32>
         }");
    assert_eq!(code, Some(1));
    assert!(stderr.starts_with("run: error 4 [custom_call]: "), "{stderr}");
    assert!(stderr.contains("scale takes and returns one f32 tensor"), "{stderr}");
    assert!(stderr.contains("backend_config = \"b\""), "{stderr}");

    // An endless loop ends.
    let (code, _, stderr) = run("func.func @main(%x: tensor<f32>) -> tensor<f32> {
           %0 = stablehlo.while(%i = %x) : tensor<f32> cond {
             %t = stablehlo.constant dense<true> : tensor<i1>
             stablehlo.return %t : tensor<i1>
           } do {
             %1 = stablehlo.add %i, %i : tensor<f32>
             stablehlo.return %1 : tensor<f32>
           }
           return %0 : tensor<f32>
         }");
    assert_eq!(code, Some(1));
    assert!(stderr.starts_with("run: error 6 [interrupted]: "), "{stderr}");

    let (_, _, stderr) = run("func.func @main(");
    assert!(stderr.starts_with("load: error 2 [parse]: "), "{stderr}");
    let (_, _, stderr) = run("func.func @main(%x: tensor<2xf32>) -> tensor<3xf32> {
           return %x : tensor<2xf32>
         }");
    assert!(stderr.starts_with("prepare: error 2 ["), "{stderr}");
    let (_, _, stderr) = run("func.func @other() { return }\nfunc.func @another() { return }");
    assert!(stderr.starts_with("prepare: error 2 ["), "{stderr}");
}

/// Programs find the library by a name with its version.
#[cfg(target_os = "linux")]
#[test]
fn the_shared_library_has_a_versioned_name() {
    let installed = installation();
    let library = std::fs::read(installed.0.join("lib/libstablo_c.so")).unwrap();
    let name = b"\0libstablo_c.so.0.1\0";
    assert!(library.windows(name.len()).any(|bytes| bytes == name));
    assert!(installed.0.join("lib/libstablo_c.so.0.1").exists());
    let header = include_str!("../../include/stablo.h");
    let version = concat!("#define STABLO_VERSION \"", env!("CARGO_PKG_VERSION"), "\"");
    assert!(header.contains(version));
}
