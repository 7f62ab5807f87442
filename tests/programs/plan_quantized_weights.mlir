// RUN: stablo run %s | FileCheck %s
// RUN: stablo run %s --threads 2 | FileCheck %s
// RUN: stablo run %s --engine reference | FileCheck %s
// RUN: stablo run %s --explain-plan | FileCheck %s --check-prefix=PLAN

// Integer weights that are converted and scaled for a product with a few rows are so while they are multiplied,
// and are never stored as wide ones.

// The weights of row i are its remainder modulo 7, and scaled half of that. The sum of 1,024 of
// them is 512 times the remainder; 2,044 is a multiple of 7.
// CHECK: [0.0, 512.0, 1024.0, 1536.0]

// Groups of 64 weights of a column have a scale, which is 1 for even groups and 2 for odd ones: the
// sum of 16 groups of 64 weights of 3 is 8 * 64 * 3 * (1 + 2).
// CHECK: [4608.0, 4608.0]

// With zero points, which are subtracted before: weights of 200 to 206 and a zero point of 203 for each row.
// RUN: stablo run %s --entry zero_points | FileCheck %s --check-prefix=ZEROS
// RUN: stablo run %s --entry zero_points --engine reference | FileCheck %s --check-prefix=ZEROS
// RUN: stablo run %s --entry zero_points --explain-plan | FileCheck %s --check-prefix=ZEROS-PLAN
// ZEROS: [-1536.0, -1024.0, -512.0, 0.0, 512.0, 1024.0, 1536.0]
// ZEROS-PLAN: convert v{{.*}} -> result 0
// ZEROS-PLAN-NOT: convert
// ZEROS-PLAN: stablehlo.dot_general {{.*}}, {{.*}}, {{.*}}, {{.*}} : 1x2048xf32

// PLAN: %[[WEIGHTS:.*]] = loop of {{.*}} : 2048x1024xi8
// PLAN: convert
// PLAN-NOT: convert
// PLAN: stablehlo.dot_general {{.*}}, %[[WEIGHTS]], {{.*}} : 1x2048xf32
// PLAN: convert v{{.*}} -> result 0
// PLAN-NOT: convert
// PLAN: stablehlo.dot_general {{.*}}, {{.*}}, {{.*}} : 2x32xf32

func.func @main() -> (tensor<4xf32>, tensor<2xf32>) {
  %row = stablehlo.iota dim = 0 : tensor<2048x1024xi32>
  %seven = stablehlo.constant dense<7> : tensor<2048x1024xi32>
  %remainder = stablehlo.remainder %row, %seven : tensor<2048x1024xi32>
  %weights = stablehlo.convert %remainder : (tensor<2048x1024xi32>) -> tensor<2048x1024xi8>
  %half = stablehlo.constant dense<0.5> : tensor<2048x1xf32>
  %scales = stablehlo.broadcast_in_dim %half, dims = [0, 1] : (tensor<2048x1xf32>) -> tensor<2048x1024xf32>
  %wide = stablehlo.convert %weights : (tensor<2048x1024xi8>) -> tensor<2048x1024xf32>
  %scaled = stablehlo.multiply %wide, %scales : tensor<2048x1024xf32>
  %x = stablehlo.constant dense<1.0> : tensor<1x1024xf32>
  %y = stablehlo.dot_general %x, %scaled, contracting_dims = [1] x [1] : (tensor<1x1024xf32>, tensor<2048x1024xf32>) -> tensor<1x2048xf32>
  %last = stablehlo.slice %y [0:1, 2044:2048] : (tensor<1x2048xf32>) -> tensor<1x4xf32>
  %result = stablehlo.reshape %last : (tensor<1x4xf32>) -> tensor<4xf32>

  // Not a constant, of which one element would do.
  %counted = stablehlo.iota dim = 0 : tensor<1024x32xi4>
  %none = stablehlo.constant dense<0> : tensor<1024x32xi4>
  %zeros = stablehlo.and %counted, %none : tensor<1024x32xi4>
  %bits = stablehlo.constant dense<3> : tensor<1024x32xi4>
  %three = stablehlo.or %zeros, %bits : tensor<1024x32xi4>
  %grouped = stablehlo.reshape %three : (tensor<1024x32xi4>) -> tensor<16x64x32xi4>
  %group = stablehlo.iota dim = 0 : tensor<16x32xi32>
  %odd = stablehlo.constant dense<1> : tensor<16x32xi32>
  %parity = stablehlo.and %group, %odd : tensor<16x32xi32>
  %number = stablehlo.add %parity, %odd : tensor<16x32xi32>
  %factors = stablehlo.convert %number : (tensor<16x32xi32>) -> tensor<16x32xf32>
  %all = stablehlo.broadcast_in_dim %factors, dims = [0, 2] : (tensor<16x32xf32>) -> tensor<16x64x32xf32>
  %floats = stablehlo.convert %grouped : (tensor<16x64x32xi4>) -> tensor<16x64x32xf32>
  %products = stablehlo.multiply %floats, %all : tensor<16x64x32xf32>
  %matrix = stablehlo.reshape %products : (tensor<16x64x32xf32>) -> tensor<1024x32xf32>
  %ones = stablehlo.constant dense<1.0> : tensor<2x1024xf32>
  %sums = stablehlo.dot_general %ones, %matrix, contracting_dims = [1] x [0] : (tensor<2x1024xf32>, tensor<1024x32xf32>) -> tensor<2x32xf32>
  %corner = stablehlo.slice %sums [1:2, 30:32] : (tensor<2x32xf32>) -> tensor<1x2xf32>
  %second = stablehlo.reshape %corner : (tensor<1x2xf32>) -> tensor<2xf32>
  return %result, %second : tensor<4xf32>, tensor<2xf32>
}

func.func @zero_points() -> tensor<7xf32> {
  %row = stablehlo.iota dim = 0 : tensor<2048x1024xi32>
  %seven = stablehlo.constant dense<7> : tensor<2048x1024xi32>
  %remainder = stablehlo.remainder %row, %seven : tensor<2048x1024xi32>
  %least = stablehlo.constant dense<200> : tensor<2048x1024xi32>
  %shifted = stablehlo.add %remainder, %least : tensor<2048x1024xi32>
  %weights = stablehlo.convert %shifted : (tensor<2048x1024xi32>) -> tensor<2048x1024xui8>
  %points = stablehlo.constant dense<203.0> : tensor<2048xf32>
  %zeros = stablehlo.broadcast_in_dim %points, dims = [0] : (tensor<2048xf32>) -> tensor<2048x1024xf32>
  %half = stablehlo.constant dense<0.5> : tensor<2048xf32>
  %scales = stablehlo.broadcast_in_dim %half, dims = [0] : (tensor<2048xf32>) -> tensor<2048x1024xf32>
  %wide = stablehlo.convert %weights : (tensor<2048x1024xui8>) -> tensor<2048x1024xf32>
  %centered = stablehlo.subtract %wide, %zeros : tensor<2048x1024xf32>
  %scaled = stablehlo.multiply %centered, %scales : tensor<2048x1024xf32>
  %x = stablehlo.constant dense<1.0> : tensor<1x1024xf32>
  %y = stablehlo.dot_general %x, %scaled, contracting_dims = [1] x [1] : (tensor<1x1024xf32>, tensor<2048x1024xf32>) -> tensor<1x2048xf32>
  %rows = stablehlo.slice %y [0:1, 2037:2044] : (tensor<1x2048xf32>) -> tensor<1x7xf32>
  %result = stablehlo.reshape %rows : (tensor<1x7xf32>) -> tensor<7xf32>
  return %result : tensor<7xf32>
}
