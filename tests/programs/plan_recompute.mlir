// RUN: stablo run %s --input ones --input ones --dump-plan-after=recompute | FileCheck %s

// A large sum that a later part of a program uses is computed again there, from a product that is kept
// anyway. A function that takes long is not, nor is a value that a product reads.

// CHECK: %[[X:.*]] = stablehlo.dot_general
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[X]], %[[X]]
// CHECK-NEXT: %[[TANH:.*]] = stablehlo.tanh %[[SUM]]
// CHECK-NEXT: %[[SCALED:.*]] = stablehlo.multiply %[[TANH]], %[[SUM]]
// CHECK-NEXT: %[[W:.*]] = stablehlo.dot_general %[[SCALED]]
// CHECK-NEXT: %[[AGAIN:.*]] = stablehlo.add %[[X]], %[[X]]
// CHECK-NEXT: stablehlo.subtract %[[AGAIN]], %[[TANH]]
// CHECK-NEXT: stablehlo.multiply %{{.*}}, %[[AGAIN]]
// CHECK-NEXT: stablehlo.add %{{.*}}, %[[SCALED]]
func.func @main(%a: tensor<16384x2xf32>, %b: tensor<2x16384xf32>) -> (tensor<16384x2xf32>, tensor<16384x16384xf32>) {
  %x = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<16384x2xf32>, tensor<2x16384xf32>) -> tensor<16384x16384xf32>
  %sum = stablehlo.add %x, %x : tensor<16384x16384xf32>
  %tanh = stablehlo.tanh %sum : tensor<16384x16384xf32>
  %scaled = stablehlo.multiply %tanh, %sum : tensor<16384x16384xf32>
  %w = stablehlo.dot_general %scaled, %a, contracting_dims = [1] x [0] : (tensor<16384x16384xf32>, tensor<16384x2xf32>) -> tensor<16384x2xf32>
  %0 = stablehlo.subtract %sum, %tanh : tensor<16384x16384xf32>
  %1 = stablehlo.multiply %0, %sum : tensor<16384x16384xf32>
  %2 = stablehlo.add %1, %scaled : tensor<16384x16384xf32>
  return %w, %2 : tensor<16384x2xf32>, tensor<16384x16384xf32>
}
