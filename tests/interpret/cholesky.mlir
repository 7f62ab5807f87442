// RUN: stablehlo-translate --interpret %s

// The example of the specification, and its upper counterpart.
func.func @main() {
  %a = stablehlo.constant dense<[[1.0, 2.0, 3.0], [2.0, 20.0, 26.0], [3.0, 26.0, 70.0]]> : tensor<3x3xf32>
  %lower = stablehlo.cholesky %a, lower = true : tensor<3x3xf32>
  check.expect_eq_const %lower, dense<[[1.0, 0.0, 0.0], [2.0, 4.0, 0.0], [3.0, 5.0, 6.0]]> : tensor<3x3xf32>
  %upper = stablehlo.cholesky %a : tensor<3x3xf32>
  check.expect_eq_const %upper, dense<[[1.0, 2.0, 3.0], [0.0, 4.0, 5.0], [0.0, 0.0, 6.0]]> : tensor<3x3xf32>
  func.return
}
