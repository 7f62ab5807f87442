// Files that are often taken for programs.
// RUN: stablo run %s --outputs %t.npz
// RUN: not stablo check %t.npz 2>&1 | FileCheck %s --check-prefix=ZIP
// RUN: stablo run %s --outputs %t
// RUN: not stablo check %t/output_0.npy 2>&1 | FileCheck %s --check-prefix=NPY
// RUN: not stablo check %S/data/identity.hlo 2>&1 | FileCheck %s --check-prefix=HLO
// RUN: stablo run %s --outputs %t.safetensors
// RUN: not stablo check %t.safetensors 2>&1 | FileCheck %s --check-prefix=TENSORS
// TENSORS: error[format]: {{.*}} is a safetensors file, not a program
// ZIP: error[format]: {{.*}}.npz is a zip archive, such as NumPy's .npz
// NPY: error[format]: {{.*}}output_0.npy is an array of NumPy, not a program
// HLO: error[format]: {{.*}}.hlo is HLO text
func.func @main() -> tensor<i32> {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  return %0 : tensor<i32>
}
