// A convolution of an image with two filters, and a rectifier.
func.func @main(%image: tensor<1x8x8x1xf32>, %filters: tensor<3x3x1x2xf32>) -> tensor<1x8x8x2xf32> {
  %0 = stablehlo.convolution(%image, %filters) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x1xf32>, tensor<3x3x1x2xf32>) -> tensor<1x8x8x2xf32>
  %zero = stablehlo.constant dense<0.000000e+00> : tensor<1x8x8x2xf32>
  %1 = stablehlo.maximum %0, %zero : tensor<1x8x8x2xf32>
  return %1 : tensor<1x8x8x2xf32>
}
