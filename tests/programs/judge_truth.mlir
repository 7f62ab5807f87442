// True values have as many digits as are needed. Each step of x -> 4x(1 - x) makes an error up to
// four times larger: after 150 steps nothing is left of 106 or 256 bits, after 1,200 nothing of
// 1,000. Values from mpmath, in 2,000 bits.
// RUN: not stablo judge %s --input 0.3 --input 150 --results %S/data/judge/half --samples 0 | FileCheck %s
// CHECK: output 0: OUTSIDE: 1 of 1 elements
// CHECK-NEXT: at []: found 5e-1, true 5.1123114738131910240845582195e-1,
// CHECK: true values are computed with 512 bits
// RUN: not stablo judge %s --input 0.3 --input 400 --results %S/data/judge/half --samples 0 | FileCheck %s --check-prefix=LONG
// LONG: true 7.70759271639727519276844098211e-1,
// LONG: true values are computed with 1000 bits
// RUN: not stablo judge %s --input 0.3 --input 1200 --results %S/data/judge/half --samples 0 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: 1 true value cannot be told to the last digit, with 1000 bits

// (e + 1) - e with e = 1e20 exp(0.7) is 1. Rounding loses it, and an error that is amplified so much
// is said to be.
// RUN: not stablo judge %s --entry cancels --input 0.7 --results %S/data/judge/half --samples 0 | FileCheck %s --check-prefix=CANCELS
// CANCELS: at []: found 5e-1, true 1,{{.*}}allowed 0e0
// CANCELS: output 0: ill-conditioned: errors of rounding are amplified 4.50e15 times

// Differences of functions of neighbours, of which 50 bits cancel: to the last digit of f64, from
// mpmath.
// RUN: not stablo judge %s --entry functions --input 0.7 --results %S/data/judge/functions --widest 1e30 --format json | FileCheck %s --check-prefix=FUNCTIONS
// FUNCTIONS: "max_ulps":0.4969{{[0-9]+}},{{.*}}"truth":"7.2762411253449982306285169085e-16"
// FUNCTIONS-SAME: "truth":{"bits":256,"unknown":0}

// Likewise of the error function and its complement, and (f + 1) - f with f = 1e20 x, and x by a Fourier
// transform and back.
// RUN: not stablo judge %s --entry special --input 0.7 --results %S/data/judge/half --samples 0 --format json | FileCheck %s --check-prefix=SPECIAL
// SPECIAL: "truth":"6.13975413097856468567239003654e-16"{{.*}}"truth":{"bits":256,"unknown":0}
// RUN: not stablo judge %s --entry complement --input 20.0 --results %S/data/judge/half --samples 0 --format json | FileCheck %s --check-prefix=COMPLEMENT
// COMPLEMENT: "truth":"-7.67754739565392053912394874972e-189"{{.*}}"truth":{"bits":256,"unknown":0}
// RUN: stablo judge %s --entry transforms --input 0.7 --results %S/data/judge/half --samples 0 --widest 1e30 --format json | FileCheck %s --check-prefix=TRANSFORMS
// TRANSFORMS: "truth":"{{1|1e0|9[.]9+e-1}}{{[^"]*}}"{{.*}}"truth":{"bits":256,"unknown":0}

// Powers of halves of odd numbers are products with a root, and the transform of a unit vector is a
// root of unity.
// RUN: not stablo judge %s --entry powers --input 0.7 --input -1.5 --results %S/data/judge/half --samples 0 | FileCheck %s --check-prefix=INVERSE
// INVERSE: true 1.7074694419062767910130435351
// RUN: not stablo judge %s --entry powers --input 0.7 --input 20.5 --results %S/data/judge/half --samples 0 | FileCheck %s --check-prefix=POWERS
// POWERS: true 6.675899963777399201867457
// RUN: not stablo judge %s --entry roots --results %S/data/judge/half --samples 0 | FileCheck %s --check-prefix=ROOTS
// ROOTS: true 8.175848131515836965049208

func.func @main(%x: tensor<f64>, %n: tensor<i32>) -> tensor<f64> {
  %i = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%a = %x, %k = %i) : tensor<f64>, tensor<i32>
    cond {
      %1 = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1.0> : tensor<f64>
      %four = stablehlo.constant dense<4.0> : tensor<f64>
      %step = stablehlo.constant dense<1> : tensor<i32>
      %1 = stablehlo.subtract %one, %a : tensor<f64>
      %2 = stablehlo.multiply %a, %1 : tensor<f64>
      %3 = stablehlo.multiply %four, %2 : tensor<f64>
      %4 = stablehlo.add %k, %step : tensor<i32>
      stablehlo.return %3, %4 : tensor<f64>, tensor<i32>
    }
  return %0#0 : tensor<f64>
}

func.func @cancels(%x: tensor<f64>) -> tensor<f64> {
  %large = stablehlo.constant dense<1.0e20> : tensor<f64>
  %one = stablehlo.constant dense<1.0> : tensor<f64>
  %0 = stablehlo.exponential %x : tensor<f64>
  %1 = stablehlo.multiply %0, %large : tensor<f64>
  %2 = stablehlo.add %1, %one : tensor<f64>
  %3 = stablehlo.subtract %2, %1 : tensor<f64>
  return %3 : tensor<f64>
}

// f(x + 2^-50) - f(x): the first 50 bits cancel.
func.func @functions(%x: tensor<f64>) -> tensor<15xf64> {
  %step = stablehlo.constant dense<8.8817841970012523e-16> : tensor<f64>
  %y = stablehlo.add %x, %step : tensor<f64>
  %a0 = stablehlo.exponential %x : tensor<f64>
  %b0 = stablehlo.exponential %y : tensor<f64>
  %a1 = stablehlo.log %x : tensor<f64>
  %b1 = stablehlo.log %y : tensor<f64>
  %a2 = stablehlo.sine %x : tensor<f64>
  %b2 = stablehlo.sine %y : tensor<f64>
  %a3 = stablehlo.cosine %x : tensor<f64>
  %b3 = stablehlo.cosine %y : tensor<f64>
  %a4 = stablehlo.tan %x : tensor<f64>
  %b4 = stablehlo.tan %y : tensor<f64>
  %a5 = chlo.atan %x : tensor<f64> -> tensor<f64>
  %b5 = chlo.atan %y : tensor<f64> -> tensor<f64>
  %a6 = chlo.asin %x : tensor<f64> -> tensor<f64>
  %b6 = chlo.asin %y : tensor<f64> -> tensor<f64>
  %a7 = chlo.acos %x : tensor<f64> -> tensor<f64>
  %b7 = chlo.acos %y : tensor<f64> -> tensor<f64>
  %a8 = chlo.sinh %x : tensor<f64> -> tensor<f64>
  %b8 = chlo.sinh %y : tensor<f64> -> tensor<f64>
  %a9 = chlo.cosh %x : tensor<f64> -> tensor<f64>
  %b9 = chlo.cosh %y : tensor<f64> -> tensor<f64>
  %a10 = stablehlo.tanh %x : tensor<f64>
  %b10 = stablehlo.tanh %y : tensor<f64>
  %a11 = chlo.asinh %x : tensor<f64> -> tensor<f64>
  %b11 = chlo.asinh %y : tensor<f64> -> tensor<f64>
  %a12 = chlo.atanh %x : tensor<f64> -> tensor<f64>
  %b12 = chlo.atanh %y : tensor<f64> -> tensor<f64>
  %a13 = stablehlo.cbrt %x : tensor<f64>
  %b13 = stablehlo.cbrt %y : tensor<f64>
  %a14 = stablehlo.sqrt %x : tensor<f64>
  %b14 = stablehlo.sqrt %y : tensor<f64>
  %ar0 = stablehlo.reshape %a0 : (tensor<f64>) -> tensor<1xf64>
  %ar1 = stablehlo.reshape %a1 : (tensor<f64>) -> tensor<1xf64>
  %ar2 = stablehlo.reshape %a2 : (tensor<f64>) -> tensor<1xf64>
  %ar3 = stablehlo.reshape %a3 : (tensor<f64>) -> tensor<1xf64>
  %ar4 = stablehlo.reshape %a4 : (tensor<f64>) -> tensor<1xf64>
  %ar5 = stablehlo.reshape %a5 : (tensor<f64>) -> tensor<1xf64>
  %ar6 = stablehlo.reshape %a6 : (tensor<f64>) -> tensor<1xf64>
  %ar7 = stablehlo.reshape %a7 : (tensor<f64>) -> tensor<1xf64>
  %ar8 = stablehlo.reshape %a8 : (tensor<f64>) -> tensor<1xf64>
  %ar9 = stablehlo.reshape %a9 : (tensor<f64>) -> tensor<1xf64>
  %ar10 = stablehlo.reshape %a10 : (tensor<f64>) -> tensor<1xf64>
  %ar11 = stablehlo.reshape %a11 : (tensor<f64>) -> tensor<1xf64>
  %ar12 = stablehlo.reshape %a12 : (tensor<f64>) -> tensor<1xf64>
  %ar13 = stablehlo.reshape %a13 : (tensor<f64>) -> tensor<1xf64>
  %ar14 = stablehlo.reshape %a14 : (tensor<f64>) -> tensor<1xf64>
  %a = stablehlo.concatenate %ar0, %ar1, %ar2, %ar3, %ar4, %ar5, %ar6, %ar7, %ar8, %ar9, %ar10, %ar11, %ar12, %ar13, %ar14, dim = 0 : (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>) -> tensor<15xf64>
  %br0 = stablehlo.reshape %b0 : (tensor<f64>) -> tensor<1xf64>
  %br1 = stablehlo.reshape %b1 : (tensor<f64>) -> tensor<1xf64>
  %br2 = stablehlo.reshape %b2 : (tensor<f64>) -> tensor<1xf64>
  %br3 = stablehlo.reshape %b3 : (tensor<f64>) -> tensor<1xf64>
  %br4 = stablehlo.reshape %b4 : (tensor<f64>) -> tensor<1xf64>
  %br5 = stablehlo.reshape %b5 : (tensor<f64>) -> tensor<1xf64>
  %br6 = stablehlo.reshape %b6 : (tensor<f64>) -> tensor<1xf64>
  %br7 = stablehlo.reshape %b7 : (tensor<f64>) -> tensor<1xf64>
  %br8 = stablehlo.reshape %b8 : (tensor<f64>) -> tensor<1xf64>
  %br9 = stablehlo.reshape %b9 : (tensor<f64>) -> tensor<1xf64>
  %br10 = stablehlo.reshape %b10 : (tensor<f64>) -> tensor<1xf64>
  %br11 = stablehlo.reshape %b11 : (tensor<f64>) -> tensor<1xf64>
  %br12 = stablehlo.reshape %b12 : (tensor<f64>) -> tensor<1xf64>
  %br13 = stablehlo.reshape %b13 : (tensor<f64>) -> tensor<1xf64>
  %br14 = stablehlo.reshape %b14 : (tensor<f64>) -> tensor<1xf64>
  %b = stablehlo.concatenate %br0, %br1, %br2, %br3, %br4, %br5, %br6, %br7, %br8, %br9, %br10, %br11, %br12, %br13, %br14, dim = 0 : (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>) -> tensor<15xf64>
  %d = stablehlo.subtract %b, %a : tensor<15xf64>
  return %d : tensor<15xf64>
}

func.func @special(%x: tensor<f64>) -> tensor<f64> {
  %step = stablehlo.constant dense<8.8817841970012523e-16> : tensor<f64>
  %y = stablehlo.add %x, %step : tensor<f64>
  %0 = chlo.erf %x : tensor<f64> -> tensor<f64>
  %1 = chlo.erf %y : tensor<f64> -> tensor<f64>
  %2 = stablehlo.subtract %1, %0 : tensor<f64>
  return %2 : tensor<f64>
}

func.func @complement(%x: tensor<f64>) -> tensor<f64> {
  %step = stablehlo.constant dense<3.552713678800501e-15> : tensor<f64>
  %y = stablehlo.add %x, %step : tensor<f64>
  %0 = chlo.erfc %x : tensor<f64> -> tensor<f64>
  %1 = chlo.erfc %y : tensor<f64> -> tensor<f64>
  %2 = stablehlo.subtract %1, %0 : tensor<f64>
  return %2 : tensor<f64>
}

func.func @transforms(%x: tensor<f64>) -> tensor<f64> {
  %large = stablehlo.constant dense<1.0e20> : tensor<f64>
  %one = stablehlo.constant dense<1.0> : tensor<f64>
  %factors = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf64>
  %0 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f64>) -> tensor<3xf64>
  %1 = stablehlo.multiply %0, %factors : tensor<3xf64>
  %2 = stablehlo.fft %1, type = RFFT, length = [3] : (tensor<3xf64>) -> tensor<2xcomplex<f64>>
  %3 = stablehlo.fft %2, type = IRFFT, length = [3] : (tensor<2xcomplex<f64>>) -> tensor<3xf64>
  %4 = stablehlo.slice %3 [0:1] : (tensor<3xf64>) -> tensor<1xf64>
  %5 = stablehlo.reshape %4 : (tensor<1xf64>) -> tensor<f64>
  %6 = stablehlo.multiply %5, %large : tensor<f64>
  %7 = stablehlo.add %6, %one : tensor<f64>
  %8 = stablehlo.multiply %x, %large : tensor<f64>
  %9 = stablehlo.subtract %7, %8 : tensor<f64>
  return %9 : tensor<f64>
}

func.func @powers(%x: tensor<f64>, %y: tensor<f64>) -> tensor<f64> {
  %0 = stablehlo.power %x, %y : tensor<f64>
  return %0 : tensor<f64>
}

func.func @roots() -> tensor<f64> {
  %numbers = stablehlo.iota dim = 0 : tensor<1024xi32>
  %one = stablehlo.constant dense<1> : tensor<1024xi32>
  %0 = stablehlo.compare EQ, %numbers, %one : (tensor<1024xi32>, tensor<1024xi32>) -> tensor<1024xi1>
  %1 = stablehlo.convert %0 : (tensor<1024xi1>) -> tensor<1024xf64>
  %2 = stablehlo.fft %1, type = RFFT, length = [1024] : (tensor<1024xf64>) -> tensor<513xcomplex<f64>>
  %3 = stablehlo.real %2 : (tensor<513xcomplex<f64>>) -> tensor<513xf64>
  %4 = stablehlo.slice %3 [100:101] : (tensor<513xf64>) -> tensor<1xf64>
  %5 = stablehlo.reshape %4 : (tensor<1xf64>) -> tensor<f64>
  return %5 : tensor<f64>
}
