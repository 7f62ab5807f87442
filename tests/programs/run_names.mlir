// Inputs by the names of arguments in the text, beside those of locations; unknown ones are an error with those that there are.
// RUN: stablo run %s --input scale=3 --input "weight=[1, 2]" --input step=1 | FileCheck %s
// RUN: stablo run %s --input "arg1=[1, 2]" --input offset=1 --input 3 | FileCheck %s
// RUN: not stablo run %s --input scale=3 --input "wieght=[1, 2]" --input 1 2>&1 | FileCheck %s --check-prefix=NEAR
// RUN: not stablo run %s --input "x=[1, 2]" 2>&1 | FileCheck %s --check-prefix=FAR
// RUN: not stablo run %s --input 3 --input none.npy --input 1 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not stablo run %s --input scale=3 --input arg0=3 --input "[1, 2]" --input 1 2>&1 | FileCheck %s --check-prefix=TWICE

// CHECK: output 0: tensor<2xf32>
// CHECK-NEXT: [4.0, 7.0]
// NEAR: error: there is no argument `wieght`; did you mean `weight`? @main takes (weight: tensor<2xf32>, step: tensor<f32>, scale: tensor<f32>)
// FAR: error: there is no argument `x`; @main takes (step: tensor<f32>, scale: tensor<f32>, weight: tensor<2xf32>)
// FILE: argument 1 (`weight`) of @main is a tensor<2xf32>, given `none.npy`: cannot read none.npy
// TWICE: argument 0 (`scale`) is given more than once
func.func @main(%scale: tensor<f32>, %weight: tensor<2xf32>, %offset: tensor<f32> loc("step")) -> tensor<2xf32> {
  %0 = stablehlo.broadcast_in_dim %scale, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %1 = stablehlo.broadcast_in_dim %offset, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %2 = stablehlo.multiply %0, %weight : tensor<2xf32>
  %3 = stablehlo.add %2, %1 : tensor<2xf32>
  return %3 : tensor<2xf32>
}
