// `check.expect_within` compares values with bounds that are derived from the program: no tolerance
// is chosen. The sum of 0.1 and 0.2 in f32 is what it is.
// RUN: stablo run %s --entry sum | FileCheck %s --check-prefix=SUM --allow-empty
// SUM-NOT: error
// RUN: stablo run %s --entry sum --engine reference

// Zeros in place of subnormal numbers are no correct rounding: 1e-30 * 1e-10 is 1e-40 in f32. A
// backend as XLA's may compute them.
// RUN: stablo run %s --entry tiny
// RUN: not stablo run %s --entry tiny --like xla 2>&1 | FileCheck %s --check-prefix=TINY
// TINY: within.mlir:{{[0-9]+}}:3: error[check.expect_within]: 1 of 2 elements is outside of the bounds of the model ieee; the worst at [1]: found 0e0, true 1.0000000165225088533275579024
// RUN: stablo run %s --entry tiny_xla --like xla

// Bounds of a sum in which almost everything cancels say nothing.
// RUN: not stablo run %s --entry cancelled 2>&1 | FileCheck %s --check-prefix=WIDE
// WIDE: error[check.expect_within]: 1 of 1 element is undecided by the bounds of the model ieee

// An op in a loop checks the value of each iteration.
// RUN: stablo run %s --entry loop
// RUN: not stablo run %s --entry loop --like xla 2>&1 | FileCheck %s --check-prefix=LOOP
// LOOP: error[check.expect_within]: 1 of 1 element is outside

// Values that a program expects have no part in derived bounds: 0.3 is not the sum, but the sum is
// the sum. Checks of integers stay.
// RUN: not stablo run %s --entry expects 2>&1 | FileCheck %s --check-prefix=EXPECTS
// EXPECTS: error[check.expect_close]
// RUN: stablo run %s --entry expects --within ieee
// RUN: not stablo run %s --entry integers --within ieee 2>&1 | FileCheck %s --check-prefix=INTEGERS
// INTEGERS: error[check.expect_eq]

// RUN: not stablo run %S/data/judge/nothing.txt --within ieee 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: error: the program has no `check` ops that compare floating-point numbers
// RUN: not stablo run %s --entry nothing --within abacus 2>&1 | FileCheck %s --check-prefix=MODEL
// MODEL: error[check.expect_within]: there is no model `abacus`; there are ieee, xla-cpu, xla-gpu, tpu

func.func @sum() {
  %x = stablehlo.constant dense<0.1> : tensor<f32>
  %y = stablehlo.constant dense<0.2> : tensor<f32>
  %0 = stablehlo.add %x, %y : tensor<f32>
  check.expect_within %0 : tensor<f32>
  return
}

func.func @tiny() {
  %x = stablehlo.constant dense<[1.0, 1.0e-30]> : tensor<2xf32>
  %y = stablehlo.constant dense<[3.0, 1.0e-10]> : tensor<2xf32>
  %0 = stablehlo.multiply %x, %y : tensor<2xf32>
  check.expect_within %0 : tensor<2xf32>
  return
}

func.func @tiny_xla() {
  %x = stablehlo.constant dense<[1.0, 1.0e-30]> : tensor<2xf32>
  %y = stablehlo.constant dense<[3.0, 1.0e-10]> : tensor<2xf32>
  %0 = stablehlo.multiply %x, %y : tensor<2xf32>
  check.expect_within %0, model = "xla-cpu" : tensor<2xf32>
  return
}

func.func @cancelled() {
  %x = stablehlo.constant dense<[1.0, 1.0e8, -1.0e8, 1.0]> : tensor<4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  check.expect_within %0 : tensor<f32>
  return
}

func.func @loop() {
  %x = stablehlo.constant dense<1.0e-10> : tensor<f32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%a = %x, %n = %i) : tensor<f32>, tensor<i32>
    cond {
      %four = stablehlo.constant dense<4> : tensor<i32>
      %1 = stablehlo.compare LT, %n, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %1 = stablehlo.add %n, %one : tensor<i32>
      %2 = stablehlo.multiply %a, %x : tensor<f32>
      check.expect_within %2 : tensor<f32>
      stablehlo.return %2, %1 : tensor<f32>, tensor<i32>
    }
  return
}

func.func @expects() {
  %x = stablehlo.constant dense<0.1> : tensor<f32>
  %y = stablehlo.constant dense<0.2> : tensor<f32>
  %0 = stablehlo.add %x, %y : tensor<f32>
  %1 = stablehlo.constant dense<0.30001> : tensor<f32>
  stablehlo.custom_call @check.expect_close(%0, %1) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> ()
  check.expect_almost_eq %0, %1 : tensor<f32>
  return
}

func.func @integers() {
  %x = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.convert %x : (tensor<f32>) -> tensor<i32>
  check.expect_close %x, %x, max_ulp_difference = 0 : tensor<f32>, tensor<f32>
  check.expect_eq_const %0, dense<2> : tensor<i32>
  return
}

func.func @nothing() {
  return
}
