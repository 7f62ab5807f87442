// RUN: stablehlo-opt %s -verify-diagnostics

func.func @f(%arg0: tensor<1x4xf32>, %arg1: tensor<4xf32>) -> tensor<1x4xf32> {
  // expected-error @+1 {{broadcast_dimensions must not be negative; found -1}}
  %0 = chlo.broadcast_add %arg0, %arg1 {broadcast_dimensions = array<i64: -1>} : (tensor<1x4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
