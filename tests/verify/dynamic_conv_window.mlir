// The window of a `dynamic_conv` is checked although its padding is not known.

// RUN: stablehlo-opt %s --verify-diagnostics --split-input-file
// RUN: not stablo check %s

func.func @strides(%x: tensor<1x8x8x2xf32>, %w: tensor<3x3x2x16xf32>, %padding: tensor<2x2xi64>) -> tensor<1x?x?x16xf32> {
  // expected-error@+1 {{[dynamic_conv_c2]}}
  %0 = "stablehlo.dynamic_conv"(%x, %w, %padding) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, window_strides = array<i64: 1>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x16xf32>, tensor<2x2xi64>) -> tensor<1x?x?x16xf32>
  return %0 : tensor<1x?x?x16xf32>
}

// -----

func.func @stride(%x: tensor<1x8x8x2xf32>, %w: tensor<3x3x2x16xf32>, %padding: tensor<2x2xi64>) -> tensor<1x?x?x16xf32> {
  // expected-error@+1 {{[dynamic_conv_c3]}}
  %0 = "stablehlo.dynamic_conv"(%x, %w, %padding) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, window_strides = array<i64: 1, 0>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x16xf32>, tensor<2x2xi64>) -> tensor<1x?x?x16xf32>
  return %0 : tensor<1x?x?x16xf32>
}

// -----

func.func @base_dilations(%x: tensor<1x8x8x2xf32>, %w: tensor<3x3x2x16xf32>, %padding: tensor<2x2xi64>) -> tensor<1x?x?x16xf32> {
  // expected-error@+1 {{[dynamic_conv_c5]}}
  %0 = "stablehlo.dynamic_conv"(%x, %w, %padding) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, lhs_dilation = array<i64: 1>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x16xf32>, tensor<2x2xi64>) -> tensor<1x?x?x16xf32>
  return %0 : tensor<1x?x?x16xf32>
}

// -----

func.func @base_dilation(%x: tensor<1x8x8x2xf32>, %w: tensor<3x3x2x16xf32>, %padding: tensor<2x2xi64>) -> tensor<1x?x?x16xf32> {
  // expected-error@+1 {{[dynamic_conv_c6]}}
  %0 = "stablehlo.dynamic_conv"(%x, %w, %padding) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, lhs_dilation = array<i64: 0, 1>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x16xf32>, tensor<2x2xi64>) -> tensor<1x?x?x16xf32>
  return %0 : tensor<1x?x?x16xf32>
}

// -----

func.func @window_dilations(%x: tensor<1x8x8x2xf32>, %w: tensor<3x3x2x16xf32>, %padding: tensor<2x2xi64>) -> tensor<1x?x?x16xf32> {
  // expected-error@+1 {{[dynamic_conv_c7]}}
  %0 = "stablehlo.dynamic_conv"(%x, %w, %padding) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, rhs_dilation = array<i64: 1>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x16xf32>, tensor<2x2xi64>) -> tensor<1x?x?x16xf32>
  return %0 : tensor<1x?x?x16xf32>
}

// -----

func.func @window_dilation(%x: tensor<1x8x8x2xf32>, %w: tensor<3x3x2x16xf32>, %padding: tensor<2x2xi64>) -> tensor<1x?x?x16xf32> {
  // expected-error@+1 {{[dynamic_conv_c8]}}
  %0 = "stablehlo.dynamic_conv"(%x, %w, %padding) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, rhs_dilation = array<i64: 0, 1>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x16xf32>, tensor<2x2xi64>) -> tensor<1x?x?x16xf32>
  return %0 : tensor<1x?x?x16xf32>
}

// -----

func.func @reversal(%x: tensor<1x8x8x2xf32>, %w: tensor<3x3x2x16xf32>, %padding: tensor<2x2xi64>) -> tensor<1x?x?x16xf32> {
  // expected-error@+1 {{[dynamic_conv_c9]}}
  %0 = "stablehlo.dynamic_conv"(%x, %w, %padding) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, window_reversal = array<i1: false>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x16xf32>, tensor<2x2xi64>) -> tensor<1x?x?x16xf32>
  return %0 : tensor<1x?x?x16xf32>
}

// -----

func.func @size(%x: tensor<1x8x8x2xf32>, %w: tensor<0x3x2x16xf32>, %padding: tensor<2x2xi64>) -> tensor<1x?x?x16xf32> {
  // expected-error@+1 {{[dynamic_conv_c25]}}
  %0 = "stablehlo.dynamic_conv"(%x, %w, %padding) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, window_strides = array<i64: 1, 1>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<0x3x2x16xf32>, tensor<2x2xi64>) -> tensor<1x?x?x16xf32>
  return %0 : tensor<1x?x?x16xf32>
}

// -----

// Upstream's test programs have such strides.
func.func @dynamic_operand(%x: tensor<1x?x16xf32>, %w: tensor<4x16x16xf32>, %padding: tensor<1x2xi32>) -> tensor<1x?x16xf32> {
  %0 = "stablehlo.dynamic_conv"(%x, %w, %padding) {dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, window_strides = array<i64: 2, 2>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x?x16xf32>, tensor<4x16x16xf32>, tensor<1x2xi32>) -> tensor<1x?x16xf32>
  return %0 : tensor<1x?x16xf32>
}
