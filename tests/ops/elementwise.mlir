// RUN: stablehlo-translate --interpret --split-input-file %s

// Arithmetic of floats; the last element of each is what IEEE 754 says of zeros, infinities and NaN.
func.func @main() {
  %x = stablehlo.constant dense<[9.0, -2.5, 0.0]> : tensor<3xf32>
  %y = stablehlo.constant dense<[2.0, 0.5, -0.0]> : tensor<3xf32>
  %divide = stablehlo.divide %x, %y : tensor<3xf32>
  check.expect_eq_const %divide, dense<[4.5, -5.0, 0x7FC00000]> : tensor<3xf32>
  %maximum = stablehlo.maximum %x, %y : tensor<3xf32>
  check.expect_eq_const %maximum, dense<[9.0, 0.5, 0.0]> : tensor<3xf32>
  %minimum = stablehlo.minimum %x, %y : tensor<3xf32>
  check.expect_eq_const %minimum, dense<[2.0, -2.5, -0.0]> : tensor<3xf32>
  %power = stablehlo.power %x, %y : tensor<3xf32>
  check.expect_eq_const %power, dense<[81.0, 0x7FC00000, 1.0]> : tensor<3xf32>
  %atan2 = stablehlo.atan2 %x, %y : tensor<3xf32>
  check.expect_almost_eq_const %atan2, dense<[1.3521274, -1.3734008, 3.1415927]> : tensor<3xf32>
  %low = stablehlo.constant dense<-1.0> : tensor<f32>
  %high = stablehlo.constant dense<1.0> : tensor<f32>
  %clamp = stablehlo.clamp %low, %x, %high : (tensor<f32>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  check.expect_eq_const %clamp, dense<[1.0, -1.0, 0.0]> : tensor<3xf32>
  return
}

// -----

// Rounding, signs and classes of floats.
func.func @main() {
  %x = stablehlo.constant dense<[-2.5, -0.5, 0.5, 1.5, 0x7F800000]> : tensor<5xf32>
  %ceil = stablehlo.ceil %x : tensor<5xf32>
  check.expect_eq_const %ceil, dense<[-2.0, -0.0, 1.0, 2.0, 0x7F800000]> : tensor<5xf32>
  %floor = stablehlo.floor %x : tensor<5xf32>
  check.expect_eq_const %floor, dense<[-3.0, -1.0, 0.0, 1.0, 0x7F800000]> : tensor<5xf32>
  %afz = stablehlo.round_nearest_afz %x : tensor<5xf32>
  check.expect_eq_const %afz, dense<[-3.0, -1.0, 1.0, 2.0, 0x7F800000]> : tensor<5xf32>
  %even = stablehlo.round_nearest_even %x : tensor<5xf32>
  check.expect_eq_const %even, dense<[-2.0, -0.0, 0.0, 2.0, 0x7F800000]> : tensor<5xf32>
  %sign = stablehlo.sign %x : tensor<5xf32>
  check.expect_eq_const %sign, dense<[-1.0, -1.0, 1.0, 1.0, 1.0]> : tensor<5xf32>
  %is_finite = stablehlo.is_finite %x : (tensor<5xf32>) -> tensor<5xi1>
  check.expect_eq_const %is_finite, dense<[true, true, true, true, false]> : tensor<5xi1>
  return
}

// -----

// 1/3 has 24 bits of significand; a format of 4 bits keeps 1.0101 of 1.0101 0101 …
func.func @main() {
  %x = stablehlo.constant dense<[0.333333343, 1.0e10]> : tensor<2xf32>
  %result = stablehlo.reduce_precision %x, format = e5m4 : tensor<2xf32>
  check.expect_eq_const %result, dense<[0.328125, 0x7F800000]> : tensor<2xf32>
  return
}

// -----

// Functions of reals. Values: mpmath, rounded to f64.
func.func @main() {
  %x = stablehlo.constant dense<[0.5, 2.0]> : tensor<2xf64>
  %cbrt = stablehlo.cbrt %x : tensor<2xf64>
  check.expect_almost_eq_const %cbrt, dense<[0.79370052598409973738, 1.2599210498948731648]> : tensor<2xf64>
  %cosine = stablehlo.cosine %x : tensor<2xf64>
  check.expect_almost_eq_const %cosine, dense<[0.87758256189037271612, -0.41614683654714238700]> : tensor<2xf64>
  %expm1 = stablehlo.exponential_minus_one %x : tensor<2xf64>
  check.expect_almost_eq_const %expm1, dense<[0.64872127070012814685, 6.3890560989306502272]> : tensor<2xf64>
  %log = stablehlo.log %x : tensor<2xf64>
  check.expect_almost_eq_const %log, dense<[-0.69314718055994530942, 0.69314718055994530942]> : tensor<2xf64>
  %log1p = stablehlo.log_plus_one %x : tensor<2xf64>
  check.expect_almost_eq_const %log1p, dense<[0.40546510810816438198, 1.0986122886681096914]> : tensor<2xf64>
  %logistic = stablehlo.logistic %x : tensor<2xf64>
  check.expect_almost_eq_const %logistic, dense<[0.62245933120185456464, 0.88079707797788244406]> : tensor<2xf64>
  %rsqrt = stablehlo.rsqrt %x : tensor<2xf64>
  check.expect_almost_eq_const %rsqrt, dense<[1.4142135623730950488, 0.70710678118654752440]> : tensor<2xf64>
  %sqrt = stablehlo.sqrt %x : tensor<2xf64>
  check.expect_almost_eq_const %sqrt, dense<[0.70710678118654752440, 1.4142135623730950488]> : tensor<2xf64>
  %tanh = stablehlo.tanh %x : tensor<2xf64>
  check.expect_almost_eq_const %tanh, dense<[0.46211715726000975850, 0.96402758007581688395]> : tensor<2xf64>
  return
}

// -----

// Bits of integers. Shifts by the width or more leave zeros, or copies of the sign.
func.func @main() {
  %x = stablehlo.constant dense<[12, -8, 0]> : tensor<3xi8>
  %y = stablehlo.constant dense<[10, 2, 9]> : tensor<3xi8>
  %and = stablehlo.and %x, %y : tensor<3xi8>
  check.expect_eq_const %and, dense<[8, 0, 0]> : tensor<3xi8>
  %or = stablehlo.or %x, %y : tensor<3xi8>
  check.expect_eq_const %or, dense<[14, -6, 9]> : tensor<3xi8>
  %xor = stablehlo.xor %x, %y : tensor<3xi8>
  check.expect_eq_const %xor, dense<[6, -6, 9]> : tensor<3xi8>
  %left = stablehlo.shift_left %x, %y : tensor<3xi8>
  check.expect_eq_const %left, dense<[0, -32, 0]> : tensor<3xi8>
  %arithmetic = stablehlo.shift_right_arithmetic %x, %y : tensor<3xi8>
  check.expect_eq_const %arithmetic, dense<[0, -2, 0]> : tensor<3xi8>
  %logical = stablehlo.shift_right_logical %x, %y : tensor<3xi8>
  check.expect_eq_const %logical, dense<[0, 62, 0]> : tensor<3xi8>
  %zeros = stablehlo.count_leading_zeros %x : tensor<3xi8>
  check.expect_eq_const %zeros, dense<[4, 0, 8]> : tensor<3xi8>
  %ones = stablehlo.popcnt %x : tensor<3xi8>
  check.expect_eq_const %ones, dense<[2, 5, 0]> : tensor<3xi8>
  return
}

// -----

// Complex numbers and their parts.
func.func @main() {
  %re = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf32>
  %im = stablehlo.constant dense<[3.0, 0.5]> : tensor<2xf32>
  %z = stablehlo.complex %re, %im : tensor<2xcomplex<f32>>
  check.expect_eq_const %z, dense<[(1.0, 3.0), (-2.0, 0.5)]> : tensor<2xcomplex<f32>>
  %real = stablehlo.real %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  check.expect_eq_const %real, dense<[1.0, -2.0]> : tensor<2xf32>
  return
}

// -----

// q stands for (q - 10) * 0.5.
func.func @main() {
  %x = stablehlo.constant dense<[-1.0, 0.0, 2.3]> : tensor<3xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<3xf32>) -> tensor<3x!quant.uniform<i8:f32, 0.5:10>>
  %bits = stablehlo.bitcast_convert %q : (tensor<3x!quant.uniform<i8:f32, 0.5:10>>) -> tensor<3xi8>
  check.expect_eq_const %bits, dense<[8, 10, 15]> : tensor<3xi8>
  %y = stablehlo.uniform_dequantize %q : (tensor<3x!quant.uniform<i8:f32, 0.5:10>>) -> tensor<3xf32>
  check.expect_eq_const %y, dense<[-1.0, 0.0, 2.5]> : tensor<3xf32>
  return
}
