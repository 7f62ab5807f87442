// RUN: stablehlo-translate --interpret --split-input-file %s

// The example of the specification.
func.func @main() {
  %input = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64>
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %result = "stablehlo.reduce_window"(%input, %zero) ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %0 = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %0 : tensor<i64>
  }) {
    window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 1>,
    window_dilations = array<i64: 3, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>
  } : (tensor<3x2xi64>, tensor<i64>) -> tensor<2x2xi64>
  check.expect_eq_const %result, dense<[[0, 0], [3, 4]]> : tensor<2x2xi64>
  return
}

// -----

// Running sums; and padding that crops as much as it adds, however much that is.
func.func @main() {
  %input = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi64>
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %sums = "stablehlo.reduce_window"(%input, %zero) ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %0 = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %0 : tensor<i64>
  }) {
    window_dimensions = array<i64: 4>, padding = dense<[[3, 0]]> : tensor<1x2xi64>
  } : (tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
  check.expect_eq_const %sums, dense<[1, 3, 6, 10]> : tensor<4xi64>
  %none = "stablehlo.reduce_window"(%input, %zero) ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %0 = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %0 : tensor<i64>
  }) {
    window_dimensions = array<i64: 2>,
    padding = dense<[[-9223372036854775808, 9223372036854775807]]> : tensor<1x2xi64>
  } : (tensor<4xi64>, tensor<i64>) -> tensor<2xi64>
  check.expect_eq_const %none, dense<0> : tensor<2xi64>
  return
}

// -----

// Dilation has no effect on fewer than two elements, nor a stride on one window.
func.func @main() {
  %x = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
  %one = stablehlo.constant dense<7> : tensor<1xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = "stablehlo.reduce_window"(%x, %zero) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %sum = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %sum : tensor<i32>
  }) {window_dimensions = array<i64: 1>, window_dilations = array<i64: 9223372036854775807>}
    : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<[3, 4]> : tensor<2xi32>
  %1 = "stablehlo.reduce_window"(%one, %zero) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %sum = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %sum : tensor<i32>
  }) {
    window_dimensions = array<i64: 1>, window_strides = array<i64: 9223372036854775807>,
    base_dilations = array<i64: 9223372036854775807>
  } : (tensor<1xi32>, tensor<i32>) -> tensor<1xi32>
  check.expect_eq_const %1, dense<7> : tensor<1xi32>
  %2 = stablehlo.pad %one, %zero, low = [2], high = [0], interior = [9223372036854775807]
    : (tensor<1xi32>, tensor<i32>) -> tensor<3xi32>
  check.expect_eq_const %2, dense<[0, 0, 7]> : tensor<3xi32>
  return
}
