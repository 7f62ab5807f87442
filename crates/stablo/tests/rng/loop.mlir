// An op in a loop goes on with its own counter; a later op has the next key, and a counter of its own.
func.func @main() -> (tensor<3x4xf32>, tensor<2xi32>) {
  %low = stablehlo.constant dense<0.0> : tensor<f32>
  %high = stablehlo.constant dense<1.0> : tensor<f32>
  %a = stablehlo.constant dense<0> : tensor<i32>
  %b = stablehlo.constant dense<100> : tensor<i32>
  %shape = stablehlo.constant dense<[1, 4]> : tensor<2xi64>
  %two = stablehlo.constant dense<2> : tensor<1xi64>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<3x4xf32>
  %i, %rows = stablehlo.while(%at = %a, %before = %zeros) : tensor<i32>, tensor<3x4xf32>
    cond {
      %more = stablehlo.compare LT, %at, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %row = stablehlo.rng %low, %high, %shape, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<1x4xf32>
      %after = stablehlo.dynamic_update_slice %before, %row, %at, %a : (tensor<3x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
      %next = stablehlo.add %at, %one : tensor<i32>
      stablehlo.return %next, %after : tensor<i32>, tensor<3x4xf32>
    }
  %last = stablehlo.rng %a, %b, %two, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<1xi64>) -> tensor<2xi32>
  return %rows, %last : tensor<3x4xf32>, tensor<2xi32>
}
// XLA: bf23507f bfcf33f4 3eded686 3f902e74 be721157 3f030440 3f7d0912 3f2b5fd6 be5a460a 4023d894 3fa34e5a bf90af94
// XLA: 0000003e 0000000d
