//! Programs survive being written as artifacts of every version that can express them.

use stablo::{Bytes, Foreign, Module, ParseOptions, PrintOptions, SerializeOptions, Version};
use std::path::Path;

fn load(path: &Path) -> Module {
    let bytes = Bytes::from(std::fs::read(path).unwrap());
    let output = stablo::open(&path.to_string_lossy(), bytes, ParseOptions::default());
    assert!(output.diagnostics.is_empty(), "{:?}", output.diagnostics);
    output.module
}

fn versions() -> impl Iterator<Item = Version> {
    (9..=20).map(|minor| Version::new(0, minor)).chain((0..=20).map(|minor| Version::new(1, minor)))
}

#[test]
fn examples_come_back_from_every_version() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let print = PrintOptions { debug_info: true, ..PrintOptions::default() };
    for entry in std::fs::read_dir(examples).unwrap() {
        let path = entry.unwrap().path().join("module.mlir");
        if !path.exists() {
            continue;
        }
        let module = load(&path);
        let text = stablo::print(&module, &print);
        for target in versions() {
            let options = SerializeOptions { target, foreign: Foreign::Keep };
            let artifact = stablo::serialize(&module, options).unwrap_or_else(|e| panic!("{target}: {e:?}"));
            let bytes = artifact.to_vec();
            assert_eq!(stablo::artifact_version(&bytes), Some(target));
            let output = stablo::open("artifact", Bytes::from(bytes), ParseOptions::default());
            assert!(output.diagnostics.is_empty(), "{target}: {:?}", output.diagnostics);
            assert!(stablo::verify(&output.module).is_empty());
            assert!(stablo::print(&output.module, &print) == text, "{} at {target} is another program", path.display());
        }
    }
}
