// RUN: stablehlo-translate --interpret %s

// The example of the specification, and XLA's default on CPU.
func.func @main() {
  %state = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
  %after, %bits = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY
      : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x2xui64>)
  check.expect_eq_const %after, dense<[1, 6]> : tensor<2xui64>
  check.expect_eq_const %bits, dense<[[9236835810183407956, 16087790271692313299],
                                      [18212823393184779219, 2658481902456610144]]> : tensor<2x2xui64>
  %next, %words = stablehlo.rng_bit_generator %state, algorithm = DEFAULT
      : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
  check.expect_eq_const %next, dense<[1, 4]> : tensor<2xui64>
  check.expect_eq_const %words, dense<[0x7D34A749, 0xA9B8BBE8, 0x7BA423D7, 0x2FB324D9, 0x6CF923FE]> : tensor<5xui32>
  // A signed state has the same bits.
  %signed = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %same, %of_signed = stablehlo.rng_bit_generator %signed, algorithm = DEFAULT
      : (tensor<2xi64>) -> (tensor<2xi64>, tensor<5xui32>)
  check.expect_eq_const %same, dense<[1, 4]> : tensor<2xi64>
  check.expect_eq %of_signed, %words : tensor<5xui32>
  func.return
}
