// Messages name the file, the argument or the command that is missing.
// RUN: not stablo run %s --input y=ones 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// RUN: not stablo reduce %s --test nowhere-to-be-found -o %t.mlir 2>&1 | FileCheck %s --check-prefix=COMMAND
// RUN: not stablo convert %s %t.mlir.bc --target Current 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: stablo convert %s %t.mlir.bc
// RUN: head -c 60 %t.mlir.bc > %t.half
// RUN: not stablo inspect %t.half 2>&1 | FileCheck %s --check-prefix=HALF

// ARGUMENT: argument 0 (`x`) {{.*}}there is no argument `y`, and cannot read y=ones: {{.*}}; an input is a file
// COMMAND: cannot run the test: there is no such command: nowhere-to-be-found
// TARGET: target version "Current" is not three numbers with dots between, {{.*}}`current`, `minimum`
// HALF: .half: the section of strings is missing
func.func @main(%x: tensor<f32> loc("x")) -> tensor<f32> {
  return %x : tensor<f32>
}
