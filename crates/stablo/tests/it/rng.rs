//! Random numbers have the bits that XLA's CPU gives them when it runs the program once in a new
//! process.
//!
//! Each program in `rng/` ends with what `rng/record.py` printed for it: a line for each result.

use stablo::Tensor;
use std::path::Path;

/// The bits of the elements, in hexadecimal.
fn bits(tensor: &Tensor) -> Vec<String> {
    let hex = |bytes: &[u8]| bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect();
    tensor.bytes().chunks(tensor.dtype().bytes()).map(hex).collect()
}

#[test]
fn bits_are_those_of_xla() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rng");
    for name in ["types", "loop", "order"] {
        let text = std::fs::read_to_string(folder.join(name).with_extension("mlir")).unwrap();
        let module = stablo::load(name, &*text).unwrap();
        let results = stablo::run(&module, "main", Vec::new()).unwrap();
        let expected: Vec<_> =
            text.lines().filter_map(|line| line.strip_prefix("// XLA:")).collect();
        assert_eq!(results.len(), expected.len(), "{name}");
        for (index, (result, expected)) in results.into_iter().zip(expected).enumerate() {
            let expected: Vec<_> = expected.split_whitespace().collect();
            assert_eq!(bits(&result.into_tensor().unwrap()), expected, "{name}: result {index}");
        }
    }
}
