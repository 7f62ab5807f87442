//! Checks the layering: each crate is on the floor that ARCHITECTURE.md says, which is one above
//! the highest crate that it depends on, and some crates never depend on some others.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Crates that others never depend on, directly or not.
const NEVER: [(&str, &[&str]); 9] = [
    ("numerics", &["mlir", "program"]),
    ("codegen", &["mlir", "program"]),
    ("program", &["codegen", "lapack", "mlir"]),
    ("kernels", &["mlir"]),
    ("interpreter", &["engine"]),
    ("analysis", &["engine"]),
    ("mlir", &["kernels", "hlo", "vhlo", "side-dialects"]),
    ("portable", &["interpreter", "engine", "transforms"]),
    ("transforms", &["interpreter", "engine"]),
];

/// Crates that others do not name, although crates that they depend on do.
const NOT_DIRECTLY: [(&str, &[&str]); 1] = [("engine", &["mlir", "hlo", "side-dialects"])];

/// Crates that depend on the façade and on no other crate of the project, but for those named: the
/// plugin and the client of plugins share the interface.
const ON_FACADE: [(&str, &[&str]); 6] = [
    ("programs", &["ide", "lsp"]),
    ("lsp", &["ide"]),
    ("ide", &[]),
    ("capi", &[]),
    ("pjrt", &["pjrt-abi"]),
    ("examples", &[]),
];

/// Packages that the façade without its default features does not compile.
const NOT_FOR_READING: [&str; 9] = [
    "stablo-analysis",
    "stablo-codegen",
    "stablo-engine",
    "stablo-folding",
    "stablo-interpreter",
    "stablo-judge",
    "stablo-kernels",
    "stablo-lapack",
    "stablo-transforms",
];

/// The crates of the project by their folders, with their dependencies, dev-dependencies
/// aside. Tools are not published.
#[derive(Default)]
struct Crates {
    dependencies: BTreeMap<String, BTreeSet<String>>,
    tools: BTreeSet<String>,
}

/// The last part of a path.
fn folder(path: &str) -> String {
    Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

impl Crates {
    /// Reads the packages listed by `cargo metadata --no-deps`.
    fn of(metadata: &Value) -> Crates {
        let list = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
        let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let mut crates = Crates::default();
        for package in list(metadata, "packages") {
            let name = folder(text(&package, "manifest_path").trim_end_matches("Cargo.toml"));
            if package["publish"].is_array() {
                crates.tools.insert(name.clone());
            }
            let used = list(&package, "dependencies").into_iter();
            let used = used.filter(|used| used["path"].is_string() && used["kind"] != "dev");
            let used = used.map(|used| folder(&text(&used, "path"))).collect();
            crates.dependencies.insert(name, used);
        }
        crates
    }

    /// All crates that a crate depends on, directly or not.
    fn below(&self, name: &str) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        let mut left = vec![name];
        while let Some(next) = left.pop() {
            for used in self.dependencies.get(next).into_iter().flatten() {
                if found.insert(used.as_str()) {
                    left.push(used);
                }
            }
        }
        found
    }

    /// The floor of a crate: 0 if it depends on no other, or one above the highest of them.
    fn floor(&self, name: &str) -> usize {
        let used = self.dependencies.get(name).into_iter().flatten();
        used.map(|used| self.floor(used) + 1).max().unwrap_or(0)
    }

    /// Violations of the rules, and rows of the table in ARCHITECTURE.md that are wrong.
    fn violations(&self, architecture: &str) -> Vec<String> {
        let mut violations = Vec::new();
        for (name, used) in &self.dependencies {
            if let Some((_, shared)) = ON_FACADE.iter().find(|(own, _)| own == name) {
                let is_other = |used: &str| used != "stablo" && !shared.contains(&used);
                let others = used.iter().filter(|used| is_other(used));
                violations.extend(
                    others.map(|other| format!("{name} depends on {other}, not only on stablo")),
                );
            }
            let below = self.below(name);
            let never = NEVER.iter().filter(|(own, _)| own == name).flat_map(|(_, never)| *never);
            let found = never.filter(|never| below.contains(*never));
            violations.extend(found.map(|other| format!("{name} depends on {other}")));
            let hidden = NOT_DIRECTLY.iter().filter(|(own, _)| own == name);
            let named =
                hidden.flat_map(|(_, hidden)| *hidden).filter(|other| used.contains(**other));
            violations.extend(named.map(|other| format!("{name} names {other}")));
            let expected = match self.tools.contains(name) {
                true => "tool".to_owned(),
                false => self.floor(name).to_string(),
            };
            match floor_in(architecture, name) {
                Some(found) if found == expected => {}
                Some(found) => violations.push(format!(
                    "ARCHITECTURE.md has {name} on floor {found}; by its dependencies, it is on \
                     {expected}"
                )),
                None => violations.push(format!("ARCHITECTURE.md has no row for {name}")),
            }
        }
        violations
    }
}

/// The floor that the table in ARCHITECTURE.md gives a crate.
fn floor_in<'a>(architecture: &'a str, name: &str) -> Option<&'a str> {
    let quoted = format!("`{name}`");
    architecture.lines().find_map(|line| {
        let mut cells = line.strip_prefix("| ")?.split(" | ");
        let (floor, names) = (cells.next()?, cells.next()?);
        names.split(", ").any(|name| name == quoted).then_some(floor)
    })
}

/// The output of cargo, run by this test.
fn cargo(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs: it runs this test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("cargo writes text")
}

#[test]
fn crates_are_on_their_floors() {
    let metadata = cargo(&["metadata", "--no-deps", "--format-version", "1"]);
    let metadata: Value = serde_json::from_str(&metadata).expect("cargo writes valid JSON");
    let crates = Crates::of(&metadata);
    assert!(crates.dependencies.len() > 20);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let architecture = std::fs::read_to_string(path).expect("ARCHITECTURE.md is there");
    assert_eq!(crates.violations(&architecture), [""; 0]);
}

#[test]
fn reading_compiles_no_kernels() {
    let args = ["--edges", "normal", "--prefix", "none", "--format", "{p}"];
    let tree = cargo(&[&["tree", "-p", "stablo", "--no-default-features"], &args[..]].concat());
    let names: BTreeSet<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(names.contains("stablo-mlir"), "{tree}");
    let found: Vec<_> = NOT_FOR_READING.iter().filter(|name| names.contains(**name)).collect();
    assert!(found.is_empty(), "the façade without features compiles {found:?}");
}

#[test]
fn violations_are_found() {
    let metadata = serde_json::json!({"packages": [
        {"manifest_path": "/crates/numerics/Cargo.toml", "dependencies": []},
        {"manifest_path": "/crates/kernels/Cargo.toml", "dependencies": [
            {"path": "/crates/numerics", "kind": null},
            {"path": "/crates/hlo", "kind": "dev"},
            {"name": "half", "kind": null},
        ]},
        {"manifest_path": "/crates/folding/Cargo.toml", "dependencies": [
            {"path": "/crates/kernels", "kind": null},
        ]},
        {"manifest_path": "/crates/mlir/Cargo.toml", "dependencies": [
            {"path": "/crates/folding", "kind": null},
        ]},
        {"manifest_path": "/crates/capi/Cargo.toml", "dependencies": [
            {"path": "/crates/stablo", "kind": null},
            {"path": "/crates/mlir", "kind": null},
        ]},
        {"manifest_path": "/crates/engine/Cargo.toml", "dependencies": [
            {"path": "/crates/mlir", "kind": null},
        ]},
        {"manifest_path": "/crates/xtask/Cargo.toml", "publish": [], "dependencies": []},
    ]});
    let architecture =
        "| 0 | `numerics` | x |\n| 1 | `kernels`, `folding` | x |\n| 3 | `mlir` | x |\n| 4 | `engine` | x |
        | 0 | `capi` | x |\n| tool | `xtask` | x |";
    let expected = [
        "capi depends on mlir, not only on stablo",
        "ARCHITECTURE.md has no row for capi",
        "engine names mlir",
        "ARCHITECTURE.md has folding on floor 1; by its dependencies, it is on 2",
        "mlir depends on kernels",
    ];
    assert_eq!(Crates::of(&metadata).violations(architecture), expected);
}
