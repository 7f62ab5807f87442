// RUN: stablehlo-opt %s -verify-diagnostics -split-input-file

// A body takes and returns one type for each input; floats may differ in width.

func.func @f(%arg0: tensor<8xf32>, %arg1: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    reducer(%a: tensor<f32>, %b: tensor<bf16>) {
      stablehlo.return %a : tensor<f32>
    }
  return %0 : tensor<f32>
}

// -----

func.func @f(%arg0: tensor<8xi64>, %arg1: tensor<i64>) -> tensor<i64> {
  // expected-error @+1 {{body must take and return one type for input #0}}
  %0 = stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0] : (tensor<8xi64>, tensor<i64>) -> tensor<i64>
    reducer(%a: tensor<i64>, %b: tensor<i32>) {
      stablehlo.return %a : tensor<i64>
    }
  return %0 : tensor<i64>
}

// -----

// Padding is a matrix of two columns, also where there are no windows.

func.func @f(%arg0: tensor<3x2xf16>, %arg1: tensor<2x2xf16>) -> tensor<3x2xf16> {
  // expected-error @+1 {{padding must have shape}}
  %0 = "stablehlo.convolution"(%arg0, %arg1) <{
    batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f]x[i, o]->[b, f]>, feature_group_count = 1 : i64,
    padding = dense<> : tensor<0x3xi64>
  }> : (tensor<3x2xf16>, tensor<2x2xf16>) -> tensor<3x2xf16>
  return %0 : tensor<3x2xf16>
}
