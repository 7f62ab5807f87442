// The verifier accepts what upstream's does; `check` refuses programs without a meaning, too, as does
// what gives them one.

// RUN: stablehlo-opt %s > /dev/null
// RUN: not stablo check %s 2>&1 | FileCheck %s
// RUN: not stablo run %s --entry unlike --input zeros --input zeros 2>&1 | FileCheck --check-prefix=EXPAND %s
// RUN: not stablehlo-opt --stablehlo-legalize-deprecated-ops --chlo-legalize-to-stablehlo %s 2>&1 | FileCheck --check-prefix=EXPAND %s

// EXPAND: error[broadcast_dimensions]: broadcast_dimensions [0] do not map

// CHECK: :[[#@LINE+2]]:{{[0-9]+}}: error[rng_bit_generator_i2]: initial_state must be a vector of ui64; found tensor<2xi32>
func.func @of_i32(%state: tensor<2xi32>) -> tensor<3xui32> {
  %0, %1 = stablehlo.rng_bit_generator %state, algorithm = DEFAULT : (tensor<2xi32>) -> (tensor<2xi32>, tensor<3xui32>)
  return %1 : tensor<3xui32>
}
// CHECK: :[[#@LINE+2]]:{{[0-9]+}}: error[rng_bit_generator_i2]: initial_state must be a vector of ui64; found tensor<1x2xf32>
func.func @of_matrix(%state: tensor<1x2xf32>) -> tensor<3xui32> {
  %0, %1 = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<1x2xf32>) -> (tensor<1x2xf32>, tensor<3xui32>)
  return %1 : tensor<3xui32>
}
// CHECK: :[[#@LINE+2]]:{{[0-9]+}}: error[broadcast_dimensions]: broadcast_dimensions [0] do not map
func.func @unlike(%a: tensor<2x3xf32>, %b: tensor<4xf32>) -> tensor<2x3xf32> {
  %0 = chlo.broadcast_add %a, %b {broadcast_dimensions = array<i64: 0>} : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// CHECK: :[[#@LINE+2]]:{{[0-9]+}}: error[broadcast_dimensions]: broadcast_dimensions [0, 0] do not map
func.func @repeated(%a: tensor<2x2x3xi32>, %b: tensor<2x2xi32>) -> tensor<2x2x3xi1> {
  %0 = chlo.broadcast_compare %a, %b {broadcast_dimensions = array<i64: 0, 0>, comparison_direction = #chlo<comparison_direction LT>} : (tensor<2x2x3xi32>, tensor<2x2xi32>) -> tensor<2x2x3xi1>
  return %0 : tensor<2x2x3xi1>
}
// A signed state has the same bits, and these dimensions fit.
func.func @right(%state: tensor<3xi64>, %a: tensor<2x3xf32>, %b: tensor<2xf32>) -> (tensor<i8>, tensor<2x3xf32>) {
  %0, %1 = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<3xi64>) -> (tensor<3xi64>, tensor<i8>)
  %2 = chlo.broadcast_add %a, %b {broadcast_dimensions = array<i64: 0>} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return %1, %2 : tensor<i8>, tensor<2x3xf32>
}
func.func @f1(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error[{{[a-z_0-9]+}}]: `ab,bc` has no `->`
  %0 = stablehlo.einsum %a, %b, config = "ab,bc" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
func.func @f2(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error[{{[a-z_0-9]+}}]: `a` does not name the 2 dimensions of its operand
  %0 = stablehlo.einsum %a, %b, config = "a,bc->ac" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
func.func @f3(%a: tensor<2x3xf32>, %b: tensor<4x4xf32>) -> tensor<2x4xf32> {
  // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error[{{[a-z_0-9]+}}]: a label of `ab,bc->ac` stands for the sizes 3 and 4
  %0 = stablehlo.einsum %a, %b, config = "ab,bc->ac" : (tensor<2x3xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
func.func @f4(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x5xf32> {
  // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error[{{[a-z_0-9]+}}]: the result must have shape [2, 4]; found [2, 5]
  %0 = stablehlo.einsum %a, %b, config = "ab,bc->ac" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}
func.func @f5(%a: tensor<2x?xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = stablehlo.einsum %a, %b, config = "ab,bc->ac" : (tensor<2x?xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
func.func @f6(%a: tensor<2x3xf32>) -> tensor<f32> {
  // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error[{{[a-z_0-9]+}}]: a label of `aa->` stands for the sizes 2 and 3
  %0 = stablehlo.unary_einsum %a, config = "aa->" : (tensor<2x3xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @f7(%a: tensor<2x3xf32>, %i: tensor<5xi32>) -> tensor<2x5xi32> {
  // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error[{{[a-z_0-9]+}}]: the result must have the elements of operand; found tensor<2x5xi32> and tensor<2x3xf32>
  %0 = "stablehlo.torch_index_select"(%a, %i) {dim = 1 : i64, batch_dims = 0 : i64} : (tensor<2x3xf32>, tensor<5xi32>) -> tensor<2x5xi32>
  return %0 : tensor<2x5xi32>
}
func.func @f8(%a: tensor<2x3xf32>, %i: tensor<5xi32>) -> tensor<2x5xf32> {
  // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error[{{[a-z_0-9]+}}]: dim is 2, out of range for operand of type tensor<2x3xf32>
  %0 = "stablehlo.torch_index_select"(%a, %i) {dim = 2 : i64, batch_dims = 0 : i64} : (tensor<2x3xf32>, tensor<5xi32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}
func.func @f9(%a: tensor<2x3xf32>, %i: tensor<5xf32>) -> tensor<2x5xf32> {
  // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error[{{[a-z_0-9]+}}]: index must have integers as elements; found tensor<5xf32>
  %0 = "stablehlo.torch_index_select"(%a, %i) {dim = 1 : i64, batch_dims = 0 : i64} : (tensor<2x3xf32>, tensor<5xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}
func.func @f10(%a: tensor<6xcomplex<f32>>) -> tensor<6xcomplex<f32>> {
  // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error[{{[a-z_0-9]+}}]: the last dimensions of operand must have shape [5]; found [6]
  %0 = stablehlo.fft %a, type = FFT, length = [5] : (tensor<6xcomplex<f32>>) -> tensor<6xcomplex<f32>>
  return %0 : tensor<6xcomplex<f32>>
}
func.func @f11(%a: tensor<2x3xf32>, %i: tensor<4x1xi64>) -> tensor<4x2xf32> {
  // CHECK: error[gather_c22]: slice_sizes has 0 for dimension 1, which is dropped, but the result has elements
  %0 = "stablehlo.gather"(%a, %i) {
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>,
    slice_sizes = array<i64: 2, 0>
  } : (tensor<2x3xf32>, tensor<4x1xi64>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
func.func @f12(%state: tensor<5xui64>) -> tensor<2xui32> {
  // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error[{{[a-z_0-9]+}}]: initial_state must have 2 or 3 elements for PHILOX; found tensor<5xui64>
  %0, %1 = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<5xui64>) -> (tensor<5xui64>, tensor<2xui32>)
  return %1 : tensor<2xui32>
}
func.func @f13(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<2xf32> {
  // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error[{{[a-z_0-9]+}}]: the shapes of the operands must be equal or 1 in each dimension, from the last; found tensor<2xf32>, tensor<3xf32>
  %0 = chlo.broadcast_add %a, %b : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// CHECK: :[[#@LINE+2]]:{{[0-9]+}}: error[all_gather_c5]: use_global_device_ids requires a channel_handle whose handle is above 0; found 0
func.func @without_channel(%x: tensor<4xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids} : (tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK: :[[#@LINE+2]]:{{[0-9]+}}: error[broadcast]: the shapes of the operands must be equal or 1
func.func @select(%p: tensor<2xi1>, %a: tensor<3xf32>, %b: tensor<4xf32>) -> tensor<7xf32> {
  %0 = chlo.broadcast_select %p, %a, %b : (tensor<2xi1>, tensor<3xf32>, tensor<4xf32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}
func.func @padded(%x: tensor<1x4x1xf32>, %k: tensor<3x1x1xf32>) -> tensor<1x4x1xf32> {
  %p = stablehlo.constant dense<2> : tensor<1x2xi64>
  // CHECK: error[dynamic_conv_c25]: the result must have shape [1, 6, 1]; found [1, 4, 1]
  %0 = "stablehlo.dynamic_conv"(%x, %k, %p) {
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
    feature_group_count = 1 : i64, batch_group_count = 1 : i64
  } : (tensor<1x4x1xf32>, tensor<3x1x1xf32>, tensor<1x2xi64>) -> tensor<1x4x1xf32>
  return %0 : tensor<1x4x1xf32>
}
// CHECK: 19 errors
