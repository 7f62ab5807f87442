// RUN: stablo run %s --entry middle --input '[[[1, 5], [7, 5], [7, 2]], [[-1, nan], [nan, 3], [4, nan]]]' | FileCheck %s --check-prefix=MIDDLE
// RUN: stablo run %s --entry rows --input iota --dump-plan-after=schedule | FileCheck %s --check-prefix=PLAN
// RUN: stablo run %s --entry rows --input iota | FileCheck %s --check-prefix=ROWS
// RUN: stablo run %s --entry greatest --input '[[1, 5, 2], [-3, -7, -1]]' | FileCheck %s --check-prefix=GREATEST
// RUN: stablo run %s --engine reference --entry rows --input iota | FileCheck %s --check-prefix=ROWS
// RUN: stablo run %s --entry shifted --input '[[1, 5, 5], [9, 7, 9]]' | FileCheck %s --check-prefix=SHIFTED

// Indices of extrema: of equal elements the least one, and the first one of NaN. The numbers of places
// are not in memory for each element.
// MIDDLE: {{\[}}[1, 0],
// MIDDLE-NEXT: [1, 0]]
func.func @middle(%x: tensor<2x3x2xf32>) -> tensor<2x2xi32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %places = stablehlo.iota dim = 1 : tensor<2x3x2xi32>
  %m, %i = stablehlo.reduce(%x init: %low), (%places init: %zero) across dimensions = [1] : (tensor<2x3x2xf32>, tensor<2x3x2xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
      reducer(%a: tensor<f32>, %b: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>) {
    %g = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %n = stablehlo.compare NE, %a, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %o = stablehlo.or %g, %n : tensor<i1>
    %e = stablehlo.compare EQ, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %l = stablehlo.compare LT, %j, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %f = stablehlo.and %e, %l : tensor<i1>
    %t = stablehlo.or %o, %f : tensor<i1>
    %v = stablehlo.select %o, %a, %b : tensor<i1>, tensor<f32>
    %w = stablehlo.select %t, %j, %k : tensor<i1>, tensor<i32>
    stablehlo.return %v, %w : tensor<f32>, tensor<i32>
  }
  return %i : tensor<2x2xi32>
}

// PLAN-LABEL: @rows(
// PLAN-NOT: move
// PLAN: stablehlo.reduce
// ROWS: [39, 39, 39]
func.func @rows(%x: tensor<3x40xf32>) -> tensor<3xi32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %places = stablehlo.iota dim = 1 : tensor<3x40xi32>
  %m, %i = stablehlo.reduce(%x init: %low), (%places init: %zero) across dimensions = [1] : (tensor<3x40xf32>, tensor<3x40xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
      reducer(%a: tensor<f32>, %b: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>) {
    %g = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %n = stablehlo.compare NE, %a, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %o = stablehlo.or %g, %n : tensor<i1>
    %e = stablehlo.compare EQ, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %l = stablehlo.compare LT, %j, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %f = stablehlo.and %e, %l : tensor<i1>
    %t = stablehlo.or %o, %f : tensor<i1>
    %v = stablehlo.select %o, %a, %b : tensor<i1>, tensor<f32>
    %w = stablehlo.select %t, %j, %k : tensor<i1>, tensor<i32>
    stablehlo.return %v, %w : tensor<f32>, tensor<i32>
  }
  return %i : tensor<3xi32>
}

// GREATEST: [5.0, -1.0]
func.func @greatest(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %places = stablehlo.iota dim = 1 : tensor<2x3xi32>
  %m, %i = stablehlo.reduce(%x init: %low), (%places init: %zero) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
      reducer(%a: tensor<f32>, %b: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>) {
    %g = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %n = stablehlo.compare NE, %a, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %o = stablehlo.or %g, %n : tensor<i1>
    %e = stablehlo.compare EQ, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %l = stablehlo.compare LT, %j, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %f = stablehlo.and %e, %l : tensor<i1>
    %t = stablehlo.or %o, %f : tensor<i1>
    %v = stablehlo.select %o, %a, %b : tensor<i1>, tensor<f32>
    %w = stablehlo.select %t, %j, %k : tensor<i1>, tensor<i32>
    stablehlo.return %v, %w : tensor<f32>, tensor<i32>
  }
  return %m : tensor<2xf32>
}

// Other numbers than those of places.
// SHIFTED: [10, 8]
func.func @shifted(%x: tensor<2x3xf32>) -> tensor<2xi32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %places = stablehlo.constant dense<[[12, 11, 10], [9, 10, 8]]> : tensor<2x3xi32>
  %m, %i = stablehlo.reduce(%x init: %low), (%places init: %zero) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
      reducer(%a: tensor<f32>, %b: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>) {
    %g = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %n = stablehlo.compare NE, %a, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %o = stablehlo.or %g, %n : tensor<i1>
    %e = stablehlo.compare EQ, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %l = stablehlo.compare LT, %j, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %f = stablehlo.and %e, %l : tensor<i1>
    %t = stablehlo.or %o, %f : tensor<i1>
    %v = stablehlo.select %o, %a, %b : tensor<i1>, tensor<f32>
    %w = stablehlo.select %t, %j, %k : tensor<i1>, tensor<i32>
    stablehlo.return %v, %w : tensor<f32>, tensor<i32>
  }
  return %i : tensor<2xi32>
}
