// Messages name the argument or the command that is missing, and the versions that there are.
// RUN: not stablo run %s --input y=ones 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// RUN: not stablo reduce %s --test nowhere-to-be-found -o %t.mlir 2>&1 | FileCheck %s --check-prefix=COMMAND
// RUN: not stablo convert %s %t.mlir.bc --target Current 2>&1 | FileCheck %s --check-prefix=TARGET

// ARGUMENT: error: there is no argument `y`; @main takes (x: tensor<f32>)
// COMMAND: cannot run the test: there is no such command: nowhere-to-be-found
// TARGET: target version "Current" is not three numbers with dots between, {{.*}}`current`, `minimum`
func.func @main(%x: tensor<f32> loc("x")) -> tensor<f32> {
  return %x : tensor<f32>
}
