// Element types, distributions, bounds and shapes.
func.func @main() -> (tensor<7xf32>, tensor<3xf64>, tensor<5xf16>, tensor<5xbf16>, tensor<5xi32>, tensor<3xi32>, tensor<2x2xui32>, tensor<3xi64>, tensor<5xui64>, tensor<f32>, tensor<i32>, tensor<3x3xf32>, tensor<3x4x5xf32>, tensor<4xf16>, tensor<5xbf16>, tensor<f32>, tensor<0x3xf32>, tensor<5x1x1xf32>, tensor<3xf64>) {
  %a0 = stablehlo.constant dense<-0.3> : tensor<f32>
  %b0 = stablehlo.constant dense<5.7> : tensor<f32>
  %n0 = stablehlo.constant dense<[7]> : tensor<1xi64>
  %r0 = stablehlo.rng %a0, %b0, %n0, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<7xf32>
  %a1 = stablehlo.constant dense<-0.3> : tensor<f64>
  %b1 = stablehlo.constant dense<5.7> : tensor<f64>
  %n1 = stablehlo.constant dense<[3]> : tensor<1xi64>
  %r1 = stablehlo.rng %a1, %b1, %n1, distribution = UNIFORM : (tensor<f64>, tensor<f64>, tensor<1xi64>) -> tensor<3xf64>
  %a2 = stablehlo.constant dense<-1.0> : tensor<f16>
  %b2 = stablehlo.constant dense<1.0> : tensor<f16>
  %n2 = stablehlo.constant dense<[5]> : tensor<1xi64>
  %r2 = stablehlo.rng %a2, %b2, %n2, distribution = UNIFORM : (tensor<f16>, tensor<f16>, tensor<1xi64>) -> tensor<5xf16>
  %a3 = stablehlo.constant dense<0.0> : tensor<bf16>
  %b3 = stablehlo.constant dense<1.0> : tensor<bf16>
  %n3 = stablehlo.constant dense<[5]> : tensor<1xi64>
  %r3 = stablehlo.rng %a3, %b3, %n3, distribution = UNIFORM : (tensor<bf16>, tensor<bf16>, tensor<1xi64>) -> tensor<5xbf16>
  %a4 = stablehlo.constant dense<-7> : tensor<i32>
  %b4 = stablehlo.constant dense<2000000000> : tensor<i32>
  %n4 = stablehlo.constant dense<[5]> : tensor<1xi64>
  %r4 = stablehlo.rng %a4, %b4, %n4, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<1xi64>) -> tensor<5xi32>
  %a5 = stablehlo.constant dense<3> : tensor<i32>
  %b5 = stablehlo.constant dense<3> : tensor<i32>
  %n5 = stablehlo.constant dense<[3]> : tensor<1xi64>
  %r5 = stablehlo.rng %a5, %b5, %n5, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<1xi64>) -> tensor<3xi32>
  %a6 = stablehlo.constant dense<10> : tensor<ui32>
  %b6 = stablehlo.constant dense<4000000000> : tensor<ui32>
  %n6 = stablehlo.constant dense<[2,2]> : tensor<2xi64>
  %r6 = stablehlo.rng %a6, %b6, %n6, distribution = UNIFORM : (tensor<ui32>, tensor<ui32>, tensor<2xi64>) -> tensor<2x2xui32>
  %a7 = stablehlo.constant dense<-9000000000000000000> : tensor<i64>
  %b7 = stablehlo.constant dense<9000000000000000000> : tensor<i64>
  %n7 = stablehlo.constant dense<[3]> : tensor<1xi64>
  %r7 = stablehlo.rng %a7, %b7, %n7, distribution = UNIFORM : (tensor<i64>, tensor<i64>, tensor<1xi64>) -> tensor<3xi64>
  %a8 = stablehlo.constant dense<1> : tensor<ui64>
  %b8 = stablehlo.constant dense<7> : tensor<ui64>
  %n8 = stablehlo.constant dense<[5]> : tensor<1xi64>
  %r8 = stablehlo.rng %a8, %b8, %n8, distribution = UNIFORM : (tensor<ui64>, tensor<ui64>, tensor<1xi64>) -> tensor<5xui64>
  %a9 = stablehlo.constant dense<0.0> : tensor<f32>
  %b9 = stablehlo.constant dense<1.0> : tensor<f32>
  %n9 = stablehlo.constant dense<> : tensor<0xi64>
  %r9 = stablehlo.rng %a9, %b9, %n9, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<0xi64>) -> tensor<f32>
  %a10 = stablehlo.constant dense<0> : tensor<i32>
  %b10 = stablehlo.constant dense<6> : tensor<i32>
  %n10 = stablehlo.constant dense<> : tensor<0xi64>
  %r10 = stablehlo.rng %a10, %b10, %n10, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<0xi64>) -> tensor<i32>
  %a11 = stablehlo.constant dense<1.0> : tensor<f32>
  %b11 = stablehlo.constant dense<2.0> : tensor<f32>
  %n11 = stablehlo.constant dense<[3,3]> : tensor<2xi64>
  %r11 = stablehlo.rng %a11, %b11, %n11, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<3x3xf32>
  %a12 = stablehlo.constant dense<0.0> : tensor<f32>
  %b12 = stablehlo.constant dense<1.0> : tensor<f32>
  %n12 = stablehlo.constant dense<[3,4,5]> : tensor<3xi64>
  %r12 = stablehlo.rng %a12, %b12, %n12, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<3xi64>) -> tensor<3x4x5xf32>
  %a13 = stablehlo.constant dense<0.0> : tensor<f16>
  %b13 = stablehlo.constant dense<1.0> : tensor<f16>
  %n13 = stablehlo.constant dense<[4]> : tensor<1xi64>
  %r13 = stablehlo.rng %a13, %b13, %n13, distribution = NORMAL : (tensor<f16>, tensor<f16>, tensor<1xi64>) -> tensor<4xf16>
  %a14 = stablehlo.constant dense<1.5> : tensor<bf16>
  %b14 = stablehlo.constant dense<0.5> : tensor<bf16>
  %n14 = stablehlo.constant dense<[5]> : tensor<1xi64>
  %r14 = stablehlo.rng %a14, %b14, %n14, distribution = NORMAL : (tensor<bf16>, tensor<bf16>, tensor<1xi64>) -> tensor<5xbf16>
  %a15 = stablehlo.constant dense<0.0> : tensor<f32>
  %b15 = stablehlo.constant dense<1.0> : tensor<f32>
  %n15 = stablehlo.constant dense<> : tensor<0xi64>
  %r15 = stablehlo.rng %a15, %b15, %n15, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<0xi64>) -> tensor<f32>
  %a16 = stablehlo.constant dense<0.0> : tensor<f32>
  %b16 = stablehlo.constant dense<1.0> : tensor<f32>
  %n16 = stablehlo.constant dense<[0,3]> : tensor<2xi64>
  %r16 = stablehlo.rng %a16, %b16, %n16, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<0x3xf32>
  %a17 = stablehlo.constant dense<1.0> : tensor<f32>
  %b17 = stablehlo.constant dense<0.0> : tensor<f32>
  %n17 = stablehlo.constant dense<[5,1,1]> : tensor<3xi64>
  %r17 = stablehlo.rng %a17, %b17, %n17, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<3xi64>) -> tensor<5x1x1xf32>
  %a18 = stablehlo.constant dense<0.0> : tensor<f64>
  %b18 = stablehlo.constant dense<1.0> : tensor<f64>
  %n18 = stablehlo.constant dense<[3]> : tensor<1xi64>
  %r18 = stablehlo.rng %a18, %b18, %n18, distribution = NORMAL : (tensor<f64>, tensor<f64>, tensor<1xi64>) -> tensor<3xf64>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18 : tensor<7xf32>, tensor<3xf64>, tensor<5xf16>, tensor<5xbf16>, tensor<5xi32>, tensor<3xi32>, tensor<2x2xui32>, tensor<3xi64>, tensor<5xui64>, tensor<f32>, tensor<i32>, tensor<3x3xf32>, tensor<3x4x5xf32>, tensor<4xf16>, tensor<5xbf16>, tensor<f32>, tensor<0x3xf32>, tensor<5x1x1xf32>, tensor<3xf64>
}
// XLA: 408396bd 3e56a83c 4016804b 405ecb96 3fb1998e 40b02813 4097253e
// XLA: 3fdf808592c2adcd 40111469e177a637 3ff4e24921bb3f65
// XLA: 364d 379d bb9b b1c1 39a8
// XLA: 3f07 3ea9 3eda 3f7b 3f7e
// XLA: 06cce6ae 6f8b83ca 0eaeca5b 30310273 46ab3fe4
// XLA: 648760e0 b2cd593b 3108015e
// XLA: 748e83e5 dbc9ad1e ba60aab8 9aad17ab
// XLA: 9dac1166aa77f689 adf78b1634bf1475 beb3668cf613144e
// XLA: 0000000000000004 0000000000000002 0000000000000003 0000000000000005 0000000000000006
// XLA: 3f1cb402
// XLA: 00000003
// XLA: 3fe3215a 40401221 404796c5 3fc27440 4010185d 3ea7e788 3fe85b0a bfd01a3c becacec0
// XLA: 3e77ce58 3f82a437 3c10e226 bed29bbc bf91973e bd4f85f3 3f7ab5e4 3f20fa0e 3fa92f56 3e5270be bf0f77be 3f0bd225 bfaf3d66 3f289ecb bf18bb0a bf94017a be8b11f2 3faf98e9 3e1ecd91 bf82b16b bf226c16 3fbcb42d bf7656c2 3eaf5603 3e3708e9 40128075 3ffe4967 beaa5326 bfbe5c11 bf45b754 bf30f0fb 3e6cf77b 3ea2702f 3fabaad3 3d418f78 3f53f2e1 bf37b10d bf073274 3ea8885e bfeddfba bf94b50a bf1f9efe 3c90ee7d 3eaeb0a4 c0019ef3 becbcd87 3e59b37d bf73aae7 3f180676 bec80e5b bea05091 bdb3ffbd 3f98e1e2 3f4b2fdd 3f3d5c3c 3f515206 bf719eb5 3e5c616c bf1575e4 bf46342e
// XLA: 34ef b181 bc30 bc1c
// XLA: 3fd5 3fac 3fce 3f5c 3f93
// XLA: bf2d534d
// XLA:
// XLA: 3f800000 3f800000 3f800000 3f800000 3f800000
// XLA: bfe061fd7744738d bfdf90275e374542 bff50ac623b01270
