// Contradictory or unused sizes are errors; a tensor with one integer may become a constant.

// RUN: not stablo refine %s --dim b=3 --dim b=4 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not stablo refine %s --dim b=4 --batch 3 2>&1 | FileCheck %s --check-prefix=BATCH
// RUN: stablo refine %s --dim b=4 --batch 4 | FileCheck %s
// RUN: stablo refine %s --constant 1=7 --batch 4 | FileCheck %s --check-prefix=CONSTANT
// RUN: stablo refine %s --batch 4 -o %t.mlir
// RUN: not stablo refine %t.mlir --batch 3 2>&1 | FileCheck %s --check-prefix=STATIC

// TWICE: dimension `b` cannot be both 3 and 4
// BATCH: the batch cannot be 3
// CHECK: func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<1xi64>)
// CONSTANT: func.func @main(%arg0: tensor<4xf32>)
// CONSTANT: stablehlo.constant dense<7> : tensor<1xi64>
// STATIC: no argument has a dynamic first dimension
func.func @main(%x: tensor<?xf32>, %n: tensor<1xi64>) -> (tensor<?xf32>, tensor<1xi64>) {
  %b = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %0 = call @double(%b, %x) : (tensor<i32>, tensor<?xf32>) -> tensor<?xf32>
  return %0, %n : tensor<?xf32>, tensor<1xi64>
}
func.func private @double(%b: tensor<i32> {jax.global_constant = "b"}, %x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.add %x, %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
