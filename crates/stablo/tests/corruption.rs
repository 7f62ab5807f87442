//! Damaged artifacts give diagnostics with the offset; nothing panics, hangs or allocates without
//! bound.

use mlir::bytecode::{self, ReadOptions};
use peak_alloc::PeakAlloc;
use proptest::prelude::*;
use stablo::{Bytes, LoadOptions, PrintOptions, Version};
use std::sync::LazyLock;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Memory limit of all tests together, in bytes: far more than they need, far less than a corrupted
/// size requests.
const MAX_MEMORY: usize = 32 << 20;

/// A program with regions, symbols, constants, locations, dictionaries and types of many kinds.
const PROGRAM: &str = r#"
module @m attributes {m.x = {a = [1, "b"], c = 1.5 : f32}} {
  func.func public @main(%x: tensor<?x3xf32, #stablehlo.bounds<4, ?>> {j.k = true}, %y: tensor<3xi4> loc("y"("f":1:2)))
      -> (tensor<3xi4>, tensor<2xcomplex<f64>>) {
    %c = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi4>
    %z = stablehlo.constant dense<(1.0, 2.0)> : tensor<2xcomplex<f64>>
    %0:2 = stablehlo.custom_call @f(%x) {backend_config = "", output_operand_aliases = []}
      : (tensor<?x3xf32, #stablehlo.bounds<4, ?>>) -> (tuple<tensor<i1>>, !stablehlo.token)
    %1 = stablehlo.add %y, %c : tensor<3xi4> loc(callsite("a" at fused["b", unknown, "f":1:2 to 3:4]))
    %2 = "stablehlo.map"(%1) ({
    ^bb0(%a: tensor<i4>):
      %q = stablehlo.negate %a : tensor<i4>
      stablehlo.return %q : tensor<i4>
    }) {dimensions = array<i64: 0>} : (tensor<3xi4>) -> tensor<3xi4>
    return %2, %z : tensor<3xi4>, tensor<2xcomplex<f64>>
  }
}
"#;

fn artifact(target: Version) -> Vec<u8> {
    let module = LoadOptions::default().verify(false).load("m.mlir", PROGRAM);
    stablo::serialize(&module.into_result().unwrap(), target).unwrap()
}

/// Reads, verifies and prints; returns true on success. An error must have a file offset or an op.
fn open(bytes: Vec<u8>) -> bool {
    let loaded = LoadOptions::default().load("artifact", &*bytes);
    assert!(ALLOCATOR.peak_usage() < MAX_MEMORY, "{} bytes were allocated", ALLOCATOR.peak_usage());
    let _ = stablo::inspect("artifact", &*bytes);
    locations_are_those_of_an_eager_reader(&bytes.into());
    match loaded.into_result() {
        Ok(module) => !module.to_string().is_empty(),
        Err(error) => {
            assert!(error.diagnostics().iter().all(|d| !d.message.is_empty()));
            false
        }
    }
}

/// Locations are decoded lazily, but eagerly by a reader that records annotations.
fn locations_are_those_of_an_eager_reader(bytes: &Bytes) {
    let [lazy, eager] = [false, true].map(|note_fields| {
        let options = ReadOptions { note_fields, ..ReadOptions::default() };
        let output = bytecode::read(bytes, stablo::registry(), options);
        let with_locations = PrintOptions { debug_info: true, ..PrintOptions::default() };
        let errors: Vec<String> = output.diagnostics.into_iter().map(|d| d.message).collect();
        (stablo::print(&output.module, &with_locations).ok(), errors)
    });
    assert_eq!(lazy, eager);
}

#[test]
fn every_truncation_is_an_error() {
    for target in [Version::MINIMUM, Version::CURRENT] {
        let artifact = artifact(target);
        assert!(open(artifact.clone()));
        for length in 1..artifact.len() {
            assert!(!open(artifact[..length].to_vec()), "{length} of {} bytes", artifact.len());
        }
    }
}

#[test]
fn every_changed_byte_is_survived() {
    let artifact = artifact(Version::CURRENT);
    for at in 0..artifact.len() {
        for change in [0x01, 0x80, 0xff, 0x10] {
            let mut changed = artifact.clone();
            changed[at] ^= change;
            open(changed);
        }
    }
}

/// Types and attributes that share parts are converted once for each part, not as often as they
/// would be written.
#[test]
fn shared_parts_stay_shared() {
    let mut text = "!t0 = tuple<f32, f32>\n#a0 = [1, 1]\n".to_string();
    for i in 0..16 {
        let next = i + 1;
        text += &format!("!t{next} = tuple<!t{i}, !t{i}>\n#a{next} = [#a{i}, #a{i}]\n");
    }
    text += "func.func @main(%a: !t16) -> !t16 attributes {a.b = #a16} { return %a : !t16 }";
    let module = LoadOptions::default().load("m.mlir", &*text).into_result().unwrap();
    let artifact = stablo::serialize(&module, Version::CURRENT).unwrap();
    assert!(artifact.len() < 4096);
    let module = LoadOptions::default().load("m.mlir.bc", &*artifact).into_result().unwrap();
    assert_eq!(stablo::serialize(&module, Version::CURRENT).unwrap(), artifact);
    assert!(ALLOCATOR.peak_usage() < MAX_MEMORY, "{} bytes were allocated", ALLOCATOR.peak_usage());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_changes_are_survived(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        static WHOLE: LazyLock<Vec<u8>> = LazyLock::new(|| artifact(Version::CURRENT));
        let mut artifact = WHOLE.clone();
        for (at, byte) in changes {
            let at = at.index(artifact.len());
            artifact[at] = byte;
        }
        open(artifact);
    }
}
