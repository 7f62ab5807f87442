//! Elementary functions with twice the precision of `f64`: about 100 bits of the result.

use super::double::Double;

/// Parts of a power of two in the table of the exponential function.
pub(super) const STEPS: usize = 64;
/// `log(2) / STEPS`.
pub(super) const STEP: Double = Double::LN_2.scaled(1.0 / STEPS as f64);

/// `1 / n!`.
const INVERSE_FACTORIALS: [Double; 30] = {
    let mut table = [Double::ONE; 30];
    let mut n = 1;
    while n < 30 {
        table[n] = table[n - 1].over(Double::new(n as f64, 0.0));
        n += 1;
    }
    table
};

/// `2^(i / STEPS)`.
pub(super) static POWERS: [Double; STEPS] = {
    let root = Double::ONE.plus(small_exp_m1(STEP));
    let mut table = [Double::ONE; STEPS];
    let mut i = 1;
    while i < STEPS {
        let half = table[i / 2];
        let square = half.times(half);
        table[i] = if i % 2 == 0 { square } else { square.times(root) };
        i += 1;
    }
    table
};

/// `exp(x) - 1` for `|x|` of at most [`STEP`]: Taylor's series.
pub(super) const fn small_exp_m1(x: Double) -> Double {
    // In f64 where the terms are below 2^-46 of the sum.
    let mut tail = 0.0;
    let mut n = 11;
    while n > 5 {
        tail = (tail + INVERSE_FACTORIALS[n].hi) * x.hi;
        n -= 1;
    }
    let mut sum = Double::new(tail, 0.0);
    while n > 0 {
        sum = sum.plus(INVERSE_FACTORIALS[n]).times(x);
        n -= 1;
    }
    sum
}

/// Beyond this, `exp` is infinite or zero in `f64`, with room for products of several.
const EXP_LIMIT: f64 = 20_000.0;

impl Double {
    /// The nearest multiple of [`STEP`] to `self`, and the exponential of the rest, minus 1.
    fn exp_step(self) -> (i32, Double) {
        let x = if self.hi.abs() > EXP_LIMIT {
            Double::from(EXP_LIMIT.copysign(self.hi))
        } else {
            self
        };
        let steps = (x.hi / STEP.hi).round_ties_even();
        (steps as i32, small_exp_m1(x - STEP * Double::from(steps)))
    }

    /// `exp(self)` as a number near 1 and the exponent of a power of two.
    pub fn exp(self) -> (Double, i32) {
        let (steps, rest) = self.exp_step();
        let power = POWERS[steps.rem_euclid(STEPS as i32) as usize];
        (power + power * rest, steps.div_euclid(STEPS as i32))
    }

    /// `exp(self) - 1` for numbers of at most a few hundred, precise also near zero.
    pub fn exp_m1(self) -> Double {
        let (steps, rest) = self.exp_step();
        if steps == 0 {
            return rest;
        }
        let (exp, exponent) = self.exp();
        exp.shifted(exponent) - Double::ONE
    }

    /// `log(1 + self)`, precise also near zero.
    pub fn log_1p(self) -> Double {
        if self.hi.abs() > 0.5 {
            return (Double::ONE + self).log();
        }
        // One Newton step from the double-precision value; its squared error is negligible.
        let start = Double::from(libm::log1p(self.hi));
        let inverse = (-start).exp_m1();
        start + (self + inverse + self * inverse)
    }

    /// The logarithm; infinite or NaN for what is not a positive finite number.
    pub fn log(self) -> Double {
        if !(self.hi > 0.0 && self.hi.is_finite()) {
            return Double::from(libm::log(self.hi));
        }
        // Large numbers are halved first, as the product could overflow.
        let root = std::f64::consts::SQRT_2;
        let exponent = match self.hi > 1.0 {
            true => libm::ilogb(0.5 * self.hi * root) + 1,
            false => libm::ilogb(self.hi * root),
        };
        let rest = (self.shifted(-exponent) - Double::ONE).log_1p();
        rest + Double::LN_2 * Double::from(f64::from(exponent))
    }

    /// The cube root of a positive number, by a Newton step.
    pub fn cbrt(self) -> Double {
        let start = Double::from(libm::cbrt(self.hi));
        let square = start * start;
        start + (self - square * start) / (square * Double::from(3.0))
    }

    /// The sine and the cosine; NaN for what is not finite.
    pub fn sin_cos(self) -> (Double, Double) {
        if !self.hi.is_finite() {
            return (Double::from(f64::NAN), Double::from(f64::NAN));
        }
        let (rest, quadrant) = if self.hi.abs() < std::f64::consts::FRAC_PI_4 {
            (self, 0)
        } else {
            let (rest, quadrant) = reduce(self.hi);
            if self.lo.abs() < std::f64::consts::FRAC_PI_4 {
                (rest + Double::from(self.lo), quadrant)
            } else {
                let (low, turns) = reduce(self.lo);
                (rest + low, quadrant.wrapping_add(turns))
            }
        };
        let (sin, cos) = small_sin_cos(rest);
        match quadrant % 4 {
            0 => (sin, cos),
            1 => (cos, -sin),
            2 => (-sin, -cos),
            _ => (-cos, sin),
        }
    }

    /// The angle of the point with ordinate `self` and abscissa `x`, none of which is infinite.
    pub fn atan2(self, x: Double) -> Double {
        let angle = libm::atan2(self.hi, x.hi);
        let largest = self.hi.abs().max(x.hi.abs());
        let smallest = self.hi.abs().min(x.hi.abs());
        let ratio = smallest / largest;
        if ratio.is_nan() || ratio < 1e-250 {
            // A quotient, or a multiple of a right angle.
            let is_quotient = x.hi > 0.0 && self.hi.abs() < x.hi;
            return if is_quotient || angle == 0.0 {
                Double::from(angle)
            } else {
                Double::PI.scaled(angle / Double::PI.hi)
            };
        }
        let exponent = -libm::ilogb(largest);
        let (y, x) = (self.shifted(exponent), x.shifted(exponent));
        let (sin, cos) = Double::from(angle).sin_cos();
        Double::from(angle) + (y * cos - x * sin) / (x * cos + y * sin)
    }
}

/// The sine and the cosine of an angle of at most a right one: Taylor's series.
fn small_sin_cos(x: Double) -> (Double, Double) {
    let square = -(x * x);
    let series = |parity: usize| {
        // The terms x^n / n! with n = 2k + parity, in f64 where they are below 2^-50 of the sum.
        let mut tail = 0.0;
        let terms = (1..=14).rev().map(|k| 2 * k + parity);
        for n in terms.clone().filter(|&n| n > 16) {
            tail = (tail + INVERSE_FACTORIALS[n].hi) * square.hi;
        }
        let add = |sum: Double, n: usize| (sum + INVERSE_FACTORIALS[n]) * square;
        terms.filter(|&n| n <= 16).fold(Double::from(tail), add)
    };
    (x + x * series(1), Double::ONE + series(0))
}

/// The bits of `2 / pi` after the point, after a word of zeros.
pub(super) const TWO_OVER_PI: [u64; 22] = [
    0,
    0xA2F9_836E_4E44_1529,
    0xFC27_57D1_F534_DDC0,
    0xDB62_9599_3C43_9041,
    0xFE51_63AB_DEBB_C561,
    0xB724_6E3A_424D_D2E0,
    0x0649_2EEA_09D1_921C,
    0xFE1D_EB1C_B129_A73E,
    0xE882_35F5_2EBB_4484,
    0xE99C_7026_B45F_7E41,
    0x3991_D639_8353_39F4,
    0x9C84_5F8B_BDF9_283B,
    0x1FF8_97FF_DE05_980F,
    0xEF2F_118B_5A0A_6D1F,
    0x6D36_7ECF_27CB_09B7,
    0x4F46_3F66_9E5F_EA2D,
    0x7527_BAC7_EBE5_F17B,
    0x3D07_39F7_8A52_92EA,
    0x6BFB_5FB1_1F8D_5D08,
    0x5603_3046_FC7B_6BAB,
    0xF0CF_BC20_9AF4_361D,
    0xA9E3_9161_5EE6_1B08,
];

/// `x` minus a multiple of a right angle, of at most half of one, and the multiple modulo a large
/// power of two, for `|x|` of at least an eighth of a turn.
///
/// M. Payne and R. Hanek, *Radian Reduction for Trigonometric Functions*, 1983: only those bits of
/// `2 / pi` count whose product with `x` is neither a multiple of 4 nor negligible.
fn reduce(x: f64) -> (Double, u32) {
    // |x| = significand * 2^exponent.
    let exponent = libm::ilogb(x) - 52;
    let significand = libm::scalbn(x.abs(), -exponent) as u64;
    let start = (exponent + 62) as usize;
    let word = |i: usize| {
        let (index, shift) = ((start + 64 * i) / 64, (start + 64 * i) % 64);
        let next = if shift == 0 { 0 } else { TWO_OVER_PI[index + 1] >> (64 - shift) };
        TWO_OVER_PI[index] << shift | next
    };
    // The product modulo 4, as a fraction of 4.
    let mut product = [0u64; 4];
    let mut carry = 0;
    for i in (0..4).rev() {
        let sum = u128::from(significand) * u128::from(word(i)) + carry;
        product[i] = sum as u64;
        carry = sum >> 64;
    }
    // Rounded to the nearest right angle; the rest may be negative.
    let turns = (product[0] >> 62) as u32 + (product[0] >> 61 & 1) as u32;
    let is_negative = product[0] >> 61 & 1 == 1;
    product[0] &= u64::MAX >> 2;
    if is_negative {
        product = product.map(|word| !word);
        product[0] &= u64::MAX >> 2;
    }
    let fraction = product.iter().rev().fold(Double::ZERO, |sum, &word| {
        let (high, low) = ((word >> 32) as f64, (word & u64::from(u32::MAX)) as f64);
        let sum = (sum.scaled(UNIT) + Double::from(low)).scaled(UNIT);
        sum + Double::from(high)
    });
    let rest = fraction.scaled(4.0 * UNIT) * Double::PI.scaled(0.5);
    if is_negative == (x < 0.0) {
        (rest, if x < 0.0 { turns.wrapping_neg() } else { turns })
    } else {
        (-rest, if x < 0.0 { turns.wrapping_neg() } else { turns })
    }
}

/// `2^-32`.
const UNIT: f64 = 1.0 / (1u64 << 32) as f64;
