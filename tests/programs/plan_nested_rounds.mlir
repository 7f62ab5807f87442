// RUN: stablo run %s --input 3 | FileCheck %s
// RUN: stablo run %s --input 3 --engine reference | FileCheck %s

// Loops that run once within one that runs once: what the outer loop returns is what the nodes of the
// inner one compute. 3 + 1, 3 * 5 and 3 + 1 + 3.
// CHECK: output 0: tensor<i64>
// CHECK-NEXT: 4
// CHECK-NEXT: output 1: tensor<i64>
// CHECK-NEXT: 15
// CHECK-NEXT: output 2: tensor<i64>
// CHECK-NEXT: 7
func.func @main(%x: tensor<i64>) -> (tensor<i64>, tensor<i64>, tensor<i64>) {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %five = stablehlo.constant dense<5> : tensor<i64>
  %outer:3 = stablehlo.while(%i = %zero, %a = %x, %b = %x) : tensor<i64>, tensor<i64>, tensor<i64>
  cond {
    %0 = stablehlo.compare LT, %i, %one, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  } do {
    %inner:3 = stablehlo.while(%j = %zero, %c = %a, %d = %b) : tensor<i64>, tensor<i64>, tensor<i64>
    cond {
      %0 = stablehlo.compare LT, %j, %one, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %0 : tensor<i1>
    } do {
      %sum = stablehlo.add %c, %one : tensor<i64>
      %product = stablehlo.multiply %d, %five : tensor<i64>
      %next = stablehlo.add %j, %one : tensor<i64>
      stablehlo.return %next, %sum, %product : tensor<i64>, tensor<i64>, tensor<i64>
    }
    %next = stablehlo.add %i, %one : tensor<i64>
    stablehlo.return %next, %inner#1, %inner#2 : tensor<i64>, tensor<i64>, tensor<i64>
  }
  %total = stablehlo.add %outer#1, %x : tensor<i64>
  return %outer#1, %outer#2, %total : tensor<i64>, tensor<i64>, tensor<i64>
}
