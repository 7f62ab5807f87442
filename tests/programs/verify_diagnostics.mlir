// RUN: stablehlo-opt -split-input-file --verify-diagnostics %s | FileCheck %s
// RUN: not stablehlo-opt -split-input-file %s

// Chunks are read separately: the same name may be defined in each.
// CHECK: func.func @f
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

func.func @f(%x: tensor<2xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{}}
  return %x : tensor<2xf32>
}

// -----

// CHECK: func.func @g
func.func @g() {
  return
}
