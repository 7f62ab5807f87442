// RUN: stablo run %s --input zeros --dump-plan-after=scatters | FileCheck %s
// RUN: stablo run %s --input zeros | FileCheck %s --check-prefix RESULT

// Of ten rounds, six have an index of the row: the others are outside, and change nothing. The scatter
// of two windows stays, as does the one outside of the loop.

// CHECK: stablehlo.while
// CHECK: %[[UPDATE:.*]] = stablehlo.add {{.*}} : f32
// CHECK: %[[INDEX:.*]] = stablehlo.scatter %{{.*}} : i32
// CHECK-NEXT: %[[LE:.*]] = stablehlo.scatter %[[INDEX]], constant i32 : i1
// CHECK-NEXT: %[[GE:.*]] = stablehlo.scatter %[[INDEX]], constant i32 : i1
// CHECK-NEXT: %[[INSIDE:.*]] = stablehlo.scatter %[[LE]], %[[GE]] : i1
// CHECK-NEXT: %[[OLD:.*]] = stablehlo.scatter %[[X:.*]], %[[INDEX]] : 1xf32
// CHECK-NEXT: %[[WINDOW:.*]] = stablehlo.scatter %[[UPDATE]] : 1xf32
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.scatter %[[OLD]], %[[WINDOW]] : 1xf32
// CHECK-NEXT: %[[NEW:.*]] = stablehlo.scatter %[[INSIDE]], %[[SUM]], %[[OLD]] : 1xf32
// CHECK-NEXT: %[[ONE:.*]] = stablehlo.scatter %[[X]], %[[NEW]], %[[INDEX]] : 6xf32
// CHECK-NEXT: %{{.*}} = stablehlo.scatter %[[ONE]], constant 2x1xi32, constant 2xf32 : 6xf32
// CHECK: return
// CHECK: = stablehlo.scatter %{{.*}}, constant 1xi32, constant f32 : 6xf32

// RESULT: tensor<6xf32>
// RESULT: [10.0, 4.0, 5.0, 6.0, 7.0, 8.0]
func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {
  %first = stablehlo.constant dense<-2> : tensor<i32>
  %end = stablehlo.constant dense<8> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3.0> : tensor<f32>
  %halves = stablehlo.constant dense<0.5> : tensor<2xf32>
  %both = stablehlo.constant dense<[[0], [0]]> : tensor<2x1xi32>
  %i, %sum = stablehlo.while(%n = %first, %old = %x) : tensor<i32>, tensor<6xf32>
  cond {
    %more = stablehlo.compare LT, %n, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %number = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
    %update = stablehlo.add %number, %three : tensor<f32>
    %index = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %new = "stablehlo.scatter"(%old, %index, %update) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<6xf32>, tensor<1xi32>, tensor<f32>) -> tensor<6xf32>
    %two = "stablehlo.scatter"(%new, %both, %halves) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<6xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<6xf32>
    %next = stablehlo.add %n, %one : tensor<i32>
    stablehlo.return %next, %two : tensor<i32>, tensor<6xf32>
  }
  %zero = stablehlo.constant dense<0> : tensor<1xi32>
  %minus = stablehlo.constant dense<-3.0> : tensor<f32>
  %result = "stablehlo.scatter"(%sum, %zero, %minus) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<6xf32>, tensor<1xi32>, tensor<f32>) -> tensor<6xf32>
  return %result : tensor<6xf32>
}
