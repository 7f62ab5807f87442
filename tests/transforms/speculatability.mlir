// RUN: stablehlo-opt --hlo-test-speculatability --split-input-file --allow-unregistered-dialect %s | FileCheck %s

// A claim that holds is erased together with its op.
// CHECK-LABEL: func.func @sizes
// CHECK-NEXT: return
func.func @sizes(%known: tensor<2x3xf32>, %unknown: tensor<2x?xf32>) {
  // The operand sizes are certainly equal, or may differ.
  %0 = stablehlo.add %known, %known : tensor<2x3xf32>
  "hlo_test_speculatability.is_speculatable"(%0) : (tensor<2x3xf32>) -> ()
  %1 = stablehlo.add %unknown, %unknown : tensor<2x?xf32>
  "hlo_test_speculatability.is_not_speculatable"(%1) : (tensor<2x?xf32>) -> ()
  // The result has 3 columns statically, or is dynamic.
  %2 = stablehlo.transpose %unknown, dims = [1, 0] : (tensor<2x?xf32>) -> tensor<3x2xf32>
  "hlo_test_speculatability.is_not_speculatable"(%2) : (tensor<3x2xf32>) -> ()
  %3 = stablehlo.transpose %unknown, dims = [1, 0] : (tensor<2x?xf32>) -> tensor<?x2xf32>
  "hlo_test_speculatability.is_speculatable"(%3) : (tensor<?x2xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: func.func @false_claim
// CHECK: is_not_speculatable
func.func @false_claim(%x: tensor<2xf32>) {
  %0 = stablehlo.negate %x : tensor<2xf32>
  "hlo_test_speculatability.is_not_speculatable"(%0) : (tensor<2xf32>) -> ()
  return
}
