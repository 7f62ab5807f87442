// Long tuples have aliases, distinct attributes are numbered in textual order, and resources are printed in order of use.

// RUN: stablehlo-opt %s --allow-unregistered-dialect | FileCheck %s
// RUN: stablehlo-opt %s --allow-unregistered-dialect --mlir-print-local-scope | FileCheck %s --check-prefix=LOCAL

// CHECK: #distinct = distinct[0]<1 : i64>
// CHECK: #distinct1 = distinct[1]<1 : i64>
// CHECK: !tuple = tuple<i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14, i15, i16, i17>
// LOCAL-NOT: !tuple
// CHECK: "x.y"() {a = !tuple, b = (!tuple) -> i1} : () -> ()
"x.y"() {
  a = tuple<i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14, i15, i16, i17>,
  b = (tuple<i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14, i15, i16, i17>) -> i1
} : () -> ()
// CHECK: {a = #distinct, b = #distinct1}
"x.y"() {a = distinct[5]<1>, b = distinct[0]<1>} : () -> ()
// CHECK: dense_resource<second>
"x.y"() {a = dense_resource<second> : tensor<2xi32>} : () -> ()
// CHECK: dense_resource<first>
"x.y"() {a = dense_resource<first> : tensor<2xi32>} : () -> ()

// LOCAL-NOT: dialect_resources
// CHECK: second: "0x040000000300000004000000",
// CHECK-NEXT: first: "0x040000000100000002000000"
{-#
  dialect_resources: {
    builtin: {
      first: "0x040000000100000002000000",
      second: "0x040000000300000004000000"
    }
  }
#-}
