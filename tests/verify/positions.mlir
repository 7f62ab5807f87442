// RUN: stablehlo-opt %s -verify-diagnostics -split-input-file > /dev/null

// An invalid attribute in the dictionary: the error is at the dictionary.

func.func @f(%arg0: tensor<1x8x8x7xf32>, %arg1: tensor<3x3x7x16xf32>) -> tensor<1x6x6x16xf32> {
  %0 = stablehlo.convolution(%arg0, %arg1)
    dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {}
    // expected-error @+1 {{`feature_group_count` of `stablehlo.convolution` must be}}
    {
      batch_group_count = 1 : i64,
      feature_group_count = 0 : i64
    } : (tensor<1x8x8x7xf32>, tensor<3x3x7x16xf32>) -> tensor<1x6x6x16xf32>
  return %0 : tensor<1x6x6x16xf32>
}

// -----

func.func @f(%arg0: tensor<3xf32>) {
  %0 = stablehlo.reverse %arg0, dims = [0]
    // expected-error @+1 {{the attribute `dimensions` is given twice}}
    {dimensions = array<i32: 0>} : tensor<3xf32>
  return
}

// -----

// Errors within dimension numbers are reported first, then the position where parsing them ends.

module attributes {
  stablehlo.dot = #stablehlo.dot<
    lhs_batching_dimensions = [1],
    // expected-error @+2 {{the parameter `lhs_batching_dimensions` is given twice}}
    // expected-error @+1 {{the dimension numbers cannot be read}}
    lhs_batching_dimensions = [1]
  >
} {}

// -----

module attributes {
  // expected-error @+3 {{expected `>`}}
  // expected-error @+3 {{the dimension numbers cannot be read}}
  stablehlo.gather = #stablehlo.gather<
    offset_dims = [1]
    index_vector_dim = 1
  >
} {}

// -----

// An op's requirements on its region are checked before the nested ops.

func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<1xi32>, %arg2: tensor<f32>) -> tensor<4xf32> {
  // expected-error @+1 {{must take and return tensors of shape []; found f32, f32 and f32}}
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({
  ^bb0(%arg3: f32, %arg4: f32):
    %1 = "llvm.add"(%arg3, %arg4) : (f32, f32) -> f32
    "stablehlo.return"(%1) : (f32) -> ()
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 0>
  } : (tensor<4xf32>, tensor<1xi32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Result type inference fails for operands of different signedness: reported twice, as all inference failures.

func.func @f(%arg0: tensor<1x!quant.uniform<i8:f32, 1.0:17>>) {
  // expected-error @+2 {{}}
  // expected-error @+1 {{}}
  %0 = "stablehlo.add"(%arg0, %arg0) : (tensor<1x!quant.uniform<i8:f32, 1.0:17>>, tensor<1x!quant.uniform<i8:f32, 1.0:17>>) -> tensor<1x!quant.uniform<u8:f32, 1.0:17>>
  return
}

// -----

// Sizes are signless.

func.func @f(%arg0: tensor<3xcomplex<f32>>) {
  // expected-error @+1 {{attribute `fft_length` of `stablehlo.fft` must be}}
  %0 = "stablehlo.fft"(%arg0) {fft_length = array<si64: 3>, fft_type = #stablehlo<fft_type FFT>} : (tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  return
}
