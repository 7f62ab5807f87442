// RUN: stablo run %s --entry=text --input=iota | FileCheck %s
// RUN: stablo run %s --entry=messages --input=iota | FileCheck %s

// Each of two devices adds its number to its half.
// CHECK: output 0: tensor<4xf32>
// CHECK-NEXT: [0.0, 1.0, 3.0, 4.0]
module attributes {mhlo.num_partitions = 2 : i32} {
  func.func public @text(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<4xf32>) -> tensor<2xf32>
    %2 = stablehlo.partition_id : tensor<ui32>
    %3 = stablehlo.convert %2 : (tensor<ui32>) -> tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %5 = stablehlo.add %1, %4 : tensor<2xf32>
    %6 = stablehlo.custom_call @Sharding(%5) {mhlo.sharding = "{manual}"} : (tensor<2xf32>) -> tensor<2xf32>
    %7 = stablehlo.custom_call @SPMDShardToFullShape(%6) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<2xf32>) -> tensor<4xf32>
    return %7 : tensor<4xf32>
  }
  // As early versions of JAX wrote the same.
  func.func public @messages(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "\08\03\1A\01\02\22\02\00\01"} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "\08\04"} : (tensor<4xf32>) -> tensor<2xf32>
    %2 = stablehlo.partition_id : tensor<ui32>
    %3 = stablehlo.convert %2 : (tensor<ui32>) -> tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %5 = stablehlo.add %1, %4 : tensor<2xf32>
    %6 = stablehlo.custom_call @Sharding(%5) {mhlo.sharding = "\08\04"} : (tensor<2xf32>) -> tensor<2xf32>
    %7 = stablehlo.custom_call @SPMDShardToFullShape(%6) {mhlo.sharding = "\08\03\1A\01\02\22\02\00\01"} : (tensor<2xf32>) -> tensor<4xf32>
    return %7 : tensor<4xf32>
  }
}
