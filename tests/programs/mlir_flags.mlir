// Flags of mlir-opt that print, write or read more than the program.

// RUN: stablehlo-opt %s --mlir-print-value-users | FileCheck %s --check-prefix=USERS
// USERS: @f(%arg0: tensor<f32>, %arg1: tensor<f32>)
// USERS-NEXT: // %arg0 is used by %[[SUM:[0-9]+]]{{$}}
// USERS-NEXT: // %arg1 is unused
// USERS-NEXT: %[[SUM]] = stablehlo.add %arg0, %arg0 : tensor<f32> // users: %[[ID:[0-9]+]], %[[RNG:[0-9]+]]{{$}}
// USERS-NEXT: %c = {{.*}} // user: %[[RNG]]{{$}}
// USERS-NEXT: %[[RNG]] = stablehlo.rng {{.*}} // unused
// USERS-NEXT: return %[[SUM]] : tensor<f32> // id: %[[ID]]{{$}}

// A failure leaves a program that repeats it, with the pipeline or the pass.
// RUN: rm -rf %t && mkdir %t
// RUN: not stablehlo-opt %s --canonicalize --stablehlo-legalize-deprecated-ops --mlir-pass-pipeline-crash-reproducer=%t/all.mlir --mlir-print-op-on-diagnostic 2>&1 | FileCheck %s --check-prefix=FAILS
// RUN: FileCheck %s --input-file %t/all.mlir --check-prefix=ALL
// RUN: not stablehlo-opt %t/all.mlir --run-reproducer 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: not stablehlo-opt %s --canonicalize --stablehlo-legalize-deprecated-ops --mlir-pass-pipeline-crash-reproducer=%t/local.mlir --mlir-pass-pipeline-local-reproducer
// RUN: FileCheck %s --input-file %t/local.mlir --check-prefix=LOCAL
// RUN: not stablehlo-opt %s --run-reproducer 2>&1 | FileCheck %s --check-prefix=NONE
// Other tools pass it on.
// RUN: stablehlo-opt %t/all.mlir | FileCheck %s --check-prefix=ALL
// FAILS: error[conversion]: stablehlo.rng cannot be converted
// FAILS: note: the op is: %1 = stablehlo.rng %0, %0, %c
// FAILS: note: --run-reproducer on {{.*}}all.mlir repeats this failure
// ALL: stablehlo.add
// ALL: {-#
// ALL-NEXT: external_resources: {
// ALL-NEXT: mlir_reproducer: {
// ALL-NEXT: pipeline: "builtin.module(canonicalize{{.*}},func.func(stablehlo-legalize-deprecated-ops{{.*}}))",
// ALL-NEXT: disable_threading: true,
// ALL-NEXT: verify_each: true
// ALL-NEXT: }
// ALL-NEXT: }
// ALL-NEXT: #-}
// AGAIN: error[conversion]: stablehlo.rng cannot be converted
// LOCAL: pipeline: "builtin.module(func.func(stablehlo-legalize-deprecated-ops{{[^)]*}}))",
// RUN: not stablehlo-opt %t/all.mlir --run-reproducer --cse 2>&1 | FileCheck %s --check-prefix=BOTH
// NONE: this file has no reproducer
// BOTH: --run-reproducer runs the passes that the input names

// Dumps in files, numbered by op.
// RUN: stablehlo-opt %s --pass-pipeline='builtin.module(func.func(cse,canonicalize))' --mlir-print-ir-after-all --mlir-print-ir-tree-dir=%t/tree -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=QUIET --allow-empty
// RUN: FileCheck %s --input-file %t/tree/builtin_module_no-symbol-name/func_func_f/0_0_cse.mlir --check-prefix=DUMP
// RUN: FileCheck %s --input-file %t/tree/builtin_module_no-symbol-name/func_func_f/0_1_canonicalize.mlir --check-prefix=DUMP
// QUIET-NOT: IR Dump
// DUMP: func.func @f

// RUN: stablehlo-opt %s --no-implicit-module --cse | FileCheck %s --check-prefix=TOP
// RUN: stablehlo-opt %s --no-implicit-module --pass-pipeline='func.func(cse)' | FileCheck %s --check-prefix=TOP
// RUN: not stablehlo-opt %S/trace.mlir --no-implicit-module 2>&1 | FileCheck %s --check-prefix=TOPS
// TOP-NOT: module
// TOP: {{^}}func.func @f
// TOPS: one op at its top, not 4

// RUN: stablehlo-opt %s --debug --debug-only=dialect-conversion --mlir-disable-threading -o %t/out.mlir
// RUN: not stablehlo-opt %s --irdl-file=d.irdl 2>&1 | FileCheck %s --check-prefix=IRDL
// RUN: not stablehlo-translate %s --interpret -load-pass-plugin=p.so 2>&1 | FileCheck %s --check-prefix=PLUGIN
// IRDL: --irdl-file is not supported: dialects are compiled into this program
// PLUGIN: --load-pass-plugin is not supported
func.func @f(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %sum = stablehlo.add %x, %x : tensor<f32>
  %shape = stablehlo.constant dense<10> : tensor<1xi32>
  %0 = stablehlo.rng %sum, %sum, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi32>) -> tensor<10xf32>
  return %sum : tensor<f32>
}
