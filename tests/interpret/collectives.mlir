// Every collective on a grid of processes; expected values are those of the definitions in the specification.
// RUN: stablehlo-translate --interpret --split-input-file %s

func.func @gather(%x: tensor<1x2xi64>) -> tensor<2x2xi64> {
  %0 = "stablehlo.all_gather"(%x) {
    all_gather_dim = 0 : i64, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>
  } : (tensor<1x2xi64>) -> tensor<2x2xi64>
  return %0 : tensor<2x2xi64>
}
func.func @main() {
  %a = stablehlo.constant dense<[[1, 2]]> : tensor<1x2xi64>
  %b = stablehlo.constant dense<[[3, 4]]> : tensor<1x2xi64>
  %0:2 = "interpreter.run_parallel"(%a, %b) { programs = [[@gather], [@gather]] }
    : (tensor<1x2xi64>, tensor<1x2xi64>) -> (tensor<2x2xi64>, tensor<2x2xi64>)
  // In the order of the group.
  check.expect_eq_const %0#0, dense<[[3, 4], [1, 2]]> : tensor<2x2xi64>
  check.expect_eq_const %0#1, dense<[[3, 4], [1, 2]]> : tensor<2x2xi64>
  return
}

// -----

// Sums of wider elements than the operands.
func.func @reduce(%x: tensor<2xi8>, %y: tensor<i32>) -> (tensor<2xi64>, tensor<i64>) {
  %0:2 = "stablehlo.all_reduce"(%x, %y) ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %s = stablehlo.add %a, %b : tensor<i64>
      stablehlo.return %s : tensor<i64>
  }) { replica_groups = dense<> : tensor<0x0xi64> } : (tensor<2xi8>, tensor<i32>) -> (tensor<2xi64>, tensor<i64>)
  return %0#0, %0#1 : tensor<2xi64>, tensor<i64>
}
func.func @main() {
  %a = stablehlo.constant dense<[100, 1]> : tensor<2xi8>
  %b = stablehlo.constant dense<7> : tensor<i32>
  %0:4 = "interpreter.run_parallel"(%a, %b, %a, %b) { programs = [[@reduce], [@reduce]] }
    : (tensor<2xi8>, tensor<i32>, tensor<2xi8>, tensor<i32>) -> (tensor<2xi64>, tensor<i64>, tensor<2xi64>, tensor<i64>)
  check.expect_eq_const %0#0, dense<[200, 2]> : tensor<2xi64>
  check.expect_eq_const %0#3, dense<14> : tensor<i64>
  return
}

// -----

func.func @scatter(%x: tensor<4xi64>) -> tensor<2xi64> {
  %0 = "stablehlo.reduce_scatter"(%x) ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %s = stablehlo.subtract %a, %b : tensor<i64>
      stablehlo.return %s : tensor<i64>
  }) {
    scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  } : (tensor<4xi64>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}
func.func @sum(%x: tensor<4xi64>) -> tensor<4xi64> {
  %0 = "stablehlo.cross-replica-sum"(%x) { replica_groups = dense<[[0, 1]]> : tensor<1x2xi64> } : (tensor<4xi64>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}
func.func @main() {
  %a = stablehlo.constant dense<[10, 20, 30, 40]> : tensor<4xi64>
  %b = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi64>
  %0:2 = "interpreter.run_parallel"(%a, %b) { programs = [[@scatter], [@scatter]] }
    : (tensor<4xi64>, tensor<4xi64>) -> (tensor<2xi64>, tensor<2xi64>)
  check.expect_eq_const %0#0, dense<[9, 18]> : tensor<2xi64>
  check.expect_eq_const %0#1, dense<[27, 36]> : tensor<2xi64>
  %1:2 = "interpreter.run_parallel"(%a, %b) { programs = [[@sum], [@sum]] }
    : (tensor<4xi64>, tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi64>)
  check.expect_eq_const %1#1, dense<[11, 22, 33, 44]> : tensor<4xi64>
  return
}

// -----

// A root for each result; process 2 is in no group.
func.func @broadcast(%x: tensor<2xi64>, %y: tensor<i64>, %roots: tensor<2xi32>) -> (tensor<2xi64>, tensor<i64>) {
  %0:2 = "stablehlo.collective_broadcast"(%x, %y, %roots) {
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root
  } : (tensor<2xi64>, tensor<i64>, tensor<2xi32>) -> (tensor<2xi64>, tensor<i64>)
  return %0#0, %0#1 : tensor<2xi64>, tensor<i64>
}
func.func @main() {
  %x0 = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %x1 = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
  %y0 = stablehlo.constant dense<5> : tensor<i64>
  %y1 = stablehlo.constant dense<6> : tensor<i64>
  %roots = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
  %0:6 = "interpreter.run_parallel"(%x0, %y0, %roots, %x1, %y1, %roots, %x1, %y1, %roots) {
    programs = [[@broadcast], [@broadcast], [@broadcast]]
  } : (tensor<2xi64>, tensor<i64>, tensor<2xi32>, tensor<2xi64>, tensor<i64>, tensor<2xi32>, tensor<2xi64>, tensor<i64>, tensor<2xi32>)
    -> (tensor<2xi64>, tensor<i64>, tensor<2xi64>, tensor<i64>, tensor<2xi64>, tensor<i64>)
  check.expect_eq_const %0#0, dense<[3, 4]> : tensor<2xi64>
  check.expect_eq_const %0#1, dense<5> : tensor<i64>
  check.expect_eq_const %0#2, dense<[3, 4]> : tensor<2xi64>
  check.expect_eq_const %0#3, dense<5> : tensor<i64>
  check.expect_eq_const %0#4, dense<0> : tensor<2xi64>
  check.expect_eq_const %0#5, dense<0> : tensor<i64>
  return
}

// -----

// A ring, and a process that sends to itself.
func.func @permute(%x: tensor<i64>) -> tensor<i64> {
  %0 = "stablehlo.collective_permute"(%x) {
    source_target_pairs = dense<[[0, 1], [1, 0], [2, 2]]> : tensor<3x2xi64>,
    channel_handle = #stablehlo.channel_handle<handle = 3, type = 0>
  } : (tensor<i64>) -> tensor<i64>
  return %0 : tensor<i64>
}
func.func @main() {
  %a = stablehlo.constant dense<1> : tensor<i64>
  %b = stablehlo.constant dense<2> : tensor<i64>
  %c = stablehlo.constant dense<3> : tensor<i64>
  %0:4 = "interpreter.run_parallel"(%a, %b, %c, %c) { programs = [[@permute, @permute, @permute, @permute]] }
    : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>)
  check.expect_eq_const %0#0, dense<2> : tensor<i64>
  check.expect_eq_const %0#1, dense<1> : tensor<i64>
  check.expect_eq_const %0#2, dense<3> : tensor<i64>
  check.expect_eq_const %0#3, dense<0> : tensor<i64>
  return
}

// -----

// An asynchronous collective.
func.func @async(%x: tensor<1xi64>) -> tensor<2xi64> {
  %0 = "stablehlo.async_start"(%x) ({
    ^bb0(%a: tensor<1xi64>):
      %1 = "stablehlo.all_gather"(%a) {
        all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
      } : (tensor<1xi64>) -> tensor<2xi64>
      stablehlo.return %1 : tensor<2xi64>
  }) : (tensor<1xi64>) -> !stablehlo.future<tensor<2xi64>>
  %2 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<2xi64>>) -> tensor<2xi64>
  return %2 : tensor<2xi64>
}
func.func @main() {
  %a = stablehlo.constant dense<1> : tensor<1xi64>
  %b = stablehlo.constant dense<2> : tensor<1xi64>
  %0:2 = "interpreter.run_parallel"(%a, %b) { programs = [[@async], [@async]] }
    : (tensor<1xi64>, tensor<1xi64>) -> (tensor<2xi64>, tensor<2xi64>)
  check.expect_eq_const %0#0, dense<[1, 2]> : tensor<2xi64>
  return
}
