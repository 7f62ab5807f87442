//! Where a program parts from itself on a device, of which only results can be seen. The device is
//! this library with one op in place of another.

use analysis::bisect::{Executor, ValueRecorder, bisect_on};
use stablo::ir::OpId;
use stablo::{Error, Module, Parting, Program, RunOptions, RuntimeValue, Tensor, Tolerance};
use std::sync::Arc;

/// Runs programs with `right` for `left` where `is_wrong` says so of their text.
struct Swapped {
    left: &'static str,
    right: &'static str,
    is_wrong: fn(&str) -> bool,
    compiled: usize,
}

impl Executor for Swapped {
    type Program = Program;
    type Error = Error;

    fn compile(&mut self, module: &Module, entry: &str) -> Result<Program, Error> {
        self.compiled += 1;
        let text = module.to_string();
        let is_wrong = (self.is_wrong)(&text);
        let text = if is_wrong { text.replace(self.left, self.right) } else { text };
        Program::prepare(stablo::load("device.mlir", text)?, entry, RunOptions::default())
    }

    fn run(
        &mut self,
        program: &Program,
        inputs: &[RuntimeValue],
    ) -> Result<Vec<RuntimeValue>, Error> {
        program.run(inputs.to_vec())
    }
}

/// The parting of a program on 0.5 with `floor` from itself with `ceil`, and the number of programs
/// that were compiled after the whole one.
fn part(text: &str, is_wrong: fn(&str) -> bool) -> (Option<Parting>, usize) {
    let module = Arc::new(stablo::load("test.mlir", text).unwrap());
    let program = Program::prepare(module.clone(), "main", RunOptions::default()).unwrap();
    let mut device =
        Swapped { left: "stablehlo.floor", right: "stablehlo.ceil", is_wrong, compiled: 0 };
    let inputs = vec![Tensor::scalar(0.5f32).into()];
    let mut recorder = ValueRecorder::new(program.module().clone());
    let expected = program.run_observed(inputs.clone(), &mut recorder).unwrap();
    let whole = device.compile(&module, "main").unwrap();
    let found = device.run(&whole, &inputs).unwrap();
    let pairs = expected.iter().zip(&found).enumerate();
    let wrong = pairs.filter_map(|(index, (expected, found))| {
        let [expected, found] = [expected, found].map(|own| own.tensor().unwrap().clone());
        (expected != found).then_some((index, expected, found))
    });
    let wrong: Vec<_> = wrong.collect();
    assert!(!wrong.is_empty());
    let entry: OpId = stablo::entry_function(&module, "main").unwrap().id();
    let parting =
        bisect_on(recorder, &mut device, entry, &inputs, &wrong, &|_| Tolerance::EXACT).unwrap();
    (parting, device.compiled - 1)
}

fn value(tensor: &Tensor) -> f32 {
    tensor.item::<f32>().unwrap()
}

#[test]
fn an_op_of_the_function_is_found() {
    let text = "func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
      %0 = stablehlo.negate %x : tensor<f32>
      %1 = stablehlo.floor %0 : tensor<f32>
      %2 = stablehlo.sine %1 : tensor<f32>
      return %0, %2 : tensor<f32>, tensor<f32>
    }";
    let (parting, compiled) = part(text, |_| true);
    let parting = parting.unwrap();
    assert_eq!(parting.left.location.op, "stablehlo.floor");
    assert_eq!(value(&parting.operands[0].1), -0.5);
    assert_eq!((value(&parting.result.1), value(&parting.other.unwrap())), (-1.0, -0.0));
    assert_eq!(compiled, 1);
}

/// The loop counts 0, 1, 2, …: of these, only the third and later runs of the body floor something
/// that is not whole.
#[test]
fn an_op_of_a_loop_is_found_in_the_iteration_where_it_parts() {
    let text = "module {
      func.func private @step(%x: tensor<f32>, %half: tensor<f32>) -> tensor<f32> {
        %two = stablehlo.constant dense<2.0> : tensor<f32>
        %late = stablehlo.compare GE, %x, %two : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %0 = \"stablehlo.if\"(%late) ({
          %1 = stablehlo.add %x, %half : tensor<f32>
          %2 = stablehlo.floor %1 : tensor<f32>
          stablehlo.return %2 : tensor<f32>
        }, {
          %3 = stablehlo.floor %x : tensor<f32>
          stablehlo.return %3 : tensor<f32>
        }) : (tensor<i1>) -> tensor<f32>
        return %0 : tensor<f32>
      }
      func.func @main(%half: tensor<f32>) -> tensor<f32> {
        %zero = stablehlo.constant dense<0.0> : tensor<f32>
        %one = stablehlo.constant dense<1.0> : tensor<f32>
        %five = stablehlo.constant dense<5.0> : tensor<f32>
        %0:2 = stablehlo.while(%n = %zero, %s = %zero) : tensor<f32>, tensor<f32>
          cond {
            %c = stablehlo.compare LT, %n, %five : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %c : tensor<i1>
          } do {
            %m = func.call @step(%n, %half) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            %t = stablehlo.add %s, %m : tensor<f32>
            %next = stablehlo.add %n, %one : tensor<f32>
            stablehlo.return %next, %t : tensor<f32>, tensor<f32>
          }
        %1 = stablehlo.negate %0#1 : tensor<f32>
        return %1 : tensor<f32>
      }
    }";
    let (parting, compiled) = part(text, |_| true);
    let parting = parting.unwrap();
    assert_eq!(parting.left.location.op, "stablehlo.floor");
    assert_eq!(value(&parting.operands[0].1), 2.5);
    assert_eq!((value(&parting.result.1), value(&parting.other.unwrap())), (2.0, 3.0));
    let around: Vec<&str> = parting.around.iter().map(|op| op.location.op.as_str()).collect();
    assert_eq!(around, ["stablehlo.while", "func.call", "stablehlo.if"]);
    // Of the function, the condition and the body of the loop, the callee and the branch.
    assert_eq!(compiled, 5);
}

/// A device that is wrong only in programs with a single result.
#[test]
fn ops_are_asked_for_one_by_one_if_all_at_once_agree() {
    let text = "func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %0 = stablehlo.floor %x : tensor<f32>
      %1 = stablehlo.negate %x : tensor<f32>
      %2 = stablehlo.floor %1 : tensor<f32>
      return %2 : tensor<f32>
    }";
    let (parting, compiled) = part(text, |text| {
        text.matches("return").count() == 1 || {
            let end = text.rsplit("return").next().unwrap_or_default();
            !end.contains(',')
        }
    });
    let parting = parting.unwrap();
    // The first one is not part of what is wrong.
    assert_eq!(parting.left.location.source.as_deref(), Some("test.mlir:4:12"));
    assert_eq!(value(&parting.operands[0].1), -0.5);
    // All values, then `negate` and `floor` alone.
    assert_eq!(compiled, 3);
}

/// A device that is wrong only in the whole program: no op is at fault.
#[test]
fn without_an_op_at_fault_the_results_part() {
    let text = "func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %0 = stablehlo.floor %x : tensor<f32>
      return %0 : tensor<f32>
    }";
    let (parting, _) = part(text, |text| !text.contains("@cut"));
    assert_eq!(parting.unwrap().left.location.op, "func.return");
}
