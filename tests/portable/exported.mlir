// RUN: stablo inspect %S/data/derivatives.jax | FileCheck %s
// RUN: stablo inspect %S/data/shardings.jax | FileCheck %s --check-prefix=SHARDINGS
// RUN: stablo inspect --hex %S/data/derivatives.jax | FileCheck %s --check-prefix=HEX

// CHECK: inputs: f32[] as ((*,), {})
// CHECK: disabled checks: {{.*}}custom call my_call
// CHECK-NEXT: derivatives: 2

// SHARDINGS: input shardings: P('x', None) on x=2, y=4; P(None, ('x', 'y')) on x=2, y=4; open
// SHARDINGS-NEXT: output shardings: P('x') on x=2, y=4; open

// Outside of the bytecode, the dump shows plain bytes.
// HEX: |{{.*}}|
// HEX: 4d 4c ef 52 bytecode
// HEX: op vhlo.sine
