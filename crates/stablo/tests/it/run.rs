//! Guarantees of the interpreter's driver beyond the semantics of single ops.

use stablo::{
    Engine, Limits, Module, Observer, Program, Progress, RunOptions, RuntimeValue, Tensor,
};
use std::ops::ControlFlow;

fn module(text: &str) -> Module {
    stablo::load("test.mlir", text).unwrap()
}

fn vector(values: &[f32]) -> Tensor {
    Tensor::from_vec([values.len()], values.to_vec()).unwrap()
}

fn run(module: &Module, inputs: &[&Tensor]) -> Vec<Tensor> {
    let inputs = inputs.iter().map(|&t| RuntimeValue::Tensor(t.clone())).collect();
    let results = stablo::run(module, "main", inputs).unwrap();
    results.into_iter().map(|r| r.into_tensor().unwrap()).collect()
}

/// Ops may overwrite dead operands, but never those that are used again, returned, or held by the
/// caller.
#[test]
fn values_survive_until_their_last_use() {
    let module = module(
        "func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
          %0 = stablehlo.add %x, %x : tensor<2xf32>
          %1 = stablehlo.negate %0 : tensor<2xf32>
          %2 = stablehlo.multiply %0, %0 : tensor<2xf32>
          %3 = stablehlo.add %1, %x : tensor<2xf32>
          return %1, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
        }",
    );
    let x = vector(&[1.0, 2.0]);
    for _ in 0..2 {
        assert_eq!(
            run(&module, &[&x]),
            [vector(&[-2.0, -4.0]), vector(&[4.0, 16.0]), vector(&[-1.0, -2.0])]
        );
        assert_eq!(x, vector(&[1.0, 2.0]));
    }
}

/// A value used in a loop body is available in each iteration, though its last use outside is the
/// loop itself.
#[test]
fn regions_see_the_values_around_them_each_time() {
    let module = module(
        "func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
          %zero = stablehlo.constant dense<0> : tensor<i32>
          %one = stablehlo.constant dense<1> : tensor<i32>
          %limit = stablehlo.constant dense<3> : tensor<i32>
          %step = stablehlo.add %x, %x : tensor<2xf32>
          %0:2 = stablehlo.while(%i = %zero, %sum = %step) : tensor<i32>, tensor<2xf32>
            cond {
              %c = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
              stablehlo.return %c : tensor<i1>
            } do {
              %next = stablehlo.add %i, %one : tensor<i32>
              %more = stablehlo.add %sum, %step : tensor<2xf32>
              stablehlo.return %next, %more : tensor<i32>, tensor<2xf32>
            }
          return %x, %0#1 : tensor<2xf32>, tensor<2xf32>
        }",
    );
    let x = vector(&[1.0, -1.0]);
    assert_eq!(run(&module, &[&x]), [x.clone(), vector(&[8.0, -8.0])]);
}

/// A body with control flow runs element by element, and not at all for an empty tensor.
#[test]
fn empty_tensors_have_no_positions() {
    let module = module(
        "func.func @main(%x: tensor<0xf32>) -> tensor<0xi1> {
          %0 = \"stablehlo.map\"(%x) ({
            ^bb0(%a: tensor<f32>):
              %c = stablehlo.compare GT, %a, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
              %r = \"stablehlo.if\"(%c) ({
                stablehlo.return %c : tensor<i1>
              }, {
                stablehlo.return %c : tensor<i1>
              }) : (tensor<i1>) -> tensor<i1>
              stablehlo.return %r : tensor<i1>
          }) {dimensions = array<i64: 0>} : (tensor<0xf32>) -> tensor<0xi1>
          return %0 : tensor<0xi1>
        }",
    );
    assert_eq!(run(&module, &[&vector(&[])])[0].shape(), [0]);
}

#[test]
fn a_run_can_be_watched_and_broken_off() {
    let module = module(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
          %0 = stablehlo.add %x, %x : tensor<2xf32>
          %1 = stablehlo.add %0, %x : tensor<2xf32>
          return %1 : tensor<2xf32>
        }",
    );
    struct Watch(Vec<(u64, usize, usize)>, ControlFlow<()>);
    impl Observer for Watch {
        fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
            self.0.push((progress.ops, progress.position, progress.length));
            self.1
        }
    }
    // Op by op; and both additions as one step. The terminator counts as an op.
    let reference = vec![(1, 0, 3), (2, 1, 3), (3, 2, 3)];
    for (engine, expected) in
        [(Engine::Reference, reference), (Engine::Fast, vec![(2, 0, 2), (3, 1, 2)])]
    {
        let options = RunOptions { engine, ..RunOptions::default() };
        let program = Program::prepare(module.clone(), "main", options).unwrap();
        let input = || vec![RuntimeValue::Tensor(vector(&[1.0, 2.0]))];
        let mut watch = Watch(Vec::new(), ControlFlow::Continue(()));
        program.run_observed(input(), &mut watch).unwrap();
        assert_eq!(watch.0, expected);
        watch.1 = ControlFlow::Break(());
        let errors = program.run_observed(input(), &mut watch).expect_err("it was broken off");
        assert_eq!(errors.diagnostics()[0].label, "interrupted");
    }
}

#[test]
fn wrong_inputs_are_named() {
    let module = module("func.func @main(%x: tensor<?x2xf32>, %y: tensor<i32>) { return }");
    let matrix = Tensor::from_vec([3, 2], vec![0f32; 6]).unwrap();
    assert_eq!(run(&module, &[&matrix, &Tensor::scalar(1i32)]).len(), 0);
    let wrong =
        vec![RuntimeValue::Tensor(vector(&[1.0])), RuntimeValue::Tensor(Tensor::scalar(1i64))];
    let error = stablo::run(&module, "main", wrong).expect_err("both inputs are wrong");
    let messages: Vec<&str> = error.diagnostics().iter().map(|e| &*e.message).collect();
    assert!(
        messages[0].contains("argument 0") && messages[0].contains("tensor<1xf32>"),
        "{messages:?}"
    );
    assert!(
        messages[1].contains("argument 1") && messages[1].contains("tensor<i64>"),
        "{messages:?}"
    );
}

/// CHLO ops run directly, or through their expansion if they have no semantics of their own, also
/// with dynamic sizes.
#[test]
fn chlo_runs() {
    let module = module(
        "func.func @main(%x: tensor<?x1xf32>, %y: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
          %0 = chlo.broadcast_add %x, %y : (tensor<?x1xf32>, tensor<?xf32>) -> tensor<?x?xf32>
          %1 = \"chlo.constant_like\"(%y) {value = 2.0 : f32} : (tensor<?xf32>) -> tensor<?xf32>
          %2 = chlo.zeta %1, %y : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
          return %0, %2 : tensor<?x?xf32>, tensor<?xf32>
        }",
    );
    let x = Tensor::from_vec([2, 1], vec![1.0f32, 10.0]).unwrap();
    let [sum, zeta] = run(&module, &[&x, &vector(&[1.0, 2.0])]).try_into().unwrap();
    assert_eq!(sum, Tensor::from_vec([2, 2], vec![2.0f32, 3.0, 11.0, 12.0]).unwrap());
    // zeta(2, 1) = pi² / 6
    let zeta = zeta.to_vec::<f32>().unwrap();
    assert!((zeta[0] - 1.644_934).abs() < 2e-6 && (zeta[1] - 0.644_934).abs() < 2e-6, "{zeta:?}");
}

/// Incompatible shapes are a run-time error.
#[test]
fn chlo_broadcasts_are_checked() {
    let module = module(
        "func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
          %0 = chlo.broadcast_add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
          return %0 : tensor<?xf32>
        }",
    );
    let inputs = [vector(&[1.0, 2.0]), vector(&[1.0, 2.0, 3.0])].map(RuntimeValue::Tensor);
    let error = stablo::run(&module, "main", inputs.into()).err().unwrap();
    assert!(error.to_string().contains("2 and 3"), "{error}");
}

/// Users may register custom calls; the error for an unknown one explains how.
#[test]
fn custom_calls_can_be_registered() {
    let module = module(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
          %0 = stablehlo.custom_call @my.double(%x) : (tensor<2xf32>) -> tensor<2xf32>
          return %0 : tensor<2xf32>
        }",
    );
    let input = || vec![RuntimeValue::Tensor(vector(&[1.0, 2.0]))];
    let error = stablo::run(&module, "main", input()).err().unwrap().to_string();
    assert!(error.contains("`my.double` is unknown") && error.contains("docs/custom_calls.md"));
    assert!(!error.contains("did you mean"), "{error}");
    let near = self::module(
        "func.func @main(%x: tensor<2xf32>) {
          stablehlo.custom_call @lapack_sgetrf_fi(%x) : (tensor<2xf32>) -> ()
          return
        }",
    );
    let error = stablo::run(&near, "main", input()).err().unwrap().to_string();
    assert!(error.contains("did you mean `lapack_sgetrf_ffi`?"), "{error}");
    let mut options = RunOptions::default();
    options.custom_calls.register("my.double", |call, operands| {
        assert_eq!((&*call.target, call.result_types.len()), ("my.double", 1));
        let x = operands[0].tensor()?;
        let doubled = x.to_vec::<f32>()?.into_iter().map(|x| 2.0 * x).collect();
        Ok(vec![Tensor::from_vec(x.shape(), doubled)?.into()])
    });
    let program = Program::prepare(module, "main", options).unwrap();
    let results = program.run(input()).unwrap();
    assert_eq!(*results[0].tensor().unwrap(), vector(&[2.0, 4.0]));
}

/// Equal programs share what is compiled, but not their limits; others differ in a bit.
#[test]
fn equal_programs_share_their_code() {
    const TEXT: &str = "func.func @main(%x: tensor<40x40xf32>) -> tensor<40x40xf32> {
      %c = stablehlo.constant dense<0.0> : tensor<40x40xf32>
      %0 = stablehlo.multiply %x, %c : tensor<40x40xf32>
      return %0 : tensor<40x40xf32>
    }";
    let prepare = |text: &str, options: RunOptions| {
        Program::prepare(stablo::load("test.mlir", text).unwrap(), "main", options).unwrap()
    };
    let first = prepare(TEXT, RunOptions::default());
    let steps = RunOptions::from(Limits { steps: Some(1), ..Limits::default() });
    let limited = prepare(&format!("// Another file.\n\n{TEXT}"), steps);
    assert!(first.shares_code_with(&limited));
    let input = || vec![RuntimeValue::Tensor(Tensor::splat([40, 40], 2f32).unwrap())];
    let error = limited.run(input()).unwrap_err();
    assert!(error.to_string().contains("more than 1 step"), "{error}");
    let zero = |program: &Program| {
        let results = program.run(input()).unwrap();
        results[0].tensor().unwrap().as_slice::<f32>().unwrap()[0].to_bits()
    };
    assert_eq!(zero(&first), 0f32.to_bits());

    let negative = prepare(&TEXT.replace("dense<0.0>", "dense<-0.0>"), RunOptions::default());
    assert!(!first.shares_code_with(&negative));
    assert_eq!(zero(&negative), (-0f32).to_bits());
    let interpreted = RunOptions { without_machine_code: true, ..RunOptions::default() };
    assert!(!first.shares_code_with(&prepare(TEXT, interpreted)));
    let reference = RunOptions { engine: Engine::Reference, ..RunOptions::default() };
    assert!(!first.shares_code_with(&prepare(TEXT, reference)));
    // The code lives as long as one of the programs.
    drop(first);
    assert!(limited.shares_code_with(&prepare(TEXT, RunOptions::default())));
}

/// Zeros of different signs are different programs, also where numbers are no tensors.
#[test]
fn programs_that_differ_in_a_sign_do_not_share_code() {
    let prepare = |epsilon: &str| {
        let text = format!(
            "func.func @main(%x: tensor<1x1xf32>, %y: tensor<1xf32>) -> tensor<1x1xf32> {{
              %0 = \"stablehlo.batch_norm_inference\"(%x, %y, %y, %y, %y)
                {{epsilon = {epsilon} : f32, feature_index = 1 : i64}}
                : (tensor<1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>)
                -> tensor<1x1xf32>
              return %0 : tensor<1x1xf32>
            }}"
        );
        Program::prepare(module(&text), "main", RunOptions::default()).unwrap()
    };
    let programs = ["0.0", "-0.0", "0.0"].map(prepare);
    assert!(programs[0].shares_code_with(&programs[2]));
    assert!(!programs[0].shares_code_with(&programs[1]));
}

/// Functions of users are what they are registered as.
#[test]
fn programs_with_other_functions_do_not_share_code() {
    let run = |factor: f32| {
        let module = module(
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
              %0 = stablehlo.custom_call @scale(%x) : (tensor<2xf32>) -> tensor<2xf32>
              return %0 : tensor<2xf32>
            }",
        );
        let mut options = RunOptions::default();
        options.custom_calls.register("scale", move |_, operands| {
            let x = operands[0].tensor()?.to_vec::<f32>()?;
            let scaled = x.into_iter().map(|x| factor * x).collect();
            Ok(vec![Tensor::from_vec([2], scaled)?.into()])
        });
        Program::prepare(module, "main", options).unwrap()
    };
    let programs = [2.0, 3.0].map(run);
    for (program, expected) in programs.iter().zip([[2.0, 4.0], [3.0, 6.0]]) {
        let results = program.run(vec![vector(&[1.0, 2.0]).into()]).unwrap();
        assert_eq!(*results[0].tensor().unwrap(), vector(&expected));
    }
}

/// Weights that are the same from run to run are packed. Others may come after them, also in the
/// same memory.
#[test]
fn weights_may_change_between_runs() {
    let module = module(
        "func.func @main(%x: tensor<3x32xf32>, %w: tensor<32x128xf32>)
            -> (tensor<3x128xf32>, tensor<3x128xf32>) {
          %zero = stablehlo.constant dense<0> : tensor<i32>
          %one = stablehlo.constant dense<1> : tensor<i32>
          %three = stablehlo.constant dense<3> : tensor<i32>
          %init = stablehlo.constant dense<0.0> : tensor<3x128xf32>
          %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
            : (tensor<3x32xf32>, tensor<32x128xf32>) -> tensor<3x128xf32>
          %r:3 = stablehlo.while(%i = %zero, %sum = %init, %v = %w)
            : tensor<i32>, tensor<3x128xf32>, tensor<32x128xf32>
          cond {
            %c = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %c : tensor<i1>
          } do {
            %j = stablehlo.add %i, %one : tensor<i32>
            %p = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0]
              : (tensor<3x32xf32>, tensor<32x128xf32>) -> tensor<3x128xf32>
            %s = stablehlo.add %sum, %p : tensor<3x128xf32>
            stablehlo.return %j, %s, %v : tensor<i32>, tensor<3x128xf32>, tensor<32x128xf32>
          }
          return %y, %r#1 : tensor<3x128xf32>, tensor<3x128xf32>
        }",
    );
    let program = Program::prepare(module, "main", RunOptions::default()).unwrap();
    let all = |shape: [usize; 2], value: f32| Tensor::splat(shape, value).unwrap();
    let check = |w: &Tensor, sum: f32| {
        for _ in 0..3 {
            let results = program.run(vec![all([3, 32], 1.0).into(), w.clone().into()]).unwrap();
            let results: Vec<_> = results.into_iter().map(|r| r.into_tensor().unwrap()).collect();
            assert_eq!(results, [all([3, 128], sum), all([3, 128], 3.0 * sum)]);
        }
    };
    let mut w = all([32, 128], 1.0);
    check(&w, 32.0);
    w.make_mut::<f32>().unwrap().fill(2.0);
    check(&w, 64.0);
    for value in [3.0, 4.0] {
        drop(std::mem::replace(&mut w, all([32, 128], value)));
        check(&w, 32.0 * value);
    }
}
