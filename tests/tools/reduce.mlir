// The smallest program that still passes a test.
// RUN: stablo reduce %s --test "grep -q stablehlo.tanh" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: FileCheck %s --input-file %t.mlir
// RUN: stablo check %t.mlir
// RUN: stablo reduce - --test "grep -q stablehlo.tanh {}" < %s | diff - %t.mlir
// RUN: stablo reduce %s --test "grep -q 'tanh.*[^1]xf32'" | FileCheck %s --check-prefix=SIZE
// RUN: stablo reduce %s --test "grep -q stablehlo.tanh" --max-tests 1 2>&1 | FileCheck %s --check-prefix=LIMIT
// RUN: not stablo reduce %s --test false -o %t.none.mlir 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not cat %t.none.mlir
// RUN: not stablo reduce %s 2>&1 | FileCheck %s --check-prefix=USAGE

// The module, 2 functions, 4 and 3 ops in them, and 3 and 4 in the loop.
// REPORT: reduced from 17 to 5 ops by {{[0-9]+}} tests
// CHECK: func.func @main() -> tensor<1x1xf32> {
// CHECK-NEXT: stablehlo.constant
// CHECK-NEXT: stablehlo.tanh
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK-NEXT: }
// SIZE: stablehlo.tanh %{{.*}} : tensor<1x2xf32>
// LIMIT: by 1 test; --max-tests ended it
// NOTHING: error: the program itself does not pass the test `false`
// USAGE: --test <COMMAND>
func.func @main(%x: tensor<8x6xf32>, %y: tensor<8x6xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>) {
  %0 = stablehlo.add %x, %y : tensor<8x6xf32>
  %1 = call @f(%0) : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %2 = stablehlo.multiply %1, %y : tensor<8x6xf32>
  return %2, %0 : tensor<8x6xf32>, tensor<8x6xf32>
}

func.func private @f(%x: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<8x6xf32>
  cond {
    %four = stablehlo.constant dense<4> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.tanh %v : tensor<8x6xf32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<8x6xf32>
  }
  return %0#1 : tensor<8x6xf32>
}
