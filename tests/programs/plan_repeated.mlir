// RUN: stablo run %s --input "[[4.0, 2.0], [2.0, 5.0]]" --input 1 | FileCheck %s
// RUN: stablo run %s --engine reference --input "[[4.0, 2.0], [2.0, 5.0]]" --input 1 | FileCheck %s
// RUN: stablo run %s --explain-plan | FileCheck %s --check-prefix=PLAN

// The same factorization twice, also in a function that is called and under a condition: it runs
// once. With the other triangle, of another matrix, or known only where another branch runs, it
// is another one.

// The factor of [[4, 2], [2, 5]] is [[2, 0], [1, 2]], that of four times the matrix twice as large.
// CHECK: {{\[\[}}6.0, 1.0],
// CHECK-NEXT: [4.0, 6.0]]
// CHECK: {{\[\[}}4.0, 0.0],
// CHECK-NEXT: [2.0, 4.0]]
// PLAN: kernel stablehlo.custom_call
// PLAN: kernel stablehlo.custom_call
// PLAN: branch
// PLAN: kernel stablehlo.custom_call
// PLAN: kernel stablehlo.custom_call
// PLAN-NOT: kernel stablehlo.custom_call
func.func @main(%a: tensor<2x2xf64>, %i: tensor<i32>)
    -> (tensor<2x2xf64>, tensor<2x2xf64>) {
  %l = func.call @factor(%a) : (tensor<2x2xf64>) -> tensor<2x2xf64>
  %m = func.call @factor(%a) : (tensor<2x2xf64>) -> tensor<2x2xf64>
  %u, %u_info = stablehlo.custom_call @lapack_dpotrf_ffi(%a) {mhlo.backend_config = {uplo = 85 : ui8}}
      : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<i32>)
  %c = stablehlo.constant dense<4.0> : tensor<2x2xf64>
  %b = stablehlo.multiply %a, %c : tensor<2x2xf64>
  %r = "stablehlo.case"(%i) ({
    %x = func.call @factor(%b) : (tensor<2x2xf64>) -> tensor<2x2xf64>
    stablehlo.return %x : tensor<2x2xf64>
  }, {
    %x = func.call @factor(%b) : (tensor<2x2xf64>) -> tensor<2x2xf64>
    %y = func.call @factor(%a) : (tensor<2x2xf64>) -> tensor<2x2xf64>
    %z = stablehlo.subtract %x, %y : tensor<2x2xf64>
    %w = stablehlo.add %z, %l : tensor<2x2xf64>
    stablehlo.return %w : tensor<2x2xf64>
  }) : (tensor<i32>) -> tensor<2x2xf64>
  %s = stablehlo.add %l, %m : tensor<2x2xf64>
  %v = stablehlo.add %s, %u : tensor<2x2xf64>
  return %v, %r : tensor<2x2xf64>, tensor<2x2xf64>
}
func.func private @factor(%a: tensor<2x2xf64>) -> tensor<2x2xf64> {
  %l, %info = stablehlo.custom_call @lapack_dpotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}}
      : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<i32>)
  %k = stablehlo.constant dense<[[1.0, 0.0], [1.0, 1.0]]> : tensor<2x2xf64>
  %r = stablehlo.multiply %l, %k : tensor<2x2xf64>
  return %r : tensor<2x2xf64>
}
