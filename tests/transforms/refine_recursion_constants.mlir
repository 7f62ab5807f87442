// A function refined for constant arguments cannot call itself: the call would lose the arguments, too.

// RUN: stablehlo-opt %s --stablehlo-refine-shapes -verify-diagnostics

func.func @main() -> tensor<i32> {
  %0 = stablehlo.constant dense<3> : tensor<i32>
  %1 = call @f(%0) : (tensor<i32>) -> tensor<i32>
  return %1 : tensor<i32>
}
// expected-error @+1 {{@f calls itself, so it cannot be refined}}
func.func @f(%arg0: tensor<i32>) -> tensor<i32> {
  // expected-error @+1 {{@f cannot be refined for this call}}
  %0 = call @f(%arg0) : (tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}
