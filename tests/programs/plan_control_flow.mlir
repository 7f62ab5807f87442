// RUN: stablo run %s --engine fast | FileCheck %s
// RUN: stablo run %s --engine reference | FileCheck %s
// RUN: stablo run %s --engine fast --explain-plan | FileCheck %s --check-prefix=PLAN
// RUN: not stablo run %s --engine fast --max-steps 200 2>&1 | FileCheck %s --check-prefix=STEPS
// RUN: not stablo run %s --engine fast --entry forever --max-steps 1000 2>&1 | FileCheck %s --check-prefix=FOREVER

// Values that change places in a loop, stay the same, occur twice or come from around it; loops in
// loops; branches that give values of their own, of others and from around them; movement at indices
// of run time, beyond the ends too.

// 20 Fibonacci numbers from 0 and 1 on: the next ones are 6765 and 10946. The counter goes to both.
// CHECK: output 0:
// CHECK-NEXT: {{^  }}6765{{$}}
// CHECK: output 1:
// CHECK-NEXT: {{^  }}10946{{$}}
// CHECK: output 2:
// CHECK-NEXT: {{^  }}20{{$}}
// CHECK: output 3:
// CHECK-NEXT: {{^  }}7{{$}}
// Two rotations of three values.
// CHECK: output 4:
// CHECK-NEXT: {{^  }}3{{$}}
// CHECK: output 5:
// CHECK-NEXT: {{^  }}1{{$}}
// CHECK: output 6:
// CHECK-NEXT: {{^  }}2{{$}}
// The sum of i * j for i and j below 4, inner sums starting from the outer one: 36.
// CHECK: output 7:
// CHECK-NEXT: {{^  }}36{{$}}
// Branch 1, and the last one for an index out of range.
// CHECK: output 8:
// CHECK-NEXT: {{^  }}107{{$}}
// CHECK: output 9:
// CHECK-NEXT: {{^  }}14{{$}}
// [0, 1, 2, 3, 4, 5] with [7, 7] at 4 (5 is beyond the end), its last three, and reversed.
// CHECK: output 10:
// CHECK-NEXT: {{^  }}{{[[]}}0, 1, 2, 3, 7, 7]{{$}}
// CHECK: output 11:
// CHECK-NEXT: {{^  }}{{[[]}}3, 7, 7]{{$}}
// CHECK: output 12:
// CHECK-NEXT: {{^  }}{{[[]}}7, 7, 3]{{$}}
// The first index is clamped to 0.
// CHECK: output 13:
// CHECK-NEXT: {{^  }}{{[[]}}0, 1]{{$}}
// 9 around and between 3 and 7, and two of these after another.
// CHECK: output 14:
// CHECK-NEXT: {{^  }}{{[[]}}9, 3, 9, 7, 9, 9]{{$}}
// CHECK: output 15:
// CHECK-NEXT: {{^  }}{{[[]}}3, 7, 7, 7, 7, 3]{{$}}

// PLAN: @main: {{.*}} steps
// PLAN: = while
// PLAN-NEXT: cond:
// PLAN: do:
// PLAN: to %
// PLAN: = branch
// PLAN: = move stablehlo.dynamic_update_slice
// PLAN: = move stablehlo.dynamic_slice
// PLAN: = move stablehlo.pad
// PLAN: = move stablehlo.concatenate
// STEPS: the run takes more than 200 steps, which is its limit
// FOREVER: the run takes more than 1000 steps, which is its limit
func.func @main() -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>,
    tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<6xi32>, tensor<3xi32>, tensor<3xi32>,
    tensor<2xi32>, tensor<6xi32>, tensor<6xi32>) {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %2 = stablehlo.constant dense<2> : tensor<i32>
  %3 = stablehlo.constant dense<3> : tensor<i32>
  %4 = stablehlo.constant dense<4> : tensor<i32>
  %7 = stablehlo.constant dense<7> : tensor<i32>
  %20 = stablehlo.constant dense<20> : tensor<i32>
  %f:5 = stablehlo.while(%a = %0, %b = %1, %i = %0, %same = %7, %twice = %0) : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>
    cond {
      %c = stablehlo.compare LT, %i, %20 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %sum = stablehlo.add %a, %b : tensor<i32>
      %n = stablehlo.add %i, %1 : tensor<i32>
      stablehlo.return %b, %sum, %n, %same, %n : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>
    }
  %r:4 = stablehlo.while(%x = %1, %y = %2, %z = %3, %i = %0) : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>
    cond {
      %c = stablehlo.compare LT, %i, %2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %n = func.call @next(%i) : (tensor<i32>) -> tensor<i32>
      stablehlo.return %y, %z, %x, %n : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>
    }
  %s:2 = stablehlo.while(%i = %0, %total = %0) : tensor<i32>, tensor<i32>
    cond {
      %c = stablehlo.compare LT, %i, %4 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %inner:2 = stablehlo.while(%j = %0, %part = %total) : tensor<i32>, tensor<i32>
        cond {
          %c = stablehlo.compare LT, %j, %4 : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        } do {
          %p = stablehlo.multiply %i, %j : tensor<i32>
          %q = stablehlo.add %part, %p : tensor<i32>
          %n = func.call @next(%j) : (tensor<i32>) -> tensor<i32>
          stablehlo.return %n, %q : tensor<i32>, tensor<i32>
        }
      %n = func.call @next(%i) : (tensor<i32>) -> tensor<i32>
      stablehlo.return %n, %inner#1 : tensor<i32>, tensor<i32>
    }
  %hundred = stablehlo.constant dense<100> : tensor<i32>
  %b1 = "stablehlo.case"(%1) ({
    stablehlo.return %0 : tensor<i32>
  }, {
    %v = stablehlo.add %hundred, %7 : tensor<i32>
    stablehlo.return %v : tensor<i32>
  }, {
    stablehlo.return %hundred : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  %b2 = "stablehlo.case"(%20) ({
    stablehlo.return %0 : tensor<i32>
  }, {
    %v = stablehlo.add %f#3, %7 : tensor<i32>
    stablehlo.return %v : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  %numbers = stablehlo.iota dim = 0 : tensor<6xi32>
  // Not known while the plan is made.
  %iota = stablehlo.optimization_barrier %numbers : tensor<6xi32>
  %five = stablehlo.add %4, %1 : tensor<i32>
  %sevens = stablehlo.broadcast_in_dim %f#3, dims = [] : (tensor<i32>) -> tensor<2xi32>
  %u = stablehlo.dynamic_update_slice %iota, %sevens, %five : (tensor<6xi32>, tensor<2xi32>, tensor<i32>) -> tensor<6xi32>
  %l = stablehlo.dynamic_slice %u, %r#3, sizes = [3] : (tensor<6xi32>, tensor<i32>) -> tensor<3xi32>
  %last = stablehlo.slice %u [3:6] : (tensor<6xi32>) -> tensor<3xi32>
  %reversed = stablehlo.reverse %last, dims = [0] : tensor<3xi32>
  %minus = stablehlo.negate %five : tensor<i32>
  %front = stablehlo.dynamic_slice %u, %minus, sizes = [2] : (tensor<6xi32>, tensor<i32>) -> tensor<2xi32>
  %nine = stablehlo.add %five, %4 : tensor<i32>
  %two = stablehlo.slice %u [3:5] : (tensor<6xi32>) -> tensor<2xi32>
  %padded = stablehlo.pad %two, %nine, low = [1], high = [2], interior = [1] : (tensor<2xi32>, tensor<i32>) -> tensor<6xi32>
  %both = stablehlo.concatenate %last, %reversed, dim = 0 : (tensor<3xi32>, tensor<3xi32>) -> tensor<6xi32>
  return %f#0, %f#1, %f#4, %f#3, %r#0, %r#1, %r#2, %s#1, %b1, %b2, %u, %last, %reversed, %front, %padded, %both : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<6xi32>, tensor<3xi32>, tensor<3xi32>, tensor<2xi32>, tensor<6xi32>, tensor<6xi32>
}

func.func private @next(%i: tensor<i32>) -> tensor<i32> {
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.add %i, %1 : tensor<i32>
  return %n : tensor<i32>
}

func.func @forever() -> tensor<i1> {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %r = stablehlo.while(%t = %true) : tensor<i1>
    cond {
      stablehlo.return %t : tensor<i1>
    } do {
      stablehlo.return %t : tensor<i1>
    }
  return %r : tensor<i1>
}
