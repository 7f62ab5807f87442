// RUN: stablo refine %s --entry second --batch 3 | FileCheck %s --check-prefix=SECOND
// RUN: not stablo refine %s --batch 3 2>&1 | FileCheck %s --check-prefix=UNCLEAR
// RUN: not stablo refine %s --entry third --batch 3 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: stablo refine %s --entry second --batch 3 | stablo run - --input '[1, 2, 3]' | FileCheck %s --check-prefix=VALUES

// The function that is named is made static, and the others go if it does not use them. Then it is the only public one, which runs.
// SECOND-NOT: @first
// SECOND: func.func @second(%arg0: tensor<3xf32>) -> tensor<3xf32>
// SECOND-NOT: @first
// UNCLEAR: error[entry]: the module must have one function or a function @main; found 3
// UNKNOWN: error[entry]: there is no function @third to run; the module has @first, @second, @twice
// VALUES: [2.0, 4.0, 6.0]
func.func @first(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

func.func @second(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = call @twice(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func private @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.add %x, %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
