// A function that parses is verified, even if another one does not parse.

// RUN: not stablo check %s 2>&1 | FileCheck %s

// CHECK: check_independent.mlir:[[#@LINE+6]]:{{[0-9]+}}: error
// CHECK: check_independent.mlir:[[#@LINE+9]]:{{[0-9]+}}: error
// CHECK: check_independent.mlir:[[#@LINE+12]]:{{[0-9]+}}: error[return]: value 0 has type tensor<2xf32>, but result 0 of @other
// CHECK-NOT: @missing
// CHECK: 3 errors
func.func @wrong(%x: tensor<2xf32>) -> tensor<3xf32> {
  %0 = stablehlo.abs %x : (tensor<2xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func @unread(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.no_such_op %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @other(%x: tensor<2xf32>) -> tensor<4xf32> {
  return %x : tensor<2xf32>
}
// Its definition may be what could not be read.
func.func @calls(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @missing(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
