// All async ops, in flight at the same time on two processes, and awaited in another order.
// RUN: stablehlo-translate --interpret %s

func.func @all(%x: tensor<2xi64>) -> (tensor<4xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<2xi64>) {
  %one = stablehlo.constant dense<1> : tensor<i64>
  %new = stablehlo.constant dense<9> : tensor<1xi64>
  %gathered = "stablehlo.async_start"(%x) ({
    ^bb0(%a: tensor<2xi64>):
      %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xi64>) -> tensor<4xi64>
      stablehlo.return %0 : tensor<4xi64>
  }) : (tensor<2xi64>) -> !stablehlo.future<tensor<4xi64>>
  %reduced = "stablehlo.async_start"(%x) ({
    ^bb0(%a: tensor<2xi64>):
      %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
        ^bb0(%l: tensor<i64>, %r: tensor<i64>):
          %sum = stablehlo.add %l, %r : tensor<i64>
          stablehlo.return %sum : tensor<i64>
      }) : (tensor<2xi64>) -> tensor<2xi64>
      stablehlo.return %0 : tensor<2xi64>
  }) : (tensor<2xi64>) -> !stablehlo.future<tensor<2xi64>>
  %exchanged = "stablehlo.async_start"(%x) ({
    ^bb0(%a: tensor<2xi64>):
      %0 = "stablehlo.all_to_all"(%a) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xi64>) -> tensor<2xi64>
      stablehlo.return %0 : tensor<2xi64>
  }) : (tensor<2xi64>) -> !stablehlo.future<tensor<2xi64>>
  %sent = "stablehlo.async_start"(%x) ({
    ^bb0(%a: tensor<2xi64>):
      %0 = "stablehlo.collective_broadcast"(%a) <{replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<2xi64>) -> tensor<2xi64>
      stablehlo.return %0 : tensor<2xi64>
  }) : (tensor<2xi64>) -> !stablehlo.future<tensor<2xi64>>
  %permuted = "stablehlo.async_start"(%x) ({
    ^bb0(%a: tensor<2xi64>):
      %0 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<2xi64>) -> tensor<2xi64>
      stablehlo.return %0 : tensor<2xi64>
  }) : (tensor<2xi64>) -> !stablehlo.future<tensor<2xi64>>
  %scattered = "stablehlo.async_start"(%x) ({
    ^bb0(%a: tensor<2xi64>):
      %0 = "stablehlo.reduce_scatter"(%a) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
        ^bb0(%l: tensor<i64>, %r: tensor<i64>):
          %sum = stablehlo.add %l, %r : tensor<i64>
          stablehlo.return %sum : tensor<i64>
      }) : (tensor<2xi64>) -> tensor<1xi64>
      stablehlo.return %0 : tensor<1xi64>
  }) : (tensor<2xi64>) -> !stablehlo.future<tensor<1xi64>>
  %cut = "stablehlo.async_start"(%x) ({
    ^bb0(%a: tensor<2xi64>):
      %0 = "stablehlo.slice"(%a) <{start_indices = array<i64: 1>, limit_indices = array<i64: 2>, strides = array<i64: 1>}> : (tensor<2xi64>) -> tensor<1xi64>
      stablehlo.return %0 : tensor<1xi64>
  }) : (tensor<2xi64>) -> !stablehlo.future<tensor<1xi64>>
  %found = "stablehlo.async_start"(%x, %one) ({
    ^bb0(%a: tensor<2xi64>, %b: tensor<i64>):
      %0 = "stablehlo.dynamic_slice"(%a, %b) <{slice_sizes = array<i64: 1>}> : (tensor<2xi64>, tensor<i64>) -> tensor<1xi64>
      stablehlo.return %0 : tensor<1xi64>
  }) : (tensor<2xi64>, tensor<i64>) -> !stablehlo.future<tensor<1xi64>>
  %changed = "stablehlo.async_start"(%x, %new, %one) ({
    ^bb0(%a: tensor<2xi64>, %b: tensor<1xi64>, %c: tensor<i64>):
      %0 = "stablehlo.dynamic_update_slice"(%a, %b, %c) <{}> : (tensor<2xi64>, tensor<1xi64>, tensor<i64>) -> tensor<2xi64>
      stablehlo.return %0 : tensor<2xi64>
  }) : (tensor<2xi64>, tensor<1xi64>, tensor<i64>) -> !stablehlo.future<tensor<2xi64>>
  %8 = "stablehlo.async_done"(%changed) : (!stablehlo.future<tensor<2xi64>>) -> tensor<2xi64>
  %7 = "stablehlo.async_done"(%found) : (!stablehlo.future<tensor<1xi64>>) -> tensor<1xi64>
  %6 = "stablehlo.async_done"(%cut) : (!stablehlo.future<tensor<1xi64>>) -> tensor<1xi64>
  %5 = "stablehlo.async_done"(%scattered) : (!stablehlo.future<tensor<1xi64>>) -> tensor<1xi64>
  %4 = "stablehlo.async_done"(%permuted) : (!stablehlo.future<tensor<2xi64>>) -> tensor<2xi64>
  %3 = "stablehlo.async_done"(%sent) : (!stablehlo.future<tensor<2xi64>>) -> tensor<2xi64>
  %2 = "stablehlo.async_done"(%exchanged) : (!stablehlo.future<tensor<2xi64>>) -> tensor<2xi64>
  %1 = "stablehlo.async_done"(%reduced) : (!stablehlo.future<tensor<2xi64>>) -> tensor<2xi64>
  %0 = "stablehlo.async_done"(%gathered) : (!stablehlo.future<tensor<4xi64>>) -> tensor<4xi64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8
    : tensor<4xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<2xi64>
}
func.func @main() {
  %first = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %second = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
  %0:18 = "interpreter.run_parallel"(%first, %second) { programs = [[@all], [@all]] } : (tensor<2xi64>, tensor<2xi64>)
    -> (tensor<4xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<2xi64>,
        tensor<4xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<2xi64>)
  check.expect_eq_const %0#0, dense<[1, 2, 3, 4]> : tensor<4xi64>
  check.expect_eq_const %0#1, dense<[4, 6]> : tensor<2xi64>
  check.expect_eq_const %0#2, dense<[1, 3]> : tensor<2xi64>
  check.expect_eq_const %0#3, dense<[3, 4]> : tensor<2xi64>
  check.expect_eq_const %0#4, dense<[3, 4]> : tensor<2xi64>
  check.expect_eq_const %0#5, dense<[4]> : tensor<1xi64>
  check.expect_eq_const %0#6, dense<[2]> : tensor<1xi64>
  check.expect_eq_const %0#7, dense<[2]> : tensor<1xi64>
  check.expect_eq_const %0#8, dense<[1, 9]> : tensor<2xi64>
  check.expect_eq_const %0#9, dense<[1, 2, 3, 4]> : tensor<4xi64>
  check.expect_eq_const %0#10, dense<[4, 6]> : tensor<2xi64>
  check.expect_eq_const %0#11, dense<[2, 4]> : tensor<2xi64>
  check.expect_eq_const %0#12, dense<[3, 4]> : tensor<2xi64>
  check.expect_eq_const %0#13, dense<[1, 2]> : tensor<2xi64>
  check.expect_eq_const %0#14, dense<[6]> : tensor<1xi64>
  check.expect_eq_const %0#15, dense<[4]> : tensor<1xi64>
  check.expect_eq_const %0#16, dense<[4]> : tensor<1xi64>
  check.expect_eq_const %0#17, dense<[3, 9]> : tensor<2xi64>
  return
}
