// RUN: stablo run %s --explain-plan | FileCheck %s --check-prefix=DYNAMIC
// RUN: stablo run %s --explain-plan --input "dense<2.0> : tensor<4000x5xf32>" | FileCheck %s --check-prefix=STATIC
// RUN: stablo run %s --input "dense<2.0> : tensor<2x5xf32>" --repeat 3 | FileCheck %s

// The steps of the first run, op by op.
// DYNAMIC: kernel stablehlo.add {{.*}} : ?x5xf32
// DYNAMIC: kernel stablehlo.multiply {{.*}} : ?x5xf32

// Those of later runs on 4000 rows.
// STATIC: loop of 2 ops : 4000x5xf32
// STATIC-NEXT: v0 = read
// STATIC-NEXT: v1 = add v0, v0
// STATIC-NEXT: v2 = multiply v1, v0 -> result 0
// STATIC-NOT: kernel

// CHECK: output 0:
// CHECK-NEXT: 8.0, 8.0, 8.0, 8.0, 8.0
func.func @main(%x: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %0 = stablehlo.add %x, %x : tensor<?x5xf32>
  %1 = stablehlo.multiply %0, %x : tensor<?x5xf32>
  return %1 : tensor<?x5xf32>
}
