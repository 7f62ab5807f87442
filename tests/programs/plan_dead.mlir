// RUN: stablo run %s --entry counted --dump-plan-after=dce | FileCheck %s --check-prefix=COUNTED
// RUN: stablo run %s --entry endless --dump-plan-after=dce | FileCheck %s --check-prefix=ENDLESS
// RUN: stablo run %s --entry sizes --dump-plan-after=dce | FileCheck %s --check-prefix=SIZES
// RUN: stablo run %s --entry wrong_sizes --dump-plan-after=dce | FileCheck %s --check-prefix=WRONG
// RUN: not stablo run %s --entry wrong_sizes --input iota 2>&1 | FileCheck %s --check-prefix=WRONG-RUN

// Loops end that count to a bound, which they pass before their counter wraps around.
//
// COUNTED-LABEL: @counted(
// COUNTED-NOT: stablehlo.while
// COUNTED: return %0
func.func @counted(%x: tensor<4xf32>, %n: tensor<i32>, %p: tensor<i1>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %up:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<4xf32> cond {
    %more = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %t = stablehlo.tanh %y : tensor<4xf32>
    stablehlo.return %next, %t : tensor<i32>, tensor<4xf32>
  }
  %down = stablehlo.while(%i = %n) : tensor<i32> cond {
    %more = stablehlo.compare LE, %one, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %both = stablehlo.and %p, %more : tensor<i1>
    stablehlo.return %both : tensor<i1>
  } do {
    %next = stablehlo.subtract %i, %three : tensor<i32>
    stablehlo.return %next : tensor<i32>
  }
  return %x : tensor<4xf32>
}

// These may not: 127 is the largest number, steps of three may pass it, and a step of zero goes
// nowhere.
//
// ENDLESS-LABEL: @endless(
// ENDLESS-COUNT-3: stablehlo.while
// ENDLESS: return %0
func.func @endless(%x: tensor<4xf32>, %n: tensor<i8>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i8>
  %one = stablehlo.constant dense<1> : tensor<i8>
  %three = stablehlo.constant dense<3> : tensor<i8>
  %most = stablehlo.constant dense<127> : tensor<i8>
  %a = stablehlo.while(%i = %n) : tensor<i8> cond {
    %more = stablehlo.compare LE, %i, %most : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i8>
    stablehlo.return %next : tensor<i8>
  }
  %b = stablehlo.while(%i = %zero) : tensor<i8> cond {
    %more = stablehlo.compare LT, %i, %n : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %next = stablehlo.add %i, %three : tensor<i8>
    stablehlo.return %next : tensor<i8>
  }
  %c = stablehlo.while(%i = %n) : tensor<i8> cond {
    %more = stablehlo.compare LT, %i, %three : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %next = stablehlo.add %i, %zero : tensor<i8>
    stablehlo.return %next : tensor<i8>
  }
  return %x : tensor<4xf32>
}

// Ops whose numbers are constants are static.
//
// SIZES-LABEL: @sizes(
// SIZES-NEXT: return %0
func.func @sizes(%x: tensor<1x4x1xf32>) -> tensor<1x4x1xf32> {
  %two_two = stablehlo.constant dense<2> : tensor<2xi64>
  %shape = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.constant dense<[1, -1, 0]> : tensor<3xi64>
  %high = stablehlo.constant dense<[0, 2, 1]> : tensor<3xi64>
  %steps = stablehlo.constant dense<[0, 1, 0]> : tensor<3xi64>
  %start = stablehlo.constant dense<[0, 1, 0]> : tensor<3xi64>
  %limit = stablehlo.constant dense<[1, 4, 1]> : tensor<3xi64>
  %strides = stablehlo.constant dense<[1, 2, 1]> : tensor<3xi64>
  %sizes = stablehlo.constant dense<[1, 2, 1]> : tensor<3xi64>
  %at = stablehlo.constant dense<[[0], [1]]> : tensor<2x1xi64>
  %padding = stablehlo.constant dense<[[2, 1]]> : tensor<1x2xi64>
  %kernel = stablehlo.constant dense<1.0> : tensor<3x1x5xf32>
  %reshaped = stablehlo.dynamic_reshape %x, %two_two : (tensor<1x4x1xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  %row = stablehlo.reshape %x : (tensor<1x4x1xf32>) -> tensor<4xf32>
  %broadcast = stablehlo.dynamic_broadcast_in_dim %row, %shape, dims = [1] : (tensor<4xf32>, tensor<2xi32>) -> tensor<3x4xf32>
  %iota = stablehlo.dynamic_iota %shape, dim = 1 : (tensor<2xi32>) -> tensor<3x4xf32>
  %padded = stablehlo.dynamic_pad %x, %zero, %low, %high, %steps : (tensor<1x4x1xf32>, tensor<f32>, tensor<3xi64>, tensor<3xi64>, tensor<3xi64>) -> tensor<2x8x2xf32>
  %slice = stablehlo.real_dynamic_slice %x, %start, %limit, %strides : (tensor<1x4x1xf32>, tensor<3xi64>, tensor<3xi64>, tensor<3xi64>) -> tensor<1x2x1xf32>
  %gathered = "stablehlo.dynamic_gather"(%x, %at, %sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2, 3], start_index_map = [1], index_vector_dim = 1>}> : (tensor<1x4x1xf32>, tensor<2x1xi64>, tensor<3xi64>) -> tensor<2x1x2x1xf32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %shorter = stablehlo.set_dimension_size %row, %three, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<3xf32>
  %convolved = "stablehlo.dynamic_conv"(%x, %kernel, %padding) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64}> : (tensor<1x4x1xf32>, tensor<3x1x5xf32>, tensor<1x2xi64>) -> tensor<1x5x5xf32>
  return %x : tensor<1x4x1xf32>
}

// Numbers that do not give the result are an error of the run, also of a dead op.
//
// WRONG-LABEL: @wrong_sizes(
// WRONG: stablehlo.dynamic_pad
// WRONG-RUN: error[
func.func @wrong_sizes(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1> : tensor<1xi64>
  %n = stablehlo.add %one, %one : tensor<1xi64>
  %padded = stablehlo.dynamic_pad %x, %zero, %n, %one, %one : (tensor<4xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<9xf32>
  return %x : tensor<4xf32>
}
