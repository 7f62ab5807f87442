// What JAX exports for several devices holds ops of sdy: read alone or with the program, they are the same.
// RUN: stablo convert %S/data/sharded.mlirbc %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: stablo convert %t.mlir %t.mlir.bc --target 1.17.0 --allow-other-dialects
// RUN: stablo convert %t.mlir.bc %t.again.mlir
// RUN: diff %t.mlir %t.again.mlir

// CHECK: sdy.mesh @mesh = <["d"=4, "t"=2]> {stablehlo.mesh = {axes = [{name = "d", size = 4 : i64}, {name = "t", size = 2 : i64}]}}
// CHECK: sdy.manual_computation(%arg0, %arg1, %arg2) in_shardings=[<@mesh, [{"d"}, {}]>, <@mesh, [{}, {"t"}]>, <@mesh, [{"t"}, {}]>] out_shardings=[<@mesh, [{"d"}, {}]>] manual_axes={"d", "t"}
// CHECK-NOT: unrealized_conversion_cast
