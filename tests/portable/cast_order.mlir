// Casts for ops of other dialects stand in upstream's order: of the results of an op, or of the
// arguments of a block, the last comes first, in whatever order they are used.
// RUN: stablehlo-opt %s --stablehlo-legalize-to-vhlo=allow-other-dialects | FileCheck %s

sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: @arguments
// CHECK-SAME: (%[[A:.*]]: !vhlo{{[^%]*}}, %[[B:.*]]: !vhlo{{[^%]*}}, %[[C:.*]]: !vhlo
// CHECK-NEXT: unrealized_conversion_cast %[[C]] : !vhlo
// CHECK-NEXT: unrealized_conversion_cast %[[B]] : !vhlo
// CHECK-NEXT: unrealized_conversion_cast %[[A]] : !vhlo
// CHECK-NEXT: sdy.sharding_constraint
func.func @arguments(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) {
  %0 = sdy.sharding_constraint %b <@mesh, [{}]> : tensor<4xf32>
  %1 = sdy.sharding_constraint %a <@mesh, [{}]> : tensor<4xf32>
  %2 = sdy.sharding_constraint %c <@mesh, [{}]> : tensor<4xf32>
  return
}

// CHECK-LABEL: @results
// CHECK: %[[R:.*]]:2 = "vhlo.custom_call
// CHECK-NEXT: unrealized_conversion_cast %[[R]]#1 : !vhlo
// CHECK-NEXT: unrealized_conversion_cast %[[R]]#0 : !vhlo
// CHECK-NEXT: sdy.sharding_constraint
func.func @results(%a: tensor<4xf32>) {
  %0:2 = stablehlo.custom_call @g(%a) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %1 = sdy.sharding_constraint %0#1 <@mesh, [{}]> : tensor<4xf32>
  %2 = sdy.sharding_constraint %0#0 <@mesh, [{}]> : tensor<4xf32>
  return
}
