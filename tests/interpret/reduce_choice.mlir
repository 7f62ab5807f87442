// RUN: stablo run %s | FileCheck %s
// RUN: stablo run %s --engine reference | FileCheck %s

// The greatest element and its index, by a choice between accumulators and values: the first one of equal
// elements, and the last one.

// CHECK: output 0
// CHECK-NEXT: [3.0, 5.0]
// CHECK: output 1
// CHECK-NEXT: [1, 0]
// CHECK: output 2
// CHECK-NEXT: [3.0, 5.0]
// CHECK: output 3
// CHECK-NEXT: [2, 3]
func.func @main() -> (tensor<2xf32>, tensor<2xi32>, tensor<2xf32>, tensor<2xi32>) {
  %x = stablehlo.constant dense<[[1.0, 3.0, 3.0, 2.0], [5.0, 4.0, 0.0, 5.0]]> : tensor<2x4xf32>
  %i = stablehlo.iota dim = 1 : tensor<2x4xi32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %first:2 = stablehlo.reduce(%x init: %least), (%i init: %zero) across dimensions = [1] : (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>) {
      %keeps = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %value = stablehlo.select %keeps, %a, %b : tensor<i1>, tensor<f32>
      %index = stablehlo.select %keeps, %j, %k : tensor<i1>, tensor<i32>
      stablehlo.return %value, %index : tensor<f32>, tensor<i32>
    }
  %last:2 = stablehlo.reduce(%x init: %least), (%i init: %zero) across dimensions = [1] : (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>) {
      %keeps = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %value = stablehlo.select %keeps, %a, %b : tensor<i1>, tensor<f32>
      %index = stablehlo.select %keeps, %j, %k : tensor<i1>, tensor<i32>
      stablehlo.return %value, %index : tensor<f32>, tensor<i32>
    }
  return %first#0, %first#1, %last#0, %last#1 : tensor<2xf32>, tensor<2xi32>, tensor<2xf32>, tensor<2xi32>
}
