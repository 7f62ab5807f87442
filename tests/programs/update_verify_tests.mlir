// Tests that expect the diagnostics of another tool, in its words, are rewritten to name the rules.

// RUN: rm -rf %t && mkdir %t && cp %S/data/other_words.txt %t/other.mlir
// RUN: not stablehlo-opt -split-input-file -verify-diagnostics %t/other.mlir
// RUN: not stablo update-verify-tests %t 2>&1 | FileCheck %s --check-prefix=NAMED
// RUN: FileCheck %s --input-file %t/other.mlir --strict-whitespace
// RUN: stablehlo-opt -split-input-file -verify-diagnostics %t/other.mlir
// Nothing is left to do but the RUN line of another tool.
// RUN: not stablo update-verify-tests %t/other.mlir | FileCheck %s --check-prefix=AGAIN --allow-empty

// NAMED-DAG: other.mlir:4: `other-opt` cannot run here
// NAMED-DAG: updated {{.*}}other.mlir
// AGAIN-NOT: updated
// CHECK: {{^}}  // expected-error@+1 {{[{][{]}}[add_c1]{{[}][}]}} in other words{{$}}
// CHECK: : tensor<2xf32> // expected-error {{[{][{]}}[iota_c1]{{[}][}]}}{{$}}

// CHECK lines about diagnostics on standard error name rules, too.
// RUN: rm -rf %t && mkdir %t && cp %S/data/other_errors.txt %t/errors.mlir
// RUN: stablo update-verify-tests %t | FileCheck %s --check-prefix=ERRORS
// RUN: FileCheck %s --input-file %t/errors.mlir --check-prefix=RULES
// RUN: not stablehlo-opt %t/errors.mlir 2>&1 | FileCheck %t/errors.mlir
// RUN: stablo update-verify-tests %t | FileCheck %s --check-prefix=AGAIN --allow-empty

// ERRORS: updated {{.*}}errors.mlir
// RULES: {{^// C}}HECK: error[add_c1]{{$}}
// RULES-NEXT: {{^// C}}HECK: errors{{$}}
// RULES-NEXT: {{^// C}}HECK: error[iota_c1]{{$}}

// RUN: cat %s | not stablehlo-opt --verify-diagnostics=update 2>&1 | FileCheck %s --check-prefix=INPUT
// INPUT: standard input has no comments to update
func.func @main() {
  return
}
