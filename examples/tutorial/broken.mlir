func.func @main(%x: tensor<2x3xf32>, %y: tensor<4x3xf32>) -> tensor<6x4xf32> {
  %0 = stablehlo.concatenate %x, %y, dim = 2 : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
  %1 = stablehlo.transpose %x, dims = [1, 1] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<6x3xf32>
}
