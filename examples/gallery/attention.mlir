// Attention of four queries to six keys: a softmax of scaled products.
func.func @main(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x8xf32>) -> tensor<4x8xf32> {
  %scale = stablehlo.constant dense<0.353553385> : tensor<4x6xf32>
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %products = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
  %scores = stablehlo.multiply %products, %scale : tensor<4x6xf32>
  %highest = stablehlo.reduce(%scores init: %lowest) applies stablehlo.maximum across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %rows = stablehlo.broadcast_in_dim %highest, dims = [0] : (tensor<4xf32>) -> tensor<4x6xf32>
  %shifted = stablehlo.subtract %scores, %rows : tensor<4x6xf32>
  %powers = stablehlo.exponential %shifted : tensor<4x6xf32>
  %sums = stablehlo.reduce(%powers init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %totals = stablehlo.broadcast_in_dim %sums, dims = [0] : (tensor<4xf32>) -> tensor<4x6xf32>
  %weights = stablehlo.divide %powers, %totals : tensor<4x6xf32>
  %result = stablehlo.dot_general %weights, %v, contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return %result : tensor<4x8xf32>
}
