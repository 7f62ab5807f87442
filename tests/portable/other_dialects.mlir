// RUN: stablehlo-opt --stablehlo-legalize-to-vhlo=allow-other-dialects %s | FileCheck %s
// RUN: not stablehlo-translate --serialize --target=current %s 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: stablehlo-opt %s > %t.0
// RUN: stablehlo-translate --serialize --target=1.0.0 --allow-other-dialects %s | stablehlo-translate --deserialize > %t.1
// RUN: diff %t.0 %t.1

// REFUSED: other_dialects.mlir:[[@LINE+3]]:{{.*}}sdy.mesh{{.*}}no portable form
// REFUSED-SAME: allowing other dialects
// CHECK: sdy.mesh @mesh
sdy.mesh @mesh = <["x"=2]>

// CHECK: vhlo.func_v1 @main(%[[X:.*]]: !vhlo.tensor_v1<2x!vhlo.f32_v1>)
// CHECK: %[[IN:.*]] = builtin.unrealized_conversion_cast %[[X]] : !vhlo.tensor_v1<2x!vhlo.f32_v1> to tensor<2xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[IN]], %[[IN]] : tensor<2xf32>
// CHECK: %[[OUT:.*]] = builtin.unrealized_conversion_cast %[[SUM]] : tensor<2xf32> to !vhlo.tensor_v1<2x!vhlo.f32_v1>
// CHECK: "vhlo.abs_v1"(%[[OUT]])
// CHECK: arg_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{#vhlo.string_v1<"sdy.sharding"> = #sdy.sharding<@mesh, [{"x"}]>}>]>
func.func @main(%x: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<2xf32> {
  %0 = arith.addf %x, %x : tensor<2xf32>
  %1 = stablehlo.abs %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}
