// Programs that JAX exported while Shardy's ops were custom calls with attributes in strings. The
// module does not state the number of devices: it is that of the largest mesh.
// RUN: stablo run %s --entry=sum --input=iota | FileCheck %s --check-prefix=SUM
// RUN: stablo run %s --entry=sum --input=iota --engine=reference | FileCheck %s --check-prefix=SUM
// RUN: stablo run %s --entry=early --input=iota | FileCheck %s --check-prefix=EARLY
// RUN: stablo run %s --entry=nested --input=iota | FileCheck %s --check-prefix=NESTED
// RUN: stablo run %s --entry=nested --input=iota --engine=reference | FileCheck %s --check-prefix=NESTED
// RUN: stablo run %s --entry=results | FileCheck %s --check-prefix=RESULTS
// RUN: not stablo run %s --entry=unknown_axis --input=iota 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not stablo run %s --entry=unknown_mesh --input=iota 2>&1 | FileCheck %s --check-prefix=MESH
// RUN: not stablo run %s --entry=unreadable --input=iota 2>&1 | FileCheck %s --check-prefix=UNREADABLE
// RUN: not stablo run %s --entry=uneven --input=iota 2>&1 | FileCheck %s --check-prefix=UNEVEN

module attributes {mhlo.frontend_attributes = {xla.sdy.use_tuple_args = "t", xla.sdy.meshes =
    "{alone = #sdy.mesh<[]>, mesh = #sdy.mesh<[\\\22d\\\22=4]>, listed = #sdy.mesh<[\\\22d\\\22=4], device_ids=[3, 1, 0, 2]>, square = #sdy.mesh<[\\\22a\\\22=2, \\\22b\\\22=2]>}"}} {
  // The sum of all quarters and the own quarter.
  // SUM: output 0: tensor<8xf32>
  // SUM-NEXT: [12.0, 17.0, 14.0, 19.0, 16.0, 21.0, 18.0, 23.0]
  func.func public @sum(%x: tensor<8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\22d\22}]>"}}) -> tensor<8xf32> {
    %0 = stablehlo.custom_call @xla.sdy.PropagationBarrier(%x) {mhlo.frontend_attributes = {xla.sdy.allowed_direction = "1 : i32"}} : (tensor<8xf32>) -> tensor<8xf32>
    stablehlo.custom_call @xla.sdy.ShardingGroup(%0) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding_group_id = "0 : i64"}} : (tensor<8xf32>) -> ()
    %1 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%0) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22d\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22d\22}>"}} : (tensor<8xf32>) -> tensor<2xf32>
    %2 = call @xla.sdy.manual_computation_body_3(%1) {mhlo.frontend_attributes = {inlineable = "false"}} : (tensor<2xf32>) -> tensor<2xf32>
    %3 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%2) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.manual_axes = "#sdy<manual_axes{\22d\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22d\22}]>]>"}} : (tensor<2xf32>) -> tensor<8xf32>
    %4 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%3) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22d\22}]>]>"}} : (tensor<8xf32>) -> tensor<8xf32>
    return %4 : tensor<8xf32>
  }
  func.func private @xla.sdy.manual_computation_body_3(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = stablehlo.add %0, %x : tensor<2xf32>
    return %1 : tensor<2xf32>
  }

  // The attributes are those of the call, quotes are escaped, and the mesh lists its devices. Each
  // adds its number to its quarter.
  // EARLY: output 0: tensor<4xf32>
  // EARLY-NEXT: [3.0, 2.0, 2.0, 5.0]
  func.func public @early(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%x) : (tensor<4xf32>) -> tensor<1xf32>
    %1 = call @xla.sdy.manual_computation_body_4(%0) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@listed, [{\\\22d\\\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\\\22d\\\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@listed, [{\\\22d\\\22}]>]>"}} : (tensor<1xf32>) -> tensor<1xf32>
    %2 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%1) : (tensor<1xf32>) -> tensor<4xf32>
    return %2 : tensor<4xf32>
  }
  func.func private @xla.sdy.manual_computation_body_4(%x: tensor<1xf32>) -> tensor<1xf32> {
    %0 = stablehlo.partition_id : tensor<ui32>
    %1 = stablehlo.convert %0 : (tensor<ui32>) -> tensor<f32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %3 = stablehlo.add %x, %2 : tensor<1xf32>
    return %3 : tensor<1xf32>
  }

  // Along a and then along b: each of the four devices, 2a + b, adds its number to its quarter.
  // NESTED: output 0: tensor<4x2xf32>
  // NESTED-NEXT: {{\[\[}}0.0, 1.0],
  // NESTED-NEXT: [3.0, 4.0],
  // NESTED-NEXT: [6.0, 7.0],
  // NESTED-NEXT: [9.0, 10.0]]
  func.func public @nested(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
    %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%x) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@square, [{\22a\22}, {?}], replicated={\22b\22}>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22a\22}>"}} : (tensor<4x2xf32>) -> tensor<2x2xf32>
    %1 = call @xla.sdy.manual_computation_body(%0) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %2 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%1) {mhlo.frontend_attributes = {xla.sdy.manual_axes = "#sdy<manual_axes{\22a\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@square, [{\22a\22}, {?}]>]>"}} : (tensor<2x2xf32>) -> tensor<4x2xf32>
    return %2 : tensor<4x2xf32>
  }
  func.func private @xla.sdy.manual_computation_body(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
    %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%x) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@square, [{\22b\22}, {}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22b\22}>"}} : (tensor<2x2xf32>) -> tensor<1x2xf32>
    %1 = call @xla.sdy.manual_computation_body_1(%0) : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %2 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%1) {mhlo.frontend_attributes = {xla.sdy.manual_axes = "#sdy<manual_axes{\22b\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@square, [{\22b\22}, {}]>]>"}} : (tensor<1x2xf32>) -> tensor<2x2xf32>
    return %2 : tensor<2x2xf32>
  }
  func.func private @xla.sdy.manual_computation_body_1(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
    %0 = stablehlo.partition_id : tensor<ui32>
    %1 = stablehlo.convert %0 : (tensor<ui32>) -> tensor<f32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<1x2xf32>
    %3 = stablehlo.add %x, %2 : tensor<1x2xf32>
    return %3 : tensor<1x2xf32>
  }

  // A computation without operands. Its results are cut along an axis in parts, the minor one
  // outermost, and a sum of parts.
  // RESULTS: output 0: tensor<4xui32>
  // RESULTS-NEXT: [0, 2, 1, 3]
  // RESULTS: output 1: tensor<1xui32>
  // RESULTS-NEXT: [6]
  func.func public @results() -> (tensor<4xui32>, tensor<1xui32>) {
    %0:2 = call @xla.sdy.manual_computation_body_5() : () -> (tensor<1xui32>, tensor<1xui32>)
    %1:2 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%0#0, %0#1) {mhlo.frontend_attributes = {xla.sdy.manual_axes = "#sdy<manual_axes{\22d\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22d\22:(2)2, \22d\22:(1)2}]>, <mesh<[\22d\22=4]>, [{}], unreduced={\22d\22}>]>"}} : (tensor<1xui32>, tensor<1xui32>) -> (tensor<4xui32>, tensor<1xui32>)
    return %1#0, %1#1 : tensor<4xui32>, tensor<1xui32>
  }
  func.func private @xla.sdy.manual_computation_body_5() -> (tensor<1xui32>, tensor<1xui32>) {
    %0 = stablehlo.partition_id : tensor<ui32>
    %1 = stablehlo.reshape %0 : (tensor<ui32>) -> tensor<1xui32>
    return %1, %1 : tensor<1xui32>, tensor<1xui32>
  }

  // AXIS: error[manual_computation]: the list of manual axes cannot be read
  func.func public @unknown_axis(%x: tensor<4xf32>) -> tensor<1xf32> {
    %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%x) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22d\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22e\22}>"}} : (tensor<4xf32>) -> tensor<1xf32>
    return %0 : tensor<1xf32>
  }

  // MESH: error[sharding]: there is no mesh for the sharding #sdy.sharding<@other, [{"d"}]>
  func.func public @unknown_mesh(%x: tensor<4xf32>) -> tensor<1xf32> {
    %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%x) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@other, [{\22d\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22d\22}>"}} : (tensor<4xf32>) -> tensor<1xf32>
    return %0 : tensor<1xf32>
  }

  // UNREADABLE: error[sharding]: xla.sdy.in_shardings cannot be read: {{.+}}; found "#sdy.sharding_per_value<["
  func.func public @unreadable(%x: tensor<4xf32>) -> tensor<1xf32> {
    %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%x) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[", xla.sdy.manual_axes = "#sdy<manual_axes{\22d\22}>"}} : (tensor<4xf32>) -> tensor<1xf32>
    return %0 : tensor<1xf32>
  }

  // UNEVEN: error[manual_computation]: dimension 0 of size 5 cannot be split into 4 equal shards
  func.func public @uneven(%x: tensor<5xf32>) -> tensor<1xf32> {
    %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%x) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22d\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22d\22}>"}} : (tensor<5xf32>) -> tensor<1xf32>
    return %0 : tensor<1xf32>
  }
}
