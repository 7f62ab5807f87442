// Each elementwise op is measured against true values; ours are correctly rounded.
// RUN: rm -rf %t && mkdir -p %t
// RUN: stablo judge --ops --op tanh --op power --points 400 --format table | FileCheck %s --check-prefix=TABLE
// TABLE: | op | f8E4M3FN | f8E5M2 | bf16 | f16 | f32 | f64 |
// TABLE: | tan | - | - | - | - | - | - |
// TABLE-NEXT: | tanh | 0.5 | 0.5 | 0.5 | 0.5 | 0.5 | 0.5 |
// TABLE: | power | 0.5 | 0.5 | 0.5 | 0.5 | 0.5 | 0.5 |

// A measurement goes on where it was stopped.
// RUN: stablo judge --ops --op tanh --op reduce --points 400 --seconds 0 --measured %t/ops.jsonl 2>&1 | FileCheck %s --check-prefix=STOPPED
// STOPPED: no time for 12 measurements, from tanh of f8E4M3FN on
// RUN: stablo judge --ops --op tanh --points 400 --measured %t/ops.jsonl
// RUN: stablo judge --ops --op tanh --op reduce --seconds 0 --measured %t/ops.jsonl 2>&1 | FileCheck %s --check-prefix=REST
// REST: no time for 6 measurements, from reduce of f8E4M3FN on
// RUN: stablo judge --ops --op tanh --format json --measured %t/ops.jsonl | FileCheck %s --check-prefix=JSON
// JSON: {"op":"tanh","dtype":"bf16","error":{"ulps":0.0,"at":[],"points":400,"flushes":false,"wrong":0,"unknown":0}}

// RUN: not stablo judge --ops --op add --op tangent 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: `tangent` is not measured; these are: acos, acosh,
// RUN: not stablo judge --ops --measured %s 2>&1 | FileCheck %s --check-prefix=LINES
// LINES: cannot read {{.*}}judge_ops.mlir: line 1: expected value
// RUN: not stablo judge %s --points 3 2>&1 | FileCheck %s --check-prefix=WITHOUT
// WITHOUT: --points, --op, --seconds and --measured are of measurements: give --ops
