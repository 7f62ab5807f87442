// RUN: stablehlo-translate --interpret --split-input-file %s | FileCheck %s
// RUN: stablehlo-translate --interpret --interpreter-print-dense --split-input-file %s | FileCheck %s --check-prefix=DENSE

// CHECK:      tensor<2x2xi64> {
// CHECK-NEXT:   [
// CHECK-NEXT:     [1, 2],
// CHECK-NEXT:     [3, 4]
// CHECK-NEXT:   ]
// CHECK-NEXT: }
// CHECK-NEXT: tensor<complex<f32>> {[1.000000e+00, -2.000000e+00]}
// CHECK-NEXT: tensor<0xi1> {
// CHECK-NEXT:   []
// CHECK-NEXT: }
// DENSE{LITERAL}: dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
// DENSE: dense<(1.000000e+00,-2.000000e+00)> : tensor<complex<f32>>
// DENSE: dense<> : tensor<0xi1>
func.func @main() -> (tensor<2x2xi64>, tensor<complex<f32>>, tensor<0xi1>) {
  %0 = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  %1 = stablehlo.constant dense<(1.0, -2.0)> : tensor<complex<f32>>
  %2 = stablehlo.constant dense<> : tensor<0xi1>
  return %0, %1, %2 : tensor<2x2xi64>, tensor<complex<f32>>, tensor<0xi1>
}

// -----

// The only function runs, whatever its name; regions see the values around them, also after their last use there.
// CHECK: tensor<i32> {21}
func.func @loop() -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %step = stablehlo.constant dense<7> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %limit = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %sum = %zero) : tensor<i32>, tensor<i32>
    cond {
      %c = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      %more = stablehlo.add %sum, %step : tensor<i32>
      stablehlo.return %next, %more : tensor<i32>, tensor<i32>
    }
  return %0#1 : tensor<i32>
}

// -----

// A body that is not elementwise runs once for each position.
// CHECK: tensor<3xi32> {
// CHECK-NEXT: [1, 0, 1]
func.func @main() -> tensor<3xi32> {
  %x = stablehlo.constant dense<[5, -1, 2]> : tensor<3xi32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = "stablehlo.map"(%x) ({
    ^bb0(%a: tensor<i32>):
      %c = stablehlo.compare GT, %a, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %r = "stablehlo.if"(%c) ({
        stablehlo.return %one : tensor<i32>
      }, {
        stablehlo.return %zero : tensor<i32>
      }) : (tensor<i1>) -> tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) {dimensions = array<i64: 0>} : (tensor<3xi32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}

// -----

// A body of elementwise ops runs on vectors, scalars from around it included.
// CHECK: tensor<3xf32> {
// CHECK-NEXT: [5.000000e+00, 9.000000e+00, 2.000000e+00]
func.func @main() -> tensor<3xf32> {
  %x = stablehlo.constant dense<[5.0, -1.0, 2.0]> : tensor<3xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %nine = stablehlo.constant dense<9.0> : tensor<f32>
  %0 = "stablehlo.map"(%x) ({
    ^bb0(%a: tensor<f32>):
      %c = stablehlo.compare GT, %a, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %r = stablehlo.select %c, %a, %nine : tensor<i1>, tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
