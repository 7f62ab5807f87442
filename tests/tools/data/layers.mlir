// Two layers of one scope, with another between them, then three calls of a function without a scope.
#main = loc("main"("model.py":30:1))
#first = loc(callsite(loc("Block.__call__"("model.py":10:1)) at #main))
#second = loc(callsite(loc("Block.__call__"("model.py":11:1)) at #main))
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %y : tensor<4xf32> loc("net/dense/add")
  %1 = stablehlo.tanh %0 : tensor<4xf32> loc("net/dense/tanh")
  %2 = stablehlo.sine %1 : tensor<4xf32> loc("net/act/sin")
  %3 = stablehlo.cosine %2 : tensor<4xf32> loc("net/act/cos")
  %4 = stablehlo.add %3, %y : tensor<4xf32> loc("net/dense/add")
  %5 = stablehlo.tanh %4 : tensor<4xf32> loc("net/dense/tanh")
  %6 = func.call @blocks(%5) : (tensor<4xf32>) -> tensor<4xf32>
  return %6 : tensor<4xf32>
}
func.func private @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32> loc(#first)
  %1 = stablehlo.abs %0 : tensor<4xf32> loc(#first)
  %2 = stablehlo.tanh %1 : tensor<4xf32> loc(#first)
  %3 = stablehlo.sine %2 : tensor<4xf32> loc(#first)
  %4 = stablehlo.cosine %3 : tensor<4xf32> loc(#first)
  %5 = stablehlo.exponential %4 : tensor<4xf32> loc(#second)
  %6 = stablehlo.negate %5 : tensor<4xf32> loc(#second)
  %7 = stablehlo.abs %6 : tensor<4xf32> loc(#second)
  %8 = stablehlo.tanh %7 : tensor<4xf32> loc(#second)
  %9 = stablehlo.negate %8 : tensor<4xf32> loc(#first)
  %10 = stablehlo.abs %9 : tensor<4xf32> loc(#first)
  %11 = stablehlo.tanh %10 : tensor<4xf32> loc(#first)
  %12 = stablehlo.sine %11 : tensor<4xf32> loc(#first)
  %13 = stablehlo.cosine %12 : tensor<4xf32> loc(#first)
  %14 = stablehlo.exponential %13 : tensor<4xf32> loc(#second)
  %15 = stablehlo.negate %14 : tensor<4xf32> loc(#second)
  %16 = stablehlo.abs %15 : tensor<4xf32> loc(#second)
  %17 = stablehlo.tanh %16 : tensor<4xf32> loc(#second)
  %18 = stablehlo.negate %17 : tensor<4xf32> loc(#first)
  %19 = stablehlo.abs %18 : tensor<4xf32> loc(#first)
  %20 = stablehlo.tanh %19 : tensor<4xf32> loc(#first)
  %21 = stablehlo.sine %20 : tensor<4xf32> loc(#first)
  %22 = stablehlo.cosine %21 : tensor<4xf32> loc(#first)
  %23 = stablehlo.exponential %22 : tensor<4xf32> loc(#second)
  %24 = stablehlo.negate %23 : tensor<4xf32> loc(#second)
  %25 = stablehlo.abs %24 : tensor<4xf32> loc(#second)
  %26 = stablehlo.tanh %25 : tensor<4xf32> loc(#second)
  return %26 : tensor<4xf32>
}
