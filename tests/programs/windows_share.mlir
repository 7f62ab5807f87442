// RUN: stablo run %s --input iota | FileCheck %s
// RUN: stablo run %s --input iota --engine reference | FileCheck %s

// Long windows of a body that is no common operation share the subtrees of the tree that defines
// their results; the operation is not associative, so that another order would give other numbers.
// CHECK: {{\[}}2815, 2767, 2735, 2759, 2751, 2799, 2855, 2939, 2727, 2739, 2783, 2939, 3031, 3235, 3455, 3731, 3895, 4171, 4463, 4811, 5127, 5499, 5879, 6287, 6559, 6943, 7343, 7799, 8223, 8703, 9191, 9707, 10167, 10683, 11207, 11759, 12295, 12859, 13427, 14009, 14603, 15197, 15791, 16385, 16979, 17573, 18167, 18761]
func.func @main(%x: tensor<48xi32>) -> tensor<48xi32> {
  %init = stablehlo.constant dense<5> : tensor<i32>
  %0 = "stablehlo.reduce_window"(%x, %init) <{padding = dense<[[39, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 40>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %two = stablehlo.constant dense<2> : tensor<i32>
      %c = stablehlo.multiply %b, %two : tensor<i32>
      %d = stablehlo.add %a, %c : tensor<i32>
      stablehlo.return %d : tensor<i32>
  }) : (tensor<48xi32>, tensor<i32>) -> tensor<48xi32>
  return %0 : tensor<48xi32>
}
