// RUN: stablo run %s | FileCheck %s
// RUN: stablo run %s --threads 2 | FileCheck %s
// RUN: stablo run %s --engine reference | FileCheck %s
// RUN: stablo run %s --explain-plan | FileCheck %s --check-prefix=PLAN

// Products run together with loops and reductions over the same rows.

func.func @main() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>

  // Row i of the first product is 64 i. With the number of its column, times 96 and less the sum
  // of the row, column j is 96 j - 4560, of which the sum is zero: i is left.
  // CHECK: output 0:
  // CHECK-NEXT: [511.0, 511.0]
  // PLAN: row loop of {{.*}} over 512 rows : 512x64xf32
  // PLAN-NEXT: stablehlo.dot_general {{.*}} : 512x96xf32
  // PLAN: stablehlo.reduce
  // PLAN: stablehlo.dot_general {{.*}} : 512x64xf32
  // PLAN: -> result 0
  %x = stablehlo.iota dim = 0 : tensor<512x64xf32>
  %ones = stablehlo.constant dense<1.0> : tensor<64x96xf32>
  %first = stablehlo.dot_general %x, %ones, contracting_dims = [1] x [0] : (tensor<512x64xf32>, tensor<64x96xf32>) -> tensor<512x96xf32>
  %column = stablehlo.iota dim = 1 : tensor<512x96xf32>
  %biased = stablehlo.add %first, %column : tensor<512x96xf32>
  %sum = stablehlo.reduce(%biased init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<512x96xf32>, tensor<f32>) -> tensor<512xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<512xf32>) -> tensor<512x96xf32>
  %count = stablehlo.constant dense<96.0> : tensor<512x96xf32>
  %scaled = stablehlo.multiply %biased, %count : tensor<512x96xf32>
  %centred = stablehlo.subtract %scaled, %sums : tensor<512x96xf32>
  %second = stablehlo.dot_general %centred, %ones, contracting_dims = [1] x [1] : (tensor<512x96xf32>, tensor<64x96xf32>) -> tensor<512x64xf32>
  %row = stablehlo.iota dim = 0 : tensor<512x64xf32>
  %number = stablehlo.add %second, %row : tensor<512x64xf32>
  %corner = stablehlo.slice %number [511:512, 62:64] : (tensor<512x64xf32>) -> tensor<1x2xf32>
  %a = stablehlo.reshape %corner : (tensor<1x2xf32>) -> tensor<2xf32>

  // Matrix b of the scores is 32 b. With the number j of its column, and less its largest, that is
  // j - 63, and the sum of these is -2016.
  // CHECK: output 1:
  // CHECK-NEXT: [-2016.0, -2016.0]
  // PLAN: row loop of {{.*}} over 8 rows : 8x64x32xf32
  // PLAN-NEXT: stablehlo.dot_general {{.*}} : 8x64x64xf32
  // PLAN: stablehlo.reduce
  // PLAN: stablehlo.dot_general {{.*}} : 8x64x32xf32
  %queries = stablehlo.iota dim = 0 : tensor<8x64x32xf32>
  %keys = stablehlo.constant dense<1.0> : tensor<8x64x32xf32>
  %scores = stablehlo.dot_general %queries, %keys, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x64x32xf32>, tensor<8x64x32xf32>) -> tensor<8x64x64xf32>
  %places = stablehlo.iota dim = 2 : tensor<8x64x64xf32>
  %moved = stablehlo.add %scores, %places : tensor<8x64x64xf32>
  %largest = stablehlo.reduce(%moved init: %lowest) applies stablehlo.maximum across dimensions = [2] : (tensor<8x64x64xf32>, tensor<f32>) -> tensor<8x64xf32>
  %shifts = stablehlo.broadcast_in_dim %largest, dims = [0, 1] : (tensor<8x64xf32>) -> tensor<8x64x64xf32>
  %shifted = stablehlo.subtract %moved, %shifts : tensor<8x64x64xf32>
  %mixed = stablehlo.dot_general %shifted, %keys, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x64x64xf32>, tensor<8x64x32xf32>) -> tensor<8x64x32xf32>
  %last = stablehlo.slice %mixed [7:8, 63:64, 30:32] : (tensor<8x64x32xf32>) -> tensor<1x1x2xf32>
  %b = stablehlo.reshape %last : (tensor<1x1x2xf32>) -> tensor<2xf32>

  // A convolution with windows of one element is a product: the sum of 64 features is 2016, less
  // the number of each of 32 new ones, whose sum is 32 * 2016 - 496.
  // CHECK: output 2:
  // CHECK-NEXT: [64016.0, 64016.0]
  // PLAN: row loop of {{.*}} over 1024 rows : 1x32x32x64xf32
  // PLAN-NEXT: stablehlo.convolution {{.*}} : 1x32x32x32xf32
  // PLAN: stablehlo.convolution {{.*}} : 1x32x32x64xf32
  %image = stablehlo.iota dim = 3 : tensor<1x32x32x64xf32>
  %weights = stablehlo.constant dense<1.0> : tensor<1x1x64x32xf32>
  %fewer = stablehlo.convolution(%image, %weights) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x32x32x64xf32>, tensor<1x1x64x32xf32>) -> tensor<1x32x32x32xf32>
  %feature = stablehlo.iota dim = 3 : tensor<1x32x32x32xf32>
  %less = stablehlo.subtract %fewer, %feature : tensor<1x32x32x32xf32>
  %more_weights = stablehlo.constant dense<1.0> : tensor<1x1x32x64xf32>
  %wider = stablehlo.convolution(%less, %more_weights) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x32x32x32xf32>, tensor<1x1x32x64xf32>) -> tensor<1x32x32x64xf32>
  %end = stablehlo.slice %wider [0:1, 31:32, 31:32, 62:64] : (tensor<1x32x32x64xf32>) -> tensor<1x1x1x2xf32>
  %c = stablehlo.reshape %end : (tensor<1x1x1x2xf32>) -> tensor<2xf32>
  return %a, %b, %c : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
