// Random bits of the generator Threefry, as numbers from 0 to 1.
func.func @main(%state: tensor<2xui64>) -> (tensor<2xui64>, tensor<8xf32>) {
  %next, %bits = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
  %eight = stablehlo.constant dense<8> : tensor<8xui32>
  %scale = stablehlo.constant dense<5.9604645E-8> : tensor<8xf32>
  %high = stablehlo.shift_right_logical %bits, %eight : tensor<8xui32>
  %whole = stablehlo.convert %high : (tensor<8xui32>) -> tensor<8xf32>
  %uniform = stablehlo.multiply %whole, %scale : tensor<8xf32>
  return %next, %uniform : tensor<2xui64>, tensor<8xf32>
}
