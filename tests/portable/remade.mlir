// Orders of uses where several ops that use a value are remade for the version. The artifact is jaxlib's.
// RUN: stablehlo-translate --serialize --target=1.0.0 --allow-other-dialects %s -o %t.mlirbc
// RUN: diff %t.mlirbc %S/data/remade.mlirbc

module @m {
  sdy.mesh @mesh = <["x"=2]> loc("mesh")
  func.func @main(%x: tensor<4xf32> loc("x"), %y: tensor<2xf32> loc("y")) -> (tensor<4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%a: tensor<2xf32> loc("a")) {
      // The cast of %a has its uses in reverse; sine and all_reduce are remade after the others, in order.
      %1 = stablehlo.negate %a : tensor<2xf32> loc("1")
      %2 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
      ^bb0(%b: tensor<f32> loc("b"), %c: tensor<f32> loc("c")):
        %s = stablehlo.add %b, %c : tensor<f32> loc("sum")
        stablehlo.return %s : tensor<f32> loc("end")
      }) : (tensor<2xf32>) -> tensor<2xf32> loc("2")
      %3 = stablehlo.add %1, %a : tensor<2xf32> loc("3")
      %4 = stablehlo.sine %a : tensor<2xf32> loc("4")
      %5 = stablehlo.add %2, %3 : tensor<2xf32> loc("5")
      %6 = stablehlo.add %4, %5 : tensor<2xf32> loc("6")
      sdy.return %6 : tensor<2xf32> loc("7")
    } : (tensor<4xf32>) -> tensor<4xf32> loc("manual")
    // What uses the result of a remade op, remade or not, is in reverse.
    %1 = stablehlo.sine %y : tensor<2xf32> loc("8")
    %2 = stablehlo.cosine %1 : tensor<2xf32> loc("9")
    %3 = stablehlo.multiply %1, %2 : tensor<2xf32> loc("10")
    %4 = stablehlo.tanh %1 : tensor<2xf32> loc("11")
    return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32> loc("return")
  } loc("main")
} loc("module")
