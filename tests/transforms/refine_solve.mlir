// The size of an argument follows from a named size that is computed from it, with the assertions of the program.

// RUN: stablo refine %s --dim b=5 --dim c=2 | FileCheck %s
// RUN: not stablo refine %s --dim b=5 2>&1 | FileCheck %s --check-prefix=GIVE
// RUN: not stablo refine %s --dim b=3000000000 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not stablo refine %s --dim d=5 2>&1 | FileCheck %s --check-prefix=NAMES
// RUN: not stablo refine %s --dim b=5 --dim c=2 --batch 14 2>&1 | FileCheck %s --check-prefix=BATCH
// RUN: stablo refine %s --dim c=2 --batch 13 | FileCheck %s
// RUN: not stablo refine %s --dim c=2 --batch 14 2>&1 | FileCheck %s --check-prefix=REMAINDER

// 13 = 2 * 5 + 3, 5 = 10 / 2, 1 = 5 mod 2, 2 = min(5, 2), 8 = 10 - 2
// CHECK: func.func @main(%arg0: tensor<13xf32>, %arg1: tensor<5x1x2x8xf32>)
// GIVE: the sizes of these dimensions must be given, too: `c`
// LARGE: dimension `b` cannot be 3000000000: the program computes with it as i32
// NAMES: there is no dimension `d`; the program has `b`, `c`
// BATCH: the batch cannot be 14: the names given make the first dimension of argument 1 5
// REMAINDER: the division had remainder 1
func.func @main(%x: tensor<?xf32>, %y: tensor<?x?x?x?xf32>) -> tensor<i32> {
  %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %minus_three = stablehlo.constant dense<-3> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %1 = stablehlo.add %0, %minus_three : tensor<i32>
  %b, %rest = call @divmod(%1, %two) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.compare EQ, %rest, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%none, %rest) {error_message = "the division had remainder {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()

  %ten = stablehlo.constant dense<10> : tensor<i32>
  %size = stablehlo.get_dimension_size %y, dim = 3 : (tensor<?x?x?x?xf32>) -> tensor<i32>
  %c = stablehlo.subtract %ten, %size : tensor<i32>

  %y0 = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?x?x?x?xf32>) -> tensor<i32>
  %product = stablehlo.multiply %b, %c : tensor<i32>
  %half, %odd = call @divmod(%product, %two) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
  %is_half = stablehlo.compare EQ, %y0, %half : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%is_half) {error_message = "", has_side_effect = true} : (tensor<i1>) -> ()
  %y1 = stablehlo.get_dimension_size %y, dim = 1 : (tensor<?x?x?x?xf32>) -> tensor<i32>
  %quotient, %mod = call @divmod(%b, %two) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
  %is_mod = stablehlo.compare EQ, %y1, %mod : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%is_mod) {error_message = "", has_side_effect = true} : (tensor<i1>) -> ()
  %y2 = stablehlo.get_dimension_size %y, dim = 2 : (tensor<?x?x?x?xf32>) -> tensor<i32>
  %min = stablehlo.minimum %b, %c : tensor<i32>
  %is_min = stablehlo.compare EQ, %min, %y2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%is_min) {error_message = "", has_side_effect = true} : (tensor<i1>) -> ()

  %result = call @body(%b, %c) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %result : tensor<i32>
}
func.func private @body(%b: tensor<i32> {jax.global_constant = "b"}, %c: tensor<i32> {jax.global_constant = "c"}) -> tensor<i32> {
  %0 = stablehlo.add %b, %c : tensor<i32>
  return %0 : tensor<i32>
}
// Exporters also write empty names.
func.func private @divmod(%a: tensor<i32> {jax.global_constant = ""}, %b: tensor<i32> {jax.global_constant = ""}) -> (tensor<i32>, tensor<i32>) {
  %0 = stablehlo.divide %a, %b : tensor<i32>
  %1 = stablehlo.remainder %a, %b : tensor<i32>
  return %0, %1 : tensor<i32>, tensor<i32>
}
