// RUN: stablehlo-opt %s -stablehlo-refine-shapes -verify-diagnostics

// expected-error @+1 {{the body of @main must be one block; it has 2}}
func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
  cf.br ^bb1(%arg0 : tensor<f32>)
^bb1(%0: tensor<f32>):
  return %0 : tensor<f32>
}
