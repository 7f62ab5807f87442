//! Results in memory of the caller.

use stablo::numerics::TensorError;
use stablo::{
    Budget, DType, Engine, Host, LimitKind, Limits, Program, RunOptions, Tensor, TensorMut,
    TensorRef,
};
use std::num::NonZeroUsize;

fn prepare(text: &str, options: RunOptions) -> Program {
    Program::prepare(stablo::load("test.mlir", text).unwrap(), "main", options).unwrap()
}

/// Every kind of result: of a loop, one that others read, of a product, of a movement, of a kernel
/// with memory of its own, twice the same, of a `while`, an argument, a constant, and a small one.
const KINDS: &str = "
  func.func @main(%x: tensor<40x40xf32>, %n: tensor<i32>) -> (
      tensor<40x40xf32>, tensor<40x40xf32>, tensor<40x40xf32>, tensor<40x40xf32>, tensor<40x40xf32>,
      tensor<40x40xf32>, tensor<40x40xf32>, tensor<40x40xf32>, tensor<i32>) {
    %ones = stablehlo.constant dense<1.0> : tensor<40x40xf32>
    %loop = stablehlo.add %x, %ones : tensor<40x40xf32>
    %dot = stablehlo.dot %loop, %ones : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
    %moved = stablehlo.transpose %loop, dims = [1, 0] : (tensor<40x40xf32>) -> tensor<40x40xf32>
    %sorted = \"stablehlo.sort\"(%loop) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %less = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %less : tensor<i1>
    }) {dimension = 1 : i64} : (tensor<40x40xf32>) -> tensor<40x40xf32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %i, %powers = stablehlo.while(%a = %zero, %b = %x) : tensor<i32>, tensor<40x40xf32>
    cond {
      %less = stablehlo.compare LT, %a, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    } do {
      %next = stablehlo.add %a, %one : tensor<i32>
      %twice = stablehlo.add %b, %b : tensor<40x40xf32>
      stablehlo.return %next, %twice : tensor<i32>, tensor<40x40xf32>
    }
    return %loop, %dot, %moved, %sorted, %loop, %powers, %x, %ones, %i
      : tensor<40x40xf32>, tensor<40x40xf32>, tensor<40x40xf32>, tensor<40x40xf32>,
        tensor<40x40xf32>, tensor<40x40xf32>, tensor<40x40xf32>, tensor<40x40xf32>, tensor<i32>
  }";

#[test]
fn every_kind_of_result_is_written() {
    let x: Vec<f32> = (0..1600).map(|i| i as f32).collect();
    let at = |f: &dyn Fn(usize, usize) -> f32| -> Vec<f32> {
        (0..1600).map(|i| f(i / 40, i % 40)).collect()
    };
    let number = |i: usize, j: usize| (40 * i + j + 1) as f32;
    let expected = [
        at(&number),
        // The sum of the row.
        at(&|i, _| (0..40).map(|j| number(i, j)).sum()),
        at(&|i, j| number(j, i)),
        at(&|i, j| number(i, 39 - j)),
        at(&number),
        at(&|i, j| 8.0 * (number(i, j) - 1.0)),
        x.clone(),
        vec![1.0; 1600],
    ];
    let two = NonZeroUsize::new(2);
    for options in [
        RunOptions::default(),
        RunOptions { threads: two, ..RunOptions::default() },
        RunOptions { without_machine_code: true, ..RunOptions::default() },
        RunOptions { engine: Engine::Reference, ..RunOptions::default() },
    ] {
        let program = prepare(KINDS, options);
        let tensor = Tensor::from_vec([40, 40], x.clone()).unwrap();
        let inputs = [TensorRef::new(&[40, 40], &x).unwrap(), TensorRef::from(&tensor)];
        // Memory that a run keeps for the next is not the caller's.
        for (input, has_run) in [(inputs[0], false), (inputs[1], true), (inputs[0], true)] {
            if has_run {
                let inputs = vec![tensor.clone().into(), Tensor::scalar(3i32).into()];
                let results = program.run(inputs).unwrap();
                assert_eq!(results[5].tensor().unwrap().to_vec::<f32>(), Ok(expected[5].clone()));
            }
            let (mut large, mut small) = (vec![vec![0f32; 1600]; 8], [0i32]);
            let of = |memory| TensorMut::new(&[40, 40], memory).unwrap();
            let mut outputs: Vec<_> = large.iter_mut().map(|memory| of(memory)).collect();
            outputs.push(TensorMut::new(&[], &mut small).unwrap());
            let count = TensorRef::new(&[], &[3i32]).unwrap();
            program.run_into(&[input, count], &mut outputs).unwrap();
            for (index, (found, expected)) in large.iter().zip(&expected).enumerate() {
                assert_eq!(found, expected, "result {index}");
            }
            assert_eq!(small, [3]);
        }
    }
}

const LARGE: &str = "
  func.func @main(%x: tensor<100x100xf32>) -> (tensor<100x100xf32>, tensor<100x100xf32>) {
    %0 = stablehlo.add %x, %x : tensor<100x100xf32>
    %1 = stablehlo.dot %x, %0 : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<100x100xf32>
    return %0, %1 : tensor<100x100xf32>, tensor<100x100xf32>
  }";

/// A run whose memory is limited has none for its results.
#[test]
fn results_take_no_memory_but_the_outputs() {
    let budget = Budget::new(70_000);
    let host = Host::default().with_budget(budget.clone());
    let program = prepare(LARGE, RunOptions { host: Some(host), ..RunOptions::default() });
    let x = Tensor::splat([100, 100], 0.5f32).unwrap();
    let error = program.run(vec![x.clone().into()]).unwrap_err();
    assert_eq!(error.limit(), Some(LimitKind::Memory));
    let (mut sums, mut product) = (vec![0f32; 10_000], x.clone());
    let outputs = &mut [
        TensorMut::new(&[100, 100], &mut sums).unwrap(),
        // The others that share it keep theirs.
        TensorMut::of(&mut product).unwrap(),
    ];
    program.run_into(&[(&x).into()], outputs).unwrap();
    assert_eq!((sums[0], x.as_slice::<f32>().unwrap()[0]), (1.0, 0.5));
    assert!(product.as_slice::<f32>().unwrap().iter().all(|&x| x == 50.0));
}

/// Memory that several inputs share is charged once, as in [`Program::run`].
#[test]
fn shared_inputs_are_charged_once() {
    let limits = Limits { memory: Some(70_000), ..Limits::default() };
    let text = "func.func @main(%x: tensor<100x100xf32>, %y: tensor<100x100xf32>)
        -> tensor<100x100xf32> {
      %0 = stablehlo.add %x, %y : tensor<100x100xf32>
      return %0 : tensor<100x100xf32>
    }";
    let program = prepare(text, RunOptions { limits, ..RunOptions::default() });
    let (x, y, mut sum) = (vec![1f32; 10_000], vec![2f32; 10_000], vec![0f32; 10_000]);
    let shape = [100, 100];
    let of = |elements| TensorRef::new(&shape, elements).unwrap();
    let error = program
        .run_into(&[of(&x), of(&y)], &mut [TensorMut::new(&shape, &mut sum).unwrap()])
        .unwrap_err();
    let message = &error.diagnostics()[0].message;
    assert_eq!(message, "the inputs have 80000 bytes; the limit is 70000 bytes");
    program.run_into(&[of(&x), of(&x)], &mut [TensorMut::new(&shape, &mut sum).unwrap()]).unwrap();
    assert_eq!(sum, vec![2f32; 10_000]);
}

#[test]
fn nothing_is_written_where_the_call_is_wrong() {
    let program = prepare(LARGE, RunOptions::default());
    let x = vec![1f32; 10_000];
    let square: &[usize] = &[100, 100];
    let flat: &[usize] = &[10_000];
    let input = TensorRef::new(square, &x).unwrap();
    let check = |inputs: &[TensorRef<'_>], shapes: &[&[usize]], label: &str, message: &str| {
        let mut memory = vec![x.clone(); shapes.len()];
        let outputs = memory.iter_mut().zip(shapes);
        let mut outputs: Vec<_> =
            outputs.map(|(memory, shape)| TensorMut::new(shape, memory).unwrap()).collect();
        let error = program.run_into(inputs, &mut outputs).unwrap_err();
        assert_eq!(error.diagnostics()[0].label, label);
        assert!(error.diagnostics()[0].message.contains(message), "{error}");
        assert!(memory.iter().all(|memory| *memory == x));
    };
    check(&[], &[square, square], "inputs", "@main takes 1 input (tensor<100x100xf32>); found 0");
    let results = "@main returns 2 results (tensor<100x100xf32>, tensor<100x100xf32>)";
    check(&[input], &[square], "outputs", &format!("{results}; found 1 output"));
    check(&[input], &[square; 3], "outputs", "found 3 outputs");
    let found = "result 1 of @main has type tensor<100x100xf32>, the output given has type \
                 tensor<10000xf32>";
    check(&[input], &[square, flat], "outputs", found);
    let flat = TensorRef::new(flat, &x).unwrap();
    let found = "argument 0 of @main has type tensor<100x100xf32>, the input given has type \
                 tensor<10000xf32>";
    check(&[flat], &[square, square], "inputs", found);

    let (mut first, mut second) = (x.clone(), vec![1i32; 10_000]);
    let mut outputs =
        [TensorMut::new(square, &mut first).unwrap(), TensorMut::new(square, &mut second).unwrap()];
    let error = program.run_into(&[input], &mut outputs).unwrap_err();
    assert!(error.diagnostics()[0].message.ends_with("has type tensor<100x100xi32>"), "{error}");
    assert!(first == x && second == vec![1; 10_000]);
}

#[test]
fn memory_fits_shape_and_elements() {
    let (floats, mut bytes) = ([0f32; 6], [2u8; 8]);
    assert_eq!(
        TensorRef::new(&[2, 2], &floats).unwrap_err(),
        TensorError::Length { expected: 16, found: 24 }
    );
    assert!(TensorRef::new(&[usize::MAX, 2], &floats).is_err());
    let error = TensorRef::from_bytes(DType::I1, &[8], &bytes).unwrap_err();
    assert_eq!(error.to_string(), "some bytes are no elements of type i1");
    let offset = bytes.as_ptr().align_offset(4) + 1;
    let error = TensorMut::from_bytes(DType::F32, &[1], &mut bytes[offset..offset + 4]);
    let error = error.unwrap_err().to_string();
    assert_eq!(error, "the memory is not aligned for elements of type f32");
}

/// The shape of a dynamic result is known when it is there.
#[test]
fn dynamic_results_fit_their_outputs() {
    let program = prepare(
        "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
           %0 = stablehlo.add %x, %x : tensor<?xf32>
           return %0 : tensor<?xf32>
         }",
        RunOptions::default(),
    );
    for size in [3, 5000] {
        let (x, mut twice) = (vec![1f32; size], vec![0f32; size]);
        let shape = [size];
        let input = TensorRef::new(&shape, &x).unwrap();
        program.run_into(&[input], &mut [TensorMut::new(&shape, &mut twice).unwrap()]).unwrap();
        assert_eq!(twice, vec![2f32; size]);
        let mut short = vec![0f32; size - 1];
        let shape = [size - 1];
        let outputs = &mut [TensorMut::new(&shape, &mut short).unwrap()];
        let error = program.run_into(&[input], outputs).unwrap_err();
        let message = &error.diagnostics()[0].message;
        let found = format!("tensor<{size}xf32>, the output given a tensor<{}xf32>", size - 1);
        assert!(message.ends_with(&found), "{message}");
        assert_eq!(short, vec![0f32; size - 1]);
    }
}

#[test]
fn programs_for_several_processes_write_their_results() {
    let program = prepare(
        "module attributes {mhlo.num_partitions = 2 : i32} {
           func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
             %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = \"{devices=[2]<=[2]}\"}
               : (tensor<4xf32>) -> tensor<4xf32>
             %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = \"{manual}\"}
               : (tensor<4xf32>) -> tensor<2xf32>
             %2 = stablehlo.add %1, %1 : tensor<2xf32>
             %3 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = \"{manual}\"}
               : (tensor<2xf32>) -> tensor<2xf32>
             %4 = stablehlo.custom_call @SPMDShardToFullShape(%3)
               {mhlo.sharding = \"{devices=[2]<=[2]}\"} : (tensor<2xf32>) -> tensor<4xf32>
             return %4 : tensor<4xf32>
           }
         }",
        RunOptions::default(),
    );
    let mut sums = [0f32; 4];
    let input = TensorRef::new(&[4], &[1f32, 2.0, 3.0, 4.0]).unwrap();
    program.run_into(&[input], &mut [TensorMut::new(&[4], &mut sums).unwrap()]).unwrap();
    assert_eq!(sums, [2.0, 4.0, 6.0, 8.0]);
}

/// Memory of no elements needs no alignment: C and Python may give any pointer.
#[test]
fn empty_inputs_and_outputs() {
    let program = prepare(
        "func.func @main(%x: tensor<0x3xf64>, %y: tensor<2xcomplex<f64>>)
             -> (tensor<0x3xf64>, tensor<3x0xf64>, tensor<0xcomplex<f64>>, tensor<0x3xf64>) {
           %0 = stablehlo.add %x, %x : tensor<0x3xf64>
           %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<0x3xf64>) -> tensor<3x0xf64>
           %2 = stablehlo.slice %y [1:1] : (tensor<2xcomplex<f64>>) -> tensor<0xcomplex<f64>>
           return %0, %1, %2, %x
             : tensor<0x3xf64>, tensor<3x0xf64>, tensor<0xcomplex<f64>>, tensor<0x3xf64>
         }",
        RunOptions::default(),
    );
    let bytes = [0u8; 8];
    let offset = bytes.as_ptr().align_offset(8) + 1;
    let empty = &bytes[offset..offset];
    let pair = Tensor::zeros(DType::F64.complex().unwrap(), [2]).unwrap();
    let inputs = [TensorRef::from_bytes(DType::F64, &[0, 3], empty).unwrap(), (&pair).into()];
    let of = |dtype, shape| TensorMut::from_bytes(dtype, shape, &mut []).unwrap();
    let (real, complex) = (DType::F64, pair.dtype());
    let outputs = &mut [of(real, &[0, 3]), of(real, &[3, 0]), of(complex, &[0]), of(real, &[0, 3])];
    program.run_into(&inputs, outputs).unwrap();
    assert!(TensorMut::from_bytes(real, &[1, 3], &mut []).is_err());
    assert!(inputs[0].to_tensor().unwrap().bytes().is_empty());
}

/// A result of static shape is not written before a dynamic one is compared with its output.
#[test]
fn nothing_is_written_where_a_dynamic_result_does_not_fit() {
    let add = "stablehlo.add %x, %x : tensor<4000xf32>";
    let double = "func.func private @double(%x: tensor<4000xf32>) -> tensor<4000xf32> {
        %0 = stablehlo.add %x, %x : tensor<4000xf32>
        return %0 : tensor<4000xf32>
      }";
    let call = "stablehlo.composite \"test.double\" %x {decomposition = @double}
        : (tensor<4000xf32>) -> tensor<?xf32>";
    let broadcast = "stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>";
    for (dynamic, engine) in [call, broadcast]
        .into_iter()
        .flat_map(|dynamic| [Engine::Fast, Engine::Reference].map(|engine| (dynamic, engine)))
    {
        let text = format!(
            "func.func @main(%x: tensor<4000xf32>, %n: tensor<1xi32>)
                 -> (tensor<4000xf32>, tensor<?xf32>) {{
               %static = {add}
               %dynamic = {dynamic}
               return %static, %dynamic : tensor<4000xf32>, tensor<?xf32>
             }}
             {double}"
        );
        let program = prepare(&text, RunOptions { engine, ..RunOptions::default() });
        let (x, n) = (vec![1f32; 4000], [4000i32]);
        let inputs = [TensorRef::new(&[4000], &x).unwrap(), TensorRef::new(&[1], &n).unwrap()];
        for size in [0, 1, 3999, 4001, 4000] {
            let (mut first, mut second) = (vec![0f32; 4000], vec![0f32; size]);
            let shape = [size];
            let outputs = &mut [
                TensorMut::new(&[4000], &mut first).unwrap(),
                TensorMut::new(&shape, &mut second).unwrap(),
            ];
            let outcome = program.run_into(&inputs, outputs);
            if size == 4000 {
                outcome.unwrap();
                assert_eq!(
                    (first[3999], second[1]),
                    (2.0, if dynamic == call { 2.0 } else { 1.0 })
                );
                continue;
            }
            let error = outcome.unwrap_err().to_string();
            let expected =
                format!("result 1 is a tensor<4000xf32>, the output given a tensor<{size}xf32>");
            assert!(error.contains(&expected), "{error}");
            assert!(first.iter().chain(&second).all(|&x| x == 0.0));
        }
    }
}
