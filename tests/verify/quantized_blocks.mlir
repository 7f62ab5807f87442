// RUN: stablehlo-opt %s --verify-diagnostics --split-input-file

// The zero points of sub-channel types are elements of the storage type in bytecode.
func.func private @least(tensor<2x4x!quant.uniform<i8:f32:{0:1, 1:2}, {{1.0:-128, 2.0:127}, {3.0, 4.0}}>>)

// -----

// expected-error @+1 {{the zero point 128 is out of the range of i8, -128 to 127}}
func.func private @signed(tensor<2x4x!quant.uniform<i8:f32:{0:1, 1:2}, {{1.0:128, 2.0:1}, {3.0, 4.0}}>>)

// -----

// expected-error @+1 {{the zero point -1 is out of the range of ui8, 0 to 255}}
func.func private @unsigned(tensor<2x4x!quant.uniform<u8:f32:{0:1, 1:2}, {{1.0:-1, 2.0:1}, {3.0, 4.0}}>>)
