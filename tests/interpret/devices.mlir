// RUN: stablehlo-translate --interpret --split-input-file %s

// Decompositions as exports for GPU and TPU call them. Rows are exchanged: the second one comes
// first, and a quarter of it is in the other one.
func.func @main() {
  %a = stablehlo.constant dense<[[1.0, 2.0], [4.0, 6.0]]> : tensor<2x2xf32>
  %0:3 = stablehlo.custom_call @cusolver_getrf_ffi(%a) {mhlo.backend_config = {}}
    : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xi32>, tensor<i32>)
  check.expect_eq_const %0#0, dense<[[4.0, 6.0], [0.25, 0.5]]> : tensor<2x2xf32>
  check.expect_eq_const %0#1, dense<2> : tensor<2xi32>
  // Pivots from 0 on, and the rows in their order.
  %1:3 = stablehlo.custom_call @LuDecomposition(%a) {api_version = 2 : i32}
    : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xi32>, tensor<2xi32>)
  check.expect_eq %1#0, %0#0 : tensor<2x2xf32>
  check.expect_eq_const %1#1, dense<1> : tensor<2xi32>
  check.expect_eq_const %1#2, dense<[1, 0]> : tensor<2xi32>
  %2 = stablehlo.custom_call @cu_lu_pivots_to_permutation(%1#1) : (tensor<2xi32>) -> tensor<3xi32>
  check.expect_eq_const %2, dense<[1, 0, 2]> : tensor<3xi32>
  %3 = stablehlo.custom_call @hip_lu_pivots_to_permutation(%1#1) : (tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %3, dense<[1, 0]> : tensor<2xi32>
  return
}

// -----

// The upper triangle stays; eigenvalues are those of the lower one.
func.func @main() {
  %a = stablehlo.constant dense<[[4.0, 9.0], [2.0, 5.0]]> : tensor<2x2xf64>
  %0:2 = stablehlo.custom_call @cusolver_potrf_ffi(%a) {mhlo.backend_config = {lower = true}}
    : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<i32>)
  check.expect_eq_const %0#0, dense<[[2.0, 9.0], [1.0, 2.0]]> : tensor<2x2xf64>
  check.expect_eq_const %0#1, dense<0> : tensor<i32>
  %d = stablehlo.constant dense<[[3.0, 9.0], [0.0, 1.0]]> : tensor<2x2xf64>
  %1:3 = stablehlo.custom_call @hipsolver_syevd_ffi(%d) {mhlo.backend_config = {algorithm = 0 : ui8, lower = true}}
    : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2xf64>, tensor<i32>)
  check.expect_almost_eq_const %1#1, dense<[1.0, 3.0]> : tensor<2xf64>
  %2:2 = stablehlo.custom_call @Eigh(%d) {backend_config = "1,1,100,1e-6"}
    : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2xf64>)
  check.expect_almost_eq_const %2#1, dense<[1.0, 3.0]> : tensor<2xf64>
  // Of the upper one, [3, 9; 9, 1], they are 2 +- sqrt(82).
  %3:2 = stablehlo.custom_call @Eigh(%d) {backend_config = "0,1,100,1e-6"}
    : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2xf64>)
  check.expect_almost_eq_const %3#1, dense<[-7.055385138137417, 11.055385138137417]> : tensor<2xf64>
  return
}

// -----

// The factors of a singular value decomposition make the matrix again: Jacobi's method gives v, the
// other one the adjoint of v, and both factors are exchanged if the matrix is wide.
func.func @main() {
  %a = stablehlo.constant dense<[[(0.0, 3.0), (0.0, 0.0), (4.0, 0.0)], [(0.0, 0.0), (2.0, 0.0), (0.0, 0.0)]]> : tensor<2x3xcomplex<f64>>
  %0:5 = stablehlo.custom_call @cusolver_gesvdj_ffi(%a) {mhlo.backend_config = {compute_uv = true, full_matrices = false}}
    : (tensor<2x3xcomplex<f64>>) -> (tensor<2x3xcomplex<f64>>, tensor<2xf64>, tensor<2x2xcomplex<f64>>, tensor<3x2xcomplex<f64>>, tensor<i32>)
  check.expect_almost_eq_const %0#1, dense<[5.0, 2.0]> : tensor<2xf64>
  %re = stablehlo.real %0#3 : (tensor<3x2xcomplex<f64>>) -> tensor<3x2xf64>
  %im = stablehlo.imag %0#3 : (tensor<3x2xcomplex<f64>>) -> tensor<3x2xf64>
  %minus = stablehlo.negate %im : tensor<3x2xf64>
  %conjugate = stablehlo.complex %re, %minus : tensor<3x2xcomplex<f64>>
  %adjoint = stablehlo.transpose %conjugate, dims = [1, 0] : (tensor<3x2xcomplex<f64>>) -> tensor<2x3xcomplex<f64>>
  %1 = func.call @product(%0#2, %0#1, %adjoint) : (tensor<2x2xcomplex<f64>>, tensor<2xf64>, tensor<2x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>>
  check.expect_almost_eq %1, %a : tensor<2x3xcomplex<f64>>
  %2:5 = stablehlo.custom_call @hipsolver_gesvd_ffi(%a) {mhlo.backend_config = {compute_uv = true, full_matrices = false, transposed = true}}
    : (tensor<2x3xcomplex<f64>>) -> (tensor<2x3xcomplex<f64>>, tensor<2xf64>, tensor<2x3xcomplex<f64>>, tensor<2x2xcomplex<f64>>, tensor<i32>)
  %3 = func.call @product(%2#3, %2#1, %2#2) : (tensor<2x2xcomplex<f64>>, tensor<2xf64>, tensor<2x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>>
  check.expect_almost_eq %3, %a : tensor<2x3xcomplex<f64>>
  return
}
func.func private @product(%u: tensor<2x2xcomplex<f64>>, %s: tensor<2xf64>, %vh: tensor<2x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>> {
  %zero = stablehlo.constant dense<0.0> : tensor<2xf64>
  %0 = stablehlo.complex %s, %zero : tensor<2xcomplex<f64>>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
  %2 = stablehlo.multiply %u, %1 : tensor<2x2xcomplex<f64>>
  %3 = stablehlo.dot %2, %vh : (tensor<2x2xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>>
  return %3 : tensor<2x3xcomplex<f64>>
}

// -----

// Tridiagonal systems: [2, 1; 1, 4] * [1, 2] = [4, 9]. A workspace may follow.
func.func @main() {
  %lower = stablehlo.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %diagonal = stablehlo.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %upper = stablehlo.constant dense<[1.0, 0.0]> : tensor<2xf32>
  %b = stablehlo.constant dense<[[4.0], [9.0]]> : tensor<2x1xf32>
  %0 = stablehlo.custom_call @cusparse_gtsv2_ffi(%lower, %diagonal, %upper, %b) {mhlo.backend_config = {}}
    : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  check.expect_almost_eq_const %0, dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %1:2 = stablehlo.custom_call @cusparse_gtsv2_f32_ffi(%lower, %diagonal, %upper, %b) {mhlo.backend_config = {opaque = ""}}
    : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x1xf32>) -> (tensor<2x1xf32>, tensor<8xi8>)
  check.expect_eq %1#0, %0 : tensor<2x1xf32>
  return
}

// -----

// The vectors of Random123 for Threefry-2x32-20.
func.func @main() {
  %k0 = stablehlo.constant dense<[0, 0xFFFFFFFF, 0x13198A2E]> : tensor<3xui32>
  %k1 = stablehlo.constant dense<[0, 0xFFFFFFFF, 0x03707344]> : tensor<3xui32>
  %x0 = stablehlo.constant dense<[0, 0xFFFFFFFF, 0x243F6A88]> : tensor<3xui32>
  %x1 = stablehlo.constant dense<[0, 0xFFFFFFFF, 0x85A308D3]> : tensor<3xui32>
  %0:2 = stablehlo.custom_call @cu_threefry2x32_ffi(%k0, %k1, %x0, %x1)
    : (tensor<3xui32>, tensor<3xui32>, tensor<3xui32>, tensor<3xui32>) -> (tensor<3xui32>, tensor<3xui32>)
  check.expect_eq_const %0#0, dense<[0x6B200159, 0x1CB996FC, 0xC4923A9C]> : tensor<3xui32>
  check.expect_eq_const %0#1, dense<[0x99BA4EFE, 0xBB002BE7, 0x483DF7A0]> : tensor<3xui32>
  return
}

// -----

// TensorFlow's calls return tuples. A reflection takes (3, 4) to (-5, 0).
func.func @main() {
  %a = stablehlo.constant dense<[[3.0], [4.0]]> : tensor<2x1xf32>
  %0 = stablehlo.custom_call @Qr(%a) : (tensor<2x1xf32>) -> tuple<tensor<2x1xf32>, tensor<1xf32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<2x1xf32>, tensor<1xf32>>) -> tensor<2x1xf32>
  check.expect_eq_const %1, dense<[[-5.0], [0.5]]> : tensor<2x1xf32>
  %2 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<2x1xf32>, tensor<1xf32>>) -> tensor<1xf32>
  check.expect_almost_eq_const %2, dense<1.6> : tensor<1xf32>
  %3 = stablehlo.custom_call @mhlo.topk(%1) {mhlo.attributes = {k = 1 : i64, largest = true}}
    : (tensor<2x1xf32>) -> tuple<tensor<2x1xf32>, tensor<2x1xi32>>
  %4 = stablehlo.get_tuple_element %3[1] : (tuple<tensor<2x1xf32>, tensor<2x1xi32>>) -> tensor<2x1xi32>
  check.expect_eq_const %4, dense<0> : tensor<2x1xi32>
  return
}

// -----

// Eigenvalues of a matrix that is not symmetric: of a rotation by a right angle, i and -i.
func.func @main() {
  %a = stablehlo.constant dense<[[0.0, -1.0], [1.0, 0.0]]> : tensor<2x2xf64>
  %0:5 = stablehlo.custom_call @cuhybrid_eig_real(%a) {mhlo.backend_config = {left = false, magma = "auto", right = true}}
    : (tensor<2x2xf64>) -> (tensor<2xf64>, tensor<2xf64>, tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>, tensor<i32>)
  check.expect_almost_eq_const %0#0, dense<0.0> : tensor<2xf64>
  check.expect_almost_eq_const %0#1, dense<[1.0, -1.0]> : tensor<2xf64>
  check.expect_eq_const %0#4, dense<0> : tensor<i32>
  // The vectors have length 1, and are multiples of (1, -i) and (1, i).
  %re = stablehlo.real %0#3 : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xf64>
  %im = stablehlo.imag %0#3 : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xf64>
  %re2 = stablehlo.multiply %re, %re : tensor<2x2xf64>
  %im2 = stablehlo.multiply %im, %im : tensor<2x2xf64>
  %sizes = stablehlo.add %re2, %im2 : tensor<2x2xf64>
  check.expect_almost_eq_const %sizes, dense<0.5> : tensor<2x2xf64>
  %z = stablehlo.constant dense<[[(0.0, 0.0), (-1.0, 0.0)], [(1.0, 0.0), (0.0, 0.0)]]> : tensor<2x2xcomplex<f64>>
  %1:4 = stablehlo.custom_call @hiphybrid_eig_comp(%z) {mhlo.backend_config = {left = false, magma = "off", right = false}}
    : (tensor<2x2xcomplex<f64>>) -> (tensor<2xcomplex<f64>>, tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>, tensor<i32>)
  %squares = stablehlo.multiply %1#0, %1#0 : tensor<2xcomplex<f64>>
  check.expect_almost_eq_const %squares, dense<(-1.0, 0.0)> : tensor<2xcomplex<f64>>
  return
}

// -----

// As cuSOLVER packs them: the real and the imaginary part of the first of two conjugate vectors.
func.func @main() {
  %a = stablehlo.constant dense<[[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0]]> : tensor<3x3xf64>
  %0:5 = stablehlo.custom_call @cusolver_geev_ffi(%a) {mhlo.backend_config = {left = false, right = true}}
    : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xcomplex<f64>>, tensor<3x3xf64>, tensor<3x3xf64>, tensor<i32>)
  check.expect_almost_eq_const %0#1, dense<[(0.0, 1.0), (0.0, -1.0), (2.0, 0.0)]> : tensor<3xcomplex<f64>>
  check.expect_eq_const %0#4, dense<0> : tensor<i32>
  // With v = x + yi and value i: a x = -y, a y = x.
  %x = stablehlo.slice %0#3 [0:3, 0:1] : (tensor<3x3xf64>) -> tensor<3x1xf64>
  %y = stablehlo.slice %0#3 [0:3, 1:2] : (tensor<3x3xf64>) -> tensor<3x1xf64>
  %z = stablehlo.slice %0#3 [0:3, 2:3] : (tensor<3x3xf64>) -> tensor<3x1xf64>
  %ax = stablehlo.dot_general %a, %x, contracting_dims = [1] x [0] : (tensor<3x3xf64>, tensor<3x1xf64>) -> tensor<3x1xf64>
  %ay = stablehlo.dot_general %a, %y, contracting_dims = [1] x [0] : (tensor<3x3xf64>, tensor<3x1xf64>) -> tensor<3x1xf64>
  %d0 = stablehlo.add %ax, %y : tensor<3x1xf64>
  %d1 = stablehlo.subtract %ay, %x : tensor<3x1xf64>
  check.expect_almost_eq_const %d0, dense<0.0> : tensor<3x1xf64>
  check.expect_almost_eq_const %d1, dense<0.0> : tensor<3x1xf64>
  %size = stablehlo.abs %z : tensor<3x1xf64>
  check.expect_almost_eq_const %size, dense<[[0.0], [0.0], [1.0]]> : tensor<3x1xf64>
  %c = stablehlo.convert %a : (tensor<3x3xf64>) -> tensor<3x3xcomplex<f64>>
  %1:5 = stablehlo.custom_call @cusolver_geev_ffi(%c) {mhlo.backend_config = {left = false, right = false}}
    : (tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>>, tensor<3xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<i32>)
  %squares = stablehlo.multiply %1#1, %1#1 : tensor<3xcomplex<f64>>
  %sum = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f64>>
  %total = stablehlo.reduce(%squares init: %sum) applies stablehlo.add across dimensions = [0]
    : (tensor<3xcomplex<f64>>, tensor<complex<f64>>) -> tensor<complex<f64>>
  check.expect_almost_eq_const %total, dense<(2.0, 0.0)> : tensor<complex<f64>>
  return
}
