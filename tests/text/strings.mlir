// String elements.

// RUN: stablehlo-opt %s --allow-unregistered-dialect | FileCheck %s

// CHECK: dense<> : tensor<0x!foo.str>
"x.y"() {a = dense<[]> : tensor<0x!foo.str>} : () -> ()
// CHECK: sparse<{{\[}}[0, 1], [2, 1]], ["a", "b"]> : tensor<3x4x!foo.str>
"x.y"() {a = sparse<[[0, 1], [2, 1]], ["a", "b"]> : tensor<3x4x!foo.str>} : () -> ()
