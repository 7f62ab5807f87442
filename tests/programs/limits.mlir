// Limits of memory cover files, inputs, values and processes, and what is printed takes none.
// RUN: not stablo run %s --max-memory 1K 2>&1 | FileCheck %s --check-prefix=PROGRAM
// RUN: cat %s | not stablo run - --max-memory 1K 2>&1 | FileCheck %s --check-prefix=PROGRAM
// RUN: stablo run %s --output-dir %t
// RUN: not stablo run %s --max-memory 1M 2>&1 | FileCheck %s --check-prefix=VALUES
// RUN: not stablo run %s --entry takes --input %t/output_0.npy --max-memory 1M 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not stablo run %s --entry takes --input iota --max-memory 1M 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not stablo run %s --entry takes --input "dense<1.0>" --max-memory 1M 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not stablo run %s --entry constant --max-memory 1M 2>&1 | FileCheck %s --check-prefix=CONSTANT
// RUN: not stablo run %s --entry waits --replicas 4096 --max-memory 16M 2>&1 | FileCheck %s --check-prefix=PROCESSES
// RUN: not stablo run %s --entry prints --max-steps 20000 --max-memory 1M 2>&1 | FileCheck %s --check-prefix=PRINTS
// RUN: not stablo view %s --run --max-memory 1M 2>&1 | FileCheck %s --check-prefix=VALUES
// RUN: not stablo view %s --profile --max-memory 1K 2>&1 | FileCheck %s --check-prefix=PROGRAM
// RUN: not stablo view %s --profile --max-memory 1M 2>&1 | FileCheck %s --check-prefix=VALUES
// RUN: stablo run %s --entry takes --input iota --max-memory 16M | FileCheck %s --check-prefix=ENOUGH

// PROGRAM: cannot read {{.*}} would exceed the limit of 1024 bytes
// VALUES: error[memory_limit]: 4000000 bytes more than the {{[0-9]+}} in use would exceed the limit of 1048576 bytes
// FILE: of @takes is a tensor<1000000xf32>, given `{{.*}}`: cannot read {{.*}} would exceed the limit of 1048576 bytes
// INPUT: of @takes is a tensor<1000000xf32>, given `{{.*}}`: 4000000 bytes more than the {{[0-9]+}} in use would exceed the limit of 1048576 bytes
// CONSTANT: the limit of 1048576 bytes
// PROCESSES: error[memory_limit]: 4096 processes: 67092480 bytes more than
// PRINTS: error[step_limit]: the run takes more than 20000 steps
// PRINTS: %0: tensor<64xf32>
// ENOUGH: output 0: tensor<1000000xf32>

func.func @main() -> tensor<1000000xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<1000000xf32>
  return %0 : tensor<1000000xf32>
}
func.func @takes(%x: tensor<1000000xf32>) -> tensor<1000000xf32> {
  return %x : tensor<1000000xf32>
}
func.func @constant() -> tensor<1000000000000xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<1000000000000xf32>
  return %0 : tensor<1000000000000xf32>
}
func.func @waits() -> tensor<i32> {
  %0 = stablehlo.replica_id : tensor<ui32>
  %1 = stablehlo.convert %0 : (tensor<ui32>) -> tensor<i32>
  return %1 : tensor<i32>
}
// Two megabytes of text.
func.func @prints() -> tensor<64xf32> {
  %x = stablehlo.iota dim = 0 : tensor<64xf32>
  %true = stablehlo.constant dense<true> : tensor<i1>
  %0 = stablehlo.while(%i = %x) : tensor<64xf32> cond {
    stablehlo.return %true : tensor<i1>
  } do {
    interpreter.print %x : tensor<64xf32>
    stablehlo.return %i : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}
