// A function that parses is verified, even if another one does not parse.

// RUN: not stablo check %s 2>&1 | FileCheck %s

// CHECK: check_independent.mlir:[[#@LINE+4]]:{{[0-9]+}}: error
// CHECK: check_independent.mlir:[[#@LINE+7]]:{{[0-9]+}}: error
// CHECK: 2 errors
func.func @wrong(%x: tensor<2xf32>) -> tensor<3xf32> {
  %0 = stablehlo.abs %x : (tensor<2xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func @unread(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.no_such_op %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
