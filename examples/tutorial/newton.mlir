// The square root of %a by Newton's method, until it changes by less than a millionth.
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %tolerance = stablehlo.constant dense<1.0e-6> : tensor<f32>
  %x, %change = stablehlo.while(%guess = %a, %difference = %a) : tensor<f32>, tensor<f32>
  cond {
    %size = stablehlo.abs %difference : tensor<f32>
    %continue = stablehlo.compare GT, %size, %tolerance : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %continue : tensor<i1>
  } do {
    %quotient = stablehlo.divide %a, %guess : tensor<f32>
    %sum = stablehlo.add %guess, %quotient : tensor<f32>
    %next = stablehlo.multiply %sum, %half : tensor<f32>
    %step = stablehlo.subtract %next, %guess : tensor<f32>
    stablehlo.return %next, %step : tensor<f32>, tensor<f32>
  }
  return %x : tensor<f32>
}
