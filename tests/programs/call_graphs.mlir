// RUN: stablo run %s --input 1.0 | FileCheck %s
// RUN: stablo run %s --input 1.0 --engine reference | FileCheck %s
// RUN: stablo run %s --input 1.0 --threads 2 | FileCheck %s
// RUN: stablo cost %s | FileCheck %s --check-prefix=COST
// RUN: stablehlo-opt %s --inline | stablo run - --input 1.0 | FileCheck %s

// Functions that call the next one twice, that several ops share, and that call each other: a walk
// over calls that visits a function again for each call does not end soon for a few more of them.
// Mutants of this file are inputs of the fuzzers.

// 1 and the 64 calls of @last in the tree; 16 more by two composites; the sum of two of that.
// CHECK: tensor<f32>
// CHECK-NEXT: 162.0
// Four rounds of two functions.
// CHECK: tensor<i32>
// CHECK-NEXT: 4

// COST: {{[0-9]+}} FLOP

module {
  func.func @main(%0: tensor<f32>) -> (tensor<f32>, tensor<i32>) {
    %1 = call @t0(%0) : (tensor<f32>) -> tensor<f32>
    %2 = stablehlo.composite "test.tree" %1 {decomposition = @t3} : (tensor<f32>) -> tensor<f32>
    %3 = stablehlo.composite "test.tree" %2 {decomposition = @t3} : (tensor<f32>) -> tensor<f32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %5 = "stablehlo.reduce"(%4, %zero) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = func.call @sum(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    %never = stablehlo.compare LT, %0, %0 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %6 = "stablehlo.if"(%never) ({
      %c = func.call @c0(%5) : (tensor<f32>) -> tensor<f32>
      stablehlo.return %c : tensor<f32>
    }, {
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    %four = stablehlo.constant dense<4> : tensor<i32>
    %7 = call @even(%four) : (tensor<i32>) -> tensor<i32>
    return %6, %7 : tensor<f32>, tensor<i32>
  }

  func.func private @t0(%0: tensor<f32>) -> tensor<f32> {
    %1 = call @t1(%0) : (tensor<f32>) -> tensor<f32>
    %2 = call @t1(%1) : (tensor<f32>) -> tensor<f32>
    return %2 : tensor<f32>
  }
  func.func private @t1(%0: tensor<f32>) -> tensor<f32> {
    %1 = call @t2(%0) : (tensor<f32>) -> tensor<f32>
    %2 = call @t2(%1) : (tensor<f32>) -> tensor<f32>
    return %2 : tensor<f32>
  }
  func.func private @t2(%0: tensor<f32>) -> tensor<f32> {
    %1 = call @t3(%0) : (tensor<f32>) -> tensor<f32>
    %2 = call @t3(%1) : (tensor<f32>) -> tensor<f32>
    return %2 : tensor<f32>
  }
  func.func private @t3(%0: tensor<f32>) -> tensor<f32> {
    %1 = call @t4(%0) : (tensor<f32>) -> tensor<f32>
    %2 = call @t4(%1) : (tensor<f32>) -> tensor<f32>
    return %2 : tensor<f32>
  }
  func.func private @t4(%0: tensor<f32>) -> tensor<f32> {
    %true = stablehlo.constant dense<true> : tensor<i1>
    %1 = "stablehlo.if"(%true) ({
      %2 = func.call @t5(%0) : (tensor<f32>) -> tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }, {
      %2 = func.call @t5(%0) : (tensor<f32>) -> tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    %3 = call @t5(%1) : (tensor<f32>) -> tensor<f32>
    return %3 : tensor<f32>
  }
  func.func private @t5(%0: tensor<f32>) -> tensor<f32> {
    %1 = call @last(%0) : (tensor<f32>) -> tensor<f32>
    %2 = call @last(%1) : (tensor<f32>) -> tensor<f32>
    return %2 : tensor<f32>
  }
  func.func private @last(%0: tensor<f32>) -> tensor<f32> {
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %1 = call @sum(%0, %one) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
  func.func private @sum(%0: tensor<f32>, %1: tensor<f32>) -> tensor<f32> {
    %2 = stablehlo.add %0, %1 : tensor<f32>
    return %2 : tensor<f32>
  }

  func.func private @c0(%0: tensor<f32>) -> tensor<f32> {
    %1 = call @c1(%0) : (tensor<f32>) -> tensor<f32>
    %2 = call @c1(%1) : (tensor<f32>) -> tensor<f32>
    return %2 : tensor<f32>
  }
  func.func private @c1(%0: tensor<f32>) -> tensor<f32> {
    %1 = call @c2(%0) : (tensor<f32>) -> tensor<f32>
    %2 = call @c0(%1) : (tensor<f32>) -> tensor<f32>
    return %2 : tensor<f32>
  }
  func.func private @c2(%0: tensor<f32>) -> tensor<f32> {
    %1 = call @c0(%0) : (tensor<f32>) -> tensor<f32>
    %2 = call @c1(%1) : (tensor<f32>) -> tensor<f32>
    return %2 : tensor<f32>
  }

  func.func private @even(%0: tensor<i32>) -> tensor<i32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %ends = stablehlo.compare LE, %0, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1 = "stablehlo.if"(%ends) ({
      stablehlo.return %zero : tensor<i32>
    }, {
      %2 = stablehlo.subtract %0, %one : tensor<i32>
      %3 = func.call @odd(%2) : (tensor<i32>) -> tensor<i32>
      %4 = stablehlo.add %3, %one : tensor<i32>
      stablehlo.return %4 : tensor<i32>
    }) : (tensor<i1>) -> tensor<i32>
    return %1 : tensor<i32>
  }
  func.func private @odd(%0: tensor<i32>) -> tensor<i32> {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.subtract %0, %one : tensor<i32>
    %2 = call @even(%1) : (tensor<i32>) -> tensor<i32>
    %3 = stablehlo.add %2, %one : tensor<i32>
    return %3 : tensor<i32>
  }
}
