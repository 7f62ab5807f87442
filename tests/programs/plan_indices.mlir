// RUN: stablo run %s | FileCheck %s
// RUN: stablo run %s --engine reference | FileCheck %s
// RUN: stablo run %s --explain-plan | FileCheck %s --check-prefix=PLAN

// Gathers and scatters of known shapes are prepared: no step is a kernel of the interpreter.
// PLAN-NOT: kernel
// PLAN: stablehlo.scatter
// PLAN-NOT: kernel
// PLAN: stablehlo.gather
// PLAN-NOT: kernel

// 1, 2 and 4 are added to elements 1, 3 and 1 of zeros; the index 9 is outside.
// CHECK: output 0:
// CHECK-NEXT: [0.0, 5.0, 0.0, 2.0]
// The last of two updates of element 2 stays.
// CHECK: output 1:
// CHECK-NEXT: [0, 0, 7, 0]
// Columns 2, 0 and, for 5, the last one of [[0, 1, 2], [3, 4, 5]].
// CHECK: output 2:
// CHECK-NEXT: {{[[]}}[2.0, 0.0, 2.0],
// CHECK-NEXT: [5.0, 3.0, 5.0]]
func.func @main() -> (tensor<4xf32>, tensor<4xi8>, tensor<2x3xf32>) {
  %zeros = stablehlo.constant dense<0.0> : tensor<4xf32>
  %at = stablehlo.constant dense<[[1], [3], [1], [9]]> : tensor<4x1xi32>
  %values = stablehlo.constant dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf32>
  %sums = "stablehlo.scatter"(%zeros, %at, %values) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<4xf32>
  %bytes = stablehlo.constant dense<0> : tensor<4xi8>
  %twice = stablehlo.constant dense<[[2], [2]]> : tensor<2x1xi32>
  %new = stablehlo.constant dense<[5, 7]> : tensor<2xi8>
  %last = "stablehlo.scatter"(%bytes, %twice, %new) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>):
    stablehlo.return %b : tensor<i8>
  }) : (tensor<4xi8>, tensor<2x1xi32>, tensor<2xi8>) -> tensor<4xi8>
  // Values that depend on the sums are unknown while the plan is made; the first sum is 0.
  %first = stablehlo.slice %sums [0:1] : (tensor<4xf32>) -> tensor<1xf32>
  %unknown = stablehlo.broadcast_in_dim %first, dims = [1] : (tensor<1xf32>) -> tensor<2x3xf32>
  %known = stablehlo.constant dense<[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]> : tensor<2x3xf32>
  %x = stablehlo.add %known, %unknown : tensor<2x3xf32>
  %columns = stablehlo.constant dense<[[2], [0], [5]]> : tensor<3x1xi32>
  %taken = "stablehlo.gather"(%x, %columns) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 1>}> : (tensor<2x3xf32>, tensor<3x1xi32>) -> tensor<2x3xf32>
  return %sums, %last, %taken : tensor<4xf32>, tensor<4xi8>, tensor<2x3xf32>
}
