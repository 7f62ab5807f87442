// RUN: stablehlo-translate --interpret --split-input-file %s

// Sums of windows of two, padded by one, as JAX exports them for symbolic sizes.
func.func private @sum(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.add %a, %b : tensor<i32>
  return %0 : tensor<i32>
}
func.func @main() {
  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %init = stablehlo.constant dense<0> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %padding = stablehlo.constant dense<[[1, 0]]> : tensor<1x2xi32>
  %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %init, %two, %one, %one, %one, %padding) {
    called_computations = [@sum]
  } : (tensor<3xi32>, tensor<i32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<3xi32>
  check.expect_eq_const %0, dense<[1, 3, 5]> : tensor<3xi32>
  return
}

// -----

// A body of more than one op: a + 10 b.
func.func private @digits(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %0 = stablehlo.multiply %a, %ten : tensor<i32>
  %1 = stablehlo.add %0, %b : tensor<i32>
  return %1 : tensor<i32>
}
func.func @main() {
  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %init = stablehlo.constant dense<0> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %padding = stablehlo.constant dense<0> : tensor<1x2xi32>
  %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %init, %two, %one, %one, %one, %padding) {
    called_computations = [@digits]
  } : (tensor<3xi32>, tensor<i32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<[12, 23]> : tensor<2xi32>
  return
}
