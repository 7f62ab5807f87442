// The cause of a dynamic value is reported as a chain, from the value to the argument that it depends on.

// RUN: not stablo refine %s 2>&1 | FileCheck %s
// RUN: stablo refine %s --constant 0=3 | FileCheck %s --check-prefix=STATIC

// CHECK: stays_dynamic.mlir:[[#@LINE+6]]:8: error[dynamic]: result 0 of stablehlo.dynamic_iota stays dynamic: its type is tensor<?xf32>
// CHECK: [[#@LINE+4]]:8: note: output_shape of stablehlo.dynamic_iota is computed by stablehlo.reshape
// CHECK: [[#@LINE+1]]:17: note: operand of stablehlo.reshape is argument 0 of @main, which is not a constant
func.func @main(%n: tensor<i32>) -> tensor<?xf32> {
  // The shape is known only at run time.
  %0 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %1 = stablehlo.dynamic_iota %0, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// STATIC: func.func @main() -> tensor<3xf32>
// STATIC-NEXT: %[[R:.+]] = stablehlo.iota dim = 0 : tensor<3xf32>
// STATIC-NEXT: return %[[R]]
