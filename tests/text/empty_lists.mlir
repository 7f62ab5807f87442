// Ops whose lists of operands are empty print in a form that can be read. Upstream prints a second
// comma after the operand of a `dynamic_slice` of rank 0, which neither it nor older versions read.

// RUN: stablehlo-opt %s | FileCheck %s
// RUN: stablehlo-opt %s | stablehlo-opt | FileCheck %s
// RUN: stablehlo-opt --mlir-print-op-generic %s | stablehlo-opt | FileCheck %s

// CHECK-LABEL: @scalar
// CHECK: stablehlo.dynamic_slice %arg0, sizes = [] : (tensor<f32>) -> tensor<f32>
// CHECK: stablehlo.dynamic_slice %arg0, sizes = [] : (tensor<f32>) -> tensor<f32>
// CHECK: stablehlo.dynamic_update_slice %arg0, %arg0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
func.func @scalar(%a: tensor<f32>) {
  %0 = stablehlo.dynamic_slice %a, , sizes = [] : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.dynamic_slice %a, sizes = [] : (tensor<f32>) -> tensor<f32>
  %2 = stablehlo.dynamic_update_slice %a, %a : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// CHECK-LABEL: @none
// CHECK: stablehlo.optimization_barrier()
// CHECK: stablehlo.tuple  : tuple<>
// CHECK: stablehlo.after_all  : !stablehlo.token
// CHECK: stablehlo.custom_call @f() : () -> ()
// CHECK: stablehlo.while()
// CHECK-NEXT: cond {
func.func @none(%p: tensor<i1>) {
  "stablehlo.optimization_barrier"() : () -> ()
  %0 = "stablehlo.tuple"() : () -> tuple<>
  %1 = "stablehlo.after_all"() : () -> !stablehlo.token
  "stablehlo.custom_call"() <{call_target_name = "f"}> : () -> ()
  "stablehlo.while"() ({
    stablehlo.return %p : tensor<i1>
  }, {
    stablehlo.return
  }) : () -> ()
  return
}
