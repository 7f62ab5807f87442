// RUN: stablo run %s | FileCheck %s
// RUN: stablo run %s --threads 2 | FileCheck %s
// RUN: stablo run %s --engine reference | FileCheck %s
// RUN: stablo run %s --explain-plan | FileCheck %s --check-prefix=PLAN

// Loops over the same large values are one loop, though a small value is computed between them; but
// not if one of them waits for what uses the other.

// Long iotas are written where their values are, and bits of small values are not converted.
// PLAN: stablehlo.iota : 10000xi32

// Elements 4095 of 2 x and of x - 2.
// CHECK: output 0:
// CHECK-NEXT: [8190.0]
// CHECK: output 1:
// CHECK-NEXT: [4093.0]
// PLAN: loop of 2 ops : 4096xf32, 4096xf32

// Of x + 1, and of x - 3 times the sum of all x + 1, which is 2048 * 4097.
// CHECK: output 2:
// CHECK-NEXT: [4096.0]
// CHECK: output 3:
// CHECK-NEXT: [3.4334564e10]
// PLAN: loop of 2 ops : 4096xf32
// PLAN: stablehlo.reduce
// PLAN: loop of 4 ops : 4096xf32

// The sum of all numbers below 10000.
// CHECK: output 4:
// CHECK-NEXT: 49995000

// 2^32 + 3.
// CHECK: output 5:
// CHECK-NEXT: 4294967299
// PLAN: move stablehlo.bitcast_convert
func.func @main() -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<i32>, tensor<ui64>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %x = stablehlo.iota dim = 0 : tensor<4096xf32>
  %none = stablehlo.constant dense<0> : tensor<i32>
  %long = stablehlo.iota dim = 0 : tensor<10000xi32>
  %total = stablehlo.reduce(%long init: %none) applies stablehlo.add across dimensions = [0] : (tensor<10000xi32>, tensor<i32>) -> tensor<i32>

  %double = stablehlo.add %x, %x : tensor<4096xf32>
  %hidden = stablehlo.optimization_barrier %one : tensor<f32>
  %two = stablehlo.add %hidden, %hidden : tensor<f32>
  %twos = stablehlo.broadcast_in_dim %two, dims = [] : (tensor<f32>) -> tensor<4096xf32>
  %less = stablehlo.subtract %x, %twos : tensor<4096xf32>
  %0 = stablehlo.slice %double [4095:4096] : (tensor<4096xf32>) -> tensor<1xf32>
  %1 = stablehlo.slice %less [4095:4096] : (tensor<4096xf32>) -> tensor<1xf32>

  %ones = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<4096xf32>
  %more = stablehlo.add %x, %ones : tensor<4096xf32>
  %sum = stablehlo.reduce(%more init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4096xf32>, tensor<f32>) -> tensor<f32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [] : (tensor<f32>) -> tensor<4096xf32>
  %threes = stablehlo.constant dense<3.0> : tensor<4096xf32>
  %shifted = stablehlo.subtract %x, %threes : tensor<4096xf32>
  %product = stablehlo.multiply %shifted, %sums : tensor<4096xf32>
  %2 = stablehlo.slice %more [4095:4096] : (tensor<4096xf32>) -> tensor<1xf32>
  %3 = stablehlo.slice %product [4095:4096] : (tensor<4096xf32>) -> tensor<1xf32>

  %words = stablehlo.iota dim = 0 : tensor<2xui32>
  %three = stablehlo.constant dense<[3, 0]> : tensor<2xui32>
  %unknown = stablehlo.optimization_barrier %three : tensor<2xui32>
  %parts = stablehlo.add %words, %unknown : tensor<2xui32>
  %bits = stablehlo.bitcast_convert %parts : (tensor<2xui32>) -> tensor<ui64>
  return %0, %1, %2, %3, %total, %bits : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<i32>, tensor<ui64>
}
