// RUN: stablo run %s --input "[1.0, 65504.0, -0.001]" --input "[127, -128, 3]" | FileCheck %s
// RUN: stablo run %s --engine reference --input "[1.0, 65504.0, -0.001]" --input "[127, -128, 3]" | FileCheck %s

// Elements of one and two bytes: floats are rounded once, and integers wrap.

// A third as f16 is 0.33325195; 65504 and a half of its last place, 16, is infinite.
// CHECK: output 0: tensor<3xf16>
// CHECK-NEXT: [0.33325195, inf, -0.00033
// One and 1/256 is one as bf16.
// CHECK: output 1: tensor<3xbf16>
// CHECK-NEXT: [1.0, 65536.0,
// CHECK: output 2: tensor<3xi8>
// CHECK-NEXT: [-128, -127, 4]
// CHECK: output 3: tensor<3xui8>
// CHECK-NEXT: [127, 128, 3]
// CHECK: output 4: tensor<3xi8>
// CHECK-NEXT: [1, 127, 0]
// CHECK: output 5: tensor<3xf8E4M3FN>
// CHECK-NEXT: [1.0, NaN, -0.001953125]
// CHECK: output 6: tensor<3xi1>
// CHECK-NEXT: [true, false, true]
func.func @main(%x: tensor<3xf16>, %n: tensor<3xi8>) -> (tensor<3xf16>, tensor<3xbf16>,
    tensor<3xi8>, tensor<3xui8>, tensor<3xi8>, tensor<3xf8E4M3FN>, tensor<3xi1>) {
  %third = stablehlo.constant dense<[3.0, 1.0, 3.0]> : tensor<3xf16>
  %quotient = stablehlo.divide %x, %third : tensor<3xf16>
  %last = stablehlo.constant dense<[0.0, 16.0, 0.0]> : tensor<3xf16>
  %f16 = stablehlo.add %quotient, %last : tensor<3xf16>
  %wide = stablehlo.convert %x : (tensor<3xf16>) -> tensor<3xbf16>
  %little = stablehlo.constant dense<0.00390625> : tensor<3xbf16>
  %bf16 = stablehlo.add %wide, %little : tensor<3xbf16>
  %one = stablehlo.constant dense<1> : tensor<3xi8>
  %i8 = stablehlo.add %n, %one : tensor<3xi8>
  %ui8 = stablehlo.convert %n : (tensor<3xi8>) -> tensor<3xui8>
  %saturated = stablehlo.convert %x : (tensor<3xf16>) -> tensor<3xi8>
  %f8 = stablehlo.convert %x : (tensor<3xf16>) -> tensor<3xf8E4M3FN>
  %zero = stablehlo.constant dense<0> : tensor<3xi8>
  %positive = stablehlo.compare GT, %n, %zero, SIGNED : (tensor<3xi8>, tensor<3xi8>) -> tensor<3xi1>
  return %f16, %bf16, %i8, %ui8, %saturated, %f8, %positive : tensor<3xf16>, tensor<3xbf16>,
    tensor<3xi8>, tensor<3xui8>, tensor<3xi8>, tensor<3xf8E4M3FN>, tensor<3xi1>
}
