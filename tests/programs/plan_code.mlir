// RUN: stablo run %s | FileCheck %s
// RUN: stablo run %s --engine reference | FileCheck %s

// Values that change places in each round of a loop: Fibonacci numbers, three that rotate, nine of
// which each takes the place of the next, and a condition that is carried.

// CHECK: output 0:
// CHECK-NEXT: 832040
func.func @main() -> (tensor<i32>, tensor<f32>, tensor<2xf32>, tensor<f64>, tensor<i32>, tensor<9xi64>, tensor<i32>, tensor<3x3xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %thirty = stablehlo.constant dense<30> : tensor<i32>
  %fibonacci:3 = stablehlo.while(%i = %zero, %a = %zero, %b = %one) : tensor<i32>, tensor<i32>, tensor<i32>
    cond {
      %c = stablehlo.compare LT, %i, %thirty : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      %sum = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %next, %b, %sum : tensor<i32>, tensor<i32>, tensor<i32>
    }

  // Each of 1, 2 and 3 takes the place of the one before: after 4 rounds as after one.
  // CHECK: output 1:
  // CHECK-NEXT: 2.0
  // CHECK: output 2:
  // CHECK-NEXT: [3.0, 4.0]
  // CHECK: output 3:
  // CHECK-NEXT: 5.0
  %four = stablehlo.constant dense<4> : tensor<i32>
  %x = stablehlo.constant dense<1.0> : tensor<f32>
  %y = stablehlo.constant dense<2.0> : tensor<f32>
  %z = stablehlo.constant dense<3.0> : tensor<f32>
  %pair = stablehlo.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %wide = stablehlo.constant dense<5.0> : tensor<f64>
  %rotated:6 = stablehlo.while(%i = %zero, %a = %x, %b = %y, %c = %z, %p = %pair, %w = %wide) : tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<2xf32>, tensor<f64>
    cond {
      %less = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %next, %b, %c, %a, %p, %w : tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<2xf32>, tensor<f64>
    }

  // 27 has four one bits.
  // CHECK: output 4:
  // CHECK-NEXT: 4
  %number = stablehlo.constant dense<27> : tensor<i32>
  %more = stablehlo.constant dense<true> : tensor<i1>
  %bits:3 = stablehlo.while(%n = %number, %count = %zero, %go = %more) : tensor<i32>, tensor<i32>, tensor<i1>
    cond {
      stablehlo.return %go : tensor<i1>
    } do {
      %bit = stablehlo.and %n, %one : tensor<i32>
      %added = stablehlo.add %count, %bit : tensor<i32>
      %rest = stablehlo.shift_right_logical %n, %one : tensor<i32>
      %go_on = stablehlo.compare NE, %rest, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %rest, %added, %go_on : tensor<i32>, tensor<i32>, tensor<i1>
    }

  // Each of nine numbers takes the place of the next one: after ten rounds as after one.
  // CHECK: output 5:
  // CHECK-NEXT: [8, 0, 1, 2, 3, 4, 5, 6, 7]
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %n0 = stablehlo.constant dense<0> : tensor<i64>
  %n1 = stablehlo.constant dense<1> : tensor<i64>
  %n2 = stablehlo.constant dense<2> : tensor<i64>
  %n3 = stablehlo.constant dense<3> : tensor<i64>
  %n4 = stablehlo.constant dense<4> : tensor<i64>
  %n5 = stablehlo.constant dense<5> : tensor<i64>
  %n6 = stablehlo.constant dense<6> : tensor<i64>
  %n7 = stablehlo.constant dense<7> : tensor<i64>
  %n8 = stablehlo.constant dense<8> : tensor<i64>
  %nine:10 = stablehlo.while(%i = %zero, %a = %n0, %b = %n1, %c = %n2, %d = %n3, %e = %n4, %f = %n5, %g = %n6, %h = %n7, %j = %n8) : tensor<i32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>
    cond {
      %less = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %next, %j, %a, %b, %c, %d, %e, %f, %g, %h : tensor<i32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>
    }
  %p0 = stablehlo.reshape %nine#1 : (tensor<i64>) -> tensor<1xi64>
  %p1 = stablehlo.reshape %nine#2 : (tensor<i64>) -> tensor<1xi64>
  %p2 = stablehlo.reshape %nine#3 : (tensor<i64>) -> tensor<1xi64>
  %p3 = stablehlo.reshape %nine#4 : (tensor<i64>) -> tensor<1xi64>
  %p4 = stablehlo.reshape %nine#5 : (tensor<i64>) -> tensor<1xi64>
  %p5 = stablehlo.reshape %nine#6 : (tensor<i64>) -> tensor<1xi64>
  %p6 = stablehlo.reshape %nine#7 : (tensor<i64>) -> tensor<1xi64>
  %p7 = stablehlo.reshape %nine#8 : (tensor<i64>) -> tensor<1xi64>
  %p8 = stablehlo.reshape %nine#9 : (tensor<i64>) -> tensor<1xi64>
  %parts = stablehlo.concatenate %p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, dim = 0 : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<9xi64>

  // The trace of [[0, 1, 2], [3, 4, 5], [6, 7, 8]].
  // CHECK: output 6:
  // CHECK-NEXT: 12
  %square = stablehlo.iota dim = 0 : tensor<9xi32>
  %matrix = stablehlo.reshape %square : (tensor<9xi32>) -> tensor<3x3xi32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %trace:2 = stablehlo.while(%i = %zero, %sum = %zero) : tensor<i32>, tensor<i32>
    cond {
      %less = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      %element = stablehlo.dynamic_slice %matrix, %i, %i, sizes = [1, 1] : (tensor<3x3xi32>, tensor<i32>, tensor<i32>) -> tensor<1x1xi32>
      %scalar = stablehlo.reshape %element : (tensor<1x1xi32>) -> tensor<i32>
      %added = stablehlo.add %sum, %scalar : tensor<i32>
      stablehlo.return %next, %added : tensor<i32>, tensor<i32>
    }

  // [[0, 1, 2], [3, 4, 5], [6, 7, 8]] times itself.
  // CHECK: output 7:
  // CHECK-NEXT: {{[[]}}[15.0, 18.0, 21.0],
  // CHECK-NEXT: [42.0, 54.0, 66.0],
  // CHECK-NEXT: [69.0, 90.0, 111.0]]
  %floats = stablehlo.convert %matrix : (tensor<3x3xi32>) -> tensor<3x3xf32>
  %product = stablehlo.dot_general %floats, %floats, contracting_dims = [1] x [0] : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return %fibonacci#1, %rotated#1, %rotated#4, %rotated#5, %bits#1, %parts, %trace#1, %product : tensor<i32>, tensor<f32>, tensor<2xf32>, tensor<f64>, tensor<i32>, tensor<9xi64>, tensor<i32>, tensor<3x3xf32>
}
