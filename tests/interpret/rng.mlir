// Random numbers are deterministic across runs, and different for each op and each process.
// RUN: stablo run %s > %t.1
// RUN: stablo run %s > %t.2
// RUN: diff %t.1 %t.2
// RUN: stablehlo-translate --interpret %s

func.func private @draw() -> tensor<4xf32> {
  %a = stablehlo.constant dense<0.0> : tensor<f32>
  %b = stablehlo.constant dense<1.0> : tensor<f32>
  %n = stablehlo.constant dense<4> : tensor<1xi64>
  %0 = stablehlo.rng %a, %b, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @main() -> tensor<4xf32> {
  %false = stablehlo.constant dense<false> : tensor<4xi1>
  %0 = func.call @draw() : () -> tensor<4xf32>
  %1 = func.call @draw() : () -> tensor<4xf32>
  %2 = stablehlo.compare EQ, %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq %2, %false : tensor<4xi1>
  %3:2 = "interpreter.run_parallel"() { programs = [[@draw, @draw]] } : () -> (tensor<4xf32>, tensor<4xf32>)
  %4 = stablehlo.compare EQ, %3#0, %3#1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq %4, %false : tensor<4xi1>
  return %0 : tensor<4xf32>
}
