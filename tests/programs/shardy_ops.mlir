// Ops of Shardy outside of manual computations are about global values: however a value is split, it
// is the same value. In a manual computation, axes that are not manual are free for them.
// RUN: stablo run %s --input iota --engine reference | FileCheck %s
// RUN: stablo run %s --input iota --engine fast | FileCheck %s
// RUN: stablo run %s --input iota --entry manual --engine reference | FileCheck %s --check-prefix=MANUAL
// RUN: stablo run %s --input iota --entry manual --engine fast | FileCheck %s --check-prefix=MANUAL
sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @swapped = <["x"=2, "y"=2], device_ids=[1, 0, 2, 3]>
// Element (i, j) is 4 i + j.
// CHECK: output 0: tensor<4x4xi32>
// CHECK-NEXT: 0, 1, 2, 3]
// CHECK-NEXT: 4, 5, 6, 7]
// CHECK-NEXT: 8, 9, 10, 11]
// CHECK-NEXT: 12, 13, 14, 15]
func.func @main(%a: tensor<4x4xi32>) -> tensor<4x4xi32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<4x4xi32>
  %1 = sdy.all_slice [{}, {"y"}] %0 out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<4x4xi32>
  %2 = sdy.all_gather [{}, {"y"}] %1 out_sharding=<@mesh, [{"x"}, {}]> : tensor<4x4xi32>
  %3 = sdy.all_to_all [{"x"}: 0->1] %2 out_sharding=<@mesh, [{}, {"x"}]> : tensor<4x4xi32>
  %4 = sdy.collective_permute %3 out_sharding=<@swapped, [{}, {"x"}]> : tensor<4x4xi32>
  %5 = sdy.reshard %4 <@mesh, [{"x", "y"}, {}]> : tensor<4x4xi32>
  %6 = sdy.sharded_to_unreduced [{"y"}, {}] %5 out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<4x4xi32>
  %7 = sdy.all_reduce {"y"} %6 out_sharding=<@mesh, [{"x"}, {}]> : tensor<4x4xi32>
  %8 = sdy.replicated_to_unreduced {"y"} %7 out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<4x4xi32>
  %9 = sdy.reduce_scatter [{}, {"y"}] %8 out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<4x4xi32>
  %10 = sdy.reshard %a <@mesh, [{}, {}]> : tensor<4x4xi32>
  %11 = sdy.all_reduce max {"x"} %10 out_sharding=<@mesh, [{}, {}]> : tensor<4x4xi32>
  %12 = sdy.named_computation<"least">(%9, %11) (%b: tensor<4x4xi32>, %c: tensor<4x4xi32>) {
    %13 = stablehlo.minimum %b, %c : tensor<4x4xi32>
    sdy.return %13 : tensor<4x4xi32>
  } : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32>
  %14 = sdy.propagation_barrier %12 allowed_direction=NONE : tensor<4x4xi32>
  return %14 : tensor<4x4xi32>
}
// Shard k of two has rows 2 k and 2 k + 1; adding k to each element makes 4 i + j + i div 2.
// MANUAL: output 0: tensor<4x4xi32>
// MANUAL-NEXT: 0, 1, 2, 3]
// MANUAL-NEXT: 4, 5, 6, 7]
// MANUAL-NEXT: 9, 10, 11, 12]
// MANUAL-NEXT: 13, 14, 15, 16]
func.func @manual(%a: tensor<4x4xi32>) -> tensor<4x4xi32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<2x4xi32>) {
    %id = stablehlo.partition_id : tensor<ui32>
    %two = stablehlo.constant dense<2> : tensor<ui32>
    %row = stablehlo.divide %id, %two : tensor<ui32>
    %1 = stablehlo.convert %row : (tensor<ui32>) -> tensor<i32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<i32>) -> tensor<2x4xi32>
    %3 = stablehlo.add %b, %2 : tensor<2x4xi32>
    %4 = sdy.sharding_constraint %3 <@mesh, [{"y"}, {}]> : tensor<2x4xi32>
    %5 = sdy.all_to_all [{"y"}: 0->1] %4 out_sharding=<@mesh, [{}, {"y"}]> : tensor<2x4xi32>
    %6 = sdy.all_gather [{}, {"y"}] %5 out_sharding=<@mesh, [{}, {}]> : tensor<2x4xi32>
    sdy.return %6 : tensor<2x4xi32>
  } : (tensor<4x4xi32>) -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}
