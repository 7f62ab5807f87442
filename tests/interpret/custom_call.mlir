// RUN: stablehlo-translate --interpret %s

func.func @main() {
  %x = stablehlo.constant dense<[[3, 1, 2], [5, 9, 5]]> : tensor<2x3xi32>
  %values, %indices = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = true}}
      : (tensor<2x3xi32>) -> (tensor<2x2xi32>, tensor<2x2xi32>)
  check.expect_eq_const %values, dense<[[3, 2], [9, 5]]> : tensor<2x2xi32>
  check.expect_eq_const %indices, dense<[[0, 2], [1, 0]]> : tensor<2x2xi32>
  %same = stablehlo.custom_call @Sharding(%x) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %equal = stablehlo.custom_call @check.eq(%same, %x) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<i1>
  check.expect_eq_const %equal, dense<true> : tensor<i1>
  func.return
}
