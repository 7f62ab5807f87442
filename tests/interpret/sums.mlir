// RUN: stablehlo-translate --interpret -split-input-file %s

// The order of sums, as docs/accuracy.md defines it. 2^24 = 16777216 is the first number at which
// f32 rounds the addition of 1 away, so that each order gives another sum.

// Equal numbers double exactly at each level: 0.1 in f32 is 0.1 + 1.49e-9, and the sum is that of
// subtrees of 2^21, 2^20, 2^19, 2^18, 2^16, 2^11 and 2^8 elements. One by one it would be 384524.8.
func.func @long_sum() {
  %tenth = stablehlo.constant dense<0.1> : tensor<f32>
  %x = stablehlo.broadcast_in_dim %tenth, dims = [] : (tensor<f32>) -> tensor<2000x2000xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1]
    : (tensor<2000x2000xf32>, tensor<f32>) -> tensor<f32>
  check.expect_eq_const %sum, dense<400000.0> : tensor<f32>
  func.return
}

// -----

// Neighbours first: (2^24 + 1) + (1 + 1). The initial value enters last, and once.
func.func @neighbours() {
  %x = stablehlo.constant dense<[16777216.0, 1.0, 1.0, 1.0]> : tensor<4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  check.expect_eq_const %sum, dense<16777218.0> : tensor<f32>
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %more = stablehlo.reduce(%x init: %two) applies stablehlo.add across dimensions = [0]
    : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  check.expect_eq_const %more, dense<16777220.0> : tensor<f32>
  // (1 + 1) + 2^24: a number without a neighbour waits.
  %y = stablehlo.constant dense<[1.0, 1.0, 16777216.0]> : tensor<3xf32>
  %waits = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  check.expect_eq_const %waits, dense<16777218.0> : tensor<f32>
  func.return
}

// -----

// A body that is not one op is applied to the same tree.
func.func @other_bodies() {
  %x = stablehlo.constant dense<[16777216.0, 1.0, 1.0, 1.0]> : tensor<4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) across dimensions = [0]
    : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
      %0 = stablehlo.negate %a : tensor<f32>
      %1 = stablehlo.subtract %b, %0 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }
  check.expect_eq_const %sum, dense<16777218.0> : tensor<f32>
  func.return
}

// -----

// Rows, columns and several dimensions: the order is that of the indices, not that of memory.
func.func @dimensions() {
  %rows = stablehlo.constant dense<[[16777216.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]> : tensor<2x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %by_rows = stablehlo.reduce(%rows init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
  check.expect_eq_const %by_rows, dense<[16777218.0, 4.0]> : tensor<2xf32>
  %columns = stablehlo.transpose %rows, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %by_columns = stablehlo.reduce(%columns init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<4x2xf32>, tensor<f32>) -> tensor<2xf32>
  check.expect_eq_const %by_columns, dense<[16777218.0, 4.0]> : tensor<2xf32>
  // ((2^24 + 1) + (1 + 1)) + ((1 + 1) + (1 + 1)) in row-major order of the indices, and
  // ((2^24 + 1) + (1 + 1)) + ((1 + 1) + (1 + 1)) transposed: 2^24 + 2 + 4.
  %all = stablehlo.reduce(%columns init: %zero) applies stablehlo.add across dimensions = [0, 1]
    : (tensor<4x2xf32>, tensor<f32>) -> tensor<f32>
  check.expect_eq_const %all, dense<16777222.0> : tensor<f32>
  func.return
}

// -----

// Narrow floats are summed in f32 and rounded once.
func.func @narrow() {
  %ones = stablehlo.constant dense<1.0> : tensor<4096x12xbf16>
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %sum = stablehlo.reduce(%ones init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<4096x12xbf16>, tensor<bf16>) -> tensor<12xbf16>
  check.expect_eq_const %sum, dense<4096.0> : tensor<12xbf16>
  // 60000 + 60000 is beyond f16, but the sum is not; nor is 300 * 300 / 256 = 351.5625.
  %large = stablehlo.constant dense<[60000.0, 60000.0, -60000.0, -60000.0]> : tensor<4xf16>
  %none = stablehlo.constant dense<0.0> : tensor<f16>
  %gone = stablehlo.reduce(%large init: %none) applies stablehlo.add across dimensions = [0]
    : (tensor<4xf16>, tensor<f16>) -> tensor<f16>
  check.expect_eq_const %gone, dense<0.0> : tensor<f16>
  %factors = stablehlo.constant dense<[300.0, 300.0, 0.00390625]> : tensor<3xf16>
  %one = stablehlo.constant dense<1.0> : tensor<f16>
  %product = stablehlo.reduce(%factors init: %one) applies stablehlo.multiply across dimensions = [0]
    : (tensor<3xf16>, tensor<f16>) -> tensor<f16>
  check.expect_eq_const %product, dense<351.5> : tensor<f16>
  func.return
}

// -----

// Windows of at most 32 elements are chains; longer ones are reduced in the tree, in f32 if they are
// of a narrower type. Padding takes its place in either.
func.func @windows() {
  %x = stablehlo.constant dense<[16777216.0, 1.0, 1.0, 1.0, 1.0]> : tensor<5xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %chains = "stablehlo.reduce_window"(%x, %zero) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %0 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %0 : tensor<f32>
  }) {window_dimensions = array<i64: 4>, padding = dense<[[1, 0]]> : tensor<1x2xi64>}
    : (tensor<5xf32>, tensor<f32>) -> tensor<3xf32>
  check.expect_eq_const %chains, dense<[16777216.0, 16777216.0, 4.0]> : tensor<3xf32>
  // 33 elements, 29 and 28 of them padding: ((0 + 2^24) + (1 + 1)) + 1, and ((2^24 + 1) + (1 + 1)) + 1,
  // where 2^24 + 3 is rounded to 2^24 + 4, the even neighbour.
  %sums = "stablehlo.reduce_window"(%x, %zero) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %0 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %0 : tensor<f32>
  }) {window_dimensions = array<i64: 33>, padding = dense<[[29, 0]]> : tensor<1x2xi64>}
    : (tensor<5xf32>, tensor<f32>) -> tensor<2xf32>
  check.expect_eq_const %sums, dense<16777220.0> : tensor<2xf32>
  %bf16 = stablehlo.constant dense<1.0> : tensor<600xbf16>
  %none = stablehlo.constant dense<0.0> : tensor<bf16>
  %many = "stablehlo.reduce_window"(%bf16, %none) ({
    ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
      %0 = stablehlo.add %a, %b : tensor<bf16>
      stablehlo.return %0 : tensor<bf16>
  }) {window_dimensions = array<i64: 512>, window_strides = array<i64: 88>}
    : (tensor<600xbf16>, tensor<bf16>) -> tensor<2xbf16>
  check.expect_eq_const %many, dense<512.0> : tensor<2xbf16>
  func.return
}

// -----

// Products are not rounded, (1 + 2^-23)(1 - 2^-23) - 1 = -2^-46, unless there are less than five:
// perpendicular vectors have a product of zero. Zero is positive.
func.func @fused() {
  %a = stablehlo.constant dense<[[-1.0, 0.0, 0.0, 0.0, 1.0000001192092896]]> : tensor<1x5xf32>
  %b = stablehlo.constant dense<[[1.0], [0.0], [0.0], [0.0], [0.9999998807907104]]> : tensor<5x1xf32>
  %dot = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<1x5xf32>, tensor<5x1xf32>) -> tensor<1x1xf32>
  check.expect_eq_const %dot, dense<-1.4210854715202004e-14> : tensor<1x1xf32>
  %u = stablehlo.constant dense<[[0.1, 0.7]]> : tensor<1x2xf32>
  %v = stablehlo.constant dense<[[-0.7], [0.1]]> : tensor<2x1xf32>
  %none = stablehlo.dot_general %u, %v, contracting_dims = [1] x [0] : (tensor<1x2xf32>, tensor<2x1xf32>) -> tensor<1x1xf32>
  check.expect_eq_const %none, dense<0.0> : tensor<1x1xf32>
  %c = stablehlo.constant dense<[[-1.0e-30], [-0.0]]> : tensor<2x1xf32>
  %d = stablehlo.constant dense<[[1.0e-30]]> : tensor<1x1xf32>
  %zeros = stablehlo.dot_general %c, %d, contracting_dims = [1] x [0] : (tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  %bits = stablehlo.bitcast_convert %zeros : (tensor<2x1xf32>) -> tensor<2x1xui32>
  check.expect_eq_const %bits, dense<0> : tensor<2x1xui32>
  func.return
}

// -----

// Blocks of 256: a chain from 2^24 loses 255 ones, the next one has 256 of them.
func.func @blocks() {
  %ones = stablehlo.constant dense<1.0> : tensor<3x511xf32>
  %first = stablehlo.constant dense<16777216.0> : tensor<3x1xf32>
  %x = stablehlo.concatenate %first, %ones, dim = 1 : (tensor<3x1xf32>, tensor<3x511xf32>) -> tensor<3x512xf32>
  %y = stablehlo.constant dense<1.0> : tensor<512x20xf32>
  %dot = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<3x512xf32>, tensor<512x20xf32>) -> tensor<3x20xf32>
  check.expect_eq_const %dot, dense<16777472.0> : tensor<3x20xf32>
  %v = stablehlo.constant dense<1.0> : tensor<512xf32>
  %row = stablehlo.dot_general %v, %x, contracting_dims = [0] x [1] : (tensor<512xf32>, tensor<3x512xf32>) -> tensor<3xf32>
  check.expect_eq_const %row, dense<16777472.0> : tensor<3xf32>

  // The same sum as a convolution with a kernel of 512 taps, of one feature or two groups of it.
  %image = stablehlo.reshape %x : (tensor<3x512xf32>) -> tensor<3x512x1xf32>
  %kernel = stablehlo.constant dense<1.0> : tensor<512x1x20xf32>
  %conv = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<3x512x1xf32>, tensor<512x1x20xf32>) -> tensor<3x1x20xf32>
  check.expect_eq_const %conv, dense<16777472.0> : tensor<3x1x20xf32>
  %pair = stablehlo.concatenate %image, %image, dim = 2 : (tensor<3x512x1xf32>, tensor<3x512x1xf32>) -> tensor<3x512x2xf32>
  %depthwise = stablehlo.constant dense<1.0> : tensor<512x1x2xf32>
  %both = stablehlo.convolution(%pair, %depthwise) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 2 : i64}
    : (tensor<3x512x2xf32>, tensor<512x1x2xf32>) -> tensor<3x1x2xf32>
  check.expect_eq_const %both, dense<16777472.0> : tensor<3x1x2xf32>
  func.return
}

// -----

// Taps come in the order of the kernel's spatial index and then its features, wherever these
// dimensions are: 2^24 - 2^24 + 1 is 1, but 2^24 + 1 - 2^24 is 0.
func.func @taps() {
  // Position 0 has features 2^24 and -2^24, position 1 has 1 and 0.
  %image = stablehlo.constant dense<[[[16777216.0, 1.0], [-16777216.0, 0.0]]]> : tensor<1x2x2xf32>
  %kernel = stablehlo.constant dense<1.0> : tensor<1x2x2xf32>
  %conv = stablehlo.convolution(%image, %kernel) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x2x2xf32>, tensor<1x2x2xf32>) -> tensor<1x1x1xf32>
  check.expect_eq_const %conv, dense<1.0> : tensor<1x1x1xf32>
  // Position 0 has features 2^24 and 1, position 1 has -2^24 and 0.
  %other = stablehlo.constant dense<[[[16777216.0, -16777216.0], [1.0, 0.0]]]> : tensor<1x2x2xf32>
  %lost = stablehlo.convolution(%other, %kernel) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x2x2xf32>, tensor<1x2x2xf32>) -> tensor<1x1x1xf32>
  check.expect_eq_const %lost, dense<0.0> : tensor<1x1x1xf32>
  func.return
}

// -----

// Padding is zeros that are multiplied: an infinite weight gives NaN, and NaN is the quiet one.
func.func @padding() {
  %image = stablehlo.constant dense<1.0> : tensor<1x2x1xf32>
  %kernel = stablehlo.constant dense<[[[0x7F800000]], [[1.0]]]> : tensor<2x1x1xf32>
  %conv = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 0]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x2x1xf32>, tensor<2x1x1xf32>) -> tensor<1x2x1xf32>
  %bits = stablehlo.bitcast_convert %conv : (tensor<1x2x1xf32>) -> tensor<1x2x1xui32>
  check.expect_eq_const %bits, dense<[[[0x7FC00000], [0x7F800000]]]> : tensor<1x2x1xui32>
  func.return
}
