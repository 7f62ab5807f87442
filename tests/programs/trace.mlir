// Tracing the values of a run, and the limits on it.
// RUN: stablo run %s --input iota --trace %t --trace-match negate | FileCheck %s --check-prefix=PRINT
// RUN: FileCheck %s --check-prefix=INDEX --input-file %t/index.jsonl
// RUN: stablo run %s --entry same --input %t/value_000000.npy | FileCheck %s --check-prefix=VALUE
// RUN: stablo run %s --entry sums --input iota --trace %t.sums
// RUN: FileCheck %s --check-prefix=SUMS --input-file %t.sums/index.jsonl
// RUN: stablo run %s --input iota --probe-output-dir %t.probes
// RUN: FileCheck %s --check-prefix=PROBES --input-file %t.probes/index.csv
// RUN: not stablo run %s --input iota --max-steps 2 2>&1 | FileCheck %s --check-prefix=STEPS
// RUN: not stablo run %s --input iota --max-memory 4K 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not stablo run %s --entry forever --input iota --max-time 0.01 2>&1 | FileCheck %s --check-prefix=TIME
// RUN: not stablo run %s --input iota --threads 0 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not stablo run %s --input iota --repeat 0 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not stablo run %s --input iota --max-time -1 2>&1 | FileCheck %s --check-prefix=SECONDS
// RUN: not stablo run %s --input iota --max-memory many 2>&1 | FileCheck %s --check-prefix=BYTES

// PRINT: %0: tensor<2xf32>
// PRINT-NEXT: [0.0, 2.0]
// PRINT: output 0
// INDEX: "file":"value_000000.npy"{{.*}}"location":"{{.*}}trace.mlir:[[# @LINE + 16]]:12"{{.*}}"op":"stablehlo.negate"{{.*}}"value":"%minus"
// VALUE: [-0.0, -2.0]
// Names are those of the text, although printed ones would be others.
// SUMS: "op":"stablehlo.negate"{{.*}}"value":"%1"
// SUMS: "op":"stablehlo.reduce"{{.*}}"value":"%3"
// SUMS: "op":"stablehlo.reduce"{{.*}}"value":"%2"
// PROBES: twice/2,tensor<2xf32>,{{.*}}probe1_twice_2.npy
// STEPS: error[step_limit]: the run takes more than 2 steps
// MEMORY: error[memory_limit]: 
// TIME: error[time_limit]: the run takes longer than 10ms
// ZERO: invalid value '0' for '--{{threads|repeat}} <N>': this must be at least 1
// SECONDS: invalid value '-1' for '--max-time <SECONDS>': this is not a number of seconds
// BYTES: many
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  interpreter.print %0 : tensor<2xf32>
  %minus = stablehlo.negate %0 : tensor<2xf32>
  %2 = interpreter.probe %minus, probe_id = "twice/2" : tensor<2xf32>
  %3 = stablehlo.concatenate %2, %minus, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %2 : tensor<2xf32>
}
func.func @same(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func @forever(%x: tensor<2xf32>) -> tensor<2xf32> {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %0 = stablehlo.while(%i = %x) : tensor<2xf32> cond {
    stablehlo.return %true : tensor<i1>
  } do {
    stablehlo.return %i : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}
func.func @sums(%x: tensor<2xf32>) -> (tensor<f32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.negate %x : tensor<2xf32>
  %3 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return %3, %2 : tensor<f32>, tensor<f32>
}
