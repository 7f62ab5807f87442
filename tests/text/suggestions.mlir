// Misspelled names, names of other systems, and values that are not visible.
// RUN: stablehlo-opt %s -split-input-file -verify-diagnostics
func.func private @helper(tensor<2xf32>) -> tensor<2xf32>
func.func @ops(%input: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+2 {{unknown op `add`: its name lacks a dialect}}
  // expected-help @+1 {{did you mean `stablehlo.add`?}}
  %0 = add %input, %input : tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @dialect(%input: tensor<2xf32>) {
  // expected-error @+2 {{unknown op `stablhlo.abs`: there is no dialect of its name}}
  // expected-help @+1 {{did you mean `stablehlo.abs`?}}
  %0 = stablhlo.abs %input : tensor<2xf32>
  return
}
// -----
func.func @value(%input: tensor<2xf32>) {
  // expected-error @+2 {{the value `%inptu` is used but not defined}}
  // expected-help @+1 {{did you mean `%input`?}}
  %0 = stablehlo.abs %inptu : tensor<2xf32>
  return
}
// -----
func.func private @helper(tensor<2xf32>)
func.func @function(%input: tensor<2xf32>) {
  // expected-error @+2 {{there is no function @helpr to call}}
  // expected-help @+1 {{did you mean @helper?}}
  call @helpr(%input) : (tensor<2xf32>) -> ()
  return
}
// -----
// expected-error @+2 {{expected a type, found `float32`}}
// expected-help @+1 {{did you mean `f32`?}}
func.func private @type(tensor<2xfloat32>)
// -----
// expected-error @+2 {{expected a type, found `uint8`}}
// expected-help @+1 {{did you mean `ui8`?}}
func.func private @type(tensor<2xuint8>)
// -----
// expected-error @+2 {{expected a type, found `tesnor`}}
// expected-help @+1 {{did you mean `tensor`?}}
func.func private @type(tesnor<2xf32>)
// -----
func.func @other_region(%p: tensor<i1>, %a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.if"(%p) ({
    // expected-note @+1 {{defined here}}
    %x = stablehlo.abs %a : tensor<2xf32>
    stablehlo.return %x : tensor<2xf32>
  }, {
    stablehlo.return %a : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  // expected-error @+1 {{the value `%x` is not visible here: it belongs to another region}}
  return %x : tensor<2xf32>
}
// -----
func.func @order(%a: tensor<2xf32>) {
  // expected-error @+1 {{operand 0 of `stablehlo.abs` is used before it is defined}}
  %0 = stablehlo.abs %1 : tensor<2xf32>
  // expected-note @+1 {{defined here}}
  %1 = stablehlo.abs %a : tensor<2xf32>
  return
}
// -----
func.func @keyword(%a: tensor<2x2xf32>) {
  // expected-error @+2 {{expected `precision` or `algorithm`, found `precison`}}
  // expected-help @+1 {{did you mean `precision`?}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], precison = [DEFAULT] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}
// -----
func.func @abbreviation(%a: tensor<2xf32>) {
  // expected-error @+2 {{dialect `stablehlo` has no op `exp`}}
  // expected-help @+1 {{did you mean `stablehlo.exponential`?}}
  %0 = stablehlo.exp %a : tensor<2xf32>
  return
}
// -----
func.func @abbreviation_that_is_like_another_name(%a: tensor<2xf32>) {
  // expected-error @+2 {{dialect `stablehlo` has no op `max`}}
  // expected-help @+1 {{did you mean `stablehlo.maximum`?}}
  %0 = stablehlo.max %a, %a : tensor<2xf32>
  return
}
// -----
func.func @nothing_is_like_it(%a: tensor<2xf32>) {
  // expected-error @+1 {{dialect `stablehlo` has no op `frobnicate`}}
  %0 = stablehlo.frobnicate %a : tensor<2xf32>
  return
}
// -----
func.func @literal() {
  // expected-error @+2 {{a value of type f32 needs a decimal point, or hexadecimal bits}}
  // expected-help @+1 {{did you mean `2.0`?}}
  %0 = stablehlo.constant dense<2> : tensor<f32>
  return
}
// -----
func.func @infinity() {
  // expected-error @+2 {{infinities and NaNs are written as their bits}}
  // expected-help @+1 {{did you mean `0xFF800000`?}}
  %0 = stablehlo.constant dense<[1.0, -inf]> : tensor<2xf32>
  return
}
// -----
func.func @nan() {
  // expected-error @+2 {{infinities and NaNs are written as their bits}}
  // expected-help @+1 {{did you mean `0x7E00`?}}
  %0 = stablehlo.constant dense<NaN> : tensor<f16>
  return
}
// -----
func.func @boolean() {
  // expected-error @+2 {{expected `true` or `false`}}
  // expected-help @+1 {{did you mean `true`?}}
  %0 = stablehlo.constant dense<True> : tensor<i1>
  return
}
// -----
func.func @scalar() {
  // expected-error @+2 {{a number cannot have type tensor<f32>}}
  // expected-help @+1 {{did you mean `dense<-1.5>`?}}
  %0 = stablehlo.constant -1.5 : tensor<f32>
  return
}
// -----
func.func @no_percent(%a: tensor<2xf32>) {
  // expected-error @+2 {{names of values begin with `%`}}
  // expected-help @+1 {{did you mean `%r`?}}
  r = stablehlo.abs %a : tensor<2xf32>
  return
}
// -----
func.func @attribute(%a: tensor<2xf32>) -> tensor<4xf32> {
  // expected-error @+2 {{`stablehlo.concatenate` needs the attribute `dimension`}}
  // expected-help @+1 {{`dimensoin` has no meaning here; did you mean `dimension`?}}
  %0 = "stablehlo.concatenate"(%a, %a) {dimensoin = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
