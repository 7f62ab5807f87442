// Results that are correctly rounded are inside of the bounds, and nothing else is: 0.1 + 0.2 in
// f32 is 0x3E99999A, and its neighbours are not.
// RUN: stablo judge %s --entry sum --input 0.1 --input 0.2 --results %S/data/judge/sum | FileCheck %s --check-prefix=SUM
// SUM: output 0: inside: 1 elements
// SUM: all results are inside of the bounds (model ieee)
// RUN: not stablo judge %s --entry sum --input 0.1 --input 0.2 --results %S/data/judge/above | FileCheck %s --check-prefix=ABOVE
// ABOVE: output 0: OUTSIDE: 1 of 1 elements
// ABOVE-NEXT: at []: found 3.00000041{{[0-9]*}}e-1, true 3.0000000447{{[0-9]*}}e-1, off by 1.250 ulp, allowed 3.0000001192{{[0-9]*}}e-1
// ABOVE: there are results that rounding does not explain

// Sums may be made in any order: of n numbers, the error is at most (n - 1) u times the sum of their
// absolute values.
// RUN: stablo judge %s --entry total --input '[1.0, 1.0e8, -1.0e8, 1.0]' --results %S/data/judge/zero --widest 1e9 | FileCheck %s --check-prefix=TOTAL
// TOTAL: output 0: inside: 1 elements
// RUN: not stablo judge %s --entry total --input '[1.0, 1.0e2, -1.0e2, 1.0]' --results %S/data/judge/zero | FileCheck %s --check-prefix=TOTAL-OUT
// TOTAL-OUT: output 0: OUTSIDE
// TOTAL-OUT-NEXT: at []: found 0e0, true 2,{{.*}}allowed 2e0

// A licence that explains the results is named: a product that stays unrounded before it is added.
// RUN: not stablo judge %s --entry multiply_add --input 0.1 --input 0.1 --input -0.01 --results %S/data/judge/fused --format json | FileCheck %s --check-prefix=FUSED
// FUSED: {{.*}}"licences":[{"licence":"fused multiply-adds","outside":0}
// RUN: stablo judge %s --entry multiply_add --input 0.1 --input 0.1 --input -0.01 --results %S/data/judge/fused --model %S/data/judge/fma.toml | FileCheck %s --check-prefix=FMA
// FMA: all results are inside of the bounds (model fma)

// Decisions that rounding can flip are named, and nobody is blamed for them.
// RUN: not stablo judge %s --entry decide --input '[0.1, 0.2, 0.3, -0.6]' --results %S/data/judge/index | FileCheck %s --check-prefix=DECIDE
// DECIDE: output 0: undecided: 1 of 1 elements
// DECIDE: judge.mlir:{{[0-9]+}}:{{[0-9]+}}: rounding can flip this decision: {{.*}}stablehlo.convert
// DECIDE: it cannot be decided whether the results are right

// The op to blame is found by recorded values.
// RUN: stablo run %s --entry chain --input '[1.0, 2.0, 3.0]' --trace %t.values --outputs %t.out
// RUN: stablo judge %s --entry chain --input '[1.0, 2.0, 3.0]' --results %t.out --trace %t.values --format json | FileCheck %s --check-prefix=BLAME
// BLAME: {{.*}}"blames":{"accumulated":null,"compared":3,"isolated":[]}

// Values that another backend has recorded go by the names in the text.
// RUN: not stablo judge %s --entry named --input '[1.0, 2.0, 3.0]' --results %S/data/judge/named --trace %S/data/judge/named --format json | FileCheck %s --check-prefix=NAMED
// NAMED: {{.*}}"compared":1,"isolated":[{{.*}}"op":"stablehlo.abs"

// RUN: not stablo judge %s --entry sum --input 1.0 --input 1.0 --results %S/data/judge/sum --model abacus 2>&1 | FileCheck %s --check-prefix=MODEL
// MODEL: error: there is no model `abacus`; there are ieee, xla-cpu, xla-gpu, tpu, and files that end in .toml

// Without results, the values that a program's own checks expect are judged, whatever their
// tolerances.
// RUN: stablo judge %s --entry expects | FileCheck %s --check-prefix=EXPECTS
// EXPECTS: judge.mlir:{{[0-9]+}}:{{[0-9]+}}: check.expect_almost_eq_const {{.*}}: inside: 1 elements
// RUN: not stablo judge %s --entry expects_wrong --format json | FileCheck %s --check-prefix=EXPECTS-WRONG
// EXPECTS-WRONG: {{.*}}"verdict":"outside"
// RUN: not stablo judge %s --entry sum --input 1.0 --input 1.0 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: there are neither results to judge nor ops of the check dialect

func.func @named(%x: tensor<3xf32>) -> tensor<3xf32> {
  %7 = stablehlo.negate %x : tensor<3xf32>
  %3 = stablehlo.abs %7 : tensor<3xf32>
  return %3 : tensor<3xf32>
}

func.func @expects() {
  %x = stablehlo.constant dense<0.1> : tensor<f32>
  %y = stablehlo.constant dense<0.2> : tensor<f32>
  %0 = stablehlo.add %x, %y : tensor<f32>
  check.expect_almost_eq_const %0, dense<0x3E99999A> : tensor<f32>
  return
}

func.func @expects_wrong() {
  %x = stablehlo.constant dense<0.1> : tensor<f32>
  %y = stablehlo.constant dense<0.2> : tensor<f32>
  %0 = stablehlo.add %x, %y : tensor<f32>
  stablehlo.custom_call @check.expect_almost_eq(%0, %x) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> ()
  return
}

func.func @sum(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %x, %y : tensor<f32>
  return %0 : tensor<f32>
}

func.func @total(%x: tensor<4xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

func.func @multiply_add(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.multiply %x, %y : tensor<f32>
  %1 = stablehlo.add %0, %z : tensor<f32>
  return %1 : tensor<f32>
}

func.func @decide(%x: tensor<4xf32>) -> tensor<i32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.constant dense<1.0> : tensor<f32>
  %2 = stablehlo.add %0, %1 : tensor<f32>
  %3 = stablehlo.convert %2 : (tensor<f32>) -> tensor<i32>
  return %3 : tensor<i32>
}

func.func @chain(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.exponential %x : tensor<3xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<3xf32>
  %2 = stablehlo.log %1 : tensor<3xf32>
  return %2 : tensor<3xf32>
}
