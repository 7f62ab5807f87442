// Sizes that an assertion or an op excludes are reported, and not the values that stay dynamic for
// it.
// RUN: not stablo refine %s --input-types 'tensor<2xf32>,tensor<5xf32>,tensor<i32>' 2>&1 | FileCheck %s --check-prefix=ASSERTED
// RUN: not stablo refine %s --input-types 'tensor<2xf32>,tensor<4xf32>,tensor<i32>' 2>&1 | FileCheck %s --check-prefix=OP
// RUN: stablo refine %s --input-types 'tensor<2xf32>,tensor<2xf32>,tensor<i32>' | FileCheck %s

// ASSERTED: error[shape_assertion]: 2 and 5 must have one parity
// ASSERTED-NOT: error[
// OP-NOT: stays dynamic
// OP: error[add_c1]: all operands and results must have compatible shapes; found lhs tensor<2xf32>, rhs tensor<4xf32>
// CHECK: stablehlo.add %{{.+}} : tensor<2xf32>
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>, %unused: tensor<i32>) -> tensor<?xf32> {
  %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %1 = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %2 = stablehlo.add %0, %1 : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %3 = stablehlo.remainder %2, %two : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %4 = stablehlo.compare EQ, %3, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%4, %0, %1) {error_message = "{0} and {1} must have one parity", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
  %5 = stablehlo.add %x, %y : tensor<?xf32>
  return %5 : tensor<?xf32>
}
