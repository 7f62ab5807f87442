// RUN: stablo run %s | FileCheck %s
// RUN: stablo run %s --threads 2 | FileCheck %s
// RUN: stablo run %s --engine reference | FileCheck %s
// RUN: stablo run %s --explain-plan | FileCheck %s --check-prefix=PLAN

// Weights of eight bits that are converted and scaled for a product with a vector are so some rows
// at a time, and are never stored as wide ones.

func.func @main() -> tensor<4xf32> {
  // The weights of row i are its remainder modulo 7, and scaled half of that. The sum of 1,024 of
  // them is 512 times the remainder; 2,044 is a multiple of 7.
  // CHECK: [0.0, 512.0, 1024.0, 1536.0]
  // PLAN: row loop of {{.*}} over 2048 rows : 1x2048xf32
  // PLAN-NEXT: loop of {{.*}} : 2048x1024xf32
  // PLAN: convert
  // PLAN: stablehlo.dot_general {{.*}} : 1x2048xf32
  %row = stablehlo.iota dim = 0 : tensor<2048x1024xi32>
  %seven = stablehlo.constant dense<7> : tensor<2048x1024xi32>
  %remainder = stablehlo.remainder %row, %seven : tensor<2048x1024xi32>
  %weights = stablehlo.convert %remainder : (tensor<2048x1024xi32>) -> tensor<2048x1024xi8>
  %half = stablehlo.constant dense<0.5> : tensor<2048x1xf32>
  %scales = stablehlo.broadcast_in_dim %half, dims = [0, 1] : (tensor<2048x1xf32>) -> tensor<2048x1024xf32>
  %wide = stablehlo.convert %weights : (tensor<2048x1024xi8>) -> tensor<2048x1024xf32>
  %scaled = stablehlo.multiply %wide, %scales : tensor<2048x1024xf32>
  %x = stablehlo.constant dense<1.0> : tensor<1x1024xf32>
  %y = stablehlo.dot_general %x, %scaled, contracting_dims = [1] x [1] : (tensor<1x1024xf32>, tensor<2048x1024xf32>) -> tensor<1x2048xf32>
  %last = stablehlo.slice %y [0:1, 2044:2048] : (tensor<1x2048xf32>) -> tensor<1x4xf32>
  %result = stablehlo.reshape %last : (tensor<1x4xf32>) -> tensor<4xf32>
  return %result : tensor<4xf32>
}
