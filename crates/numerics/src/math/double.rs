//! Numbers of twice the precision of `f64`.
//!
//! A [`Double`] is an unevaluated sum of two numbers that do not overlap: about 106 bits. T.
//! Dekker, *A Floating-Point Technique for Extending the Available Precision*, 1971; M. Joldes,
//! J.-M. Muller and V. Popescu, *Tight and rigorous error bounds for basic building blocks of
//! double-word arithmetic*, 2017.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// `hi + lo`, where `hi` is the sum rounded.
#[derive(Clone, Copy, Debug)]
pub struct Double {
    /// The sum rounded.
    pub hi: f64,
    /// The rest.
    pub lo: f64,
}

/// `a + b` as a rounded sum and its exact error.
pub const fn two_sum(a: f64, b: f64) -> Double {
    let sum = a + b;
    let from_b = sum - a;
    Double { hi: sum, lo: (a - (sum - from_b)) + (b - from_b) }
}

/// `a * b` as a rounded product and its exact error, if neither overflows or vanishes.
pub const fn two_product(a: f64, b: f64) -> Double {
    let product = a * b;
    let ((ah, al), (bh, bl)) = (split(a), split(b));
    Double { hi: product, lo: ((ah * bh - product) + ah * bl + al * bh) + al * bl }
}

/// Halves of 26 bits, whose products are exact.
const fn split(x: f64) -> (f64, f64) {
    let c = 134_217_729.0 * x;
    let high = c - (c - x);
    (high, x - high)
}

/// The sum of at most four products of finite numbers as a mantissa and an exponent of 2. Products
/// neither overflow nor vanish, and the sum is exact before it is rounded, also where they cancel.
/// Products below 2^-1074 of the largest one are zero.
pub fn sum_of_products(products: &[[f64; 2]]) -> (Double, i32) {
    let exponent = |[x, y]: &[f64; 2]| libm::ilogb(*x) + libm::ilogb(*y);
    let nonzero = products.iter().filter(|[x, y]| *x != 0.0 && *y != 0.0);
    let Some(largest) = nonzero.clone().map(exponent).max() else {
        // With the sign that rounded additions give it.
        return (Double::from(products.iter().fold(-0.0, |sum, [x, y]| sum + x * y)), 0);
    };
    // An expansion, whose parts do not overlap, the smallest first: J. R. Shewchuk, *Adaptive
    // Precision Floating-Point Arithmetic*, 1997.
    let (mut parts, mut count) = ([0.0; 8], 0);
    for product @ [x, y] in nonzero {
        let unit = |x: f64| libm::scalbn(x, -libm::ilogb(x));
        let exact = two_product(unit(*x), unit(*y)).shifted(exponent(product) - largest);
        for mut part in [exact.lo, exact.hi] {
            for own in &mut parts[..count] {
                let sum = two_sum(part, *own);
                (part, *own) = (sum.hi, sum.lo);
            }
            parts[count] = part;
            count += 1;
        }
    }
    (parts.iter().fold(Double::ZERO, |sum, &part| sum + Double::from(part)), largest)
}

/// `a + x * x + y * y` of numbers of moderate size, precise also where these nearly cancel.
pub fn sum_of_squares(a: f64, x: f64, y: f64) -> Double {
    let (sum, exponent) = sum_of_products(&[[a, 1.0], [x, x], [y, y]]);
    sum.shifted(exponent)
}

impl Double {
    pub const ZERO: Double = Double::new(0.0, 0.0);
    pub const ONE: Double = Double::new(1.0, 0.0);
    pub const LN_2: Double = Double::new(std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);
    pub const PI: Double = Double::new(std::f64::consts::PI, 1.224_646_799_147_353_2e-16);

    /// The number from its parts, of which the first is the sum rounded.
    pub const fn new(hi: f64, lo: f64) -> Double {
        Double { hi, lo }
    }

    /// `hi + lo`, where `hi` has the larger exponent.
    const fn normalized(hi: f64, lo: f64) -> Double {
        let sum = hi + lo;
        Double { hi: sum, lo: lo - (sum - hi) }
    }

    /// The sum; it is the trait's method for constants.
    pub const fn plus(self, rhs: Double) -> Double {
        let (high, low) = (two_sum(self.hi, rhs.hi), two_sum(self.lo, rhs.lo));
        let sum = Double::normalized(high.hi, high.lo + low.hi);
        Double::normalized(sum.hi, sum.lo + low.lo)
    }

    /// The product; it is the trait's method for constants.
    pub const fn times(self, rhs: Double) -> Double {
        let high = two_product(self.hi, rhs.hi);
        Double::normalized(high.hi, high.lo + (self.hi * rhs.lo + self.lo * rhs.hi))
    }

    /// The quotient; it is the trait's method for constants.
    pub const fn over(self, rhs: Double) -> Double {
        let first = self.hi / rhs.hi;
        let product = rhs.times(Double::new(first, 0.0));
        let rest = self.plus(Double::new(-product.hi, -product.lo));
        Double::normalized(first, rest.hi / rhs.hi)
    }

    /// The number rounded.
    pub const fn value(self) -> f64 {
        self.hi
    }

    /// Times a power of two.
    pub const fn scaled(self, factor: f64) -> Double {
        Double { hi: self.hi * factor, lo: self.lo * factor }
    }

    /// `self * 2^exponent`, both parts of which are normal numbers.
    pub fn shifted(self, exponent: i32) -> Double {
        Double { hi: libm::scalbn(self.hi, exponent), lo: libm::scalbn(self.lo, exponent) }
    }

    /// `self * 2^exponent` rounded, also to infinity and to subnormal numbers.
    pub fn shifted_value(self, exponent: i32) -> f64 {
        let value = self.value();
        let is_zero_or_infinite = value == 0.0 || !value.is_finite() || exponent < -2000;
        if is_zero_or_infinite || libm::ilogb(value) + exponent >= -1022 {
            return libm::scalbn(value, exponent);
        }
        // The last place of this number is that of the subnormal numbers.
        let round = libm::scalbn(1f64.copysign(self.hi), 52 - 1074 - exponent);
        let sum = two_sum(round, self.hi);
        let rounded = sum.hi + (sum.lo + self.lo) - round;
        libm::scalbn(rounded, exponent).copysign(self.hi)
    }

    /// The absolute value.
    pub fn abs(self) -> Double {
        if self.hi < 0.0 { -self } else { self }
    }

    /// The square root of a number that is not negative.
    pub fn sqrt(self) -> Double {
        if self.hi == 0.0 {
            return self;
        }
        let root = self.hi.sqrt();
        let square = two_product(root, root);
        let rest = (self.hi - square.hi) - square.lo + self.lo;
        Double::normalized(root, rest / (2.0 * root))
    }
}

impl From<f64> for Double {
    fn from(hi: f64) -> Double {
        Double::new(hi, 0.0)
    }
}

impl Add for Double {
    type Output = Double;
    fn add(self, rhs: Double) -> Double {
        self.plus(rhs)
    }
}

impl Neg for Double {
    type Output = Double;
    fn neg(self) -> Double {
        Double { hi: -self.hi, lo: -self.lo }
    }
}

impl Sub for Double {
    type Output = Double;
    fn sub(self, rhs: Double) -> Double {
        self + -rhs
    }
}

impl Mul for Double {
    type Output = Double;
    fn mul(self, rhs: Double) -> Double {
        self.times(rhs)
    }
}

impl Div for Double {
    type Output = Double;
    fn div(self, rhs: Double) -> Double {
        self.over(rhs)
    }
}

/// A polynomial from its coefficients, the highest first, of which those of the first list need no
/// more than the precision of `f64`.
pub fn polynomial(high: &[f64], low: &[Double], x: Double) -> Double {
    let start = high.iter().fold(0.0, |sum, c| sum * x.hi + c);
    low.iter().fold(Double::from(start), |sum, &c| sum * x + c)
}
