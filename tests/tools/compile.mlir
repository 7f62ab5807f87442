// Programs whose weights are also in the order in which kernels read them. The weights are a file
// here: the argument that has its name becomes a constant.

// RUN: stablo run %s --entry weights --outputs %t.npz
// RUN: stablo compile %s --constants %t.npz -o %t.stb
// RUN: stablo run %t.stb --input ones | FileCheck %s
// RUN: stablo run %t.stb --input ones --engine reference | FileCheck %s
// CHECK: output 0: tensor<4xf32>
// CHECK-NEXT: {{^  }}{{[[]}}0.0, 64.0, 128.0, 192.0]{{$}}

// It is a program like others, with its weights twice.
// RUN: stablo check %t.stb
// RUN: stablo inspect %t.stb | FileCheck %s --check-prefix=INSPECT
// INSPECT: portable artifact of version
// INSPECT: @main : (tensor<8x64xf32>) -> tensor<4xf32>
// RUN: stablo convert %t.stb - | FileCheck %s --check-prefix=TEXT
// TEXT: module attributes {stablo.prepacked = [{constant = dense_resource<stablo_constant_0> : tensor<64x96xf32>, kernel = {{-?[0-9]+}} : i64, packed = dense_resource<stablo_prepacked_0> : tensor<24576xi8>}]}
// TEXT: stablehlo.constant dense_resource<stablo_constant_0> : tensor<64x96xf32>

// RUN: stablo compile %t.stb -o %t.mlirbc
// RUN: stablo run %t.mlirbc --input ones | FileCheck %s

// Its weights are moved out as those of others.
// RUN: stablo convert %t.stb %t.small.mlir --extract-constants %t.safetensors
// RUN: stablo convert %t.small.mlir %t.whole.mlir.bc --insert-constants %t.safetensors
// RUN: stablo run %t.whole.mlir.bc --input ones | FileCheck %s

// A program without weights stays as it is.
// RUN: stablo compile %s --entry weights -o - | stablo convert - - | FileCheck %s --check-prefix=SMALL --implicit-check-not=prepacked
// SMALL: func.func @weights

// RUN: not stablo compile %s --constants %t.npz --entry weights -o %t.none.stb 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: {{.*}}has no array with the name of an argument of @weights, or as input_0, input_1, …
// RUN: not stablo compile %s --entry other -o %t.none.stb 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error[entry]: there is no function @other to run
// RUN: not stablo compile %s 2>&1 | FileCheck %s --check-prefix=OUTPUT
// OUTPUT: --output <FILE>
// RUN: not stablo compile %s -o %t.mlir 2>&1 | FileCheck %s --check-prefix=OF-TEXT
// OF-TEXT: error: the file is mapped when it runs: end its name in .stb

func.func @main(%x: tensor<8x64xf32>, %w: tensor<64x96xf32> loc("w")) -> tensor<4xf32> {
  %0 = stablehlo.dot %x, %w : (tensor<8x64xf32>, tensor<64x96xf32>) -> tensor<8x96xf32>
  %1 = stablehlo.slice %0 [7:8, 0:4] : (tensor<8x96xf32>) -> tensor<1x4xf32>
  %2 = stablehlo.reshape %1 : (tensor<1x4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

func.func @weights() -> (tensor<64x96xf32> {jax.result_info = "w"}) {
  %0 = stablehlo.iota dim = 1 : tensor<64x96xf32>
  return %0 : tensor<64x96xf32>
}
