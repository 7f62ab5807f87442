// What `check` refuses and the verifier accepts is an error of the run, with the same words.

// RUN: not stablo run %s --input zeros 2>&1 | FileCheck %s
// RUN: not stablo run %s --input zeros --engine reference 2>&1 | FileCheck %s

func.func @main(%state: tensor<4xi32>) -> tensor<3xui32> {
  // CHECK: :[[#@LINE+1]]:12: error[rng_bit_generator_i2]: initial_state must be a vector of ui64; found tensor<4xi32>
  %0, %1 = stablehlo.rng_bit_generator %state, algorithm = DEFAULT : (tensor<4xi32>) -> (tensor<4xi32>, tensor<3xui32>)
  return %1 : tensor<3xui32>
}
