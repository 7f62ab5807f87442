// RUN: stablo run %s --input zeros:64x64 --input 5 --repeat 2 --profile 2>&1 | FileCheck %s
// RUN: stablo run %s --input zeros:64x64 --input 5 --profile | FileCheck %s --check-prefix=RESULTS
// RUN: stablo run %s --input zeros:64x64 --input 5 --profile --engine reference 2>&1 | FileCheck %s --check-prefix=REFERENCE
// RUN: not stablo run %s --input zeros:64x64 --input 5 --profile --max-steps 15 2>&1 | FileCheck %s --check-prefix=FAILURE
// RUN: not stablo run --profile %s 2>&1 | FileCheck %s --check-prefix=USAGE
// RUN: not stablo run %s --input zeros:64x64 --input 5 --profile %t.none/trace.json 2>&1 | FileCheck %s --check-prefix=DIRECTORY
// RUN: stablo run %s --input zeros:64x64 --input 5 --profile %t.json | FileCheck %s --check-prefix=RESULTS
// RUN: FileCheck %s --check-prefix=TRACE --input-file=%t.json
// RUN: not stablo run %s --input zeros:64x64 --input 5 --max-steps 15 --profile %t.failed.json
// RUN: FileCheck %s --check-prefix=TRACE --input-file=%t.failed.json

// Steps with their calls in two runs of five iterations each: the condition runs once more in each.
// Bytes are those of three matrices of 64 x 64 f32 in the product, of two in the loop, and of two
// numbers and a boolean in the condition.
// CHECK: profile of 2 runs: {{[0-9.]+}} ms, {{[0-9.]+}} ms each
// CHECK-NEXT: roofline of {{[0-9]+}} thread{{s?}}: {{[0-9.]+}} GFLOP/s (products of f32), {{[0-9.]+}} GB/s (copies)
// CHECK: share    total ms     calls     mean µs      bytes     GB/s  GFLOP/s roofline  step
// FAILURE: profile of 1 run:
// FAILURE: stablehlo.dot_general
// FAILURE: error[step_limit]: the run takes more than 15 steps
// RESULTS-NOT: share
// RESULTS: output 0: tensor<64x64xf32>
// USAGE: a trace is written to a file whose name ends in .json; for a table, give `--profile` after the program, as in `stablo run {{.*}}profile.mlir --profile`
// DIRECTORY: error: cannot write {{.*}}trace.json: there is no such directory
// A product of n x n matrices takes n * n * n multiplications and additions.
// TRACE: {"displayTimeUnit": "ns", "traceEvents": [
// TRACE-DAG: "ph": "X", "pid": 0, "tid": 0, "ts": 0.000, "dur": {{[0-9.]+}}, "name": "@main"
// TRACE-DAG: "name": "stablehlo.dot_general", "cat": "products", "args": {"bytes":49152,"call":null,"flops":524288,"ops":"1 stablehlo.dot_general","scope":null,"source":"{{.*}}profile.mlir:[[# @LINE + 17]]:12","transcendentals":0,"types":"64x64xf32"}
// TRACE: ]}
func.func @main(%x: tensor<64x64xf32>, %n: tensor<i32>) -> tensor<64x64xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  // CHECK-DAG: {{ 2 +[0-9.]+ +- +- +- +- +}}while : i32, 64x64xf32  profile.mlir:[[# @LINE + 2]]:10
  // REFERENCE-DAG: {{ 1 +[0-9.]+ +- +- +- +- +}}stablehlo.while : i32, 64x64xf32  profile.mlir:[[# @LINE + 1]]:10
  %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<64x64xf32>
    cond {
      // CHECK-DAG: {{ 12 +[0-9.]+ +9 B .*%?  }}block of 1 op  profile.mlir:[[# @LINE + 2]]:12
      // REFERENCE-DAG: {{ 6 +[0-9.]+ +9 B .*%  }}stablehlo.compare : i1  profile.mlir:[[# @LINE + 1]]:12
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      // CHECK-DAG: {{ 10 +[0-9.]+ +49.2 kB +[0-9.]+ +[0-9.]+ +[0-9.]+%  }}stablehlo.dot_general : 64x64xf32  profile.mlir:[[# @LINE + 2]]:12
      // REFERENCE-DAG: {{ 5 +[0-9.]+ +49.2 kB +[0-9.]+ +[0-9.]+ +[0-9.]+%  }}stablehlo.dot_general : 64x64xf32  profile.mlir:[[# @LINE + 1]]:12
      %p = stablehlo.dot_general %y, %y, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      // CHECK-DAG: {{ 10 +[0-9.]+ +32.8 kB .*%  }}loop of 1 op : 64x64xf32  profile.mlir:[[# @LINE + 1]]:12
      %z = stablehlo.tanh %p : tensor<64x64xf32>
      stablehlo.return %j, %z : tensor<i32>, tensor<64x64xf32>
    }
  return %r#1 : tensor<64x64xf32>
}
// CHECK: share    total ms     calls       steps  kind
// CHECK-NEXT: {{ 10 +1  loops}}
// CHECK-NEXT: {{ 22 +2  blocks}}
// CHECK-NEXT: {{ 10 +1  products}}
// CHECK-NEXT: {{ 2 +1  control flow}}
// CHECK-NEXT: {{ 2 +1  outside of steps}}
// REFERENCE: kind
// REFERENCE: control flow
