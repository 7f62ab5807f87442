// RUN: stablehlo-opt --stablehlo-legalize-to-vhlo --mlir-print-op-generic %s | FileCheck %s
// RUN: stablehlo-opt %s > %t.0
// RUN: stablehlo-opt --stablehlo-legalize-to-vhlo %s | stablehlo-opt --vhlo-legalize-to-stablehlo > %t.1
// RUN: diff %t.0 %t.1
// RUN: stablehlo-translate --serialize --target=current %s | stablehlo-translate --deserialize > %t.2
// RUN: diff %t.0 %t.2

// VHLO has explicit defaults, and one attribute per parameter of dimension numbers.
// CHECK: "vhlo.func_v1"()
// CHECK-SAME: arg_attrs = #vhlo.array_v1<[]>
// CHECK: "vhlo.convolution_v1"
// CHECK-SAME: input_batch_dimension = #vhlo.integer_v1<0 : i64>
// CHECK-SAME: input_spatial_dimensions = #vhlo.tensor_v1<dense<[1, 2]> : tensor<2xi64>>
// CHECK-SAME: padding = #vhlo.tensor_v1<dense<0> : tensor<2x2xi64>>
// CHECK-SAME: precision_config = #vhlo.array_v1<[#vhlo<precision_v1 DEFAULT>, #vhlo<precision_v1 DEFAULT>]>
// CHECK-SAME: window_strides = #vhlo.tensor_v1<dense<1> : tensor<2xi64>>
// CHECK-SAME: -> !vhlo.tensor_v1<1x6x6x16x!vhlo.f32_v1>
func.func @convolution(%lhs: tensor<1x8x8x207xf32>, %rhs: tensor<3x3x207x16xf32>) -> tensor<1x6x6x16xf32> {
  %0 = stablehlo.convolution(%lhs, %rhs) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x8x8x207xf32>, tensor<3x3x207x16xf32>) -> tensor<1x6x6x16xf32>
  return %0 : tensor<1x6x6x16xf32>
}

// CHECK: "vhlo.custom_call_v2"
// CHECK-SAME: api_version = #vhlo<api_version_v1 API_VERSION_TYPED_FFI>
// CHECK-SAME: backend_config = #vhlo.dict_v1<{}>
// CHECK-SAME: has_side_effect = #vhlo.bool_v1<true>
func.func @custom_call(%arg0: tensor<?xi1, #stablehlo.bounds<4>>, %arg1: !stablehlo.token) {
  stablehlo.custom_call @target(%arg0, %arg1) {has_side_effect = true, api_version = 4 : i32}
    : (tensor<?xi1, #stablehlo.bounds<4>>, !stablehlo.token) -> ()
  return
}

// VHLO has a single terminator for functions and other regions.
// CHECK: "vhlo.if_v1"
// CHECK: "vhlo.return_v1"
// CHECK: "vhlo.return_v1"
// CHECK: "vhlo.return_v1"
func.func @if(%pred: tensor<i1>, %x: tensor<2x!quant.uniform<u8:f32, 5.000000e-01:3>>) -> tensor<2x!quant.uniform<u8:f32, 5.000000e-01:3>> {
  %0 = "stablehlo.if"(%pred) ({
    stablehlo.return %x : tensor<2x!quant.uniform<u8:f32, 5.000000e-01:3>>
  }, {
    stablehlo.return %x : tensor<2x!quant.uniform<u8:f32, 5.000000e-01:3>>
  }) : (tensor<i1>) -> tensor<2x!quant.uniform<u8:f32, 5.000000e-01:3>>
  return %0 : tensor<2x!quant.uniform<u8:f32, 5.000000e-01:3>>
}
