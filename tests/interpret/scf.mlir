// RUN: stablehlo-opt %s | stablehlo-opt | FileCheck %s
// RUN: stablehlo-translate --interpret %s
// RUN: stablehlo-opt %s --mlir-print-op-generic -o %t.generic
// RUN: stablehlo-opt %t.generic | FileCheck %s
// RUN: stablo run %s
// RUN: stablo run %s --engine reference
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
  func.call @branches() : () -> ()
  return
}

// CHECK-LABEL: func.func @branches
// CHECK: scf.while (%[[X:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}}) : (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>) {
// CHECK: scf.condition(%{{.*}}) %[[S]], %[[X]] : tensor<i64>, tensor<i64>
// CHECK-NEXT: } do {
// CHECK-NEXT: ^bb0(
// CHECK: scf.if %{{.*}} -> (tensor<i64>) {
// CHECK: } else {
// CHECK: scf.if %false {
// CHECK-NEXT: check.expect_eq_const
// CHECK-NEXT: }
func.func @branches() {
  // Collatz from 27 takes 111 steps.
  %n = stablehlo.constant dense<27> : tensor<i64>
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %two = stablehlo.constant dense<2> : tensor<i64>
  %three = stablehlo.constant dense<3> : tensor<i64>
  %r:2 = scf.while (%x = %n, %s = %zero) : (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>) {
    %p = stablehlo.compare NE, %x, %one : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c = tensor.extract %p[] : tensor<i1>
    scf.condition(%c) %s, %x : tensor<i64>, tensor<i64>
  } do {
  ^bb0(%s: tensor<i64>, %x: tensor<i64>):
    %rem = stablehlo.remainder %x, %two : tensor<i64>
    %p = stablehlo.compare EQ, %rem, %zero : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c = tensor.extract %p[] : tensor<i1>
    %next = scf.if %c -> (tensor<i64>) {
      %h = stablehlo.divide %x, %two : tensor<i64>
      scf.yield %h : tensor<i64>
    } else {
      %h = stablehlo.multiply %x, %three : tensor<i64>
      %k = stablehlo.add %h, %one : tensor<i64>
      scf.yield %k : tensor<i64>
    }
    %t = stablehlo.add %s, %one : tensor<i64>
    scf.yield %next, %t : tensor<i64>, tensor<i64>
  }
  check.expect_eq_const %r#0, dense<111> : tensor<i64>
  check.expect_eq_const %r#1, dense<1> : tensor<i64>
  %true = arith.constant true
  %false = arith.constant false
  scf.if %false {
    check.expect_eq_const %n, dense<1> : tensor<i64>
  }
  scf.if %true {
    check.expect_eq_const %n, dense<27> : tensor<i64>
  } else {
    check.expect_eq_const %n, dense<1> : tensor<i64>
  }
  return
}
