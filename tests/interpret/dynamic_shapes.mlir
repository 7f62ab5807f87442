// RUN: stablehlo-translate --interpret -split-input-file %s

// Slices whose bounds are known only at run time.
func.func @main() {
  %operand = stablehlo.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]> : tensor<3x4xi64>
  %start = stablehlo.constant dense<[0, 1]> : tensor<2xi64>
  %limit = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
  %strides = stablehlo.constant dense<[2, 2]> : tensor<2xi64>
  %result = "stablehlo.real_dynamic_slice"(%operand, %start, %limit, %strides)
      : (tensor<3x4xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x2xi64>
  %cast = stablehlo.reshape %result : (tensor<?x2xi64>) -> tensor<2x2xi64>
  check.expect_eq_const %cast, dense<[[1, 3], [9, 11]]> : tensor<2x2xi64>
  func.return
}

// -----

// A dimension that shrinks and grows again, up to its bound; the last elements may be any.
func.func @main() {
  %operand = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %0 = stablehlo.set_dimension_size %operand, %one, dim = 1
      : (tensor<2x3xi64>, tensor<i32>) -> tensor<2x?xi64, #stablehlo.bounds<?, 3>>
  %1 = stablehlo.set_dimension_size %0, %two, dim = 1
      : (tensor<2x?xi64, #stablehlo.bounds<?, 3>>, tensor<i32>) -> tensor<2x?xi64, #stablehlo.bounds<?, 3>>
  %found = stablehlo.get_dimension_size %1, dim = 1
      : (tensor<2x?xi64, #stablehlo.bounds<?, 3>>) -> tensor<i32>
  check.expect_eq_const %found, dense<2> : tensor<i32>
  %cast = stablehlo.reshape %1 : (tensor<2x?xi64, #stablehlo.bounds<?, 3>>) -> tensor<2x2xi64>
  %first = stablehlo.slice %cast [0:2, 0:1] : (tensor<2x2xi64>) -> tensor<2x1xi64>
  check.expect_eq_const %first, dense<[[1], [4]]> : tensor<2x1xi64>
  func.return
}

// -----

// A dimension that shrinks, and its size afterwards.
func.func @main() {
  %operand = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %size = stablehlo.constant dense<2> : tensor<i32>
  %result = stablehlo.set_dimension_size %operand, %size, dim = 1
      : (tensor<2x3xi64>, tensor<i32>) -> tensor<2x?xi64, #stablehlo.bounds<?, 3>>
  %found = stablehlo.get_dimension_size %result, dim = 1
      : (tensor<2x?xi64, #stablehlo.bounds<?, 3>>) -> tensor<i32>
  check.expect_eq_const %found, dense<2> : tensor<i32>
  %cast = stablehlo.reshape %result : (tensor<2x?xi64, #stablehlo.bounds<?, 3>>) -> tensor<2x2xi64>
  check.expect_eq_const %cast, dense<[[1, 2], [4, 5]]> : tensor<2x2xi64>
  func.return
}
