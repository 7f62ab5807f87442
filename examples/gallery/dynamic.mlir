// The mean of each column of a batch whose size is not known: refine it by its batch.
func.func @main(%x: tensor<?x3xf32>) -> tensor<3xf32> {
  %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %sums = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<?x3xf32>, tensor<f32>) -> tensor<3xf32>
  %rows = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %count = stablehlo.convert %rows : (tensor<i32>) -> tensor<f32>
  %counts = stablehlo.broadcast_in_dim %count, dims = [] : (tensor<f32>) -> tensor<3xf32>
  %means = stablehlo.divide %sums, %counts : tensor<3xf32>
  return %means : tensor<3xf32>
}
