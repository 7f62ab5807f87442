// RUN: stablo run %s --input ones --dump-plan-after=split-reductions | FileCheck %s

// A long sum of what a loop computes is one of rows and one of their sums. Sums of an argument, of values
// that something else uses, and of bf16 stay, as do short ones.

// CHECK: @main(%[[X:.*]]: 300x1024xf32)
// CHECK-NEXT: %[[SQUARES:.*]] = stablehlo.multiply %[[X]], %[[X]]
// CHECK: %[[ROWS:.*]] = stablehlo.reduce %[[SQUARES]] : 75x4096xf32
// CHECK-NEXT: %[[SUMS:.*]] = stablehlo.reduce %[[ROWS]], constant f32 : 75xf32
// CHECK-NEXT: stablehlo.reduce %[[SUMS]], constant f32 : f32
// CHECK-NOT: 75x4096
func.func @main(%x: tensor<300x1024xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<300x1024xf32>, tensor<bf16>, tensor<300xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %none = stablehlo.constant dense<0.0> : tensor<bf16>
  %squares = stablehlo.multiply %x, %x : tensor<300x1024xf32>
  %sum = stablehlo.reduce(%squares init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<300x1024xf32>, tensor<f32>) -> tensor<f32>
  %of_argument = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<300x1024xf32>, tensor<f32>) -> tensor<f32>
  %used = stablehlo.negate %x : tensor<300x1024xf32>
  %of_used = stablehlo.reduce(%used init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<300x1024xf32>, tensor<f32>) -> tensor<f32>
  %narrow = stablehlo.convert %x : (tensor<300x1024xf32>) -> tensor<300x1024xbf16>
  %of_narrow = stablehlo.reduce(%narrow init: %none) applies stablehlo.add across dimensions = [0, 1] : (tensor<300x1024xbf16>, tensor<bf16>) -> tensor<bf16>
  %signs = stablehlo.sign %x : tensor<300x1024xf32>
  %short = stablehlo.reduce(%signs init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<300x1024xf32>, tensor<f32>) -> tensor<300xf32>
  return %sum, %of_argument, %of_used, %used, %of_narrow, %short : tensor<f32>, tensor<f32>, tensor<f32>, tensor<300x1024xf32>, tensor<bf16>, tensor<300xf32>
}
