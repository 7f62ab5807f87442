// Inputs by position and by name, as literals and from files of several arrays.
// RUN: stablo run %s --input "[[1, -2.5e-3], [nan, -inf]]" --input n=3 --input "[(1,2), (3, 4)]" --input "arg3=[True, 0]" | FileCheck %s
// RUN: stablo run %s --input x=ones --input 7 --input iota:3 --input 1 --outputs %t.npz
// RUN: stablo run %s --input x=ones --input 7 --input iota:3 --input 1 --outputs %t.safetensors
// RUN: stablo run %s --input x=ones --input 7 --input %t.npz:output_2 --input %t.safetensors:output_3 --expect %t.npz | FileCheck %s --check-prefix=SAME
// RUN: stablo run %s --entry back --inputs %t.npz --input "arg0=[[1, 1], [1, 1.5]]" | FileCheck %s --check-prefix=BACK
// RUN: not stablo run %s 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not stablo run %s --input x=ones --input x=zeros 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not stablo run %s --inputs %t.npz --input 3 2>&1 | FileCheck %s --check-prefix=UNNAMED
// RUN: not stablo run %s --inputs %t.npz 2>&1 | FileCheck %s --check-prefix=LACKS
// RUN: not stablo run %s --inputs %s 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not stablo run %s --input "[1, 2]" --input 1 --input iota:2 --input 1 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not stablo run %s --input 1 --input 1.5 --input iota:2 --input 1 2>&1 | FileCheck %s --check-prefix=INTEGER
// RUN: not stablo run %s --input 1 --input 1 --input iota --input 1 2>&1 | FileCheck %s --check-prefix=UNSIZED
// RUN: not stablo run %s --input 1 --input 1 --input "[[1], [1, 2]]" --input 1 2>&1 | FileCheck %s --check-prefix=RAGGED

// CHECK: output 0 (result['y']): tensor<2x2xf32>
// CHECK-NEXT: {{\[}}[1.0, -0.0025],
// CHECK-NEXT: [NaN, -inf]]
// CHECK-NEXT: output 1: tensor<i32>
// CHECK-NEXT: 3
// CHECK-NEXT: output 2: tensor<2xcomplex<f32>>
// CHECK-NEXT: [(1.0, 2.0), (3.0, 4.0)]
// CHECK-NEXT: output 3: tensor<2xi1>
// CHECK-NEXT: [true, false]
// SAME: output 0 (result['y']): equal
// SAME-NEXT: output 1: equal
// SAME-NEXT: output 2: equal
// SAME-NEXT: output 3: equal
// BACK: output 0: tensor<2x2xf32>
// BACK-NEXT: {{\[}}[1.0, 1.0],
// BACK-NEXT: [1.0, 1.5]]
// BACK: output 1: tensor<i32>
// BACK-NEXT: 7
// NONE: @main takes 4 inputs, none were given
// NONE-NEXT: argument 0 (`x`): tensor<2x2xf32>
// NONE-NEXT: argument 1 (`n`): tensor<i32>
// NONE-NEXT: argument 2: tensor<?xcomplex<f32>>
// TWICE: argument 0 (`x`) is given more than once
// UNNAMED: `3` is for no argument: where --inputs gives the others, write NAME=VALUE
// LACKS: there is no array `x`, `input_0`, `arr_0`, `0`; it has `result['y']`, `output_1`, `output_2`, `output_3`
// FORMAT: it is no .npy, .npz or safetensors file
// SHAPE: argument 0 (`x`) of @main is a tensor<2x2xf32>, given `[1, 2]`: this is a tensor<2xf32>
// INTEGER: argument 1 (`n`) of @main is a tensor<i32>, given `1.5`: `1.5` is not a number of type i32
// UNSIZED: its type has unknown sizes: write them as in `iota:2x3`
// RAGGED: argument 2 of @main is a tensor<?xcomplex<f32>>, given `{{\[}}[1], [1, 2]]`
func.func @main(%arg0: tensor<2x2xf32> loc("x"), %arg1: tensor<i32> loc("n"), %arg2: tensor<?xcomplex<f32>>, %arg3: tensor<2xi1>)
    -> (tensor<2x2xf32> {jax.result_info = "result['y']"}, tensor<i32>, tensor<?xcomplex<f32>>, tensor<2xi1>) {
  return %arg0, %arg1, %arg2, %arg3 : tensor<2x2xf32>, tensor<i32>, tensor<?xcomplex<f32>>, tensor<2xi1>
}

func.func @back(%arg0: tensor<2x2xf32>, %arg1: tensor<i32> loc("output_1")) -> (tensor<2x2xf32>, tensor<i32>) {
  return %arg0, %arg1 : tensor<2x2xf32>, tensor<i32>
}
