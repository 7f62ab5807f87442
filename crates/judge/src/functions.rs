//! Functions of real numbers with proven errors.
//!
//! They are series and Newton steps in the arithmetic of [`Ball`], which bounds every rounding;
//! the remainder of each series is added. A function of a ball is that of its midpoint, widened by
//! a bound of its slope times the radius.

use crate::ball::{Ball, U, up};
use crate::precise::{self, Elementary};

/// `log(2)`, in parts; the last bounds the rest.
const LN_2: [f64; 4] =
    [std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17, 5.707_708_438_416_212e-34, 3.6e-50];

/// `π / 2`, likewise.
const HALF_PI: [f64; 4] =
    [std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17, -1.497_384_904_859_169_8e-33, 5.6e-50];

/// `π / 2` as a ball.
pub const HALF_PI_BALL: Ball = Ball::constant(HALF_PI[0], HALF_PI[1], 1.5e-33);

/// The first 1,280 bits of `2 / π` after the binary point.
const TWO_OVER_PI: [u64; 20] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
    0xf0cf_bc20_9af4_361d,
];

/// `x - k * parts`.
fn without_multiple(x: Ball, k: f64, parts: &[f64; 4]) -> Ball {
    let [first, second, third, rest] = *parts;
    let k = Ball::exact(k);
    let [first, second, third] = [first, second, third].map(|part| k * Ball::exact(part));
    (x - first - second - third).widened(k.hi.abs() * rest)
}

/// The parts of a function that [`Ball::function`] needs.
pub(crate) struct Analytic {
    /// The function of an exact number.
    pub value: fn(Ball) -> Ball,
    /// A bound of the slope over the ball around a midpoint, given with the value there; `None` if
    /// there is no simple one.
    pub slope: fn(Ball, Ball) -> Option<f64>,
}

impl Ball {
    /// A function that increases, of which the ends are within `range`.
    pub(crate) fn function(self, range: [f64; 2], function: &Analytic) -> Ball {
        let _pause = precise::pause();
        if self.is_exact() {
            return (function.value)(self);
        }
        if self.is_finite() {
            let value = (function.value)(self.middle());
            let relative = self.radius <= 0.125 * (1.0 + self.hi.abs());
            if relative && let Some(slope) = (function.slope)(self, value) {
                return value.widened(up(slope * self.radius));
            }
        }
        let (low, high) = (self.lower(), self.upper());
        let at = |x: f64, limit: f64| match x.is_finite() {
            true => (function.value)(Ball::exact(x)),
            false => Ball::exact(limit),
        };
        let (low, high) = (at(low, range[0]).lower(), at(high, range[1]).upper());
        if low.is_nan() || high.is_nan() {
            return Ball::UNKNOWN;
        }
        Ball::between(low, high)
    }

    /// The exponential function.
    #[must_use]
    pub fn exp(self) -> Ball {
        precise::function(Elementary::Exponential, self, Ball::exp_of_parts)
    }

    fn exp_of_parts(self) -> Ball {
        fn value(x: Ball) -> Ball {
            if !x.hi.is_finite() {
                return Ball::exact(x.hi.exp());
            }
            if x.hi > 709.0 {
                // Below 709.78, the number is within the range.
                return if x.hi > 709.79 { Ball::BEYOND } else { exp_of(x).over_range() };
            }
            if x.hi < -745.0 {
                return Ball::ZERO.widened(5e-324);
            }
            exp_of(x)
        }
        // The slope at most e^r times that of the midpoint, r ≤ 1/8.
        let slope = |x: Ball, y: Ball| (x.radius <= 0.125).then(|| y.magnitude() * 1.15);
        self.function([0.0, f64::INFINITY], &Analytic { value, slope })
    }

    /// Unknown if the number is not finite.
    fn over_range(self) -> Ball {
        if self.hi.is_finite() && self.lo.is_finite() { self } else { Ball::BEYOND }
    }

    /// `exp(x) - 1`.
    #[must_use]
    pub fn exp_m1(self) -> Ball {
        precise::function(Elementary::ExponentialMinusOne, self, Ball::exp_m1_of_parts)
    }

    fn exp_m1_of_parts(self) -> Ball {
        fn value(x: Ball) -> Ball {
            if !x.hi.is_finite() {
                return Ball::exact(x.hi.exp_m1());
            }
            match x.hi {
                // Far beyond the range of f64, as the exponential is.
                hi if hi > 709.79 => Ball::BEYOND,
                hi if hi.abs() < 0.7 => exp_m1_of(x, 6),
                _ => x.exp() - Ball::ONE,
            }
        }
        let slope = |x: Ball, y: Ball| (x.radius <= 0.125).then(|| (y.magnitude() + 1.0) * 1.15);
        self.function([-1.0, f64::INFINITY], &Analytic { value, slope })
    }

    /// The natural logarithm.
    #[must_use]
    pub fn log(self) -> Ball {
        precise::function(Elementary::Log, self, Ball::log_of_parts)
    }

    fn log_of_parts(self) -> Ball {
        fn value(x: Ball) -> Ball {
            if x.hi == 0.0 {
                return Ball::exact(f64::NEG_INFINITY);
            }
            if !(x.hi > 0.0 && x.hi.is_finite()) {
                return Ball::exact(x.hi.ln());
            }
            let near = x - Ball::ONE;
            if near.hi.abs() < 0.01 {
                return log_1p_of(near);
            }
            let mut exponent = libm::ilogb(x.hi);
            let mut mantissa = x.shifted(-exponent);
            if mantissa.hi > std::f64::consts::SQRT_2 {
                exponent += 1;
                mantissa = mantissa.shifted(-1);
            }
            let guess = mantissa.hi.ln();
            let rest = mantissa * Ball::exact(-guess).exp() - Ball::ONE;
            let log = Ball::exact(guess) + log_1p_of(rest);
            without_multiple(log, -f64::from(exponent), &LN_2)
        }
        let slope = |x: Ball, _: Ball| {
            let least = x.mignitude();
            (least > 0.5 * x.hi).then(|| 1.0 / least)
        };
        if self.sign() == Some(-1) {
            return Ball::NAN;
        }
        if self.sign().is_none() {
            return Ball::UNKNOWN;
        }
        self.function([f64::NEG_INFINITY, f64::INFINITY], &Analytic { value, slope })
    }

    /// `log(1 + x)`.
    #[must_use]
    pub fn log_1p(self) -> Ball {
        precise::function(Elementary::LogPlusOne, self, Ball::log_1p_of_parts)
    }

    fn log_1p_of_parts(self) -> Ball {
        fn value(x: Ball) -> Ball {
            if x.hi.abs() < 0.01 {
                return log_1p_of(x);
            }
            (Ball::ONE + x).log()
        }
        let above = Ball::ONE + self;
        if above.sign() == Some(-1) {
            return Ball::NAN;
        }
        if above.sign().is_none() {
            return Ball::UNKNOWN;
        }
        let slope = |x: Ball, _: Ball| {
            let least = (Ball::ONE + x).mignitude();
            (least > 2.0 * x.radius).then(|| 1.0 / least)
        };
        self.function([f64::NAN, f64::INFINITY], &Analytic { value, slope })
    }

    /// The rest of a division by `π / 2`, and the quotient modulo 4; `None` if it is too large.
    fn quarter_turns(self) -> Option<(Ball, u8)> {
        if self.hi.abs() < (1u64 << 54) as f64 {
            let turns = (self.hi * std::f64::consts::FRAC_2_PI).round_ties_even();
            let rest = without_multiple(self, turns, &HALF_PI);
            // The quotient of large numbers may be off by a few.
            let more = (rest.hi * std::f64::consts::FRAC_2_PI).round_ties_even();
            let rest = if more == 0.0 { rest } else { without_multiple(rest, more, &HALF_PI) };
            return Some((rest, (turns.rem_euclid(4.0) + more).rem_euclid(4.0) as u8));
        }
        // Payne and Hanek's reduction of both parts of the midpoint.
        let (high, high_turns) = large_quarter_turns(self.hi)?;
        let (low, low_turns) = match self.lo.abs() < 1e9 {
            true => (Ball::exact(self.lo), 0),
            false => {
                let (fraction, turns) = large_quarter_turns(self.lo)?;
                (fraction * HALF_PI_BALL, turns)
            }
        };
        let rest = high * HALF_PI_BALL + low;
        let (rest, turns) = rest.quarter_turns()?;
        Some((rest, (turns + high_turns + low_turns) % 4))
    }

    /// The sine, or the cosine if that is `ahead`, of the midpoint.
    fn wave_of(self, ahead: u8) -> Option<Ball> {
        let (rest, turns) = self.middle().quarter_turns()?;
        Some(match (turns + ahead) % 4 {
            0 => sin_of(rest),
            1 => cos_of(rest),
            2 => -sin_of(rest),
            _ => -cos_of(rest),
        })
    }

    /// Sine and cosine of the midpoint.
    fn sin_cos_of(self) -> Option<(Ball, Ball)> {
        let (rest, turns) = self.middle().quarter_turns()?;
        let (sin, cos) = (sin_of(rest), cos_of(rest));
        Some(match turns {
            0 => (sin, cos),
            1 => (cos, -sin),
            2 => (-sin, -cos),
            _ => (-cos, sin),
        })
    }

    /// Sine and cosine.
    #[must_use]
    pub fn sin_cos(self) -> (Ball, Ball) {
        (self.sin(), self.cos())
    }

    /// The sine.
    #[must_use]
    pub fn sin(self) -> Ball {
        precise::function(Elementary::Sine, self, |x| x.wave(0))
    }

    /// The cosine.
    #[must_use]
    pub fn cos(self) -> Ball {
        precise::function(Elementary::Cosine, self, |x| x.wave(1))
    }

    /// The sine, or the cosine, a quarter turn ahead.
    fn wave(self, ahead: u8) -> Ball {
        let any = Ball::ZERO.widened(1.0);
        if self.is_unknown() || self.is_beyond() {
            return any;
        }
        if !self.hi.is_finite() {
            return Ball::NAN;
        }
        match self.wave_of(ahead) {
            Some(value) => value.widened(self.radius.min(2.0)),
            None => any,
        }
    }

    /// The tangent.
    #[must_use]
    pub fn tan(self) -> Ball {
        let (sin, cos) = self.sin_cos();
        sin.over(cos)
    }

    /// The arc tangent.
    #[must_use]
    pub fn atan(self) -> Ball {
        precise::function(Elementary::Atan, self, Ball::atan_of_parts)
    }

    fn atan_of_parts(self) -> Ball {
        fn value(x: Ball) -> Ball {
            if x.hi.is_nan() || x.hi == 0.0 {
                return x;
            }
            if x.hi.is_infinite() {
                return if x.hi > 0.0 { HALF_PI_BALL } else { -HALF_PI_BALL };
            }
            if x.hi.abs() > 1e15 {
                // Of the reciprocal, from the right angle.
                let rest = value(Ball::ONE.over(x));
                return if x.hi > 0.0 { HALF_PI_BALL - rest } else { -HALF_PI_BALL - rest };
            }
            let guess = x.hi.atan();
            let Some((sin, cos)) = Ball::exact(guess).sin_cos_of() else { return Ball::UNKNOWN };
            let rest = (x * cos - sin).over(cos + x * sin);
            Ball::exact(guess) + small_atan(rest)
        }
        self.function(
            [-std::f64::consts::FRAC_PI_2, std::f64::consts::FRAC_PI_2.next_up()],
            &Analytic { value, slope: |x, _| Some(1.01 / (1.0 + x.mignitude() * x.mignitude())) },
        )
    }

    /// The angle of the point with this ordinate and the abscissa `x`.
    #[must_use]
    pub fn atan2(self, x: Ball) -> Ball {
        let y = self;
        if y.is_nan() || x.is_nan() {
            return Ball::NAN;
        }
        let is_special = |b: Ball| b.is_exact() && (b.hi == 0.0 || b.hi.is_infinite());
        if is_special(y) || is_special(x) {
            return match y.hi.atan2(x.hi) {
                _ if y.sign().is_none() || x.sign().is_none() => Ball::UNKNOWN,
                0.0 => Ball::ZERO,
                // A multiple of a quarter or half of a right angle.
                angle => {
                    let eighths = (angle * 4.0 / std::f64::consts::PI).round();
                    HALF_PI_BALL * Ball::exact(eighths * 0.5)
                }
            };
        }
        if y.is_unknown() || x.is_unknown() || y.is_beyond() || x.is_beyond() {
            return Ball::UNKNOWN;
        }
        let half_pi = precise::half_pi().unwrap_or(HALF_PI_BALL);
        match (x.sign(), y.sign()) {
            (Some(1), _) => y.over(x).atan(),
            (_, Some(1)) => half_pi - x.over(y).atan(),
            (_, Some(-1)) => -half_pi - x.over(y).atan(),
            (Some(-1), Some(_)) => half_pi + half_pi,
            _ => Ball::UNKNOWN,
        }
    }

    /// The arc sine.
    #[must_use]
    pub fn asin(self) -> Ball {
        precise::function(Elementary::Asin, self, Ball::asin_of_parts)
    }

    fn asin_of_parts(self) -> Ball {
        let beside = (Ball::ONE - self) * (Ball::ONE + self);
        match beside.sign() {
            Some(-1) => Ball::NAN,
            Some(_) => self.atan2(beside.sqrt()),
            None => Ball::UNKNOWN,
        }
    }

    /// The arc cosine.
    #[must_use]
    pub fn acos(self) -> Ball {
        precise::function(Elementary::Acos, self, Ball::acos_of_parts)
    }

    fn acos_of_parts(self) -> Ball {
        let beside = (Ball::ONE - self) * (Ball::ONE + self);
        match beside.sign() {
            Some(-1) => Ball::NAN,
            Some(_) if self.is_exact() && self.hi == 1.0 && self.lo == 0.0 => Ball::ZERO,
            Some(_) => beside.sqrt().atan2(self),
            None => Ball::UNKNOWN,
        }
    }

    /// The hyperbolic sine.
    #[must_use]
    pub fn sinh(self) -> Ball {
        precise::function(Elementary::Sinh, self, Ball::sinh_of_parts)
    }

    fn sinh_of_parts(self) -> Ball {
        let e = self.abs_and_sign().0.exp_m1();
        let (half, sign) = (Ball::exact(0.5), self.abs_and_sign().1);
        if e.hi == f64::INFINITY {
            return match (e.is_exact(), self.lower().abs().min(self.upper().abs()) > 711.0) {
                (true, _) => Ball::exact(self.hi),
                (_, true) => {
                    if sign {
                        -Ball::BEYOND
                    } else {
                        Ball::BEYOND
                    }
                }
                _ => Ball::UNKNOWN,
            };
        }
        let value = (e + e.over(e + Ball::ONE)) * half;
        if sign { -value } else { value }
    }

    /// The absolute value, if the sign is known, and true if it is negative.
    fn abs_and_sign(self) -> (Ball, bool) {
        match self.sign() {
            Some(-1) => (-self, true),
            _ => (self, false),
        }
    }

    /// The hyperbolic cosine.
    #[must_use]
    pub fn cosh(self) -> Ball {
        precise::function(Elementary::Cosh, self, Ball::cosh_of_parts)
    }

    fn cosh_of_parts(self) -> Ball {
        let e = self.abs().exp();
        if e.hi == f64::INFINITY {
            let beyond = e.is_exact() || self.mignitude() > 711.0;
            return if beyond { e } else { Ball::UNKNOWN };
        }
        (e + Ball::ONE.over(e)) * Ball::exact(0.5)
    }

    /// The hyperbolic tangent.
    #[must_use]
    pub fn tanh(self) -> Ball {
        precise::function(Elementary::Tanh, self, Ball::tanh_of_parts)
    }

    fn tanh_of_parts(self) -> Ball {
        fn value(x: Ball) -> Ball {
            if x.hi.abs() > 40.0 {
                // 1 - 2 / (exp(2x) + 1).
                let one = Ball::exact(1f64.copysign(x.hi));
                return one.widened(2.1 * (-2.0 * x.hi.abs()).exp().next_up());
            }
            let (size, is_negative) = x.abs_and_sign();
            let e = (size + size).exp_m1();
            let tanh = e.over(e + Ball::exact(2.0));
            if is_negative { -tanh } else { tanh }
        }
        if self.is_nan() {
            return self;
        }
        self.function([-1.0, 1.0], &Analytic { value, slope: |_, _| Some(1.0) })
    }

    /// The inverse of the hyperbolic sine.
    #[must_use]
    pub fn asinh(self) -> Ball {
        precise::function(Elementary::Asinh, self, Ball::asinh_of_parts)
    }

    fn asinh_of_parts(self) -> Ball {
        fn value(x: Ball) -> Ball {
            if !x.hi.is_finite() || x.hi == 0.0 {
                return x;
            }
            let (size, is_negative) = x.abs_and_sign();
            let value = if size.hi > 1e100 {
                // log(2x), and less than 1 / (4 x²) more.
                size.log() + Ball::exact(2.0).log().widened(1e-200)
            } else {
                let square = size.square();
                let root = (Ball::ONE + square).sqrt();
                (size + square.over(Ball::ONE + root)).log_1p()
            };
            if is_negative { -value } else { value }
        }
        let slope = |_: Ball, _: Ball| Some(1.0);
        self.function([f64::NEG_INFINITY, f64::INFINITY], &Analytic { value, slope })
    }

    /// The inverse of the hyperbolic cosine.
    #[must_use]
    pub fn acosh(self) -> Ball {
        precise::function(Elementary::Acosh, self, Ball::acosh_of_parts)
    }

    fn acosh_of_parts(self) -> Ball {
        let above = self - Ball::ONE;
        match above.sign() {
            _ if self.is_nan() => self,
            Some(-1) => Ball::NAN,
            Some(0) => Ball::ZERO,
            None => Ball::UNKNOWN,
            Some(_) if self.hi.is_infinite() => self,
            Some(_) if self.hi > 1e100 => self.log() + Ball::exact(2.0).log().widened(1e-200),
            Some(_) => (above + (above + above + above.square()).sqrt()).log_1p(),
        }
    }

    /// The inverse of the hyperbolic tangent.
    #[must_use]
    pub fn atanh(self) -> Ball {
        precise::function(Elementary::Atanh, self, Ball::atanh_of_parts)
    }

    fn atanh_of_parts(self) -> Ball {
        let below = Ball::ONE - self.abs();
        if self.is_exact() && self.hi == 0.0 {
            return self;
        }
        match below.sign() {
            _ if self.is_nan() => self,
            Some(0) if self.is_exact() => Ball::exact(f64::INFINITY.copysign(self.hi)),
            Some(-1) => Ball::NAN,
            Some(1) => (self + self).over(Ball::ONE - self).log_1p() * Ball::exact(0.5),
            _ => Ball::UNKNOWN,
        }
    }

    /// `1 / (1 + exp(-x))`.
    #[must_use]
    pub fn logistic(self) -> Ball {
        fn value(x: Ball) -> Ball {
            // The power that does not overflow.
            if x.hi < 0.0 {
                let power = x.exp();
                return power.over(Ball::ONE + power);
            }
            Ball::ONE.over(Ball::ONE + (-x).exp())
        }
        if self.is_nan() {
            return self;
        }
        if precise::is_on() && self.is_finite() && self.hi.abs() < 700.0 {
            return value(self);
        }
        let slope = |x: Ball, y: Ball| (x.radius <= 0.125).then(|| y.magnitude() * 1.15);
        self.function([0.0, 1.0], &Analytic { value, slope })
    }

    /// The cube root.
    #[must_use]
    pub fn cbrt(self) -> Ball {
        precise::function(Elementary::Cbrt, self, Ball::cbrt_of_parts)
    }

    fn cbrt_of_parts(self) -> Ball {
        fn value(x: Ball) -> Ball {
            if !x.hi.is_finite() || x.hi == 0.0 {
                return x;
            }
            let exponent = libm::ilogb(x.hi).div_euclid(3);
            let x = x.shifted(-3 * exponent);
            let guess = Ball::exact(libm::cbrt(x.hi));
            let slope = Ball::exact(3.0) * guess.square();
            let root = (guess - (guess * guess.square() - x).over(slope)).middle();
            let rest = (root * root.square() - x).magnitude();
            // The slope of the cube is at least 2.9 root² between the two.
            root.widened(up(rest / (2.9 * root.mignitude() * root.mignitude()))).shifted(exponent)
        }
        let slope = |x: Ball, y: Ball| {
            (x.mignitude() > 0.5 * x.hi.abs()).then(|| {
                let least = y.mignitude();
                0.6 / (least * least)
            })
        };
        self.function([f64::NEG_INFINITY, f64::INFINITY], &Analytic { value, slope })
    }

    /// `self` to the power of `exponent`.
    #[must_use]
    pub fn power(self, exponent: Ball) -> Ball {
        if self.is_nan() || exponent.is_nan() {
            let one =
                (exponent.is_exact() && exponent.hi == 0.0) || (self.is_exact() && self.hi == 1.0);
            return if one { Ball::ONE } else { Ball::NAN };
        }
        let is_integer = exponent.is_exact() && exponent.lo == 0.0 && exponent.hi.fract() == 0.0;
        if is_integer && exponent.hi.abs() <= 64.0 {
            // Of the inverse, as the power may be below the range where its inverse has a sign.
            let base = if exponent.hi < 0.0 { Ball::ONE.over(self) } else { self };
            return base.to_natural(exponent.hi.abs() as u32);
        }
        if self.is_exact() && exponent.is_exact() && !(self.is_finite() && exponent.is_finite()) {
            return Ball::exact(self.hi.powf(exponent.hi));
        }
        let is_half = exponent.is_exact() && exponent.lo == 0.0 && exponent.hi.abs() < 64.0;
        match self.sign() {
            Some(1) if is_half && exponent.hi.fract().abs() == 0.5 => {
                let base = if exponent.hi < 0.0 { Ball::ONE.over(self) } else { self };
                base.to_natural(exponent.hi.abs() as u32) * base.sqrt()
            }
            Some(1) => {
                let log = self.log();
                (log * exponent).exp()
            }
            Some(0) => match exponent.sign() {
                Some(0) => Ball::ONE,
                Some(1) if exponent.is_exact() => Ball::exact(self.hi.powf(exponent.hi)),
                Some(1) => Ball::ZERO,
                Some(_) if exponent.is_exact() => Ball::exact(self.hi.powf(exponent.hi)),
                _ => Ball::UNKNOWN,
            },
            Some(_) if is_integer => {
                let size = (-self).power(exponent);
                if exponent.hi % 2.0 == 0.0 { size } else { -size }
            }
            Some(_) if exponent.is_exact() && exponent.is_finite() => Ball::NAN,
            _ => Ball::UNKNOWN,
        }
    }

    /// A power with a natural number as exponent.
    fn to_natural(self, mut exponent: u32) -> Ball {
        let (mut result, mut square) = (Ball::ONE, self);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = result * square;
            }
            exponent >>= 1;
            if exponent > 0 {
                square = square.square();
            }
        }
        result
    }
}

/// The exponential of a number of moderate size.
fn exp_of(x: Ball) -> Ball {
    let exponent = (x.hi * std::f64::consts::LOG2_E).round_ties_even();
    let rest = without_multiple(x, exponent, &LN_2);
    let value = Ball::ONE + exp_m1_of(rest, 5);
    // In two steps, of which the first leaves a normal number.
    let exponent = exponent as i32;
    value.shifted(exponent / 2).shifted(exponent - exponent / 2)
}

/// `exp(x) - 1` for `|x| < 0.8`: Taylor's series of `x / 2^halvings`, doubled.
fn exp_m1_of(x: Ball, halvings: i32) -> Ball {
    let small = x.shifted(-halvings);
    let bound = small.magnitude();
    // Σ x^(k - 1) / k!, from the last term.
    const TERMS: usize = 13;
    let tail = tail_of(small, TERMS - 7, |i| INVERSE_FACTORIALS[8 + i].hi);
    let sum = (1..=7).rev().fold(tail, |sum, k| sum * small + INVERSE_FACTORIALS[k]);
    // The rest is at most x^13 / 14! (1 + x).
    let rest = bound.powi(TERMS as i32) * 1.2e-11;
    let mut value = sum.widened(up(rest)) * small;
    for _ in 0..halvings {
        value = value * (value + Ball::exact(2.0));
    }
    value
}

/// The polynomial of the last terms of a series, of which the precision of `f64` is enough, from
/// its `count` coefficients, which are rounded.
fn tail_of(x: Ball, count: usize, coefficient: impl Fn(usize) -> f64) -> Ball {
    let around = x.hi.abs() + x.lo.abs() + x.radius;
    let (mut sum, mut size, mut slope) = (0.0, 0.0, 0.0);
    for i in (0..count).rev() {
        let own = coefficient(i);
        slope = slope * around + size;
        sum = sum * x.hi + own;
        size = size * around + own.abs();
    }
    // Two roundings of each step, and ten of a coefficient, as factorials are rounded, too.
    let error = size * ((2.0 * count as f64 + 12.0) * U) + slope * (x.lo.abs() + x.radius);
    Ball::exact(sum).widened(up(error * 1.01))
}

/// The reciprocals of small integers.
const RECIPROCALS: [Ball; 32] = reciprocals(false);

/// The reciprocals of factorials.
const INVERSE_FACTORIALS: [Ball; 32] = reciprocals(true);

/// The reciprocals of `n`, or of its factorial, of which those from 19 on are rounded to `f64`.
const fn reciprocals(of_factorials: bool) -> [Ball; 32] {
    use numerics::math::double::Double;
    let mut table = [Ball::ONE; 32];
    let (mut n, mut factorial) = (2, 1.0);
    while n < 32 {
        factorial *= n as f64;
        let divisor = if of_factorials { factorial } else { n as f64 };
        let quotient = Double::ONE.over(Double::new(divisor, 0.0));
        // Of a quotient of two words, 15 U² at most.
        table[n] = Ball::constant(quotient.hi, quotient.lo, quotient.hi * 16.0 * U * U);
        n += 1;
    }
    table
}

/// `log(1 + x)` for `|x| < 0.0101`: `2 atanh(x / (2 + x))`.
fn log_1p_of(x: Ball) -> Ball {
    if x.hi == 0.0 && x.is_exact() {
        return x;
    }
    let s = x.over(Ball::exact(2.0) + x);
    let square = s.square();
    let tail = tail_of(square, 5, |i| RECIPROCALS[2 * (i + 4) + 1].hi);
    let sum = (1..=3).rev().fold(tail, |sum, k| sum * square + RECIPROCALS[2 * k + 1]) * square;
    // The rest is below s^18 / 19 (1 - s²).
    let rest = square.magnitude().powi(9) * 0.06;
    (s + s) * (Ball::ONE + sum.widened(up(rest)))
}

/// The arc tangent of a number below 2^-20.
fn small_atan(x: Ball) -> Ball {
    if x.magnitude() > 1e-6 {
        return Ball::UNKNOWN;
    }
    let square = x.square();
    let series = Ball::ONE - square * RECIPROCALS[3] + square.square() * RECIPROCALS[5];
    x * series.widened(up(square.magnitude().powi(3)))
}

/// `Σ (-1)^k x^(2k) / (2k + first)!`, relative to the first term, for `|x| < 0.8`.
fn alternating(x: Ball, first: usize) -> Ball {
    let square = -x.square();
    const TERMS: usize = 13;
    let factor = |k: usize| INVERSE_FACTORIALS[2 * k + first];
    let tail = tail_of(square, TERMS - 8, |i| factor(9 + i).hi);
    let sum = (1..=8).rev().fold(tail, |sum, k| sum * square + factor(k));
    // The first term left out, x^28 / 28!.
    let rest = square.magnitude().powi(TERMS as i32 + 1) * 3.3e-30;
    Ball::ONE + (sum * square).widened(up(rest))
}

fn sin_of(x: Ball) -> Ball {
    x * alternating(x, 1)
}

fn cos_of(x: Ball) -> Ball {
    alternating(x, 0)
}

/// The fraction of `x * 2 / π` around the nearest integer, and that modulo 4.
fn large_quarter_turns(x: f64) -> Option<(Ball, u8)> {
    let bits = x.abs().to_bits();
    let mantissa = (bits & ((1 << 52) - 1)) | 1 << 52;
    let exponent = (bits >> 52) as i32 - 1075;
    if exponent < -50 {
        return None;
    }
    // x = mantissa * 2^exponent: digits of 2 / π from `exponent - 2` on count, modulo 4.
    let skipped = (exponent - 2).max(0) as usize;
    let digits = |at: usize| -> Option<u64> {
        let (word, bit) = (at / 64, at % 64);
        let (high, low) = (*TWO_OVER_PI.get(word)?, *TWO_OVER_PI.get(word + 1)?);
        Some(if bit == 0 { high } else { high << bit | low >> (64 - bit) })
    };
    // Four words of digits, whose first one is worth 2^(63 - skipped - 64) as their unit.
    let words = [0, 1, 2, 3].map(|i| digits(skipped + 64 * i));
    let [w0, w1, w2, w3] = [words[0]?, words[1]?, words[2]?, words[3]?];
    // mantissa * (w0 w1 w2 w3), without digits above 256.
    let mut product = [0u64; 4];
    let mut carry = 0u128;
    for (out, word) in product.iter_mut().rev().zip([w3, w2, w1, w0]) {
        let part = u128::from(word) * u128::from(mantissa) + carry;
        (*out, carry) = (part as u64, part >> 64);
    }
    // The value is product * 2^(exponent - skipped - 256), modulo 4, with an error below
    // mantissa units of the last place, which is below 2^-100 in all.
    let scale = exponent - skipped as i32;
    if scale != 2 {
        return None;
    }
    // Two digits before the point: the quotient modulo 4.
    let turns = (product[0] >> 62) as u8;
    let fraction = [product[0] << 2 | product[1] >> 62, product[1] << 2 | product[2] >> 62];
    let parts = [
        fraction[0] >> 32,
        fraction[0] & 0xffff_ffff,
        fraction[1] >> 32,
        fraction[1] & 0xffff_ffff,
    ];
    let mut value = Ball::ZERO;
    for (i, part) in parts.into_iter().enumerate() {
        value = value + Ball::exact(part as f64).shifted(-32 * (i as i32 + 1));
    }
    let mut value = value.widened(libm::scalbn(1.0, -127));
    let mut turns = turns;
    if value.hi > 0.5 {
        value = value - Ball::ONE;
        turns = (turns + 1) % 4;
    }
    if x < 0.0 {
        return Some((-value, (4 - turns) % 4));
    }
    Some((value, turns))
}
