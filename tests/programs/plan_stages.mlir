// RUN: stablo run %s --entry stages --dump-plan-after=fuse-elementwise | FileCheck %s --check-prefix=GROUPS
// RUN: stablo run %s --entry stages --dump-plan-after=schedule | FileCheck %s --check-prefix=SCHEDULE
// RUN: stablo run %s --entry stages --dump-plan-after=assign-storage | FileCheck %s --check-prefix=STORAGE
// RUN: stablo run %s --entry stages --dump-plan-after=form-blocks | FileCheck %s --check-prefix=BLOCKS
// RUN: stablo run %s --entry stages --dump-plan-after=emit | FileCheck %s --check-prefix=EMIT
// RUN: stablo run %s --entry rows --dump-plan-after=schedule | FileCheck %s --check-prefix=NOROWS
// RUN: stablo run %s --entry rows --dump-plan-after=fuse-rows | FileCheck %s --check-prefix=ROWS
// RUN: stablo run %s --entry rows --dump-plan-after=assign-storage | FileCheck %s --check-prefix=BUFFERS
// RUN: stablo run %s --entry columns --dump-plan-after=fuse-rows | FileCheck %s --check-prefix=COLUMNS
// RUN: stablo run %s --entry weights --dump-plan-after=form-blocks | FileCheck %s --check-prefix=UNPACKED
// RUN: stablo run %s --entry weights --dump-plan-after=prepack | FileCheck %s --check-prefix=PREPACK
// RUN: stablo run %s --entry counter --dump-plan-after=form-blocks | FileCheck %s --check-prefix=COUNTER

// Elementwise nodes of one size are a group, those of another size another one; a movement is in none, nor is
// a product.
// GROUPS-LABEL: @stages(
// GROUPS-NEXT: %[[A:[0-9]+]] = stablehlo.add {{.*}} in group %[[C:[0-9]+]]
// GROUPS-NEXT: stablehlo.exponential %[[A]] : 4096xf32 in group %[[C]]
// GROUPS-NEXT: %[[C]] = stablehlo.multiply {{.*}} in group %[[C]]
// GROUPS-NEXT: %[[D:[0-9]+]] = stablehlo.add {{.*}} : 4xf32 in group %[[D]]
// GROUPS-NEXT: stablehlo.reverse
// GROUPS-NOT: in group
// GROUPS: %[[F:[0-9]+]] = stablehlo.multiply {{.*}} in group %[[F]]
// GROUPS-NEXT: stablehlo.dot_general
// GROUPS-NOT: in group
// GROUPS: return

// A group is one loop, the movement a view of the loop that reads it, and no step.
// SCHEDULE-LABEL: @stages(
// SCHEDULE-SAME: 7 ops in 4 steps, 3 of them loops
// SCHEDULE-NEXT: loop of 3 ops : 4096xf32
// SCHEDULE-NOT: reverse
// SCHEDULE-NOT: slot
// SCHEDULE: loop of 2 ops : 4xf32
// SCHEDULE-NEXT: v0 = view
// SCHEDULE-NOT: move
// SCHEDULE: = stablehlo.dot_general

// Large values are in slots, small ones in the arena; the slot of a value is emptied with its last use and
// not before, and what a caller still needs is not.
// STORAGE-LABEL: @stages(
// STORAGE-SAME: %0: 4096xf32 in slot 0, %1: 4xf32 in [0..16]
// STORAGE-NEXT: : 4096xf32 in slot 1, empties slot 0
// STORAGE: : 4xf32 in [{{[0-9]+}}..{{[0-9]+}}]
// STORAGE-NOT: slot
// STORAGE: = stablehlo.dot_general
// STORAGE-NOT: empties slot 1
// STORAGE-NOT: block

// Steps over small values become ops over positions of the arena; a step with a slot is in no block.
// BLOCKS-LABEL: @stages(
// BLOCKS-NEXT: loop of 3 ops : 4096xf32
// BLOCKS: block of 4 ops:
// BLOCKS-NOT: slot
// BLOCKS: 0: [{{[0-9]+}}] = compute 4 elements of [0], [0]
// BLOCKS-NEXT: 1: [{{[0-9]+}}] = collect 4 elements
// BLOCKS-NEXT: 2: [{{[0-9]+}}] = compute 4 elements of
// BLOCKS-NEXT: 3: [{{[0-9]+}}..{{[0-9]+}}] = apply kernel to
// BLOCKS-NOT: machine code

// Loops of several functions and blocks have machine code.
// EMIT-LABEL: @stages(
// EMIT-NEXT: loop of 3 ops in machine code : 4096xf32
// EMIT: block of 4 ops in machine code:
// EMIT-NOT: loop of 1 op in machine code
func.func @stages(%x: tensor<4096xf32>, %y: tensor<4xf32>) -> (tensor<4096xf32>, tensor<4xf32>, tensor<f32>) {
  %a = stablehlo.add %x, %x : tensor<4096xf32>
  %b = stablehlo.exponential %a : tensor<4096xf32>
  %c = stablehlo.multiply %b, %x : tensor<4096xf32>
  %d = stablehlo.add %y, %y : tensor<4xf32>
  %e = stablehlo.reverse %d, dims = [0] : tensor<4xf32>
  %f = stablehlo.multiply %e, %y : tensor<4xf32>
  %g = stablehlo.dot_general %f, %f, contracting_dims = [0] x [0] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return %c, %f, %g : tensor<4096xf32>, tensor<4xf32>, tensor<f32>
}

// The steps of a softmax are scheduled one by one, then merged to a loop over rows, within which values have
// no storage but for some rows.
// NOROWS-LABEL: @rows(
// NOROWS-NOT: row loop
// NOROWS: = stablehlo.reduce
// NOROWS-COUNT-2: = loop
// ROWS-LABEL: @rows(
// ROWS-SAME: in 1 steps
// ROWS-NEXT: = row loop of 9 ops over 512 rows : 512x1024xf32
// ROWS-COUNT-2: = stablehlo.reduce
// ROWS-NOT: broadcast
// ROWS: return
// BUFFERS-LABEL: @rows(
// BUFFERS-COUNT-3: in row buffer
// BUFFERS-NOT: in row buffer
// BUFFERS: : 512x1024xf32 in slot 1
func.func @rows(%x: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<512x1024xf32>, tensor<f32>) -> tensor<512xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<512xf32>) -> tensor<512x1024xf32>
  %d = stablehlo.subtract %x, %mb : tensor<512x1024xf32>
  %e = stablehlo.exponential %d : tensor<512x1024xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<512x1024xf32>, tensor<f32>) -> tensor<512xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<512xf32>) -> tensor<512x1024xf32>
  %r = stablehlo.divide %e, %sb : tensor<512x1024xf32>
  return %r : tensor<512x1024xf32>
}

// Reductions along the first dimension have no rows to share.
// COLUMNS-LABEL: @columns(
// COLUMNS-NOT: row loop
// COLUMNS: = stablehlo.reduce
// COLUMNS-NOT: row loop
// COLUMNS: return
func.func @columns(%x: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<512x1024xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<512x1024xf32>, tensor<f32>) -> tensor<1024xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<1024xf32>) -> tensor<512x1024xf32>
  %r = stablehlo.divide %e, %sb : tensor<512x1024xf32>
  return %r : tensor<512x1024xf32>
}

// Arguments on the right are prepacked, also within row loops; computed values are not.
// UNPACKED-LABEL: @weights(
// UNPACKED-NOT: prepacked
// PREPACK-LABEL: @weights(
// PREPACK: = stablehlo.dot_general %0, prepacked %1
// PREPACK-NOT: prepacked
// PREPACK: return
func.func @weights(%x: tensor<64x256xf32>, %w: tensor<256x256xf32>) -> tensor<64x256xf32> {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x256xf32>, tensor<256x256xf32>) -> tensor<64x256xf32>
  %t = stablehlo.tanh %p : tensor<64x256xf32>
  %q = stablehlo.dot_general %t, %t, contracting_dims = [0] x [0] : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<256x256xf32>
  %r = stablehlo.dot_general %t, %q, contracting_dims = [1] x [0] : (tensor<64x256xf32>, tensor<256x256xf32>) -> tensor<64x256xf32>
  return %r : tensor<64x256xf32>
}

// A loop over small values is ops with jumps, which consume fuel in each round.
// COUNTER-LABEL: @counter(
// COUNTER: block of
// COUNTER: consume
// COUNTER: unless [{{[0-9]+}}], jump to
// COUNTER: consume
// COUNTER: jump to
// COUNTER-NOT: kernel
func.func @counter(%n: tensor<i32>) -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %r = stablehlo.while(%i = %zero) : tensor<i32> cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %next = stablehlo.add %i, %three : tensor<i32>
    stablehlo.return %next : tensor<i32>
  }
  return %r : tensor<i32>
}
