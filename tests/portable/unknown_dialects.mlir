// Attributes and types of unknown dialects are text in bytecode, too.

// RUN: stablehlo-opt %s --allow-unregistered-dialect > %t.0
// RUN: stablehlo-opt %s --allow-unregistered-dialect --emit-bytecode > %t.bc
// RUN: stablehlo-opt %t.bc --allow-unregistered-dialect > %t.1
// RUN: diff %t.0 %t.1
// RUN: not stablehlo-opt %t.bc 2>&1 | FileCheck %s

// CHECK: of the unknown dialect `foo`
func.func @f(%a: !foo.ty<2>) -> !foo.ty<2> attributes {a = #foo.bar<1>} {
  "foo.op"() : () -> ()
  return %a : !foo.ty<2>
}
