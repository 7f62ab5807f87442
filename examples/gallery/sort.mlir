// The order that sorts a vector: its values and their former positions.
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xi32>) {
  %positions = stablehlo.iota dim = 0 : tensor<8xi32>
  %sorted:2 = "stablehlo.sort"(%x, %positions) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %less = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<8xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  return %sorted#0, %sorted#1 : tensor<8xf32>, tensor<8xi32>
}
