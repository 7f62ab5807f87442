// Errors about what a region returns are at the operand of its return.

// RUN: not stablo check %s 2>&1 | FileCheck %s

func.func @reduce(%a: tensor<3xf32>, %z: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.reduce"(%a, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    // CHECK: :[[#@LINE+1]]:22: error[reduce_c6]
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

func.func @while(%a: tensor<3xf32>, %p: tensor<i1>) -> tensor<3xf32> {
  %0:2 = stablehlo.while(%x = %a, %y = %a) : tensor<3xf32>, tensor<3xf32>
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    // CHECK: :[[#@LINE+1]]:26: error[while_c2]
    stablehlo.return %x, %p : tensor<3xf32>, tensor<i1>
  }
  return %0#0 : tensor<3xf32>
}

func.func @if(%a: tensor<3xf32>, %p: tensor<i1>) -> tensor<3xf32> {
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<3xf32>
  }, {
    // CHECK: :[[#@LINE+1]]:22: error[if_c2]
    stablehlo.return %p : tensor<i1>
  }) : (tensor<i1>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

func.func @sort(%a: tensor<3xf32>) -> tensor<3xf32> {
  %0 = "stablehlo.sort"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    // CHECK: :[[#@LINE+1]]:22: error[sort_c5]
    stablehlo.return %x : tensor<f32>
  }) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// Without a value there is no operand to point at.
func.func @nothing(%a: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK: :[[#@LINE+1]]:8: error[sort_c5]
  %0 = "stablehlo.sort"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return
  }) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
