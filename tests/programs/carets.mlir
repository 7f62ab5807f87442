// Carets are below the operand, attribute or type at fault.
// RUN: not stablo check %s 2>&1 | FileCheck %s
// RUN: not stablo check --color always %s 2>&1 | FileCheck %s --check-prefix=COLOR
// RUN: not stablo check --format json %s | FileCheck %s --check-prefix=JSON
// COLOR: {{.}}[91merror[dot_general_c6]{{.}}[0m:
// JSON: "column":9,"end_column":18,"end_line":[[#@LINE+5]]
// JSON: "help":"did you mean `%input`?"
// CHECK: carets.mlir:[[#@LINE+3]]:9: error[dot_general_c6]
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %i: tensor<7x1xi32>, %s: tensor<f32>, %n: tensor<i32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims =
        [2] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
// CHECK: carets.mlir:[[#@LINE+3]]:69: error[transpose_c3]
// CHECK-NEXT:  %1 =
// CHECK-NEXT: | {{ *}}^^^^^^^^^^^^^^^{{$}}
  %1 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK: carets.mlir:[[#@LINE+3]]:25: error[operand-type]
// CHECK-NEXT:  %2 =
// CHECK-NEXT: | {{ *}}^^{{$}}
  %2 = stablehlo.select %a, %a, %a : tensor<2x3xf32>, tensor<2x3xf32>
// The name of a parameter, in an attribute of several lines.
// CHECK: carets.mlir:[[#@LINE+3]]:49: error[gather_c8]
  %3 = "stablehlo.gather"(%b, %i) <{
    dimension_numbers = #stablehlo.gather<
      offset_dims = [1], collapsed_slice_dims = [2], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 4>
  }> : (tensor<3x4xf32>, tensor<7x1xi32>) -> tensor<7x4xf32>
// Several at once, or the op as a whole: its name.
// CHECK: carets.mlir:[[#@LINE+1]]:8: error[add_c1]
  %4 = stablehlo.add %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
// The dimensions of a reduction, whose op begins at its operands, and its name.
// CHECK: carets.mlir:[[#@LINE+1]]:80: error[reduce_c4]
  %5 = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK: carets.mlir:[[#@LINE+1]]:8: error[reduce_c2]
  %6 = stablehlo.reduce(%a init: %n) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<i32>) -> tensor<2xf32>
  return
}
func.func @g(%input: tensor<2xf32>) {
  // CHECK: error[parse]: the value `%inptu` is used but not defined
  // CHECK: {{^}}help: did you mean `%input`?
  %0 = stablehlo.abs %inptu : tensor<2xf32>
  return
}
