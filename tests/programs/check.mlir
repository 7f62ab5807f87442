// RUN: not stablo check %s > %t.out 2> %t.err
// RUN: FileCheck %s --input-file %t.err
// RUN: FileCheck %s --input-file %t.out --check-prefix=SUMMARY
// RUN: not stablo check --format json %s | FileCheck %s --check-prefix=JSON

// Independent errors are all reported.
// SUMMARY: check.mlir: 2 errors
// CHECK: check.mlir:[[#@LINE+6]]:{{[0-9]+}}: error
// CHECK-NEXT: {{^}}[[#@LINE+5]] |   %0 = stablehlo.add
// CHECK-NEXT: | {{ *}}^
// CHECK: check.mlir:[[#@LINE+7]]:{{[0-9]+}}: error
// JSON: "line":[[#@LINE+2]],"message":{{.*}}"severity":"error"
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %nothing : tensor<2xf32>
  return %x : tensor<2xf32>
}
func.func @g(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.no_such_op %x : tensor<2xf32>
  return %x : tensor<2xf32>
}
