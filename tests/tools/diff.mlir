// Programs are compared but for names, locations and the order of independent ops.
// RUN: stablo diff %S/data/base.mlir %S/data/base.mlir
// RUN: stablehlo-opt %S/data/base.mlir -emit-bytecode -o %t.bc
// RUN: stablo diff %t.bc %S/data/base.mlir
// RUN: not stablo diff %S/data/base.mlir %S/data/fault.mlir | FileCheck %s --check-prefix=FAULT
// RUN: not stablo diff %S/data/base.mlir %S/data/fault.mlir --format json | FileCheck %s --check-prefix=JSON
// RUN: stablehlo-opt %s --inline -o %t.inlined.mlir
// RUN: not stablo diff - %t.inlined.mlir < %s | FileCheck %s --check-prefix=INLINE
// RUN: stablo diff %s %t.inlined.mlir --run | FileCheck %s --check-prefix=SAME
// RUN: not stablo diff %S/data/base.mlir %S/data/fault.mlir --run --input "[1, 1, 3]" --input "[1, 2, 1]" | FileCheck %s --check-prefix=VALUES
// RUN: not stablo diff %S/data/base.mlir %S/data/fault.mlir --run --input "[1, 1, 3]" --input "[1, 2, 1]" --format json | FileCheck %s --check-prefix=VALUES-JSON
// RUN: stablo diff %S/data/base.mlir %S/data/fault.mlir --run --input "[1, 1, 3]" --input "[1, 2, 1]" --atol 1 | FileCheck %s --check-prefix=CLOSE
// RUN: not stablo diff %s %S/data/fault.mlir --run 2>&1 | FileCheck %s --check-prefix=TYPES
// RUN: not stablo diff %s %S/data/none.mlir 2>&1 | FileCheck %s --check-prefix=TROUBLE
// RUN: not stablo diff - - 2>&1 < %s | FileCheck %s --check-prefix=TWICE

// TWICE: only one of the programs can be standard input
// FAULT: @double_until_large
// FAULT-NEXT: - {{.*}}base.mlir:21:14: %eight = stablehlo.constant dense<8.0> : tensor<3xf32>
// FAULT-NEXT: + {{.*}}fault.mlir:11:14: %limit = stablehlo.constant dense<9.0> : tensor<3xf32>
// FAULT-NEXT: value: dense<8.000000e+00> : tensor<3xf32> -> dense<9.000000e+00> : tensor<3xf32>
// The module, 2 functions, 4 + 4 ops of theirs, and 3 + 6 of the loop, without the one that differs.
// FAULT-NEXT: 1 difference, 19 ops are the same
// JSON: "details":[{"left":"dense<8.000000e+00> : tensor<3xf32>","name":"value","right":"dense<9.000000e+00> : tensor<3xf32>","what":"attribute"}]
// JSON-SAME: "equal":false,"same":19

// In the loop, 2 and 3 are doubled to 4, 8, 8 (9) and 6, 8 (9), 8 (9); 4 to 8, 8 (9), 8 (9).
// VALUES: the inputs: result 0: 3 of 3 elements are off by up to 1.000e0
// VALUES-JSON: {"close":false,"comparison":"3 of 3 elements are off by up to 1.000e0
// CLOSE: close (off by up to 1.000e0

// INLINE: @main
// INLINE-NEXT: - <stdin>:[[#]]:8: %0 = call @sine(%x) : (tensor<4xf32>) -> tensor<4xf32>
// INLINE-NEXT: + {{.*}}: %0 = stablehlo.sine %arg0 : tensor<4xf32>
// INLINE-NEXT: op: func.call -> stablehlo.sine
// INLINE-NEXT: @sine
// INLINE-NEXT: - <stdin>:[[#]]:1: func.func private @sine
// INLINE-NEXT: 2 differences, 3 ops are the same
// SAME: seed 0: result 0: equal
// SAME-NEXT: seed 1: result 0: equal
// SAME-NEXT: seed 2: result 0: equal
// TYPES: error[signature]: the arguments differ: (tensor<4xf32>) and (tensor<3xf32>, tensor<3xf32>)
// TROUBLE: cannot read {{.*}}none.mlir
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @sine(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func private @sine(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
