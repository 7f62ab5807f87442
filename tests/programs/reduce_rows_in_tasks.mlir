// RUN: stablo run %s --threads 1 | FileCheck %s
// RUN: stablo run %s --threads 2 | FileCheck %s
// RUN: stablo run %s --threads 8 | FileCheck %s

// Reductions of so many rows that they are divided among threads, in parts of other numbers of rows
// than are combined at a time: 10007 sums of 100 ones, 300007 of 3, and the greatest of 8 x 12 x 77
// rows of 77 times 5.
// CHECK: output 0:
// CHECK-NEXT: 1000700.0
// CHECK: output 1:
// CHECK-NEXT: 900021.0
// CHECK: output 2:
// CHECK-NEXT: 36960.0
func.func @main() -> (tensor<f64>, tensor<f64>, tensor<f64>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %ones = stablehlo.constant dense<1.0> : tensor<10007x100xf32>
  %threes = stablehlo.constant dense<1.0> : tensor<300007x3xf32>
  %fives = stablehlo.constant dense<5.0> : tensor<8x12x77x77xf32>
  %a = stablehlo.reduce(%ones init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<10007x100xf32>, tensor<f32>) -> tensor<10007xf32>
  %b = stablehlo.reduce(%threes init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<300007x3xf32>, tensor<f32>) -> tensor<300007xf32>
  %c = stablehlo.reduce(%fives init: %zero) applies stablehlo.maximum across dimensions = [3] : (tensor<8x12x77x77xf32>, tensor<f32>) -> tensor<8x12x77xf32>
  %wide = stablehlo.constant dense<0.0> : tensor<f64>
  %aw = stablehlo.convert %a : (tensor<10007xf32>) -> tensor<10007xf64>
  %bw = stablehlo.convert %b : (tensor<300007xf32>) -> tensor<300007xf64>
  %cw = stablehlo.convert %c : (tensor<8x12x77xf32>) -> tensor<8x12x77xf64>
  %x = stablehlo.reduce(%aw init: %wide) applies stablehlo.add across dimensions = [0] : (tensor<10007xf64>, tensor<f64>) -> tensor<f64>
  %y = stablehlo.reduce(%bw init: %wide) applies stablehlo.add across dimensions = [0] : (tensor<300007xf64>, tensor<f64>) -> tensor<f64>
  %z = stablehlo.reduce(%cw init: %wide) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x12x77xf64>, tensor<f64>) -> tensor<f64>
  return %x, %y, %z : tensor<f64>, tensor<f64>, tensor<f64>
}
