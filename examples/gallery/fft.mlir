// The energy of a signal at each frequency.
func.func @main(%signal: tensor<16xf32>) -> tensor<9xf32> {
  %0 = stablehlo.fft %signal, type = RFFT, length = [16] : (tensor<16xf32>) -> tensor<9xcomplex<f32>>
  %1 = stablehlo.abs %0 : (tensor<9xcomplex<f32>>) -> tensor<9xf32>
  %2 = stablehlo.multiply %1, %1 : tensor<9xf32>
  return %2 : tensor<9xf32>
}
