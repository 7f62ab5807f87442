// Values without vectors take no memory for the vectors, which are results nevertheless: eigenvalues and singular
// values of a batch of 1 MB, whose results have 2 and 1 MB more for each kind of vectors.
// RUN: stablo run %s --entry eigenvalues --max-memory 1300K --input zeros | FileCheck %s
// RUN: stablo run %s --entry singular --max-memory 1300K --input zeros | FileCheck %s
// RUN: not stablo run %s --entry eigenvalues --max-memory 1000K --input zeros 2>&1 | FileCheck %s --check-prefix=LESS
// RUN: not stablo run %s --entry vectors --max-memory 1300K --input zeros 2>&1 | FileCheck %s --check-prefix=LESS
// RUN: stablo run %s --entry vectors --max-memory 3400K --input zeros | FileCheck %s

// CHECK: [0, 0
// LESS: would exceed the limit
func.func @eigenvalues(%x: tensor<1000x16x16xf32>) -> tensor<1000xi32> {
  %0:5 = stablehlo.custom_call @lapack_sgeev_ffi(%x) {mhlo.backend_config = {compute_left = 78 : ui8, compute_right = 78 : ui8}, api_version = 4 : i32} : (tensor<1000x16x16xf32>) -> (tensor<1000x16xf32>, tensor<1000x16xf32>, tensor<1000x16x16xcomplex<f32>>, tensor<1000x16x16xcomplex<f32>>, tensor<1000xi32>)
  return %0#4 : tensor<1000xi32>
}

func.func @singular(%x: tensor<1000x16x16xf32>) -> tensor<1000xi32> {
  %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%x) {mhlo.backend_config = {mode = 78 : ui8}, api_version = 4 : i32} : (tensor<1000x16x16xf32>) -> (tensor<1000x16x16xf32>, tensor<1000x16xf32>, tensor<1000x16x16xf32>, tensor<1000x16x16xf32>, tensor<1000xi32>)
  return %0#4 : tensor<1000xi32>
}

func.func @vectors(%x: tensor<1000x16x16xf32>) -> tensor<1000xi32> {
  %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%x) {mhlo.backend_config = {mode = 83 : ui8}, api_version = 4 : i32} : (tensor<1000x16x16xf32>) -> (tensor<1000x16x16xf32>, tensor<1000x16xf32>, tensor<1000x16x16xf32>, tensor<1000x16x16xf32>, tensor<1000xi32>)
  return %0#4 : tensor<1000xi32>
}
