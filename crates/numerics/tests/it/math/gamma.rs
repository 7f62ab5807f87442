//! Tests of `math/gamma.rs`.

use numerics::math::gamma::{digamma, lgamma, polygamma, zeta};
use numerics::math::zeta as narrow;

const EULER: f64 = 0.577_215_664_901_532_9;
const PI: f64 = std::f64::consts::PI;

fn assert_close(actual: f64, expected: f64) {
    assert!((actual - expected).abs() <= 4e-16 * expected.abs(), "{actual} and {expected}");
}

#[test]
fn digamma_values() {
    assert_close(digamma(1.0), -EULER);
    assert_close(digamma(0.5), -EULER - 2.0 * std::f64::consts::LN_2);
    assert_close(digamma(2.0), 1.0 - EULER);
    assert!((digamma(-0.5) - (digamma(0.5) + 2.0)).abs() < 1e-15);
    assert!(digamma(-2.0).is_nan());
    assert!(digamma(0.0).is_nan() && digamma(-0.0).is_nan());
}

#[test]
fn zeta_values() {
    assert_close(zeta(2.0, 1.0), PI * PI / 6.0);
    assert_close(zeta(2.0, 0.5), PI * PI / 2.0);
    // The terms with k = 0 and 1, and those from k = 2 on.
    assert_close(zeta(2.0, -1.5), 1.0 / 2.25 + 4.0 + PI * PI / 2.0);
    assert_close(zeta(3.0, -0.5), -8.0 + zeta(3.0, 0.5));
    assert_eq!(zeta(1.0, 3.0), f64::INFINITY);
    assert_eq!(zeta(2.0, -1.0), f64::INFINITY);
    assert_eq!(zeta(2.0, f64::INFINITY), 0.0);
    assert_eq!(zeta(f64::INFINITY, 1.0), 1.0);
    assert!(zeta(3.0, -1.0).is_nan() && zeta(0.5, 2.0).is_nan());
    assert!(zeta(2.5, -0.5).is_nan());
}

#[test]
fn polygamma_values() {
    assert_close(polygamma(0.0, 1.0), -EULER);
    assert_close(polygamma(1.0, 1.0), PI * PI / 6.0);
    assert_close(polygamma(3.0, 0.5), PI.powi(4));
    assert!(polygamma(1.5, 1.0).is_nan() && polygamma(-1.0, 1.0).is_nan());
    assert_eq!(polygamma(1.0, f64::INFINITY), 0.0);
}

#[test]
fn nothing_panics() {
    let numbers =
        [0.0, 1e-310, 0.5, 1.0, 1.5, 2.0, 7.0, 170.0, 1e5, 1e16, 1e300, f64::MAX, f64::INFINITY];
    let numbers: Vec<f64> =
        numbers.iter().flat_map(|&x| [x, -x]).chain([f64::NAN, -1e5 - 0.5]).collect();
    for &x in &numbers {
        assert_eq!((lgamma(x).is_nan(), x.is_nan()), (x.is_nan(), x.is_nan()));
        digamma(x);
        for &y in &numbers {
            zeta(x, y);
            polygamma(x, y);
        }
    }
}

/// Numbers whose logarithms of the gamma function are hard to round, with these, computed with MPFR:
/// beside zeros, of very small and very large numbers, and with results near the middle between two
/// numbers.
#[rustfmt::skip]
const HARD_LGAMMA: &[(f64, f64)] = &[
    (-2.4570247382208006, 5.619192358950097e-17),
    (-2.7476826467274127, 1.733509244024501e-16),
    (-3.14358088834998, 1.6978655906121085e-15),
    (-3.955294284858598, -4.14382750757705e-16),
    (-4.039361839740537, -5.664578074060335e-15),
    (-4.991544640560048, 1.7683619350849613e-14),
    (0.9999999999999999, 6.408381213480008e-17),
    (1.0000000000000002, -1.2816762426960008e-16),
    (1.9999999999999998, -9.387698065543117e-17),
    (2.0000000000000004, 1.8775396131086244e-16),
    (-1e-90, 207.2326583694641),
    (2e-90, 206.53951118890416),
    (1e-91, 209.53524346245817),
    (5e-324, 744.4400719213812),
    (-1e-300, 690.7755278982137),
    (-40.00000000000001, -77.74272222843999),
    (-200.5, -864.7382878706798),
    (1e+20, 4.505170185988091e+21),
    (3e+200, 1.3818468926624316e+203),
    (2.5e+305, 1.7555118602376452e+308),
    (0.10885555408391194, 2.16416442739245),
    (0.3526869803234416, 0.9266312221361442),
    (1.4834510618293342, -0.1212574715684662),
    (1.3168674650311178, -0.11086822745358227),
    (1.6058389850912782, -0.11184116620941276),
    (2.321173153728454, 0.16701534869989224),
    (6.010967455028294, 4.806214409603381),
    (8.314629187334415, 9.16584071397736),
    (29.73083928051957, 70.34731272102171),
    (55.46033182053042, 166.16255630966964),
    (-2.117324169479126, 1.3614707332936271),
    (-2.3902335437201994, 0.12350641702788963),
    (-7.305773017900114, -7.80389400647205),
    (-13.095637496797238, -20.439156949073556),
    (-0.6911385199124206, 1.4346477039507453),
    (-0.36274251082593545, 1.3573377889445988),
];

#[test]
fn lgamma_is_correctly_rounded() {
    for &(x, expected) in HARD_LGAMMA {
        assert_eq!(lgamma(x), expected, "lgamma({x:e})");
    }
    assert_eq!([lgamma(1.0), lgamma(2.0)], [0.0; 2]);
    assert_eq!(lgamma(2.6e305), f64::INFINITY);
}

/// The faster functions for results of few bits have the results of the precise ones, rounded.
#[test]
fn narrow_results_are_rounded() {
    let mut state = 3u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    };
    let equal = |s: f64, q: f64| {
        let [s, q] = [s, q].map(|x| f64::from(x as f32));
        assert_eq!(narrow::zeta(s, q) as f32, zeta(s, q) as f32, "{s} {q}");
        let n = s.floor();
        let derivatives = [narrow::polygamma(n, q), polygamma(n, q)].map(|x| (x as f32).to_bits());
        assert_eq!(derivatives[0], derivatives[1], "{n} {q}");
    };
    for i in 0..2000 {
        let (x, y) = (next(), next());
        match i % 4 {
            0 => equal(1.0 + 10.0 * x, y),
            1 => equal(1.0 + 0.01 * x, 20.0 * y),
            2 => equal(1.0 + 200.0 * x, 0.01 + 2.0 * y),
            _ => equal(1.0 + 3.0 * x, (80.0 * (y - 0.5)).exp()),
        }
    }
    for q in [1.0, 0.5, 2.0, 16.0, -0.5, -1.5, 1e-30, 1e20, 1e38] {
        (1..40).for_each(|s| equal(f64::from(s), q));
    }
}
