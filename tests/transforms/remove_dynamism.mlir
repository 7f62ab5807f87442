// A function with a dynamic dimension becomes static: by separate passes, by the combined pass, and by the program that takes names and batch sizes.

// RUN: stablehlo-opt %s --stablehlo-refine-arguments='types=tensor<16x3xf32>,tensor<?xf32>' --stablehlo-refine-shapes --stablehlo-canonicalize-dynamism | FileCheck %s --check-prefixes=CHECK,PASSES
// RUN: stablehlo-opt %s --stablehlo-remove-dynamism='types=tensor<16x3xf32>,tensor<?xf32>' | FileCheck %s --check-prefixes=CHECK,PASSES
// RUN: stablo refine %s --dim b=16 | FileCheck %s --check-prefixes=CHECK,NAMED
// RUN: stablo refine %s --batch 16 | FileCheck %s --check-prefixes=CHECK,NAMED
// RUN: stablo refine %s --input-types 'tensor<16x3xf32>, tensor<32xf32>' | FileCheck %s --check-prefixes=CHECK,NAMED
// RUN: not stablo refine %s --input-types 'tensor<16x3xf32>, tensor<31xf32>' 2>&1 | FileCheck %s --check-prefix=ASSERTION
// RUN: not stablo refine %s --dim c=16 2>&1 | FileCheck %s --check-prefix=NO-NAME
// RUN: not stablo refine %s 2>&1 | FileCheck %s --check-prefix=MISSING

// ASSERTION: second argument has 31 elements, not 32
// NO-NAME: there is no dimension `c`; the program has `b`
// MISSING: `b`

// CHECK-LABEL: func.func public @main
// PASSES-SAME: (%arg0: tensor<16x3xf32>, %arg1: tensor<?xf32>) -> tensor<16x3xf32>
// NAMED-SAME: (%arg0: tensor<16x3xf32>, %arg1: tensor<32xf32>) -> tensor<16x3xf32>
// PASSES: stablehlo.custom_call @shape_assertion
// NAMED-NOT: stablehlo.custom_call
// CHECK: %[[R:.+]] = call @double(%arg0) : (tensor<16x3xf32>) -> tensor<16x3xf32>
// CHECK: return %[[R]]
func.func public @main(%arg0: tensor<?x3xf32>, %arg1: tensor<?xf32>) -> tensor<?x3xf32> {
  %two = stablehlo.constant dense<2> : tensor<i32>
  %b = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %twice = stablehlo.multiply %b, %two : tensor<i32>
  %other = stablehlo.get_dimension_size %arg1, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %same = stablehlo.compare EQ, %other, %twice, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%same, %other, %twice) {
    error_message = "second argument has {0} elements, not {1}", has_side_effect = true, api_version = 2 : i32
  } : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
  %0 = call @double(%b, %arg0) : (tensor<i32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// CHECK-LABEL: func.func private @double(%arg0: tensor<16x3xf32>) -> tensor<16x3xf32>
// CHECK: stablehlo.broadcast_in_dim %{{.*}}, dims = [] : (tensor<f32>) -> tensor<16x3xf32>
func.func private @double(%b: tensor<i32> {jax.global_constant = "b"}, %x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %cst = stablehlo.constant dense<2.0> : tensor<f32>
  %three = stablehlo.constant dense<3> : tensor<1xi32>
  %0 = stablehlo.reshape %b : (tensor<i32>) -> tensor<1xi32>
  %1 = stablehlo.concatenate %0, %three, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %2 = stablehlo.dynamic_broadcast_in_dim %cst, %1, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
  %3 = stablehlo.multiply %x, %2 : tensor<?x3xf32>
  return %3 : tensor<?x3xf32>
}
