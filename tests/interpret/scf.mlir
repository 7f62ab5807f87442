// RUN: stablehlo-opt %s | stablehlo-opt | FileCheck %s
// RUN: stablehlo-translate --interpret %s
// RUN: stablehlo-opt --emit-bytecode %s | stablehlo-translate --interpret

// 1 + 2 + 4 + … doubled in each of the steps 0, 3, 6, 9.
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (tensor<i64>) {
// CHECK: scf.yield
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} : i32 {
// CHECK-NEXT: }
func.func @main() {
  %c0 = arith.constant 0 : index
  %c10 = arith.constant 10 : index
  %c3 = arith.constant 3 : index
  %one = stablehlo.constant dense<1> : tensor<i64>
  %sum = scf.for %i = %c0 to %c10 step %c3 iter_args(%s = %one) -> (tensor<i64>) {
    %t = stablehlo.add %s, %s : tensor<i64>
    scf.yield %t : tensor<i64>
  }
  check.expect_eq_const %sum, dense<16> : tensor<i64>
  %n = arith.constant 2 : i32
  scf.for %j = %n to %n step %n : i32 {
  }
  return
}
