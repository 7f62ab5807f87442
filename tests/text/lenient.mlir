// Programs that upstream reads although they say too much, or say it as they did once.

// RUN: stablehlo-opt %s 2>&1 | FileCheck %s

// CHECK: warning[parse]: stablehlo.broadcast_in_dim has no property `name`; it has broadcast_dimensions; it is left out
// CHECK-LABEL: func.func @unknown_property
func.func @unknown_property(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<4xf32>) -> tensor<4xf32>
  %0 = "stablehlo.broadcast_in_dim"(%a) <{broadcast_dimensions = array<i64: 0>, name = "x"}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @equal_attributes
func.func @equal_attributes(%x: tensor<1x4x4x1xf32>, %y: tensor<2x2x1x1xf32>) -> tensor<1x3x3x1xf32> {
  // CHECK: window = {stride = [1, 1], pad = {{\[\[}}0, 0], [0, 0]], lhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64, window_strides = dense<1> : tensor<2xi64>, padding = dense<0> : tensor<2x2xi64>, lhs_dilation = dense<1> : tensor<2xi64>}
    : (tensor<1x4x4x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x3x3x1xf32>
  return %0 : tensor<1x3x3x1xf32>
}

// An op in the generic form leaves the dialect whose ops need no prefix as it is.
// CHECK-LABEL: func.func @call_in_generic_region
func.func @call_in_generic_region(%p: tensor<i1>, %a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.if"(%p) ({
    // CHECK: func.call @unknown_property(%arg1) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = call @unknown_property(%a) : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @former_names
func.func @former_names(%a: tensor<4xf32>, %b: tensor<2xf32>) -> tensor<4xf32> {
  // CHECK: tensor.insert_slice %arg1 into %arg0[1] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %0 = "tensor.insert_slice"(%b, %a) {operand_segment_sizes = array<i32: 1, 1, 0, 0, 0>, static_offsets = array<i64: 1>, static_sizes = array<i64: 2>, static_strides = array<i64: 1>} : (tensor<2xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @schedule
func.func @schedule(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: stablehlo.custom_call @f(%arg0) {custom_call_schedule = #mhlo<custom_call_schedule LATEST>}
  %0 = mhlo.custom_call @f(%a) {custom_call_schedule = #mhlo<custom_call_schedule LATEST>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
