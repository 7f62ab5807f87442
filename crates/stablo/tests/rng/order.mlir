// The order in which ops get their keys: functions, branches, ops that nobody uses, operands before the ops that use them.
func.func private @late(%a: tensor<f32>) -> tensor<12xf32> {
  %b = stablehlo.constant dense<1.0> : tensor<f32>
  %n = stablehlo.constant dense<12> : tensor<1xi64>
  %0 = stablehlo.rng %a, %b, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<12xf32>
  return %0 : tensor<12xf32>
}
func.func @main() -> (tensor<3xf32>,tensor<4xf32>,tensor<5xf32>,tensor<12xf32>,tensor<13xf32>,tensor<7xf32>) {
  %arg = stablehlo.constant dense<0.5> : tensor<f32>
  %a = stablehlo.constant dense<0.0> : tensor<f32>
  %b = stablehlo.constant dense<1.0> : tensor<f32>
  %n2 = stablehlo.constant dense<2> : tensor<1xi64>
  %n3 = stablehlo.constant dense<3> : tensor<1xi64>
  %n4 = stablehlo.constant dense<4> : tensor<1xi64>
  %n5 = stablehlo.constant dense<5> : tensor<1xi64>
  %n7 = stablehlo.constant dense<7> : tensor<1xi64>
  %n8 = stablehlo.constant dense<8> : tensor<1xi64>
  %c2 = stablehlo.constant dense<2> : tensor<i32>
  %dead = stablehlo.rng %arg, %b, %n2, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<2xf32>
  %p = stablehlo.compare LT, %arg, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %z = "stablehlo.if"(%p) ({
     %q = stablehlo.rng %a, %b, %n7, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<7xf32>
     stablehlo.return %q : tensor<7xf32>
  }, {
     %k = "stablehlo.case"(%c2) ({
     %q = stablehlo.rng %a, %b, %n7, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<7xf32>
     stablehlo.return %q : tensor<7xf32>
     },{
     %q8 = stablehlo.rng %b, %b, %n8, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<8xf32>
     %q = stablehlo.slice %q8 [0:7] : (tensor<8xf32>) -> tensor<7xf32>
     stablehlo.return %q : tensor<7xf32>
     }) : (tensor<i32>) -> tensor<7xf32>
     stablehlo.return %k : tensor<7xf32>
  }) : (tensor<i1>) -> tensor<7xf32>
  %m1 = stablehlo.rng %a, %b, %n4, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  %s = stablehlo.slice %m1 [0:1] : (tensor<4xf32>) -> tensor<1xf32>
  %sr = stablehlo.reshape %s : (tensor<1xf32>) -> tensor<f32>
  %m2 = stablehlo.rng %a, %b, %n5, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<5xf32>
  %m3 = stablehlo.rng %a, %sr, %n3, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<3xf32>
  %l = func.call @late(%sr) : (tensor<f32>) -> tensor<12xf32>
  %l2 = func.call @later(%sr) : (tensor<f32>) -> tensor<13xf32>
  return %m3, %m1, %m2, %l, %l2, %z : tensor<3xf32>,tensor<4xf32>,tensor<5xf32>,tensor<12xf32>,tensor<13xf32>,tensor<7xf32>
}
func.func private @later(%a: tensor<f32>) -> tensor<13xf32> {
  %b = stablehlo.constant dense<1.0> : tensor<f32>
  %n = stablehlo.constant dense<13> : tensor<1xi64>
  %0 = stablehlo.rng %a, %b, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<13xf32>
  return %0 : tensor<13xf32>
}
// XLA: 3e371537 3eac9e02 3e9260a3
// XLA: 3ec90ec0 3f32cd58 3e442000 3f35abb6
// XLA: 3f0cfbf6 3dd493e0 3dba18a0 3e2b77d8 3f589714
// XLA: 3f06bf3f 3f3b8dab 3f2f8485 3edb4df7 3f125768 3f2e42b0 3f499c00 3f034287 3f5d0e6a 3f448445 3f74d197 3edb7d9f
// XLA: 3f36bb51 3f17ced7 3f26c09a 3f7cc2e1 3f7e9d95 3f360f6f 3f763589 3ee30c8e 3ecb72ac 3ed85f91 3f00ee9e 3f00a067 3f0e9309
// XLA: 3e1c374a 3f6f73b9 401d2c26 bfa61646 3f598ac9 3fc56e18 3f0730e8
