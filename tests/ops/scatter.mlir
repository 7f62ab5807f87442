// RUN: stablehlo-translate --interpret --split-input-file %s

// The example of the specification: out-of-bounds elements are skipped, repeated ones are added repeatedly.
func.func @main() {
  %input = stablehlo.constant dense<[
    [[[1, 2], [3, 4], [5, 6], [7, 8]], [[9, 10], [11, 12], [13, 14], [15, 16]], [[17, 18], [19, 20], [21, 22], [23, 24]]],
    [[[25, 26], [27, 28], [29, 30], [31, 32]], [[33, 34], [35, 36], [37, 38], [39, 40]], [[41, 42], [43, 44], [45, 46], [47, 48]]]
  ]> : tensor<2x3x4x2xi64>
  %indices = stablehlo.constant dense<[
    [[[0, 0], [1, 0], [2, 1]], [[0, 1], [1, 1], [0, 9]]],
    [[[0, 0], [2, 1], [2, 2]], [[1, 2], [0, 1], [1, 0]]]
  ]> : tensor<2x2x3x2xi64>
  %update = stablehlo.constant dense<1> : tensor<2x2x3x2x2xi64>
  %result = "stablehlo.scatter"(%input, %indices, %update) ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %0 = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %0 : tensor<i64>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [3, 4], inserted_window_dims = [1], input_batching_dims = [0],
      scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 3>
  } : (tensor<2x3x4x2xi64>, tensor<2x2x3x2xi64>, tensor<2x2x3x2x2xi64>) -> tensor<2x3x4x2xi64>
  check.expect_eq_const %result, dense<[
    [[[3, 4], [6, 7], [6, 7], [7, 8]], [[9, 10], [11, 12], [15, 16], [17, 18]], [[17, 18], [19, 20], [22, 23], [24, 25]]],
    [[[25, 26], [28, 29], [30, 31], [31, 32]], [[35, 36], [38, 39], [38, 39], [39, 40]], [[41, 42], [44, 45], [46, 47], [47, 48]]]
  ]> : tensor<2x3x4x2xi64>
  return
}

// -----

// A body of several ops, two inputs, and one element updated three times: 2x + u in order, and the last u.
func.func @main() {
  %x = stablehlo.constant dense<[1, 10]> : tensor<2xi32>
  %y = stablehlo.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %indices = stablehlo.constant dense<[[0], [1], [0], [-1], [0], [2]]> : tensor<6x1xi32>
  %u = stablehlo.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
  %v = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
  %result:2 = "stablehlo.scatter"(%x, %y, %indices, %u, %v) ({
  ^bb0(%a: tensor<i32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<f32>):
    %0 = stablehlo.add %a, %a : tensor<i32>
    %1 = stablehlo.add %0, %c : tensor<i32>
    stablehlo.return %1, %d : tensor<i32>, tensor<f32>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  } : (tensor<2xi32>, tensor<2xf32>, tensor<6x1xi32>, tensor<6xi32>, tensor<6xf32>) -> (tensor<2xi32>, tensor<2xf32>)
  check.expect_eq_const %result#0, dense<[23, 22]> : tensor<2xi32>
  check.expect_eq_const %result#1, dense<[5.0, 2.0]> : tensor<2xf32>
  return
}
