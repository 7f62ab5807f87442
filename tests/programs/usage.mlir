// RUN: not stablehlo-translate %s
// RUN: not stablehlo-translate --serialize %s 2>&1 | FileCheck %s
// RUN: stablehlo-opt --mlir-print-op-generic=false -split-input-file=true %s
// RUN: not stablo check %s.none
// RUN: cat %s | stablehlo-opt - -o %t
// RUN: FileCheck %s --input-file %t --check-prefix=FILE
// RUN: stablehlo-opt -mlir-print-debuginfo -strip-debuginfo %s | FileCheck %s --check-prefix=STRIPPED

// CHECK: --serialize needs --target=VERSION
// FILE: func.func @f
// STRIPPED-NOT: usage.mlir
func.func @f() {
  return
}
