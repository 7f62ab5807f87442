// RUN: stablehlo-translate --interpret --split-input-file %s

// A product of matrices with its result transposed; a trace; sums of rows.
func.func @main() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %product = stablehlo.einsum %x, %x, config = "ab,bc->ca" : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %product, dense<[[7, 15], [10, 22]]> : tensor<2x2xi32>
  %trace = stablehlo.unary_einsum %x, config = "aa->" : (tensor<2x2xi32>) -> tensor<i32>
  check.expect_eq_const %trace, dense<5> : tensor<i32>
  %rows = stablehlo.unary_einsum %x, config = "ab->a" : (tensor<2x2xi32>) -> tensor<2xi32>
  check.expect_eq_const %rows, dense<[3, 7]> : tensor<2xi32>
  return
}

// -----

// New dimensions come first.
func.func @main() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %0 = stablehlo.broadcast %x, sizes = [2, 1] : (tensor<2xi32>) -> tensor<2x1x2xi32>
  check.expect_eq_const %0, dense<[[[1, 2]], [[1, 2]]]> : tensor<2x1x2xi32>
  return
}

// -----

// Columns 2, 0 and 1; the index 9 is clamped. Then one of each row, where rows are a batch.
func.func @main() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %columns = stablehlo.constant dense<[9, 0, 1]> : tensor<3xi32>
  %0 = "stablehlo.torch_index_select"(%x, %columns) {dim = 1 : i64, batch_dims = 0 : i64}
    : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %0, dense<[[3, 1, 2], [6, 4, 5]]> : tensor<2x3xi32>
  %each = stablehlo.constant dense<[[2], [0]]> : tensor<2x1xi32>
  %1 = "stablehlo.torch_index_select"(%x, %each) {dim = 1 : i64, batch_dims = 1 : i64}
    : (tensor<2x3xi32>, tensor<2x1xi32>) -> tensor<2x1xi32>
  check.expect_eq_const %1, dense<[[3], [4]]> : tensor<2x1xi32>
  // A negative number of batch dimensions counts from the rank of the index: 1, too.
  %2 = "stablehlo.torch_index_select"(%x, %each) {dim = -1 : i64, batch_dims = -1 : i64}
    : (tensor<2x3xi32>, tensor<2x1xi32>) -> tensor<2x1xi32>
  check.expect_eq %2, %1 : tensor<2x1xi32>
  %blocks = stablehlo.constant dense<[[[100, 101], [110, 111]], [[200, 201], [210, 211]]]> : tensor<2x2x2xi32>
  %index = stablehlo.constant dense<[[0, 1], [0, 0]]> : tensor<2x2xi32>
  %3 = "stablehlo.torch_index_select"(%blocks, %index) {dim = 1 : i64, batch_dims = -1 : i64}
    : (tensor<2x2x2xi32>, tensor<2x2xi32>) -> tensor<2x2x2xi32>
  check.expect_eq_const %3, dense<[[[100, 101], [110, 111]], [[200, 201], [200, 201]]]> : tensor<2x2x2xi32>
  return
}
