// RUN: stablehlo-translate --interpret --split-input-file %s

// One feature each and several batches: each row convolved with [10, 100].
func.func @main() {
  %a = stablehlo.constant dense<[[[1, 2, 3], [4, 5, 6]]]> : tensor<1x2x3xi64>
  %k = stablehlo.constant dense<[[[10]], [[100]]]> : tensor<2x1x1xi64>
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [f, b, 0]x[0, o, i]->[f, b, 0], window = {pad = [[1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x3xi64>, tensor<2x1x1xi64>) -> tensor<1x2x4xi64>
  check.expect_eq_const %0, dense<[[[100, 210, 320, 30], [400, 540, 650, 60]]]> : tensor<1x2x4xi64>
  return
}

// -----

// Padding is zero, and zero times infinity is NaN, with one feature as with two.
func.func @main() {
  %a = stablehlo.constant dense<[[[1.0]]]> : tensor<1x1x1xf32>
  %k = stablehlo.constant dense<[[[0x7F800000]], [[1.0]]]> : tensor<2x1x1xf32>
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 0]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x1xf32>, tensor<2x1x1xf32>) -> tensor<1x1x1xf32>
  check.expect_eq_const %0, dense<0x7FC00000> : tensor<1x1x1xf32>
  return
}
