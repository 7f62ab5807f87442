// RUN: stablehlo-opt %s --verify-diagnostics --split-input-file

func.func @bits_differ(%x: tensor<4xf32>, %r: tensor<4xui16>) -> tensor<4xi8> {
  // expected-error @+1 {{the elements of operand and random must have as many bits; found tensor<4xf32> and tensor<4xui16>}}
  %0 = "mhlo.stochastic_convert"(%x, %r) : (tensor<4xf32>, tensor<4xui16>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

func.func @signed_random(%x: tensor<4xf32>, %r: tensor<4xi32>) -> tensor<4xi8> {
  // expected-error @+1 {{must be a ranked tensor of unsigned integers}}
  %0 = "mhlo.stochastic_convert"(%x, %r) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

func.func @state(%x: tensor<4xf32>) -> tensor<3xui64> {
  // expected-error @+2 {{the types of the results do not follow}}
  // expected-error @+1 {{has type tensor<3xui64>, but tensor<2xui64> follows}}
  %0 = "mhlo.xla.rng_get_and_update_state"() {delta = 1 : i64} : () -> tensor<3xui64>
  return %0 : tensor<3xui64>
}

// -----

// Its text has no type, and so would be read back with another one.
func.func @dynamic_state(%x: tensor<4xf32>) -> tensor<?xui64> {
  // expected-error @+1 {{must be a statically shaped tensor of unsigned integers}}
  %0 = "mhlo.xla.rng_get_and_update_state"() {delta = 1 : i64} : () -> tensor<?xui64>
  return %0 : tensor<?xui64>
}

// -----

func.func @dependency(%x: tensor<4xf32>, %t: !mhlo.token) -> tensor<3xf32> {
  // expected-error @+2 {{the types of the results do not follow}}
  // expected-error @+1 {{tensor<4xf32> follows}}
  %0 = mhlo.add_dependency %x, %t : (tensor<4xf32>, !mhlo.token) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @alias(%x: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{names a part of type tensor<4xf32> of the operands and a part of type tensor<3xf32> of the results}}
  %0 = "mhlo.fusion"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %b = mhlo.constant dense<1.0> : tensor<3xf32>
    mhlo.return %b : tensor<3xf32>
  }) {output_operand_aliases = [#mhlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<4xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @no_thread(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @thread(%x: tensor<4xf32>) {
  // expected-error @+1 {{the execution_thread must be that of @no_thread; found "t" and none}}
  %0 = "mhlo.async_start"(%x) {called_computation = @no_thread, execution_thread = "t"} : (tensor<4xf32>) -> !mhlo.async_bundle<tensor<4xf32>, tensor<4xf32>>
  return
}

// -----

func.func @callee(%x: tensor<4xf32>) -> tensor<4xf32> attributes {execution_thread = "t"} {
  return %x : tensor<4xf32>
}
func.func @bundle(%x: tensor<4xf32>) {
  // expected-error @+1 {{the bundle must have the types of the inputs and then of the results of @callee}}
  %0 = "mhlo.async_start"(%x) {called_computation = @callee, execution_thread = "t"} : (tensor<4xf32>) -> !mhlo.async_bundle<tensor<4xf32>>
  return
}

// -----

func.func @nothing_to_call(%x: tensor<4xf32>) {
  // expected-error @+1 {{there is no function @nothing to call}}
  %0 = "mhlo.async_start"(%x) {called_computation = @nothing, execution_thread = "t"} : (tensor<4xf32>) -> !mhlo.async_bundle<tensor<4xf32>, tensor<4xf32>>
  return
}

// -----

func.func @done(%x: !mhlo.async_bundle<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32> {
  // expected-error @+1 {{the operand must be a result of mhlo.async_start or mhlo.async_update}}
  %0 = "mhlo.async_done"(%x) : (!mhlo.async_bundle<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @top_k_of_scalar(%x: tensor<f32>) {
  // expected-error @+1 {{the operand must have at least one dimension}}
  %0:2 = mhlo.topk(%x, k = 2) : tensor<f32> -> (tensor<2xf32>, tensor<2xi32>)
  return
}

// -----

func.func @top_k_of_few(%x: tensor<3xf32>) {
  // expected-error @+1 {{the last dimension must have at least k = 4 elements; found 3}}
  %0:2 = mhlo.topk(%x, k = 4) : tensor<3xf32> -> (tensor<4xf32>, tensor<4xi32>)
  return
}

// -----

func.func @list_of_two_dimensions(%x: tensor<3x4xf32>) -> tensor<1x4xf32> {
  // expected-error @+1 {{attribute `start_indices` of `stablehlo.slice` must be}}
  %0 = "mhlo.slice"(%x) {start_indices = dense<[[1, 0]]> : tensor<1x2xi64>, limit_indices = dense<[2, 4]> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} : (tensor<3x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

func.func @odd_padding(%a: tensor<1x8x8x7xf32>, %b: tensor<3x3x7x16xf32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{the padding must have 2 elements a spatial dimension; found 3}}
  %0 = "mhlo.dynamic_conv"(%a, %b, %p) {batch_group_count = 1 : i64, dimension_numbers = #mhlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64} : (tensor<1x8x8x7xf32>, tensor<3x3x7x16xf32>, tensor<3xi32>) -> tensor<1x?x?x16xf32>
  return
}

// -----

// expected-error @+1 {{`mhlo.result_alias` must be an attribute of a function's argument}}
module attributes {mhlo.result_alias = #mhlo.result_alias<result_index = [0]>} {}

// -----

// expected-error @+1 {{result_index names result 1; the function has 1 result}}
func.func @no_result(%x: tensor<2xf32> {mhlo.result_alias = #mhlo.result_alias<result_index = [1]>}) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

// expected-error @+1 {{argument and result must have compatible types; found tensor<2xf32> and tensor<3xf32>}}
func.func @other_type(%x: tensor<2xf32> {mhlo.result_alias = #mhlo.result_alias<result_index = [0, 1]>}, %y: tuple<i32, tensor<3xf32>>) -> tuple<i32, tensor<3xf32>> {
  return %y : tuple<i32, tensor<3xf32>>
}

// -----

// expected-error @+1 {{tuple_indices [2] name no part of tuple<i32, tensor<2xf32>>}}
func.func @no_part(%x: tuple<i32, tensor<2xf32>> {mhlo.result_alias = #mhlo.result_alias<tuple_indices = [2], result_index = [0]>}) -> tuple<i32, tensor<2xf32>> {
  return %x : tuple<i32, tensor<2xf32>>
}

// -----

// expected-error @+1 {{must have a value for each of 1 parts of tensor<f32>; found 2}}
func.func @replication(%x: tensor<f32> {mhlo.parameter_replication = [true, false]}) {
  return
}

// -----

func.func @all_to_all_of_parts(%x: tensor<4x16xf32>) -> tensor<16x4xf32> {
  // expected-error @+1 {{needs the attribute `split_dimension`}}
  %0 = "mhlo.all_to_all"(%x) {concat_dimension = 0 : i64, split_count = 4 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<4x16xf32>) -> tensor<16x4xf32>
  return %0 : tensor<16x4xf32>
}

// -----

func.func @all_to_all_of_tuple(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{has one result of the type of each}}
  %0 = "mhlo.all_to_all"(%x, %x) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @no_vector(%x: tensor<?xf16>, %shape: tensor<1x1xindex>) -> tensor<?xf16> {
  // expected-error @+1 {{operand 1 (`output_shape`)}}
  %0 = mhlo.dynamic_reshape %x, %shape : (tensor<?xf16>, tensor<1x1xindex>) -> tensor<?xf16>
  return %0 : tensor<?xf16>
}

// -----

// expected-error @+1 {{dialect `mhlo` has no type `foobar`; it has async_bundle}}
func.func private @type() -> !mhlo.foobar

// -----

// expected-error @+1 {{dialect `tensor` has no types}}
func.func private @no_types() -> !tensor.foo

// -----

// Only MHLO has dimensions without a number.
// expected-error @+1 {{only MHLO has unknown dimensions}}
module attributes {test.dims = #stablehlo.conv<[b, ?, f]x[i, o]->[b, f]>} {}

// -----

// expected-error @+1 {{spatial dimension 0 is missing}}
module attributes {test.dims = #mhlo.conv<[b, ?, 1, f]x[i, o]->[b, f]>} {}
