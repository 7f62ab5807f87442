//! The examples reproduce the results recorded on export.

use programs::{Io, program};
use stablo::arrays::npy;
use stablo::numerics::math;
use stablo::{DType, Tensor};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

fn run(args: Vec<OsString>) -> (i32, String) {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut io = Io {
        stdin: &mut std::io::empty(),
        stdout: &mut stdout,
        stderr: &mut stderr,
        cwd: PathBuf::new(),
        terminal: false,
        styles: stablo::Styles::PLAIN,
        own_process: false,
    };
    let code = program("stablo").expect("stablo is a program")(&args, &mut io);
    (code, String::from_utf8_lossy(&stderr).into_owned())
}

/// A file as `f64`, which represents all numbers of the examples exactly; and true if they are
/// integers.
fn load(path: &Path) -> (Tensor, bool) {
    let file = fs::read(path).unwrap();
    let dtype = match &*npy::read_header(&file).unwrap().kind {
        "f4" => DType::F32,
        "i4" => DType::I32,
        "i1" => DType::I8,
        "u1" => DType::U8,
        "u4" => DType::U32,
        other => panic!("{}: {other}", path.display()),
    };
    (math::convert(npy::read(file, dtype).unwrap(), DType::F64).unwrap(), !dtype.is_float())
}

/// Tolerances are those recorded with the programs; integers must be exact.
fn reproduces(name: &str, absolute: f64, relative: f64) {
    let directory = example(name);
    let numbered = |what: &str| {
        let path = |k| directory.join(format!("{what}_{k}.npy"));
        (0..).map(path).take_while(|path| path.exists()).collect::<Vec<_>>()
    };
    let saved = Path::new(env!("CARGO_TARGET_TMPDIR")).join("examples").join(name);
    let mut args: Vec<OsString> =
        vec!["stablo".into(), "run".into(), directory.join("module.mlir").into()];
    args.extend(["--output-dir".into(), saved.clone().into()]);
    args.extend(numbered("input").into_iter().flat_map(|path| ["--input".into(), path.into()]));
    assert_eq!(run(args), (0, String::new()));
    for expected in numbered("output") {
        let actual = saved.join(expected.file_name().expect("made from a name"));
        let ((actual, _), (expected, exact)) = (load(&actual), load(&expected));
        assert_eq!(actual.shape(), expected.shape());
        let pairs =
            actual.as_slice::<f64>().unwrap().iter().zip(expected.as_slice::<f64>().unwrap());
        for (a, e) in pairs {
            let tolerance = if exact { 0.0 } else { absolute + relative * e.abs() };
            assert!(
                (a - e).abs() <= tolerance || (a.is_nan() && e.is_nan()) || a == e,
                "{name}: {a} instead of {e}"
            );
        }
    }
}

#[test]
fn nbody() {
    reproduces("nbody", 1e-2, 1e-3);
}

#[test]
fn cnn_train() {
    reproduces("cnn_train", 1e-4, 1e-3);
}

#[test]
fn int_bits() {
    reproduces("int_bits", 1e-5, 1e-4);
}

/// Each process has one set of vector instructions: results are those of all others, to the bit.
#[test]
fn instruction_sets_give_the_same_bits() {
    for name in ["cnn_train", "nbody"] {
        let saved = |set: &str| {
            let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sets").join(name).join(set);
            let output = Command::new(env!("CARGO_BIN_EXE_stablo"))
                .arg("run")
                .arg(example(name).join("module.mlir"))
                .arg("--inputs")
                .arg(example(name))
                .arg("--outputs")
                .arg(&folder)
                .env("STABLO_ISA", set)
                .output()
                .expect("the program starts");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let results = (0..).map(|k| fs::read(folder.join(format!("output_{k}.npy"))));
            results.map_while(Result::ok).collect::<Vec<_>>()
        };
        let baseline = saved("baseline");
        assert!(!baseline.is_empty());
        for set in ["avx2", "avx512"] {
            assert!(saved(set) == baseline, "{name} with {set}");
        }
    }
}
