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

// Of decisions that rounding can flip, both sides are followed: (0.1 + 0.2 + 0.3) - 0.6 + 1 in any
// order is 1 or the number below it, so that the integer is 1 or 0, and nothing else.
// RUN: stablo judge %s --entry decide --input '[0.1, 0.2, 0.3, -0.6]' --results %S/data/judge/index --format json | FileCheck %s --check-prefix=DECIDE
// DECIDE: {"blames":null,"doubts":[{"distance_ulps":{{[^,]*}},"elements":1,"example":"[{{.*}}]","kind":"decision",{{.*}}stablehlo.convert{{.*}}"inside":1,
// RUN: stablo judge %s --entry decide --input '[0.1, 0.2, 0.3, -0.6]' --results %S/data/judge/one
// RUN: not stablo judge %s --entry decide --input '[0.1, 0.2, 0.3, -0.6]' --results %S/data/judge/two | FileCheck %s --check-prefix=DECIDE-OUT
// DECIDE-OUT: output 0: OUTSIDE: 1 of 1 elements

// What depends on such a decision follows from both sides: the element 10 or 20 of a table, by an
// index that is 0 or 1; of a branch, 1 or 2; of the larger of two, its place.
// RUN: stablo judge %s --entry looked_up --input '[0.1, 0.2, 0.3, -0.6]' --results %S/data/judge/ten
// RUN: stablo judge %s --entry looked_up --input '[0.1, 0.2, 0.3, -0.6]' --results %S/data/judge/twenty
// RUN: not stablo judge %s --entry looked_up --input '[0.1, 0.2, 0.3, -0.6]' --results %S/data/judge/thirty | FileCheck %s --check-prefix=LOOKED-UP
// LOOKED-UP: output 0: OUTSIDE: 1 of 1 elements
// RUN: stablo judge %s --entry branch --input '[0.1, 0.2, 0.3, -0.6]' --results %S/data/judge/one
// RUN: stablo judge %s --entry branch --input '[0.1, 0.2, 0.3, -0.6]' --results %S/data/judge/two
// RUN: not stablo judge %s --entry branch --input '[0.1, 0.2, 0.3, -0.6]' --results %S/data/judge/index
// RUN: stablo judge %s --entry largest --input '[0.1, 0.2, 0.3, -0.6]' --results %S/data/judge/index
// RUN: stablo judge %s --entry largest --input '[0.1, 0.2, 0.3, -0.6]' --results %S/data/judge/one
// RUN: not stablo judge %s --entry largest --input '[0.1, 0.2, 0.3, -0.6]' --results %S/data/judge/two

// A loop has no iteration for 1, and one for the number below it. Of three comparisons, of which two
// can be flipped, one to three are true. An update goes to the first element or the second.
// RUN: stablo judge %s --entry repeats --input '[0.1, 0.2, 0.3, -0.6]' --results %S/data/judge/index
// RUN: stablo judge %s --entry repeats --input '[0.1, 0.2, 0.3, -0.6]' --results %S/data/judge/one
// RUN: not stablo judge %s --entry repeats --input '[0.1, 0.2, 0.3, -0.6]' --results %S/data/judge/two | FileCheck %s --check-prefix=REPEATS
// REPEATS: output 0: OUTSIDE: 1 of 1 elements
// REPEATS: judge.mlir:{{[0-9]+}}:{{[0-9]+}}: rounding can change the path of the program: {{.*}}stablehlo.while
// RUN: stablo judge %s --entry counts --input '[0.1, 0.2, 0.3, -0.6]' --results %S/data/judge/one
// RUN: stablo judge %s --entry counts --input '[0.1, 0.2, 0.3, -0.6]' --results %S/data/judge/two
// RUN: not stablo judge %s --entry counts --input '[0.1, 0.2, 0.3, -0.6]' --results %S/data/judge/index | FileCheck %s --check-prefix=COUNTS
// COUNTS: output 0: OUTSIDE: 1 of 1 elements
// RUN: stablo judge %s --entry scatters --input '[0.1, 0.2, 0.3, -0.6]' --results %S/data/judge/index
// RUN: stablo judge %s --entry scatters --input '[0.1, 0.2, 0.3, -0.6]' --results %S/data/judge/one
// RUN: not stablo judge %s --entry scatters --input '[0.1, 0.2, 0.3, -0.6]' --results %S/data/judge/two | FileCheck %s --check-prefix=SCATTERS
// SCATTERS: output 0: OUTSIDE: 1 of 1 elements

// Where a loop may have any number of iterations, nothing is decided: the place, and the distance
// from the flip are reported.
// RUN: not stablo judge %s --entry endless --input '[0.1, 0.2, 0.3, -0.6]' --results %S/data/judge/index | FileCheck %s --check-prefix=ENDLESS
// ENDLESS: output 0: undecided: 1 of 1 elements
// ENDLESS: judge.mlir:{{[0-9]+}}:{{[0-9]+}}: rounding can change the path of the program: {{.*}}stablehlo.while
// ENDLESS: it cannot be decided whether the results are right

// The op to blame is found by recorded values.
// RUN: stablo run %s --entry chain --input '[1.0, 2.0, 3.0]' --trace %t.values --outputs %t.out
// RUN: stablo judge %s --entry chain --input '[1.0, 2.0, 3.0]' --results %t.out --trace %t.values --format json | FileCheck %s --check-prefix=BLAME
// BLAME: {{.*}}"blames":{"accumulated":null,"compared":3,"isolated":[]}

// Values that another backend has recorded go by the names in the text.
// RUN: not stablo judge %s --entry named --input '[1.0, 2.0, 3.0]' --results %S/data/judge/named --trace %S/data/judge/named --format json | FileCheck %s --check-prefix=NAMED
// NAMED: {{.*}}"compared":1,"isolated":[{{.*}}"op":"stablehlo.abs"

// A report has all formats, and a program of the op to blame with its operands and recorded results.
// RUN: not stablo judge %s --entry named --input '[1.0, 2.0, 3.0]' --results %S/data/judge/blamed --trace %S/data/judge/blamed --report %t.report
// RUN: FileCheck %s --check-prefix=REPORT --input-file %t.report/report.txt
// REPORT: output 0: OUTSIDE: 1 of 3 elements
// REPORT-NEXT: at [2]: found 4e0, true 3, off by 4194304.000 ulp, allowed 3e0
// REPORT: the first op that is wrong for its actual operands: {{.*}}judge.mlir:{{[0-9]+}}:{{[0-9]+}}: %3 = stablehlo.abs %7
// REPORT: https://github.com/openxla/stablehlo/blob/main/docs/spec.md#abs
// REPORT: a smaller program that shows it is in `reproducer`
// RUN: FileCheck %s --check-prefix=REPRODUCER --input-file %t.report/reproducer/program.mlir
// REPRODUCER: func.func @main([[X:%[a-z0-9]+]]: tensor<3xf32>) -> tensor<3xf32> {
// REPRODUCER-NEXT: stablehlo.abs [[X]]
// REPRODUCER-NEXT: return
// RUN: not stablo judge %t.report/reproducer/program.mlir --inputs %t.report/reproducer --results %t.report/reproducer | FileCheck %s --check-prefix=AGAIN
// AGAIN: output 0: OUTSIDE: 1 of 3 elements
// RUN: FileCheck %s --check-prefix=JUNIT --input-file %t.report/report.xml
// JUNIT: <testsuite name="{{.*}}judge.mlir" tests="1" failures="1" errors="0" skipped="0">
// JUNIT-NEXT: <testcase classname="{{.*}}judge.mlir" name="output 0"><failure message="OUTSIDE: 1 of 3 elements">
// RUN: FileCheck %s --check-prefix=SARIF --input-file %t.report/report.sarif
// SARIF: "version":"2.1.0"
// RUN: FileCheck %s --check-prefix=PAGE --input-file %t.report/report.html
// PAGE: "judgement":{"model":"ieee","outputs":[{"columns":3,"name":"output 0","rows":1,"shape":[3],"states":"iio","ulps":[0.0,0.0,4194304.0],"verdict":"outside"}]
// PAGE: {"error":{"ulps":4194304.0,"verdict":"outside","width":null}

// RUN: not stablo judge %s --entry sum --input 1.0 --input 1.0 --results %S/data/judge/sum --model abacus 2>&1 | FileCheck %s --check-prefix=MODEL
// MODEL: error: there is no model `abacus`; there are ieee, xla-cpu, xla-gpu, tpu, and files that end in .toml

// Without results, the values that a program's own checks expect are judged, whatever their
// tolerances.
// RUN: stablo judge %s --entry expects | FileCheck %s --check-prefix=EXPECTS
// EXPECTS: judge.mlir:{{[0-9]+}}:{{[0-9]+}}: check.expect_almost_eq_const {{.*}}: inside: 1 elements
// RUN: not stablo judge %s --entry expects_wrong --format json | FileCheck %s --check-prefix=EXPECTS-WRONG
// EXPECTS-WRONG: {{.*}}"verdict":"outside"
// RUN: not stablo judge %s --entry sum --input 1.0 --input 1.0 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: there are neither results to judge nor values that check ops expect

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

// A sum that is 1 or the number below it, less one: 0 or a negative number, and whether it is 1.
func.func private @near(%x: tensor<4xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.constant dense<1.0> : tensor<f32>
  %2 = stablehlo.add %0, %1 : tensor<f32>
  return %2 : tensor<f32>
}

func.func @looked_up(%x: tensor<4xf32>) -> tensor<1xi32> {
  %0 = func.call @near(%x) : (tensor<4xf32>) -> tensor<f32>
  %1 = stablehlo.convert %0 : (tensor<f32>) -> tensor<i32>
  %table = stablehlo.constant dense<[10, 20, 30]> : tensor<3xi32>
  %2 = stablehlo.dynamic_slice %table, %1, sizes = [1] : (tensor<3xi32>, tensor<i32>) -> tensor<1xi32>
  return %2 : tensor<1xi32>
}

func.func @branch(%x: tensor<4xf32>) -> tensor<i32> {
  %0 = func.call @near(%x) : (tensor<4xf32>) -> tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %1 = stablehlo.compare LT, %0, %one : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %2 = "stablehlo.if"(%1) ({
    %3 = stablehlo.constant dense<1> : tensor<i32>
    stablehlo.return %3 : tensor<i32>
  }, {
    %3 = stablehlo.constant dense<2> : tensor<i32>
    stablehlo.return %3 : tensor<i32>
  }) : (tensor<i1>) -> tensor<i32>
  return %2 : tensor<i32>
}

func.func @largest(%x: tensor<4xf32>) -> tensor<i32> {
  %0 = func.call @near(%x) : (tensor<4xf32>) -> tensor<f32>
  %1 = stablehlo.reshape %0 : (tensor<f32>) -> tensor<1xf32>
  %one = stablehlo.constant dense<1.0> : tensor<1xf32>
  %less = stablehlo.constant dense<-5.0> : tensor<1xf32>
  %2 = stablehlo.concatenate %one, %1, %less, dim = 0 : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<3xf32>
  %3 = stablehlo.iota dim = 0 : tensor<3xi32>
  %4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %5 = stablehlo.constant dense<0> : tensor<i32>
  %6:2 = stablehlo.reduce(%2 init: %4), (%3 init: %5) across dimensions = [0] : (tensor<3xf32>, tensor<3xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {
      %7 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %8 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %9 = stablehlo.or %7, %8 : tensor<i1>
      %10 = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %11 = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %12 = stablehlo.and %10, %11 : tensor<i1>
      %13 = stablehlo.or %9, %12 : tensor<i1>
      %14 = stablehlo.select %9, %a, %b : tensor<i1>, tensor<f32>
      %15 = stablehlo.select %13, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %14, %15 : tensor<f32>, tensor<i32>
    }
  return %6#1 : tensor<i32>
}

func.func @repeats(%x: tensor<4xf32>) -> tensor<i32> {
  %0 = func.call @near(%x) : (tensor<4xf32>) -> tensor<f32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %1:2 = stablehlo.while(%a = %0, %n = %i) : tensor<f32>, tensor<i32>
    cond {
      %one = stablehlo.constant dense<1.0> : tensor<f32>
      %2 = stablehlo.compare LT, %a, %one : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %n, %one : tensor<i32>
      %3 = stablehlo.add %a, %a : tensor<f32>
      stablehlo.return %3, %2 : tensor<f32>, tensor<i32>
    }
  return %1#1 : tensor<i32>
}

func.func @counts(%x: tensor<4xf32>) -> tensor<i32> {
  %0 = func.call @near(%x) : (tensor<4xf32>) -> tensor<f32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<3xf32>
  %2 = stablehlo.constant dense<[1.0, 1.0, 2.0]> : tensor<3xf32>
  %3 = stablehlo.compare LT, %1, %2 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  %4 = stablehlo.convert %3 : (tensor<3xi1>) -> tensor<3xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3xi32>, tensor<i32>) -> tensor<i32>
  return %5 : tensor<i32>
}

func.func @scatters(%x: tensor<4xf32>) -> tensor<i32> {
  %0 = func.call @near(%x) : (tensor<4xf32>) -> tensor<f32>
  %1 = stablehlo.convert %0 : (tensor<f32>) -> tensor<i32>
  %2 = stablehlo.reshape %1 : (tensor<i32>) -> tensor<1xi32>
  %3 = stablehlo.constant dense<0> : tensor<2xi32>
  %4 = stablehlo.constant dense<1> : tensor<i32>
  %5 = "stablehlo.scatter"(%3, %2, %4) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %b : tensor<i32>
  }) : (tensor<2xi32>, tensor<1xi32>, tensor<i32>) -> tensor<2xi32>
  %6 = stablehlo.slice %5 [0:1] : (tensor<2xi32>) -> tensor<1xi32>
  %7 = stablehlo.reshape %6 : (tensor<1xi32>) -> tensor<i32>
  return %7 : tensor<i32>
}

func.func @endless(%x: tensor<4xf32>) -> tensor<i32> {
  %0 = func.call @near(%x) : (tensor<4xf32>) -> tensor<f32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %1:2 = stablehlo.while(%a = %0, %n = %i) : tensor<f32>, tensor<i32>
    cond {
      %one = stablehlo.constant dense<1.0> : tensor<f32>
      %2 = stablehlo.compare GT, %a, %one : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %n, %one : tensor<i32>
      stablehlo.return %a, %2 : tensor<f32>, tensor<i32>
    }
  return %1#1 : tensor<i32>
}
