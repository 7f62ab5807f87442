// Valid programs with parts that are probably not meant, or cost for nothing.
// RUN: not stablo lint %s 2>&1 | FileCheck %s
// RUN: not stablo lint - --format json < %s | FileCheck %s --check-prefix=JSON
// RUN: not stablo lint %s --allow custom-call --allow float64 2>&1 | FileCheck %s --check-prefix=ALLOW
// RUN: not stablo lint %s --fix -o %t.mlir 2>&1 | FileCheck %s --check-prefix=LEFT
// RUN: FileCheck %s --check-prefix=FIXED --input-file %t.mlir
// RUN: stablo lint %t.mlir --allow custom-call --allow float64 --allow dynamic-dimension
// RUN: not stablo lint %s --allow none 2>&1 | FileCheck %s --check-prefix=USAGE
// RUN: stablo explain dead-op | FileCheck %s --check-prefix=EXPLAIN
// RUN: not stablo lint %S/none.mlir 2>&1 | FileCheck %s --check-prefix=TROUBLE

// JSON: "label":"dead-op"
// ALLOW-NOT: warning[custom-call]
// ALLOW-NOT: warning[float64]
// LEFT-NOT: warning[dead-op]
// LEFT-NOT: warning[constant-expression]
// LEFT: warning[float64]
// LEFT: warning[dynamic-dimension]
// LEFT: warning[custom-call]
// USAGE: the lints are constant-expression, custom-call, dead-op
// EXPLAIN: dead-op: a check of every op
// TROUBLE: cannot read

// The constants 2 and 3 make 6; the sum of that and an argument cannot be known.
// FIXED: func.func @main
// FIXED-DAG: dense<6.000000e+00>
// FIXED-NOT: stablehlo.multiply
// FIXED: stablehlo.dot_general
// FIXED-NOT: @unused
func.func @main(%x: tensor<2xf32>, %d: tensor<?x2xf32>) -> (tensor<2xf32>, tensor<f32>, tensor<?x2xf32>) {
  %two = stablehlo.constant dense<2.0> : tensor<2xf32>
  %three = stablehlo.constant dense<3.0> : tensor<2xf32>
  // CHECK: lint.mlir:[[#@LINE+2]]:8: warning[constant-expression]: `stablehlo.multiply` follows from constants by 1 op, and is computed in each run
  // CHECK: help: the fix folds it
  %0 = stablehlo.multiply %two, %three : tensor<2xf32>
  %1 = stablehlo.add %0, %x : tensor<2xf32>
  %2 = stablehlo.sine %x : tensor<2xf32>
  // CHECK: lint.mlir:[[#@LINE+2]]:8: warning[dead-op]: the results of `stablehlo.negate` are never used
  // CHECK: note: other results that only dead ops use: 1
  %3 = stablehlo.negate %2 : tensor<2xf32>
  // CHECK: lint.mlir:[[#@LINE+1]]:8: warning[deprecated-op]: `stablehlo.dot` is deprecated
  %4 = stablehlo.dot %1, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  // CHECK: lint.mlir:[[#@LINE+1]]:8: warning[float64]: `stablehlo.convert` makes 64-bit floats
  %5 = stablehlo.convert %4 : (tensor<f32>) -> tensor<f64>
  %6 = stablehlo.sqrt %5 : tensor<f64>
  %7 = stablehlo.convert %6 : (tensor<f64>) -> tensor<f32>
  // CHECK: lint.mlir:[[#@LINE+1]]:8: warning[dynamic-dimension]: dimension 0 of `stablehlo.concatenate` is dynamic, but its size 4 follows from the operands
  %8 = stablehlo.concatenate %1, %x, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<?xf32>
  // CHECK: lint.mlir:[[#@LINE+1]]:8: warning[custom-call]: the custom call `fast_path` runs only where somebody has registered it
  %9 = stablehlo.custom_call @fast_path(%8, %1) : (tensor<?xf32>, tensor<2xf32>) -> tensor<2xf32>
  %10 = stablehlo.abs %d : tensor<?x2xf32>
  %11 = stablehlo.custom_call @Sharding(%9) : (tensor<2xf32>) -> tensor<2xf32>
  return %11, %7, %10 : tensor<2xf32>, tensor<f32>, tensor<?x2xf32>
}

// CHECK: lint.mlir:[[#@LINE+1]]:1: warning[unused-function]: nothing calls the private function @unused
func.func private @unused(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
// CHECK-NOT: warning
