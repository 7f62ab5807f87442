// Mistakes that authors of compilers make, with what is found, what is required, where, and which
// constraint says so.
// RUN: stablehlo-opt %s -split-input-file -verify-diagnostics
// shapes
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{all operands and results must have compatible shapes; found lhs tensor<2x3xf32>, rhs tensor<3x2xf32>, result tensor<2x3xf32>}}
  %0 = stablehlo.add %a, %b : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// -----
func.func @f(%a: tensor<2x3xf32>) -> tensor<5xf32> {
  // expected-error @+1 {{operand and result must have as many elements; tensor<2x3xf32> has 6, tensor<5xf32> has 5}}
  %0 = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
// -----
func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) -> tensor<2x5xf32> {
  // expected-error @+1 {{contracting dimensions 1 of lhs and 0 of rhs must have one size; found 3 and 4}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}
// -----
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x5xf32>) -> tensor<5x2xf32> {
  // expected-error @+1 {{the result must have shape [2, 5]; found [5, 2]}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<5x2xf32>
  return %0 : tensor<5x2xf32>
}
// -----
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x5xf32>) -> tensor<2x5xf32> {
  // expected-error @+1 {{lhs_contracting_dimensions contains 2, but must be in the range [0, 2)}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [2] x [0] : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}
// -----
func.func @f(%a: tensor<4x2x3xf32>, %b: tensor<5x3x6xf32>) -> tensor<4x2x6xf32> {
  // expected-error @+1 {{batching dimensions 0 of lhs and 0 of rhs must have one size; found 4 and 5}}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x2x3xf32>, tensor<5x3x6xf32>) -> tensor<4x2x6xf32>
  return %0 : tensor<4x2x6xf32>
}
// -----
func.func @f(%a: tensor<3xf32>) -> tensor<2x4xf32> {
  // expected-error @+1 {{dimension 0 of the operand has size 3; it must be 1 or 4, the size of dimension 1 of the result}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<3xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
// -----
func.func @f(%a: tensor<3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{broadcast_dimensions contains 2, but must be in the range [0, 2)}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [2] : (tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// -----
func.func @f(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+2 {{result 0 of `stablehlo.transpose` has type tensor<2x3xf32>, but tensor<3x2xf32> follows from its operands and attributes}}
  // expected-error @+1 {{the types of the results do not follow}}
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// -----
func.func @f(%a: tensor<2x3xf32>) -> tensor<3x2xf32> {
  // expected-error @+2 {{permutation must not repeat values, but 1 occurs twice in [1, 1]}}
  // expected-error @+1 {{the types of the results do not follow}}
  %0 = stablehlo.transpose %a, dims = [1, 1] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
// -----
func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) -> tensor<4x3xf32> {
  // expected-error @+2 {{inputs must have one shape but for dimension 0; input #0 is tensor<2x3xf32>, input #1 is tensor<2x4xf32>}}
  // expected-error @+1 {{the types of the results do not follow}}
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
// -----
func.func @f(%a: tensor<2x3xf32>) -> tensor<4x3xf32> {
  // expected-error @+2 {{dimension is 2, but must be in the range [0, 2)}}
  // expected-error @+1 {{the types of the results do not follow}}
  %0 = stablehlo.concatenate %a, %a, dim = 2 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
// -----
func.func @f(%a: tensor<8xf32>) -> tensor<4xf32> {
  // expected-error @+2 {{limit_indices has 10 for dimension 0 of operand, which has size 8}}
  // expected-error @+1 {{the types of the results do not follow}}
  %0 = stablehlo.slice %a [2:10:2] : (tensor<8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @f(%a: tensor<8xf32>) -> tensor<4xf32> {
  // expected-error @+2 {{strides must be at least 1; found 0}}
  // expected-error @+1 {{the types of the results do not follow}}
  %0 = stablehlo.slice %a [0:8:0] : (tensor<8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @f(%a: tensor<8x8xf32>) -> tensor<4xf32> {
  // expected-error @+2 {{start_indices has 1 entry, but the rank of operand requires 2}}
  // expected-error @+1 {{the types of the results do not follow}}
  %0 = stablehlo.slice %a [0:4] : (tensor<8x8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @f(%a: tensor<4xf32>, %v: tensor<f32>) -> tensor<6xf32> {
  // expected-error @+2 {{result 0 of `stablehlo.pad` has type tensor<6xf32>, but tensor<7xf32> follows from its operands and attributes}}
  // expected-error @+1 {{the types of the results do not follow}}
  %0 = stablehlo.pad %a, %v, low = [1], high = [2], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
// -----
func.func @f(%a: tensor<4xf32>, %v: tensor<f32>) -> tensor<4xf32> {
  // expected-error @+2 {{interior_padding must be at least 0; found -1}}
  // expected-error @+1 {{the types of the results do not follow}}
  %0 = stablehlo.pad %a, %v, low = [1], high = [2], interior = [-1] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @f(%a: tensor<4x4xf32>, %i: tensor<i32>) -> tensor<2x2xf32> {
  // expected-error @+2 {{start_indices has 1 entry, but the rank of operand requires 2}}
  // expected-error @+1 {{the types of the results do not follow}}
  %0 = stablehlo.dynamic_slice %a, %i, sizes = [2, 2] : (tensor<4x4xf32>, tensor<i32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
// -----
func.func @f(%a: tensor<4xf32>, %u: tensor<6xf32>, %i: tensor<i32>) -> tensor<4xf32> {
  // expected-error @+2 {{the shape of update has 6 for dimension 0 of operand, which has size 4: it must be 0 to 4}}
  // expected-error @+1 {{the types of the results do not follow}}
  %0 = stablehlo.dynamic_update_slice %a, %u, %i : (tensor<4xf32>, tensor<6xf32>, tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @f() -> tensor<4xf32> {
  // expected-error @+1 {{iota_dimension is 1, but must be in the range [0, 1)}}
  %0 = stablehlo.iota dim = 1 : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @f(%p: tensor<3xi1>, %a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+2 {{pred must be 0-dimensional or have the shape of on_true; found tensor<3xi1> and tensor<2xf32>}}
  // expected-error @+1 {{the types of the results do not follow}}
  %0 = stablehlo.select %p, %a, %a : tensor<3xi1>, tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f(%a: tensor<2x3xf32>, %i: tensor<f32>) -> tensor<3xf32> {
  // expected-error @+2 {{result 0 of `stablehlo.reduce` has type tensor<3xf32>, but tensor<2xf32> follows from its operands and attributes}}
  // expected-error @+1 {{the types of the results do not follow}}
  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
// -----
func.func @f(%a: tensor<2x3xf32>, %i: tensor<f32>) -> tensor<2xf32> {
  // expected-error @+1 {{dimensions contains 2, but must be in the range [0, 2)}}
  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.add across dimensions = [2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f(%a: tensor<2x3xf32>, %i: tensor<i32>) -> tensor<2xf32> {
  // expected-error @+1 {{init value #0 must have the element type of input #0, tensor<2x3xf32>; found tensor<i32>}}
  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<i32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f(%a: tensor<1x8x8x3xf32>, %k: tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32> {
  // expected-error @+1 {{dimension 2 of rhs, the input feature dimension, must have size 3 / 1: that of dimension 3 of lhs divided by feature_group_count; found 4}}
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return %0 : tensor<1x6x6x16xf32>
}
// -----
func.func @f(%a: tensor<1x8x8x3xf32>, %k: tensor<3x3x3x16xf32>) -> tensor<1x8x8x16xf32> {
  // expected-error @+1 {{the result must have shape [1, 6, 6, 16]; found [1, 8, 8, 16]}}
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x16xf32>) -> tensor<1x8x8x16xf32>
  return %0 : tensor<1x8x8x16xf32>
}
// -----
func.func @f(%a: tensor<1x8x8x3xf32>, %k: tensor<3x3x3x16xf32>) -> tensor<1x6x6x16xf32> {
  // expected-error @+1 {{dimension 3 of lhs, the feature dimension, has size 3, which feature_group_count, 2, must divide}}
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x16xf32>) -> tensor<1x6x6x16xf32>
  return %0 : tensor<1x6x6x16xf32>
}
// -----
func.func @f(%a: tensor<1x8x8x3xf32>, %k: tensor<3x3x3x16xf32>) -> tensor<1x6x6x16xf32> {
  // expected-error @+1 {{window_strides has 1 entry, but the number of window dimensions requires 2}}
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x16xf32>) -> tensor<1x6x6x16xf32>
  return %0 : tensor<1x6x6x16xf32>
}
// -----
func.func @f(%a: tensor<5x3xf32>, %i: tensor<7x1xi32>) -> tensor<7x3xf32> {
  // expected-error @+2 {{slice_sizes has 4 for dimension 1 of operand, which has size 3: it must be 0 to 3}}
  // expected-error @+1 {{the types of the results do not follow}}
  %0 = "stablehlo.gather"(%a, %i) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 4>
  }> : (tensor<5x3xf32>, tensor<7x1xi32>) -> tensor<7x3xf32>
  return %0 : tensor<7x3xf32>
}
// -----
func.func @f(%a: tensor<5x3xf32>, %i: tensor<7x1xi32>) -> tensor<7x3xf32> {
  // expected-error @+2 {{collapsed_slice_dims contains 2, but must be in the range [0, 2)}}
  // expected-error @+1 {{the types of the results do not follow}}
  %0 = "stablehlo.gather"(%a, %i) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [2], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 3>
  }> : (tensor<5x3xf32>, tensor<7x1xi32>) -> tensor<7x3xf32>
  return %0 : tensor<7x3xf32>
}
// -----
func.func @f(%a: tensor<5x3xf32>, %i: tensor<7x2xi32>) -> tensor<7x3xf32> {
  // expected-error @+2 {{start_index_map has 1 entry, but index vectors have 2}}
  // expected-error @+1 {{the types of the results do not follow}}
  %0 = "stablehlo.gather"(%a, %i) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 3>
  }> : (tensor<5x3xf32>, tensor<7x2xi32>) -> tensor<7x3xf32>
  return %0 : tensor<7x3xf32>
}
// -----
func.func @f(%a: tensor<5x3xf32>, %i: tensor<7x1xi32>) -> tensor<7x3xf32> {
  // expected-error @+2 {{slice_sizes has 2 for dimension 0, one of collapsed_slice_dims, which allows at most 1}}
  // expected-error @+1 {{the types of the results do not follow}}
  %0 = "stablehlo.gather"(%a, %i) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 2, 3>
  }> : (tensor<5x3xf32>, tensor<7x1xi32>) -> tensor<7x3xf32>
  return %0 : tensor<7x3xf32>
}
// -----
func.func @f(%a: tensor<5x3xf32>, %i: tensor<7x1xi32>, %u: tensor<7x4xf32>) -> tensor<5x3xf32> {
  // expected-error @+1 {{window dimension 1 of updates has size 4, more than the 3 of inputs}}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  }> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %y : tensor<f32>
  }) : (tensor<5x3xf32>, tensor<7x1xi32>, tensor<7x4xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}
// -----
func.func @f(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{dimensions must not repeat values, but 0 occurs twice in [0, 0]}}
  %0 = stablehlo.reverse %a, dims = [0, 0] : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// -----
func.func @f(%a: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{dimension must be in the range [-1, 1); found 1}}
  %0 = "stablehlo.sort"(%a) <{dimension = 1 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
// -----
// types
func.func @f(%a: tensor<2xf32>, %b: tensor<2xi32>) -> tensor<2xf32> {
  // expected-error @+1 {{all operands and results must have compatible element types; found lhs tensor<2xf32>, rhs tensor<2xi32>, result tensor<2xf32>}}
  %0 = stablehlo.add %a, %b : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
// expected-note @+1 {{`%b` is defined here}}
func.func @f(%a: tensor<2xf32>, %b: tensor<2xi32>) -> tensor<2xf32> {
  // expected-error @+1 {{`%b` is used as tensor<2xf32>, but its type is tensor<2xi32>}}
  %0 = stablehlo.add %a, %b : tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f(%a: tensor<2xi32>) -> tensor<2xi32> {
  // expected-error @+1 {{operand 0 (`operand`) of `stablehlo.tanh` must be a ranked tensor of float, complex or per-tensor quantized elements, but has type tensor<2xi32>}}
  %0 = stablehlo.tanh %a : tensor<2xi32>
  return %0 : tensor<2xi32>
}
// -----
func.func @f(%p: tensor<2xf32>, %a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{operand 0 (`pred`) of `stablehlo.select` must be a ranked tensor of booleans, but has type tensor<2xf32>}}
  %0 = stablehlo.select %p, %a, %a : tensor<2xf32>, tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{result 0 (`result`) of `stablehlo.compare` must be a ranked tensor of booleans, but has type tensor<2xf32>}}
  %0 = stablehlo.compare LT, %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f(%a: tensor<2xf32>) -> tensor<2xf64> {
  // expected-error @+1 {{value 0 has type tensor<2xf32>, but result 0 of @f has type tensor<2xf64>}}
  return %a : tensor<2xf32>
}
// -----
func.func @f() -> tensor<2xf32> {
  // expected-error @+1 {{this list has 3 entries, but the dimension has size 2}}
  %0 = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f() -> tensor<2xi32> {
  // expected-error @+1 {{a decimal fraction cannot have type i32}}
  %0 = stablehlo.constant dense<1.5> : tensor<2xi32>
  return %0 : tensor<2xi32>
}
// -----
// expected-error @+2 {{expected a type, found `float32`}}
// expected-help @+1 {{did you mean `f32`?}}
func.func @f(%a: tensor<2xfloat32>) {
  return
}
// -----
// expected-error @+2 {{expected a type, found `tesnor`}}
// expected-help @+1 {{did you mean `tensor`?}}
func.func @f(%a: tesnor<2xf32>) {
  return
}
// -----
// expected-error @+2 {{expected `x` after a dimension, found `,`}}
// expected-help @+1 {{sizes are separated by `x`, as in `tensor<2x3xf32>`}}
func.func @f(%a: tensor<2,3xf32>) {
  return
}
// -----
// names
func.func @f(%input: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+2 {{the value `%inptu` is used but not defined}}
  // expected-help @+1 {{did you mean `%input`?}}
  %0 = stablehlo.abs %inptu : tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+2 {{dialect `stablehlo` has no op `ad`}}
  // expected-help @+1 {{did you mean `stablehlo.add`?}}
  %0 = stablehlo.ad %a, %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+2 {{unknown op `stablhlo.abs`: there is no dialect of its name}}
  // expected-help @+1 {{did you mean `stablehlo.abs`?}}
  %0 = stablhlo.abs %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+2 {{unknown op `add`: its name lacks a dialect}}
  // expected-help @+1 {{did you mean `stablehlo.add`?}}
  %0 = add %a, %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-note @+1 {{the first definition of `%0`}}
  %0 = stablehlo.abs %a : tensor<2xf32>
  // expected-error @+1 {{the value `%0` is defined twice}}
  %0 = stablehlo.abs %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{operand 0 of `stablehlo.abs` is used before it is defined}}
  %0 = stablehlo.abs %1 : tensor<2xf32>
  // expected-note @+1 {{defined here}}
  %1 = stablehlo.abs %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f(%p: tensor<i1>, %a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.if"(%p) ({
    // expected-note @+1 {{defined here}}
    %x = stablehlo.abs %a : tensor<2xf32>
    stablehlo.return %x : tensor<2xf32>
  }, {
    stablehlo.return %a : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  // expected-error @+1 {{the value `%x` is not visible here: it belongs to another region}}
  return %x : tensor<2xf32>
}
// -----
// symbols
func.func private @helper(tensor<2xf32>) -> tensor<2xf32>
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+2 {{there is no function @helpr to call}}
  // expected-help @+1 {{did you mean @helper?}}
  %0 = call @helpr(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
// expected-note @+1 {{@helper is defined here}}
func.func private @helper(tensor<2xf32>) -> tensor<2xf32>
func.func @f(%a: tensor<3xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{operand 0 has type tensor<3xf32>, but in @helper it has type tensor<2xf32>}}
  %0 = call @helper(%a) : (tensor<3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
// expected-note @+1 {{first defined here}}
func.func @f() {
  return
}
// expected-error @+1 {{the symbol @f is defined twice}}
func.func @f() {
  return
}
// -----
// regions
func.func @f(%p: tensor<i1>, %a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{`stablehlo.if` must have 2 regions, but has 1}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f(%p: tensor<i1>, %a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<2xf32> {
  // expected-error @+2 {{branch 1 must return (tensor<2xf32>) as branch 0 does; it returns (tensor<3xf32>)}}
  // expected-error @+1 {{the types of the results do not follow}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<2xf32>
  }, {
    stablehlo.return %b : tensor<3xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f(%i: tensor<i32>) -> tensor<i32> {
  // expected-error @+1 {{cond must return one tensor<i1>; found (tensor<i32>)}}
  %0 = stablehlo.while(%x = %i) : tensor<i32>
  cond {
    stablehlo.return %x : tensor<i32>
  } do {
    stablehlo.return %x : tensor<i32>
  }
  return %0 : tensor<i32>
}
// -----
func.func @f(%a: tensor<2x3xf32>, %i: tensor<f32>) -> tensor<2xf32> {
  // expected-error @+1 {{body must take 2 arguments and return 1 value, two and one for each input; it takes 1 and returns 1}}
  %0 = "stablehlo.reduce"(%a, %i) <{dimensions = array<i64: 1>}> ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
// terminators
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{the block must end with a terminator such as `func.return`, but ends with `stablehlo.abs`}}
  %0 = stablehlo.abs %a : tensor<2xf32>
}
// -----
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{`func.return`: a terminator must be the last op of its block}}
  return %a : tensor<2xf32>
  %0 = stablehlo.abs %a : tensor<2xf32>
}
// -----
func.func @f(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // expected-error @+1 {{returns 1 value, but @f has 2 results}}
  return %a : tensor<2xf32>
}
// -----
func.func @f(%p: tensor<i1>, %a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.if"(%p) ({
    // expected-error @+1 {{`func.return`: must be in `func.func`, but is in `stablehlo.if`}}
    func.return %a : tensor<2xf32>
  }, {
    stablehlo.return %a : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
// attributes
func.func @f(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // expected-error @+2 {{expected `precision` or `algorithm`, found `precison`}}
  // expected-help @+1 {{did you mean `precision`?}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], precison = [DEFAULT, DEFAULT] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
// -----
func.func @f(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // expected-error @+2 {{expected one of the precision values DEFAULT, HIGH, HIGHEST, found `HIHG`}}
  // expected-error @+1 {{the list of precisions cannot be read}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], precision = [HIHG, DEFAULT] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
// -----
func.func @f(%a: tensor<2xf32>) -> tensor<2xi1> {
  // expected-error @+1 {{expected one of the comparison_direction values EQ, NE, GE, GT, LE, LT, found `LESS`}}
  %0 = stablehlo.compare LESS, %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return %0 : tensor<2xi1>
}
// -----
func.func @f(%a: tensor<2x3xf32>) -> tensor<3x2xf32> {
  // expected-error @+1 {{`stablehlo.transpose` needs the attribute `permutation`: an array<i64: …>}}
  %0 = "stablehlo.transpose"(%a) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
// -----
func.func @f(%a: tensor<2x3xf32>) -> tensor<3x2xf32> {
  // expected-error @+1 {{attribute `permutation` of `stablehlo.transpose` must be an array<i64: …>, but is "1, 0"}}
  %0 = "stablehlo.transpose"(%a) <{permutation = "1, 0"}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
// -----
func.func @f(%a: tensor<2x3xf32>) -> tensor<3x2xf32> {
  // expected-error @+2 {{stablehlo.transpose has no property `permutaton`; it has permutation}}
  // expected-help @+1 {{did you mean `permutation`?}}
  %0 = "stablehlo.transpose"(%a) <{permutaton = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
// -----
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{replica_groups must not repeat values, but 0 occurs twice in [0, 0]}}
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{attribute `api_version` of `stablehlo.custom_call` must be an i32 that is one of the custom_call_api_version values, but is 9 : i32}}
  %0 = stablehlo.custom_call @foo(%a) {api_version = 9 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
// syntax
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{expected `:`, found `,`}}
  %0 = stablehlo.abs %a, : tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{expected `:`, found `tensor`}}
  %0 = stablehlo.abs %a tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{expected `>`, found `return`}}
  %0 = stablehlo.abs %a : tensor<2xf32
  return %0 : tensor<2xf32>
}
// -----
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+2 {{expected an operation, found `#`}}
  // expected-help @+1 {{comments start with `//`}}
  # a comment of Python
  return %a : tensor<2xf32>
}
// -----
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{expected an attribute, found an unclosed string}}
  %0 = stablehlo.custom_call @foo(%a) {backend_config = "unclosed} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{the op has 1 result, but 2 are named}}
  %0, %1 = stablehlo.abs %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{2 operands, but the type has 1 input}}
  %0 = "stablehlo.abs"(%a, %a) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{`stablehlo.abs` must have 1 operand (operand), but has 2}}
  %0 = "stablehlo.abs"(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.abs %a : tensor<2xf32>
  // expected-error @+1 {{expected `}`, found the end of the text}}
  return %0 : tensor<2xf32>
// -----
func.func @f(%a: tensor<8xf32>) -> tensor<2xf32> {
  // expected-error @+2 {{start_indices has 3 for dimension 0; it must be 0 to 1, the limit}}
  // expected-error @+1 {{the types of the results do not follow}}
  %0 = stablehlo.slice %a [3:1] : (tensor<8xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f() -> tensor<f32> {
  // expected-error @+1 {{the result must have a dimension to count along; found the scalar tensor<f32>}}
  %0 = stablehlo.iota dim = 0 : tensor<f32>
  return %0 : tensor<f32>
}
// -----
func.func @f(%a: tensor<4x6xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{lhs_contracting_dimensions must not contain values of lhs_batching_dimensions; found 0 in [0] and in [0]}}
  %0 = stablehlo.dot_general %a, %a, batching_dims = [0] x [0], contracting_dims = [0] x [0] : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @f(%a: tensor<1x8x8x3xf32>, %k: tensor<3x3x3x16xf32>) -> tensor<1x6x6x16xf32> {
  // expected-error @+1 {{dimension `f` is given twice}}
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, f, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x16xf32>) -> tensor<1x6x6x16xf32>
  return %0 : tensor<1x6x6x16xf32>
}
// -----
func.func @f(%a: tensor<2xui64>) -> tensor<2xui64> {
  // expected-error @+1 {{the op has 2 results, but 1 is named}}
  %0 = stablehlo.rng_bit_generator %a, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  return %0 : tensor<2xui64>
}
// -----
func.func @f(%a: tensor<3x3xf32>) -> tensor<3x3xf32> {
  // expected-error @+1 {{attribute `lower` of `stablehlo.cholesky` must be a boolean, but is -1 : si1}}
  %0 = "stablehlo.cholesky"(%a) <{lower = -1 : si1}> : (tensor<3x3xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}
// -----
// Names of other systems.
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{dialect `stablehlo` has no op `sigmoid`}}
  %0 = stablehlo.sigmoid %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f(%a: tensor<3xf32>) -> tensor<3xi64> {
  // expected-error @+1 {{an element of tensor<3xf32> has 32 bits, one of tensor<3xi64> has 64: the operand must have the shape of the result and a last dimension of size 2}}
  %0 = stablehlo.bitcast_convert %a : (tensor<3xf32>) -> tensor<3xi64>
  return %0 : tensor<3xi64>
}
// -----
func.func @f(%a: tensor<3xf32>) -> tensor<3x4xi16> {
  // expected-error @+1 {{an element of tensor<3xf32> has 32 bits, one of tensor<3x4xi16> has 16: the result must have the shape of the operand and a last dimension of size 2}}
  %0 = stablehlo.bitcast_convert %a : (tensor<3xf32>) -> tensor<3x4xi16>
  return %0 : tensor<3x4xi16>
}
// -----
func.func @f(%a: tensor<3x!quant.uniform<i8:f32, 1.0:300>>) {
  // expected-error @+1 {{: the zero point 300 is outside of the storage -128:127}}
  %0 = stablehlo.abs %a : tensor<3x!quant.uniform<i8:f32, 1.0:300>>
  return
}
// -----
func.func @f(%a: tensor<3x!quant.uniform<i8:f32:1, {1.0,2.0,3.0}>>) {
  // expected-error @+1 {{: it is quantized along dimension 1, but has rank 1}}
  %0 = stablehlo.uniform_dequantize %a : (tensor<3x!quant.uniform<i8:f32:1, {1.0,2.0,3.0}>>) -> tensor<3xf32>
  return
}
// -----
func.func @f(%a: tensor<3x!quant.uniform<i8:f32:0, {1.0,2.0}>>) {
  // expected-error @+1 {{: it is quantized along dimension 0 with 2 scales, but that has size 3}}
  %0 = stablehlo.uniform_dequantize %a : (tensor<3x!quant.uniform<i8:f32:0, {1.0,2.0}>>) -> tensor<3xf32>
  return
}
// -----
func.func @f(%a: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{expected a function type, with operand types in parentheses as in `(tensor<2xf32>) -> tensor<2xf32>`, found `tensor`}}
  %0 = stablehlo.transpose %a, dims = [0] : tensor<3xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
// -----
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{expected `,` and the operand `rhs`, found `:`}}
  %0 = stablehlo.add %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+2 {{expected `:`, found `,`}}
  // expected-help @+1 {{`stablehlo.add` has 2 operands: lhs, rhs}}
  %0 = stablehlo.add %a, %a, %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f(%a: tensor<2xf32>, %p: tensor<f32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected `,` and `interior`, found `:`}}
  %0 = stablehlo.pad %a, %p, low = [1], high = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
// expected-error @+2 {{expected a type, found `a`}}
// expected-help @+1 {{names of values start with `%`: `%a: …`}}
func.func @f(a: tensor<2xf32>) {
  return
}
// -----
// expected-error @+2 {{expected an operation, found `=`}}
// expected-help @+1 {{did you mean `->`?}}
func.func @f(%a: tensor<2xf32>) => tensor<2xf32> {
  return %a : tensor<2xf32>
}
// -----
// expected-error @+1 {{a dimension must have a size of at least 0, or `?`}}
func.func @f(%a: tensor<-2xf32>) {
  return
}
// -----
func.func @f() -> tensor<2xi8> {
  // expected-error @+1 {{expected elements with a type, such as `dense<[1, 2]> : tensor<2xi32>`, found `[1, 2]`}}
  %0 = stablehlo.constant [1, 2] : tensor<2xi8>
  return %0 : tensor<2xi8>
}
// -----
func.func @f(%a: tensor<2x3xf32>, %i: tensor<f32>) -> tensor<2xf32> {
  // expected-error @+2 {{`stablehlo.sum` is not a commutative StableHLO op of two operands and one result}}
  // expected-help @+1 {{did you mean `stablehlo.add`?}}
  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.sum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f(%a: tensor<2x3xf32>, %i: tensor<1xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{body must take and return tensors of shape [1], that of the initial value tensor<1xf32>; found tensor<f32>, tensor<f32> and tensor<f32>}}
  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
// The name begins a line: it is not missing at the end of the line before.
func.func @f(%a: tensor<2xf32>) {
  // expected-error @+2 {{expected an operation, found `0`}}
  // expected-help @+1 {{did you mean `%0`?}}
  0 = stablehlo.add %a, %a : tensor<2xf32>
  return
}
// -----
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+2 {{expected an operation, found `->`}}
  // expected-help @+1 {{operand types before `->` are in parentheses, as in `(tensor<2xf32>) -> tensor<2xf32>`}}
  %0 = stablehlo.abs %a : tensor<2xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @f(%a: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x3xf32>) -> tensor<1x2x2x3xf32> {
  // expected-error @+1 {{only MHLO has unknown dimensions; expected a number, b or f}}
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, ?, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x3xf32>) -> tensor<1x2x2x3xf32>
  return %0 : tensor<1x2x2x3xf32>
}
