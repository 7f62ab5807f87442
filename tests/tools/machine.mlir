// The model of this machine, and what is measured beside it: the shape of the output, as numbers
// differ from machine to machine.

// RUN: stablo machine | FileCheck %s --check-prefix=MODEL
// MODEL: name = "{{.+}}"
// MODEL-NEXT: l1_bytes = {{[0-9]+}}
// MODEL-NEXT: l1_shared_by = {{[0-9]+}}
// MODEL-NEXT: l2_bytes = {{[0-9]+}}
// MODEL: vector_bits = {{128|256|512}}
// MODEL-NEXT: full_rate_bits = {{128|256|512}}
// MODEL-NEXT: threads = {{[1-9][0-9]*}}
// MODEL-NEXT: hand_over_ns = {{[0-9]+}}
// MODEL: memory_bytes_per_us = {{[0-9]+}}

// RUN: stablo machine zen4 | FileCheck %s --check-prefix=ZEN4
// ZEN4: name = "zen4"
// ZEN4: vector_bits = 512
// ZEN4-NEXT: full_rate_bits = 256

// RUN: stablo machine tiny --format json | FileCheck %s --check-prefix=JSON
// JSON: {{^}}{{.*}}"l2_bytes":4096,{{.*}}"name":"tiny"

// What is printed is read again.
// RUN: stablo machine haswell -o %t.machine
// RUN: stablo machine %t.machine | FileCheck %s --check-prefix=HASWELL
// HASWELL: name = "haswell"
// HASWELL: l2_bytes = 262144

// RUN: stablo machine --measure | FileCheck %s --check-prefix=MEASURED
// MEASURED: measured    assumed  unit     verdict
// MEASURED: elementary operations {{ *[0-9.]+ +[0-9.]+}}  G/s
// MEASURED: reads of the first-level cache {{ *[0-9.]+ +}}-  GB/s
// MEASURED: reads of memory {{ *[0-9.]+ +[0-9.]+}}  GB/s
// MEASURED: product of matrices of 512 x 512
// MEASURED: its share of the peak {{ *[0-9.]+ +}}-  %
// MEASURED: The model {{fits|does not fit}} this machine

// RUN: stablo machine --measure --threads 1 --format json | FileCheck %s --check-prefix=ROWS
// ROWS: {"fits":{{true|false}},"measurements":[{{.*}}"fact":"operations_per_us"{{.*}}"name":"elementary operations"{{.*}}"model":{

// RUN: not stablo machine no-such-processor 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: no-such-processor` is neither a file with a machine model ({{.*}}) nor one of generic, zen4

// RUN: not stablo machine %s 2>&1 | FileCheck %s --check-prefix=INVALID
// INVALID: machine.mlir: line 1: `// The model of this machine, and what is measured beside it: the shape of the output, as numbers` is not of the form `name = value`

// RUN: not stablo machine %S/data/unknown.machine 2>&1 | FileCheck %s --check-prefix=FACT
// FACT: unknown.machine: line 3: there is no fact `l4_bytes`; facts are name, l1_bytes, l1_shared_by

// RUN: not stablo machine %S/data/large.machine 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: large.machine: line 1: `threads` is `1e9`, not a number between 1 and 1073741824

// RUN: not stablo machine --threads 0 --measure 2>&1 | FileCheck %s --check-prefix=THREADS
// THREADS: error: invalid value '0' for '--threads <N>'
// RUN: not stablo machine --threads 2 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: error: the following required arguments were not provided
// RUN: not stablo machine zen4 --measure 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: error: the argument '[MODEL]' cannot be used with '--measure'
