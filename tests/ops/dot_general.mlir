// RUN: stablehlo-translate --interpret --split-input-file %s

// The example of the specification.
func.func @main() {
  %lhs = stablehlo.constant dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi64>
  %rhs = stablehlo.constant dense<[[[1, 0], [0, 1]], [[1, 0], [0, 1]]]> : tensor<2x2x2xi64>
  %result = stablehlo.dot_general %lhs, %rhs, batching_dims = [0] x [0], contracting_dims = [2] x [1]
    : (tensor<2x2x2xi64>, tensor<2x2x2xi64>) -> tensor<2x2x2xi64>
  check.expect_eq_const %result, dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi64>
  return
}

// -----

// Sums in the type of the result: 2 * 100 * 100 does not fit i8, and wraps where it must; small floats are rounded once
// (256 + 1 + 1 is 258 in bf16, 256 + 1 alone is 256).
func.func @main() {
  %x = stablehlo.constant dense<100> : tensor<2xi8>
  %wide = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<2xi8>, tensor<2xi8>) -> tensor<i32>
  check.expect_eq_const %wide, dense<20000> : tensor<i32>
  %narrow = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<2xi8>, tensor<2xi8>) -> tensor<i8>
  check.expect_eq_const %narrow, dense<32> : tensor<i8>
  %y = stablehlo.constant dense<[256.0, 1.0, 1.0]> : tensor<3xbf16>
  %one = stablehlo.constant dense<1.0> : tensor<3xbf16>
  %small = stablehlo.dot %y, %one : (tensor<3xbf16>, tensor<3xbf16>) -> tensor<bf16>
  check.expect_eq_const %small, dense<258.0> : tensor<bf16>
  return
}

// -----

// Nothing to contract: sums of no products.
func.func @main() {
  %lhs = stablehlo.constant dense<> : tensor<2x0xf32>
  %rhs = stablehlo.constant dense<> : tensor<0x3xf32>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [1] x [0] : (tensor<2x0xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  check.expect_eq_const %result, dense<0.0> : tensor<2x3xf32>
  return
}

// -----

// Sums are accumulated in the operand type if that is wider than the result type, then truncated:
// 0.75 * 2 + 0.75 * 2 = 3, and the real part of a complex sum of 2.25.
func.func @main() {
  %x = stablehlo.constant dense<0.75> : tensor<2xf32>
  %y = stablehlo.constant dense<2.0> : tensor<2xf32>
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<2xf32>, tensor<2xf32>) -> tensor<i32>
  check.expect_eq_const %0, dense<3> : tensor<i32>
  %z = stablehlo.constant dense<(0.75, 1.5)> : tensor<2xcomplex<f32>>
  %w = stablehlo.constant dense<[(2.0, 1.0), (2.0, -0.5)]> : tensor<2xcomplex<f32>>
  %1 = stablehlo.dot_general %z, %w, contracting_dims = [0] x [0]
    : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<i32>
  check.expect_eq_const %1, dense<2> : tensor<i32>
  %a = stablehlo.constant dense<[1.000000001, -1.0]> : tensor<2xf64>
  %b = stablehlo.constant dense<1.0> : tensor<2xf64>
  %2 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<2xf64>, tensor<2xf64>) -> tensor<f32>
  check.expect_eq_const %2, dense<1.00000008e-09> : tensor<f32>
  return
}
