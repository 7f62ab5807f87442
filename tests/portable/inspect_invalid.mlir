// RUN: not stablo inspect %s 2>&1 | FileCheck %s

// CHECK: inspect_invalid.mlir:[[@LINE+2]]:3: error{{.*}}tensor<3xf32>
func.func @f(%x: tensor<2xf32>) -> tensor<3xf32> {
  return %x : tensor<2xf32>
}
