// RUN: stablo run %s | FileCheck %s
// RUN: stablo run %s --engine reference | FileCheck %s
// RUN: stablo run %s --explain-plan | FileCheck %s --check-prefix=PLAN

// Angles of a loop, for some of which machine code has the function only of smaller ones, and of
// vectors with such elements in both halves.

// CHECK: output 0:
// CHECK-NEXT: [0.47942555, 0.9641303, 0.79116344, 0.9727536, {{-?}}NaN, 0.9092974]
// CHECK: output 1:
// CHECK-NEXT: [0.87758255, -0.2654294, -0.6116048, 0.23184146, {{-?}}NaN, -0.41614684]
// CHECK: output 2:
// CHECK-NEXT: [0.5463025, -3.6323416, -1.2935861, 4.1957707, {{-?}}NaN, -2.1850398]
// CHECK: output 3:
// CHECK-NEXT: [0.47942555, 0.9641303, 0.79116344, 0.9727536, {{-?}}NaN, 0.9092974]
// PLAN: block of
func.func @main() -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<i32>) {
  %angles = stablehlo.constant dense<[0.5, 3.0e7, -1.0e30, 1048577.0, 0x7F800000, 2.0]> : tensor<6xf32>
  %zeros = stablehlo.constant dense<0.0> : tensor<6xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %six = stablehlo.constant dense<6> : tensor<i32>
  %all:5 = stablehlo.while(%i = %zero, %sines = %zeros, %cosines = %zeros, %tangents = %zeros, %rounds = %zero) : tensor<i32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<i32>
    cond {
      %c = stablehlo.compare LT, %i, %six : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %x = stablehlo.dynamic_slice %angles, %i, sizes = [1] : (tensor<6xf32>, tensor<i32>) -> tensor<1xf32>
      %sine = stablehlo.sine %x : tensor<1xf32>
      %cosine = stablehlo.cosine %x : tensor<1xf32>
      %tangent = stablehlo.tan %x : tensor<1xf32>
      %s = stablehlo.dynamic_update_slice %sines, %sine, %i : (tensor<6xf32>, tensor<1xf32>, tensor<i32>) -> tensor<6xf32>
      %k = stablehlo.dynamic_update_slice %cosines, %cosine, %i : (tensor<6xf32>, tensor<1xf32>, tensor<i32>) -> tensor<6xf32>
      %t = stablehlo.dynamic_update_slice %tangents, %tangent, %i : (tensor<6xf32>, tensor<1xf32>, tensor<i32>) -> tensor<6xf32>
      %next = stablehlo.add %i, %one : tensor<i32>
      %more = stablehlo.add %rounds, %one : tensor<i32>
      stablehlo.return %next, %s, %k, %t, %more : tensor<i32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<i32>
    }
  %vector = stablehlo.sine %angles : tensor<6xf32>
  return %all#1, %all#2, %all#3, %vector, %all#4 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<i32>
}
