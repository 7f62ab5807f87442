// RUN: not stablehlo-translate --interpret -split-input-file %s 2>&1 | FileCheck %s

// Infinite recursion is an error, not a stack overflow.
// CHECK: calls and regions nest deeper than
func.func @main() -> tensor<f32> {
  %0 = call @main() : () -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// A failed check reports its location and the call stack.
// CHECK: [[#@LINE+3]]:3: error[check.expect_eq]
// CHECK: [[#@LINE+8]]:3: note: called from here
func.func private @check(%x: tensor<i32>, %y: tensor<i32>) {
  check.expect_eq %x, %y : tensor<i32>
  return
}
func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.constant dense<2> : tensor<i32>
  call @check(%0, %1) : (tensor<i32>, tensor<i32>) -> ()
  return
}

// -----

// A declaration cannot be run.
// CHECK: error[call]: @external has no body
func.func private @external()
func.func @main() {
  call @external() : () -> ()
  return
}
