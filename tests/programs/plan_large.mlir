// RUN: stablo run %s --explain-plan | FileCheck %s
// RUN: not stablo run %s --max-memory 100M 2>&1 | FileCheck %s --check-prefix=LIMIT
// RUN: not stablo run %s --entry vectors --max-memory 100M 2>&1 | FileCheck %s --check-prefix=VECTORS
// RUN: stablo run %s --entry neighbours --max-memory 100M | FileCheck %s --check-prefix=NEIGHBOURS

// A plan takes no memory for values that are not small, nor for the index vectors of a type, which
// a run lists only if they are not at equal distances.
// 40 GB of one element, which is a constant.
// CHECK: @main: 4 ops in 1 steps, 0 of them loops; peak 40000000000 bytes
// LIMIT: error[memory_limit]: 40000000000 bytes more than
// VECTORS: error[memory_limit]: {{.*}} would exceed the limit of 104857600 bytes
func.func @main() -> tensor<100000x100000xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %x = stablehlo.sqrt %one : tensor<f32>
  %y = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<100000x100000xf32>
  %z = stablehlo.exponential %y : tensor<100000x100000xf32>
  return %z : tensor<100000x100000xf32>
}

func.func @vectors() -> tensor<1000000000000x0xi32> {
  %x = stablehlo.constant dense<> : tensor<1000000000000x0xi32>
  %y = "stablehlo.gather"(%x, %x) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 0>}> : (tensor<1000000000000x0xi32>, tensor<1000000000000x0xi32>) -> tensor<1000000000000x0xi32>
  return %y : tensor<1000000000000x0xi32>
}

// NEIGHBOURS: tensor<1000000000000x0xi32>
func.func @neighbours() -> tensor<1000000000000x0xi32> {
  %x = stablehlo.constant dense<> : tensor<0xi32>
  %at = stablehlo.constant dense<> : tensor<1000000000000x0xi32>
  %y = "stablehlo.gather"(%x, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], index_vector_dim = 1>, slice_sizes = array<i64: 0>}> : (tensor<0xi32>, tensor<1000000000000x0xi32>) -> tensor<1000000000000x0xi32>
  return %y : tensor<1000000000000x0xi32>
}
