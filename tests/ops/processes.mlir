// RUN: stablehlo-translate --interpret --split-input-file %s

// Two replicas: the root of the group, the first of its list, gets the sum; the others get zeros.
func.func @reduce(%x: tensor<2xi64>) -> tensor<2xi64> {
  %0 = "stablehlo.collective_reduce"(%x) ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %sum = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %sum : tensor<i64>
  }) {replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<2xi64>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}
func.func @main() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %y = stablehlo.constant dense<[30, 40]> : tensor<2xi64>
  %0:2 = "interpreter.run_parallel"(%x, %y) {programs = [[@reduce], [@reduce]]}
    : (tensor<2xi64>, tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>)
  check.expect_eq_const %0#0, dense<0> : tensor<2xi64>
  check.expect_eq_const %0#1, dense<[31, 42]> : tensor<2xi64>
  return
}

// -----

// Partition 0 sends to partition 1 of the same replica.
func.func @source(%x: tensor<2xi64>) {
  %token = stablehlo.create_token : !stablehlo.token
  %sent = "stablehlo.send"(%x, %token) {
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
    source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>
  } : (tensor<2xi64>, !stablehlo.token) -> !stablehlo.token
  return
}
func.func @target() -> (tensor<2xi64>, tensor<ui32>) {
  %token = stablehlo.create_token : !stablehlo.token
  %x, %received = "stablehlo.recv"(%token) {
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
    source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>
  } : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
  %replica = stablehlo.replica_id : tensor<ui32>
  return %x, %replica : tensor<2xi64>, tensor<ui32>
}
func.func @main() {
  %x = stablehlo.constant dense<[5, 6]> : tensor<2xi64>
  %0:2 = "interpreter.run_parallel"(%x) {programs = [[@source, @target]]}
    : (tensor<2xi64>) -> (tensor<2xi64>, tensor<ui32>)
  check.expect_eq_const %0#0, dense<[5, 6]> : tensor<2xi64>
  check.expect_eq_const %0#1, dense<0> : tensor<ui32>
  return
}

// -----

// What the host feeds in comes out of the queue, and goes back.
func.func @feed() -> tensor<2xi32> {
  %x = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
  return %x : tensor<2xi32>
}
func.func @echo() -> tensor<2xi32> {
  %token = stablehlo.create_token : !stablehlo.token
  %x, %fed = "stablehlo.infeed"(%token) {infeed_config = ""} : (!stablehlo.token) -> (tensor<2xi32>, !stablehlo.token)
  %out = "stablehlo.outfeed"(%x, %fed) {outfeed_config = ""} : (tensor<2xi32>, !stablehlo.token) -> !stablehlo.token
  return %x : tensor<2xi32>
}
func.func @main() {
  %0 = "interpreter.run_parallel"() {infeed = [@feed], programs = [[@echo]]} : () -> tensor<2xi32>
  check.expect_eq_const %0, dense<[3, 4]> : tensor<2xi32>
  return
}
