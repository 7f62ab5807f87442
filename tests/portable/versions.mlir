// RUN: stablehlo-opt --stablehlo-legalize-to-vhlo --vhlo-to-version=target=1.8.0 %s | FileCheck %s --check-prefix=OLD
// RUN: stablehlo-opt --stablehlo-legalize-to-vhlo --vhlo-to-version=target=1.8.0 --stablehlo-deserialize %s > %t.0
// RUN: stablehlo-opt %s > %t.1
// RUN: diff %t.0 %t.1
// RUN: stablehlo-translate --serialize --target=1.8.3 %s | stablehlo-translate --deserialize --print-stablehlo-version | FileCheck %s --check-prefix=VERSION
// RUN: stablehlo-translate --serialize --target=WEEK_12 %s | stablehlo-translate --deserialize --print-stablehlo-version | FileCheck %s --check-prefix=WEEKS
// RUN: stablehlo-translate --deserialize --print-stablehlo-version %s | FileCheck %s --check-prefix=TEXT

// VERSION: // Reading portable artifact with StableHLO version: 1.8.3
// WEEKS: version: 1.16.2
// TEXT: // Failed parsing StableHLO version

// Version 1.9.0 gave exponential an accuracy; 1.5.0 gave all_gather any number of operands.
// OLD: "vhlo.exponential_v1"(%arg0) :
// OLD: "vhlo.all_gather_v2"
func.func @main(%arg0: tensor<2xf32>) -> tensor<4xf32> {
  %0 = stablehlo.exponential %arg0 : tensor<2xf32>
  %1 = "stablehlo.all_gather"(%0) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
