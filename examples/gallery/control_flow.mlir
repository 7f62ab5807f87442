// Steps of the Collatz sequence until it reaches one.
func.func @main(%start: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %first = stablehlo.maximum %start, %one : tensor<i32>
  %end:2 = stablehlo.while(%n = %first, %steps = %zero) : tensor<i32>, tensor<i32>
  cond {
    %more = stablehlo.compare GT, %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %rest = stablehlo.remainder %n, %two : tensor<i32>
    %even = stablehlo.compare EQ, %rest, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %next = "stablehlo.if"(%even) ({
      %half = stablehlo.divide %n, %two : tensor<i32>
      stablehlo.return %half : tensor<i32>
    }, {
      %triple = stablehlo.multiply %n, %three : tensor<i32>
      %odd = stablehlo.add %triple, %one : tensor<i32>
      stablehlo.return %odd : tensor<i32>
    }) : (tensor<i1>) -> tensor<i32>
    %count = stablehlo.add %steps, %one : tensor<i32>
    stablehlo.return %next, %count : tensor<i32>, tensor<i32>
  }
  return %end#0, %end#1 : tensor<i32>, tensor<i32>
}
