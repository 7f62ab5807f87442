// RUN: stablehlo-translate --interpret --split-input-file %s

// The example of the specification; the index 9 is clamped.
func.func @main() {
  %operand = stablehlo.constant dense<[
    [[[1, 2], [3, 4], [5, 6], [7, 8]], [[9, 10], [11, 12], [13, 14], [15, 16]], [[17, 18], [19, 20], [21, 22], [23, 24]]],
    [[[25, 26], [27, 28], [29, 30], [31, 32]], [[33, 34], [35, 36], [37, 38], [39, 40]], [[41, 42], [43, 44], [45, 46], [47, 48]]]
  ]> : tensor<2x3x4x2xi32>
  %start_indices = stablehlo.constant dense<[
    [[[0, 0], [1, 0], [2, 1]], [[0, 1], [1, 1], [0, 9]]],
    [[[0, 0], [2, 1], [2, 2]], [[1, 2], [0, 1], [1, 0]]]
  ]> : tensor<2x2x3x2xi64>
  %result = "stablehlo.gather"(%operand, %start_indices) {
    dimension_numbers = #stablehlo.gather<
      offset_dims = [3, 4], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1],
      start_index_map = [2, 1], index_vector_dim = 3>,
    slice_sizes = array<i64: 1, 1, 2, 2>
  } : (tensor<2x3x4x2xi32>, tensor<2x2x3x2xi64>) -> tensor<2x2x3x2x2xi32>
  check.expect_eq_const %result, dense<[
    [[[[1, 2], [3, 4]], [[3, 4], [5, 6]], [[13, 14], [15, 16]]], [[[33, 34], [35, 36]], [[35, 36], [37, 38]], [[41, 42], [43, 44]]]],
    [[[[1, 2], [3, 4]], [[13, 14], [15, 16]], [[21, 22], [23, 24]]], [[[43, 44], [45, 46]], [[33, 34], [35, 36]], [[27, 28], [29, 30]]]]
  ]> : tensor<2x2x3x2x2xi32>
  return
}

// -----

// Slices stay in bounds however far off the indices are, also beyond the range of i64.
func.func @main() {
  %operand = stablehlo.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi8>
  %start_indices = stablehlo.constant dense<[0, 18446744073709551615, 9223372036854775808, 2]> : tensor<4xui64>
  %result = "stablehlo.gather"(%operand, %start_indices) {
    dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 2>
  } : (tensor<5xi8>, tensor<4xui64>) -> tensor<4x2xi8>
  check.expect_eq_const %result, dense<[[1, 2], [4, 5], [4, 5], [3, 4]]> : tensor<4x2xi8>
  return
}

// -----

// Slice sizes known only at run time.
func.func @main() {
  %operand = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %start_indices = stablehlo.constant dense<[[-7, 1], [1, 0]]> : tensor<2x2xi32>
  %slice_sizes = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %result = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) {
    dimension_numbers = #stablehlo.gather<
      offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>
  } : (tensor<2x3xi32>, tensor<2x2xi32>, tensor<2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %result, dense<[[2, 3], [4, 5]]> : tensor<2x2xi32>
  return
}

// -----

// Slices without elements, which begin behind the last element.
func.func @main() {
  %x = stablehlo.iota dim = 0 : tensor<72xi32>
  %operand = stablehlo.reshape %x : (tensor<72xi32>) -> tensor<2x4x9xi32>
  %indices = stablehlo.constant dense<9> : tensor<1x5x2xi32>
  %sizes = stablehlo.constant dense<[0, 1, 0]> : tensor<3xi32>
  %0 = "stablehlo.dynamic_gather"(%operand, %indices, %sizes) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>
  }> : (tensor<2x4x9xi32>, tensor<1x5x2xi32>, tensor<3xi32>) -> tensor<1x5x?xi32>
  %size = stablehlo.get_dimension_size %0, dim = 2 : (tensor<1x5x?xi32>) -> tensor<i32>
  check.expect_eq_const %size, dense<0> : tensor<i32>
  return
}
