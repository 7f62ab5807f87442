// RUN: stablo run %s --engine fast | FileCheck %s
// RUN: stablo run %s --engine reference | FileCheck %s

// Small values that are updated: in their place where they end, in that of another one where they
// are read later. In the round with number i of 4:

// i * i at i.
// CHECK: output 0:
// CHECK-NEXT: {{^  }}{{[[]}}0, 1, 4, 9]{{$}}
// i + 1 at i, which becomes two values.
// CHECK: output 1:
// CHECK-NEXT: {{^  }}{{[[]}}1, 2, 3, 4]{{$}}
// CHECK: output 2:
// CHECK-NEXT: {{^  }}{{[[]}}1, 2, 3, 4]{{$}}
// 7 at i in the first of two values, which then change places.
// CHECK: output 3:
// CHECK-NEXT: {{^  }}{{[[]}}7, 0, 7, 0]{{$}}
// CHECK: output 4:
// CHECK-NEXT: {{^  }}{{[[]}}1, 7, 1, 7]{{$}}
// i at 0, then 5 at i.
// CHECK: output 5:
// CHECK-NEXT: {{^  }}{{[[]}}3, 5, 5, 5]{{$}}
// What is at 3 - i, at i.
// CHECK: output 6:
// CHECK-NEXT: {{^  }}{{[[]}}4, 3, 3, 4]{{$}}
// The sum of the value with 9 at i, and without.
// CHECK: output 7:
// CHECK-NEXT: {{^  }}{{[[]}}80, 44, 26, 17]{{$}}
// 5 * i at i, and 1 more everywhere.
// CHECK: output 8:
// CHECK-NEXT: {{^  }}{{[[]}}4, 8, 12, 16]{{$}}
// After the loop: [7, 1, 11, 9] with 0 at the end.
// CHECK: output 9:
// CHECK-NEXT: {{^  }}{{[[]}}7, 1, 11, 0]{{$}}
// [0, 2, 8, 18] with its first half as the second one.
// CHECK: output 10:
// CHECK-NEXT: {{^  }}{{[[]}}0, 2, 0, 2]{{$}}

func.func @main() -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %zeros = stablehlo.constant dense<0> : tensor<4xi32>
  %ones = stablehlo.constant dense<1> : tensor<4xi32>
  %numbers = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %loop:10 = stablehlo.while(%i = %zero, %a = %zeros, %p = %zeros, %q = %zeros, %r = %zeros, %s = %ones, %c = %zeros, %d = %numbers, %f = %ones, %g = %zeros)
      : tensor<i32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
    cond {
      %less = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      %square = stablehlo.multiply %i, %i : tensor<i32>
      %square_1 = stablehlo.reshape %square : (tensor<i32>) -> tensor<1xi32>
      %a1 = stablehlo.dynamic_update_slice %a, %square_1, %i : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
      %next_1 = stablehlo.reshape %next : (tensor<i32>) -> tensor<1xi32>
      %p1 = stablehlo.dynamic_update_slice %p, %next_1, %i : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
      %seven = stablehlo.constant dense<7> : tensor<1xi32>
      %r1 = stablehlo.dynamic_update_slice %r, %seven, %i : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
      %i_1 = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
      %five_1 = stablehlo.constant dense<5> : tensor<1xi32>
      %c1 = stablehlo.dynamic_update_slice %c, %i_1, %zero : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
      %c2 = stablehlo.dynamic_update_slice %c1, %five_1, %i : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
      %opposite = stablehlo.subtract %three, %i : tensor<i32>
      %moved = stablehlo.dynamic_slice %d, %opposite, sizes = [1] : (tensor<4xi32>, tensor<i32>) -> tensor<1xi32>
      %d1 = stablehlo.dynamic_update_slice %d, %moved, %i : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
      %nine = stablehlo.constant dense<9> : tensor<1xi32>
      %f1 = stablehlo.dynamic_update_slice %f, %nine, %i : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
      %f2 = stablehlo.add %f, %f1 : tensor<4xi32>
      %times = stablehlo.multiply %five, %i : tensor<i32>
      %times_1 = stablehlo.reshape %times : (tensor<i32>) -> tensor<1xi32>
      %g1 = stablehlo.dynamic_update_slice %g, %times_1, %i : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
      %g2 = stablehlo.add %g1, %ones : tensor<4xi32>
      stablehlo.return %next, %a1, %p1, %p1, %s, %r1, %c2, %d1, %f2, %g2 : tensor<i32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
    }
  %none = stablehlo.constant dense<0> : tensor<1xi32>
  %sum = stablehlo.add %loop#1, %loop#4 : tensor<4xi32>
  %ended = stablehlo.dynamic_update_slice %sum, %none, %loop#0 : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
  %double = stablehlo.add %loop#1, %loop#1 : tensor<4xi32>
  %half = stablehlo.slice %double [0:2] : (tensor<4xi32>) -> tensor<2xi32>
  %middle = stablehlo.subtract %loop#0, %two : tensor<i32>
  %twice = stablehlo.dynamic_update_slice %double, %half, %middle : (tensor<4xi32>, tensor<2xi32>, tensor<i32>) -> tensor<4xi32>
  return %loop#1, %loop#2, %loop#3, %loop#4, %loop#5, %loop#6, %loop#7, %loop#8, %loop#9, %ended, %twice : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}
