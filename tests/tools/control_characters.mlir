// RUN: stablo cost %s --by scope | FileCheck %s --check-prefix COST
// RUN: stablo run %s --input ones --profile 2>&1 | FileCheck %s --check-prefix PROFILE

// Names in a program cannot break lines of tables, nor colour the terminal.
// COST: evil�line�[31m
// PROFILE: evil�line�[31m
func.func @main(%x: tensor<2000xf32>) -> tensor<2000xf32> {
  %0 = stablehlo.add %x, %x : tensor<2000xf32> loc("evil\0Aline\1B[31m/add"(unknown))
  return %0 : tensor<2000xf32>
}
