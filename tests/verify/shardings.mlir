// Shardings of arguments, results and ops, and shards of manual computations.
// RUN: stablehlo-opt %s -split-input-file -verify-diagnostics
sdy.mesh @mesh = <["x"=2]>
// expected-error @+1 {{`sdy.sharding` of argument 0: there is no mesh @mehs}}
func.func private @unknown_mesh(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mehs, [{"x"}]>}) {
  return
}
// -----
sdy.mesh @mesh = <["x"=2]>
// expected-error @+1 {{`sdy.sharding` of argument 1: the mesh has no axis "y"}}
func.func @unknown_axis(%a: tensor<4xf32>, %b: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  return
}
// -----
sdy.mesh @mesh = <["x"=2]>
// expected-error @+1 {{`sdy.sharding` of result 0: a sharding of 2 dimensions for a value of type tensor<4xf32>}}
func.func @rank(%a: tensor<4xf32>) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  return %a : tensor<4xf32>
}
// -----
sdy.mesh @mesh = <["x"=2]>
// expected-error @+1 {{`sdy.sharding` of argument 0: must be a #sdy.sharding, found "x"}}
func.func private @kind(tensor<4xf32> {sdy.sharding = "x"})
// -----
sdy.mesh @mesh = <["x"=2]>
func.func @kind_of_op(%a: tensor<4xf32>) {
  // expected-error @+1 {{`sdy.sharding` must be a #sdy.sharding_per_value, found #sdy.sharding<@mesh, [{"x"}]>}}
  %0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>} : tensor<4xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2]>
func.func @argument_of_body(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{argument 0 must have the type tensor<2x4xf32>, which follows from the sharding and the operand; found tensor<4x4xf32>}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x"} (%b: tensor<4x4xf32>) {
    sdy.return %b : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2]>
func.func @result_of_body(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{result 0 must have the type tensor<4x4xf32>, which follows from the sharding and the value that the body returns; found tensor<2x4xf32>}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<2x4xf32>) {
    sdy.return %b : tensor<2x4xf32>
  } : (tensor<4x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2]>
// Axes that are not manual split nothing in the body.
func.func @free_axes(%a: tensor<4x?xf32>, %t: !stablehlo.token) -> tensor<4x?xf32> {
  %0:2 = sdy.manual_computation(%t, %a) in_shardings=[<@mesh, []>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, []>, <@mesh, [{"x"}, {}]>] manual_axes={} (%u: !stablehlo.token, %b: tensor<4x?xf32>) {
    sdy.return %u, %b : !stablehlo.token, tensor<4x?xf32>
  } : (!stablehlo.token, tensor<4x?xf32>) -> (!stablehlo.token, tensor<4x?xf32>)
  return %0#1 : tensor<4x?xf32>
}
// -----
func.func @factors(%a: tensor<4xf32>) {
  // expected-error @+1 {{a factor can be in only one of reduction, need_replication and permutation}}
  %0 = stablehlo.custom_call @f(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([j]) {i=4, j=4} reduction={i} need_replication={i}, custom>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2]>
func.func @manual_axes(%a: tensor<4xf32>) {
  // expected-error @+1 {{manual_axes: the mesh has no axis "y"}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"y"} (%b: tensor<4xf32>) {
    sdy.return %b : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}
