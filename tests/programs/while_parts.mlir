// RUN: stablehlo-translate --interpret --split-input-file %s

// A loop that reads rows of a value, multiplies with another, and writes rows of a third one.
func.func @main() {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<60> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %rows = stablehlo.iota dim = 0 : tensor<60x40xf32>
  // The identity.
  %i = stablehlo.iota dim = 0 : tensor<40x40xi32>
  %j = stablehlo.iota dim = 1 : tensor<40x40xi32>
  %equal = stablehlo.compare EQ, %i, %j : (tensor<40x40xi32>, tensor<40x40xi32>) -> tensor<40x40xi1>
  %matrix = stablehlo.convert %equal : (tensor<40x40xi1>) -> tensor<40x40xf32>
  %sums = stablehlo.broadcast_in_dim %none, dims = [] : (tensor<f32>) -> tensor<60x40xf32>
  %sum = stablehlo.broadcast_in_dim %none, dims = [] : (tensor<f32>) -> tensor<1x40xf32>
  %result:5 = stablehlo.while(%n = %zero, %x = %rows, %w = %matrix, %s = %sum, %y = %sums) : tensor<i32>, tensor<60x40xf32>, tensor<40x40xf32>, tensor<1x40xf32>, tensor<60x40xf32>
    cond {
      %0 = stablehlo.compare LT, %n, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %0 : tensor<i1>
    } do {
      %0 = stablehlo.dynamic_slice %x, %n, %zero, sizes = [1, 40] : (tensor<60x40xf32>, tensor<i32>, tensor<i32>) -> tensor<1x40xf32>
      %1 = stablehlo.dot_general %s, %w, contracting_dims = [1] x [0] : (tensor<1x40xf32>, tensor<40x40xf32>) -> tensor<1x40xf32>
      %2 = stablehlo.add %0, %1 : tensor<1x40xf32>
      %3 = stablehlo.dynamic_update_slice %y, %2, %n, %zero : (tensor<60x40xf32>, tensor<1x40xf32>, tensor<i32>, tensor<i32>) -> tensor<60x40xf32>
      %4 = stablehlo.add %n, %one : tensor<i32>
      stablehlo.return %4, %x, %w, %2, %3 : tensor<i32>, tensor<60x40xf32>, tensor<40x40xf32>, tensor<1x40xf32>, tensor<60x40xf32>
    }
  check.expect_eq_const %result#3, dense<1770.0> : tensor<1x40xf32>
  %first = stablehlo.slice %result#4 [0:4, 38:40] : (tensor<60x40xf32>) -> tensor<4x2xf32>
  check.expect_eq_const %first, dense<[[0.0, 0.0], [1.0, 1.0], [3.0, 3.0], [6.0, 6.0]]> : tensor<4x2xf32>
  %last = stablehlo.slice %result#4 [58:60, 0:2] : (tensor<60x40xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %last, dense<[[1711.0, 1711.0], [1770.0, 1770.0]]> : tensor<2x2xf32>
  return
}
