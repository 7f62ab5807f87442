// RUN: stablo run %s --entry dead --dump-plan-after=dce | FileCheck %s --check-prefix=DCE
// RUN: stablo run %s --entry equal --dump-plan-after=cse | FileCheck %s --check-prefix=CSE
// RUN: stablo run %s --entry loop --dump-plan-after=inline | FileCheck %s --check-prefix=INLINE
// RUN: stablo run %s --entry loop --dump-plan-after=identities | FileCheck %s --check-prefix=IDENTITIES
// RUN: stablo run %s --entry loop --dump-plan-after=hoist | FileCheck %s --check-prefix=HOIST
// RUN: stablo run %s --entry branches --dump-plan-after=sink | FileCheck %s --check-prefix=SINK
// RUN: stablo run %s --entry first --dump-plan-after=limit-sorts | FileCheck %s --check-prefix=LIMIT
// RUN: not stablo run %s --entry dead --dump-plan-after=nothing 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not stablo run %s --entry dead --engine reference --dump-plan-after=dce 2>&1 | FileCheck %s --check-prefix=NONE

// UNKNOWN: invalid value 'nothing' for '--dump-plan-after <PASS>'
// NONE: the program has no plan: it runs op by op

// An unused product, an unused result of a branch and their operands are dropped; ops that may fail, may
// not terminate or draw random numbers stay.
// DCE-LABEL: @dead(
// DCE-NOT: dot_general
// DCE-NOT: sine
// DCE: stablehlo.dynamic_reshape
// DCE-NEXT: stablehlo.rng
// DCE-NEXT: %[[R:[0-9]+]] = stablehlo.if %{{[0-9]+}} : f32 {
// DCE-NOT: cosine
// DCE: stablehlo.while
// DCE: return %[[R]]
func.func @dead(%x: tensor<8x8xf32>, %p: tensor<i1>, %n: tensor<2xi64>) -> tensor<f32> {
  %s = stablehlo.sine %x : tensor<8x8xf32>
  %d = stablehlo.dot_general %s, %x, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %may_fail = stablehlo.dynamic_reshape %x, %n : (tensor<8x8xf32>, tensor<2xi64>) -> tensor<8x8xf32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %shape = stablehlo.constant dense<2> : tensor<1xi64>
  %drawn = stablehlo.rng %one, %two, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<2xf32>
  %r:2 = "stablehlo.if"(%p) ({
    %c = stablehlo.cosine %x : tensor<8x8xf32>
    stablehlo.return %one, %c : tensor<f32>, tensor<8x8xf32>
  }, {
    stablehlo.return %two, %x : tensor<f32>, tensor<8x8xf32>
  }) : (tensor<i1>) -> (tensor<f32>, tensor<8x8xf32>)
  %w = stablehlo.while(%i = %p) : tensor<i1> cond {
    stablehlo.return %i : tensor<i1>
  } do {
    %not = stablehlo.not %i : tensor<i1>
    stablehlo.return %not : tensor<i1>
  }
  return %r#0 : tensor<f32>
}

// Products, reductions with blocks that are written alike, and what is in a region as around it are
// computed once; those of other dimensions or blocks are not the same, nor are two draws.
// CSE-LABEL: @equal(
// CSE-COUNT-2: stablehlo.dot_general
// CSE-NOT: stablehlo.dot_general
// CSE-COUNT-2: stablehlo.reduce
// CSE-NOT: stablehlo.reduce
// CSE-COUNT-2: stablehlo.rng
// CSE: stablehlo.if
// CSE-NOT: sine
// CSE: return
func.func @equal(%x: tensor<8x8xf32>, %p: tensor<i1>) -> (tensor<8x8xf32>, tensor<8xf32>, tensor<2xf32>, tensor<8x8xf32>) {
  %a = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %c = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %ab = stablehlo.add %a, %b : tensor<8x8xf32>
  %abc = stablehlo.add %ab, %c : tensor<8x8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %t = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %u = stablehlo.reduce(%x init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %st = stablehlo.add %s, %t : tensor<8xf32>
  %stu = stablehlo.add %st, %u : tensor<8xf32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %shape = stablehlo.constant dense<2> : tensor<1xi64>
  %d = stablehlo.rng %zero, %one, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<2xf32>
  %e = stablehlo.rng %zero, %one, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<2xf32>
  %de = stablehlo.subtract %d, %e : tensor<2xf32>
  %sine = stablehlo.sine %x : tensor<8x8xf32>
  %r = "stablehlo.if"(%p) ({
    %again = stablehlo.sine %x : tensor<8x8xf32>
    stablehlo.return %again : tensor<8x8xf32>
  }, {
    stablehlo.return %sine : tensor<8x8xf32>
  }) : (tensor<i1>) -> tensor<8x8xf32>
  return %abc, %stu, %de, %r : tensor<8x8xf32>, tensor<8xf32>, tensor<2xf32>, tensor<8x8xf32>
}

// The call is its nodes. The matrix that the loop carries without change is that around it. Its
// product leaves the loop; what changes stays, and so does a conversion that is larger than its
// operand.
// INLINE-LABEL: @loop(
// INLINE-NOT: call
// INLINE: = stablehlo.while %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : i32, 8x8xf32, 8x8xf32 {
// IDENTITIES-LABEL: @loop(
// IDENTITIES: = stablehlo.while %{{[0-9]+}}, %{{[0-9]+}} : i32, 8x8xf32 {
// HOIST-LABEL: @loop(
// HOIST: = stablehlo.dot_general
// HOIST: stablehlo.while
// HOIST-NOT: dot_general
// HOIST: stablehlo.convert
// HOIST: return
func.func @loop(%x: tensor<8x8xf32>, %n: tensor<i32>, %b: tensor<8x8xi8>) -> tensor<8x8xf32> {
  %r = func.call @power(%x, %n, %b) : (tensor<8x8xf32>, tensor<i32>, tensor<8x8xi8>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
func.func private @power(%x: tensor<8x8xf32>, %n: tensor<i32>, %b: tensor<8x8xi8>) -> tensor<8x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %y = %x, %w = %x) : tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32> cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %square = stablehlo.dot_general %w, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %wide = stablehlo.convert %b : (tensor<8x8xi8>) -> tensor<8x8xf32>
    %sum = stablehlo.add %square, %wide : tensor<8x8xf32>
    %new = stablehlo.multiply %y, %sum : tensor<8x8xf32>
    stablehlo.return %next, %new, %w : tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  return %r#1 : tensor<8x8xf32>
}

// A product that one branch uses is computed there; one that both use, or a result, before them.
// SINK-LABEL: @branches(
// SINK: = stablehlo.dot_general
// SINK-NOT: dot_general
// SINK: stablehlo.if
// SINK-NEXT: = stablehlo.dot_general
// SINK: return
func.func @branches(%x: tensor<8x8xf32>, %p: tensor<i1>) -> tensor<8x8xf32> {
  %one = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %both = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = "stablehlo.if"(%p) ({
    %s = stablehlo.add %one, %both : tensor<8x8xf32>
    stablehlo.return %s : tensor<8x8xf32>
  }, {
    stablehlo.return %both : tensor<8x8xf32>
  }) : (tensor<i1>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// The three least elements are all that is sorted out.
// LIMIT-LABEL: @first(
// LIMIT-NEXT: %{{[0-9]+}} = stablehlo.sort %{{[0-9]+}} : 3xf32
// LIMIT-NOT: slice
func.func @first(%x: tensor<100xf32>) -> tensor<3xf32> {
  %s = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %less = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<100xf32>) -> tensor<100xf32>
  %r = stablehlo.slice %s [0:3] : (tensor<100xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}
