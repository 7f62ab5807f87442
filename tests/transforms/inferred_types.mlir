// RUN: stablehlo-opt --hlo-test-broadcast --hlo-test-infer --split-input-file --allow-unregistered-dialect %s | FileCheck %s

// CHECK-LABEL: func.func @rows_and_columns
// CHECK-DAG: %[[X:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-DAG: %[[Y:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x3xf32>
// CHECK: stablehlo.custom_call @numpy_broadcasted(%[[X]], %[[Y]])
func.func @rows_and_columns(%row: tensor<3xf32>, %column: tensor<2x1xf32>) -> !stablehlo.token {
  %0 = "hlo_test_broadcast.numpy_broadcast"(%row, %column) : (tensor<3xf32>, tensor<2x1xf32>) -> !stablehlo.token
  return %0 : !stablehlo.token
}

// -----

// Sizes 2 and 3 do not broadcast.
// CHECK-LABEL: func.func @no_common_shape
// CHECK-NEXT: hlo_test_broadcast.numpy_broadcast
func.func @no_common_shape(%x: tensor<2xf32>, %y: tensor<3xf32>) -> !stablehlo.token {
  %0 = "hlo_test_broadcast.numpy_broadcast"(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> !stablehlo.token
  return %0 : !stablehlo.token
}

// -----

// CHECK-LABEL: func.func @inferred
// CHECK: "hlo_test_infer.return_types"(%0) {types0 = tensor<4x2xf32>}
func.func @inferred(%x: tensor<2x4xf32>) -> tensor<?x?xindex> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<?x?xf32>
  %1 = "hlo_test_infer.get_return_types"(%0) : (tensor<?x?xf32>) -> tensor<?x?xindex>
  return %1 : tensor<?x?xindex>
}

// -----

// Bounds of results follow from those of operands as sizes do: at most 3 + 4 columns.
// CHECK-LABEL: func.func @bounds
// CHECK: types0 = tensor<2x?xf32, #stablehlo.bounds<?, 7>>
func.func @bounds(%x: tensor<2x?xf32, #stablehlo.bounds<?, 3>>, %y: tensor<2x?xf32, #stablehlo.bounds<?, 4>>) -> tensor<?x?xindex> {
  %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<2x?xf32, #stablehlo.bounds<?, 3>>, tensor<2x?xf32, #stablehlo.bounds<?, 4>>) -> tensor<?x?xf32>
  %1 = "hlo_test_infer.get_return_types"(%0) : (tensor<?x?xf32>) -> tensor<?x?xindex>
  return %1 : tensor<?x?xindex>
}

// -----

// The shape of a result as a value, computed: rows and columns swapped.
// CHECK-LABEL: func.func @computed_shape
// CHECK-DAG: %[[ROWS:.*]] = tensor.dim %arg0, %{{.*}} : tensor<?x?xf32>
// CHECK-DAG: %[[COLUMNS:.*]] = tensor.dim %arg0, %{{.*}} : tensor<?x?xf32>
// CHECK: %[[SHAPE:.*]] = tensor.from_elements %{{.*}}, %{{.*}} : tensor<2xindex>
// CHECK: return %[[SHAPE]]
func.func @computed_shape(%x: tensor<?x?xf32>) -> tensor<2xindex> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = "hlo_test_infer.reify_return_type_shapes"(%0) : (tensor<?x?xf32>) -> tensor<2xindex>
  return %1 : tensor<2xindex>
}

// -----

// CHECK-LABEL: func.func @shape_of_broadcast
// CHECK: shape.broadcast
func.func @shape_of_broadcast(%x: tensor<?xf32>, %y: tensor<?x?xf32>) -> tensor<2xindex> {
  %0 = chlo.broadcast_add %x, %y : (tensor<?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = "hlo_test_infer.reify_return_type_shapes"(%0) : (tensor<?x?xf32>) -> tensor<2xindex>
  return %1 : tensor<2xindex>
}
