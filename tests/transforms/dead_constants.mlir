// Unused constants are dead code.

// RUN: stablehlo-opt %s --canonicalize | FileCheck %s
// RUN: stablehlo-opt %s --stablehlo-aggressive-folder | FileCheck %s
// RUN: stablehlo-opt %s --inline | FileCheck %s

// CHECK-LABEL: func.func @f()
// CHECK-NEXT: %[[C:.+]] = stablehlo.constant dense<1> : tensor<i32>
// CHECK-NEXT: return %[[C]]
func.func @f() -> tensor<i32> {
  %d = stablehlo.constant dense<2> : tensor<i32>
  %c = stablehlo.constant dense<1> : tensor<i32>
  %e = stablehlo.constant dense<3> : tensor<i32>
  return %c : tensor<i32>
}
