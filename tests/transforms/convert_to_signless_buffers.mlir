// RUN: stablehlo-opt %s --stablehlo-convert-to-signless --canonicalize | FileCheck %s

// CHECK: func.func @f(%arg0: memref<2xi16>) -> memref<2xi16> {
// CHECK: return %arg0 : memref<2xi16>
func.func @f(%arg0: memref<2xui16>) -> memref<2xui16> {
  %0 = bufferization.to_tensor %arg0 : memref<2xui16> to tensor<2xui16>
  %1 = builtin.unrealized_conversion_cast %0 : tensor<2xui16> to tensor<2xi16>
  %2 = bufferization.to_buffer %1 : tensor<2xi16> to memref<2xi16>
  %3 = builtin.unrealized_conversion_cast %2 : memref<2xi16> to memref<2xui16>
  return %3 : memref<2xui16>
}
