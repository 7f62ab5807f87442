// Files that would lose something, and patterns that would take too much, are refused.

// RUN: not stablo convert %s %t.mlir --extract-constants %t.mlir 2>&1 | FileCheck %s --check-prefix=SAME
// SAME: the constants must go to another file than the program

// RUN: not stablo run %s --input zeros --trace %t --trace-match "()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()" 2>&1 | FileCheck %s --check-prefix=GROUPS
// GROUPS: --trace-match: a pattern has at most 100 groups; found 101

// RUN: not stablo convert %s %t.mlir --target=1.0.0 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: error: {{.*}}.mlir is the name of a text, but --target asks for an artifact: end it in .mlir.bc or .stablehlo

// RUN: not stablo run %s --input zeros --outputs %t.npy 2>&1 | FileCheck %s --check-prefix=ARRAY
// ARRAY: error: results are saved in a directory, a .npz or a .safetensors file, not in {{.*}}.npy

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
