// RUN: stablehlo-translate --interpret --split-input-file %s

// Functions of reals. Values: mpmath, rounded to f64.
func.func @main() {
  %x = stablehlo.constant dense<[0.25, 0.5]> : tensor<2xf64>
  %acos = chlo.acos %x : tensor<2xf64> -> tensor<2xf64>
  check.expect_almost_eq_const %acos, dense<[1.3181160716528179, 1.0471975511965979]> : tensor<2xf64>
  %asin = chlo.asin %x : tensor<2xf64> -> tensor<2xf64>
  check.expect_almost_eq_const %asin, dense<[0.25268025514207865, 0.52359877559829887]> : tensor<2xf64>
  %asinh = chlo.asinh %x : tensor<2xf64> -> tensor<2xf64>
  check.expect_almost_eq_const %asinh, dense<[0.24746646154726346, 0.48121182505960347]> : tensor<2xf64>
  %atan = chlo.atan %x : tensor<2xf64> -> tensor<2xf64>
  check.expect_almost_eq_const %atan, dense<[0.24497866312686414, 0.46364760900080609]> : tensor<2xf64>
  %atanh = chlo.atanh %x : tensor<2xf64> -> tensor<2xf64>
  check.expect_almost_eq_const %atanh, dense<[0.25541281188299536, 0.54930614433405489]> : tensor<2xf64>
  %cosh = chlo.cosh %x : tensor<2xf64> -> tensor<2xf64>
  check.expect_almost_eq_const %cosh, dense<[1.0314130998795732, 1.1276259652063807]> : tensor<2xf64>
  %sinh = chlo.sinh %x : tensor<2xf64> -> tensor<2xf64>
  check.expect_almost_eq_const %sinh, dense<[0.25261231680816831, 0.52109530549374738]> : tensor<2xf64>
  %tan = chlo.tan %x : tensor<2xf64> -> tensor<2xf64>
  check.expect_almost_eq_const %tan, dense<[0.25534192122103627, 0.54630248984379051]> : tensor<2xf64>
  %square = chlo.square %x : tensor<2xf64> -> tensor<2xf64>
  check.expect_eq_const %square, dense<[0.0625, 0.25]> : tensor<2xf64>
  %two = stablehlo.constant dense<2.0> : tensor<2xf64>
  %acosh = chlo.acosh %two : tensor<2xf64> -> tensor<2xf64>
  check.expect_almost_eq_const %acosh, dense<1.3169578969248167> : tensor<2xf64>
  return
}

// -----

// Special functions. Values: mpmath, rounded to f64.
func.func @main() {
  %x = stablehlo.constant dense<[0.5, 2.0]> : tensor<2xf64>
  %erf = chlo.erf %x : tensor<2xf64> -> tensor<2xf64>
  check.expect_almost_eq_const %erf, dense<[0.52049987781304654, 0.99532226501895273]> : tensor<2xf64>
  %erfc = chlo.erfc %x : tensor<2xf64> -> tensor<2xf64>
  check.expect_almost_eq_const %erfc, dense<[0.47950012218695346, 0.0046777349810472658]> : tensor<2xf64>
  %half = stablehlo.constant dense<0.5> : tensor<2xf64>
  %erf_inv = chlo.erf_inv %half : tensor<2xf64> -> tensor<2xf64>
  check.expect_almost_eq_const %erf_inv, dense<0.47693627620446987> : tensor<2xf64>
  %lgamma = chlo.lgamma %x : tensor<2xf64> -> tensor<2xf64>
  check.expect_almost_eq_const %lgamma, dense<[0.57236494292470009, 0.0]> : tensor<2xf64>
  %digamma = chlo.digamma %x : tensor<2xf64> -> tensor<2xf64>
  check.expect_almost_eq_const %digamma, dense<[-1.9635100260214235, 0.42278433509846714]> : tensor<2xf64>
  %one = stablehlo.constant dense<1.0> : tensor<2xf64>
  %polygamma = chlo.polygamma %one, %x : tensor<2xf64>, tensor<2xf64> -> tensor<2xf64>
  check.expect_almost_eq_const %polygamma, dense<[4.9348022005446793, 0.64493406684822644]> : tensor<2xf64>
  %two = stablehlo.constant dense<2.0> : tensor<2xf64>
  %zeta = chlo.zeta %two, %x : tensor<2xf64>, tensor<2xf64> -> tensor<2xf64>
  check.expect_almost_eq_const %zeta, dense<[4.9348022005446793, 0.64493406684822644]> : tensor<2xf64>
  %bessel = chlo.bessel_i1e %x : tensor<2xf64> -> tensor<2xf64>
  check.expect_almost_eq_const %bessel, dense<[0.15642080318487173, 0.21526928924893771]> : tensor<2xf64>
  return
}

// -----

// Classes and neighbours of floats; conjugates; upper halves of products; constants.
func.func @main() {
  %x = stablehlo.constant dense<[1.0, 0x7F800000, 0xFF800000]> : tensor<3xf32>
  %inf = chlo.is_inf %x : tensor<3xf32> -> tensor<3xi1>
  check.expect_eq_const %inf, dense<[false, true, true]> : tensor<3xi1>
  %positive = chlo.is_pos_inf %x : tensor<3xf32> -> tensor<3xi1>
  check.expect_eq_const %positive, dense<[false, true, false]> : tensor<3xi1>
  %negative = chlo.is_neg_inf %x : tensor<3xf32> -> tensor<3xi1>
  check.expect_eq_const %negative, dense<[false, false, true]> : tensor<3xi1>
  %two = chlo.constant dense<2.0> : tensor<3xf32>
  %next = chlo.next_after %x, %two : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
  check.expect_eq_const %next, dense<[0x3F800001, 0x7F7FFFFF, 0xFF7FFFFF]> : tensor<3xf32>
  %same = "chlo.constant_like"(%x) {value = 7.0 : f32} : (tensor<3xf32>) -> tensor<3xf32>
  check.expect_eq_const %same, dense<7.0> : tensor<3xf32>
  %z = stablehlo.constant dense<[(1.0, 2.0)]> : tensor<1xcomplex<f32>>
  %conj = chlo.conj %z : tensor<1xcomplex<f32>> -> tensor<1xcomplex<f32>>
  check.expect_eq_const %conj, dense<[(1.0, -2.0)]> : tensor<1xcomplex<f32>>
  // 100 * 50 = 19 * 256 + 136, -100 * 50 = -20 * 256 + 120.
  %a = stablehlo.constant dense<[100, -100]> : tensor<2xi8>
  %b = stablehlo.constant dense<50> : tensor<2xi8>
  %high = chlo.mulhi %a, %b : tensor<2xi8>, tensor<2xi8> -> tensor<2xi8>
  check.expect_eq_const %high, dense<[19, -20]> : tensor<2xi8>
  return
}

// -----

// A row and a number: smaller operands are repeated.
func.func @main() {
  %x = stablehlo.constant dense<[6, 12]> : tensor<2xi32>
  %y = stablehlo.constant dense<2> : tensor<i32>
  %add = chlo.broadcast_add %x, %y : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %add, dense<[8, 14]> : tensor<2xi32>
  %subtract = chlo.broadcast_subtract %x, %y : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %subtract, dense<[4, 10]> : tensor<2xi32>
  %multiply = chlo.broadcast_multiply %x, %y : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %multiply, dense<[12, 24]> : tensor<2xi32>
  %divide = chlo.broadcast_divide %x, %y : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %divide, dense<[3, 6]> : tensor<2xi32>
  %remainder = chlo.broadcast_remainder %x, %y : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %remainder, dense<0> : tensor<2xi32>
  %power = chlo.broadcast_power %x, %y : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %power, dense<[36, 144]> : tensor<2xi32>
  %maximum = chlo.broadcast_maximum %x, %y : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %maximum, dense<[6, 12]> : tensor<2xi32>
  %minimum = chlo.broadcast_minimum %x, %y : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %minimum, dense<2> : tensor<2xi32>
  %and = chlo.broadcast_and %x, %y : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %and, dense<[2, 0]> : tensor<2xi32>
  %or = chlo.broadcast_or %x, %y : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %or, dense<[6, 14]> : tensor<2xi32>
  %xor = chlo.broadcast_xor %x, %y : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %xor, dense<[4, 14]> : tensor<2xi32>
  %left = chlo.broadcast_shift_left %x, %y : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %left, dense<[24, 48]> : tensor<2xi32>
  %arithmetic = chlo.broadcast_shift_right_arithmetic %x, %y : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %arithmetic, dense<[1, 3]> : tensor<2xi32>
  %logical = chlo.broadcast_shift_right_logical %x, %y : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %logical, dense<[1, 3]> : tensor<2xi32>
  %less = chlo.broadcast_compare %x, %y {comparison_direction = #chlo<comparison_direction LT>} : (tensor<2xi32>, tensor<i32>) -> tensor<2xi1>
  check.expect_eq_const %less, dense<false> : tensor<2xi1>
  %yes = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %select = chlo.broadcast_select %yes, %x, %y : (tensor<2xi1>, tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %select, dense<[6, 2]> : tensor<2xi32>
  return
}

// -----

func.func @main() {
  %x = stablehlo.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %y = stablehlo.constant dense<1.0> : tensor<f32>
  %complex = chlo.broadcast_complex %x, %y : (tensor<2xf32>, tensor<f32>) -> tensor<2xcomplex<f32>>
  check.expect_eq_const %complex, dense<[(1.0, 1.0), (3.0, 1.0)]> : tensor<2xcomplex<f32>>
  %atan2 = chlo.broadcast_atan2 %x, %y : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  check.expect_almost_eq_const %atan2, dense<[0.78539816, 1.2490458]> : tensor<2xf32>
  %next = chlo.broadcast_next_after %x, %y : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  check.expect_eq_const %next, dense<[1.0, 0x403FFFFF]> : tensor<2xf32>
  %polygamma = chlo.broadcast_polygamma %y, %x : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  check.expect_almost_eq_const %polygamma, dense<[1.6449341, 0.39493407]> : tensor<2xf32>
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %zeta = chlo.broadcast_zeta %two, %x : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  check.expect_almost_eq_const %zeta, dense<[1.6449341, 0.39493407]> : tensor<2xf32>
  return
}

// -----

// Running sums, and the last of them.
func.func @main() {
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi64>
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %sums, %last = chlo.scan(%x) inits (%zero) dimension=0 {
  ^bb0(%input: tensor<i64>, %carry: tensor<i64>):
    %sum = stablehlo.add %input, %carry : tensor<i64>
    stablehlo.return %sum, %sum : tensor<i64>, tensor<i64>
  } : (tensor<4xi64>, tensor<i64>) -> (tensor<4xi64>, tensor<i64>)
  check.expect_eq_const %sums, dense<[1, 3, 6, 10]> : tensor<4xi64>
  check.expect_eq_const %last, dense<10> : tensor<i64>
  return
}

// -----

// The first row is multiplied by the first matrix, the other two by the second.
func.func @main() {
  %rows = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64>
  %matrices = stablehlo.constant dense<[[[1, 0], [0, 1]], [[0, 1], [1, 0]]]> : tensor<2x2x2xi64>
  %sizes = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %result = "chlo.ragged_dot"(%rows, %matrices, %sizes) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
      lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>
  } : (tensor<3x2xi64>, tensor<2x2x2xi64>, tensor<2xi64>) -> tensor<3x2xi64>
  check.expect_eq_const %result, dense<[[1, 2], [4, 3], [6, 5]]> : tensor<3x2xi64>
  return
}

// -----

// The greatest elements of each row, and where they are.
func.func @main() {
  %x = stablehlo.constant dense<[3, 1, 2, 3]> : tensor<4xi64>
  %values, %indices = chlo.top_k(%x, k = 3) : tensor<4xi64> -> (tensor<3xi64>, tensor<3xi32>)
  check.expect_eq_const %values, dense<[3, 3, 2]> : tensor<3xi64>
  check.expect_eq_const %indices, dense<[0, 3, 2]> : tensor<3xi32>
  return
}

// -----

// Along the first dimension, not the last: 1 + 10, 2 + 10, 3 + 20, 4 + 20.
func.func @main() {
  %a = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %b = stablehlo.constant dense<[10, 20]> : tensor<2xi32>
  %0 = chlo.broadcast_add %a, %b {broadcast_dimensions = array<i64: 0>} : (tensor<2x2xi32>, tensor<2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[11, 12], [23, 24]]> : tensor<2x2xi32>
  return
}

// -----

// The sum over no groups is zero.
func.func @main() {
  %a = stablehlo.constant dense<1.0> : tensor<3x2xf32>
  %b = stablehlo.constant dense<1.0> : tensor<0x2x4xf32>
  %sizes = stablehlo.constant dense<1> : tensor<0xi64>
  %0 = "chlo.ragged_dot"(%a, %b, %sizes) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>
  } : (tensor<3x2xf32>, tensor<0x2x4xf32>, tensor<0xi64>) -> tensor<3x4xf32>
  check.expect_eq_const %0, dense<0.0> : tensor<3x4xf32>
  return
}
