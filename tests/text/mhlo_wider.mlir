// Ops of MHLO that take more than StableHLO's and CHLO's become these where they can.

// RUN: stablehlo-opt %s > %t.0
// RUN: FileCheck %s < %t.0
// RUN: stablehlo-opt %t.0 | diff %t.0 -
// RUN: stablehlo-opt %t.0 --mlir-print-op-generic -o %t.generic
// RUN: stablehlo-opt %t.generic | diff %t.0 -
// RUN: stablehlo-opt %t.0 --emit-bytecode -o %t.bc
// RUN: stablehlo-opt %t.bc | diff %t.0 -

// CHECK-LABEL: func.func @all_to_all
func.func @all_to_all(%x: tensor<4x16xf32>, %y: tensor<4xf32>) -> (tensor<16x4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: "stablehlo.all_to_all"(%arg0) <{concat_dimension = 0 : i64, replica_groups = dense<{{.*}}> : tensor<1x4xi64>, split_count = 4 : i64, split_dimension = 1 : i64}>
  %0 = "mhlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 4 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<4x16xf32>) -> tensor<16x4xf32>
  // CHECK: "mhlo.all_to_all"(%arg1, %arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{.*}}> : tensor<1x2xi64>}> : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %1:2 = "mhlo.all_to_all"(%y, %y) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #mhlo.channel_handle<handle = 1, type = 1>} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0, %1#0, %1#1 : tensor<16x4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @dynamic_reshape
func.func @dynamic_reshape(%x: tensor<?xf16>, %shape: tensor<?xindex>, %one: tensor<1xindex>) -> (tensor<?xf16>, tensor<?xf16>) {
  // CHECK: mhlo.dynamic_reshape %arg0, %arg1 : (tensor<?xf16>, tensor<?xindex>) -> tensor<?xf16>
  %0 = "mhlo.dynamic_reshape"(%x, %shape) : (tensor<?xf16>, tensor<?xindex>) -> tensor<?xf16>
  // CHECK: stablehlo.dynamic_reshape %arg0, %arg2
  %1 = mhlo.dynamic_reshape %x, %one : (tensor<?xf16>, tensor<1xindex>) -> tensor<?xf16>
  return %0, %1 : tensor<?xf16>, tensor<?xf16>
}

// CHECK-LABEL: func.func @ragged_dot
func.func @ragged_dot(%lhs: tensor<2x11x5xf32>, %rhs: tensor<3x2x5x7xf32>, %sizes: tensor<3xi64>) -> tensor<2x11x7xf32> {
  // CHECK: "chlo.ragged_dot"(%arg0, %arg1, %arg2) <{precision_config = [#chlo<precision HIGHEST>, #chlo<precision DEFAULT>]
  %0 = "mhlo.ragged_dot"(%lhs, %rhs, %sizes) {
    ragged_dot_dimension_numbers = #mhlo.ragged_dot<
      dot_dimension_numbers = #mhlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>,
      lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>,
    precision_config = [#mhlo<precision HIGHEST>, #mhlo<precision DEFAULT>]
  } : (tensor<2x11x5xf32>, tensor<3x2x5x7xf32>, tensor<3xi64>) -> tensor<2x11x7xf32>
  return %0 : tensor<2x11x7xf32>
}

// CHECK-LABEL: func.func @convolution
func.func @convolution(%x: tensor<1x8x8x32x207xf32>, %k: tensor<3x3x32x207x16xf32>, %y: tensor<1x8x8x207xf32>, %l: tensor<3x3x207x16xf32>) -> (tensor<32x1x8x8x16xf32>, tensor<1x8x8x16xf32>) {
  // CHECK: mhlo.convolution(%arg0, %arg1)
  // CHECK-SAME: dim_numbers = [b, 0, 1, ?, f]x[0, 1, ?, i, o]->[?, b, 0, 1, f]
  %0 = "mhlo.convolution"(%x, %k) {
    dimension_numbers = #mhlo.conv<[b, 0, 1, ?, f]x[0, 1, ?, i, o]->[?, b, 0, 1, f]>,
    batch_group_count = 1 : i64, feature_group_count = 1 : i64, padding = dense<1> : tensor<2x2xi64>
  } : (tensor<1x8x8x32x207xf32>, tensor<3x3x32x207x16xf32>) -> tensor<32x1x8x8x16xf32>
  // CHECK: stablehlo.convolution(%arg2, %arg3)
  // CHECK-SAME: dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
  %1 = mhlo.convolution(%y, %l) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x207xf32>, tensor<3x3x207x16xf32>) -> tensor<1x8x8x16xf32>
  return %0, %1 : tensor<32x1x8x8x16xf32>, tensor<1x8x8x16xf32>
}

// CHECK-LABEL: func.func @dynamic_conv
func.func @dynamic_conv(%x: tensor<1x8x8x207x1xf32>, %k: tensor<3x3x207x16x1xf32>, %p: tensor<2x2xi64>) -> tensor<?x?x?x?x?xf32> {
  // Padding of two dimensions for three.
  // CHECK: "mhlo.dynamic_conv"(%arg0, %arg1, %arg2)
  %0 = "mhlo.dynamic_conv"(%x, %k, %p) {
    dimension_numbers = #mhlo.conv<[b, 0, 1, f, 2]x[0, 1, i, o, 2]->[b, 0, 1, f, 2]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64
  } : (tensor<1x8x8x207x1xf32>, tensor<3x3x207x16x1xf32>, tensor<2x2xi64>) -> tensor<?x?x?x?x?xf32>
  return %0 : tensor<?x?x?x?x?xf32>
}
