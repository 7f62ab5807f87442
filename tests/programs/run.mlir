// RUN: stablo run %s --input "dense<[1.0, 2.5]> : tensor<2xf32>" --input iota | FileCheck %s
// RUN: stablo run %s --input "dense<1.0>" --input zeros | FileCheck %s --check-prefix=SPLAT
// RUN: stablo run %s --entry big --input iota | FileCheck %s --check-prefix=BIG
// RUN: stablo run %s --input zeros --input iota --output-dir %t
// RUN: stablo run %s --input %t/output_0.npy --input %t/output_1.npy --timings %t.json | FileCheck %s --check-prefix=AGAIN
// RUN: FileCheck %s --check-prefix=TIMINGS --input-file %t.json
// RUN: not stablo run %s 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not stablo run %s --input zeros --input "dense<0> : tensor<3xi4>" 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not stablo run %s --input %t/output_1.npy --input zeros 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not stablo run %s --input nowhere.npy --input zeros 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not stablo run %s --entry nothing 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not stablo run %s --engine steam 2>&1 | FileCheck %s --check-prefix=ENGINE
// RUN: not stablo run %S 2>&1 | FileCheck %s --check-prefix=DIRECTORY

// CHECK: output 0: tensor<2xf32>
// CHECK-NEXT: [2.0, 5.0]
// CHECK-NEXT: output 1: tensor<2x2xi4>
// CHECK-NEXT: {{\[}}[0, 1],
// CHECK-NEXT: [2, 3]]
// SPLAT: [2.0, 2.0]
// BIG: tensor<100xf32>
// BIG-NEXT: [0.0, 1.0, 2.0, …, 97.0, 98.0, 99.0]
// BIG-NEXT: min 0.0, max 99.0, mean 49.5, standard deviation 28.86607
// AGAIN: [0.0, 0.0]
// TIMINGS: "compile_ms":{{.*}}"execute_ms":[{{.*}}],"parse_ms":{{.*}}"verify_ms"
// COUNT: @main takes 2 inputs, none were given
// COUNT-NEXT: argument 0 (`x`): tensor<2xf32>
// COUNT-NEXT: argument 1 (`y`): tensor<2x2xi4>
// SHAPE: argument 1 (`y`) of @main is a tensor<2x2xi4>, given `dense<0> : tensor<3xi4>`: this is a tensor<3xi4>
// TYPE: argument 0 (`x`) of @main is a tensor<2xf32>{{.*}} elements of NumPy type `i1`; elements of type f32 are stored as `f4`
// MISSING: cannot read nowhere.npy
// ENTRY: there is no function @nothing to run; the module has @main, @big
// ENGINE: steam
// DIRECTORY: is a directory
func.func @main(%x: tensor<2xf32>, %y: tensor<2x2xi4>) -> (tensor<2xf32>, tensor<2x2xi4>) {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  return %0, %y : tensor<2xf32>, tensor<2x2xi4>
}
func.func @big(%x: tensor<100xf32>) -> tensor<100xf32> {
  return %x : tensor<100xf32>
}
