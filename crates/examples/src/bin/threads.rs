//! Prepares a program once, keeps it, and calls it from many threads at the same time.

use stablo::{Program, RunOptions, Tensor};
use std::error::Error;
use std::sync::Arc;
use std::thread;

/// A server of requests: it owns the program, and nothing borrows the module.
struct RequestServer {
    program: Program,
}

impl RequestServer {
    fn predict(&self, x: f32) -> Result<f32, stablo::Error> {
        let results = self.program.run(vec![Tensor::scalar(x).into()])?;
        Ok(results[0].tensor()?.item::<f32>()?)
    }
}

/// Runs the example.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let module = stablo::load(
        "poly.mlir",
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {
           %0 = stablehlo.multiply %x, %x : tensor<f32>
           %1 = stablehlo.add %0, %x : tensor<f32>
           return %1 : tensor<f32>
         }",
    )?;
    let program = Program::prepare(module, "main", RunOptions::default())?;
    println!("{:?}", program.signature());
    let model = Arc::new(RequestServer { program });

    let threads = (0..8).map(|number| {
        let model = Arc::clone(&model);
        thread::spawn(move || {
            (0..100).try_for_each(|i| {
                let x = (100 * number + i) as f32;
                assert_eq!(model.predict(x)?, x * x + x);
                Ok::<(), stablo::Error>(())
            })
        })
    });
    for thread in threads.collect::<Vec<_>>() {
        thread.join().expect("no thread panics")?;
    }
    Ok(())
}
