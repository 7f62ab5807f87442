// Results are printed whole, however large.
// RUN: stablehlo-translate --interpret --interpreter-print-dense %s | FileCheck %s
// CHECK-NOT: elided
// CHECK: dense<"0x{{[0-9A-F]+}}"> : tensor<300xi8>
func.func @main() -> tensor<300xi8> {
  %0 = stablehlo.iota dim = 0 : tensor<300xi8>
  return %0 : tensor<300xi8>
}
