//! Reified shapes equal the shapes of the results.

use super::common::run;
use numerics::Tensor;

/// The shape of `%result`, which `op` defines, reified from the dynamic arguments `%x` and `%y`.
fn shape(op: &str, result: &str, rank: usize, x: &Tensor, y: &Tensor) -> Vec<i64> {
    let text = format!(
        "func.func @main(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<{rank}xindex> {{
            {op}
            %shape = \"hlo_test_infer.reify_return_type_shapes\"(%result) : ({result}) -> tensor<{rank}xindex>
            return %shape : tensor<{rank}xindex>
        }}"
    );
    let results = run(&text, "func.func(hlo-test-infer)", &[x.clone(), y.clone()]);
    results[0].to_i64s().expect("sizes")
}

fn zeros(shape: [usize; 2]) -> Tensor {
    Tensor::from_vec(shape, vec![0f32; shape[0] * shape[1]]).expect("a matrix")
}

#[test]
fn shapes_follow_from_shapes() {
    let (x, y) = (zeros([2, 5]), zeros([3, 5]));
    let any = "tensor<?x?xf32>";
    let transpose =
        "%result = stablehlo.transpose %x, dims = [1, 0] : (tensor<?x?xf32>) -> tensor<?x?xf32>";
    assert_eq!(shape(transpose, any, 2, &x, &y), [5, 2]);
    let concatenate = "%result = stablehlo.concatenate %x, %y, dim = 0 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>";
    assert_eq!(shape(concatenate, any, 2, &x, &y), [5, 5]);
    let dot = "%result = stablehlo.dot_general %x, %y, contracting_dims = [1] x [1]
        : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>";
    assert_eq!(shape(dot, any, 2, &x, &y), [2, 3]);
    // 1 + 2 + 2 * (2 - 1) + 0, and -1 + 5 + 0 + 3.
    let pad = "%zero = stablehlo.constant dense<0.0> : tensor<f32>
        %result = stablehlo.pad %x, %zero, low = [1, -1], high = [0, 3], interior = [2, 0]
            : (tensor<?x?xf32>, tensor<f32>) -> tensor<?x?xf32>";
    assert_eq!(shape(pad, any, 2, &x, &y), [5, 7]);
    let reduce = "%zero = stablehlo.constant dense<0.0> : tensor<f32>
        %result = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
            : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>";
    assert_eq!(shape(reduce, "tensor<?xf32>", 1, &x, &y), [5]);
    let broadcast =
        "%result = stablehlo.broadcast %x, sizes = [4] : (tensor<?x?xf32>) -> tensor<4x?x?xf32>";
    assert_eq!(shape(broadcast, "tensor<4x?x?xf32>", 3, &x, &y), [4, 2, 5]);
    let tanh = "%result = stablehlo.tanh %x : tensor<?x?xf32>";
    assert_eq!(shape(tanh, any, 2, &x, &y), [2, 5]);
    let add = "%result = chlo.broadcast_add %x, %y : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>";
    assert_eq!(shape(add, any, 2, &zeros([2, 1]), &zeros([1, 5])), [2, 5]);
    // Rows 1, 3 of 5 columns: (4 - 1 + 2 - 1) / 2 rounded down.
    let slice = "%start = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
        %limit = stablehlo.constant dense<[4, 5]> : tensor<2xi32>
        %stride = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
        %result = stablehlo.real_dynamic_slice %x, %start, %limit, %stride
            : (tensor<?x?xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>";
    assert_eq!(shape(slice, any, 2, &zeros([4, 5]), &y), [2, 5]);
}
