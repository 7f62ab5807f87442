// VHLO has no constraints, so that quantized types of artifacts are checked when they become those of programs.

// RUN: not stablehlo-opt --split-input-file --vhlo-legalize-to-stablehlo %s 2>&1 | FileCheck %s
// RUN: stablehlo-opt --emit-bytecode %s -o %t.mlirbc
// RUN: not stablehlo-opt --vhlo-legalize-to-stablehlo %t.mlirbc 2>&1 | FileCheck --check-prefix=RANGE %s

// CHECK: !quant.uniform<i8<-128:3455>:f32, 5.000000e-01>: the storage range -128:3455 must not be empty and lie within -128:127
// RANGE: the storage range -128:3455 must not be empty and lie within -128:127
vhlo.func_v1 @range(%arg0: !vhlo.tensor_v1<3x!vhlo.quant_v1<!vhlo.i8_v1:!vhlo.f32_v1, 5.000000e-01:0, -128:3455, 1>>) -> () {
  "vhlo.return_v1"() : () -> ()
} {arg_attrs = #vhlo.array_v1<[]>, res_attrs = #vhlo.array_v1<[]>, sym_visibility = #vhlo.string_v1<"">}

// -----

// The least positive f32 is 2^-149.
// CHECK: the scale 1e-300 is out of the range of f32
vhlo.func_v1 @scale(%arg0: !vhlo.tensor_v1<3x!vhlo.quant_v1<!vhlo.i8_v1:!vhlo.f32_v1, 1.000000e-300:0, -128:127, 1>>) -> () {
  "vhlo.return_v1"() : () -> ()
} {arg_attrs = #vhlo.array_v1<[]>, res_attrs = #vhlo.array_v1<[]>, sym_visibility = #vhlo.string_v1<"">}

// -----

// CHECK: 2 scales for 1 zero points
vhlo.func_v1 @axis(%arg0: !vhlo.tensor_v1<2x!vhlo.quant_per_axis_v1<!vhlo.i8_v1:!vhlo.f32_v1, 0, [1.000000e+00, 2.000000e+00], [0], -128:127, 1>>) -> () {
  "vhlo.return_v1"() : () -> ()
} {arg_attrs = #vhlo.array_v1<[]>, res_attrs = #vhlo.array_v1<[]>, sym_visibility = #vhlo.string_v1<"">}
