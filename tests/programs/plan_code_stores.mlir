// RUN: stablo run %s --input ones | FileCheck %s
// RUN: stablo run %s --input ones --engine reference | FileCheck %s

// A value that is needed in parts and as a whole behind an op that is called (cosine of f64): after
// three rounds, 29 of the numbers 3 to 34 are greater than 5, and each is there twice.
// CHECK: output 0:
// CHECK-NEXT: false
// CHECK: output 1:
// CHECK-NEXT: 58
// Ops whose results nothing uses are no part of the code of a loop: 2112 times 1 to the power of 1.
// CHECK: output 2:
// CHECK-NEXT: 2112.0
func.func @main(%x: tensor<2112xf64>) -> (tensor<1xi1>, tensor<i32>, tensor<f64>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %numbers = stablehlo.iota dim = 0 : tensor<32xi32>
  %ones = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<i32>) -> tensor<32xi32>
  %limits = stablehlo.constant dense<5> : tensor<32xi32>
  %angle = stablehlo.constant dense<0.5> : tensor<f64>
  %no = stablehlo.constant dense<false> : tensor<1xi1>
  %nothing = stablehlo.constant dense<false> : tensor<64xi1>
  %r:5 = stablehlo.while(%c = %zero, %a = %no, %b = %nothing, %y = %angle, %n = %numbers) : tensor<i32>, tensor<1xi1>, tensor<64xi1>, tensor<f64>, tensor<32xi32>
    cond {
      %less = stablehlo.compare LT, %c, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    } do {
      %next = stablehlo.add %c, %one : tensor<i32>
      %added = stablehlo.add %n, %ones : tensor<32xi32>
      %greater = stablehlo.compare GT, %added, %limits : (tensor<32xi32>, tensor<32xi32>) -> tensor<32xi1>
      %cosine = stablehlo.cosine %y : tensor<f64>
      %first = stablehlo.slice %greater [0:1] : (tensor<32xi1>) -> tensor<1xi1>
      %twice = stablehlo.concatenate %greater, %greater, dim = 0 : (tensor<32xi1>, tensor<32xi1>) -> tensor<64xi1>
      stablehlo.return %next, %first, %twice, %cosine, %added : tensor<i32>, tensor<1xi1>, tensor<64xi1>, tensor<f64>, tensor<32xi32>
    }
  %counted = stablehlo.convert %r#2 : (tensor<64xi1>) -> tensor<64xi32>
  %count = stablehlo.reduce(%counted init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<64xi32>, tensor<i32>) -> tensor<i32>
  %power = stablehlo.power %x, %x : tensor<2112xf64>
  %below = stablehlo.compare LT, %power, %x : (tensor<2112xf64>, tensor<2112xf64>) -> tensor<2112xi1>
  %above = stablehlo.not %below : tensor<2112xi1>
  %start = stablehlo.constant dense<0.0> : tensor<f64>
  %sum = stablehlo.reduce(%power init: %start) applies stablehlo.add across dimensions = [0] : (tensor<2112xf64>, tensor<f64>) -> tensor<f64>
  return %r#1, %count, %sum : tensor<1xi1>, tensor<i32>, tensor<f64>
}
