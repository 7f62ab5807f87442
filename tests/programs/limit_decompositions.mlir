// A batch of decompositions takes the memory of its tensors, 2 MB here, and working memory for one matrix.
// RUN: stablo run %s --max-memory 2300K --input zeros | FileCheck %s
// RUN: not stablo run %s --max-memory 1900K --input zeros 2>&1 | FileCheck %s --check-prefix=LESS

// Zeros are not positive definite from the first row on, which is what each `info` says.
// CHECK: 1000
// LESS: error[memory_limit]
func.func @main(%x: tensor<1000x16x16xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %info:2 = stablehlo.custom_call @lapack_spotrf_ffi(%x) {mhlo.backend_config = {uplo = 76 : ui8}, api_version = 4 : i32} : (tensor<1000x16x16xf32>) -> (tensor<1000x16x16xf32>, tensor<1000xi32>)
  %0 = stablehlo.convert %info#1 : (tensor<1000xi32>) -> tensor<1000xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1000xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
