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

/// The inverse error function of `y` by `y` in powers of `w - 21 / 8`, where `w` is
/// `-log(1 - y^2)`, for `w` up to [`CENTRAL_LIMIT`]: interpolated at Chebyshev's points. (The
/// variables are M. Giles', "Approximating the erfinv function", 2010.)
const CENTRAL: [f64; 22] = [
    1.532_171_721_537_720_2,
    0.245_538_924_998_579_68,
    -0.004_626_732_011_193_925,
    -0.001_144_492_764_607_941,
    0.000_214_359_857_996_648_5,
    -7.400_322_052_041_341e-6,
    -2.993_598_973_609_012e-6,
    4.862_541_541_514_536e-7,
    1.870_740_043_345_855_7e-9,
    -9.637_424_780_107_503e-9,
    1.040_338_514_403_868_8e-9,
    7.441_799_178_343_687e-11,
    -2.893_574_770_443_018_6e-11,
    1.722_301_332_278_173_2e-12,
    3.919_148_198_397_446e-13,
    -7.818_453_017_311_979e-14,
    4.193_367_863_685_592e-16,
    1.541_046_935_682_498_4e-15,
    -1.455_868_244_659_133_5e-16,
    -1.517_855_307_615_722_7e-17,
    2.591_997_610_964_240_5e-18,
    1.344_644_079_559_279_9e-20,
];
/// The same in powers of `sqrt(w)` less [`TAIL_CENTRE`], from there on up to 4, for the number of
/// `f32` next to 1.
const TAIL: [f64; 22] = [
    2.979_043_800_019_680_6,
    1.004_003_037_625_349_3,
    0.006_729_067_598_415_041,
    -0.004_998_203_046_151_430_4,
    0.003_542_275_331_414_464,
    -0.002_366_714_114_057_249_6,
    0.001_212_205_468_978_246_5,
    -0.000_341_425_819_557_183_53,
    -6.539_013_579_121_202e-5,
    0.000_124_027_677_543_245_92,
    -5.805_135_322_884_758e-5,
    4.804_289_488_159_455e-6,
    9.755_570_776_075_123e-6,
    -5.983_752_410_492_141e-6,
    1.104_776_157_671_807e-6,
    5.806_896_603_046_557e-7,
    -5.028_052_572_896_268e-7,
    1.428_369_786_134_273e-7,
    3.300_195_835_754_492e-8,
    -3.933_781_522_626_348e-8,
    5.344_723_225_458_226e-9,
    2.511_039_112_986_904_5e-9,
];
const CENTRAL_LIMIT: f64 = 5.25;
const TAIL_CENTRE: f64 = 3.145_643_923_738_96;

/// The number whose error function is `y`, a number of `f32`: infinite at ±1, NaN beyond.
#[inline(always)]
pub fn erf_inv<L: Lane>(y: L) -> L {
    let (one, size) = (y.splat(1.0), y.abs());
    let distance = one - size;
    let w = -log(distance * (size + 1.0));
    let central = polynomial(&CENTRAL, w - 0.5 * CENTRAL_LIMIT);
    let tail = polynomial(&TAIL, w.sqrt() - TAIL_CENTRE);
    let x = size * L::select(w.less(y.splat(CENTRAL_LIMIT)), central, tail);
    let zero = y.splat(0.0);
    let x = L::select(distance.equals(zero), y.splat(f64::INFINITY), x);
    L::select(distance.at_least(zero), x, y.splat(f64::NAN)).copysign(y)
}
