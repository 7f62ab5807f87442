// Decompositions are added to the module of the op, where the composite resolves them. Dead constants are erased first.

// RUN: stablehlo-opt %s --stablehlo-wrap-in-composite='op-names=stablehlo.add version=1' | FileCheck %s

// CHECK: module @inner {
// CHECK-NEXT: func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT: %[[R:.+]] = stablehlo.composite "stablehlo.add" %arg0, %arg0 {decomposition = @stablehlo.add.impl, version = 1 : i32}
// CHECK-NEXT: return %[[R]]
// CHECK: func.func private @stablehlo.add.impl
module {
  module @inner {
    func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.constant dense<1.0> : tensor<2xf32>
      %1 = stablehlo.add %a, %a : tensor<2xf32>
      return %1 : tensor<2xf32>
    }
  }
}
