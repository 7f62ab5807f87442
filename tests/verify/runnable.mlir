// RUN: stablehlo-opt %s -split-input-file -verify-diagnostics

// The verifier refuses programs that no run accepts.
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  // expected-error @+1 {{`ab,bc` has no `->`}}
  %0 = stablehlo.einsum %a, %b, config = "ab,bc" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
// -----
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  // expected-error @+1 {{`a` does not name the 2 dimensions of its operand}}
  %0 = stablehlo.einsum %a, %b, config = "a,bc->ac" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
// -----
func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x4xf32>) -> tensor<2x4xf32> {
  // expected-error @+1 {{a label of `ab,bc->ac` stands for the sizes 3 and 4}}
  %0 = stablehlo.einsum %a, %b, config = "ab,bc->ac" : (tensor<2x3xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
// -----
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x5xf32> {
  // expected-error @+1 {{the result must have shape [2, 4]; found [2, 5]}}
  %0 = stablehlo.einsum %a, %b, config = "ab,bc->ac" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}
// -----
func.func @f(%a: tensor<2x?xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = stablehlo.einsum %a, %b, config = "ab,bc->ac" : (tensor<2x?xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
// -----
func.func @f(%a: tensor<2x3xf32>) -> tensor<f32> {
  // expected-error @+1 {{a label of `aa->` stands for the sizes 2 and 3}}
  %0 = stablehlo.unary_einsum %a, config = "aa->" : (tensor<2x3xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// -----
func.func @f(%a: tensor<2x3xf32>, %i: tensor<5xi32>) -> tensor<2x5xi32> {
  // expected-error @+1 {{the result must have the elements of operand; found tensor<2x5xi32> and tensor<2x3xf32>}}
  %0 = "stablehlo.torch_index_select"(%a, %i) {dim = 1 : i64, batch_dims = 0 : i64} : (tensor<2x3xf32>, tensor<5xi32>) -> tensor<2x5xi32>
  return %0 : tensor<2x5xi32>
}
// -----
func.func @f(%a: tensor<2x3xf32>, %i: tensor<5xi32>) -> tensor<2x5xf32> {
  // expected-error @+1 {{dim is 2, out of range for operand of type tensor<2x3xf32>}}
  %0 = "stablehlo.torch_index_select"(%a, %i) {dim = 2 : i64, batch_dims = 0 : i64} : (tensor<2x3xf32>, tensor<5xi32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}
// -----
func.func @f(%a: tensor<2x3xf32>, %i: tensor<5xf32>) -> tensor<2x5xf32> {
  // expected-error @+1 {{index must have integers as elements; found tensor<5xf32>}}
  %0 = "stablehlo.torch_index_select"(%a, %i) {dim = 1 : i64, batch_dims = 0 : i64} : (tensor<2x3xf32>, tensor<5xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}
// -----
func.func @f(%a: tensor<6xcomplex<f32>>) -> tensor<6xcomplex<f32>> {
  // expected-error @+1 {{the last dimensions of operand must have shape [5]; found [6]}}
  %0 = stablehlo.fft %a, type = FFT, length = [5] : (tensor<6xcomplex<f32>>) -> tensor<6xcomplex<f32>>
  return %0 : tensor<6xcomplex<f32>>
}
// -----
func.func @f(%a: tensor<2x3xf32>, %i: tensor<4x1xi64>) -> tensor<4x2xf32> {
  // expected-error @+1 {{slice_sizes has 0 for dimension 1, which is dropped, but the result has elements}}
  %0 = "stablehlo.gather"(%a, %i) {
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>,
    slice_sizes = array<i64: 2, 0>
  } : (tensor<2x3xf32>, tensor<4x1xi64>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
// -----
func.func @f(%state: tensor<5xui64>) -> tensor<2xui32> {
  // expected-error @+1 {{initial_state must have 2 or 3 elements for PHILOX; found tensor<5xui64>}}
  %0, %1 = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<5xui64>) -> (tensor<5xui64>, tensor<2xui32>)
  return %1 : tensor<2xui32>
}
// -----
func.func @f(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{the shapes of the operands must be equal or 1 in each dimension, from the last; found tensor<2xf32>, tensor<3xf32>}}
  %0 = chlo.broadcast_add %a, %b : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
