func.func @main(%a0: tensor<1936xf32>, %a1: tensor<1936xf32>) -> tensor<1936xf32> {
 %0 = stablehlo.minimum %a0, %a1 : tensor<1936xf32>
 return %0 : tensor<1936xf32>
}