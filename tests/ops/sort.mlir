// RUN: stablehlo-translate --interpret --split-input-file %s

// The example of the specification.
func.func @main() {
  %x = stablehlo.constant dense<[[1, 2, 3], [3, 2, 1]]> : tensor<2x3xi64>
  %y = stablehlo.constant dense<[[3, 2, 1], [1, 2, 3]]> : tensor<2x3xi64>
  %result:2 = "stablehlo.sort"(%x, %y) ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>, %c: tensor<i64>, %d: tensor<i64>):
    %0 = stablehlo.compare GT, %a, %b : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<2x3xi64>, tensor<2x3xi64>) -> (tensor<2x3xi64>, tensor<2x3xi64>)
  check.expect_eq_const %result#0, dense<[[3, 2, 3], [1, 2, 1]]> : tensor<2x3xi64>
  check.expect_eq_const %result#1, dense<[[1, 2, 1], [3, 2, 3]]> : tensor<2x3xi64>
  return
}

// -----

// The total order of floats distinguishes zeros and puts NaNs at the ends.
func.func @main() {
  %x = stablehlo.constant dense<[0x7FC00000, 0.0, -0.0, 0xFFC00000, 1.0, 0xFF800000]> : tensor<6xf32>
  %result = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<6xf32>) -> tensor<6xf32>
  %bits = stablehlo.bitcast_convert %result : (tensor<6xf32>) -> tensor<6xi32>
  check.expect_eq_const %bits, dense<[0xFFC00000, 0xFF800000, 0x80000000, 0, 0x3F800000, 0x7FC00000]> : tensor<6xi32>
  return
}

// -----

// By remainder, stable: a comparator of several ops over a number of elements that is not a power of two.
func.func @main() {
  %x = stablehlo.iota dim = 0 : tensor<11xi32>
  %result = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %three = stablehlo.constant dense<3> : tensor<i32>
    %c = stablehlo.remainder %a, %three : tensor<i32>
    %d = stablehlo.remainder %b, %three : tensor<i32>
    %0 = stablehlo.compare GT, %c, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }) {dimension = -1 : i64, is_stable = true} : (tensor<11xi32>) -> tensor<11xi32>
  check.expect_eq_const %result, dense<[2, 5, 8, 1, 4, 7, 10, 0, 3, 6, 9]> : tensor<11xi32>
  return
}

// -----

// A comparator that is always true still permutes the elements.
func.func @main() {
  %x = stablehlo.iota dim = 0 : tensor<5xi32>
  %sorted = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %0 = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<5xi32>) -> tensor<5xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %sum = stablehlo.reduce(%sorted init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<5xi32>, tensor<i32>) -> tensor<i32>
  check.expect_eq_const %sum, dense<10> : tensor<i32>
  return
}

// -----

// The comparator of exporters, for which zeros are equal and so are NaNs: equal elements keep their order, NaNs of any sign come last.
func.func @main() {
  %x = stablehlo.constant dense<[0xFFC00000, 0.0, -0.0, 0x7FC00000, -1.0, 0.0]> : tensor<6xf32>
  %index = stablehlo.iota dim = 0 : tensor<6xi32>
  %result:2 = "stablehlo.sort"(%x, %index) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %0 = stablehlo.compare EQ, %a, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = stablehlo.select %0, %zero, %a : tensor<i1>, tensor<f32>
    %2 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %3 = stablehlo.select %2, %nan, %1 : tensor<i1>, tensor<f32>
    %4 = stablehlo.compare EQ, %b, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %5 = stablehlo.select %4, %zero, %b : tensor<i1>, tensor<f32>
    %6 = stablehlo.compare NE, %b, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %7 = stablehlo.select %6, %nan, %5 : tensor<i1>, tensor<f32>
    %8 = stablehlo.compare LT, %3, %7, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %8 : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<6xf32>, tensor<6xi32>) -> (tensor<6xf32>, tensor<6xi32>)
  check.expect_eq_const %result#1, dense<[4, 1, 2, 5, 0, 3]> : tensor<6xi32>
  return
}

// -----

// Several keys, as exporters write them: up by integers, then by floats whose zeros are equal, then down by others. The last input is the place
// of each element before.
func.func @main() {
  %x = stablehlo.constant dense<[[2, 1], [1, 1], [2, -3], [1, 1], [2, -3], [1, 1]]> : tensor<6x2xi8>
  %y = stablehlo.constant dense<[[0.0, 1.0], [0.5, 0.0], [-0.0, 2.0], [-0.5, 0.0], [0.0, 2.0], [0.5, -0.0]]> : tensor<6x2xf16>
  %z = stablehlo.constant dense<[[1, 0], [5, 1], [1, 3], [0, 2], [2, 4], [6, 2]]> : tensor<6x2xui64>
  %index = stablehlo.iota dim = 0 : tensor<6x2xi32>
  %result:4 = "stablehlo.sort"(%x, %y, %z, %index) ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>, %c: tensor<f16>, %d: tensor<f16>, %e: tensor<ui64>, %f: tensor<ui64>, %g: tensor<i32>, %h: tensor<i32>):
    %zero = stablehlo.constant dense<0.0> : tensor<f16>
    %0 = stablehlo.compare EQ, %c, %zero, FLOAT : (tensor<f16>, tensor<f16>) -> tensor<i1>
    %1 = stablehlo.select %0, %zero, %c : tensor<i1>, tensor<f16>
    %2 = stablehlo.compare EQ, %d, %zero, FLOAT : (tensor<f16>, tensor<f16>) -> tensor<i1>
    %3 = stablehlo.select %2, %zero, %d : tensor<i1>, tensor<f16>
    %4 = stablehlo.compare GT, %e, %f : (tensor<ui64>, tensor<ui64>) -> tensor<i1>
    %5 = stablehlo.compare LT, %1, %3, TOTALORDER : (tensor<f16>, tensor<f16>) -> tensor<i1>
    %6 = stablehlo.compare EQ, %1, %3, TOTALORDER : (tensor<f16>, tensor<f16>) -> tensor<i1>
    %7 = stablehlo.and %6, %4 : tensor<i1>
    %8 = stablehlo.or %5, %7 : tensor<i1>
    %9 = stablehlo.compare LT, %a, %b : (tensor<i8>, tensor<i8>) -> tensor<i1>
    %10 = stablehlo.compare EQ, %a, %b : (tensor<i8>, tensor<i8>) -> tensor<i1>
    %11 = stablehlo.and %8, %10 : tensor<i1>
    %12 = stablehlo.or %11, %9 : tensor<i1>
    stablehlo.return %12 : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<6x2xi8>, tensor<6x2xf16>, tensor<6x2xui64>, tensor<6x2xi32>) -> (tensor<6x2xi8>, tensor<6x2xf16>, tensor<6x2xui64>, tensor<6x2xi32>)
  check.expect_eq_const %result#0, dense<[[1, -3], [1, -3], [1, 1], [2, 1], [2, 1], [2, 1]]> : tensor<6x2xi8>
  check.expect_eq_const %result#2, dense<[[0, 4], [6, 3], [5, 2], [2, 2], [1, 1], [1, 0]]> : tensor<6x2xui64>
  check.expect_eq_const %result#3, dense<[[3, 4], [5, 2], [1, 3], [4, 5], [0, 1], [2, 0]]> : tensor<6x2xi32>
  return
}

// -----

// Complex numbers by their real and then their imaginary parts, down and up.
func.func @main() {
  %x = stablehlo.constant dense<[(1.0, 2.0), (3.0, -1.0), (1.0, -2.0), (-1.0, 0.0), (3.0, -2.0)]> : tensor<5xcomplex<f64>>
  %result = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<complex<f64>>, %b: tensor<complex<f64>>):
    %0 = stablehlo.real %a : (tensor<complex<f64>>) -> tensor<f64>
    %1 = stablehlo.imag %a : (tensor<complex<f64>>) -> tensor<f64>
    %2 = stablehlo.real %b : (tensor<complex<f64>>) -> tensor<f64>
    %3 = stablehlo.imag %b : (tensor<complex<f64>>) -> tensor<f64>
    %4 = stablehlo.compare LT, %1, %3, TOTALORDER : (tensor<f64>, tensor<f64>) -> tensor<i1>
    %5 = stablehlo.compare GT, %0, %2, TOTALORDER : (tensor<f64>, tensor<f64>) -> tensor<i1>
    %6 = stablehlo.compare EQ, %0, %2, TOTALORDER : (tensor<f64>, tensor<f64>) -> tensor<i1>
    %7 = stablehlo.and %6, %4 : tensor<i1>
    %8 = stablehlo.or %5, %7 : tensor<i1>
    stablehlo.return %8 : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<5xcomplex<f64>>) -> tensor<5xcomplex<f64>>
  check.expect_eq_const %result, dense<[(3.0, -2.0), (3.0, -1.0), (1.0, -2.0), (1.0, 2.0), (-1.0, 0.0)]> : tensor<5xcomplex<f64>>
  return
}
