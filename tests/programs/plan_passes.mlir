// RUN: stablo run %s --entry dead --dump-plan-after=dce | FileCheck %s --check-prefix=DCE
// RUN: stablo run %s --entry equal --dump-plan-after=cse | FileCheck %s --check-prefix=CSE
// RUN: stablo run %s --entry regions --dump-plan-after=cse | FileCheck %s --check-prefix=REGIONS
// RUN: stablo run %s --entry dead_regions --dump-plan-after=dce | FileCheck %s --check-prefix=DEADREGIONS
// RUN: stablo run %s --entry loop --dump-plan-after=inline | FileCheck %s --check-prefix=INLINE
// RUN: stablo run %s --entry rounds --dump-plan-after=unroll | FileCheck %s --check-prefix=UNROLL
// RUN: stablo run %s --entry rounds --dump-plan-after=identities | FileCheck %s --check-prefix=ROUNDS
// RUN: stablo run %s --entry rounds --input 1.5 | FileCheck %s --check-prefix=ROUNDS-RUN
// RUN: stablo run %s --entry loop --dump-plan-after=identities | FileCheck %s --check-prefix=IDENTITIES
// RUN: stablo run %s --entry movements --dump-plan-after=identities | FileCheck %s --check-prefix=MOVEMENTS
// RUN: stablo run %s --entry loop --dump-plan-after=hoist | FileCheck %s --check-prefix=HOIST
// RUN: stablo run %s --entry exchanged --dump-plan-after=hoist | FileCheck %s --check-prefix=GATHERED
// RUN: stablo run %s --entry recurrent --dump-plan-after=hoist | FileCheck %s --check-prefix=ALONG-ROWS
// RUN: stablo run %s --entry recurrent --input iota --input iota | FileCheck %s --check-prefix=ALONG-ROWS-RUN
// RUN: stablo run %s --entry branches --dump-plan-after=sink | FileCheck %s --check-prefix=SINK
// RUN: stablo run %s --entry chain --dump-plan-after=layout | FileCheck %s --check-prefix=LAYOUT
// RUN: stablo run %s --entry alone --dump-plan-after=layout | FileCheck %s --check-prefix=ALONE
// RUN: stablo run %s --entry tree --dump-plan-after=reduction-trees | FileCheck %s --check-prefix=TREE
// RUN: stablo run %s --entry tree --input iota | FileCheck %s --check-prefix=TREE-RUN
// RUN: stablo run %s --entry repeated --dump-plan-after=shrink | FileCheck %s --check-prefix=SHRINK
// RUN: stablo run %s --entry repeated --input 5 --input iota | FileCheck %s --check-prefix=SHRINK-RUN
// RUN: stablo run %s --entry first --dump-plan-after=limit-sorts | FileCheck %s --check-prefix=LIMIT
// RUN: stablo run %s --entry frames --dump-plan-after=dce | FileCheck %s --check-prefix=FRAMES
// RUN: stablo run %s --entry frames --input iota | FileCheck %s --check-prefix=FRAMES-RUN
// RUN: not stablo run %s --entry dead --dump-plan-after=nothing 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not stablo run %s --entry dead --engine reference --dump-plan-after=dce 2>&1 | FileCheck %s --check-prefix=NONE

// UNKNOWN: invalid value 'nothing' for '--dump-plan-after <PASS>'
// NONE: the program has no plan: it runs op by op

// Movements that leave every element where it is are their operands; a slice of a part, an exchange of
// dimensions of equal sizes, and a reversal are not.
// MOVEMENTS-LABEL: @movements(
// MOVEMENTS-NEXT: stablehlo.constant
// MOVEMENTS-NEXT: %[[S:[0-9]+]] = stablehlo.slice %0 : 3x4xf32
// MOVEMENTS-NEXT: %[[T:[0-9]+]] = stablehlo.transpose %0 : 4x4xf32
// MOVEMENTS-NEXT: %[[R:[0-9]+]] = stablehlo.reverse %0 : 4x4xf32
// MOVEMENTS-NEXT: return %0, %[[S]], %[[T]], %[[R]]
func.func @movements(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.slice %x [0:4, 0:4] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = stablehlo.transpose %a, dims = [0, 1] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = stablehlo.reverse %b, dims = [] : tensor<4x4xf32>
  %d = stablehlo.broadcast_in_dim %c, dims = [0, 1] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = stablehlo.pad %d, %zero, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %f = stablehlo.reshape %e : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = stablehlo.slice %f [1:4, 0:4] : (tensor<4x4xf32>) -> tensor<3x4xf32>
  %t = stablehlo.transpose %f, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = stablehlo.reverse %f, dims = [0] : tensor<4x4xf32>
  return %f, %s, %t, %r : tensor<4x4xf32>, tensor<3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

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

// A chain of convolutions with the channels first has them last: the input is read and the pooled
// result is reduced as they are, so that there is no transpose; scale, offset and activation follow.
// LAYOUT-LABEL: @chain(
// LAYOUT-NOT: transpose
// LAYOUT: = stablehlo.convolution %0, %1 : 1x8x8x16xf32
// LAYOUT: = stablehlo.broadcast_in_dim %2 : 1x8x8x16xf32
// LAYOUT: = stablehlo.multiply %{{.*}} : 1x8x8x16xf32
// LAYOUT: = stablehlo.maximum %{{.*}} : 1x8x8x16xf32
// LAYOUT: = stablehlo.reduce_window %{{.*}} : 1x4x4x16xf32
// LAYOUT: = stablehlo.convolution %{{.*}} : 1x4x4x8xf32
// LAYOUT: = stablehlo.reduce %{{.*}} : 1x8xf32
// LAYOUT: return
func.func @chain(%x: tensor<1x3x8x8xf32>, %k: tensor<16x3x3x3xf32>, %scale: tensor<16xf32>, %l: tensor<8x16x1x1xf32>) -> tensor<1x8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %c = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x8x8xf32>
  %s = stablehlo.broadcast_in_dim %scale, dims = [1] : (tensor<16xf32>) -> tensor<1x16x8x8xf32>
  %m = stablehlo.multiply %c, %s : tensor<1x16x8x8xf32>
  %zeros = stablehlo.constant dense<0.0> : tensor<1x16x8x8xf32>
  %r = stablehlo.maximum %m, %zeros : tensor<1x16x8x8xf32>
  %p = "stablehlo.reduce_window"(%r, %zero) <{window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %most = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %most : tensor<f32>
  }) : (tensor<1x16x8x8xf32>, tensor<f32>) -> tensor<1x16x4x4xf32>
  %d = stablehlo.convolution(%p, %l) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x4x4xf32>, tensor<8x16x1x1xf32>) -> tensor<1x8x4x4xf32>
  %sum = stablehlo.reduce(%d init: %zero) applies stablehlo.add across dimensions = [2, 3] : (tensor<1x8x4x4xf32>, tensor<f32>) -> tensor<1x8xf32>
  return %sum : tensor<1x8xf32>
}

// A convolution on its own would need a transpose of all that it computes, and a sum over channels
// and rows would add in another order.
// ALONE-LABEL: @alone(
// ALONE-NOT: 1x8x8x16
// ALONE: = stablehlo.convolution %0, %1 : 1x16x8x8xf32
// ALONE: = stablehlo.reduce %{{.*}} : 1x8xf32
// ALONE-NOT: 1x8x8x16
// ALONE: return
func.func @alone(%x: tensor<1x3x8x8xf32>, %k: tensor<16x3x3x3xf32>) -> tensor<1x8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %c = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x8x8xf32>
  %sum = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<1x16x8x8xf32>, tensor<f32>) -> tensor<1x8xf32>
  return %sum : tensor<1x8xf32>
}

// Branches and loops that are written alike over the same values are one, and so are reductions whose blocks
// use the same values from around them; branches in another order are not the same, nor are blocks that use
// another value.
// REGIONS-LABEL: @regions(
// REGIONS-COUNT-2: stablehlo.if
// REGIONS-NOT: stablehlo.if
// REGIONS: stablehlo.while
// REGIONS-NOT: stablehlo.while
// REGIONS: %[[K:[0-9]+]] = stablehlo.convert
// REGIONS-NEXT: stablehlo.reduce {{.*}}, %[[K]] : f32
// REGIONS-NEXT: stablehlo.reduce
// REGIONS-NOT: stablehlo.reduce
// REGIONS: return
func.func @regions(%x: tensor<8xf32>, %p: tensor<i1>, %n: tensor<i32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %a = "stablehlo.if"(%p) ({
    %s = stablehlo.sine %x : tensor<8xf32>
    stablehlo.return %s : tensor<8xf32>
  }, {
    stablehlo.return %x : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  %b = "stablehlo.if"(%p) ({
    %s = stablehlo.sine %x : tensor<8xf32>
    stablehlo.return %s : tensor<8xf32>
  }, {
    stablehlo.return %x : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  %c = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<8xf32>
  }, {
    %s = stablehlo.sine %x : tensor<8xf32>
    stablehlo.return %s : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  %v:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<8xf32> cond {
    %l = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %w = stablehlo.cosine %y : tensor<8xf32>
    stablehlo.return %next, %w : tensor<i32>, tensor<8xf32>
  }
  %u:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<8xf32> cond {
    %l = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %w = stablehlo.cosine %y : tensor<8xf32>
    stablehlo.return %next, %w : tensor<i32>, tensor<8xf32>
  }
  %uv = stablehlo.add %u#1, %v#1 : tensor<8xf32>
  %ab = stablehlo.add %a, %b : tensor<8xf32>
  %abc = stablehlo.add %ab, %c : tensor<8xf32>
  %f = stablehlo.constant dense<0.0> : tensor<f32>
  %k = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
  %g = stablehlo.reduce(%x init: %f) across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
   reducer(%q: tensor<f32>, %r: tensor<f32>) {
     %t = stablehlo.multiply %r, %k : tensor<f32>
     %z = stablehlo.add %q, %t : tensor<f32>
     stablehlo.return %z : tensor<f32>
   }
  %h = stablehlo.reduce(%x init: %f) across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
   reducer(%q: tensor<f32>, %r: tensor<f32>) {
     %t = stablehlo.multiply %r, %k : tensor<f32>
     %z = stablehlo.add %q, %t : tensor<f32>
     stablehlo.return %z : tensor<f32>
   }
  %j = stablehlo.reduce(%x init: %f) across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
   reducer(%q: tensor<f32>, %r: tensor<f32>) {
     %t = stablehlo.multiply %r, %f : tensor<f32>
     %z = stablehlo.add %q, %t : tensor<f32>
     stablehlo.return %z : tensor<f32>
   }
  %gh = stablehlo.add %g, %h : tensor<f32>
  %ghj = stablehlo.add %gh, %j : tensor<f32>
  return %abc, %uv, %ghj : tensor<8xf32>, tensor<8xf32>, tensor<f32>
}

// Branches without effects go as a whole, with all that only they use; a loop, which may not end, stays.
// DEADREGIONS-LABEL: @dead_regions(
// DEADREGIONS-NOT: sine
// DEADREGIONS-NOT: stablehlo.if
// DEADREGIONS-NOT: stablehlo.case
// DEADREGIONS: stablehlo.while
// DEADREGIONS-NOT: tanh
// DEADREGIONS: return %0
func.func @dead_regions(%x: tensor<8xf32>, %p: tensor<i1>, %n: tensor<i32>) -> tensor<8xf32> {
  %s = stablehlo.sine %x : tensor<8xf32>
  %a = "stablehlo.if"(%p) ({
    stablehlo.return %s : tensor<8xf32>
  }, {
    %c = "stablehlo.case"(%n) ({
      stablehlo.return %x : tensor<8xf32>
    }, {
      %e = stablehlo.exponential %x : tensor<8xf32>
      stablehlo.return %e : tensor<8xf32>
    }) : (tensor<i32>) -> tensor<8xf32>
    stablehlo.return %c : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  %w:2 = stablehlo.while(%i = %p, %y = %a) : tensor<i1>, tensor<8xf32> cond {
    stablehlo.return %i : tensor<i1>
  } do {
    %not = stablehlo.not %i : tensor<i1>
    %t = stablehlo.tanh %y : tensor<8xf32>
    stablehlo.return %not, %t : tensor<i1>, tensor<8xf32>
  }
  return %x : tensor<8xf32>
}

// A reduction with a block of its own is the tree of five elements: pairs, then the pair of these,
// then the fifth, then the initial value. A block that uses a value from around it stays.
// TREE-LABEL: @tree(
// TREE-NOT: stablehlo.reduce %0, %{{[0-9]+}} : f32
// TREE: = stablehlo.multiply %{{.*}} : 1x2x1xf32
// TREE: = stablehlo.subtract %{{.*}} : 1x2x1xf32
// TREE: = stablehlo.multiply %{{.*}} : 1x1x1xf32
// TREE: = stablehlo.subtract %{{.*}} : 1x1x1xf32
// TREE: = stablehlo.subtract %{{.*}} : 1x1x1xf32
// TREE: = stablehlo.subtract %{{.*}} : 1x1x1xf32
// TREE-NOT: subtract
// TREE: = stablehlo.reduce %0, %{{[0-9]+}}, %{{[0-9]+}} : f32
// TREE: return
// TREE-RUN: output 0:
// TREE-RUN-NEXT: 3.75
func.func @tree(%x: tensor<5xf32>) -> (tensor<f32>, tensor<f32>) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %r = stablehlo.reduce(%x init: %one) across dimensions = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %c = stablehlo.constant dense<0.5> : tensor<f32>
    %h = stablehlo.multiply %a, %c : tensor<f32>
    %d = stablehlo.subtract %h, %b : tensor<f32>
    stablehlo.return %d : tensor<f32>
  }
  %s = stablehlo.reduce(%x init: %one) across dimensions = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %h = stablehlo.multiply %a, %half : tensor<f32>
    %d = stablehlo.subtract %h, %b : tensor<f32>
    stablehlo.return %d : tensor<f32>
  }
  return %r, %s : tensor<f32>, tensor<f32>
}

// A loop that runs once becomes its body, whose slices of everything disappear; one that never runs becomes
// its operands. A loop that runs twice stays.
// UNROLL-LABEL: @rounds(
// UNROLL: stablehlo.dynamic_slice
// UNROLL-NOT: stablehlo.while
// UNROLL: stablehlo.sine
// UNROLL: stablehlo.dynamic_update_slice
// UNROLL-NOT: stablehlo.cosine
// UNROLL: stablehlo.while
// UNROLL: stablehlo.tanh
// ROUNDS-LABEL: @rounds(
// ROUNDS-NOT: stablehlo.dynamic_slice
// ROUNDS-NOT: stablehlo.dynamic_update_slice
// ROUNDS: stablehlo.sine
// ROUNDS-RUN: [0.641395
func.func @rounds(%x: tensor<1xf32>) -> tensor<1xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %once:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<1xf32>
    cond {
      %go = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      %part = stablehlo.dynamic_slice %x, %i, sizes = [1] : (tensor<1xf32>, tensor<i32>) -> tensor<1xf32>
      %new = stablehlo.sine %part : tensor<1xf32>
      %all = stablehlo.dynamic_update_slice %y, %new, %i : (tensor<1xf32>, tensor<1xf32>, tensor<i32>) -> tensor<1xf32>
      stablehlo.return %next, %all : tensor<i32>, tensor<1xf32>
    }
  %never:2 = stablehlo.while(%i = %once#0, %y = %once#1) : tensor<i32>, tensor<1xf32>
    cond {
      %go = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      %new = stablehlo.cosine %y : tensor<1xf32>
      stablehlo.return %next, %new : tensor<i32>, tensor<1xf32>
    }
  %twice:2 = stablehlo.while(%i = %never#0, %y = %never#1) : tensor<i32>, tensor<1xf32>
    cond {
      %go = stablehlo.compare LE, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      %new = stablehlo.tanh %y : tensor<1xf32>
      stablehlo.return %next, %new : tensor<i32>, tensor<1xf32>
    }
  return %twice#1 : tensor<1xf32>
}

// A small matrix along whose rows each round multiplies is transposed once, however the program writes
// it; one along whose columns it multiplies is not.
// The transpose has the name of the product that it is for.
// ALONG-ROWS-LABEL: @recurrent(
// ALONG-ROWS: %[[T:[0-9]+]] = stablehlo.dot_general %0 : 24x32xf32
// ALONG-ROWS-NEXT: stablehlo.while
// ALONG-ROWS: stablehlo.dot_general %[[T]], %[[Y:[0-9]+]] : 32xf32
// ALONG-ROWS: stablehlo.dot_general %[[Y]], %[[T]] : 32xf32
// ALONG-ROWS: stablehlo.dot_general %0, %{{[0-9]+}} : 24xf32
//
// Both products are the same, so that their difference adds nothing.
// ALONG-ROWS-RUN: 0.0, 1.0, 2.0, 3.0
func.func @recurrent(%w: tensor<32x24xf32>, %x: tensor<24xf32>) -> tensor<24xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<24xf32>
    cond {
      %end = stablehlo.constant dense<3> : tensor<i32>
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      %a = stablehlo.dot_general %w, %y, contracting_dims = [1] x [0] : (tensor<32x24xf32>, tensor<24xf32>) -> tensor<32xf32>
      %t = stablehlo.transpose %w, dims = [1, 0] : (tensor<32x24xf32>) -> tensor<24x32xf32>
      %b = stablehlo.dot_general %y, %t, contracting_dims = [0] x [0] : (tensor<24xf32>, tensor<24x32xf32>) -> tensor<32xf32>
      %c = stablehlo.subtract %a, %b : tensor<32xf32>
      %d = stablehlo.dot_general %w, %c, contracting_dims = [0] x [0] : (tensor<32x24xf32>, tensor<32xf32>) -> tensor<24xf32>
      %e = stablehlo.add %d, %y : tensor<24xf32>
      stablehlo.return %next, %e : tensor<i32>, tensor<24xf32>
    }
  return %0#1 : tensor<24xf32>
}

// Indices that do not change are computed once, as gather reads them from memory; what only elementwise
// work reads is computed with it.
// GATHERED-LABEL: @exchanged(
// GATHERED: %[[CONVERTED:[0-9]+]] = stablehlo.convert %{{[0-9]+}} : 1000xi32
// GATHERED: %[[INDICES:[0-9]+]] = stablehlo.broadcast_in_dim %[[CONVERTED]] : 1000x1xi32
// GATHERED: stablehlo.while
// GATHERED: stablehlo.gather %{{[0-9]+}}, %[[INDICES]] : 1000xf32
// GATHERED: stablehlo.convert %{{[0-9]+}} : 1000xf32
func.func @exchanged(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i64>, tensor<1000xf32>
    cond {
      %end = stablehlo.constant dense<100> : tensor<i64>
      %p = stablehlo.compare LT, %i, %end : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i64>
      %next = stablehlo.add %i, %one : tensor<i64>
      %positions = stablehlo.iota dim = 0 : tensor<1000xi64>
      %bit = stablehlo.constant dense<1> : tensor<i64>
      %bits = stablehlo.broadcast_in_dim %bit, dims = [] : (tensor<i64>) -> tensor<1000xi64>
      %other = stablehlo.xor %bits, %positions : tensor<1000xi64>
      %narrow = stablehlo.convert %other : (tensor<1000xi64>) -> tensor<1000xi32>
      %indices = stablehlo.broadcast_in_dim %narrow, dims = [0] : (tensor<1000xi32>) -> tensor<1000x1xi32>
      %g = "stablehlo.gather"(%y, %indices) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<1000xf32>, tensor<1000x1xi32>) -> tensor<1000xf32>
      %ramp = stablehlo.convert %positions : (tensor<1000xi64>) -> tensor<1000xf32>
      %sum = stablehlo.add %g, %ramp : tensor<1000xf32>
      stablehlo.return %next, %sum : tensor<i64>, tensor<1000xf32>
    }
  return %0#1 : tensor<1000xf32>
}

// An elementwise op on one repeated element is one on scalars. One of few elements stays, and so
// does one that another operand changes.
// SHRINK-LABEL: @repeated(
// SHRINK: %[[TWO:[0-9]+]] = stablehlo.constant : i32
// SHRINK: %[[R:[0-9]+]] = stablehlo.remainder %0, %[[TWO]] : i32
// SHRINK-NEXT: %[[ALL:[0-9]+]] = stablehlo.remainder %[[R]] : 100xi32
// SHRINK: stablehlo.add %1, %[[ALL]] : 100xi32
// SHRINK: stablehlo.add %{{[0-9]+}}, %{{[0-9]+}} : 3xi32
// SHRINK-RUN: 1, 2, 3
// SHRINK-RUN: 10, 10, 10
func.func @repeated(%i: tensor<i32>, %x: tensor<100xi32>) -> (tensor<100xi32>, tensor<3xi32>) {
  %two = stablehlo.constant dense<2> : tensor<100xi32>
  %all = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<i32>) -> tensor<100xi32>
  %odd = stablehlo.remainder %all, %two : tensor<100xi32>
  %r = stablehlo.add %x, %odd : tensor<100xi32>
  %few = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<i32>) -> tensor<3xi32>
  %s = stablehlo.add %few, %few : tensor<3xi32>
  return %r, %s : tensor<100xi32>, tensor<3xi32>
}

// Gathers whose indices count evenly are views of the operand, whatever computes these. Indices that
// may be moved into the operand are read.
// FRAMES-LABEL: @frames(
// FRAMES-NEXT: %[[FRAMES:[0-9]+]] = stablehlo.gather %0 : 5x3xi32
// FRAMES-NEXT: %[[BACK:[0-9]+]] = stablehlo.gather %0 : 7xi32
// FRAMES: %[[CLAMPED:[0-9]+]] = stablehlo.gather %0, %{{[0-9]+}} : 5xi32
// FRAMES: return %[[FRAMES]], %[[BACK]], %[[CLAMPED]]
// FRAMES-RUN: {{\[}}[0, 1, 2],
// FRAMES-RUN-NEXT: [1, 2, 3],
// FRAMES-RUN-NEXT: [2, 3, 4],
// FRAMES-RUN-NEXT: [3, 4, 5],
// FRAMES-RUN-NEXT: [4, 5, 6]]
// FRAMES-RUN: [6, 5, 4, 3, 2, 1, 0]
// FRAMES-RUN: [4, 5, 6, 6, 6]
func.func @frames(%x: tensor<7xi32>) -> (tensor<5x3xi32>, tensor<7xi32>, tensor<5xi32>) {
  %rows = stablehlo.iota dim = 0 : tensor<5x3xi64>
  %columns = stablehlo.iota dim = 1 : tensor<5x3xi64>
  %sum = stablehlo.add %rows, %columns : tensor<5x3xi64>
  %zero = stablehlo.constant dense<0> : tensor<5x3xi64>
  %size = stablehlo.constant dense<7> : tensor<5x3xi64>
  %negative = stablehlo.compare LT, %sum, %zero, SIGNED : (tensor<5x3xi64>, tensor<5x3xi64>) -> tensor<5x3xi1>
  %moved = stablehlo.add %sum, %size : tensor<5x3xi64>
  %chosen = stablehlo.select %negative, %moved, %sum : tensor<5x3xi1>, tensor<5x3xi64>
  %narrow = stablehlo.convert %chosen : (tensor<5x3xi64>) -> tensor<5x3xi32>
  %vectors = stablehlo.reshape %narrow : (tensor<5x3xi32>) -> tensor<5x3x1xi32>
  %frames = "stablehlo.gather"(%x, %vectors) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1>}> : (tensor<7xi32>, tensor<5x3x1xi32>) -> tensor<5x3xi32>
  %up = stablehlo.iota dim = 0 : tensor<7x1xi32>
  %down = stablehlo.reverse %up, dims = [0] : tensor<7x1xi32>
  %back = "stablehlo.gather"(%x, %down) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<7xi32>, tensor<7x1xi32>) -> tensor<7xi32>
  %five = stablehlo.iota dim = 0 : tensor<5x1xi32>
  %four = stablehlo.constant dense<4> : tensor<5x1xi32>
  %beyond = stablehlo.add %five, %four : tensor<5x1xi32>
  %clamped = "stablehlo.gather"(%x, %beyond) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<7xi32>, tensor<5x1xi32>) -> tensor<5xi32>
  return %frames, %back, %clamped : tensor<5x3xi32>, tensor<7xi32>, tensor<5xi32>
}
