// Formatting. The program below is as MLIR prints it.
// RUN: stablo fmt %s --check
// RUN: stablo fmt %s --stdout | diff %s -
// RUN: not stablo fmt %S/data/unformatted.mlir --check --drop-comments | FileCheck %s --check-prefix=FOUND
// RUN: not stablo fmt %S/data/unformatted.mlir --stdout 2>&1 | FileCheck %s --check-prefix=COMMENT
// RUN: stablo fmt %S/data/unformatted.mlir --stdout --drop-comments | FileCheck %s --check-prefix=DROPPED
// RUN: cp %S/data/unformatted.mlir %t.mlir
// RUN: not stablo fmt %t.mlir %S/none.mlir --drop-comments
// RUN: diff %t.mlir %S/data/unformatted.mlir
// RUN: stablo fmt %t.mlir --drop-comments
// RUN: stablo fmt %t.mlir --check
// RUN: stablo fmt - --check < /dev/null
// RUN: not stablo fmt - < %s 2>&1 | FileCheck %s --check-prefix=USAGE

// FOUND: unformatted.mlir
// COMMENT: unformatted.mlir:5: there is a comment within the program
// DROPPED: {{^}}// Kept.
// DROPPED-NEXT: RUN
// DROPPED-NEXT: module {
// DROPPED-NEXT: func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
// DROPPED-NEXT: %0 = stablehlo.abs %arg0 {note = "a // \22b\22"} : tensor<f32>
// USAGE: use --stdout or --check

module {
  func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.abs %arg0 : tensor<f32>
    return %0 : tensor<f32>
  }
}
