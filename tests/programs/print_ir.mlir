// Output while passes run.

// RUN: stablehlo-opt %s --pass-pipeline='builtin.module(func.func(cse,canonicalize{top-down=false}),symbol-dce)' --mlir-print-ir-after=cse --dump-pass-pipeline --mlir-timing -o %t 2>&1 | FileCheck %s
// RUN: stablehlo-opt %s --cse --mlir-print-ir-after-all --mlir-print-ir-after-change --verify-roundtrip --verify-each=0 -o %t 2>&1 | FileCheck %s --check-prefix=CHANGE --allow-empty
// RUN: stablehlo-opt %s --list-passes --show-dialects | FileCheck %s --check-prefix=LIST
// RUN: not stablehlo-opt %s --mlir-print-ir-after=none 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not stablehlo-opt %s --canonicalize=disable-patterns=none 2>&1 | FileCheck %s --check-prefix=PATTERN

// CHECK: builtin.module(func.func(cse,canonicalize{disable-patterns={} enable-patterns={} max-iterations=10 max-num-rewrites=-1 test-convergence=false top-down=false}),symbol-dce)
// CHECK: IR Dump After cse
// CHECK-NEXT: func.func @f
// CHECK: s ({{ *}}{{[0-9.]+}} %)  cse
// CHECK-NEXT: canonicalize
// CHECK-NEXT: symbol-dce
// CHECK-NEXT: (100.0 %)  total
// CHANGE-NOT: IR Dump
// LIST: trivial-dce: Remove unused ops
// LIST: Available Dialects: {{.*}}builtin, {{.*}}stablehlo, {{.*}}vhlo
// NONE: there is no pass `none`
// PATTERN: there is no pattern `none`
func.func @f() {
  return
}
