// Ops that differ from an earlier one only in value names, or almost.

// RUN: stablehlo-opt %s --split-input-file --verify-diagnostics --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func.func @names
// CHECK-SAME: (%[[A:[a-z0-9]+]]: tensor<2xf32>{{.*}}, %[[B:[a-z0-9]+]]: tensor<2xf32>
func.func @names(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: %[[X:.*]] = stablehlo.subtract %[[A]], %[[B]] : tensor<2xf32> loc("x")
  %0 = stablehlo.subtract %a, %b : tensor<2xf32> loc("x")
  // CHECK: %[[Y:.*]] = stablehlo.subtract %[[B]], %[[A]] : tensor<2xf32> loc("y z")
  %y-1 = stablehlo.subtract %b, %a : tensor<2xf32> loc("y z")
  // CHECK: %[[Z:.*]] = stablehlo.subtract %[[Y]], %[[X]] : tensor<2xf32> loc("{{.*}}":13:11)
  %z.$ =  stablehlo.subtract %y-1,%0 : tensor<2xf32>
  // CHECK: %[[W:.*]] = stablehlo.subtract %[[Z]], %[[Z]] : tensor<2xf32> loc("w")
  %w = stablehlo.subtract %z.$, %z.$ : tensor<2xf32> loc(#w)
  return %w : tensor<2xf32>
}
#w = loc("w")

// -----

// CHECK-LABEL: func.func @results
func.func @results(%a: tensor<i32>, %b: tensor<f32>) -> (tensor<f32>, tensor<i32>) {
  // CHECK: %[[X:.*]]:2 = stablehlo.optimization_barrier %{{.*}}, %{{.*}} : tensor<i32>, tensor<f32>
  %0:2 = stablehlo.optimization_barrier %a, %b : tensor<i32>, tensor<f32>
  // CHECK: %[[Y:.*]]:2 = stablehlo.optimization_barrier %[[X]]#0, %[[X]]#1 : tensor<i32>, tensor<f32>
  %1:2 = stablehlo.optimization_barrier %0#0, %0#1 : tensor<i32>, tensor<f32>
  // CHECK: %[[Z:.*]]:2 = stablehlo.optimization_barrier %[[Y]]#0, %[[Y]]#1 : tensor<i32>, tensor<f32>
  %2, %3 = stablehlo.optimization_barrier %1#0, %1#1 : tensor<i32>, tensor<f32>
  // CHECK: return %[[Z]]#1, %[[Z]]#0
  return %3, %2 : tensor<f32>, tensor<i32>
}

// -----

// A value name inside a string is not a name.
// CHECK-LABEL: func.func @strings
func.func @strings(%a: tensor<f32>, %b: tensor<f32>) {
  // CHECK: stablehlo.custom_call @f(%[[A:.*]], %[[B:.*]]) {note = "%a"} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %0 = stablehlo.custom_call @f(%a, %b) {note = "%a"} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.custom_call @f(%[[A]], %[[B]]) {note = "%b"} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.custom_call @f(%a, %b) {note = "%b"} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

// An op may continue on the next line where an earlier one ended.
func.func @nothing() {
  func.return
}
func.func @nothing_either() {
  func.return
}
// CHECK-LABEL: func.func @something
// CHECK-SAME: (%[[A:[a-z0-9]+]]: tensor<f32>
func.func @something(%a: tensor<f32>) -> tensor<f32> {
  // CHECK: return %[[A]] : tensor<f32>
  func.return
    %a : tensor<f32>
}

// -----

func.func @wrong(%a: tensor<2xf32>,
    // expected-note @+1 {{`%b` is defined here}}
    %b: tensor<3xf32>) {
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  // expected-error @+1 {{`%b` is used as tensor<2xf32>, but its type is tensor<3xf32>}}
  %1 = stablehlo.add %a, %b : tensor<2xf32>
  return
}

// -----

func.func @wrong(%a: tensor<2xf32>,
    %b: tensor<3xf32>) {
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  // expected-error @+1 {{the value `%c` is used but not defined}}
  %1 = stablehlo.add %c, %a : tensor<2xf32>
  return
}

// -----

func.func @wrong(%a: tensor<2xf32>,
    %b: tensor<3xf32>) {
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  // expected-error @+1 {{`%a#1`: `%a` has 1 result}}
  %1 = stablehlo.add %a#1, %a : tensor<2xf32>
  return
}

// -----

func.func @wrong(%a: tensor<2xf32>,
    %b: tensor<3xf32>) {
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  // expected-error @+1 {{the op has 1 result, but 2 are named}}
  %1:2 = stablehlo.add %a, %a : tensor<2xf32>
  return
}

// -----

func.func @wrong(%a: tensor<2xf32>,
    %b: tensor<3xf32>) {
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  // expected-error @+1 {{expected `:`, found `+`}}
  %1 = stablehlo.add %a, %a + tensor<2xf32>
  return
}

// -----

func.func @wrong(%a: tensor<2xf32>,
    %b: tensor<3xf32>) {
  // expected-note @+1 {{the first definition of `%0`}}
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  // expected-error @+1 {{the value `%0` is defined twice}}
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  return
}
