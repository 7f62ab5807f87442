// RUN: stablo run %s --input "[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]" | FileCheck %s
// RUN: stablo run %s --engine reference --input "[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]" | FileCheck %s
// RUN: stablo run %s --explain-plan | FileCheck %s --check-prefix=PLAN

// A loop carries indices, which it never changes and which count from the end: they are constants.
// Two rounds, in which row 2 is added to row 0, and rows 0 and 1 to row 2, one after the other, as
// they were before.

// CHECK: {{\[\[}}15.0, 20.0],
// CHECK-NEXT: [3.0, 4.0],
// CHECK-NEXT: [18.0, 24.0]]
// CHECK: [-1, -3, -2]

// PLAN: = while constant i32, %0 : i32, 3x2xf32
// PLAN: do:
// PLAN-NOT: compare
// PLAN-NOT: select
// PLAN: stablehlo.gather
// PLAN-NOT: broadcast_in_dim
// PLAN: stablehlo.scatter
func.func @main(%x: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3xi32>) {
  %from = stablehlo.constant dense<[-1, -3, -2]> : tensor<3xi32>
  %to = stablehlo.constant dense<[[0], [2], [2]]> : tensor<3x1xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %size = stablehlo.constant dense<3> : tensor<3xi32>
  %none = stablehlo.constant dense<0> : tensor<3xi32>
  %0:3 = stablehlo.while(%i = %zero, %rows = %from, %a = %x)
      : tensor<i32>, tensor<3xi32>, tensor<3x2xf32>
  cond {
    %c = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %n = stablehlo.add %i, %one : tensor<i32>
    %negative = stablehlo.compare LT, %rows, %none : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %added = stablehlo.add %rows, %size : tensor<3xi32>
    %row = stablehlo.select %negative, %added, %rows : tensor<3xi1>, tensor<3xi32>
    %vectors = stablehlo.broadcast_in_dim %row, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %g = "stablehlo.gather"(%a, %vectors) <{
      dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
                                            start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 2>
    }> : (tensor<3x2xf32>, tensor<3x1xi32>) -> tensor<3x2xf32>
    %s = "stablehlo.scatter"(%a, %to, %g) <{
      scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
          inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
    }> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %sum = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %sum : tensor<f32>
    }) : (tensor<3x2xf32>, tensor<3x1xi32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    stablehlo.return %n, %rows, %s : tensor<i32>, tensor<3xi32>, tensor<3x2xf32>
  }
  return %0#2, %0#1 : tensor<3x2xf32>, tensor<3xi32>
}
