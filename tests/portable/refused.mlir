// RUN: not stablehlo-translate --serialize --target=1.4.0 %s 2>&1 | FileCheck %s --check-prefix=V1_4
// RUN: not stablehlo-translate --serialize --target=1.7.0 %s 2>&1 | FileCheck %s --check-prefix=V1_7
// RUN: stablehlo-translate --serialize --target=1.8.0 %s | stablehlo-translate --deserialize
// RUN: not stablehlo-translate --serialize --target=1.2 %s 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not stablehlo-translate --serialize --target=0.8.0 %s 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not stablehlo-translate --serialize --target=2.0.0 %s 2>&1 | FileCheck %s --check-prefix=NEW

// FORM: target version "1.2" is not three numbers
// OLD: older than the oldest, 0.9.0
// NEW: newer than the newest, {{[0-9.]+$}}

// V1_4: refused.mlir:[[@LINE+4]]:{{.*}}2 operands where version 1.4.0 has 1{{.*}}first version that has it is 1.5.0
// V1_4: cannot be written for version 1.4.0
func.func @gather(%arg0: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // Two operands came with version 1.5.0.
  %0:2 = "stablehlo.all_gather"(%arg0, %arg0) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// V1_7: refused.mlir:[[@LINE+1]]:{{.*}}there is no type !vhlo.f4E2M1FN_v1{{.*}}first version that has it is 1.8.0
func.func @type(%arg0: tensor<4xf4E2M1FN>) {
  return
}
