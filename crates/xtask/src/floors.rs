//! Checks the layering: no crate may depend on one of a higher floor.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The crates of the project by their folders, lowest floor first. A crate may depend on its own
/// floor and on those below; dev-dependencies are free.
const FLOORS: [&[&str]; 9] = [
    &["arrays", "codegen", "host", "kernels", "lapack", "numerics", "plan", "program", "wire"],
    &["mlir"],
    &["side-dialects", "vhlo"],
    &["hlo"],
    &["chlo", "portable", "interpreter"],
    &["analysis", "transforms"],
    &["stablo"],
    &["programs", "capi", "pjrt", "examples", "filetests", "generate", "xtask"],
    &["benches", "fuzz"],
];

/// Crates that depend on the façade and on no other crate of the project.
const ON_FACADE: [&str; 4] = ["programs", "capi", "pjrt", "examples"];

fn floor(folder: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&folder))
}

/// The last part of a path.
fn folder(path: &str) -> String {
    Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Violations among the packages listed by `cargo metadata --no-deps`.
fn violations(metadata: &Value) -> Vec<String> {
    let list = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let mut violations = Vec::new();
    for package in list(metadata, "packages") {
        let manifest = text(&package, "manifest_path");
        let name = folder(manifest.trim_end_matches("Cargo.toml"));
        let Some(own) = floor(&name) else {
            violations.push(format!("{name} has no floor"));
            continue;
        };
        for dependency in list(&package, "dependencies") {
            let in_project = dependency["path"].is_string();
            if !in_project || dependency["kind"] == "dev" {
                continue;
            }
            let other = folder(&text(&dependency, "path"));
            match floor(&other) {
                Some(_) if ON_FACADE.contains(&&*name) && other != "stablo" => {
                    violations.push(format!("{name} depends on {other}, not only on stablo"));
                }
                None => violations.push(format!("{name} depends on {other}, which has no floor")),
                Some(floor) if floor > own => violations
                    .push(format!("{name} (floor {own}) depends on {other} (floor {floor})")),
                Some(_) => {}
            }
        }
    }
    violations
}

#[test]
fn no_crate_depends_on_a_higher_floor() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs: it runs this test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes valid JSON");
    assert!(metadata["packages"].as_array().is_some_and(|packages| !packages.is_empty()));
    assert_eq!(violations(&metadata), [""; 0]);
}

#[test]
fn violations_are_found() {
    let metadata = serde_json::json!({"packages": [
        {"manifest_path": "/crates/mlir/Cargo.toml", "dependencies": [
            {"path": "/crates/numerics", "kind": null},
            {"path": "/crates/hlo", "kind": null},
            {"path": "/crates/filetests", "kind": "dev"},
            {"name": "half", "kind": null},
            {"path": "/crates/nowhere", "kind": "build"},
        ]},
        {"manifest_path": "/crates/elsewhere/Cargo.toml", "dependencies": []},
        {"manifest_path": "/crates/capi/Cargo.toml", "dependencies": [
            {"path": "/crates/stablo", "kind": null},
            {"path": "/crates/mlir", "kind": null},
        ]},
    ]});
    let expected = [
        "mlir (floor 1) depends on hlo (floor 3)",
        "mlir depends on nowhere, which has no floor",
        "elsewhere has no floor",
        "capi depends on mlir, not only on stablo",
    ];
    assert_eq!(violations(&metadata), expected);
}
