// RUN: stablo run %s | FileCheck %s
// RUN: stablo run %s --threads 2 | FileCheck %s
// RUN: stablo run %s --engine reference | FileCheck %s
// RUN: stablo run %s --explain-plan | FileCheck %s --check-prefix=PLAN

// Reductions of a few elements each are parts of loops, which compute these elements, too.
// PLAN-NOT: stablehlo.reduce

func.func @main() -> (tensor<f32>, tensor<3xf32>, tensor<2xbf16>, tensor<2xi32>, tensor<2xui32>, tensor<2x2xi1>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>

  // Distances of the points (i, 2i, 3i): 14 (i - j)², at (63, 0) 55566.
  // CHECK: output 0:
  // CHECK-NEXT: 55566.0
  // PLAN: loop of {{.*}} : 64x64xf32
  // PLAN: subtract
  // PLAN: multiply
  // PLAN: quiet
  %i = stablehlo.iota dim = 0 : tensor<64x3xf32>
  %axis = stablehlo.iota dim = 1 : tensor<64x3xf32>
  %one = stablehlo.constant dense<1.0> : tensor<64x3xf32>
  %factors = stablehlo.add %axis, %one : tensor<64x3xf32>
  %points = stablehlo.multiply %i, %factors : tensor<64x3xf32>
  %rows = stablehlo.broadcast_in_dim %points, dims = [0, 2] : (tensor<64x3xf32>) -> tensor<64x64x3xf32>
  %columns = stablehlo.broadcast_in_dim %points, dims = [1, 2] : (tensor<64x3xf32>) -> tensor<64x64x3xf32>
  %differences = stablehlo.subtract %rows, %columns : tensor<64x64x3xf32>
  %squares = stablehlo.multiply %differences, %differences : tensor<64x64x3xf32>
  %distances = stablehlo.reduce(%squares init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<64x64x3xf32>, tensor<f32>) -> tensor<64x64xf32>
  %far = stablehlo.slice %distances [63:64, 0:1] : (tensor<64x64xf32>) -> tensor<1x1xf32>
  %farthest = stablehlo.reshape %far : (tensor<1x1xf32>) -> tensor<f32>

  // The sum of 2²⁴, 1, 1, 1 and 1 is ((2²⁴ + 1) + (1 + 1)) + 1: only the pair of ones adds more than
  // half a unit, and the last one to the even number above. The initial value enters last; one by one from it, the sum would be 2²⁴. With
  // infinities of both signs it is the NaN without sign.
  // CHECK: output 1:
  // CHECK-NEXT: [1.677722e7, 1.677722e7, NaN]
  %number = stablehlo.iota dim = 0 : tensor<5x2048xi32>
  %column = stablehlo.iota dim = 1 : tensor<5x2048xi32>
  %first = stablehlo.constant dense<0> : tensor<5x2048xi32>
  %large = stablehlo.constant dense<16777216.0> : tensor<5x2048xf32>
  %ones = stablehlo.constant dense<1.0> : tensor<5x2048xf32>
  %is_first = stablehlo.compare EQ, %number, %first : (tensor<5x2048xi32>, tensor<5x2048xi32>) -> tensor<5x2048xi1>
  %terms = stablehlo.select %is_first, %large, %ones : tensor<5x2048xi1>, tensor<5x2048xf32>
  %two = stablehlo.constant dense<2> : tensor<5x2048xi32>
  %infinity = stablehlo.constant dense<0x7F800000> : tensor<5x2048xf32>
  %minus = stablehlo.negate %infinity : tensor<5x2048xf32>
  %opposite = stablehlo.select %is_first, %infinity, %minus : tensor<5x2048xi1>, tensor<5x2048xf32>
  %is_third = stablehlo.compare EQ, %column, %two : (tensor<5x2048xi32>, tensor<5x2048xi32>) -> tensor<5x2048xi1>
  %mixed = stablehlo.select %is_third, %opposite, %terms : tensor<5x2048xi1>, tensor<5x2048xf32>
  %sums = stablehlo.reduce(%mixed init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<5x2048xf32>, tensor<f32>) -> tensor<2048xf32>
  %some_sums = stablehlo.slice %sums [0:3] : (tensor<2048xf32>) -> tensor<3xf32>

  // In between, narrow floats have 24 bits: 256 + 1 + 1 + 1 rounds to 260, not to 256.
  // CHECK: output 2:
  // CHECK-NEXT: [260.0, 260.0]
  %narrow_start = stablehlo.constant dense<256.0> : tensor<bf16>
  %narrow = stablehlo.constant dense<1.0> : tensor<1024x3xbf16>
  %narrow_sums = stablehlo.reduce(%narrow init: %narrow_start) applies stablehlo.add across dimensions = [1] : (tensor<1024x3xbf16>, tensor<bf16>) -> tensor<1024xbf16>
  %some_narrow = stablehlo.slice %narrow_sums [0:2] : (tensor<1024xbf16>) -> tensor<2xbf16>

  // Products of 1, 2, 3 and 4, which lie apart.
  // CHECK: output 3:
  // CHECK-NEXT: [24, 120]
  %seed = stablehlo.constant dense<1> : tensor<i32>
  %numbers = stablehlo.iota dim = 1 : tensor<2x4x1024xi32>
  %shifted = stablehlo.constant dense<1> : tensor<2x4x1024xi32>
  %counted = stablehlo.add %numbers, %shifted : tensor<2x4x1024xi32>
  %products = stablehlo.reduce(%counted init: %seed) applies stablehlo.multiply across dimensions = [1] : (tensor<2x4x1024xi32>, tensor<i32>) -> tensor<2x1024xi32>
  %five = stablehlo.constant dense<5> : tensor<2x1024xi32>
  %fives = stablehlo.multiply %products, %five : tensor<2x1024xi32>
  %ends = stablehlo.concatenate %products, %fives, dim = 1 : (tensor<2x1024xi32>, tensor<2x1024xi32>) -> tensor<2x2048xi32>
  %both = stablehlo.slice %ends [1:2, 0:2048:1024] : (tensor<2x2048xi32>) -> tensor<1x2xi32>
  %some_products = stablehlo.reshape %both : (tensor<1x2xi32>) -> tensor<2xi32>

  // The greatest of 7 numbers without sign, of which the last is the greatest, and of the start.
  // CHECK: output 4:
  // CHECK-NEXT: [4294967295, 4294967290]
  %start = stablehlo.constant dense<4294967290> : tensor<ui32>
  %down = stablehlo.iota dim = 1 : tensor<1024x7xui32>
  %six = stablehlo.constant dense<6> : tensor<1024x7xui32>
  %below = stablehlo.subtract %down, %six : tensor<1024x7xui32>
  %line = stablehlo.iota dim = 0 : tensor<1024x7xui32>
  %spread = stablehlo.subtract %below, %line : tensor<1024x7xui32>
  %greatest = stablehlo.reduce(%spread init: %start) applies stablehlo.maximum across dimensions = [1] : (tensor<1024x7xui32>, tensor<ui32>) -> tensor<1024xui32>
  %some_greatest = stablehlo.slice %greatest [1:1001:999] : (tensor<1024xui32>) -> tensor<2xui32>

  // Any of the two numbers 2 i and 2 i + 1 is 3.
  // CHECK: output 5:
  // CHECK-NEXT: {{\[}}[false, true],
  // CHECK-NEXT: [false, false]]
  %no = stablehlo.constant dense<false> : tensor<i1>
  %all = stablehlo.iota dim = 0 : tensor<4096xi32>
  %pairs = stablehlo.reshape %all : (tensor<4096xi32>) -> tensor<2048x2xi32>
  %three = stablehlo.constant dense<3> : tensor<2048x2xi32>
  %found = stablehlo.compare EQ, %pairs, %three : (tensor<2048x2xi32>, tensor<2048x2xi32>) -> tensor<2048x2xi1>
  %any = stablehlo.reduce(%found init: %no) applies stablehlo.or across dimensions = [1] : (tensor<2048x2xi1>, tensor<i1>) -> tensor<2048xi1>
  %matrix = stablehlo.reshape %any : (tensor<2048xi1>) -> tensor<1024x2xi1>
  %some_any = stablehlo.slice %matrix [0:2, 0:2] : (tensor<1024x2xi1>) -> tensor<2x2xi1>
  return %farthest, %some_sums, %some_narrow, %some_products, %some_greatest, %some_any : tensor<f32>, tensor<3xf32>, tensor<2xbf16>, tensor<2xi32>, tensor<2xui32>, tensor<2x2xi1>
}
