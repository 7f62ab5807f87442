//! The error functions in the style of [`super::lanes`].

use super::lanes::{Lane, exp, log, polynomial};
use std::f64::consts::FRAC_2_SQRT_PI;

/// Beyond this, the complementary error function vanishes in `f32`.
const LIMIT: f64 = 10.25;
/// `(1 + 2 x) exp(x^2) erfc(x)` in powers of `(x - 4) / (x + 4)`, for `x` from 0 to [`LIMIT`]:
/// interpolated at Chebyshev's points.
const SCALED_ERFC: [f64; 22] = [
    1.232_995_118_625_552_6,
    -0.139_621_116_840_562_47,
    0.015_379_652_102_619_379,
    0.068_097_054_254_685_93,
    -0.101_039_066_036_269_33,
    0.093_732_834_998_752_85,
    -0.066_330_365_813_286_16,
    0.037_167_515_526_032_61,
    -0.016_197_734_047_095_215,
    0.005_031_970_153_397_653,
    -0.000_757_773_238_025_288_6,
    -0.000_199_258_168_653_244_2,
    0.000_150_619_820_127_008_52,
    -2.439_309_026_211_766e-5,
    -1.120_746_381_475_381_2e-5,
    5.703_979_393_455_01e-6,
    2.473_723_959_235_715e-7,
    -8.633_619_342_118_041e-7,
    1.111_509_751_616_86e-7,
    1.979_566_418_364_538_2e-7,
    4.521_129_470_155_704_5e-8,
    2.276_981_643_410_050_4e-9,
];
/// From here on, the error function is 1 in `f32`.
const ERF_LIMIT: f64 = 4.0;
/// `erf(x) / x - 1 / 4` in powers of `x^2 / 8 - 1`, for `x` up to [`ERF_LIMIT`], where it almost
/// vanishes: interpolated at Chebyshev's points.
const ERF: [f64; 29] = [
    0.103_530_995_643_404_97,
    -0.176_576_233_301_370_3,
    0.131_675_116_894_699_07,
    -0.107_710_442_528_709_95,
    0.090_208_994_112_202_54,
    -0.074_727_865_740_156_14,
    0.059_886_904_980_942_506,
    -0.045_765_110_497_659_97,
    0.033_060_632_674_261_47,
    -0.022_473_567_788_487_563,
    0.014_349_598_984_397_752,
    -0.008_606_224_409_813_77,
    0.004_853_551_401_650_512,
    -0.002_578_210_493_803_567,
    0.001_292_609_420_911_460_3,
    -0.000_612_980_614_660_048_6,
    0.000_275_550_272_085_949_15,
    -0.000_117_662_063_088_088_79,
    4.783_147_302_001_706e-5,
    -1.855_855_443_119_431e-5,
    6.875_654_930_541_106e-6,
    -2.424_411_945_438_383_2e-6,
    8.251_175_578_454_278e-7,
    -2.808_284_140_969_394e-7,
    8.789_930_898_184_072e-8,
    -2.069_898_536_467_641e-8,
    6.141_456_639_788_418e-9,
    -3.543_388_022_325_369e-9,
    9.497_687_973_583_933e-10,
];
/// `erf(x) / x - 2 / sqrt(pi)` in powers of `x^2`, from the first, for `x` up to 1.
const SMALL_ERF: [f64; 13] = [
    -0.376_126_389_031_837_54,
    0.112_837_916_709_551_2,
    -0.026_866_170_645_129_84,
    0.005_223_977_625_423_298_5,
    -0.000_854_832_702_193_483,
    0.000_120_553_329_028_887_36,
    -1.492_564_756_751_933_2e-5,
    1.646_204_544_146_841_8e-6,
    -1.636_464_215_816_761_6e-7,
    1.479_240_120_940_481_3e-8,
    -1.216_456_005_728_345e-9,
    8.709_045_129_053_106e-11,
    -4.230_945_824_295_338e-12,
];

/// The complementary error function of a number that is not negative.
#[inline(always)]
fn erfc_of_positive<L: Lane>(x: L) -> L {
    let x = x.splat(LIMIT).least(x);
    exp(-(x * x)) * scaled_erfc(x)
}

/// `exp(x^2) erfc(x)` of a number up to [`LIMIT`].
#[inline(always)]
fn scaled_erfc<L: Lane>(x: L) -> L {
    let t = (x - 4.0) / (x + 4.0);
    polynomial(&SCALED_ERFC, t) / x.mul_add(x.splat(2.0), x.splat(1.0))
}

/// The error function of a number of at most 1 in absolute value.
#[inline(always)]
fn erf_of_small<L: Lane>(x: L) -> L {
    let square = x * x;
    x.mul_add(square * polynomial(&SMALL_ERF, square), x * FRAC_2_SQRT_PI)
}

/// The error function.
#[inline(always)]
pub fn erf<L: Lane>(x: L) -> L {
    let size = x.splat(ERF_LIMIT).least(x.abs());
    let near = (size * size).mul_add(x.splat(0.125), x.splat(-1.0));
    size.mul_add(polynomial(&ERF, near), size * 0.25).copysign(x)
}

/// One minus the error function.
#[inline(always)]
pub fn erfc<L: Lane>(x: L) -> L {
    let tail = erfc_of_positive(x.abs());
    let large = L::select(x.less(x.splat(0.0)), x.splat(2.0) - tail, tail);
    let is_small = x.splat(-1.0).less(x) & x.less(x.splat(0.5));
    let result = L::select(is_small, x.splat(1.0) - erf_of_small(x), large);
    // Also the sign of NaN.
    L::select(x.is_nan(), x, result)
}

/// M. Giles' approximation, "Approximating the erfinv function", 2010, for the larger part of the
/// numbers and for those near 1.
const CENTRAL: [f64; 9] = [
    1.50140941,
    0.246640727,
    -0.00417768164,
    -0.00125372503,
    0.00021858087,
    -4.39150654e-06,
    -3.5233877e-06,
    3.43273939e-07,
    2.81022636e-08,
];
const TAIL: [f64; 9] = [
    2.83297682,
    1.00167406,
    0.00943887047,
    -0.0076224613,
    0.00573950773,
    -0.00367342844,
    0.00134934322,
    0.000100950558,
    -0.000200214257,
];

/// The number whose error function is `y`, a number of `f32`: infinite at ±1, NaN beyond.
#[inline(always)]
pub fn erf_inv<L: Lane>(y: L) -> L {
    let (one, size) = (y.splat(1.0), y.abs());
    let distance = one - size;
    let w = -log(distance * (size + 1.0));
    let central = polynomial(&CENTRAL, w - 2.5);
    let tail = polynomial(&TAIL, w.sqrt() - 3.0);
    let x = size * L::select(w.less(y.splat(5.0)), central, tail);
    // Halley's step, which triples the number of right digits.
    let is_far = distance.less(y.splat(0.5));
    let slope = exp(-(x * x));
    let error = L::select(is_far, distance - slope * scaled_erfc(x), erf_of_small(x) - size);
    let newton = error / (slope * FRAC_2_SQRT_PI);
    let x = x - newton / x.mul_add(newton, one);
    let zero = y.splat(0.0);
    let x = L::select(distance.equals(zero), y.splat(f64::INFINITY), x);
    L::select(distance.at_least(zero), x, y.splat(f64::NAN)).copysign(y)
}
