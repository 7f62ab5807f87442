// RUN: stablo run %s --engine fast --explain-plan | FileCheck %s
// RUN: stablo run %s --engine reference --explain-plan | FileCheck %s --check-prefix=REFERENCE
// RUN: stablo run %s --engine fast --input iota --input "[10, 20, 30]" --input 2 | FileCheck %s --check-prefix=VALUES
// RUN: stablo run %s --engine fast --threads 1 --input iota --input "[10, 20, 30]" --input 2 --max-steps 13 | FileCheck %s --check-prefix=VALUES
// RUN: not stablo run %s --engine fast --input iota --input "[10, 20, 30]" --input 2 --max-steps 9 2>&1 | FileCheck %s --check-prefix=STEPS
// RUN: stablo run %s --engine fast --input iota --input "[10, 20, 30]" --input 2 --trace %t | FileCheck %s --check-prefix=VALUES
// RUN: FileCheck %s --check-prefix=TRACE --input-file %t/index.jsonl

// The sum is needed before the rest of the loop that it could be a part of, so it is the result of a
// loop of its own. Broadcasts, the iota, the reshape and the slice are no steps but views. All are
// one block over values in places of 64 bytes: 3 arguments, 4 results of which one is where %b was
// and one where %n or the sum was, 2 constants, and 2 at a time within a step.

// CHECK: @main: 11 ops in 4 steps, 3 of them loops; peak 576 bytes
// CHECK-NEXT: block of 11 ops:
// CHECK-NEXT: %[[SUM:.*]] = loop of 2 ops : 2x3xf32
// CHECK-NEXT:   v0 = read %[[X:.*]]
// CHECK-NEXT:   v1 = view %[[B:.*]]
// CHECK-NEXT:   v2 = add v0, v1 -> result 0
// CHECK-NEXT: %[[R:.*]] = stablehlo.reduce %[[SUM]], constant f32 : 3xf32
// CHECK-NEXT: %[[G:.*]] = loop of 5 ops : 6xf32
// CHECK-NEXT:   v0 = read %[[SUM]]
// CHECK-NEXT:   v1 = repeat %[[N:.*]]
// CHECK-NEXT:   v2 = read constant 6xf32
// CHECK-NEXT:   v3 = multiply v0, v1
// CHECK-NEXT:   v4 = subtract v3, v2 -> result 0
// CHECK-NEXT: %[[E:.*]] = loop of 2 ops : 1x3xf32
// CHECK-NEXT:   v0 = view %[[X]]
// CHECK-NEXT:   v1 = negate v0 -> result 0
// CHECK-NEXT: return %[[G]], %[[R]], %[[E]]

// REFERENCE: @main block {{.*}}: 11 ops in 11 steps
// REFERENCE: %{{.*}} = stablehlo.broadcast_in_dim %{{.*}} : 2x3xf32

// (x + b) * 2 - i, the column sums of x + b, and the second row of x, negated.
// VALUES: [20.0, 41.0, 62.0, 23.0, 44.0, 65.0]
// VALUES: [23.0, 45.0, 67.0]
// VALUES: {{\[}}[-3.0, -4.0, -5.0]]

// STEPS: the run takes more than 9 steps, which is its limit
// TRACE: broadcast_in_dim
func.func @main(%x: tensor<2x3xf32>, %b: tensor<3xf32>, %n: tensor<f32>)
    -> (tensor<6xf32>, tensor<3xf32>, tensor<1x3xf32>) {
  %bb = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  %s = stablehlo.add %x, %bb : tensor<2x3xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
  %nn = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %m = stablehlo.multiply %s, %nn : tensor<2x3xf32>
  %f = stablehlo.reshape %m : (tensor<2x3xf32>) -> tensor<6xf32>
  %i = stablehlo.iota dim = 0 : tensor<6xf32>
  %g = stablehlo.subtract %f, %i : tensor<6xf32>
  %row = stablehlo.slice %x [1:2, 0:3] : (tensor<2x3xf32>) -> tensor<1x3xf32>
  %e = stablehlo.negate %row : tensor<1x3xf32>
  return %g, %r, %e : tensor<6xf32>, tensor<3xf32>, tensor<1x3xf32>
}
