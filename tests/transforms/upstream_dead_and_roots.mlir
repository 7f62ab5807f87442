// What upstream's passes leave, and in which order.
// RUN: stablehlo-opt %s --cse | FileCheck %s --check-prefix=CSE
// RUN: stablehlo-opt %s --stablehlo-complex-math-expander | FileCheck %s --check-prefix=ROOT

// An op that only a dead one uses was in use when it was looked at.
// CSE-LABEL: @dead
// CSE: stablehlo.add %arg1, %arg0
// CSE-NOT: stablehlo.multiply
func.func @dead(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  %1 = stablehlo.add %y, %x : tensor<4xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<4xf32>
  %3 = stablehlo.add %x, %y : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// ROOT-LABEL: @root
// ROOT: stablehlo.real
// ROOT-NEXT: stablehlo.compare GE
// ROOT-NEXT: stablehlo.abs
// ROOT-NEXT: stablehlo.imag
// ROOT-NEXT: stablehlo.abs
// ROOT-NEXT: stablehlo.compare EQ
// ROOT-NEXT: stablehlo.sqrt
// ROOT-NEXT: stablehlo.multiply
// ROOT-NEXT: stablehlo.divide
// ROOT-NEXT: stablehlo.maximum
// ROOT-NEXT: stablehlo.minimum
// ROOT-NEXT: stablehlo.compare EQ
func.func @root(%z: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = stablehlo.sqrt %z : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}
