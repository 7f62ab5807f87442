// RUN: stablehlo-translate --interpret --split-input-file %s

// The first elements and their indices, of rows.
func.func @main() {
  %n = stablehlo.iota dim = 0 : tensor<150xi32>
  %a = stablehlo.constant dense<37> : tensor<150xi32>
  %b = stablehlo.constant dense<11> : tensor<150xi32>
  %c = stablehlo.constant dense<23> : tensor<150xi32>
  %d = stablehlo.multiply %n, %a : tensor<150xi32>
  %e = stablehlo.add %d, %b : tensor<150xi32>
  %f = stablehlo.remainder %e, %c : tensor<150xi32>
  %g = stablehlo.convert %f : (tensor<150xi32>) -> tensor<150xf32>
  %x = stablehlo.reshape %g : (tensor<150xf32>) -> tensor<3x50xf32>
  %i = stablehlo.iota dim = 1 : tensor<3x50xi32>
  %s:2 = "stablehlo.sort"(%x, %i) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<i32>, %t: tensor<i32>):
    %0 = stablehlo.compare GT, %p, %q, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }) {dimension = 1 : i64, is_stable = true} : (tensor<3x50xf32>, tensor<3x50xi32>) -> (tensor<3x50xf32>, tensor<3x50xi32>)
  %v = stablehlo.slice %s#0 [0:3, 0:5] : (tensor<3x50xf32>) -> tensor<3x5xf32>
  check.expect_eq_const %v, dense<[[22.0, 22.0, 21.0, 21.0, 20.0], [22.0, 22.0, 21.0, 21.0, 21.0], [22.0, 22.0, 22.0, 21.0, 21.0]]> : tensor<3x5xf32>
  %w = stablehlo.slice %s#1 [0:3, 0:5] : (tensor<3x50xi32>) -> tensor<3x5xi32>
  check.expect_eq_const %w, dense<[[9, 32, 4, 27, 22], [5, 28, 0, 23, 46], [1, 24, 47, 19, 42]]> : tensor<3x5xi32>
  return
}

// -----

// The same of columns.
func.func @main() {
  %n = stablehlo.iota dim = 0 : tensor<39xi32>
  %a = stablehlo.constant dense<37> : tensor<39xi32>
  %b = stablehlo.constant dense<11> : tensor<39xi32>
  %c = stablehlo.constant dense<23> : tensor<39xi32>
  %d = stablehlo.multiply %n, %a : tensor<39xi32>
  %e = stablehlo.add %d, %b : tensor<39xi32>
  %f = stablehlo.remainder %e, %c : tensor<39xi32>
  %g = stablehlo.convert %f : (tensor<39xi32>) -> tensor<39xf32>
  %x = stablehlo.reshape %g : (tensor<39xf32>) -> tensor<13x3xf32>
  %i = stablehlo.iota dim = 0 : tensor<13x3xi32>
  %s:2 = "stablehlo.sort"(%x, %i) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<i32>, %t: tensor<i32>):
    %0 = stablehlo.compare LT, %p, %q, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<13x3xf32>, tensor<13x3xi32>) -> (tensor<13x3xf32>, tensor<13x3xi32>)
  %v = stablehlo.slice %s#0 [0:3, 0:3] : (tensor<13x3xf32>) -> tensor<3x3xf32>
  check.expect_eq_const %v, dense<[[2.0, 0.0, 0.0], [3.0, 1.0, 3.0], [6.0, 2.0, 4.0]]> : tensor<3x3xf32>
  %w = stablehlo.slice %s#1 [0:3, 0:3] : (tensor<13x3xi32>) -> tensor<3x3xi32>
  check.expect_eq_const %w, dense<[[8, 12, 4], [2, 6, 9], [7, 0, 3]]> : tensor<3x3xi32>
  return
}

// -----

// Only the indices.
func.func @main() {
  %n = stablehlo.iota dim = 0 : tensor<80xi32>
  %a = stablehlo.constant dense<37> : tensor<80xi32>
  %b = stablehlo.constant dense<11> : tensor<80xi32>
  %c = stablehlo.constant dense<23> : tensor<80xi32>
  %d = stablehlo.multiply %n, %a : tensor<80xi32>
  %e = stablehlo.add %d, %b : tensor<80xi32>
  %f = stablehlo.remainder %e, %c : tensor<80xi32>
  %g = stablehlo.convert %f : (tensor<80xi32>) -> tensor<80xf32>
  %x = stablehlo.reshape %g : (tensor<80xf32>) -> tensor<2x40xf32>
  %i = stablehlo.iota dim = 1 : tensor<2x40xi32>
  %s:2 = "stablehlo.sort"(%x, %i) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<i32>, %t: tensor<i32>):
    %0 = stablehlo.compare GT, %p, %q, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }) {dimension = -1 : i64, is_stable = true} : (tensor<2x40xf32>, tensor<2x40xi32>) -> (tensor<2x40xf32>, tensor<2x40xi32>)
  %w = stablehlo.slice %s#1 [0:2, 0:4] : (tensor<2x40xi32>) -> tensor<2x4xi32>
  check.expect_eq_const %w, dense<[[9, 32, 4, 27], [15, 38, 10, 33]]> : tensor<2x4xi32>
  return
}

// -----

// Only the elements, more than are found one after the other.
func.func @main() {
  %n = stablehlo.iota dim = 0 : tensor<300xi32>
  %a = stablehlo.constant dense<37> : tensor<300xi32>
  %b = stablehlo.constant dense<11> : tensor<300xi32>
  %c = stablehlo.constant dense<23> : tensor<300xi32>
  %d = stablehlo.multiply %n, %a : tensor<300xi32>
  %e = stablehlo.add %d, %b : tensor<300xi32>
  %f = stablehlo.remainder %e, %c : tensor<300xi32>
  %g = stablehlo.convert %f : (tensor<300xi32>) -> tensor<300xf32>
  %x = stablehlo.reshape %g : (tensor<300xf32>) -> tensor<1x300xf32>
  %i = stablehlo.iota dim = 1 : tensor<1x300xi32>
  %s:2 = "stablehlo.sort"(%x, %i) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<i32>, %t: tensor<i32>):
    %0 = stablehlo.compare LT, %p, %q, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }) {dimension = 1 : i64, is_stable = true} : (tensor<1x300xf32>, tensor<1x300xi32>) -> (tensor<1x300xf32>, tensor<1x300xi32>)
  %v = stablehlo.slice %s#0 [0:1, 0:60] : (tensor<1x300xf32>) -> tensor<1x60xf32>
  check.expect_eq_const %v, dense<[[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0]]> : tensor<1x60xf32>
  return
}

// -----

// Also more elements than these are used.
func.func @main() {
  %n = stablehlo.iota dim = 0 : tensor<18xi32>
  %a = stablehlo.constant dense<37> : tensor<18xi32>
  %b = stablehlo.constant dense<11> : tensor<18xi32>
  %c = stablehlo.constant dense<23> : tensor<18xi32>
  %d = stablehlo.multiply %n, %a : tensor<18xi32>
  %e = stablehlo.add %d, %b : tensor<18xi32>
  %f = stablehlo.remainder %e, %c : tensor<18xi32>
  %g = stablehlo.convert %f : (tensor<18xi32>) -> tensor<18xf32>
  %x = stablehlo.reshape %g : (tensor<18xf32>) -> tensor<2x9xf32>
  %i = stablehlo.iota dim = 1 : tensor<2x9xi32>
  %s:2 = "stablehlo.sort"(%x, %i) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<i32>, %t: tensor<i32>):
    %0 = stablehlo.compare GT, %p, %q, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }) {dimension = 1 : i64, is_stable = true} : (tensor<2x9xf32>, tensor<2x9xi32>) -> (tensor<2x9xf32>, tensor<2x9xi32>)
  %v = stablehlo.slice %s#0 [0:2, 0:3] : (tensor<2x9xf32>) -> tensor<2x3xf32>
  check.expect_eq_const %v, dense<[[21.0, 17.0, 16.0], [22.0, 19.0, 18.0]]> : tensor<2x3xf32>
  %w = stablehlo.slice %s#1 [0:2, 0:3] : (tensor<2x9xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %w, dense<[[4, 7, 2], [0, 8, 3]]> : tensor<2x3xi32>
  %u = stablehlo.slice %s#0 [0:2, 0:2] : (tensor<2x9xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %u, dense<[[21.0, 17.0], [22.0, 19.0]]> : tensor<2x2xf32>
  return
}

// -----

// Of sizes that the types do not have, in one result or in both.
func.func @main() {
  %x = stablehlo.constant dense<[[1.0, 4.0, 2.0, 3.0], [8.0, 5.0, 7.0, 6.0]]> : tensor<2x4xf32>
  %v:2 = chlo.top_k(%x, k = 2) : tensor<2x4xf32> -> (tensor<2x?xf32>, tensor<2x?xi32>)
  %w:2 = chlo.top_k(%x, k = 2) : tensor<2x4xf32> -> (tensor<?x2xf32>, tensor<2x2xi32>)
  %size = stablehlo.get_dimension_size %v#0, dim = 1 : (tensor<2x?xf32>) -> tensor<i32>
  check.expect_eq_const %size, dense<2> : tensor<i32>
  %values = stablehlo.reshape %v#0 : (tensor<2x?xf32>) -> tensor<2x2xf32>
  %indices = stablehlo.reshape %v#1 : (tensor<2x?xi32>) -> tensor<2x2xi32>
  %others = stablehlo.reshape %w#0 : (tensor<?x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %values, dense<[[4.0, 3.0], [8.0, 7.0]]> : tensor<2x2xf32>
  check.expect_eq_const %others, dense<[[4.0, 3.0], [8.0, 7.0]]> : tensor<2x2xf32>
  check.expect_eq_const %indices, dense<[[1, 3], [0, 2]]> : tensor<2x2xi32>
  check.expect_eq_const %w#1, dense<[[1, 3], [0, 2]]> : tensor<2x2xi32>
  return
}
