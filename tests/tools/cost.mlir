// Costs are formulas of shapes.
// RUN: stablo cost %s | FileCheck %s
// RUN: stablo cost - < %s | FileCheck %s --check-prefix=STDIN
// RUN: stablo cost %s --by function --top 1 | FileCheck %s --check-prefix=FUNCTION
// RUN: stablo cost %s --by source --top 1 | FileCheck %s --check-prefix=SOURCE
// RUN: stablo cost %s --by scope | FileCheck %s --check-prefix=SCOPE
// RUN: stablo cost %s --by each --top 2 | FileCheck %s --check-prefix=EACH
// RUN: stablo cost %s --format json | FileCheck %s --check-prefix=JSON
// RUN: stablo cost %s --entry @dynamic | FileCheck %s --check-prefix=DYNAMIC
// RUN: stablo cost %s --entry calls_itself | FileCheck %s --check-prefix=RECURSION
// RUN: stablo cost %s --entry large --format json | FileCheck %s --check-prefix=LARGE
// RUN: not stablo cost %s --entry none 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not stablo cost %s --by layer 2>&1 | FileCheck %s --check-prefix=USAGE

// The convolution has a kernel of 3x3 on an image of 4x4 with a border of 1: along each dimension,
// the 4 outputs meet 2 + 3 + 3 + 2 = 10 elements, so that 10 * 10 pairs count, for 1 image, 2 input
// features and 5 output features: 2 * 10 * 10 * 2 * 5 = 2000. The dot product has 2 * 5 * 16 * 3 =
// 480, and runs 10 times, as the loop counts from 0 to 10: 4800. The loop also adds and compares
// its counter 10 and 11 times, and adds 1 * 15 elements 10 times; the call takes exponentials of 15
// elements. The reduction of 15 elements to one adds 14 times.
// CHECK: {{.*}}cost.mlir: 7.0 kFLOP, 15 transcendental,
// CHECK-NEXT: arguments: 3, 170 elements, 680 B
// CHECK-NEXT: constants: 5, 5 elements, 20 B
// CHECK-NEXT: results: 2, 81 elements, 324 B
// CHECK: FLOPs share functions moved ops runs op
// CHECK-NEXT: 4800 ######## 0 5.7 kB 1 10 stablehlo.dot_general
// CHECK-NEXT: 2000 ### 0 808 B 1 1 stablehlo.convolution
// CHECK-NEXT: 160 0 1.9 kB 2 20 stablehlo.add
// CHECK-NEXT: 0 15 120 B 1 1 stablehlo.exponential
// CHECK-NEXT: 14 0 68 B 1 1 stablehlo.reduce
// CHECK-NEXT: 11 0 99 B 1 11 stablehlo.compare
// STDIN: <stdin>: 7.0 kFLOP
// FUNCTION: function
// FUNCTION-NEXT: 6985 ############ 0 {{.*}} @main
// FUNCTION-NEXT: 1 rows more; --top 0 prints all
// The line on which the op stands, as it has no location of its own.
// SOURCE: 4800 {{.*}}cost.mlir:[[#]]
// SCOPE-DAG: 2000 {{.*}} jit(f)/conv
// SCOPE-DAG: 4985 {{.*}} (unknown)
// EACH: stablehlo.dot_general at {{.*}}cost.mlir:[[#]]:
// EACH-NEXT: stablehlo.convolution at model.py:3:1

// JSON: "constants":{"bytes":20,"count":5,"elements":5}
// JSON-SAME: "doubts":[],"flops":6985
// JSON-SAME: {"bytes":808,"doubt":null,"flops":2000,"function":"main","op":"stablehlo.convolution","runs":1,"scope":"jit(f)/conv","source":"model.py:3:1","transcendentals":0}
// JSON-SAME: "transcendentals":15}
func.func @main(%image: tensor<1x4x4x2xf32>, %kernel: tensor<3x3x2x5xf32>, %w: tensor<16x3xf32>) -> (tensor<1x4x4x5xf32>, tensor<f32>) {
  %0 = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x4x4x2xf32>, tensor<3x3x2x5xf32>) -> tensor<1x4x4x5xf32> loc("jit(f)/conv/conv_general_dilated"("model.py":3:1))
  %1 = stablehlo.reshape %0 : (tensor<1x4x4x5xf32>) -> tensor<5x16xf32>
  %start = stablehlo.constant dense<0> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<5x3xf32>
  %2:2 = stablehlo.while(%i = %start, %sum = %zeros) : tensor<i32>, tensor<5x3xf32>
  cond {
    %ten = stablehlo.constant dense<10> : tensor<i32>
    %3 = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %3 = stablehlo.add %i, %one : tensor<i32>
    %4 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<5x16xf32>, tensor<16x3xf32>) -> tensor<5x3xf32>
    %5 = stablehlo.add %sum, %4 : tensor<5x3xf32>
    stablehlo.return %3, %5 : tensor<i32>, tensor<5x3xf32>
  }
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %6 = func.call @exp(%2#1) : (tensor<5x3xf32>) -> tensor<5x3xf32>
  %7 = stablehlo.reduce(%6 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<5x3xf32>, tensor<f32>) -> tensor<f32>
  return %0, %7 : tensor<1x4x4x5xf32>, tensor<f32>
}

func.func private @exp(%x: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %0 = stablehlo.exponential %x : tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// DYNAMIC: 2 FLOP
// DYNAMIC: not exact (1): dynamic sizes that count as 1
// DYNAMIC-NEXT: not exact (1): loops whose trip count is unknown
// DYNAMIC-NEXT: not exact (1): ops of unknown arithmetic
func.func @dynamic(%x: tensor<?xf32>, %go: tensor<i1>) -> tensor<?xf32> {
  %0 = stablehlo.add %x, %x : tensor<?xf32>
  %1:2 = stablehlo.while(%a = %go, %b = %0) : tensor<i1>, tensor<?xf32>
  cond {
    stablehlo.return %a : tensor<i1>
  } do {
    %2 = stablehlo.not %a : tensor<i1>
    stablehlo.return %2, %b : tensor<i1>, tensor<?xf32>
  }
  %3 = stablehlo.custom_call @unheard_of(%1#1) : (tensor<?xf32>) -> tensor<?xf32>
  return %3 : tensor<?xf32>
}

// RECURSION: 1 FLOP
// RECURSION: not exact (1): recursive calls
func.func @calls_itself(%x: tensor<f32>) -> tensor<f32> {
  %0 = func.call @calls_itself(%x) : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.negate %0 : tensor<f32>
  return %1 : tensor<f32>
}

// Sums saturate.
// LARGE: "flops":18446744073709551615
func.func @large(%x: tensor<4294967296x4294967296xi8>) -> tensor<4294967296x4294967296xi8> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<4294967296x4294967296xi8>, tensor<4294967296x4294967296xi8>) -> tensor<4294967296x4294967296xi8>
  return %0 : tensor<4294967296x4294967296xi8>
}

// NONE: there is no function @none to run
// USAGE: invalid value 'layer' for '--by <GROUP>'
