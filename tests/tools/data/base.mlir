// The program that those of the tests of `diff` and `bisect` differ from.
// RUN: stablo check %s
func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %x, %y : tensor<3xf32>
  %1 = stablehlo.negate %y : tensor<3xf32>
  %2 = call @double_until_large(%0, %1) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %2 : tensor<3xf32>
}

func.func private @double_until_large(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<3xf32>
  cond {
    %three = stablehlo.constant dense<3> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.add %v, %v : tensor<3xf32>
    %eight = stablehlo.constant dense<8.0> : tensor<3xf32>
    %3 = stablehlo.minimum %2, %eight : tensor<3xf32>
    stablehlo.return %1, %3 : tensor<i32>, tensor<3xf32>
  }
  %4 = stablehlo.subtract %0#1, %y : tensor<3xf32>
  return %4 : tensor<3xf32>
}
