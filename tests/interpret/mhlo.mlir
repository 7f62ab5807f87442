// Ops of MHLO that are private to XLA: read, printed and run with the meaning that XLA gives them.

// RUN: stablo run %s
// RUN: stablo run %s --engine reference
// RUN: stablehlo-opt %s > %t.0
// RUN: FileCheck %s < %t.0
// RUN: stablehlo-opt %t.0 | diff %t.0 -
// RUN: stablehlo-opt %t.0 --mlir-print-op-generic -o %t.generic
// RUN: stablehlo-opt %t.generic | diff %t.0 -
// RUN: stablehlo-opt %t.0 --emit-bytecode -o %t.bc
// RUN: stablehlo-opt %t.bc | diff %t.0 -

// CHECK-LABEL: func.func @main
// CHECK: "mhlo.async_start"(%{{.*}}, %{{.*}}) <{called_computation = @callee, execution_thread = "t"}>
// CHECK: mhlo.add_dependency %{{.*}}, %{{.*}} : (tensor<2xf32>, !stablehlo.token) -> tensor<2xf32>
// CHECK: mhlo.copy %{{.*}} {cross_program_prefetch_index = 0 : i32} : tensor<2xf32>
// CHECK: "mhlo.domain"(%{{.*}}) <{entry_metadata = "{}", exit_metadata = "{maximal device=0}", kind = #mhlo<kind sharding>}>
// CHECK: mhlo.trace %{{.*}}, "here" : tensor<2xf32>
// CHECK: "mhlo.fusion"(%{{.*}}, %{{.*}}) <{fusion_kind = #mhlo<fusion_kind kCustom>
// CHECK: mhlo.bitcast %{{.*}} : (tensor<2xf32>) -> tensor<1x2xi32>
// CHECK: "mhlo.stochastic_convert"
// CHECK: mhlo.xla.rng_get_and_update_state {delta = 5 : i64}

func.func @callee(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) attributes {execution_thread = "t"} {
  %0 = mhlo.add %x, %y : tensor<2xf32>
  %1 = mhlo.multiply %x, %y : tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
func.func @one(%x: tensor<2xf32>) -> tensor<2xf32> attributes {execution_thread = "t"} {
  %0 = mhlo.add %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @main() {
  %x = mhlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = mhlo.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %0 = "mhlo.async_start"(%x, %y) {called_computation = @callee, execution_thread = "t"} : (tensor<2xf32>, tensor<2xf32>) -> !mhlo.async_bundle<tuple<tensor<2xf32>, tensor<2xf32>>, tuple<tensor<2xf32>, tensor<2xf32>>, tensor<i32>>
  %1 = "mhlo.async_update"(%0) : (!mhlo.async_bundle<tuple<tensor<2xf32>, tensor<2xf32>>, tuple<tensor<2xf32>, tensor<2xf32>>, tensor<i32>>) -> !mhlo.async_bundle<tuple<tensor<2xf32>, tensor<2xf32>>, tuple<tensor<2xf32>, tensor<2xf32>>, tensor<i32>>
  %2:2 = "mhlo.async_done"(%1) : (!mhlo.async_bundle<tuple<tensor<2xf32>, tensor<2xf32>>, tuple<tensor<2xf32>, tensor<2xf32>>, tensor<i32>>) -> (tensor<2xf32>, tensor<2xf32>)
  check.expect_eq_const %2#0, dense<[4.0, 6.0]> : tensor<2xf32>
  check.expect_eq_const %2#1, dense<[3.0, 8.0]> : tensor<2xf32>
  %3 = "mhlo.async_start"(%x) {called_computation = @one, execution_thread = "t"} : (tensor<2xf32>) -> !mhlo.async_bundle<tensor<2xf32>, tensor<2xf32>>
  %4 = "mhlo.async_done"(%3) : (!mhlo.async_bundle<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
  check.expect_eq_const %4, dense<[2.0, 4.0]> : tensor<2xf32>

  %token = mhlo.create_token : !mhlo.token
  %5 = mhlo.add_dependency %x, %token : (tensor<2xf32>, !mhlo.token) -> tensor<2xf32>
  check.expect_eq_const %5, dense<[1.0, 2.0]> : tensor<2xf32>
  %6 = mhlo.copy %y {cross_program_prefetch_index = 0 : i32} : tensor<2xf32>
  check.expect_eq_const %6, dense<[3.0, 4.0]> : tensor<2xf32>
  %7 = "mhlo.domain"(%x) {kind = #mhlo<kind sharding>, entry_metadata = "{}", exit_metadata = "{maximal device=0}"} : (tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const %7, dense<[1.0, 2.0]> : tensor<2xf32>
  mhlo.trace %x, "here" : tensor<2xf32>
  %8:2 = "mhlo.fusion"(%x, %y) ({
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
    %s = mhlo.subtract %b, %a : tensor<2xf32>
    "mhlo.return"(%s, %b) : (tensor<2xf32>, tensor<2xf32>) -> ()
  }) {fusion_kind = #mhlo<fusion_kind kCustom>, output_operand_aliases = [#mhlo.output_operand_alias<output_tuple_indices = [1], operand_index = 1, operand_tuple_indices = []>]} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  check.expect_eq_const %8#0, dense<2.0> : tensor<2xf32>
  check.expect_eq_const %8#1, dense<[3.0, 4.0]> : tensor<2xf32>

  %around = "mhlo.fusion"(%x) ({
    %s = mhlo.add %x, %y : tensor<2xf32>
    "mhlo.return"(%s) : (tensor<2xf32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const %around, dense<[4.0, 6.0]> : tensor<2xf32>

  // Bits of 1.0 and 2.0; rows and columns.
  %9 = mhlo.bitcast %x : (tensor<2xf32>) -> tensor<1x2xi32>
  check.expect_eq_const %9, dense<[[0x3F800000, 0x40000000]]> : tensor<1x2xi32>
  %m = mhlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %10 = mhlo.bitcast %m {source_layout = dense<[1, 0]> : tensor<2xindex>, result_layout = dense<[0, 1]> : tensor<2xindex>} : (tensor<2x3xi32>) -> tensor<3x2xi32>
  check.expect_eq_const %10, dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
  %11 = mhlo.bitcast %m {source_layout = dense<[0, 1]> : tensor<2xindex>} : (tensor<2x3xi32>) -> tensor<6xi32>
  check.expect_eq_const %11, dense<[1, 4, 2, 5, 3, 6]> : tensor<6xi32>
  %bytes = mhlo.constant dense<[1, 0, 0, 0, 0, 1, 0, 0]> : tensor<8xi8>
  %12 = mhlo.bitcast %bytes : (tensor<8xi8>) -> tensor<2xi32>
  check.expect_eq_const %12, dense<[1, 256]> : tensor<2xi32>
  %13 = mhlo.bitcast %12 : (tensor<2xi32>) -> tensor<2x2x2xi8>
  check.expect_eq_const %13, dense<[[[1, 0], [0, 0]], [[0, 1], [0, 0]]]> : tensor<2x2x2xi8>

  // The fractions 0.25 and 0.75 as numbers of 32 bits are 2^30 and 3 * 2^30.
  %v = mhlo.constant dense<[1.25, 1.25, -1.75, -1.75, 300.0, -300.0, 0x7FC00000, 127.5]> : tensor<8xf32>
  %r = mhlo.constant dense<[1073741823, 1073741824, 3221225471, 3221225472, 0, 0, 0, 0]> : tensor<8xui32>
  %14 = "mhlo.stochastic_convert"(%v, %r) : (tensor<8xf32>, tensor<8xui32>) -> tensor<8xi8>
  check.expect_eq_const %14, dense<[2, 1, -2, -1, 127, -128, 0, 127]> : tensor<8xi8>

  // The state is one of the program, and has 128 bits. XLA's CPU backend gives the loop without the
  // op before it 117515165 and 117515170, and twice 2^64.
  %s0 = mhlo.xla.rng_get_and_update_state {delta = 5 : i64}
  check.expect_eq_const %s0, dense<[117515157, 0]> : tensor<2xui64>
  %zero = mhlo.constant dense<0> : tensor<i64>
  %one = mhlo.constant dense<1> : tensor<i64>
  %three = mhlo.constant dense<3> : tensor<i64>
  %s:3 = mhlo.while(%i = %zero, %u = %s0, %w = %s0) : tensor<i64>, tensor<2xui64>, tensor<2xui64> cond {
    %p = mhlo.compare LT, %i, %three : (tensor<i64>, tensor<i64>) -> tensor<i1>
    mhlo.return %p : tensor<i1>
  } do {
    %n = mhlo.add %i, %one : tensor<i64>
    %a = mhlo.xla.rng_get_and_update_state {delta = 5 : i64}
    %b = mhlo.xla.rng_get_and_update_state {delta = -1 : i64}
    mhlo.return %n, %a, %b : tensor<i64>, tensor<2xui64>, tensor<2xui64>
  }
  check.expect_eq_const %s#1, dense<[117515170, 2]> : tensor<2xui64>
  check.expect_eq_const %s#2, dense<[117515175, 2]> : tensor<2xui64>
  return
}
