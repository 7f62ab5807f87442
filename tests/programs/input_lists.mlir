// Mistakes in lists given as inputs are said in the terms of the list.

// RUN: not stablo run %s --input '[1, 2' 2>&1 | FileCheck --check-prefix=OPEN %s
// RUN: not stablo run %s --input '[1, a]' 2>&1 | FileCheck --check-prefix=WORD %s
// RUN: not stablo run %s --input '1 2' 2>&1 | FileCheck --check-prefix=BARE %s
// RUN: not stablo run %s --input '1, 2' 2>&1 | FileCheck --check-prefix=BARE %s
// RUN: not stablo run %s --input '[1 2]' 2>&1 | FileCheck --check-prefix=COMMA %s
// RUN: not stablo run %s --input '[1,, 2]' 2>&1 | FileCheck --check-prefix=TWICE %s
// RUN: not stablo run %s --input '[1, 2]]' 2>&1 | FileCheck --check-prefix=CLOSE %s

// OPEN: the list is not closed: a `]` is missing
// WORD: `a` in the list is not a number of type f32
// BARE: several numbers are a list, which is in brackets: `[1, 2]`
// COMMA: a comma is missing before `2`
// TWICE: a number or list is missing before a `,`
// CLOSE: there is a `]` without its `[`
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
