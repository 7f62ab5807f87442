// Ops, types and attributes that a dialect is not known to have are kept like those of unknown
// dialects: if that is allowed, and in the generic form.

// RUN: stablehlo-opt %s --allow-unregistered-dialect | FileCheck %s
// RUN: stablehlo-opt %s --allow-unregistered-dialect > %t.0
// RUN: stablehlo-opt %t.0 --allow-unregistered-dialect > %t.1
// RUN: diff %t.0 %t.1
// RUN: stablehlo-opt %s --allow-unregistered-dialect --mlir-print-op-generic -o %t.generic
// RUN: stablehlo-opt %t.generic --allow-unregistered-dialect > %t.1
// RUN: diff %t.0 %t.1
// RUN: stablehlo-opt %s --allow-unregistered-dialect --emit-bytecode -o %t.bc
// RUN: stablehlo-opt %t.bc --allow-unregistered-dialect > %t.1
// RUN: diff %t.0 %t.1
// RUN: stablehlo-opt %s --allow-unregistered-dialect --canonicalize --cse --inline | FileCheck %s --check-prefix=PASSES
// RUN: not stablo check %s 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not stablehlo-opt %t.bc 2>&1 | FileCheck %s --check-prefix=BYTECODE

// REFUSED-NOT: did you mean
// REFUSED: unknown op `memref.alloc`: only some ops of dialect `memref` are known
// REFUSED: unknown op `arith.later`: only some ops of dialect `arith` are known
// REFUSED: unknown op `scf.parallel`: only some ops of dialect `scf` are known
// REFUSED: unknown type: dialect `llvm` is known only in part
// BYTECODE: {{.*}} is unknown; unregistered ops are not allowed here
// PASSES: "memref.alloc"
// PASSES: "scf.parallel"

// CHECK-LABEL: func.func @ops
func.func @ops(%a: memref<4xf32>, %x: f32, %n: index) {
  // CHECK: "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<4xf32>
  %0 = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<4xf32>
  // CHECK: "arith.later"(%arg1) : (f32) -> f32
  %1 = "arith.later"(%x) : (f32) -> f32
  // CHECK: "scf.parallel"(%arg2, %arg2, %arg2) ({
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: "memref.store"
  // CHECK-NEXT: "scf.reduce"() : () -> ()
  "scf.parallel"(%n, %n, %n) ({
  ^bb0(%i: index):
    "memref.store"(%1, %0, %i) : (f32, memref<4xf32>, index) -> ()
    "scf.reduce"() : () -> ()
  }) : (index, index, index) -> ()
  // CHECK: "tensor.pack"() {m = #sparse_tensor.other<1>, s = #shape.thing, t = #llvm<thing 1>, u = !shape<thing>}
  "tensor.pack"() {m = #sparse_tensor.other<1>, s = #shape.thing, t = #llvm<thing 1>, u = !shape<thing>} : () -> ()
  // CHECK: "mhlo.minimum_broadcast_shapes"() : () -> ()
  "mhlo.minimum_broadcast_shapes"() : () -> ()
  return
}

// CHECK-LABEL: func.func private @types(!llvm.ptr<1>, !llvm.struct<(i32, ptr)>) attributes {alias = #llvm.alias_scope_domain<id = distinct[0]<>>}
func.func private @types(!llvm.ptr<1>, !llvm.struct<(i32, ptr)>) attributes {alias = #llvm.alias_scope_domain<id = distinct[0]<>>}
