// RUN: stablehlo-opt %S/data/top_k.mlirbc | FileCheck %s

// The writer did not know the attribute `is_stable`.
// CHECK: chlo.top_k(%arg0, k = 2) : tensor<4x4xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
