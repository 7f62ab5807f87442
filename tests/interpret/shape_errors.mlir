// Constraints on shapes that do not hold end a run with their message.
// RUN: stablehlo-translate --interpret --split-input-file --verify-diagnostics %s

func.func @main() {
  %s = shape.const_shape [2, 3] : tensor<2xindex>
  %t = shape.const_shape [4] : tensor<1xindex>
  // expected-error @+1 {{[[2, 3], [4]] cannot be broadcast together}}
  %w = shape.cstr_broadcastable %s, %t : tensor<2xindex>, tensor<1xindex>
  return
}

// -----

func.func @main() {
  %false = arith.constant false
  // expected-error @+1 {{sizes must be even}}
  %w = shape.cstr_require %false, "sizes must be even"
  return
}

// -----

func.func @main() {
  %holds = stablehlo.constant dense<false> : tensor<i1>
  %size = stablehlo.constant dense<7> : tensor<i32>
  // expected-error @+1 {{shape assertion failed: the size 7 must be even}}
  stablehlo.custom_call @shape_assertion(%holds, %size) {error_message = "the size {0} must be even", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  return
}

// -----

func.func @main() {
  %true = arith.constant true
  cf.assert %true, "true is true"
  %false = arith.constant false
  // expected-error @+1 {{false is true}}
  cf.assert %false, "false is true"
  return
}
