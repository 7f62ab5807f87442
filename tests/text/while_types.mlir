// The short form of `while` has one list of types. Where regions or results have others, it has a
// function type, and the regions declare their arguments.

// RUN: stablehlo-opt %s | FileCheck %s
// RUN: stablehlo-opt %s | stablehlo-opt | FileCheck %s

// CHECK-LABEL: @arguments
// CHECK: stablehlo.while(%iterArg = %arg0) : (tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: cond {
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<?xf32>):
// CHECK: } do {
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<?xf32>):
func.func @arguments(%a: tensor<3xf32>, %p: tensor<i1>) -> tensor<3xf32> {
  %0 = "stablehlo.while"(%a) ({
  ^bb0(%x: tensor<?xf32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%x: tensor<?xf32>):
    %1 = stablehlo.add %x, %x : tensor<?xf32>
    stablehlo.return %1 : tensor<?xf32>
  }) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: @results
// CHECK: stablehlo.while(%iterArg = %arg0) : (tensor<3xf32>) -> tensor<?xf32>
func.func @results(%a: tensor<3xf32>, %p: tensor<i1>) -> tensor<?xf32> {
  %0 = "stablehlo.while"(%a) ({
  ^bb0(%x: tensor<3xf32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%x: tensor<3xf32>):
    stablehlo.return %x : tensor<3xf32>
  }) : (tensor<3xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: @same
// CHECK: stablehlo.while(%[[X:.*]] = %{{.*}}) : tensor<3xf32>
func.func @same(%a: tensor<3xf32>, %p: tensor<i1>) -> tensor<3xf32> {
  %0 = "stablehlo.while"(%a) ({
  ^bb0(%x: tensor<3xf32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%x: tensor<3xf32>):
    stablehlo.return %x : tensor<3xf32>
  }) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
