// RUN: stablo run %s --entry=text --input=iota | FileCheck %s
// RUN: stablo run %s --entry=messages --input=iota | FileCheck %s
// RUN: stablo run %s --entry=argument --input=iota | FileCheck %s --check-prefix=DOUBLE
// RUN: stablo run %s --entry=argument --input=iota --engine=reference | FileCheck %s --check-prefix=DOUBLE
// RUN: stablo run %s --entry=op --input=iota | FileCheck %s --check-prefix=DOUBLE
// RUN: stablo run %s --entry=loop --input=iota | FileCheck %s --check-prefix=DOUBLE
// RUN: stablo run %s --entry=partly --input=iota | FileCheck %s --check-prefix=DOUBLE
// RUN: not stablo run %s --entry=unknown --input=iota 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not stablo run %s --entry=uneven --input=iota 2>&1 | FileCheck %s --check-prefix=UNEVEN

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

  // The sharding of an operand is that of whatever defines it.
  // DOUBLE: output 0: tensor<8xf32>
  // DOUBLE-NEXT: [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0]
  func.func @argument(%x: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> tensor<8xf32> {
    %0 = stablehlo.custom_call @SPMDFullToShardShape(%x) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
    %1 = stablehlo.add %0, %0 {mhlo.sharding = "{manual}"} : tensor<4xf32>
    %2 = stablehlo.custom_call @SPMDShardToFullShape(%1) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<4xf32>) -> tensor<8xf32>
    return %2 : tensor<8xf32>
  }
  func.func @op(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0:2 = stablehlo.optimization_barrier {mhlo.sharding = "{{replicated}, {devices=[2]1,0}}"} %x, %x : tensor<8xf32>, tensor<8xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0#1) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
    %2 = stablehlo.add %1, %1 {mhlo.sharding = "{manual}"} : tensor<4xf32>
    %3 = stablehlo.custom_call @SPMDShardToFullShape(%2) {mhlo.sharding = "{devices=[2]1,0}"} : (tensor<4xf32>) -> tensor<8xf32>
    return %3 : tensor<8xf32>
  }
  func.func @loop(%x: tensor<8xf32>) -> tensor<8xf32> {
    %c = stablehlo.constant dense<true> : tensor<i1>
    %0:2 = stablehlo.while(%more = %c, %y = %x) : tensor<i1>, tensor<8xf32> attributes {mhlo.sharding = "{{replicated}, {devices=[2]<=[2]}}"}
      cond {
        stablehlo.return %more : tensor<i1>
      } do {
        %1 = stablehlo.custom_call @SPMDFullToShardShape(%y) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
        %2 = stablehlo.add %1, %1 : tensor<4xf32>
        %3 = stablehlo.custom_call @SPMDShardToFullShape(%2) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<4xf32>) -> tensor<8xf32>
        %4 = stablehlo.not %more : tensor<i1>
        stablehlo.return %4, %3 : tensor<i1>, tensor<8xf32>
      }
    return %0#1 : tensor<8xf32>
  }
  // The tiles of an axis that is not manual are not cut.
  func.func @partly(%x: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> tensor<8xf32> {
    %0 = stablehlo.custom_call @SPMDFullToShardShape(%x) {mhlo.sharding = "{devices=[2,1]<=[2] last_tile_dims={manual}}"} : (tensor<8xf32>) -> tensor<8xf32>
    %1 = stablehlo.add %0, %0 : tensor<8xf32>
    %2 = stablehlo.custom_call @SPMDShardToFullShape(%1) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<8xf32>) -> tensor<8xf32>
    return %2 : tensor<8xf32>
  }
  // UNKNOWN: error[sharding]: the operand of SPMDFullToShardShape must have a sharding: the result of type tensor<4xf32> is a part of it, which has type tensor<8xf32>
  func.func @unknown(%x: tensor<8xf32>) -> tensor<4xf32> {
    %0 = stablehlo.custom_call @SPMDFullToShardShape(%x) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  // UNEVEN: error[sharding]: [2] tiles of tensor<5xf32> cannot be equal shards of type tensor<3xf32>
  func.func @uneven(%x: tensor<5xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> tensor<3xf32> {
    %0 = stablehlo.custom_call @SPMDFullToShardShape(%x) {mhlo.sharding = "{manual}"} : (tensor<5xf32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}
