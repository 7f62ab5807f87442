// Symbols become private except those listed; dead ops are erased, and then their operands.

// RUN: stablehlo-opt %s --symbol-privatize=exclude=main --trivial-dce | FileCheck %s

// CHECK: func.func @main(%arg0: tensor<i32>) -> tensor<i32> {
// CHECK-NEXT: return %arg0
// CHECK: func.func private @other()
func.func @main(%x: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.add %x, %x : tensor<i32>
  %1 = stablehlo.multiply %0, %x : tensor<i32>
  return %x : tensor<i32>
}
func.func @other() {
  return
}
