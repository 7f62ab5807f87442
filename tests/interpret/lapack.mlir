// RUN: stablehlo-translate --interpret --split-input-file %s

// Rows are exchanged: the second one comes first, and a quarter of it is in the other one.
func.func @main() {
  %a = stablehlo.constant dense<[[[1.0, 2.0], [4.0, 6.0]], [[1.0, 2.0], [2.0, 4.0]]]> : tensor<2x2x2xf32>
  %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {mhlo.backend_config = {}}
    : (tensor<2x2x2xf32>) -> (tensor<2x2x2xf32>, tensor<2x2xi32>, tensor<2xi32>)
  check.expect_eq_const %0#0, dense<[[[4.0, 6.0], [0.25, 0.5]], [[2.0, 4.0], [0.5, 0.0]]]> : tensor<2x2x2xf32>
  check.expect_eq_const %0#1, dense<2> : tensor<2x2xi32>
  // The second matrix is singular.
  check.expect_eq_const %0#2, dense<[0, 2]> : tensor<2xi32>
  return
}

// -----

// The example of the specification of cholesky. The upper triangle stays.
func.func @main() {
  %a = stablehlo.constant dense<[[1.0, 9.0, 9.0], [2.0, 20.0, 9.0], [3.0, 26.0, 70.0]]> : tensor<3x3xf64>
  %0:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}}
    : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<i32>)
  check.expect_eq_const %0#0, dense<[[1.0, 9.0, 9.0], [2.0, 4.0, 9.0], [3.0, 5.0, 6.0]]> : tensor<3x3xf64>
  check.expect_eq_const %0#1, dense<0> : tensor<i32>
  // [2 + i, 1] * a^H = [1, i], where a is upper and its diagonal is not read: it is [1, i; 0, 1].
  %u = stablehlo.constant dense<[[(7.0, 7.0), (0.0, 1.0)], [(7.0, 7.0), (7.0, 7.0)]]> : tensor<2x2xcomplex<f32>>
  %b = stablehlo.constant dense<[[(2.0, 0.0), (1.0, 0.0)]]> : tensor<1x2xcomplex<f32>>
  %1 = stablehlo.custom_call @lapack_ctrsm_ffi(%u, %b) {
    mhlo.backend_config = {diag = 85 : ui8, side = 82 : ui8, trans_x = 67 : ui8, uplo = 85 : ui8}
  } : (tensor<2x2xcomplex<f32>>, tensor<1x2xcomplex<f32>>) -> tensor<1x2xcomplex<f32>>
  check.expect_eq_const %1, dense<[[(2.0, 1.0), (1.0, 0.0)]]> : tensor<1x2xcomplex<f32>>
  return
}

// -----

// A reflection takes (3, 4) to (-5, 0); its vector is (1, 4 / 8), its factor 8 / 5.
func.func @main() {
  %a = stablehlo.constant dense<[[3.0], [4.0]]> : tensor<2x1xf64>
  %qr:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%a) {mhlo.backend_config = {}}
    : (tensor<2x1xf64>) -> (tensor<2x1xf64>, tensor<1xf64>)
  check.expect_eq_const %qr#0, dense<[[-5.0], [0.5]]> : tensor<2x1xf64>
  check.expect_eq_const %qr#1, dense<1.6> : tensor<1xf64>
  %q = stablehlo.custom_call @lapack_dorgqr_ffi(%qr#0, %qr#1) {mhlo.backend_config = {}}
    : (tensor<2x1xf64>, tensor<1xf64>) -> tensor<2x1xf64>
  check.expect_almost_eq_const %q, dense<[[-0.6], [-0.8]]> : tensor<2x1xf64>
  %r = stablehlo.custom_call @lapack_dormqr_ffi(%qr#0, %qr#1, %a) {mhlo.backend_config = {left = true, transpose = true}}
    : (tensor<2x1xf64>, tensor<1xf64>, tensor<2x1xf64>) -> tensor<2x1xf64>
  check.expect_almost_eq_const %r, dense<[[-5.0], [0.0]]> : tensor<2x1xf64>
  return
}

// -----

// The same as TensorFlow exports it, and of complex numbers.
func.func @main() {
  %a = stablehlo.constant dense<[[3.0], [4.0]]> : tensor<2x1xf32>
  %qr:2 = stablehlo.custom_call @Qr(%a) : (tensor<2x1xf32>) -> (tensor<2x1xf32>, tensor<1xf32>)
  check.expect_eq_const %qr#0, dense<[[-5.0], [0.5]]> : tensor<2x1xf32>
  %q = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%qr#0, %qr#1)
    : (tensor<2x1xf32>, tensor<1xf32>) -> tensor<2x1xf32>
  check.expect_almost_eq_const %q, dense<[[-0.6], [-0.8]]> : tensor<2x1xf32>
  %c = stablehlo.constant dense<[[(3.0, 0.0)], [(0.0, 4.0)]]> : tensor<2x1xcomplex<f64>>
  %z:2 = stablehlo.custom_call @Qr(%c)
    : (tensor<2x1xcomplex<f64>>) -> (tensor<2x1xcomplex<f64>>, tensor<1xcomplex<f64>>)
  check.expect_eq_const %z#0, dense<[[(-5.0, 0.0)], [(0.0, 0.5)]]> : tensor<2x1xcomplex<f64>>
  return
}

// -----

// The larger column comes first.
func.func @main() {
  %a = stablehlo.constant dense<[[1.0, 3.0], [0.0, 4.0]]> : tensor<2x2xf32>
  %order = stablehlo.constant dense<0> : tensor<2xi32>
  %0:3 = stablehlo.custom_call @lapack_sgeqp3_ffi(%a, %order) {mhlo.backend_config = {}}
    : (tensor<2x2xf32>, tensor<2xi32>) -> (tensor<2x2xf32>, tensor<2xi32>, tensor<2xf32>)
  check.expect_eq_const %0#1, dense<[2, 1]> : tensor<2xi32>
  check.expect_almost_eq_const %0#0, dense<[[-5.0, -0.6], [0.5, -0.8]]> : tensor<2x2xf32>
  return
}

// -----

// Eigenvalues 1 and 3 of [2 1; 1 2], of which only the upper triangle is read; ±i of a rotation.
func.func @main() {
  %a = stablehlo.constant dense<[[2.0, 1.0], [9.0, 2.0]]> : tensor<2x2xf32>
  %0:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, uplo = 85 : ui8}}
    : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<i32>)
  check.expect_almost_eq_const %0#1, dense<[1.0, 3.0]> : tensor<2xf32>
  %1 = stablehlo.abs %0#0 : tensor<2x2xf32>
  check.expect_almost_eq_const %1, dense<0.70710678> : tensor<2x2xf32>
  %b = stablehlo.constant dense<[[0.0, -1.0], [1.0, 0.0]]> : tensor<2x2xf32>
  %2:5 = stablehlo.custom_call @lapack_sgeev_ffi(%b) {mhlo.backend_config = {compute_left = 78 : ui8, compute_right = 86 : ui8}}
    : (tensor<2x2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2x2xcomplex<f32>>, tensor<2x2xcomplex<f32>>, tensor<i32>)
  check.expect_almost_eq_const %2#0, dense<0.0> : tensor<2xf32>
  check.expect_almost_eq_const %2#1, dense<[1.0, -1.0]> : tensor<2xf32>
  check.expect_eq_const %2#2, dense<(0.0, 0.0)> : tensor<2x2xcomplex<f32>>
  check.expect_eq_const %2#4, dense<0> : tensor<i32>
  // A triangular matrix is its own Schur form.
  %c = stablehlo.constant dense<[[1.0, 2.0], [0.0, 3.0]]> : tensor<2x2xf64>
  %3:6 = stablehlo.custom_call @lapack_dgees_ffi(%c) {mhlo.backend_config = {mode = 86 : ui8, sort = 78 : ui8}}
    : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<i32>, tensor<i32>)
  check.expect_eq_const %3#0, dense<[[1.0, 2.0], [0.0, 3.0]]> : tensor<2x2xf64>
  check.expect_eq_const %3#2, dense<[1.0, 3.0]> : tensor<2xf64>
  return
}

// -----

// Singular values are the roots of 45 and 5; NaN has none.
func.func @main() {
  %a = stablehlo.constant dense<[[3.0, 0.0], [4.0, 5.0]]> : tensor<2x2xf64>
  %0:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%a) {mhlo.backend_config = {mode = 78 : ui8}}
    : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<2x2xf64>, tensor<i32>)
  check.expect_almost_eq_const %0#1, dense<[6.7082039324993691, 2.2360679774997897]> : tensor<2xf64>
  %nan = stablehlo.constant dense<0x7FF8000000000000> : tensor<2x2xf64>
  %1:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%nan) {mhlo.backend_config = {mode = 83 : ui8}}
    : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<2x2xf64>, tensor<i32>)
  check.expect_eq_const %1#4, dense<1> : tensor<i32>
  return
}

// -----

// [4 3 0; 1 4 0; 0 0 2] has this Hessenberg form already; [2 1 0; 1 2 1; 0 1 2] * (1, 2, 3) is (4, 8, 8).
func.func @main() {
  %a = stablehlo.constant dense<[[4.0, 3.0, 0.0], [1.0, 4.0, 0.0], [0.0, 0.0, 2.0]]> : tensor<3x3xf32>
  %0:3 = stablehlo.custom_call @lapack_sgehrd_ffi(%a) {mhlo.backend_config = {high = 3 : i32, low = 1 : i32}}
    : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<2xf32>, tensor<i32>)
  check.expect_eq_const %0#0, dense<[[4.0, 3.0, 0.0], [1.0, 4.0, 0.0], [0.0, 0.0, 2.0]]> : tensor<3x3xf32>
  check.expect_eq_const %0#1, dense<0.0> : tensor<2xf32>
  %lower = stablehlo.constant dense<[0.0, 1.0, 1.0]> : tensor<3xf32>
  %diagonal = stablehlo.constant dense<2.0> : tensor<3xf32>
  %upper = stablehlo.constant dense<[1.0, 1.0, 0.0]> : tensor<3xf32>
  %b = stablehlo.constant dense<[[4.0], [8.0], [8.0]]> : tensor<3x1xf32>
  %1:5 = stablehlo.custom_call @lapack_sgtsv_ffi(%lower, %diagonal, %upper, %b) {mhlo.backend_config = {}}
    : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x1xf32>)
    -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x1xf32>, tensor<i32>)
  check.expect_almost_eq_const %1#3, dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>
  %t = stablehlo.constant dense<[[(1.0, 0.0), (9.0, 9.0)], [(0.0, 2.0), (3.0, 0.0)]]> : tensor<2x2xcomplex<f64>>
  %2:5 = stablehlo.custom_call @lapack_zhetrd_ffi(%t) {mhlo.backend_config = {uplo = 76 : ui8}}
    : (tensor<2x2xcomplex<f64>>) -> (tensor<2x2xcomplex<f64>>, tensor<2xf64>, tensor<1xf64>, tensor<1xcomplex<f64>>, tensor<i32>)
  check.expect_almost_eq_const %2#1, dense<[1.0, 3.0]> : tensor<2xf64>
  %3 = stablehlo.abs %2#2 : tensor<1xf64>
  check.expect_eq_const %3, dense<2.0> : tensor<1xf64>
  return
}

// -----

// [0 2; 3 4] in compressed rows, with an element that is padding, times a matrix and a vector.
func.func @main() {
  %elements = stablehlo.constant dense<[2, 3, 4, 7]> : tensor<4xi32>
  %starts = stablehlo.constant dense<[0, 1, 3]> : tensor<3xi32>
  %columns = stablehlo.constant dense<[1, 0, 1, 9]> : tensor<4xi32>
  %matrix = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %0 = stablehlo.custom_call @cpu_csr_sparse_dense_ffi(%elements, %starts, %columns, %matrix) {mhlo.backend_config = {}}
    : (tensor<4xi32>, tensor<3xi32>, tensor<4xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %0, dense<[[8, 10, 12], [19, 26, 33]]> : tensor<2x3xi32>
  %vector = stablehlo.constant dense<[1, 10]> : tensor<2xi32>
  %1 = stablehlo.custom_call @cpu_csr_sparse_dense_ffi(%elements, %starts, %columns, %vector) {mhlo.backend_config = {}}
    : (tensor<4xi32>, tensor<3xi32>, tensor<4xi32>, tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %1, dense<[20, 43]> : tensor<2xi32>
  return
}

// -----

// Dynamic result shapes are operands, also those of vectors that are not requested.
func.func @main() {
  %a = stablehlo.constant dense<[[3.0], [4.0]]> : tensor<2x1xf64>
  %m = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
  %s = stablehlo.constant dense<[1]> : tensor<1xi32>
  %u = stablehlo.constant dense<[2, 2]> : tensor<2xi32>
  %v = stablehlo.constant dense<[1, 1]> : tensor<2xi32>
  %none = stablehlo.constant dense<> : tensor<0xi32>
  %0:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%a, %m, %s, %u, %v, %none) {
    indices_of_shape_operands = dense<[1, 2, 3, 4, 5]> : tensor<5xi64>, mhlo.backend_config = {mode = 78 : ui8}
  } : (tensor<2x1xf64>, tensor<2xi32>, tensor<1xi32>, tensor<2xi32>, tensor<2xi32>, tensor<0xi32>)
    -> (tensor<?x?xf64>, tensor<?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<i32>)
  %value = stablehlo.reshape %0#1 : (tensor<?xf64>) -> tensor<1xf64>
  check.expect_almost_eq_const %value, dense<5.0> : tensor<1xf64>
  %size = stablehlo.get_dimension_size %0#2, dim = 1 : (tensor<?x?xf64>) -> tensor<i32>
  check.expect_eq_const %size, dense<2> : tensor<i32>
  return
}
