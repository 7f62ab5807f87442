// Fused locations hold each known location once; a location in a file may have no column.

// RUN: stablehlo-opt %s --allow-unregistered-dialect --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK: "x.file"() : () -> () loc("f.py":1:0)
"x.file"() : () -> () loc("f.py":1)
// CHECK: "x.none"() : () -> () loc(unknown)
"x.none"() : () -> () loc(fused[])
// CHECK: "x.same"() : () -> () loc("a")
"x.same"() : () -> () loc(fused["a", "a", unknown])
// CHECK: "x.metadata"() : () -> () loc(fused<1 : i64>[unknown])
"x.metadata"() : () -> () loc(fused<1>[])
// CHECK: "x.nested"() : () -> () loc(fused["a", "b", "c"])
"x.nested"() : () -> () loc(fused["a", fused["b", "c"]])
