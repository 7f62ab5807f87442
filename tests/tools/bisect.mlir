// The first op at which values part.
// RUN: not stablo bisect %S/data/base.mlir %S/data/fault.mlir --input "[1, 1, 3]" --input "[1, 2, 1]" --save %t | FileCheck %s
// RUN: stablo run %S/data/base.mlir --inputs %t | FileCheck %s --check-prefix=SAVED
// RUN: not stablo bisect %S/data/base.mlir %S/data/fault.mlir --format json | FileCheck %s --check-prefix=JSON
// RUN: stablo bisect %S/data/base.mlir %S/data/fault.mlir --input "[0, 0, 0]" --input "[0.1, 0.2, 0.3]" | FileCheck %s --check-prefix=AGREE
// RUN: stablehlo-opt %S/data/fault.mlir --inline --canonicalize --symbol-dce -o %t.mlir
// RUN: stablo bisect %S/data/fault.mlir %t.mlir | FileCheck %s --check-prefix=PASSES
// RUN: stablo bisect - %t.mlir --input "[1, 1, 3]" --input "[1, 2, 1]" --atol 2 < %S/data/base.mlir | FileCheck %s --check-prefix=AGREE
// RUN: not stablo bisect %S/data/base.mlir %t.mlir --input "[1, 1, 3]" --input "[1, 2, 1]" | FileCheck %s --check-prefix=INLINED
// RUN: not stablo bisect %s %s 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// RUN: not stablo bisect %s %s --input "[1]" --max-steps 1 2>&1 | FileCheck %s --check-prefix=STEPS

// The sums are [2, 3, 4], which the loop doubles to [4, 6, 8], and then to [8, 12, 16], of which it
// takes no more than 8. The limit has been 8 all the time, but only now it is used.
// CHECK: with the inputs, values part in @double_until_large:
// CHECK-NEXT: within {{.*}}base.mlir:6:8: %2 = call @double_until_large
// CHECK-NEXT: within {{.*}}base.mlir:12:10: %0:2 = stablehlo.while
// CHECK-NEXT: - {{.*}}base.mlir:21:14: %eight = stablehlo.constant dense<8.0>
// CHECK-NEXT: + {{.*}}fault.mlir:11:14: %limit = stablehlo.constant dense<9.0>
// CHECK-NEXT: value: dense<8.000000e+00> : tensor<3xf32> -> dense<9.000000e+00>
// CHECK-NEXT: after 1 run that agrees
// CHECK: first program: result 0: tensor<3xf32>
// CHECK-NEXT: [8.0, 8.0, 8.0]
// CHECK-NEXT: second program: result 0: tensor<3xf32>
// CHECK-NEXT: [9.0, 9.0, 9.0]
// 8 - -1 = 9, 8 - -2 = 10, 8 - -1 = 9
// SAVED: [9.0, 10.0, 9.0]
// JSON: {"parts":true,"seed":{{[0-9]+}},"parting":{"around":[{"function":"main","op":"func.call"
// JSON-SAME: "details":[{"left":"dense<8.000000e+00> : tensor<3xf32>","name":"value","right":"dense<9.000000e+00> : tensor<3xf32>","what":"attribute"}]
// AGREE: the results agree for the inputs
// PASSES: the results agree for seed 0, seed 1, seed 2
// INLINED: stablehlo.constant dense<8.0>
// DYNAMIC: argument 0 is a tensor<?xf32>, for which no random values can be made
// STEPS: error[step_limit]
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.sine %x : tensor<?xf32>
  %1 = stablehlo.cosine %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}
