// Names of other systems, and of ops of other dialects, are known.
// RUN: not stablo check %s 2>&1 | FileCheck %s
func.func @f(%a: tensor<2xf32>) {
  // CHECK: no op `sigmoid`
  // CHECK: help: did you mean `stablehlo.logistic`?
  %0 = stablehlo.sigmoid %a : tensor<2xf32>
  return
}
func.func @g(%a: tensor<2xf32>) {
  // CHECK: no op `erf`
  // CHECK: help: did you mean `chlo.erf`?
  %0 = stablehlo.erf %a : tensor<2xf32>
  return
}
func.func @h(%a: tensor<2xf32>) {
  // CHECK: unknown op `matmul`
  // CHECK: help: did you mean `stablehlo.dot_general`?
  %0 = matmul %a, %a : tensor<2xf32>
  return
}
