// Sharding rules, data flow edges and records of propagation: what Shardy's verifier refuses is
// refused.
// RUN: stablehlo-opt %s -split-input-file -verify-diagnostics
func.func @valid(%a: tensor<4x2xf32>) -> tensor<8xf32> {
  %0 = stablehlo.reshape %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([ij]) {i=4, j=2} need_replication={j} blocked_propagation={i, j}>} : (tensor<4x2xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// -----
func.func @unused(%a: tensor<4xf32>) {
  // expected-error @+1 {{the factor j of size 2 is in no dimension of an operand or a result}}
  %0 = stablehlo.abs %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=4, j=2}>} : tensor<4xf32>
  return
}
// -----
func.func @repeated(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{operand 0 has the factor i twice}}
  %0 = stablehlo.abs %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i, i])->([i, j]) {i=4, j=4}>} : tensor<4x4xf32>
  return
}
// -----
func.func @unsorted(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{the factors of permutation must be sorted, each once; found i after j}}
  %0 = stablehlo.abs %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=4} permutation={j, i}>} : tensor<4x4xf32>
  return
}
// -----
func.func @twice(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{the factors of need_replication must be sorted, each once; found i after i}}
  %0 = stablehlo.abs %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=4} need_replication={i, i}>} : tensor<4x4xf32>
  return
}
// -----
func.func @reduced(%a: tensor<4xf32>) {
  // expected-error @+1 {{the factor i is reduced, so no dimension of a result may have it}}
  %0 = stablehlo.abs %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=4} reduction={i}>} : tensor<4xf32>
  return
}
// -----
func.func @one(%a: tensor<4xf32>) {
  // expected-error @+1 {{operand 0: the factor j of size 1 must be alone in its dimension}}
  %0 = stablehlo.abs %a {sdy.sharding_rule = #sdy.op_sharding_rule<([ij])->([ij]) {i=4, j=1}>} : tensor<4xf32>
  return
}
// -----
func.func @dynamic(%a: tensor<?xf32>) {
  // expected-error @+1 {{operand 0: a sharding rule needs a type with static shape, found tensor<?xf32>}}
  %0 = stablehlo.abs %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=4}>} : tensor<?xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2]>
// expected-error @+1 {{dimension 0 has the priority 1, but no axes and is closed}}
func.func private @priority(tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}p1]>})
// -----
sdy.mesh @mesh = <["x"=2]>
// expected-error @+1 {{a value without rank can have no sharding, found tensor<*xf32>}}
func.func private @unranked(tensor<*xf32> {sdy.sharding = #sdy.sharding<@mesh, []>})
// -----
// expected-error @+1 {{expected a priority such as p1, without leading zeros, found `p01`}}
func.func private @zeros(tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}p01]>})
// -----
sdy.mesh @mesh = <["x"=2]>
func.func @two_values(%a: tensor<4xf32>) {
  // expected-error @+1 {{the body returns 2 values for 1 result}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<2xf32>) {
    sdy.return %b, %b : tensor<2xf32>, tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2]>
sdy.mesh @other = <["x"=2, "y"=2]>
func.func @two_meshes(%a: tensor<4xf32>) {
  // expected-error @+1 {{all shardings must have one mesh, or the empty one}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@other, [{"x"}]>] manual_axes={"x"} (%b: tensor<2xf32>) {
    sdy.return %b : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
// Device ids that count up are left out; an edge may be on a result of a manual computation; the empty
// mesh goes with any.
sdy.mesh @mesh = <["x"=2, "y"=2], device_ids=[0, 1, 2, 3]>
sdy.mesh @empty = <[]>
func.func @accepted(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@empty, [{}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<4xf32>) {
    %c = stablehlo.slice %b [0:2] : (tensor<4xf32>) -> tensor<2xf32>
    sdy.return %c : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"x"}]> : tensor<4xf32>
  return %1 : tensor<4xf32>
}
// -----
func.func @shared(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{the operand must have no other use}}
  %0 = sdy.data_flow_edge %a : tensor<4xf32>
  return %a : tensor<4xf32>
}
// -----
func.func @not_of_function(%a: tensor<4xf32>) {
  %0 = stablehlo.abs %a : tensor<4xf32>
  // expected-error @+1 {{the operand must be an argument of a function or a result of a call; it belongs to stablehlo.abs}}
  %1 = sdy.func_data_flow_edge %0 : tensor<4xf32>
  return
}
// -----
func.func @barrier(%a: tensor<4xf32>) {
  // expected-error @+1 {{allowed_direction must be NONE, FORWARD or BACKWARD; BOTH blocks nothing}}
  %0 = sdy.propagation_barrier %a allowed_direction=BOTH : tensor<4xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2]>
func.func @edges(%a: tensor<4xf32>) {
  // expected-error @+1 {{operand-3 must be one of the 1 operands of the op}}
  %0 = stablehlo.abs %a {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"x" = result-0 -> [operand-3]}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<4xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2]>
func.func @introduced(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  // expected-error @+1 {{the result becomes unreduced along "x", which must be by sum; found max}}
  %0 = sdy.reshard %a <@mesh, [{}], unreduced=max{"x"}> : tensor<4xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2]>
func.func @completed(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}) {
  // expected-error @+1 {{the operand is unreduced along "x" by max; it cannot be reduced by sum}}
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<4xf32>
  return
}
