// RUN: stablo run %s | FileCheck %s
// RUN: stablo run %s --engine reference | FileCheck %s
// RUN: stablo run %s --explain-plan | FileCheck %s --check-prefix=PLAN

// Products of one pair of factors for each result are elementwise: they are parts of loops.
// PLAN-NOT: stablehlo.dot_general

func.func @main() -> (tensor<f32>, tensor<2x3xf32>, tensor<i1>) {
  // 0 + ... + 63 = 2016, and 0 + ... + 47 = 1128.
  // CHECK: output 0:
  // CHECK-NEXT: 2274048.0
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %rows = stablehlo.iota dim = 0 : tensor<64xf32>
  %columns = stablehlo.iota dim = 0 : tensor<48xf32>
  %outer = stablehlo.dot_general %rows, %columns, contracting_dims = [] x [] : (tensor<64xf32>, tensor<48xf32>) -> tensor<64x48xf32>
  %sum = stablehlo.reduce(%outer init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x48xf32>, tensor<f32>) -> tensor<f32>

  // The first result is an operand of the second: of the 30 x 40 elements 40 i + j, dimension 1 is a
  // batching dimension, which comes first in the result, and 7 j is its factor.
  // CHECK: output 1:
  // CHECK-NEXT: {{\[}}[7.0, 287.0, 567.0],
  // CHECK-NEXT: [28.0, 588.0, 1148.0]]
  %forty = stablehlo.constant dense<40.0> : tensor<30x1xf32>
  %i = stablehlo.iota dim = 0 : tensor<30x40xf32>
  %j = stablehlo.iota dim = 1 : tensor<30x40xf32>
  %rows_of_i = stablehlo.reshape %i : (tensor<30x40xf32>) -> tensor<30x1x40xf32>
  %steps = stablehlo.dot_general %rows_of_i, %forty, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<30x1x40xf32>, tensor<30x1xf32>) -> tensor<30x40xf32>
  %numbers = stablehlo.add %steps, %j : tensor<30x40xf32>
  %sevens = stablehlo.constant dense<7.0> : tensor<40xf32>
  %some = stablehlo.slice %columns [0:40] : (tensor<48xf32>) -> tensor<40xf32>
  %weights = stablehlo.multiply %sevens, %some : tensor<40xf32>
  %scaled = stablehlo.dot_general %numbers, %weights, batching_dims = [1] x [0], contracting_dims = [] x [] : (tensor<30x40xf32>, tensor<40xf32>) -> tensor<40x30xf32>
  %part = stablehlo.slice %scaled [1:3, 0:3] : (tensor<40x30xf32>) -> tensor<2x3xf32>

  // A sum of products is never negative zero: the inverse of what underflows is positive.
  // CHECK: output 2:
  // CHECK-NEXT: true
  %small = stablehlo.constant dense<-1.0e-200> : tensor<32xf64>
  %other = stablehlo.constant dense<1.0e-200> : tensor<33xf64>
  %one = stablehlo.constant dense<1.0> : tensor<32x33xf64>
  %yes = stablehlo.constant dense<true> : tensor<i1>
  %zeros = stablehlo.dot_general %small, %other, contracting_dims = [] x [] : (tensor<32xf64>, tensor<33xf64>) -> tensor<32x33xf64>
  %inverses = stablehlo.divide %one, %zeros : tensor<32x33xf64>
  %positive = stablehlo.compare GT, %inverses, %one : (tensor<32x33xf64>, tensor<32x33xf64>) -> tensor<32x33xi1>
  %all = stablehlo.reduce(%positive init: %yes) applies stablehlo.and across dimensions = [0, 1] : (tensor<32x33xi1>, tensor<i1>) -> tensor<i1>
  return %sum, %part, %all : tensor<f32>, tensor<2x3xf32>, tensor<i1>
}
