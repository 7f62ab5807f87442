// RUN: stablo inspect %S/data/derivatives.jax | FileCheck %s
// RUN: stablo inspect --hex %S/data/derivatives.jax | FileCheck %s --check-prefix=HEX

// CHECK: inputs: f32[] as ((*,), {})
// CHECK: disabled checks: {{.*}}custom call my_call
// CHECK-NEXT: derivatives: 2

// Around the bytecode the bytes stand for themselves.
// HEX: |{{.*}}|
// HEX: 4d 4c ef 52 bytecode
// HEX: op vhlo.sine
