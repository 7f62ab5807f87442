// A recursive function keeps its declared result shapes. Adjacent equal constants are merged.

// RUN: stablehlo-opt %s --stablehlo-refine-shapes | FileCheck %s

// CHECK-LABEL: func.func @main(%arg0: tensor<1xi32>) -> tensor<4xi32>
// CHECK: %[[C:.+]] = stablehlo.constant dense<20> : tensor<3xi32>
// CHECK-NEXT: stablehlo.concatenate %arg0, %[[C]], dim = 0 : (tensor<1xi32>, tensor<3xi32>) -> tensor<4xi32>
// CHECK: call @main(%arg0) : (tensor<1xi32>) -> tensor<4xi32>
func.func @main(%a: tensor<1xi32>) -> tensor<4xi32> {
  %c = stablehlo.constant dense<20> : tensor<1xi32>
  %0 = stablehlo.concatenate %a, %c, %c, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
  %1 = call @main(%a) : (tensor<1xi32>) -> tensor<4xi32>
  %2 = stablehlo.add %0, %1 : tensor<4xi32>
  return %2 : tensor<4xi32>
}
