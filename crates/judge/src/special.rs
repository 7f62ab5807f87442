//! The functions of CHLO that IEEE 754 does not have, with proven errors: the gamma function and
//! its derivatives, the Hurwitz zeta function, a Bessel function, the error function and its
//! inverse.
//!
//! Sums of completely monotonic terms come from the Euler-Maclaurin formula, whose remainder is
//! smaller than the first term that is left out.

use crate::ball::{Ball, up};
use crate::functions::{Analytic, HALF_PI_BALL};
use crate::precise::{self, Elementary};
use std::sync::OnceLock;

/// `1 / √π`.
const INVERSE_ROOT_PI: Ball =
    Ball::constant(0.564_189_583_547_756_3, 7.667_729_806_582_94e-18, 2.4e-34);

/// The Bernoulli numbers of order 2, 4, …, 34 as fractions.
const BERNOULLI: [(f64, f64); 17] = [
    (1.0, 6.0),
    (-1.0, 30.0),
    (1.0, 42.0),
    (-1.0, 30.0),
    (5.0, 66.0),
    (-691.0, 2730.0),
    (7.0, 6.0),
    (-3617.0, 510.0),
    (43867.0, 798.0),
    (-174_611.0, 330.0),
    (854_513.0, 138.0),
    (-236_364_091.0, 2730.0),
    (8_553_103.0, 6.0),
    (-23_749_461_029.0, 870.0),
    (8_615_841_276_005.0, 14322.0),
    (-7_709_321_041_217.0, 510.0),
    (2_577_687_858_367.0, 6.0),
];

/// The argument from which asymptotic series of the gamma function have all digits.
const ASYMPTOTIC: f64 = 26.0;

/// The Bernoulli numbers of even order, from 2.
fn bernoulli() -> &'static [Ball] {
    static NUMBERS: OnceLock<Vec<Ball>> = OnceLock::new();
    NUMBERS.get_or_init(|| {
        BERNOULLI.iter().map(|&(n, d)| Ball::exact(n).over(Ball::exact(d))).collect()
    })
}

/// `ζ(k) - 1` for `k` from 2, by which the logarithm of the gamma function is computed near its
/// zeros.
fn zetas() -> &'static [Ball] {
    static NUMBERS: OnceLock<Vec<Ball>> = OnceLock::new();
    NUMBERS.get_or_init(|| {
        let two = Ball::exact(2.0);
        (2..46).map(|k| Ball::exact(f64::from(k)).zeta(two)).collect()
    })
}

/// `1 - γ`, with Euler's constant.
fn one_less_gamma() -> Ball {
    static NUMBER: OnceLock<Ball> = OnceLock::new();
    *NUMBER.get_or_init(|| Ball::ONE + digamma_of(Ball::ONE))
}

/// A sum of terms with the Bernoulli numbers: `term` has the factor of each. The remainder is at
/// most the last term, which is left out.
fn euler_maclaurin(mut factor: impl FnMut(usize) -> Ball) -> Ball {
    let numbers = bernoulli();
    let mut sum = Ball::ZERO;
    for (i, &number) in numbers.iter().enumerate() {
        let term = number * factor(i + 1);
        if i + 1 == numbers.len() || term.magnitude() < 1e-40 * sum.mignitude() {
            return sum.widened(term.magnitude());
        }
        sum = sum + term;
    }
    sum
}

/// The logarithm of the gamma function for `x` of at least [`ASYMPTOTIC`].
fn stirling(x: Ball) -> Ball {
    // (x - 1/2) log x - x + log(2 π) / 2 + Σ B(2k) / (2k (2k - 1) x^(2k - 1)).
    let half = Ball::exact(0.5);
    let two_pi = HALF_PI_BALL.shifted(2);
    let (inverse, mut power) = (Ball::ONE.over(x), Ball::ONE.over(x));
    let square = inverse.square();
    let series = euler_maclaurin(|k| {
        let n = 2.0 * k as f64;
        let term = power.over(Ball::exact(n * (n - 1.0)));
        power = power * square;
        term
    });
    (x - half) * x.log() - x + two_pi.log() * half + series
}

/// The digamma function of a positive number.
fn digamma_of(mut x: Ball) -> Ball {
    let mut sum = Ball::ZERO;
    while x.hi < ASYMPTOTIC {
        sum = sum - Ball::ONE.over(x);
        x = x + Ball::ONE;
    }
    let inverse = Ball::ONE.over(x);
    let square = inverse.square();
    let mut power = square;
    let series = euler_maclaurin(|k| {
        let term = power.over(Ball::exact(2.0 * k as f64));
        power = power * square;
        term
    });
    sum + x.log() - inverse * Ball::exact(0.5) - series
}

/// `x` less the nearest integer.
fn fraction(x: Ball) -> Ball {
    x - Ball::exact(x.hi.round_ties_even())
}

/// True for zero and negative integers, where the gamma function has poles.
fn is_pole(x: Ball) -> bool {
    x.hi <= 0.0 && x.lo == 0.0 && x.hi.fract() == 0.0
}

/// True if a ball of negative numbers contains no integer, or the numbers are positive.
fn avoids_poles(x: Ball) -> bool {
    let (low, high) = (x.lower(), x.upper());
    low > 0.0 || (high < 0.0 && low.floor() == high.floor() && low.fract() != 0.0)
}

/// The logarithm of the absolute value of the gamma function, near a zero of it: of `1 + z`, or of
/// `2 + z` without the logarithm of `1 + z`.
fn near_zero_of_lgamma(z: Ball, after_two: bool) -> Ball {
    // log Γ(2 + z) = z (1 - γ) + Σ (ζ(k) - 1) (-z)^k / k.
    let (mut sum, mut power) = (one_less_gamma() * z, z);
    for (i, &zeta) in zetas().iter().enumerate() {
        power = -(power * z);
        // The sign of (-z)^k: the power begins with z².
        let term = zeta * power.over(Ball::exact(i as f64 + 2.0));
        sum = sum - term;
    }
    // The rest is a geometric series of ratio |z| / 2 or less.
    let sum = sum.widened(power.magnitude() * 1e-13);
    if after_two { sum } else { sum - z.log_1p() }
}

/// The logarithm of the absolute value of the gamma function of an exact number.
fn lgamma_of(x: Ball) -> Ball {
    if is_pole(x) {
        return Ball::exact(f64::INFINITY);
    }
    if x.hi < 0.0 {
        if x.hi < -9e15 {
            return Ball::UNKNOWN;
        }
        // log(π / |sin(π x)|) - log Γ(1 - x).
        let pi = HALF_PI_BALL.shifted(1);
        let sine = (fraction(x) * pi).sin().abs();
        return pi.log() - sine.log() - lgamma_of(Ball::ONE - x);
    }
    if (x.hi - 1.0).abs() <= 0.25 {
        return near_zero_of_lgamma(x - Ball::ONE, false);
    }
    if (x.hi - 2.0).abs() <= 0.25 {
        return near_zero_of_lgamma(x - Ball::exact(2.0), true);
    }
    if x.hi > 2.5564e305 {
        return Ball::BEYOND;
    }
    let (mut at, mut product) = (x, Ball::ONE);
    while at.hi < ASYMPTOTIC {
        product = product * at;
        at = at + Ball::ONE;
    }
    stirling(at) - product.log()
}

/// The sum of `(q + k)^-s` for `s > 1` and `q > 0`.
fn zeta_of(s: Ball, q: Ball) -> Ball {
    let (mut sum, mut a) = (Ball::ZERO, q);
    let power = |a: Ball| a.power(-s);
    let target = s.hi.max(ASYMPTOTIC) + 4.0;
    // Above this, terms are close to an integral.
    loop {
        let term = power(a);
        let tail = term * (a.over(s - Ball::ONE) + Ball::ONE);
        if !term.is_finite() || !tail.is_finite() {
            return if term.is_beyond() { term } else { Ball::UNKNOWN };
        }
        if tail.magnitude() < 1e-36 * sum.mignitude() || tail.magnitude() < 1e-310 {
            return sum.widened(tail.magnitude());
        }
        if a.hi >= target {
            // a^-s (a / (s - 1) + 1 / 2 + Σ B(2k) / (2k)! s (s + 1) … (s + 2k - 2) a^(1 - 2k)).
            let mut factor = (s * Ball::exact(0.5)).over(a);
            let square = a.square();
            let series = euler_maclaurin(|k| {
                let own = factor;
                let n = 2.0 * k as f64;
                let [next, after] = [1.0, 2.0].map(|m| Ball::exact(n + m));
                let numerator = (s + Ball::exact(n - 1.0)) * (s + Ball::exact(n));
                factor = (factor * numerator).over(next * after * square);
                own
            });
            return sum + term * (a.over(s - Ball::ONE) + Ball::exact(0.5) + series);
        }
        sum = sum + term;
        a = a + Ball::ONE;
    }
}

/// The exponentially scaled modified Bessel function of order one of a positive number.
fn bessel_i1e_of(x: Ball) -> Ball {
    if x.hi <= 60.0 {
        // exp(-x) x / 2 Σ (x² / 4)^k / (k! (k + 1)!).
        let half = x * Ball::exact(0.5);
        let square = half.square();
        let (mut term, mut sum) = (half, half);
        let mut k = 0.0;
        // Terms then shrink by more than half.
        while k < 2.0 * x.hi || term.magnitude() > 1e-36 * sum.mignitude() {
            k += 1.0;
            term = (term * square).over(Ball::exact(k * (k + 1.0)));
            sum = sum + term;
            if term.magnitude() < 1e-300 {
                break;
            }
        }
        return sum.widened(2.0 * term.magnitude()) * (-x).exp();
    }
    // (1 - 3 / (8 x) - …) / √(2 π x), with the remainder of an asymptotic series of 40 terms: F.
    // W. J. Olver's bound is less than 2 √(π l) times the first term that is left out.
    let inverse = Ball::ONE.over(x * Ball::exact(8.0));
    let (mut term, mut sum) = (Ball::ONE, Ball::ONE);
    for k in 1..40 {
        let odd = 2.0 * f64::from(k) - 1.0;
        let factor = Ball::exact(odd * odd - 4.0) * inverse;
        term = (term * factor).over(Ball::exact(f64::from(k)));
        sum = sum + term;
    }
    let sum = sum.widened(50.0 * term.magnitude() + 1e-50);
    sum.over((HALF_PI_BALL.shifted(2) * x).sqrt())
}

impl Ball {
    /// The error function.
    #[must_use]
    pub fn erf(self) -> Ball {
        precise::function(Elementary::Erf, self, Ball::erf_of_parts)
    }

    fn erf_of_parts(self) -> Ball {
        fn value(x: Ball) -> Ball {
            if x.hi.is_nan() || x.hi == 0.0 {
                return x;
            }
            if x.hi.abs() > 9.0 {
                // erfc(9) < 2^-118.
                return Ball::exact(1f64.copysign(x.hi)).widened(5e-37);
            }
            erf_of(x)
        }
        // The slope is at most 2 / √π.
        self.function([-1.0, 1.0], &Analytic { value, slope: |_, _| Some(1.13) })
    }

    /// `1 - erf(x)`.
    #[must_use]
    pub fn erfc(self) -> Ball {
        precise::function(Elementary::Erfc, self, Ball::erfc_of_parts)
    }

    fn erfc_of_parts(self) -> Ball {
        fn value(x: Ball) -> Ball {
            if x.hi.is_nan() {
                return x;
            }
            if x.hi < 2.0 {
                return Ball::ONE - x.erf();
            }
            if x.hi > 28.0 {
                // erfc(28) is below 10^-342.
                return Ball::ZERO.widened(5e-324);
            }
            erfc_of(x)
        }
        let slope = |x: Ball, y: Ball| {
            // |erfc'(x)| ≤ erfc(x) (x + √(x² + 2)), which grows by a factor of exp(r (2x + r)).
            let factor = (x.radius * (2.0 * x.hi.abs() + 1.0)).exp();
            (x.radius < 0.125).then(|| y.magnitude() * (2.0 * x.hi.abs() + 2.0) * factor * 1.01)
        };
        // It decreases.
        let function = Analytic { value: |x| value(-x), slope };
        (-self).function([0.0, 2.0], &function)
    }

    /// The logarithm of the absolute value of the gamma function.
    #[must_use]
    pub fn lgamma(self) -> Ball {
        if self.hi.is_nan() || (self.hi.is_infinite() && self.is_exact()) {
            return Ball::exact(self.hi.abs());
        }
        if !self.is_finite() {
            return Ball::UNKNOWN;
        }
        if self.is_exact() {
            return lgamma_of(self);
        }
        if !avoids_poles(self) {
            return Ball::UNKNOWN;
        }
        // The slope increases between poles.
        let ends = [Ball::exact(self.lower()), Ball::exact(self.upper())];
        let slope = ends.map(|x| x.digamma().magnitude());
        lgamma_of(self.middle()).widened(up(slope[0].max(slope[1]) * self.radius))
    }

    /// The derivative of [`Ball::lgamma`]. Unknown at poles.
    #[must_use]
    pub fn digamma(self) -> Ball {
        if self.hi.is_nan() || (self.hi == f64::INFINITY && self.is_exact()) {
            return self;
        }
        if !(self.is_finite() && avoids_poles(self) && self.hi > -9e15) {
            return Ball::UNKNOWN;
        }
        let value = |x: Ball| {
            if x.hi > 0.0 {
                return digamma_of(x);
            }
            // ψ(1 - x) - π / tan(π x).
            let pi = HALF_PI_BALL.shifted(1);
            let (sin, cos) = (fraction(x) * pi).sin_cos();
            digamma_of(Ball::ONE - x) - (pi * cos).over(sin)
        };
        if self.is_exact() {
            return value(self);
        }
        // It increases between poles.
        let (low, high) = (Ball::exact(self.lower()), Ball::exact(self.upper()));
        Ball::between(value(low).lower(), value(high).upper())
    }

    /// The Hurwitz zeta function `Σ (q + k)^-s`, for `s` of at least 1, and for negative `q` if `s`
    /// is an integer. Unknown at poles.
    #[must_use]
    pub fn zeta(self, q: Ball) -> Ball {
        let s = self;
        if s.is_nan() || q.is_nan() || s.upper() < 1.0 {
            return Ball::NAN;
        }
        if !s.is_finite() || !q.is_finite() || s.lower() <= 1.0 || s.hi > 1e6 {
            let is_one = s.is_exact() && s.hi == 1.0 && s.lo == 0.0;
            return if is_one { Ball::exact(f64::INFINITY) } else { Ball::UNKNOWN };
        }
        if q.lower() > 0.0 {
            if s.is_exact() && q.is_exact() {
                return zeta_of(s, q);
            }
            // It decreases with q, and with s but for the first term.
            let [low_s, high_s] = [s.lower(), s.upper()].map(Ball::exact);
            let [low_q, high_q] = [q.lower(), q.upper()].map(Ball::exact);
            let first = |s: Ball, q: Ball| q.power(-s);
            let powers = [low_s, high_s].map(|s| [first(s, low_q), first(s, high_q)]);
            let lowest = powers[0][1].lower().min(powers[1][1].lower());
            let highest = powers[0][0].upper().max(powers[1][0].upper());
            let rest_low = zeta_of(high_s, high_q + Ball::ONE).lower();
            let rest_high = zeta_of(low_s, low_q + Ball::ONE).upper();
            let (low, high) = (lowest + rest_low, highest + rest_high);
            return Ball::between(low.next_down(), high.next_up());
        }
        let is_integer = |x: Ball| x.lo == 0.0 && x.hi.fract() == 0.0;
        if !(s.is_exact() && q.is_exact()) || is_integer(q) || q.hi < -9e15 {
            return Ball::UNKNOWN;
        }
        if !is_integer(s) {
            return Ball::NAN;
        }
        // Of the terms with q + k < 0, the sizes are t, t + 1, …, -q.
        let t = -q - Ball::exact((-q.hi).floor());
        if t.sign() != Some(1) {
            return Ball::UNKNOWN;
        }
        let negative = zeta_of(s, t) - zeta_of(s, Ball::ONE - q);
        let positive = zeta_of(s, Ball::ONE - t);
        if s.hi % 2.0 == 0.0 { positive + negative } else { positive - negative }
    }

    /// The derivative of order `self` of the digamma function.
    #[must_use]
    pub fn polygamma(self, x: Ball) -> Ball {
        let n = self;
        if n.is_nan() || x.is_nan() {
            return Ball::NAN;
        }
        if !n.is_exact() || !x.is_finite() || n.hi > 1e6 {
            return Ball::UNKNOWN;
        }
        if n.hi < 0.0 || n.hi.fract() != 0.0 || n.lo != 0.0 {
            return Ball::NAN;
        }
        if n.hi == 0.0 {
            return x.digamma();
        }
        let factorial = (n + Ball::ONE).lgamma().exp();
        // Small factorials are exact.
        let factorial = match n.hi <= 20.0 {
            true => (1..=n.hi as u64).fold(Ball::ONE, |p, k| p * Ball::exact(k as f64)),
            false => factorial,
        };
        let value = factorial * (n + Ball::ONE).zeta(x);
        if n.hi % 2.0 == 0.0 { -value } else { value }
    }

    /// The exponentially scaled modified Bessel function of order one.
    #[must_use]
    pub fn bessel_i1e(self) -> Ball {
        if self.hi.is_nan() {
            return self;
        }
        if self.hi.is_infinite() && self.is_exact() {
            return Ball::exact(0.0);
        }
        if !self.is_finite() {
            return Ball::between(-0.25, 0.25);
        }
        let middle = self.middle();
        let value = match middle.hi {
            hi if hi < 0.0 => -bessel_i1e_of(-middle),
            0.0 => middle,
            _ => bessel_i1e_of(middle),
        };
        // The slope is at most 1/2.
        if self.is_exact() { value } else { value.widened(up(0.5 * self.radius)) }
    }

    /// The inverse of the error function.
    #[must_use]
    pub fn erf_inv(self) -> Ball {
        if self.hi.is_nan() || (self.hi == 0.0 && self.is_exact()) {
            return self;
        }
        let (low, high) = (self.lower(), self.upper());
        if self.is_exact() && self.hi.abs() >= 1.0 && self.lo == 0.0 {
            let end = self.hi.abs() == 1.0;
            return Ball::exact(if end { self.hi * f64::INFINITY } else { f64::NAN });
        }
        if low <= -1.0 || high >= 1.0 || !self.is_finite() {
            return Ball::UNKNOWN;
        }
        let [low, high] = match self.is_exact() {
            true => [erf_inv_of(self); 2],
            false => [low, high].map(|x| erf_inv_of(Ball::exact(x))),
        };
        if self.is_exact() { low } else { Ball::between(low.lower(), high.upper()) }
    }
}

/// The inverse of the error function by a Newton step, whose error follows from the value there.
fn erf_inv_of(x: Ball) -> Ball {
    if x.hi < 0.0 {
        return -erf_inv_of(-x);
    }
    if x.hi == 0.0 {
        return x;
    }
    // erf(y) - x, computed as the difference of complements near one.
    let residue = |y: Ball| match x.hi > 0.5 {
        true => (Ball::ONE - x) - y.erfc(),
        false => y.erf() - x,
    };
    // 2 / √π exp(-y²).
    let slope = |y: Ball| (-y.square()).exp().over(HALF_PI_BALL.shifted(1).sqrt()).shifted(1);
    let mut y = Ball::exact(numerics::math::erf::erf_inv(x.hi));
    for _ in 0..2 {
        y = (y - residue(y).over(slope(y))).middle();
    }
    let error = residue(y);
    // The slope decreases; it is taken a little beyond y.
    let beyond = y + Ball::exact(y.hi * 1e-9);
    let least = slope(beyond).mignitude();
    let radius = up(error.magnitude() / least);
    if least > 0.0 && radius < y.hi * 1e-9 { y.widened(radius) } else { Ball::UNKNOWN }
}

/// The error function of a number of at most 9: `2/√π exp(-x²) Σ 2^k x^(2k+1) / (2k+1)!!`.
fn erf_of(x: Ball) -> Ball {
    let square = x.square();
    let twice = square + square;
    let (mut term, mut sum) = (Ball::ONE, Ball::ONE);
    let mut k = 1.0;
    loop {
        term = (term * twice).over(Ball::exact(2.0 * k + 1.0));
        sum = sum + term;
        let ratio = twice.magnitude() / (2.0 * k + 3.0);
        if ratio < 0.5 && term.magnitude() < sum.hi * 1e-36 || k > 2000.0 {
            // A geometric series bounds the rest.
            sum = sum.widened(up(term.magnitude()));
            break;
        }
        k += 1.0;
    }
    let factor = INVERSE_ROOT_PI + INVERSE_ROOT_PI;
    factor * (-square).exp() * (x * sum)
}

/// `1 - erf(x)` of a number of at least 2: a continued fraction, between two of its convergents.
fn erfc_of(x: Ball) -> Ball {
    let depth = if x.hi < 3.0 { 260 } else { 120 };
    let convergent = |depth: u32| {
        let mut tail = x;
        for k in (1..=depth).rev() {
            tail = x + Ball::exact(f64::from(k) / 2.0).over(tail);
        }
        Ball::ONE.over(tail)
    };
    let (one, other) = (convergent(depth), convergent(depth + 1));
    let between = (one - other).magnitude();
    INVERSE_ROOT_PI * (-x.square()).exp() * one.widened(between)
}
