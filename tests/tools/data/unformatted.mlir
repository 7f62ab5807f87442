// Kept.
// RUN: stablo check %s
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %y = "stablehlo.abs"(%x) {note = "a // \"b\""} : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32> // Lost.
}
