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
  func.call @others() : () -> ()
  func.return
}

func.func private @others() {
  %x = stablehlo.constant dense<[[3.0, 1.0, 2.0], [5.0, 9.0, 5.0]]> : tensor<2x3xf32>
  %positions = stablehlo.iota dim = 0 : tensor<2x3xi32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %positions, %low, %none) {
    mhlo.backend_config = {reduction_dim = 0 : i64, top_k = 1 : i64, recall_target = 9.5e-01 : f32}
  } : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<1x3xf32>, tensor<1x3xi32>)
  check.expect_eq_const %0#0, dense<[[5.0, 9.0, 5.0]]> : tensor<1x3xf32>
  check.expect_eq_const %0#1, dense<1> : tensor<1x3xi32>
  %k = stablehlo.constant dense<2> : tensor<i32>
  %1:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %k) : (tensor<2x3xf32>, tensor<i32>) -> (tensor<2x?xf32>, tensor<2x?xi32>)
  %2 = stablehlo.reshape %1#0 : (tensor<2x?xf32>) -> tensor<4xf32>
  check.expect_eq_const %2, dense<[3.0, 2.0, 9.0, 5.0]> : tensor<4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
  %3 = stablehlo.custom_call @mhlo.sinh(%zero) : (tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq %3, %zero : tensor<2xf32>
  %placed = stablehlo.custom_call @LayoutConstraint(%zero) : (tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq %placed, %zero : tensor<2xf32>
  stablehlo.custom_call @dce_sink(%zero) {has_side_effect = true} : (tensor<2xf32>) -> ()
  stablehlo.custom_call @control_dep(%zero, %zero) {api_version = 4 : i32, has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
  %buffer = stablehlo.custom_call @AllocateBuffer() {has_side_effect = false} : () -> tensor<2xf32>
  check.expect_eq_const %buffer, dense<0.0> : tensor<2xf32>
  func.call @tridiagonal() : () -> ()
  func.return
}

// Singular systems: the last pivot is zero and becomes 2^-51, a rounding error of the largest element, and
// the only element of the last matrix becomes the smallest normal number. The values are JAX's.
func.func private @tridiagonal() {
  %lower = stablehlo.constant dense<[0.0, 2.0]> : tensor<2xf64>
  %diagonal = stablehlo.constant dense<[1.0, 4.0]> : tensor<2xf64>
  %upper = stablehlo.constant dense<[2.0, 0.0]> : tensor<2xf64>
  %b = stablehlo.constant dense<1.0> : tensor<2x1xf64>
  %0 = stablehlo.custom_call @tridiagonal_solve_perturbed_ffi(%lower, %diagonal, %upper, %b)
    : (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2x1xf64>) -> tensor<2x1xf64>
  check.expect_eq_const %0, dense<[[4503599627370497.0], [-2251799813685248.0]]> : tensor<2x1xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<1xf64>
  %three = stablehlo.constant dense<3.0> : tensor<1x1xf64>
  %1 = stablehlo.custom_call @tridiagonal_solve_perturbed_ffi(%zero, %zero, %zero, %three)
    : (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1x1xf64>) -> tensor<1x1xf64>
  check.expect_eq_const %1, dense<4.49423283715579e+307> : tensor<1x1xf64>
  func.return
}
