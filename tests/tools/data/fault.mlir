// As base.mlir, but for a limit of 9 in the loop, names, and the order of ops.
// RUN: stablo check %s
func.func private @f(%a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %start = stablehlo.constant dense<0> : tensor<i32>
  %loop:2 = stablehlo.while(%i = %start, %v = %a) : tensor<i32>, tensor<3xf32>
  cond {
    %end = stablehlo.constant dense<3> : tensor<i32>
    %go = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %limit = stablehlo.constant dense<9.0> : tensor<3xf32>
    %twice = stablehlo.add %v, %v : tensor<3xf32>
    %next = stablehlo.minimum %twice, %limit : tensor<3xf32>
    %step = stablehlo.constant dense<1> : tensor<i32>
    %count = stablehlo.add %i, %step : tensor<i32>
    stablehlo.return %count, %next : tensor<i32>, tensor<3xf32>
  }
  %rest = stablehlo.subtract %loop#1, %b : tensor<3xf32>
  return %rest : tensor<3xf32>
}

func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %back = stablehlo.negate %y : tensor<3xf32>
  %sum = stablehlo.add %x, %y : tensor<3xf32>
  %result = call @f(%sum, %back) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %result : tensor<3xf32>
}
