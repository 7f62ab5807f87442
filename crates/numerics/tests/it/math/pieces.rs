//! Tests of `math/pieces.rs`: results by pieces have the bits of the exact functions.

use numerics::math::pieces::{BesselI1e, Digamma, ErfInv, Lgamma, Pieced};

/// Numbers of an interval, evenly spread but for the last bits.
fn spread(start: f64, end: f64, count: usize) -> impl Iterator<Item = f64> {
    let step = (end - start) / count as f64;
    (0..count).map(move |i| (i as f64 + 0.5).mul_add(step, start))
}

/// Compares the results of positive numbers with powers of two from these exponents, and of some
/// negative ones if there are any. Nearly all are known once a piece has been asked for often.
fn compare<F: Pieced>(name: &str, exponents: std::ops::Range<i32>, sign: f64) {
    let (mut known, mut known_singles, mut all) = (0, 0, 0);
    for exponent in exponents {
        for piece in (0..16).step_by(5) {
            let start = 2f64.powi(exponent) * (1.0 + f64::from(piece) / 16.0);
            let end = 2f64.powi(exponent) * (1.0 + f64::from(piece + 1) / 16.0);
            // The reflection of negative numbers asks for the pieces of all fractions.
            for x in spread(start, end, 2000) {
                F::near(sign * x);
            }
            for x in spread(start, end, 11).map(|x| sign * x) {
                let (near, exact) = (F::near(x).nearest(), F::exact(x));
                assert!(near.is_nan() || near.to_bits() == exact.to_bits(), "{name} of {x}");
                let single = F::near_single(f64::from(x as f32)).nearest_single();
                let exact = F::exact(f64::from(x as f32)) as f32;
                assert!(single.is_nan() || single.to_bits() == exact.to_bits(), "{name} of {x}");
                known += usize::from(!near.is_nan());
                known_singles += usize::from(!single.is_nan());
                all += 1;
            }
        }
    }
    assert!(known * 10 > all * 9, "{name}: {known} of {all} results are known");
    assert!(known_singles * 10 > all * 9, "{name}: {known_singles} of {all} results are known");
}

#[test]
fn pieces_have_the_bits_of_the_functions() {
    compare::<BesselI1e>("bessel_i1e", -20..12, 1.0);
    compare::<BesselI1e>("bessel_i1e", -3..3, -1.0);
    compare::<Digamma>("digamma", -20..20, 1.0);
    compare::<Digamma>("digamma", -9..5, -1.0);
    compare::<ErfInv>("erf_inv", -20..0, 1.0);
    compare::<ErfInv>("erf_inv", -4..0, -1.0);
    compare::<Lgamma>("lgamma", -20..0, 1.0);
    compare::<Lgamma>("lgamma", 2..20, 1.0);
    compare::<Lgamma>("lgamma", -9..0, -1.0);
}

/// Gamma functions of numbers beyond the pieces are logarithms, and the reflection of half-integers
/// has a piece.
#[test]
fn gamma_functions_beyond_the_pieces() {
    fn compare<F: Pieced>(name: &str, numbers: impl Iterator<Item = f64>) {
        let (mut known, mut all) = (0, 0);
        for x in numbers {
            let (near, exact) = (F::near(x).nearest(), F::exact(x));
            assert!(near.is_nan() || near.to_bits() == exact.to_bits(), "{name} of {x:e}");
            known += usize::from(!near.is_nan());
            all += 1;
        }
        assert!(known * 20 > all * 19, "{name}: {known} of {all} results are known");
    }
    let power = |exponent: i32| 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2);
    let of = |exponents: std::ops::Range<i32>| {
        exponents.flat_map(move |e| [1.0, 1.3, 1.9].map(|x| x * power(e)))
    };
    compare::<Digamma>("digamma", of(65..1023));
    compare::<Lgamma>("lgamma", of(65..1013));
    compare::<Lgamma>("lgamma", of(-1074..-65));
    compare::<Lgamma>("lgamma", of(-1074..-65).map(|x| -x));
    let halves = |count| (0..count).map(|i| -0.5 - f64::from(i % 20));
    for x in halves(1000) {
        Lgamma::near(x);
    }
    compare::<Lgamma>("lgamma", halves(20));
    // 1000 log(2), and 1074 log(2).
    assert_eq!(Digamma::near(power(1000)).nearest(), 693.147_180_559_945_3);
    assert_eq!(Lgamma::near(power(-1074)).nearest(), 744.440_071_921_381_2);
}

#[test]
fn inverse_error_function_beside_one() {
    for exponent in 2..50 {
        let distance = 2f64.powi(-exponent);
        for x in spread(1.0 - 1.0625 * distance, 1.0 - distance, 50) {
            let near = ErfInv::near(x).nearest();
            assert!(near.is_nan() || near == ErfInv::exact(x), "of {x}");
        }
    }
}

/// Poles, zeros, and what lies outside of all pieces.
#[test]
fn special_numbers_are_left_to_the_functions() {
    fn is_left<F: Pieced>(x: f64) -> bool {
        (0..20)
            .all(|_| F::near(x).nearest().is_nan() && F::near_single(x).nearest_single().is_nan())
    }
    for x in [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(is_left::<Digamma>(x) && is_left::<Lgamma>(x), "{x}");
    }
    for x in [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-30, 1e30, 5e-324] {
        assert!(is_left::<BesselI1e>(x) && is_left::<ErfInv>(x), "{x}");
    }
    for x in [-1.0, -2.0, -3.0, -1e10, -1e30] {
        assert!(is_left::<Digamma>(x) && is_left::<Lgamma>(x), "{x}");
    }
    assert!(is_left::<ErfInv>(1.0) && is_left::<ErfInv>(-1.5));
    assert!(is_left::<Lgamma>(1.0) && is_left::<Lgamma>(2.0));
}
