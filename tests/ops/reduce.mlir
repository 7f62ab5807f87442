// RUN: stablehlo-translate --interpret --split-input-file %s

// The example of the specification.
func.func @main() {
  %input = stablehlo.constant dense<[[0, 1, 2, 3, 4, 5]]> : tensor<1x6xi64>
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %result = stablehlo.reduce(%input init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<1x6xi64>, tensor<i64>) -> tensor<1xi64>
  check.expect_eq_const %result, dense<15> : tensor<1xi64>
  return
}

// -----

// The first maximum of 40 values and its position: a body of several ops over a long dimension, reduced in index order.
func.func @main() {
  %index = stablehlo.iota dim = 0 : tensor<40xi32>
  %seven = stablehlo.constant dense<7> : tensor<40xi32>
  %values = stablehlo.remainder %index, %seven : tensor<40xi32>
  %low = stablehlo.constant dense<-1> : tensor<i32>
  %result:2 = stablehlo.reduce(%values init: %low), (%index init: %low) across dimensions = [0]
    : (tensor<40xi32>, tensor<40xi32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    reducer(%a: tensor<i32>, %b: tensor<i32>) (%i: tensor<i32>, %j: tensor<i32>) {
      %keep = stablehlo.compare GE, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %0 = stablehlo.select %keep, %a, %b : tensor<i1>, tensor<i32>
      %1 = stablehlo.select %keep, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %0, %1 : tensor<i32>, tensor<i32>
    }
  check.expect_eq_const %result#0, dense<6> : tensor<i32>
  check.expect_eq_const %result#1, dense<6> : tensor<i32>
  return
}

// -----

// Of no elements, the initial value; the middle of three dimensions.
func.func @main() {
  %empty = stablehlo.constant dense<> : tensor<2x0xf32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %ones = stablehlo.reduce(%empty init: %one) applies stablehlo.add across dimensions = [1]
    : (tensor<2x0xf32>, tensor<f32>) -> tensor<2xf32>
  check.expect_eq_const %ones, dense<1.0> : tensor<2xf32>
  %cube = stablehlo.constant dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi8>
  %zero = stablehlo.constant dense<0> : tensor<i8>
  %sums = stablehlo.reduce(%cube init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<2x2x2xi8>, tensor<i8>) -> tensor<2x2xi8>
  check.expect_eq_const %sums, dense<[[4, 6], [12, 14]]> : tensor<2x2xi8>
  return
}
