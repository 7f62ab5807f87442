// Violated shape constraints end a run with their message.
// RUN: stablehlo-translate --interpret --split-input-file --verify-diagnostics %s

func.func @main() {
  %s = shape.const_shape [2, 3] : tensor<2xindex>
  %t = shape.const_shape [4] : tensor<1xindex>
  // expected-error @+1 {{[[2, 3], [4]] cannot be broadcast together}}
  %w = shape.cstr_broadcastable %s, %t : tensor<2xindex>, tensor<1xindex>
  return
}

// -----

func.func @main() {
  %false = arith.constant false
  // expected-error @+1 {{sizes must be even}}
  %w = shape.cstr_require %false, "sizes must be even"
  return
}

// -----

func.func @main() {
  %holds = stablehlo.constant dense<false> : tensor<i1>
  %size = stablehlo.constant dense<7> : tensor<i32>
  // expected-error @+1 {{shape assertion failed: the size 7 must be even}}
  stablehlo.custom_call @shape_assertion(%holds, %size) {error_message = "the size {0} must be even", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  return
}

// -----

func.func @main() {
  %true = arith.constant true
  cf.assert %true, "true is true"
  %false = arith.constant false
  // expected-error @+1 {{false is true}}
  cf.assert %false, "false is true"
  return
}

// -----

// A dynamic shape may turn out to be inconsistent with a declared type.
func.func private @three() -> tensor<?xf32> {
  %sizes = stablehlo.constant dense<[3]> : tensor<1xi64>
  %0 = stablehlo.dynamic_iota %sizes, dim = 0 : (tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @main() {
  %0 = call @three() : () -> tensor<?xf32>
  // expected-error @+1 {{result 0 has type tensor<4xf32>, but its value has type tensor<3xf32>}}
  %1 = stablehlo.negate %0 : (tensor<?xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @main() {
  %sizes = stablehlo.constant dense<[3]> : tensor<1xi64>
  %true = stablehlo.constant dense<true> : tensor<i1>
  %0 = stablehlo.dynamic_iota %sizes, dim = 0 : (tensor<1xi64>) -> tensor<?xf32>
  // expected-error @+1 {{result 0 has type tensor<2xf32>, but its value has type tensor<3xf32>}}
  %1 = "stablehlo.if"(%true) ({
    stablehlo.return %0 : tensor<?xf32>
  }, {
    stablehlo.return %0 : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  return
}

// -----

// Batches of index vectors go with those of the operand.
func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<3x4xf32>
  %sizes = stablehlo.constant dense<[2, 1]> : tensor<2xi64>
  %indices = stablehlo.dynamic_iota %sizes, dim = 0 : (tensor<2xi64>) -> tensor<?x?xi64>
  // expected-error @+1 {{sizes of batching dimensions do not fit}}
  %0 = "stablehlo.gather"(%operand, %indices) {
    dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 2>
  } : (tensor<3x4xf32>, tensor<?x?xi64>) -> tensor<?x2xf32>
  return
}

// -----

// Slices without elements, of a dimension that the result does not have.
func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %indices = stablehlo.constant dense<9> : tensor<4x1xi64>
  %dynamic = stablehlo.optimization_barrier %indices : tensor<4x1xi64>
  %size = stablehlo.constant dense<[4, 1]> : tensor<2xi64>
  %unknown = stablehlo.dynamic_reshape %dynamic, %size : (tensor<4x1xi64>, tensor<2xi64>) -> tensor<?x1xi64>
  // expected-error @+1 {{slices of sizes [2, 0] have none along the dropped dimension 1}}
  %0 = "stablehlo.gather"(%operand, %unknown) {
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>,
    slice_sizes = array<i64: 2, 0>
  } : (tensor<2x3xf32>, tensor<?x1xi64>) -> tensor<?x2xf32>
  return
}

// -----

func.func @main() -> tensor<?xcomplex<f32>> {
  %operand = stablehlo.constant dense<(1.0, 0.0)> : tensor<6xcomplex<f32>>
  %size = stablehlo.constant dense<[6]> : tensor<1xi64>
  %unknown = stablehlo.dynamic_reshape %operand, %size : (tensor<6xcomplex<f32>>, tensor<1xi64>) -> tensor<?xcomplex<f32>>
  // expected-error @+1 {{the last dimensions have sizes [6], but [5] are required}}
  %0 = stablehlo.fft %unknown, type = FFT, length = [5] : (tensor<?xcomplex<f32>>) -> tensor<?xcomplex<f32>>
  return %0 : tensor<?xcomplex<f32>>
}
