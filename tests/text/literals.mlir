// Numbers of types without arithmetic round-trip through text and bytecode.

// RUN: stablehlo-opt %s --allow-unregistered-dialect | FileCheck %s
// RUN: stablehlo-opt %s --allow-unregistered-dialect --emit-bytecode | stablehlo-opt --allow-unregistered-dialect | FileCheck %s
// RUN: stablehlo-opt %s --allow-unregistered-dialect --mlir-print-elementsattrs-with-hex-if-larger=2 | FileCheck %s --check-prefix=HEX

// CHECK: dense<[(1,2), (3,-4)]> : tensor<2xcomplex<i32>>
"x.y"() {a = dense<[(1,2),(3,-4)]> : tensor<2xcomplex<i32>>} : () -> ()
// CHECK: dense<[(true,false), (false,true)]> : tensor<2xcomplex<i1>>
"x.y"() {a = dense<[(true,false), (0,1)]> : tensor<2xcomplex<i1>>} : () -> ()
// CHECK: dense<(1.000000e+00,5.000000e-01)> : tensor<2xcomplex<f16>>
"x.y"() {a = dense<(1.0,0.5)> : tensor<2xcomplex<f16>>} : () -> ()
// CHECK: dense<[1, 2, -1]> : tensor<3xi3>
// HEX: dense<"0x010207"> : tensor<3xi3>
"x.y"() {a = dense<[1, 2, 7]> : tensor<3xi3>} : () -> ()
// CHECK: dense<[1, -2, 127]> : tensor<3xi24>
// HEX: dense<"0x010000FEFFFF7F0000"> : tensor<3xi24>
"x.y"() {a = dense<[1, -2, 127]> : tensor<3xi24>} : () -> ()
// CHECK: dense<[1, 2]> : tensor<2xi24>
"x.y"() {a = dense<"0x010000020000"> : tensor<2xi24>} : () -> ()
// CHECK: dense<[1, -2, 127]> : tensor<3xi128>
"x.y"() {a = dense<[1, -2, 127]> : tensor<3xi128>} : () -> ()
// CHECK: 0 : i0
"x.y"() {a = 0 : i0} : () -> ()
// CHECK: dense<> : tensor<0xi3>
"x.y"() {a = dense<[]> : tensor<0xi3>} : () -> ()
// CHECK: sparse<> : tensor<3xi32>
"x.y"() {a = sparse<[], []> : tensor<3xi32>} : () -> ()
// CHECK: sparse<0, 1> : tensor<3x3xi32>
"x.y"() {a = sparse<0, 1> : tensor<3x3xi32>} : () -> ()
// CHECK: sparse<{{\[}}[0], [2]], 5> : tensor<3xi32>
"x.y"() {a = sparse<[[0], [2]], 5> : tensor<3xi32>} : () -> ()
// CHECK: sparse<[0, 2], [1, 5]> : tensor<3xi32>
"x.y"() {a = sparse<[0, 2], [1, 5]> : tensor<3xi32>} : () -> ()
// CHECK: memref<2xf32, 1>
"x.y"() {a = memref<2xf32, 1>} : () -> ()
// CHECK: memref<2x3xf32>
"x.y"() {a = memref<2x3xf32, affine_map<(d0, d1) -> (d0, d1)>, 0>} : () -> ()
