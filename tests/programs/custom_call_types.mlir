// RUN: not stablo run %s --input ones --input ones 2>&1 | FileCheck %s
// RUN: not stablo run %s --input ones --input ones --engine reference 2>&1 | FileCheck %s

// The verifier knows nothing of custom calls: their results must have the declared types in each engine.
// CHECK: error[type]: result 0 has type tensor<2x1x2xf32>, but its value has type tensor<1x2xf32>
func.func @main(%a: tensor<2x2xf32>, %b: tensor<1x2xf32>) -> tensor<2x1x2xf32> {
  %0 = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {diag = 85 : ui8, side = 82 : ui8, trans_x = 67 : ui8, uplo = 85 : ui8}}
    : (tensor<2x2xf32>, tensor<1x2xf32>) -> tensor<2x1x2xf32>
  return %0 : tensor<2x1x2xf32>
}
