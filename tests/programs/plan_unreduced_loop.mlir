// RUN: stablo run %s --input 4.0 | FileCheck %s
// RUN: stablo run %s --input 4.0 --engine reference | FileCheck %s
// RUN: stablo run %s --input 4.0 --explain-plan | FileCheck %s --check-prefix=PLAN

// A reduction of no dimensions adds its initial value to each element: in three rounds, 4 becomes
// (4 + 1) / 2 = 2.5, 1.75 and 1.375. It is code like other work on small values, not a kernel.
// PLAN: block of 6 ops:
// PLAN-NOT: kernel stablehlo.reduce
// PLAN: return %7
// CHECK: output 0:
// CHECK-NEXT: 1.375
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %step = stablehlo.constant dense<1> : tensor<i32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %r:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<f32> cond {
    %c = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %next = stablehlo.add %i, %step : tensor<i32>
    %sum = stablehlo.reduce(%a init: %one) applies stablehlo.add across dimensions = [] : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %b = stablehlo.multiply %sum, %half : tensor<f32>
    stablehlo.return %next, %b : tensor<i32>, tensor<f32>
  }
  return %r#1 : tensor<f32>
}
