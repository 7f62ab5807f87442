//! Gives a custom call a meaning: a function on values, which knows nothing of the IR.

use stablo::{EvalError, Program, RunOptions, RuntimeValue, Tensor};
use std::error::Error;

/// Runs the example.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let module = stablo::load(
        "clip.mlir",
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
           %0 = stablehlo.custom_call @example.clip(%x) : (tensor<4xf32>) -> tensor<4xf32>
           return %0 : tensor<4xf32>
         }",
    )?;
    let x = Tensor::from_vec([4], vec![-3f32, -0.5, 0.5, 3.0])?;

    let error = stablo::run(&module, "main", vec![x.clone().into()]).err();
    println!("{}", error.expect("nothing says what the call means"));

    let mut options = RunOptions::default();
    options.custom_calls.register("example.clip", |call, operands| {
        let [operand] = <[RuntimeValue; 1]>::try_from(operands)
            .map_err(|_| EvalError::new("operands", format!("{} takes one", call.target)))?;
        let mut tensor = operand.into_tensor()?;
        tensor.make_mut::<f32>()?.iter_mut().for_each(|x| *x = x.clamp(-1.0, 1.0));
        Ok(vec![tensor.into()])
    });
    let program = Program::prepare(module, "main", options)?;
    let results = program.run(vec![x.into()])?;
    assert_eq!(results[0].tensor()?.as_slice::<f32>()?, [-1.0, -0.5, 0.5, 1.0]);
    Ok(())
}
