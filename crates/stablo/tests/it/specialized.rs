//! Programs with dynamic shapes become static for the shapes of inputs that several runs have.

use stablo::dialects::stablehlo::AddOp;
use stablo::ir::OpRef;
use stablo::{
    Limits, Observer, ProcessId, Profiling, Program, RunOptions, RuntimeValue, StepKind, Tensor,
    TensorMut, TensorRef,
};

/// Adds a row, which is broadcast, and asserts that there are at most 100.
const ROWS: &str = "
  func.func @main(%x: tensor<?x3xf32>, %row: tensor<3xf32>) -> tensor<?x3xf32> {
    %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %most = stablehlo.constant dense<100> : tensor<i32>
    %ok = stablehlo.compare LE, %n, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%ok, %n) {
      error_message = \"{0} rows\", has_side_effect = true
    } : (tensor<i1>, tensor<i32>) -> ()
    %sizes = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %three = stablehlo.constant dense<3> : tensor<1xi32>
    %shape = stablehlo.concatenate %sizes, %three, dim = 0
      : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %rows = stablehlo.dynamic_broadcast_in_dim %row, %shape, dims = [1]
      : (tensor<3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %sum = stablehlo.add %x, %rows : tensor<?x3xf32>
    return %sum : tensor<?x3xf32>
  }";

fn prepare(text: &str, options: RunOptions) -> Program {
    Program::prepare(stablo::load("rows.mlir", text).unwrap(), "main", options).unwrap()
}

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| i as f32).collect()
}

fn inputs(rows: usize) -> Vec<RuntimeValue> {
    let x = Tensor::from_vec([rows, 3], numbers(3 * rows)).unwrap();
    vec![x.into(), Tensor::from_vec([3], vec![10f32, 20.0, 30.0]).unwrap().into()]
}

fn sums(rows: usize) -> Vec<f32> {
    (0..3 * rows).map(|i| i as f32 + [10.0, 20.0, 30.0][i % 3]).collect()
}

#[test]
fn many_shapes_by_turns() {
    let program = prepare(ROWS, RunOptions::default());
    // More than are kept.
    for rows in (0..40).chain(0..40).chain([7; 5]).chain([39, 7, 39, 0]) {
        let shape = [rows, 3];
        let results = program.run(inputs(rows)).unwrap();
        let result = results[0].tensor().unwrap();
        assert_eq!((result.shape(), result.to_vec().unwrap()), (&shape[..], sums(rows)));

        let (x, row, mut out) = (numbers(3 * rows), [10f32, 20.0, 30.0], vec![0f32; 3 * rows]);
        let inputs = [TensorRef::new(&shape, &x), TensorRef::new(&[3], &row)].map(|x| x.unwrap());
        let outputs = &mut [TensorMut::new(&shape, &mut out).unwrap()];
        program.run_into(&inputs, outputs).unwrap();
        assert_eq!(out, sums(rows));
    }
}

#[test]
fn several_threads() {
    let program = prepare(ROWS, RunOptions::default());
    std::thread::scope(|scope| {
        for start in 0..4 {
            let program = &program;
            scope.spawn(move || {
                for rows in (0..50).map(|i| (start + i) % 5) {
                    let results = program.run(inputs(rows)).unwrap();
                    assert_eq!(results[0].tensor().unwrap().to_vec(), Ok(sums(rows)));
                }
            });
        }
    });
}

#[test]
fn errors_are_the_same_in_every_run() {
    let program = prepare(ROWS, RunOptions::default());
    let mismatch = vec![inputs(2).remove(1), inputs(2).remove(1)];
    let (x, row) = (numbers(6), [0f32; 3]);
    let lent = [TensorRef::new(&[2, 3], &x), TensorRef::new(&[3], &row)].map(|x| x.unwrap());
    for run in 0..4 {
        let error = program.run(inputs(101)).unwrap_err().to_string();
        assert!(error.contains("101 rows") && error.contains("rows.mlir:6:"), "{run}: {error}");
        let error = program.run(mismatch.clone()).unwrap_err().to_string();
        assert!(error.contains("argument 0 of @main has type tensor<?x3xf32>"), "{run}: {error}");
        let error = program.run(Vec::new()).unwrap_err().to_string();
        assert!(error.contains("takes 2 inputs (tensor<?x3xf32>"), "{run}: {error}");

        let mut out = [0f32; 9];
        let outputs = &mut [TensorMut::new(&[3, 3], &mut out).unwrap()];
        let error = program.run_into(&lent, outputs).unwrap_err().to_string();
        assert!(error.contains("2x3xf32") && error.contains("3x3xf32"), "{run}: {error}");
        program.run(inputs(2)).unwrap();
    }
}

/// The size of the result is the value of an input: there is no static form.
#[test]
fn shapes_that_depend_on_values() {
    let program = prepare(
        "func.func @main(%x: tensor<?xf32>, %n: tensor<1xi32>) -> tensor<?x?xf32> {
           %size = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
           %sizes = stablehlo.reshape %size : (tensor<i32>) -> tensor<1xi32>
           %shape = stablehlo.concatenate %n, %sizes, dim = 0
             : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
           %0 = stablehlo.dynamic_broadcast_in_dim %x, %shape, dims = [1]
             : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
           return %0 : tensor<?x?xf32>
         }",
        RunOptions::default(),
    );
    for n in [1, 3, 0, 2] {
        let x = Tensor::from_vec([2], vec![4f32, 5.0]).unwrap();
        let n = Tensor::from_vec([1], vec![n]).unwrap();
        let results = program.run(vec![x.into(), n.clone().into()]).unwrap();
        let rows = n.as_slice::<i32>().unwrap()[0] as usize;
        let result = results[0].tensor().unwrap();
        assert_eq!(
            (result.shape(), result.to_vec().unwrap()),
            (&[rows, 2][..], [4f32, 5.0].repeat(rows))
        );
    }
}

#[derive(Default)]
struct Sums(Vec<String>);

impl Observer for Sums {
    fn traces(&self) -> bool {
        true
    }

    fn value(
        &mut self,
        _: ProcessId,
        op: OpRef<'_>,
        index: usize,
        value: &RuntimeValue,
    ) -> Result<(), String> {
        if op.is(AddOp::DEF) {
            let shape = value.tensor().map_err(|error| error.to_string())?.shape();
            self.0.push(format!("{} {shape:?}", op.result_type(index)));
        }
        Ok(())
    }
}

#[test]
fn observers_see_the_ops_of_the_program() {
    let program = prepare(ROWS, RunOptions::default());
    for _ in 0..3 {
        let mut seen = Sums::default();
        program.run_observed(inputs(4), &mut seen).unwrap();
        assert_eq!(seen.0, ["tensor<?x3xf32> [4, 3]"]);
        program.run(inputs(4)).unwrap();
    }
}

#[test]
fn steps_are_those_of_the_program() {
    let limits = |steps| Limits { steps: Some(steps), ..Limits::default() };
    for (steps, is_enough) in [(8, false), (20, true)] {
        let program = prepare(ROWS, limits(steps).into());
        for _ in 0..3 {
            assert_eq!(program.run(inputs(4)).is_ok(), is_enough, "{steps}");
        }
    }
}

#[test]
fn profiles_have_the_steps_of_all_runs() {
    let options = RunOptions { profiling: Profiling::Executions(1000), ..RunOptions::default() };
    let program = prepare(ROWS, options);
    for rows in [4, 4, 4, 9, 9, 30] {
        program.run(inputs(rows)).unwrap();
    }
    let profile = program.profile();
    assert_eq!(profile.runs, 6);
    let additions = |kind| {
        let is_one = |step: &&stablo::StepProfile| {
            step.kind == kind && step.ops.iter().any(|op| op.op == "stablehlo.add")
        };
        profile.steps.iter().filter(is_one).map(|step| step.calls).sum::<u64>()
    };
    // Of the first run on inputs of each shape, and of the others.
    assert_eq!((additions(StepKind::Kernel), additions(StepKind::Block)), (3, 3));
    let kept = |e: &stablo::Execution| (e.step as usize) < profile.steps.len();
    assert!(profile.executions.len() >= 6 && profile.executions.iter().all(kept));
}
