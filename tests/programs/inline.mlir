// RUN: stablehlo-opt -inline %s | FileCheck %s
// RUN: stablehlo-opt --pass-pipeline='builtin.module(inline)' %s | FileCheck %s
// RUN: not stablehlo-opt --no-such-pass %s

// CHECK-LABEL: module
// Unused private functions are removed; a recursive one stays, and so do its calls.
// CHECK-NOT: @twice
// CHECK: func.func private @forever
// CHECK-NEXT: call @forever
// CHECK: func.func @main
// CHECK-NEXT: %[[A:.*]] = stablehlo.add %arg0, %arg0
// CHECK-NEXT: %[[B:.*]] = stablehlo.add %[[A]], %[[A]]
// CHECK-NEXT: %[[C:.*]] = call @forever(%[[B]])
// CHECK-NEXT: return %[[C]]
func.func private @twice(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %x, %x : tensor<f32>
  return %0 : tensor<f32>
}
func.func private @four_times(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @twice(%x) : (tensor<f32>) -> tensor<f32>
  %1 = call @twice(%0) : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func private @forever(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @forever(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @four_times(%x) : (tensor<f32>) -> tensor<f32>
  %1 = call @forever(%0) : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
