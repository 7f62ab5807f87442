// Programs of TensorFlow and older JAX in MHLO are those of StableHLO and CHLO under another name. Before
// StableHLO 0.16 lists of integers were elements.
// RUN: stablo convert %s - | FileCheck %s
// RUN: stablo run %s --entry run | FileCheck %s --check-prefix=RESULT

// CHECK-LABEL: func.func @elementwise
// CHECK: chlo.erf %arg0 : tensor<2xf32> -> tensor<2xf32>
// CHECK: stablehlo.tan
// CHECK: chlo.acosh
// CHECK: stablehlo.compare LT,
// CHECK: stablehlo.select
func.func @elementwise(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = mhlo.erf %x : tensor<2xf32>
  %1 = mhlo.tan %0 : tensor<2xf32>
  %2 = "mhlo.acosh"(%1) : (tensor<2xf32>) -> tensor<2xf32>
  %3 = mhlo.compare LT, %2, %x, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %4 = mhlo.select %3, %2, %x : tensor<2xi1>, tensor<2xf32>
  return %4 : tensor<2xf32>
}

// CHECK-LABEL: func.func @attributes
// CHECK: stablehlo.broadcast_in_dim %arg0, dims = [1]
// CHECK: stablehlo.dot_general %{{.*}}, %{{.*}}, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT]
// CHECK: slice_sizes = array<i64: 1, 3>
// CHECK: stablehlo.create_token : !stablehlo.token
func.func @attributes(%x: tensor<3xf32>, %i: tensor<2xi32>) -> (tensor<2x3xf32>, !mhlo.token) {
  %0 = "mhlo.broadcast_in_dim"(%x) {broadcast_dimensions = dense<1> : tensor<1xi64>} : (tensor<3xf32>) -> tensor<3x3xf32>
  %1 = "mhlo.dot_general"(%0, %0) {
    dot_dimension_numbers = #mhlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>,
    precision_config = [#mhlo<precision DEFAULT>, #mhlo<precision DEFAULT>]
  } : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %2 = "mhlo.gather"(%1, %i) {
    dimension_numbers = #mhlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = dense<[1, 3]> : tensor<2xi64>
  } : (tensor<3x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  %3 = "mhlo.create_token"() : () -> !mhlo.token
  return %2, %3 : tensor<2x3xf32>, !mhlo.token
}

// CHECK-LABEL: func.func @run
// CHECK: stablehlo.custom_call @mhlo.topk(%cst) {mhlo.attributes = {k = 2 : i64, largest = true}, mhlo.version = 1 : i64}
// CHECK: {k = 1 : i64, largest = false}
// RESULT: output 0: tensor<2xf32>
// RESULT-NEXT: [5.0, 4.0]
// RESULT: output 1: tensor<2xi32>
// RESULT-NEXT: [1, 3]
// RESULT: output 2: tensor<1xf32>
// RESULT-NEXT: [1.0]
// RESULT: output 3: tensor<1xi32>
// RESULT-NEXT: [2]
func.func @run() -> (tensor<2xf32>, tensor<2xi32>, tensor<1xf32>, tensor<1xi32>) {
  %cst = mhlo.constant dense<[3.0, 5.0, 1.0, 4.0]> : tensor<4xf32>
  %0:2 = mhlo.topk(%cst, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
  %1:2 = mhlo.topk(%cst, k = 1, largest = false) : tensor<4xf32> -> (tensor<1xf32>, tensor<1xi32>)
  return %0#0, %0#1, %1#0, %1#1 : tensor<2xf32>, tensor<2xi32>, tensor<1xf32>, tensor<1xi32>
}

// MHLO nests the dimension numbers of a product in those of a ragged one.
// CHECK-LABEL: func.func @ragged
// CHECK: "chlo.ragged_dot"(%arg0, %arg1, %arg2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>}>
func.func @ragged(%lhs: tensor<2x11x5xf32>, %rhs: tensor<3x2x5x7xf32>, %sizes: tensor<3xi64>) -> tensor<2x11x7xf32> {
  %0 = "mhlo.ragged_dot"(%lhs, %rhs, %sizes) {
    ragged_dot_dimension_numbers = #mhlo.ragged_dot<
      dot_dimension_numbers = #mhlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1],
                                        lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>,
      lhs_ragged_dimensions = [1],
      rhs_group_dimensions = [0]>
  } : (tensor<2x11x5xf32>, tensor<3x2x5x7xf32>, tensor<3xi64>) -> tensor<2x11x7xf32>
  return %0 : tensor<2x11x7xf32>
}
