//! Elementary functions in fixed point, with more than a thousand bits.
//!
//! Powers of complex numbers need them: angles are reduced modulo a turn, so that logarithms need
//! more bits than an exponent has, up to 2^1024. And they tell on which side of the middle between
//! two numbers a result lies (`ties.rs`).

use super::complex::wide_log;
use super::double::Double;
use super::elementary::TWO_OVER_PI;
use num_complex::{Complex, Complex64};
use std::cmp::Ordering;
use std::ops::{Add, Mul, Neg, Sub};
use std::sync::LazyLock;

/// The words of the fraction: the bits of an exponent, and 192 more.
const FRACTION: usize = 19;
/// The words of a number, enough for the product of an exponent and a logarithm.
const WORDS: usize = FRACTION + 18;

/// A number of [`FRACTION`] words after the point, the lowest first, as two's complement.
#[derive(Clone, Copy)]
pub(super) struct Fixed([u64; WORDS]);

impl Fixed {
    pub(crate) const ZERO: Fixed = Fixed([0; WORDS]);
    pub(crate) const ONE: Fixed = {
        let mut words = [0; WORDS];
        words[FRACTION] = 1;
        Fixed(words)
    };

    pub(crate) fn is_negative(self) -> bool {
        self.0[WORDS - 1] >> 63 == 1
    }

    /// Compares the number with zero; what errors of computation could have made is zero.
    pub(crate) fn sign(self) -> Ordering {
        const ERROR: usize = 3;
        if self.abs().0[ERROR..].iter().all(|&word| word == 0) {
            Ordering::Equal
        } else if self.is_negative() {
            Ordering::Less
        } else {
            Ordering::Greater
        }
    }

    fn abs(self) -> Fixed {
        if self.is_negative() { -self } else { self }
    }

    fn with_sign(self, is_negative: bool) -> Fixed {
        if is_negative { -self } else { self }
    }

    /// The number times a power of two.
    pub(crate) fn scaled(self, exponent: i32) -> Fixed {
        self.abs().shifted(exponent).with_sign(self.is_negative())
    }

    /// A number that is not negative, times a power of two.
    fn shifted(self, exponent: i32) -> Fixed {
        let (words, bits) = (exponent.div_euclid(64) as isize, exponent.rem_euclid(64));
        let word = |i: isize| {
            usize::try_from(i - words).ok().and_then(|i| self.0.get(i)).copied().unwrap_or(0)
        };
        Fixed(std::array::from_fn(|i| {
            let i = i as isize;
            let carry = if bits == 0 { 0 } else { word(i - 1) >> (64 - bits) };
            word(i) << bits | carry
        }))
    }

    /// `x * 2^exponent` of a finite number, also where `x` has no place here.
    pub(crate) fn scaled_number(x: f64, exponent: i32) -> Fixed {
        if x == 0.0 {
            return Fixed::ZERO;
        }
        let own = libm::ilogb(x);
        Fixed::ONE.times(libm::scalbn(x, -own)).scaled(own + exponent)
    }

    /// The integer.
    pub(crate) fn integer(x: u128) -> Fixed {
        let mut number = Fixed::ZERO;
        number.0[FRACTION] = x as u64;
        number.0[FRACTION + 1] = (x >> 64) as u64;
        number
    }

    /// The product with a finite number.
    pub(crate) fn times(self, x: f64) -> Fixed {
        if x == 0.0 {
            return Fixed::ZERO;
        }
        let exponent = libm::ilogb(x) - 52;
        let factor = u128::from(libm::scalbn(x.abs(), -exponent) as u64);
        let mut carry = 0;
        let product = Fixed(self.abs().0.map(|word| {
            let sum = u128::from(word) * factor + carry;
            carry = sum >> 64;
            sum as u64
        }));
        product.shifted(exponent).with_sign(self.is_negative() != (x < 0.0))
    }

    /// The quotient by a small number.
    pub(crate) fn over(self, divisor: u32) -> Fixed {
        let (mut words, mut rest) = (self.abs().0, 0);
        for word in words.iter_mut().rev() {
            let part = rest << 64 | u128::from(*word);
            *word = (part / u128::from(divisor)) as u64;
            rest = part % u128::from(divisor);
        }
        Fixed(words).with_sign(self.is_negative())
    }

    /// The number in twice the precision of `f64`, brought into a range of a million.
    pub(super) fn value(self) -> Double {
        const LIMIT: f64 = 1e6;
        let size = self.abs();
        if size.shifted(-20).0[FRACTION..].iter().any(|&word| word != 0) {
            return Double::from(if self.is_negative() { -LIMIT } else { LIMIT });
        }
        let top = size.0.iter().rposition(|&word| word != 0).unwrap_or(0);
        let value = (top.saturating_sub(4)..=top).fold(Double::ZERO, |sum, i| {
            let (high, low) = ((size.0[i] >> 32) as f64, (size.0[i] as u32) as f64);
            let exponent = 64 * (i as i32 - FRACTION as i32);
            let part = |x: f64, exponent| Double::from(libm::scalbn(x, exponent));
            part(high, exponent + 32) + (part(low, exponent) + sum)
        });
        if self.is_negative() { -value } else { value }
    }

    /// The exponent of the highest bit of a positive number.
    pub(super) fn exponent(self) -> i32 {
        let top = self.0.iter().rposition(|&word| word != 0).unwrap_or(0);
        64 * (top as i32 - FRACTION as i32) + 63 - self.0[top].leading_zeros() as i32
    }

    /// True if the number, which is not negative, is below a natural number.
    pub(super) fn is_below(self, limit: f64) -> bool {
        (self - Fixed::from(limit)).is_negative()
    }

    /// The product of a number that is not negative, of any size, and one below 2^63 in size.
    pub(super) fn product(self, rhs: Fixed) -> Fixed {
        // Below 2^62, the digits that a scale loses are at the end.
        let shift = (self.exponent() - 62).max(0);
        let (whole, factor) = (self.scaled(-shift), rhs.abs());
        (whole * factor).scaled(shift).with_sign(rhs.is_negative())
    }

    /// The nearest number of `f64`, if the number is not a middle between two of them.
    pub(super) fn nearest(self) -> f64 {
        let size = self.abs();
        let exponent = size.exponent();
        // The integer of 53 bits, and the bit after it.
        let scaled = size.shifted(53 - exponent);
        let digits = scaled.0[FRACTION];
        let mantissa = (digits >> 1) + (digits & 1);
        let value = libm::scalbn(mantissa as f64, exponent - 52);
        if self.is_negative() { -value } else { value }
    }

    /// The signed distance from the nearest integer.
    pub(crate) fn fraction(self) -> Fixed {
        let fill = if self.0[FRACTION - 1] >> 63 == 1 { u64::MAX } else { 0 };
        Fixed(std::array::from_fn(|i| if i < FRACTION { self.0[i] } else { fill }))
    }
}

impl From<f64> for Fixed {
    fn from(x: f64) -> Fixed {
        Fixed::ONE.times(x)
    }
}

impl From<Double> for Fixed {
    fn from(x: Double) -> Fixed {
        Fixed::from(x.hi) + Fixed::from(x.lo)
    }
}

impl Add for Fixed {
    type Output = Fixed;
    fn add(self, rhs: Fixed) -> Fixed {
        let mut carry = false;
        Fixed(std::array::from_fn(|i| {
            let (sum, first) = self.0[i].overflowing_add(rhs.0[i]);
            let (sum, second) = sum.overflowing_add(carry.into());
            carry = first | second;
            sum
        }))
    }
}

impl Neg for Fixed {
    type Output = Fixed;
    fn neg(self) -> Fixed {
        let mut lowest = Fixed::ZERO;
        lowest.0[0] = 1;
        Fixed(self.0.map(|word| !word)) + lowest
    }
}

impl Sub for Fixed {
    type Output = Fixed;
    fn sub(self, rhs: Fixed) -> Fixed {
        self + -rhs
    }
}

impl Mul for Fixed {
    type Output = Fixed;
    /// The product of numbers below 2^63 in size.
    fn mul(self, rhs: Fixed) -> Fixed {
        const USED: usize = FRACTION + 1;
        let (x, y) = (self.abs(), rhs.abs());
        let mut product = [0u64; 2 * USED];
        for (i, &x) in x.0[..USED].iter().enumerate() {
            let mut carry = 0;
            for (word, &y) in product[i..].iter_mut().zip(&y.0[..USED]) {
                let sum = u128::from(x) * u128::from(y) + u128::from(*word) + carry;
                *word = sum as u64;
                carry = sum >> 64;
            }
            product[i + USED] = carry as u64;
        }
        let mut words = [0; WORDS];
        words[..=USED].copy_from_slice(&product[FRACTION..]);
        Fixed(words).with_sign(self.is_negative() != rhs.is_negative())
    }
}

/// `log(2)`, as `2 (1 / 3 + 1 / (3 * 3^3) + 1 / (5 * 3^5) + ...)`.
pub(super) static LN_2: LazyLock<Fixed> = LazyLock::new(|| {
    let mut power = Fixed::ONE.shifted(1).over(3);
    let mut sum = Fixed::ZERO;
    for n in 0..400 {
        sum = sum + power.over(2 * n + 1);
        power = power.over(9);
    }
    sum
});

fn product(x: Complex<Fixed>, y: Complex<Fixed>) -> Complex<Fixed> {
    Complex::new(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re)
}

/// The exponential function of a number of at most 2^3 in size, in both parts.
pub(super) fn exp(z: Complex<Fixed>) -> Complex<Fixed> {
    /// Each bit needs a square in the end, and saves terms.
    const BITS: i32 = 16;
    const TERMS: u32 = 72;
    let small = Complex::new(z.re.scaled(-BITS), z.im.scaled(-BITS));
    let one = Complex::new(Fixed::ONE, Fixed::ZERO);
    let series = (1..=TERMS).rev().fold(one, |sum, n| {
        let Complex { re, im } = product(sum, small);
        Complex::new(Fixed::ONE + re.over(n), im.over(n))
    });
    (0..BITS).fold(series, |power, _| product(power, power))
}

/// The logarithm of a finite number that is not zero.
pub(super) fn log(z: Complex64) -> Complex<Fixed> {
    let exponent = libm::ilogb(z.re.abs().max(z.im.abs()));
    let scaled = z * libm::scalbn(1.0, -exponent / 2) * libm::scalbn(1.0, -exponent + exponent / 2);
    let near: Complex<Double> = wide_log(scaled);
    let near = Complex::new(Fixed::from(near.re), Fixed::from(near.im));
    // z exp(-near) is almost 1.
    let part = |x: f64| Fixed::scaled_number(x, -exponent);
    let quotient =
        product(Complex::new(part(z.re), part(z.im)), exp(Complex::new(-near.re, -near.im)));
    let rest = Complex::new(quotient.re - Fixed::ONE, quotient.im);
    // log(1 + r) = r (1 - r (1 / 2 - r (1 / 3 - ...))), where r is below 2^-90.
    let series = (1..=16).rev().fold(Complex::new(Fixed::ZERO, Fixed::ZERO), |sum, n| {
        let Complex { re, im } = product(sum, rest);
        Complex::new(Fixed::ONE.over(n) - re, -im)
    });
    let rest = product(series, rest);
    let power = LN_2.times(f64::from(exponent));
    Complex::new(near.re + rest.re + power, near.im + rest.im)
}

/// `1 / (2 pi)`.
pub(super) fn turns_of_a_radian() -> Fixed {
    let mut turns = Fixed::ZERO;
    for (word, &bits) in turns.0[..FRACTION].iter_mut().rev().zip(&TWO_OVER_PI[1..]) {
        *word = bits;
    }
    turns.shifted(-2)
}

/// `exponent * log(base)` of finite numbers that are not zero, less a multiple of `2 pi i`, with a
/// real part brought into a range of a million.
pub(crate) fn product_with_log(exponent: Complex64, base: Complex64) -> Complex<Double> {
    let log = log(base);
    let re = log.re.times(exponent.re) - log.im.times(exponent.im);
    let turns = turns_of_a_radian();
    let im = (log.im * turns).times(exponent.re) + (log.re * turns).times(exponent.im);
    Complex::new(re.value(), im.fraction().value() * Double::PI.scaled(2.0))
}
