// Results compared with recorded ones.
// RUN: stablo run %s --input "[1, 2, 3, 4]" --input 5 --outputs %t.dir
// RUN: stablo run %s --input "[1, 2, 3, 4]" --input 5 --expect %t.dir | FileCheck %s --check-prefix=EQUAL
// RUN: stablo run %s --input "[1.00001, 2, 3, 4]" --input 5 --expect %t.dir | FileCheck %s --check-prefix=CLOSE
// RUN: stablo run %s --input "[1, 2, 3, 4.0000005]" --input 5 --expect %t.dir --ulps 1 | FileCheck %s --check-prefix=ULP
// RUN: stablo run %s --input "[1, 2, 3.5, 4]" --input 6 --expect %t.dir --atol 1 | FileCheck %s --check-prefix=WIDE
// RUN: not stablo run %s --input "[1, 2.5, 8, 4]" --input 6 --expect %t.dir --rtol 0 2>&1 | FileCheck %s --check-prefix=OFF
// RUN: not stablo run %s --input "[nan, 2, 3, 4]" --input 5 --expect %t.dir --atol 1e30 2>&1 | FileCheck %s --check-prefix=NAN
// RUN: not stablo run %s --input "[1, 2]" --input 5 --expect %t.dir 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not stablo run %s --input "[1, 2]" --input 5 --expect %S 2>&1 | FileCheck %s --check-prefix=LACKS
// RUN: not stablo run %s --input "[1, 2]" --input 5 --rtol 1 2>&1 | FileCheck %s --check-prefix=USAGE
// RUN: not stablo run %s --input "[1, 2]" --input 5 --expect %t.dir --rtol=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// EQUAL: output 0: equal
// EQUAL-NEXT: output 1: equal
// 1.00001 is 84 units in the last place (2^-23) from 1.
// CLOSE: output 0: close (off by up to 1.001e-5, 84 ULP)
// CLOSE-NEXT: output 1: equal
// ULP: output 0: close (off by up to 4.768e-7, 1 ULP)
// WIDE: output 0: close (off by up to 5.000e-1, 2097152 ULP)
// WIDE-NEXT: output 1: close (off by up to 1.000e0)
// OFF-DAG: output 0: 2 of 4 elements are off by up to 5.000e0, 12582912 ULP; at [2], 3.0 is expected, found 8.0
// OFF-DAG: output 1: 1 of 1 element is off by up to 1.000e0; at [], 5 is expected, found 6
// OFF-DAG: 2 of 2 outputs are not as expected
// NAN-DAG: output 0: 1 of 4 elements is off by up to inf; at [0], 1.0 is expected, found NaN
// NAN-DAG: 1 of 2 outputs is not as expected
// SHAPE: output 0: the shape is [2], but [4] is expected
// LACKS: output 0: there is no array `output_0`, `arr_0`, `0`; it has no arrays
// USAGE: --expect
// NEGATIVE: it must be at least 0
func.func @main(%x: tensor<?xf32>, %n: tensor<i64>) -> (tensor<?xf32>, tensor<i64>) {
  return %x, %n : tensor<?xf32>, tensor<i64>
}
