//! Programs with prepacked constants.

use stablo::ir::{AttrKind, Dictionary};
use stablo::{Attribute, Bytes, Module, Program, RunOptions, Tensor, Version};

/// A product and a convolution with weights that kernels read in another order than theirs. Equal
/// programs of a process share constants: each test has other `seeds`.
fn module(seeds: [u64; 2]) -> Module {
    let text = "
        func.func @main(%x: tensor<64x96xf32>, %y: tensor<1x12x12x16xf32>,
            %w: tensor<150x96xf32>, %k: tensor<3x3x16x40xf32>)
            -> (tensor<64x150xf32>, tensor<1x10x10x40xf32>) {
          %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1]
            : (tensor<64x96xf32>, tensor<150x96xf32>) -> tensor<64x150xf32>
          %1 = stablehlo.convolution(%y, %k)
            dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
            {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
            : (tensor<1x12x12x16xf32>, tensor<3x3x16x40xf32>) -> tensor<1x10x10x40xf32>
          return %0, %1 : tensor<64x150xf32>, tensor<1x10x10x40xf32>
        }";
    let mut module = stablo::load("weights.mlir", text).unwrap();
    let weights = [(2, random(&[150, 96], seeds[0])), (3, random(&[3, 3, 16, 40], seeds[1]))];
    stablo::bind_arguments(&mut module, &weights).unwrap();
    module
}

fn random(shape: &[usize], seed: u64) -> Tensor {
    stablo::random(stablo::DType::F32, shape, seed, -1.0..1.0).unwrap()
}

/// The bytes of the results of the first run of a program that is written and read again, and of
/// the second.
fn runs(module: &Module) -> [Vec<Vec<u8>>; 2] {
    let artifact = stablo::serialize(module, Version::CURRENT).unwrap();
    runs_as_is(stablo::load("program", artifact).unwrap())
}

fn runs_as_is(module: Module) -> [Vec<Vec<u8>>; 2] {
    let inputs = || vec![random(&[64, 96], 3).into(), random(&[1, 12, 12, 16], 4).into()];
    let program = Program::prepare(module, "main", RunOptions::default()).unwrap();
    [(); 2].map(|()| {
        let results = program.run(inputs()).unwrap();
        results.iter().map(|result| result.tensor().unwrap().bytes().to_vec()).collect()
    })
}

/// The program with its prepacked constants changed.
fn changed(module: &Module, change: impl Fn(&mut Dictionary)) -> Module {
    let mut module = module.clone();
    let top = module.top().id();
    let entries = module.top().attr("stablo.prepacked").unwrap().as_array().unwrap().to_vec();
    assert_eq!(entries.len(), 2);
    let change = |entry: &Attribute| {
        let mut entry = entry.as_dictionary().unwrap().clone();
        change(&mut entry);
        Attribute::from(entry)
    };
    let entries = entries.iter().map(change).collect();
    module.set_attr(top, "stablo.prepacked", AttrKind::Array(entries).into());
    module
}

/// A resource of as many zeros as another one has bytes, and `more`.
fn zeros(entry: &Dictionary, more: usize) -> Attribute {
    let len = entry.get("packed").unwrap().stored_bytes() + more;
    let text = format!(
        "module attributes {{stablo.zeros = dense_resource<zeros_{len}> : tensor<{len}xi8>}} {{}}
         {{-# dialect_resources: {{ builtin: {{ zeros_{len}: \"0x40000000{}\" }} }} #-}}",
        "00".repeat(len)
    );
    stablo::load("zeros.mlir", text).unwrap().top().attr("stablo.zeros").unwrap().clone()
}

#[test]
fn compiled_programs_have_the_results_of_their_programs() {
    let module = module([1, 2]);
    let [expected, again] = runs(&module);
    assert_eq!(expected, again);
    let compiled = stablo::compile(module, "main").unwrap();
    assert_eq!(runs(&compiled), [expected.clone(), expected.clone()]);
    // From a file, and from one at an odd address.
    let bytes = stablo::serialize(&compiled, Version::CURRENT).unwrap();
    let odd = Bytes::from([&[0], &bytes[..]].concat());
    let odd = odd.slice(1..odd.len()).unwrap();
    for bytes in [Bytes::from(bytes), odd] {
        let loaded = stablo::load("compiled", bytes).unwrap();
        assert_eq!(runs_as_is(loaded), [expected.clone(), expected.clone()]);
    }
    // A program that is compiled already is compiled again.
    let twice = stablo::compile(compiled.clone(), "main").unwrap();
    assert_eq!(runs(&twice)[0], expected);
}

/// Zeros instead of prepacked weights show which runs read them.
#[test]
fn prepacked_constants_are_read_by_the_kernels_that_they_are_for() {
    let compiled = stablo::compile(module([5, 6]), "main").unwrap();
    let [expected, _] = runs(&compiled);
    let zeroed = changed(&compiled, |entry| entry.set("packed", zeros(entry, 0)));
    for results in runs(&zeroed) {
        assert!(results.iter().flatten().all(|&byte| byte == 0));
    }
    // Of a text, whose constants may be edited, they are not.
    let text = stablo::load("compiled.mlir", zeroed.to_string()).unwrap();
    assert_eq!(runs_as_is(text)[0], expected);
    // Neither those of another size, nor of another kernel, nor of another constant.
    let other_size = changed(&compiled, |entry| entry.set("packed", zeros(entry, 4)));
    assert_eq!(runs(&other_size)[0], expected);
    let other_kernel = changed(&zeroed, |entry| entry.set("kernel", Attribute::i64(1)));
    assert_eq!(runs(&other_kernel)[0], expected);
    let other_constant = changed(&zeroed, |entry| {
        entry.set("constant", entry.get("packed").unwrap().clone());
    });
    assert_eq!(runs(&other_constant)[0], expected);
}
