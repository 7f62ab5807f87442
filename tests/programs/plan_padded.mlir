// RUN: stablo run %s | FileCheck %s
// RUN: stablo run %s --threads 2 | FileCheck %s
// RUN: stablo run %s --engine reference | FileCheck %s
// RUN: stablo run %s --explain-plan | FileCheck %s --check-prefix=PLAN

// Every second element of many is read where it is.
// PLAN: stablehlo.iota : 20000xf32
// PLAN-NEXT: loop of 3 ops : 10000xf32
// PLAN-NEXT: v0 = view
// PLAN-NEXT: v1 = view
// PLAN-NEXT: v2 = add

// 19998 + 19999.
// CHECK: output 0:
// CHECK-NEXT: [39997.0]

// A padding with nothing is no step, and zeros after the operand of a Fourier transform are read
// from nowhere.
// PLAN-NOT: pad
// PLAN-NOT: convert
// PLAN: stablehlo.fft
// PLAN: loop of 2 ops : 5xcomplex<f32>
// PLAN: stablehlo.fft

// Of 0, 1 and 2, and five zeros.
// CHECK: output 1:
// CHECK-NEXT: [(3.0, 0.0), (0.70710677, -2.7071068), (-2.0, -1.0), (-0.70710677, 1.2928932), (1.0, 0.0)]

// And back, times two, but for rounding errors.
// CHECK: output 2:
// CHECK-NEXT: , 2.0, 4.0,
func.func @main() -> (tensor<1xf32>, tensor<5xcomplex<f32>>, tensor<8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.convert %zero : (tensor<i32>) -> tensor<f32>
  %no = stablehlo.convert %zero : (tensor<i32>) -> tensor<complex<f32>>
  %x = stablehlo.iota dim = 0 : tensor<20000xf32>
  %even = stablehlo.slice %x [0:20000:2] : (tensor<20000xf32>) -> tensor<10000xf32>
  %odd = stablehlo.slice %x [1:20000:2] : (tensor<20000xf32>) -> tensor<10000xf32>
  %sum = stablehlo.add %even, %odd : tensor<10000xf32>
  %last = stablehlo.slice %sum [9999:10000] : (tensor<10000xf32>) -> tensor<1xf32>
  %first = stablehlo.slice %x [0:3] : (tensor<20000xf32>) -> tensor<3xf32>
  %padded = stablehlo.pad %first, %none, low = [0], high = [5], interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<8xf32>
  %there = stablehlo.fft %padded, type = RFFT, length = [8] : (tensor<8xf32>) -> tensor<5xcomplex<f32>>
  %same = stablehlo.pad %there, %no, low = [0], high = [0], interior = [0] : (tensor<5xcomplex<f32>>, tensor<complex<f32>>) -> tensor<5xcomplex<f32>>
  %twice = stablehlo.add %same, %same : tensor<5xcomplex<f32>>
  %back = stablehlo.fft %twice, type = IRFFT, length = [8] : (tensor<5xcomplex<f32>>) -> tensor<8xf32>
  return %last, %there, %back : tensor<1xf32>, tensor<5xcomplex<f32>>, tensor<8xf32>
}
