// RUN: stablo run %s --explain-plan | FileCheck %s --check-prefix=PLAN
// RUN: stablo run %s | FileCheck %s
// RUN: stablo run %s --engine reference | FileCheck %s

// Convolutions of narrow types compute on converted operands, and what follows is fused with the
// conversion of their sums. Sums are of f32, and are rounded once: 256 + 1 + 1 is 258 with eight bits,
// 256 + 1 is rounded to 256.

// PLAN-NOT: kernel stablehlo.convolution
// PLAN: stablehlo.convolution {{.*}} : 1x2x1xf32
// PLAN-NOT: kernel stablehlo.convolution
// PLAN: stablehlo.convolution {{.*}} : 1x2x1xi32
// PLAN-NOT: convert

// CHECK: output 0
// CHECK-NEXT: {{\[\[}}[258.0],
// CHECK-NEXT: [3.0]]]
// CHECK: output 1
// CHECK-NEXT: {{\[\[}}[-129],
// CHECK-NEXT: [127]]]
func.func @main() -> (tensor<1x2x1xbf16>, tensor<1x2x1xi32>) {
  %x = stablehlo.constant dense<[[[256.0], [1.0], [1.0], [1.0]]]> : tensor<1x4x1xbf16>
  %k = stablehlo.constant dense<1.0> : tensor<3x1x1xbf16>
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xbf16>, tensor<3x1x1xbf16>) -> tensor<1x2x1xbf16>
  %y = stablehlo.constant dense<[[[-128], [127], [-127]]]> : tensor<1x3x1xi8>
  %w = stablehlo.constant dense<[[[2]], [[1]]]> : tensor<2x1x1xi8>
  %1 = stablehlo.convolution(%y, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x1xi8>, tensor<2x1x1xi8>) -> tensor<1x2x1xi32>
  return %0, %1 : tensor<1x2x1xbf16>, tensor<1x2x1xi32>
}
