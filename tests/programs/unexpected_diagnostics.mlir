// RUN: not stablehlo-opt -verify-diagnostics %s 2>&1 | FileCheck %s

// CHECK-DAG: :[[#@LINE+2]]:{{.*}} unexpected error
// CHECK-DAG: no diagnostic for the expectation `expected-error @+3 {{[{][{]}}other{{[}][}]}}`
func.func @f(%x: tensor<2xf32>) -> tensor<3xf32> { return %x : tensor<2xf32> }
// expected-error @+3 {{other}}
