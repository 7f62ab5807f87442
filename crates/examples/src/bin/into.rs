//! Runs a program on memory of the caller: a simulation whose steps read one buffer and write the
//! other, without an allocation or a copy of the state.

use stablo::{Program, RunOptions, TensorMut, TensorRef};
use std::error::Error;

const SIZE: usize = 2000;

/// Runs the example.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // Each element becomes the mean of itself and the one before it, in a ring.
    let module = stablo::load(
        "diffusion.mlir",
        "func.func @main(%x: tensor<2000xf32>) -> tensor<2000xf32> {
           %last = stablehlo.slice %x [1999:2000] : (tensor<2000xf32>) -> tensor<1xf32>
           %rest = stablehlo.slice %x [0:1999] : (tensor<2000xf32>) -> tensor<1999xf32>
           %before = stablehlo.concatenate %last, %rest, dim = 0
             : (tensor<1xf32>, tensor<1999xf32>) -> tensor<2000xf32>
           %sum = stablehlo.add %x, %before : tensor<2000xf32>
           %half = stablehlo.constant dense<0.5> : tensor<2000xf32>
           %mean = stablehlo.multiply %sum, %half : tensor<2000xf32>
           return %mean : tensor<2000xf32>
         }",
    )?;
    let program = Program::prepare(module, "main", RunOptions::default())?;

    let (mut state, mut next) = (vec![0f32; SIZE], vec![0f32; SIZE]);
    state[0] = 1.0;
    for _ in 0..10 {
        let input = TensorRef::new(&[SIZE], &state)?;
        program.run_into(&[input], &mut [TensorMut::new(&[SIZE], &mut next)?])?;
        std::mem::swap(&mut state, &mut next);
    }
    // Binomial coefficients over two to the tenth.
    assert_eq!(state[5], 252.0 / 1024.0);
    println!("{:?}", &state[..11]);
    Ok(())
}
