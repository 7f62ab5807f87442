// Programs that upstream rejects, too.

// RUN: stablehlo-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// expected-error @+1 {{argument}}
func.func @f(i32) { return }

// -----

// expected-error @+1 {{found `foo`}}
module attributes {foo = 1} {}

// -----

// expected-error @+1 {{one factor}}
"x.y"() {a = affine_map<(d0, d1) -> (d0 * d1)>} : () -> ()

// -----

// expected-error @+1 {{`d0` is the name of two}}
"x.y"() {a = affine_map<(d0, d0) -> (d0)>} : () -> ()

// -----

// expected-error @+1 {{`true` or `false`}}
"x.y"() {a = array<i1: 1, 0>} : () -> ()

// -----

// expected-error @+1 {{whole bytes}}
"x.y"() {a = array<i4: 1>} : () -> ()

// -----

// expected-error @+1 {{cannot be empty}}
"x.y"() {"" = 3} : () -> ()

// -----

// expected-error @+1 {{found `-`}}
module @a-b {}

// -----

// expected-error @+1 {{distinct[0] must always have the same attribute}}
"x.y"() {a = distinct[0]<1>, b = distinct[0]<2>} : () -> ()

// -----

// expected-error @+1 {{index 3 is not within}}
"x.y"() {a = sparse<[[0], [3]], 5> : tensor<3xi32>} : () -> ()

// -----

// expected-error @+1 {{does not fit i0}}
"x.y"() {a = 1 : i0} : () -> ()
