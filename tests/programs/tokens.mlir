// Tokens need no input.
// RUN: stablo run %s --input iota | FileCheck %s
// RUN: not stablo run %s 2>&1 | FileCheck %s --check-prefix=COUNT

// CHECK: output 0: a token
// CHECK-NEXT: output 1: tensor<2xf32>
// CHECK-NEXT: [0.0, 1.0]
// COUNT: @main takes 1 input, none were given
// COUNT-NEXT: argument 1 (`a`): tensor<2xf32>
func.func @main(%t: !stablehlo.token, %a: tensor<2xf32>) -> (!stablehlo.token, tensor<2xf32>) {
  return %t, %a : !stablehlo.token, tensor<2xf32>
}
