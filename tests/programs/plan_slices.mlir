// RUN: stablo run %s --input ones --input ones --dump-plan-after=slices | FileCheck %s

// Gates take parts of a sum, which is computed part by part. A sum of which a product takes a part is
// computed as a whole, as is one that is used as a whole, too.

// CHECK: @main
// CHECK: %[[X:.*]] = stablehlo.dot_general
// CHECK: %[[BIASES:.*]] = stablehlo.broadcast_in_dim
// CHECK-NEXT: %[[LEFT:.*]] = stablehlo.slice %[[X]] : 8x32xf32
// CHECK-NEXT: %[[LEFT_BIAS:.*]] = stablehlo.slice %[[BIASES]] : 8x32xf32
// CHECK-NEXT: %[[LEFT_SUM:.*]] = stablehlo.add %[[LEFT]], %[[LEFT_BIAS]] : 8x32xf32
// CHECK-NEXT: stablehlo.logistic %[[LEFT_SUM]]
// CHECK-NEXT: %[[RIGHT:.*]] = stablehlo.slice %[[X]] : 8x32xf32
// CHECK-NEXT: %[[RIGHT_BIAS:.*]] = stablehlo.slice %[[BIASES]] : 8x32xf32
// CHECK-NEXT: %[[RIGHT_SUM:.*]] = stablehlo.add %[[RIGHT]], %[[RIGHT_BIAS]] : 8x32xf32
// CHECK-NEXT: stablehlo.tanh %[[RIGHT_SUM]]
// CHECK: %[[WHOLE:.*]] = stablehlo.multiply %[[X]], %[[X]] : 8x64xf32
// CHECK-NEXT: %[[PART:.*]] = stablehlo.slice %[[WHOLE]]
// CHECK-NEXT: stablehlo.dot_general %[[PART]]
// CHECK-NEXT: %[[USED:.*]] = stablehlo.subtract %[[X]], %[[X]] : 8x64xf32
// CHECK-NEXT: stablehlo.slice %[[USED]]
func.func @main(%a: tensor<8x32xf32>, %b: tensor<32x64xf32>) -> (tensor<8x32xf32>, tensor<8x64xf32>, tensor<8x32xf32>, tensor<8x64xf32>) {
  %x = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x32xf32>, tensor<32x64xf32>) -> tensor<8x64xf32>
  %bias = stablehlo.slice %b [0:1, 0:64] : (tensor<32x64xf32>) -> tensor<1x64xf32>
  %biases = stablehlo.broadcast_in_dim %bias, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<8x64xf32>
  %sum = stablehlo.add %x, %biases : tensor<8x64xf32>
  %left = stablehlo.slice %sum [0:8, 0:32] : (tensor<8x64xf32>) -> tensor<8x32xf32>
  %gate = stablehlo.logistic %left : tensor<8x32xf32>
  %right = stablehlo.slice %sum [0:8, 32:64] : (tensor<8x64xf32>) -> tensor<8x32xf32>
  %new = stablehlo.tanh %right : tensor<8x32xf32>
  %gated = stablehlo.multiply %gate, %new : tensor<8x32xf32>
  %whole = stablehlo.multiply %x, %x : tensor<8x64xf32>
  %part = stablehlo.slice %whole [0:8, 0:32] : (tensor<8x64xf32>) -> tensor<8x32xf32>
  %product = stablehlo.dot_general %part, %b, contracting_dims = [1] x [0] : (tensor<8x32xf32>, tensor<32x64xf32>) -> tensor<8x64xf32>
  %used = stablehlo.subtract %x, %x : tensor<8x64xf32>
  %some = stablehlo.slice %used [0:8, 0:32] : (tensor<8x64xf32>) -> tensor<8x32xf32>
  %negative = stablehlo.negate %some : tensor<8x32xf32>
  return %gated, %product, %negative, %used : tensor<8x32xf32>, tensor<8x64xf32>, tensor<8x32xf32>, tensor<8x64xf32>
}
