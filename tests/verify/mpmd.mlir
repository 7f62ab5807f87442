// Programs over several meshes: what Shardy's verifier of mpmd refuses is refused.
// RUN: stablehlo-opt %s -split-input-file -verify-diagnostics
#m = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["y"=4]>>>
func.func @valid(%a: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>, memory_kind="pinned_host"> attributes {topology = #m} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"(1)], stage=0> (%a) (%b: tensor<4x8xf32>) {
    mpmd.return %b : tensor<4x8xf32>
  } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
  %1 = mpmd.transfer %0 : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>, memory_kind="pinned_host">
  return %1 : !mpmd.mesh_tensor<"m2", tensor<4x8xf32>, memory_kind="pinned_host">
}
// -----
// expected-error @+1 {{a mesh has ranked tensors only, found tensor<*xf32>}}
func.func private @unranked(!mpmd.mesh_tensor<"m1", tensor<*xf32>>)
// -----
func.func @no_mesh(%a: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) attributes {topology = #mpmd.topology<<"m2" : <["x"=2]>>>} {
  // expected-error @+1 {{the topology of @no_mesh has no mesh "m1"; it has "m2"}}
  %0 = mpmd.unassign %a : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> tensor<4xf32>
  return
}
// -----
func.func @no_topology(%a: tensor<4xf32>) {
  // expected-error @+1 {{the function @no_topology must have the attribute `topology`, a #mpmd.topology; found none}}
  %0 = mpmd.assign %a : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
  return
}
// -----
func.func @uneven(%a: !mpmd.mesh_tensor<"m1", tensor<3xf32>, sharding=<@mesh, [{"x"}]>>) attributes {topology = #mpmd.topology<<"m1" : <["x"=2]>>>} {
  // expected-error @+1 {{argument 0: dimension 0 of size 3 cannot be split into 2 equal shards}}
  mpmd.fragment<mesh="m1", origin=[]> (%a) (%b: tensor<3xf32>) {
    mpmd.return
  } : (!mpmd.mesh_tensor<"m1", tensor<3xf32>, sharding=<@mesh, [{"x"}]>>) -> ()
  return
}
// -----
func.func @other_mesh(%a: !mpmd.mesh_tensor<"m2", tensor<3xf32>>) attributes {topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>} {
  // expected-error @+1 {{argument 0: the value must be on the mesh "m1" of the op; found "m2"}}
  mpmd.fragment<mesh="m1", origin=[]> (%a) (%b: tensor<3xf32>) {
    mpmd.return
  } : (!mpmd.mesh_tensor<"m2", tensor<3xf32>>) -> ()
  return
}
// -----
func.func @memory_kind(%a: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) attributes {topology = #mpmd.topology<<"m1" : <["x"=2]>>>} {
  // expected-error @+1 {{the memory kind must be "device" or "pinned_host"; found "disk"}}
  %0 = mpmd.transfer %a : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>, memory_kind="disk">
  return
}
// -----
func.func @iterations(%a: tensor<4xf32>) {
  // expected-error @+1 {{unroll_factor must divide the 3 iterations; found 2}}
  %0 = mpmd.for (%a) {iterations = 3 : ui32, unroll_factor = 2 : ui32} (%b: tensor<4xf32>, %index: tensor<ui32>) {
    mpmd.return %b : tensor<4xf32>
  } : tensor<4xf32>
  return
}
// -----
func.func @reduce(%a: tensor<4xf32>) {
  // expected-error @+1 {{the reduction `none` is for one value; found 2 operands}}
  %0 = mpmd.reduce<none> %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @body(%a: tensor<4xf32>) {
  // expected-error @+1 {{argument 0: the type must be that outside, tensor<4xf32>; found tensor<5xf32>}}
  mpmd.named_computation<"f"> (%a) (%b: tensor<5xf32>) {
    mpmd.return
  } : (tensor<4xf32>) -> ()
  return
}
