// Sharding rules are kept on ops in artifacts, where types have no known ranks.

// RUN: stablehlo-translate %s --serialize --target=current --allow-other-dialects | stablehlo-translate --deserialize | FileCheck %s
// RUN: stablehlo-translate %s --serialize --target=current --allow-other-dialects -o %t.mlir.bc
// RUN: stablehlo-opt %t.mlir.bc | FileCheck %s --check-prefix=VHLO

// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=2}, custom>
// VHLO: sdy.sharding_rule
func.func @f(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = stablehlo.custom_call @foo(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=2}, custom>} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
