//! Tests of `floats.rs`.

use numerics::{
    Arithmetic, Complex, F4E2M1FN, F6E2M3FN, F6E3M2FN, F8E3M4, F8E4M3, F8E4M3B11FNUZ, F8E4M3FN,
    F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, Float, FloatFormat, Number, Real, Tf32, bf16, f16,
};

#[test]
fn bf16_rounds_as_its_format() {
    let mut state = 1u64;
    for _ in 0..200_000 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        // Numbers of all magnitudes of f32, near and at midpoints of bf16.
        let middle = f64::from(f32::from_bits((state >> 32) as u32 & 0xFFFF_8000));
        for x in [middle, middle.next_up(), middle.next_down(), f64::from_bits(state)] {
            let (fast, slow) = (<bf16 as Number>::from_float(x), FloatFormat::BF16.encode(x));
            assert_eq!(fast.to_raw(), slow, "{x:e}");
        }
    }
}

#[test]
fn small_formats_round_as_their_formats() {
    fn check<T: Float>() {
        let expect = |x: f64| {
            for x in [x, -x] {
                assert_eq!(T::from_float(x).to_raw(), T::FORMAT.encode(x), "{x:e}");
            }
        };
        let numbers = (0..1u64 << (T::FORMAT.bits() - 1)).map(|raw| T::FORMAT.decode(raw));
        let numbers: Vec<f64> = numbers.filter(|x| x.is_finite()).collect();
        for pair in numbers.windows(2) {
            let middle = (pair[0] + pair[1]) / 2.0;
            let near = [middle, middle.next_up(), middle.next_down(), middle * 1e-30];
            near.into_iter().chain([pair[0], pair[1]]).for_each(expect);
        }
        let last = numbers.into_iter().fold(0.0, f64::max);
        let step = last / f64::from(1 << T::FORMAT.mantissa_bits);
        (0..64).map(|i| last + step * f64::from(i) / 16.0).for_each(expect);
        let extreme = [1e38, 1e39, f64::MAX, 1e-45, 1e-300, f64::INFINITY, f64::NAN];
        extreme.into_iter().for_each(expect);
    }
    check::<f16>();
    check::<F8E3M4>();
    check::<F8E4M3>();
    check::<F8E4M3FN>();
    check::<F8E4M3FNUZ>();
    check::<F8E4M3B11FNUZ>();
    check::<F8E5M2>();
    check::<F8E5M2FNUZ>();
    check::<F8E8M0FNU>();
    check::<F6E2M3FN>();
    check::<F6E3M2FN>();
    check::<F4E2M1FN>();
}

#[test]
fn f16_is_read_exactly() {
    for bits in 0..=u16::MAX {
        let (found, expected) = (f16::from_bits(bits).to_f64(), f64::from(f16::from_bits(bits)));
        assert_eq!(found.to_bits(), expected.to_bits(), "{bits:#x}");
    }
}

#[test]
fn arithmetic_rounds_once() {
    // The exact product 2^-132 * (1 + 2^-7)(1 + 2^-7) * 2^-1 is just above a midpoint of
    // subnormal numbers that an intermediate f32 would lose: in units of 2^-133 it is 1 + 2^-6
    // + 2^-14 over 2^k.
    let x = bf16::from_bits(0x1F81);
    let y = bf16::from_bits(0x1F81);
    let exact = Float::to_f64(x) * Float::to_f64(y);
    assert_eq!(x.multiply(y).to_raw(), FloatFormat::BF16.encode(exact));
    // 240 + 8 is a midpoint between 240 and 256, which is beyond the largest f8E4M3.
    let (x, y) = (F8E4M3::from_bits(0x77), F8E4M3::from_bits(0x50));
    assert_eq!((x.to_f32(), y.to_f32()), (240.0, 8.0));
    assert_eq!(x.add(y).to_bits(), 0x78);
    assert_eq!(x.subtract(y).to_f32(), 224.0);
}

#[test]
fn extremes_follow_ieee() {
    fn check<T: Float>() {
        let (minus, plus, nan) = (T::from_float(-0.0), T::from_float(0.0), T::from_float(f64::NAN));
        for (x, y) in [(minus, plus), (plus, minus)] {
            assert_eq!(Number::maximum(x, y).to_raw(), plus.to_raw());
            assert_eq!(Number::minimum(x, y).to_raw(), minus.to_raw());
        }
        if nan.is_nan() {
            for (x, y) in [(nan, T::ONE), (T::ONE, nan)] {
                assert!(Number::maximum(x, y).is_nan());
                assert!(Number::minimum(x, y).is_nan());
            }
        }
        assert_eq!(Number::maximum(T::ONE, T::ONE.negate()), T::ONE);
        assert_eq!(T::ONE.negate().abs(), T::ONE);
        assert_eq!(T::ONE.add(T::ONE).negate().sign(), T::ONE.negate());
        assert_eq!(minus.sign().to_raw(), minus.to_raw());
        assert_eq!(nan.abs().is_nan(), nan.is_nan());
    }
    check::<f32>();
    check::<f64>();
    check::<bf16>();
    check::<f16>();
    check::<Tf32>();
    check::<F8E5M2>();
    check::<F8E4M3FN>();
    check::<F8E4M3FNUZ>();
    check::<F4E2M1FN>();
}

#[test]
fn remainders_have_the_sign_of_the_dividend() {
    assert_eq!((-7.5f32).remainder(2.0), -1.5);
    assert_eq!(bf16::from_f32(7.5).remainder(bf16::from_f32(-2.0)), bf16::from_f32(1.5));
    assert!(1.0f64.remainder(0.0).is_nan());
    assert_eq!(1.0f64.remainder(f64::INFINITY), 1.0);
}

#[test]
fn complex_numbers() {
    let (x, y) = (Complex::new(1.0f32, 2.0), Complex::new(3.0f32, -4.0));
    assert_eq!(x.multiply(y), Complex::new(11.0, 2.0));
    assert_eq!(x.divide(y), Complex::new(-0.2, 0.4));
    assert_eq!(Number::maximum(x, y), y);
    assert_eq!(Number::minimum(x, Complex::new(1.0, 1.0)), Complex::new(1.0, 1.0));
}
