// RUN: stablo run %s | FileCheck %s
// RUN: stablo run %s --threads 2 | FileCheck %s
// RUN: stablo run %s --engine reference | FileCheck %s
// RUN: stablo run %s --explain-plan | FileCheck %s --check-prefix=PLAN

// Loops and reductions over the same rows run some rows at a time, and only results are stored.
// PLAN-LABEL: @main: 
// PLAN-SAME: 8 steps, 4 of them loops

func.func @main() -> (tensor<2x2xf32>, tensor<1x4xf32>, tensor<2xi32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>

  // Softmax of 128 equal numbers a row: 1 / 128 each.
  // CHECK: output 0:
  // CHECK-NEXT: {{\[}}[0.0078125, 0.0078125],
  // CHECK-NEXT: [0.0078125, 0.0078125]]
  // PLAN: row loop of {{.*}} over 2048 rows : 32x64x128xf32
  // PLAN-NEXT: loop of
  // PLAN: stablehlo.reduce
  // PLAN: exponential
  // PLAN: stablehlo.reduce
  // PLAN: divide
  %logits = stablehlo.iota dim = 1 : tensor<32x64x128xf32>
  %half = stablehlo.constant dense<0.5> : tensor<32x64x128xf32>
  %scaled = stablehlo.multiply %logits, %half : tensor<32x64x128xf32>
  %greatest = stablehlo.reduce(%scaled init: %lowest) applies stablehlo.maximum across dimensions = [2] : (tensor<32x64x128xf32>, tensor<f32>) -> tensor<32x64xf32>
  %shifts = stablehlo.broadcast_in_dim %greatest, dims = [0, 1] : (tensor<32x64xf32>) -> tensor<32x64x128xf32>
  %shifted = stablehlo.subtract %scaled, %shifts : tensor<32x64x128xf32>
  %powers = stablehlo.exponential %shifted : tensor<32x64x128xf32>
  %sum = stablehlo.reduce(%powers init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<32x64x128xf32>, tensor<f32>) -> tensor<32x64xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1] : (tensor<32x64xf32>) -> tensor<32x64x128xf32>
  %softmax = stablehlo.divide %powers, %sums : tensor<32x64x128xf32>
  %corner = stablehlo.slice %softmax [31:32, 62:64, 126:128] : (tensor<32x64x128xf32>) -> tensor<1x2x2xf32>
  %some = stablehlo.reshape %corner : (tensor<1x2x2xf32>) -> tensor<2x2xf32>

  // Rows of i + 1 and i - 1 by turns have mean i and variance 1.
  // CHECK: output 1:
  // CHECK-NEXT: {{\[}}[1.0, -1.0, 1.0, -1.0]]
  // PLAN: row loop of {{.*}} over 1000 rows : 1000x60xf32
  %row = stablehlo.iota dim = 0 : tensor<1000x60xf32>
  %column = stablehlo.iota dim = 1 : tensor<1000x60xi32>
  %one = stablehlo.constant dense<1> : tensor<1000x60xi32>
  %odd = stablehlo.and %column, %one : tensor<1000x60xi32>
  %number = stablehlo.convert %odd : (tensor<1000x60xi32>) -> tensor<1000x60xf32>
  %two = stablehlo.constant dense<2.0> : tensor<1000x60xf32>
  %unit = stablehlo.constant dense<1.0> : tensor<1000x60xf32>
  %twice = stablehlo.multiply %number, %two : tensor<1000x60xf32>
  %sign = stablehlo.subtract %unit, %twice : tensor<1000x60xf32>
  %x = stablehlo.add %row, %sign : tensor<1000x60xf32>
  %sixty = stablehlo.constant dense<60.0> : tensor<1000xf32>
  %total = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1000x60xf32>, tensor<f32>) -> tensor<1000xf32>
  %mean = stablehlo.divide %total, %sixty : tensor<1000xf32>
  %means = stablehlo.broadcast_in_dim %mean, dims = [0] : (tensor<1000xf32>) -> tensor<1000x60xf32>
  %centred = stablehlo.subtract %x, %means : tensor<1000x60xf32>
  %squares = stablehlo.multiply %centred, %centred : tensor<1000x60xf32>
  %power = stablehlo.reduce(%squares init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1000x60xf32>, tensor<f32>) -> tensor<1000xf32>
  %variance = stablehlo.divide %power, %sixty : tensor<1000xf32>
  %scale = stablehlo.rsqrt %variance : tensor<1000xf32>
  %scales = stablehlo.broadcast_in_dim %scale, dims = [0] : (tensor<1000xf32>) -> tensor<1000x60xf32>
  %normal = stablehlo.multiply %centred, %scales : tensor<1000x60xf32>
  %end = stablehlo.slice %normal [999:1000, 56:60] : (tensor<1000x60xf32>) -> tensor<1x4xf32>

  // What a step reads of other rows than it computes is in another step: the transposed one here.
  // The sum over j of i + j is 400 i + 79800, here subtracted in column i.
  // CHECK: output 2:
  // CHECK-NEXT: [-79800, -239001]
  %zero_int = stablehlo.constant dense<0> : tensor<i32>
  %i = stablehlo.iota dim = 0 : tensor<400x400xi32>
  %j = stablehlo.iota dim = 1 : tensor<400x400xi32>
  %matrix = stablehlo.add %i, %j : tensor<400x400xi32>
  %rows = stablehlo.reduce(%matrix init: %zero_int) applies stablehlo.add across dimensions = [1] : (tensor<400x400xi32>, tensor<i32>) -> tensor<400xi32>
  %across = stablehlo.broadcast_in_dim %rows, dims = [1] : (tensor<400xi32>) -> tensor<400x400xi32>
  %rest = stablehlo.subtract %matrix, %across : tensor<400x400xi32>
  %line = stablehlo.slice %rest [0:1, 0:400:399] : (tensor<400x400xi32>) -> tensor<1x2xi32>
  %both = stablehlo.reshape %line : (tensor<1x2xi32>) -> tensor<2xi32>
  return %some, %end, %both : tensor<2x2xf32>, tensor<1x4xf32>, tensor<2xi32>
}
