// The decomposition of a composite is refined for the operands of each.

// RUN: stablehlo-opt %s --stablehlo-refine-shapes | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: stablehlo.composite "test.id" %{{.+}} {decomposition = @id} : (tensor<2xf32>) -> tensor<2xf32>
// CHECK: stablehlo.composite "test.id" %{{.+}} {decomposition = @id_0} : (tensor<3xf32>) -> tensor<3xf32>
// CHECK: stablehlo.composite "test.id" %{{.+}} {decomposition = @id} : (tensor<2xf32>) -> tensor<2xf32>
func.func @main(%a: tensor<2xf32>, %b: tensor<3xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %0 = stablehlo.convert %a : (tensor<2xf32>) -> tensor<?xf32>
  %1 = stablehlo.convert %b : (tensor<3xf32>) -> tensor<?xf32>
  %2 = stablehlo.composite "test.id" %0 {decomposition = @id} : (tensor<?xf32>) -> tensor<?xf32>
  %3 = stablehlo.composite "test.id" %1 {decomposition = @id} : (tensor<?xf32>) -> tensor<?xf32>
  %4 = stablehlo.composite "test.id" %0 {decomposition = @id} : (tensor<?xf32>) -> tensor<?xf32>
  return %2, %3, %4 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// CHECK: func.func private @id_0(%arg0: tensor<3xf32>) -> tensor<3xf32>
// CHECK: func.func private @id(%arg0: tensor<2xf32>) -> tensor<2xf32>
func.func private @id(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
