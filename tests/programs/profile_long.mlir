// RUN: stablo run %s --input zeros:40x40 --profile 2>&1 | FileCheck %s

// The 30 steps that take longest have lines, the others one together.
// CHECK-COUNT-30: {{ 1 .* stablehlo.dot_general : 40x40xf32  profile_long.mlir:}}
// CHECK-NEXT: {{ 3  +3 steps more$}}
// CHECK: {{ 33 +33  products}}
func.func @main(%0: tensor<40x40xf32>) -> tensor<40x40xf32> {
  %1 = stablehlo.dot_general %0, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %2 = stablehlo.dot_general %1, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %3 = stablehlo.dot_general %2, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %4 = stablehlo.dot_general %3, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %5 = stablehlo.dot_general %4, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %6 = stablehlo.dot_general %5, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %7 = stablehlo.dot_general %6, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %8 = stablehlo.dot_general %7, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %9 = stablehlo.dot_general %8, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %10 = stablehlo.dot_general %9, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %11 = stablehlo.dot_general %10, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %12 = stablehlo.dot_general %11, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %13 = stablehlo.dot_general %12, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %14 = stablehlo.dot_general %13, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %15 = stablehlo.dot_general %14, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %16 = stablehlo.dot_general %15, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %17 = stablehlo.dot_general %16, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %18 = stablehlo.dot_general %17, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %19 = stablehlo.dot_general %18, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %20 = stablehlo.dot_general %19, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %21 = stablehlo.dot_general %20, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %22 = stablehlo.dot_general %21, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %23 = stablehlo.dot_general %22, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %24 = stablehlo.dot_general %23, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %25 = stablehlo.dot_general %24, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %26 = stablehlo.dot_general %25, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %27 = stablehlo.dot_general %26, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %28 = stablehlo.dot_general %27, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %29 = stablehlo.dot_general %28, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %30 = stablehlo.dot_general %29, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %31 = stablehlo.dot_general %30, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %32 = stablehlo.dot_general %31, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %33 = stablehlo.dot_general %32, %0, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  return %33 : tensor<40x40xf32>
}
