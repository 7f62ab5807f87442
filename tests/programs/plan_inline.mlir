// RUN: stablo run %s --input 3 | FileCheck %s
// RUN: stablo run %s --explain-plan | FileCheck %s --check-prefix=PLAN

// Each function adds the results of the next one of its argument and of that result, so that the calls
// inlined would be 2^14 additions. As many are as there is room for; the rest stay calls.

// CHECK: 842975394
// PLAN: @main: {{[1-9][0-9][0-9]+}} ops in {{[0-9]+}} steps
// PLAN: = loop of
// PLAN: = kernel func.call
func.func @main(%x: tensor<i32>) -> tensor<i32> {
  %y = func.call @f1(%x) : (tensor<i32>) -> tensor<i32>
  %z = func.call @f1(%y) : (tensor<i32>) -> tensor<i32>
  %r = stablehlo.add %y, %z : tensor<i32>
  return %r : tensor<i32>
}
func.func private @f1(%x: tensor<i32>) -> tensor<i32> {
  %y = func.call @f2(%x) : (tensor<i32>) -> tensor<i32>
  %z = func.call @f2(%y) : (tensor<i32>) -> tensor<i32>
  %r = stablehlo.add %y, %z : tensor<i32>
  return %r : tensor<i32>
}
func.func private @f2(%x: tensor<i32>) -> tensor<i32> {
  %y = func.call @f3(%x) : (tensor<i32>) -> tensor<i32>
  %z = func.call @f3(%y) : (tensor<i32>) -> tensor<i32>
  %r = stablehlo.add %y, %z : tensor<i32>
  return %r : tensor<i32>
}
func.func private @f3(%x: tensor<i32>) -> tensor<i32> {
  %y = func.call @f4(%x) : (tensor<i32>) -> tensor<i32>
  %z = func.call @f4(%y) : (tensor<i32>) -> tensor<i32>
  %r = stablehlo.add %y, %z : tensor<i32>
  return %r : tensor<i32>
}
func.func private @f4(%x: tensor<i32>) -> tensor<i32> {
  %y = func.call @f5(%x) : (tensor<i32>) -> tensor<i32>
  %z = func.call @f5(%y) : (tensor<i32>) -> tensor<i32>
  %r = stablehlo.add %y, %z : tensor<i32>
  return %r : tensor<i32>
}
func.func private @f5(%x: tensor<i32>) -> tensor<i32> {
  %y = func.call @f6(%x) : (tensor<i32>) -> tensor<i32>
  %z = func.call @f6(%y) : (tensor<i32>) -> tensor<i32>
  %r = stablehlo.add %y, %z : tensor<i32>
  return %r : tensor<i32>
}
func.func private @f6(%x: tensor<i32>) -> tensor<i32> {
  %y = func.call @f7(%x) : (tensor<i32>) -> tensor<i32>
  %z = func.call @f7(%y) : (tensor<i32>) -> tensor<i32>
  %r = stablehlo.add %y, %z : tensor<i32>
  return %r : tensor<i32>
}
func.func private @f7(%x: tensor<i32>) -> tensor<i32> {
  %y = func.call @f8(%x) : (tensor<i32>) -> tensor<i32>
  %z = func.call @f8(%y) : (tensor<i32>) -> tensor<i32>
  %r = stablehlo.add %y, %z : tensor<i32>
  return %r : tensor<i32>
}
func.func private @f8(%x: tensor<i32>) -> tensor<i32> {
  %y = func.call @f9(%x) : (tensor<i32>) -> tensor<i32>
  %z = func.call @f9(%y) : (tensor<i32>) -> tensor<i32>
  %r = stablehlo.add %y, %z : tensor<i32>
  return %r : tensor<i32>
}
func.func private @f9(%x: tensor<i32>) -> tensor<i32> {
  %y = func.call @f10(%x) : (tensor<i32>) -> tensor<i32>
  %z = func.call @f10(%y) : (tensor<i32>) -> tensor<i32>
  %r = stablehlo.add %y, %z : tensor<i32>
  return %r : tensor<i32>
}
func.func private @f10(%x: tensor<i32>) -> tensor<i32> {
  %y = func.call @f11(%x) : (tensor<i32>) -> tensor<i32>
  %z = func.call @f11(%y) : (tensor<i32>) -> tensor<i32>
  %r = stablehlo.add %y, %z : tensor<i32>
  return %r : tensor<i32>
}
func.func private @f11(%x: tensor<i32>) -> tensor<i32> {
  %y = func.call @f12(%x) : (tensor<i32>) -> tensor<i32>
  %z = func.call @f12(%y) : (tensor<i32>) -> tensor<i32>
  %r = stablehlo.add %y, %z : tensor<i32>
  return %r : tensor<i32>
}
func.func private @f12(%x: tensor<i32>) -> tensor<i32> {
  %y = func.call @f13(%x) : (tensor<i32>) -> tensor<i32>
  %z = func.call @f13(%y) : (tensor<i32>) -> tensor<i32>
  %r = stablehlo.add %y, %z : tensor<i32>
  return %r : tensor<i32>
}
func.func private @f13(%x: tensor<i32>) -> tensor<i32> {
  %r = stablehlo.add %x, %x : tensor<i32>
  return %r : tensor<i32>
}
