// RUN: stablehlo-opt --stablehlo-refine-shapes %s | FileCheck %s

// Nothing to refine.
// CHECK: module {
// CHECK-NEXT: }
module {
}
