// RUN: stablo run %s --input "[[[[1], [2], [3], [4]]]]" --input "[[[[10]], [[1]]]]" --explain-plan | FileCheck %s
// RUN: stablo run %s --input "[[[[1], [2], [3], [4]]]]" --input "[[[[10]], [[1]]]]" | FileCheck %s --check-prefix=SUMS
// RUN: stablo run %s --input "[[[[1], [2], [3], [4]]]]" --input "[[[[10]], [[1]]]]" --engine reference | FileCheck %s --check-prefix=SUMS

// The kernel of a gradient by the input is reversed along its spatial dimensions: it is read backwards from
// where it is, as with `window_reversal`. A reversal of features is a step.

// CHECK-NOT: reverse
// CHECK: stablehlo.convolution %[[X:.*]], %[[K:.*]] : 1x1x3x1xf32
// CHECK-NOT: reverse
// CHECK: stablehlo.convolution %[[X]], %[[K]] : 1x1x3x1xf32
// CHECK: stablehlo.reverse

// SUMS: output 0
// SUMS-NEXT: {{\[\[\[}}[21.0],
// SUMS-NEXT: [32.0],
// SUMS-NEXT: [43.0]]]]
// SUMS-NEXT: output 1
// SUMS-NEXT: {{\[\[\[}}[12.0],
// SUMS-NEXT: [23.0],
// SUMS-NEXT: [34.0]]]]
func.func @main(%x: tensor<1x1x4x1xf32>, %k: tensor<1x2x1x1xf32>) -> (tensor<1x1x3x1xf32>, tensor<1x1x3x1xf32>, tensor<1x1x3x2xf32>) {
  %reversed = stablehlo.reverse %k, dims = [1] : tensor<1x2x1x1xf32>
  %0 = stablehlo.convolution(%x, %reversed) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x4x1xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x3x1xf32>
  %1 = stablehlo.convolution(%x, %reversed) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {reverse = [0, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x4x1xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x3x1xf32>
  %both = stablehlo.concatenate %k, %k, dim = 3 : (tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x1x2xf32>
  %other = stablehlo.reverse %both, dims = [1, 3] : tensor<1x2x1x2xf32>
  %2 = stablehlo.convolution(%x, %other) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x4x1xf32>, tensor<1x2x1x2xf32>) -> tensor<1x1x3x2xf32>
  return %0, %1, %2 : tensor<1x1x3x1xf32>, tensor<1x1x3x1xf32>, tensor<1x1x3x2xf32>
}
