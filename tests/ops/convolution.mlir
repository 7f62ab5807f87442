// RUN: stablehlo-translate --interpret --split-input-file %s

// Padding around a kernel read backwards: 0 1 2 3 0 with weights 3 2 1.
func.func @main() {
  %lhs = stablehlo.constant dense<[[[1], [2], [3]]]> : tensor<1x3x1xi32>
  %rhs = stablehlo.constant dense<[[[1]], [[2]], [[3]]]> : tensor<3x1x1xi32>
  %result = stablehlo.convolution(%lhs, %rhs) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {pad = [[1, 1]], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x3x1xi32>, tensor<3x1x1xi32>) -> tensor<1x3x1xi32>
  check.expect_eq_const %result, dense<[[[4], [10], [12]]]> : tensor<1x3x1xi32>
  return
}

// -----

// An image of no elements, padded; a group for each feature.
func.func @main() {
  %lhs = stablehlo.constant dense<> : tensor<1x0x2xf32>
  %rhs = stablehlo.constant dense<1.0> : tensor<1x1x2xf32>
  %result = stablehlo.convolution(%lhs, %rhs) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64}
    : (tensor<1x0x2xf32>, tensor<1x1x2xf32>) -> tensor<1x2x2xf32>
  check.expect_eq_const %result, dense<0.0> : tensor<1x2x2xf32>
  return
}

// -----

// Batch groups: the first half of the batches is convolved with the first kernel, the second half with the second.
func.func @main() {
  %lhs = stablehlo.constant dense<[[[1], [2]], [[3], [4]]]> : tensor<2x2x1xi32>
  %rhs = stablehlo.constant dense<[[[1, 10]]]> : tensor<1x1x2xi32>
  %result = stablehlo.convolution(%lhs, %rhs) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64}
    : (tensor<2x2x1xi32>, tensor<1x1x2xi32>) -> tensor<1x2x2xi32>
  check.expect_eq_const %result, dense<[[[1, 30], [2, 40]]]> : tensor<1x2x2xi32>
  return
}

// -----

// Padding known only at run time: sums of neighbours in 0 1 0 2 0, without the last element.
func.func @main() {
  %lhs = stablehlo.constant dense<[[[1], [2], [3]]]> : tensor<1x3x1xi64>
  %rhs = stablehlo.constant dense<1> : tensor<2x1x1xi64>
  %padding = stablehlo.constant dense<[[1, -1]]> : tensor<1x2xi32>
  %result = "stablehlo.dynamic_conv"(%lhs, %rhs, %padding) {
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
    lhs_dilation = array<i64: 2>, feature_group_count = 1 : i64, batch_group_count = 1 : i64
  } : (tensor<1x3x1xi64>, tensor<2x1x1xi64>, tensor<1x2xi32>) -> tensor<1x4x1xi64>
  check.expect_eq_const %result, dense<[[[1], [1], [2], [2]]]> : tensor<1x4x1xi64>
  return
}

// -----

// Sums of floats are truncated only at the end: 0.75 * 2 + 0.75 * 2 = 3.
func.func @main() {
  %lhs = stablehlo.constant dense<0.75> : tensor<1x2x1xf32>
  %rhs = stablehlo.constant dense<2.0> : tensor<2x1x1xf32>
  %result = stablehlo.convolution(%lhs, %rhs) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x2x1xf32>, tensor<2x1x1xf32>) -> tensor<1x1x1xi32>
  check.expect_eq_const %result, dense<3> : tensor<1x1x1xi32>
  return
}

// -----

// Dilation has no effect on fewer than two elements.
func.func @main() {
  %lhs = stablehlo.constant dense<> : tensor<1x0x1xi32>
  %rhs = stablehlo.constant dense<1> : tensor<1x1x1xi32>
  %result = stablehlo.convolution(%lhs, %rhs) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {pad = [[0, 4]], lhs_dilate = [9223372036854775807], rhs_dilate = [9223372036854775807]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x0x1xi32>, tensor<1x1x1xi32>) -> tensor<1x4x1xi32>
  check.expect_eq_const %result, dense<0> : tensor<1x4x1xi32>
  return
}
