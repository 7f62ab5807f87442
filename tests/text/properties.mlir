// The properties of an op without a declaration stay apart from its attributes, whatever they are.

// RUN: stablehlo-opt %s --allow-unregistered-dialect | FileCheck %s
// RUN: stablehlo-opt %s --allow-unregistered-dialect --emit-bytecode | stablehlo-opt --allow-unregistered-dialect | FileCheck %s

// CHECK: "x.y"() <{a = 1 : i64}> {a = 2 : i64} : () -> ()
"x.y"() <{a = 1}> {a = 2} : () -> ()
// CHECK: "x.y"() <{}> : () -> ()
"x.y"() <{}> : () -> ()
// CHECK: "x.y"() <"prop"> {prop} : () -> ()
"x.y"() <"prop"> {"prop"} : () -> ()
// CHECK: "x.y"() <unit> : () -> ()
"x.y"() <unit> : () -> ()
