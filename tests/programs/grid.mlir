// Processes with separate inputs and outputs, and programs for a mesh of devices with global inputs.
// RUN: stablo run %s --replicas 2 --partitions 2 --input iota | FileCheck %s
// RUN: stablo run %s --replicas 2 --input iota --output-dir %t
// RUN: stablo run %s --replicas 2 --entry again --input %t/process_1_0/output_0.npy | FileCheck %s --check-prefix=ONE
// RUN: stablo run %s --entry manual --input iota | FileCheck %s --check-prefix=MANUAL
// RUN: not stablo run %s --input iota 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not stablo run %s --replicas 100000 --input iota 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not stablo run %s --replicas 2 --entry gather --input iota 2>&1 | FileCheck %s --check-prefix=SIZE

// CHECK: process (0, 0) output 0: tensor<2xi64>
// CHECK-NEXT: [0, 2]
// CHECK: process (0, 1) output 0: tensor<2xi64>
// CHECK-NEXT: [1, 3]
// CHECK: process (1, 1) output 0: tensor<2xi64>
// CHECK-NEXT: [1, 3]
// ONE: process (0, 0) output 0: tensor<2xi64>
// ONE-NEXT: [0, 2]
// ALONE: there is no replica 1: the program runs on a grid of 1 x 1
// MANY: at most
// SIZE: result 0 has type tensor<2xi64>, but its value has type tensor<4xi64>
func.func @main(%x: tensor<2xi64>) -> tensor<2xi64> {
  %0 = "stablehlo.all_reduce"(%x) ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %1 = stablehlo.add %a, %b : tensor<i64>
      stablehlo.return %1 : tensor<i64>
  }) { replica_groups = dense<[[0, 1]]> : tensor<1x2xi64> } : (tensor<2xi64>) -> tensor<2xi64>
  %id = stablehlo.partition_id : tensor<ui32>
  %2 = stablehlo.convert %id : (tensor<ui32>) -> tensor<i64>
  %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i64>) -> tensor<2xi64>
  %4 = stablehlo.add %0, %3 : tensor<2xi64>
  return %4 : tensor<2xi64>
}

func.func @again(%x: tensor<2xi64>) -> tensor<2xi64> {
  return %x : tensor<2xi64>
}

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Row sums of a tensor whose rows are split along x, with the columns split along y; replicated over y.
// MANUAL: output 0: tensor<4xi64>
// MANUAL-NEXT: [6, 22, 38, 54]
// MANUAL: output 1: tensor<4x4xi64>
// MANUAL-NEXT: {{\[}}[1, 2, 3, 4],
// MANUAL-NEXT: [5, 6, 7, 8],
func.func @manual(%x: tensor<4x4xi64>) -> (tensor<4xi64>, tensor<4x4xi64>) {
  %one = stablehlo.constant dense<1> : tensor<4x4xi64>
  %0:2 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {"y"}]>]
      out_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}, {"y"}]>] manual_axes={"x", "y"} (%a: tensor<2x2xi64>) {
    %zero = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x2xi64>, tensor<i64>) -> tensor<2xi64>
    %2 = "stablehlo.all_reduce"(%1) ({
      ^bb0(%b: tensor<i64>, %c: tensor<i64>):
        %3 = stablehlo.add %b, %c : tensor<i64>
        stablehlo.return %3 : tensor<i64>
    }) {
      replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "y">]>,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids
    } : (tensor<2xi64>) -> tensor<2xi64>
    sdy.return %2, %a : tensor<2xi64>, tensor<2x2xi64>
  } : (tensor<4x4xi64>) -> (tensor<4xi64>, tensor<4x4xi64>)
  %4 = sdy.sharding_constraint %0#1 <@mesh, [{"y"}, {}]> : tensor<4x4xi64>
  %5 = stablehlo.add %4, %one : tensor<4x4xi64>
  return %0#0, %5 : tensor<4xi64>, tensor<4x4xi64>
}
func.func @gather(%x: tensor<2xi64>) -> tensor<2xi64> {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
    : (tensor<2xi64>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}
