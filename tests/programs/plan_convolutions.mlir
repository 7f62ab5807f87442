// RUN: stablo run %s --input "[[[[1], [2]], [[3], [4]]]]" --input "[[[[1]], [[1]]], [[[1]], [[1]]]]" --explain-plan | FileCheck %s
// RUN: stablo run %s --input "[[[[1], [2]], [[3], [4]]]]" --input "[[[[1]], [[1]]], [[[1]], [[1]]]]" --engine fast | FileCheck %s --check-prefix=SUMS
// RUN: stablo run %s --input "[[[[1], [2]], [[3], [4]]]]" --input "[[[[1]], [[1]]], [[[1]], [[1]]]]" --engine reference | FileCheck %s --check-prefix=SUMS

// Zeros around an input are padding of the windows. Other numbers, zeros between elements, inputs
// that are cropped, and zeros of an input that the windows dilate are not.

// CHECK: stablehlo.convolution %[[X:.*]], %[[K:.*]] : 1x2x2x1xf32
// CHECK: %[[ONES:.*]] = move stablehlo.pad %[[X]]
// CHECK-NEXT: stablehlo.convolution %[[ONES]], %[[K]]
// CHECK-NEXT: %[[BETWEEN:.*]] = move stablehlo.pad %[[X]]
// CHECK-NEXT: stablehlo.convolution %[[BETWEEN]], %[[K]]
// CHECK-NEXT: %[[CROPPED:.*]] = move stablehlo.pad %[[X]]
// CHECK-NEXT: stablehlo.convolution %[[CROPPED]], %[[K]]
// CHECK-NEXT: stablehlo.convolution %{{.*}}, %[[K]] : 1x4x4x1xf32

// Each sum is of a number and those on its left and above.
// SUMS: output 0
// SUMS-NEXT: {{\[\[\[}}[1.0],
// SUMS-NEXT: [3.0]],
// SUMS-NEXT: {{\[}}[4.0],
// SUMS-NEXT: [10.0]]]]
// SUMS-NEXT: output 1
// SUMS-NEXT: {{\[\[\[}}[4.0],
// SUMS-NEXT: [5.0]],
// SUMS-NEXT: {{\[}}[6.0],
// SUMS-NEXT: [10.0]]]]
func.func @main(%x: tensor<1x2x2x1xf32>, %k: tensor<2x2x1x1xf32>) -> (tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1x4x4x1xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %px = stablehlo.pad %x, %zero, low = [0, 1, 1, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<1x2x2x1xf32>, tensor<f32>) -> tensor<1x3x3x1xf32>
  %zeros = stablehlo.convolution(%px, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x3x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x2x1xf32>
  %po = stablehlo.pad %x, %one, low = [0, 1, 1, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<1x2x2x1xf32>, tensor<f32>) -> tensor<1x3x3x1xf32>
  %ones = stablehlo.convolution(%po, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x3x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x2x1xf32>
  %pi = stablehlo.pad %x, %zero, low = [0, 0, 0, 0], high = [0, 0, 0, 0], interior = [0, 1, 1, 0] : (tensor<1x2x2x1xf32>, tensor<f32>) -> tensor<1x3x3x1xf32>
  %between = stablehlo.convolution(%pi, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x3x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x2x1xf32>
  %pc = stablehlo.pad %x, %zero, low = [0, -1, -1, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<1x2x2x1xf32>, tensor<f32>) -> tensor<1x1x1x1xf32>
  %cropped = stablehlo.convolution(%pc, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 0], [1, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x1x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x1x1x1xf32>
  %dilated = stablehlo.convolution(%px, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x3x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x4x4x1xf32>
  return %zeros, %ones, %between, %cropped, %dilated : tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1x4x4x1xf32>
}
