// RUN: stablo run %s --input zeros --dump-plan-after=powers | FileCheck %s
// RUN: stablo run %s --input zeros | FileCheck %s --check-prefix RESULT

// Squares and inverses are products and quotients, with the NaN of a power in types other than f64.
// Powers with other exponents, and of complex numbers, stay.

// CHECK: @main(%[[X:[0-9]+]]: 2xf64)
// CHECK: %[[SQUARE:[0-9]+]] = stablehlo.power %[[X]], %[[X]] : 2xf64
// CHECK: %[[ONES:[0-9]+]] = stablehlo.power : 2xf64
// CHECK-NEXT: %[[INVERSE:[0-9]+]] = stablehlo.power %[[ONES]], %[[X]] : 2xf64
// CHECK: %[[NARROW:[0-9]+]] = stablehlo.convert %[[X]] : 2xbf16
// CHECK: %[[PRODUCT:[0-9]+]] = stablehlo.power %[[NARROW]], %[[NARROW]] : 2xbf16
// CHECK-NEXT: %[[NAN:[0-9]+]] = stablehlo.power : 2xbf16
// CHECK-NEXT: %[[IS_NAN:[0-9]+]] = stablehlo.power %[[NARROW]], %[[NARROW]] : 2xi1
// CHECK-NEXT: stablehlo.power %[[IS_NAN]], %[[NAN]], %[[PRODUCT]] : 2xbf16
// CHECK: stablehlo.power %[[X]], %{{.*}} : 2xf64
// CHECK-NOT: : 2xi1

// RESULT: [0.0, 0.0]
// RESULT: [inf, inf]
// RESULT: [0.0, 0.0]
func.func @main(%x: tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>, tensor<2xbf16>, tensor<2xf64>, tensor<2xcomplex<f64>>) {
  %two = stablehlo.constant dense<2.0> : tensor<f64>
  %twos = stablehlo.broadcast_in_dim %two, dims = [] : (tensor<f64>) -> tensor<2xf64>
  %square = stablehlo.power %x, %twos : tensor<2xf64>
  %minus = stablehlo.constant dense<-1.0> : tensor<2xf64>
  %inverse = stablehlo.power %x, %minus : tensor<2xf64>
  %narrow = stablehlo.convert %x : (tensor<2xf64>) -> tensor<2xbf16>
  %two_narrow = stablehlo.constant dense<2.0> : tensor<2xbf16>
  %square_narrow = stablehlo.power %narrow, %two_narrow : tensor<2xbf16>
  %three = stablehlo.constant dense<3.0> : tensor<2xf64>
  %cube = stablehlo.power %x, %three : tensor<2xf64>
  %z = stablehlo.complex %x, %x : tensor<2xcomplex<f64>>
  %two_complex = stablehlo.constant dense<(2.0, 0.0)> : tensor<2xcomplex<f64>>
  %square_complex = stablehlo.power %z, %two_complex : tensor<2xcomplex<f64>>
  return %square, %inverse, %square_narrow, %cube, %square_complex : tensor<2xf64>, tensor<2xf64>, tensor<2xbf16>, tensor<2xf64>, tensor<2xcomplex<f64>>
}
