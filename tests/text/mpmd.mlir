// Programs over several meshes are written as jaxlib 0.10.2 prints them, and are the same after
// bytecode. Running one is refused.
// RUN: stablehlo-opt %s | FileCheck %s
// RUN: stablehlo-opt %s -emit-bytecode | stablehlo-opt | FileCheck %s
// RUN: not stablo run %s --input zeros 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: mpmd.{{.*}} cannot run: programs over several meshes can be read, checked and written
// CHECK: func.func @main(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {topology = #mpmd.topology<<"m1" : <["x"=2, "y"=4]>>, <"m2" : <["z"=2]>>>} {
func.func @main(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {topology = #mpmd.topology<<"m1": <["x"=2, "y"=4]>>, <"m2": <["z"=2], device_ids=[0, 1]>>>} {
  // CHECK: mpmd.named_tensor %arg0 name="t" : tensor<4x8xf32>
  %0 = mpmd.named_tensor %arg0 name="t" : tensor<4x8xf32>
  // CHECK: mpmd.broadcast %0 : tensor<4x8xf32>
  %1 = mpmd.broadcast %0 : tensor<4x8xf32>
  // CHECK: mpmd.reduce<add> %0, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = mpmd.reduce<add> %0, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: mpmd.named_computation<"f"(2)> (%2) (%arg1: tensor<4x8xf32>) {
  %3 = mpmd.named_computation<"f"(2)> (%2) (%arg1: tensor<4x8xf32>) {
    mpmd.return %arg1 : tensor<4x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: mpmd.for (%3) {iterations = 4 : ui32, unroll_factor = 2 : ui32} (%arg1: tensor<4x8xf32>, %index: tensor<ui32>) {
  %4 = mpmd.for (%3) {iterations = 4 : ui32, unroll_factor = 2 : ui32} (%arg1: tensor<4x8xf32>, %index: tensor<ui32>) {
    mpmd.return %arg1 : tensor<4x8xf32>
  // CHECK: } : tensor<4x8xf32>
  } : tensor<4x8xf32>
  // CHECK: mpmd.assign {origin = "user_in"} %4 : (tensor<4x8xf32>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
  %5 = mpmd.assign {origin = "user_in"} %4 : (tensor<4x8xf32>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
  // CHECK: mpmd.fragment<mesh="m1", origin=["f"(1), "g"], stage=3, in_shardings=[<@mesh, [{}, {}]>], out_shardings=[<@mesh, [{"x"}, {}]>]> (%5) (%arg1: tensor<4x8xf32>) {
  %6 = mpmd.fragment<mesh="m1", origin=["f"(1), "g"], stage=3, in_shardings=[<@mesh, [{}, {}]>], out_shardings=[<@mesh, [{"x"}, {}]>]> (%5) (%arg1: tensor<4x8xf32>) {
    mpmd.return %arg1 : tensor<4x8xf32>
  } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>, memory_kind="device">
  // CHECK: mpmd.transfer %6 : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>, memory_kind="device">) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
  %7 = mpmd.transfer %6 : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>, memory_kind="device">) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
  // CHECK: mpmd.unassign %7 : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> tensor<4x8xf32>
  %8 = mpmd.unassign %7 : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> tensor<4x8xf32>
  return %8 : tensor<4x8xf32>
}
