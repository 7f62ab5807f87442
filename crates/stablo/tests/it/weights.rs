//! Arguments that become constants.

use stablo::{Tensor, WeightForm};

const SCALE: &str = "func.func @main(%w: tensor<f32>, %x: tensor<f32>) -> tensor<f32> {
  %c = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = stablehlo.multiply %w, %x : tensor<f32>
  return %0 : tensor<f32>
}";

/// Values that do not fit leave the program as it was.
#[test]
fn values_of_arguments_fit_or_change_nothing() {
    let one = Tensor::scalar(1f32);
    let bind = |module: &mut stablo::Module, values: &[(usize, Tensor)], why: &str| {
        let before = module.to_string();
        let error = stablo::bind_arguments(module, values).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        assert_eq!(module.to_string(), before);
    };
    let mut module = stablo::load("scale", SCALE).unwrap();
    bind(&mut module, &[(0, one.clone()), (2, one.clone())], "there is no argument 2");
    bind(&mut module, &[(0, one.clone()), (0, one.clone())], "argument 0 is given twice");
    bind(&mut module, &[(1, one.clone()), (0, Tensor::scalar(1i32))], "the value is a tensor<i32>");

    // Constants that are elsewhere come back first.
    for form in [WeightForm::Arguments, WeightForm::Resources] {
        let mut module = stablo::load("scale", SCALE).unwrap();
        let weights = stablo::extract_weights(&mut module, 1, form).unwrap();
        bind(&mut module, &[(0, one.clone())], "must be put back first");
        stablo::insert_weights(&mut module, |_, _| Ok(weights[0].1.clone())).unwrap();
        stablo::bind_arguments(&mut module, &[(0, one.clone())]).unwrap();
    }

    let text = "func.func private @main(%w: tensor<f32>) -> tensor<f32>";
    bind(&mut stablo::load("declaration", text).unwrap(), &[(0, one)], "must be one block");
}
