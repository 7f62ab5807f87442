//! Programs survive being written as artifacts of every version that can express them.

use stablo::{
    Bytes, Exported, LoadOptions, Module, PrintOptions, RuntimeValue, SerializeOptions, Tensor,
    Version,
};
use std::collections::HashSet;
use std::path::Path;

fn load(path: &Path) -> Module {
    stablo::load_file(path).unwrap()
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
        let text = stablo::print(&module, &print).unwrap();
        let oldest = stablo::inspect("example", std::fs::read(&path).unwrap())
            .unwrap()
            .oldest_target
            .unwrap();
        for target in versions() {
            let options = SerializeOptions::from(target).allow_other_dialects(true);
            let artifact = stablo::serialize(&module, options);
            assert_eq!(artifact.is_ok(), target >= oldest, "{} at {target}", path.display());
            let Ok(artifact) = artifact else { continue };
            assert_eq!(stablo::artifact_version(&artifact), Some(target));
            let bytes = Bytes::from(artifact);
            let options = LoadOptions::default().convert_vhlo(false).verify(false);
            let mut in_steps = options.load("artifact", bytes.clone());
            portable::restore(&mut in_steps.module).unwrap();
            assert!(
                stablo::print(&in_steps.module, &print).unwrap() == text,
                "{} at {target} in steps",
                path.display()
            );
            let read = stablo::load("artifact", bytes).unwrap();
            assert!(
                stablo::print(&read, &print).unwrap() == text,
                "{} at {target} is another program",
                path.display()
            );
        }
    }
}

/// A program with enough ops that several threads read and verify it. Every op has its own
/// location.
fn large_program(last: &str) -> String {
    let mut text = "func.func @main(%arg0: tensor<f32>) -> tensor<f32> {\n".to_string();
    for i in 0..3000 {
        let operand = if i == 0 { "%arg0".to_string() } else { format!("%{}", i - 1) };
        text += &format!(
            "  %{i} = stablehlo.abs {operand} : tensor<f32> loc(\"op {i}\"(\"model.py\":{i}:{i}))\n"
        );
    }
    text + last + "}\n"
}

#[test]
fn large_programs_keep_their_locations() {
    let text = large_program("  return %2999 : tensor<f32>\n");
    let print = PrintOptions { debug_info: true, ..PrintOptions::default() };
    let module = stablo::load("large", text).unwrap();
    let artifact = stablo::serialize(&module, Version::CURRENT).unwrap();
    let read = stablo::load("artifact", artifact).unwrap();
    let printed = stablo::print(&read, &print).unwrap();
    assert!(printed == stablo::print(&module, &print).unwrap());
    let places: HashSet<&str> =
        printed.split("\"model.py\":").filter_map(|rest| Some(rest.split_once(')')?.0)).collect();
    assert!((1..3000).all(|i| places.contains(&*format!("{i}:{i}"))));
}

#[test]
fn errors_of_large_programs_come_in_order() {
    // A wrong result type, a missing terminator, and a second function with the same name.
    let text = large_program("  %a = \"stablehlo.abs\"(%2) : (tensor<f32>) -> tensor<2xf32>\n")
        + "func.func @main() { return }\n";
    let error = stablo::load("large", text).err().unwrap();
    let messages: Vec<&str> = error.diagnostics().iter().map(|d| &*d.message).collect();
    assert_eq!(messages.len(), 3, "{messages:?}");
    assert!(messages[0].contains("stablehlo.abs"), "{messages:?}");
    assert!(messages[1].contains("terminator"), "{messages:?}");
    assert!(messages[2].contains("main"), "{messages:?}");
}

/// The functions are described in `tests/portable/data/README.md`.
#[test]
fn containers_of_jax_export_open() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/portable/data/dense_layer.jax");
    let bytes = std::fs::read(path).unwrap();
    let exported = Exported::read(&bytes).unwrap();
    assert_eq!((exported.function_name.as_str(), exported.num_devices), ("f", 1));
    assert_eq!(exported.platforms, ["cpu"]);
    assert_eq!(exported.inputs, ["f32[4]", "f32[8, 4]", "f32[b, 8]"]);
    assert_eq!(exported.input_tree.to_string(), "(({'b': *, 'w': *}, *), {})");
    assert_eq!(exported.outputs, ["f32[b, 4]", "f32[]"]);
    assert_eq!(exported.output_tree.to_string(), "(*, (*,))");
    assert_eq!(exported.kept_inputs, [0, 1, 2]);
    let module = stablo::load("exported", &*bytes).unwrap();

    let tensor = |shape: [usize; 2], values: Vec<f32>| {
        RuntimeValue::Tensor(Tensor::from_vec(shape, values).unwrap())
    };
    let b = RuntimeValue::Tensor(Tensor::from_vec([4], vec![0f32; 4]).unwrap());
    let inputs = vec![b, tensor([8, 4], vec![0.0; 32]), tensor([3, 8], vec![0.5; 24])];
    let results = stablo::run(&module, "main", inputs).unwrap();
    assert_eq!(results[0].tensor().unwrap().shape(), [3, 4]);
    assert_eq!(results[1].tensor().unwrap().as_slice::<f32>().unwrap(), [12.0]);

    // Errors name the file, and the field at fault.
    let error = stablo::load("half.jax", bytes[..bytes.len() / 2].to_vec()).err().unwrap();
    let text = error.to_string();
    assert!(text.contains("half.jax: there is bytecode from byte "), "{text}");
    assert!(text.contains("the program of such a container cannot be read"), "{text}");
    let artifact = stablo::serialize(&module, Version::CURRENT).unwrap();
    let error = stablo::load("half.bc", artifact[..artifact.len() / 2].to_vec()).err().unwrap();
    assert!(error.to_string().contains("half.bc: "), "{error}");

    for length in 0..bytes.len() {
        let _ = Exported::read(&bytes[..length]);
        let mut changed = bytes.clone();
        changed[length] ^= 0x81;
        let _ = Exported::read(&changed);
    }
}

/// The file is described in `tests/portable/data/README.md`.
#[test]
fn orders_of_uses_are_kept() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/portable/data/use_orders.mlirbc");
    let bytes = std::fs::read(&path).unwrap();
    let options = stablo::BytecodeOptions::default().producer("MLIR23.0.0git");
    let mut module = load(&path);
    assert!(stablo::write_bytecode(&module, &options).unwrap() == bytes);
    assert!(stablo::write_bytecode(&module.clone(), &options).unwrap() == bytes);
    module.forget_use_orders();
    assert!(stablo::write_bytecode(&module, &options).unwrap().len() < bytes.len());

    // An invalid permutation: the first position of the longest order is repeated.
    let (fields, _) = stablo::bytecode_fields(&Bytes::from(bytes.clone()));
    let orders = fields.iter().filter(|field| field.meaning.starts_with("use-list orders of"));
    let orders: Vec<_> = orders.map(|field| field.range.clone()).collect();
    assert!(!orders.is_empty());
    for range in orders.into_iter().filter(|range| range.len() > 2) {
        let mut changed = bytes.clone();
        changed[range.end - 1] = changed[range.end - 2];
        let error = stablo::load("changed", changed).err().unwrap();
        assert!(error.diagnostics()[0].message.contains("permutation of the"), "{error}");
    }
}
