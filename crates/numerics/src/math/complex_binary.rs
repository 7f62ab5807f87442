//! Powers of complex numbers, and angles of points with complex coordinates.
//!
//! Both are computed in twice the precision of `f64` for parts of `f32`, too: angles of powers may
//! be large, and coordinates cancel.

use super::complex::{
    Complex64, NAN, ONE, exactly, exp, is_finite, log, square_of_abs, times, wide_exp, wide_log,
};
use super::double::{Double, sum_of_products, two_sum};
use super::{fixed, rounded};
use num_complex::Complex;

/// Up to here, twice the precision of `f64` is enough for products of exponents and logarithms.
const LARGEST_PRODUCT: f64 = 4096.0;

/// `base` raised to `exponent`, in the branch of [`log`].
pub fn power(base: Complex64, exponent: Complex64) -> Complex64 {
    if exponent.re == 0.0 && exponent.im == 0.0 {
        return ONE;
    }
    if base.re == 0.0 && base.im == 0.0 {
        return match exponent.re {
            re if re > 0.0 => Complex::new(0.0, 0.0),
            re if re < 0.0 && exponent.im == 0.0 => Complex::new(f64::INFINITY, f64::NAN),
            _ => NAN,
        };
    }
    let is_real = base.im == 0.0 && exponent.im == 0.0;
    if is_real && (base.re > 0.0 || exponent.re.fract() == 0.0) {
        return Complex::new(rounded::pow(base.re, exponent.re), 0.0);
    }
    if !is_finite(base) || !is_finite(exponent) {
        return exp::<f64>(exponent * log::<f64>(base));
    }
    let log: Complex<Double> = wide_log(base);
    let size = |z: [f64; 2]| z[0].abs().max(z[1].abs());
    let size = size([exponent.re, exponent.im]) * size([log.re.value(), log.im.value()]);
    let product = if size < LARGEST_PRODUCT {
        times(exactly(exponent), log)
    } else {
        fixed::product_with_log(exponent, base)
    };
    wide_exp(product)
}

/// `-i log((x + iy) / sqrt(x^2 + y^2))`, the angle of a point with complex coordinates.
pub fn atan2(y: Complex64, x: Complex64) -> Complex64 {
    if y.im == 0.0 && x.im == 0.0 {
        return Complex::new(rounded::atan2(y.re, x.re), 0.0);
    }
    if !is_finite(x) || !is_finite(y) {
        return NAN;
    }
    Complex::new(real_angle(y, x), imaginary_angle(y, x))
}

/// The real part of [`atan2`]. Twice the angle is the argument of `(x + iy) / (x - iy)`, from which
/// the angle follows up to a multiple of `pi`.
fn real_angle(y: Complex64, x: Complex64) -> f64 {
    let (sine, sine_exponent) = sum_of_products(&[[x.re, y.re], [x.im, y.im]]);
    let (cosine, cosine_exponent) =
        sum_of_products(&[[x.re, x.re], [x.im, x.im], [-y.re, y.re], [-y.im, y.im]]);
    let difference = sine_exponent + 1 - cosine_exponent;
    let is_right = cosine.hi >= 0.0;
    let angle = if sine.hi == 0.0 || cosine.hi == 0.0 || difference.abs() < 900 {
        let half = difference.clamp(-1800, 1800) / 2;
        sine.shifted(half).atan2(cosine.shifted(half - difference.clamp(-1800, 1800)))
    } else if difference > 0 {
        Double::from(sine.hi.signum()) * Double::PI.scaled(0.5)
    } else if is_right {
        Double::from((sine / cosine).shifted_value(difference))
    } else {
        Double::from(sine.hi.signum()) * Double::PI
    };
    let angle = angle.scaled(0.5);
    // The real parts of the sine and the cosine of the result have the signs of its own ones.
    let root = direction_of_root(y, x);
    let part = |z: Complex64| sum_of_products(&[[z.re, root.re], [z.im, root.im]]).0.hi;
    let is_opposite = if is_right { part(x) < 0.0 } else { (part(y) < 0.0) != (angle.hi < 0.0) };
    // An angle that is too small for a number has the sign of the sine.
    let is_positive = if angle.hi == 0.0 { sine.hi > 0.0 } else { angle.hi > 0.0 };
    match (is_opposite, is_positive) {
        (false, _) => angle.value(),
        (true, true) => (angle - Double::PI).value(),
        (true, false) => (angle + Double::PI).value(),
    }
}

/// A number with about the argument of `sqrt(x^2 + y^2)`, but on the right side of the cut.
fn direction_of_root(y: Complex64, x: Complex64) -> Complex64 {
    let (re, re_exponent) =
        sum_of_products(&[[x.re, x.re], [-x.im, x.im], [y.re, y.re], [-y.im, y.im]]);
    let (im, im_exponent) = sum_of_products(&[[x.re, x.im], [y.re, y.im]]);
    let difference = re_exponent - im_exponent - 1;
    let (re, im) = match (re.hi, im.hi) {
        (re, im) if im == 0.0 || (re != 0.0 && difference > 0) => {
            (re, libm::scalbn(im, -difference.min(2000)))
        }
        (re, im) => (libm::scalbn(re, difference.max(-2000)), im),
    };
    let size = libm::hypot(re, im);
    Complex::new(
        (0.5 * (size + re)).max(0.0).sqrt(),
        (0.5 * (size - re)).max(0.0).sqrt().copysign(im),
    )
}

/// The imaginary part of [`atan2`]: a quarter of `log(|x - iy|^2 / |x + iy|^2)`.
fn imaginary_angle(y: Complex64, x: Complex64) -> f64 {
    let largest = [x.re, x.im, y.re, y.im].iter().fold(0.0, |max: f64, part| max.max(part.abs()));
    // Sums do not overflow.
    let scale = if largest > 1e300 { 1.0 / 4.0 } else { 1.0 };
    let [x, y] = [x * scale, y * scale];
    // The square of the absolute value, and the exponent of a power of four.
    let square = |re: Double, im: Double| {
        let largest = re.hi.abs().max(im.hi.abs());
        let exponent = if largest > 0.0 { libm::ilogb(largest) } else { 0 };
        (square_of_abs(Complex::new(re.shifted(-exponent), im.shifted(-exponent))), exponent)
    };
    let (plus, plus_exponent) = square(two_sum(x.re, -y.im), two_sum(x.im, y.re));
    let (minus, minus_exponent) = square(two_sum(x.re, y.im), two_sum(x.im, -y.re));
    if plus.hi == 0.0 || minus.hi == 0.0 {
        return if plus.hi == 0.0 { f64::INFINITY } else { f64::NEG_INFINITY };
    }
    let count = minus_exponent - plus_exponent;
    let log = if count.abs() < 4 {
        let (product, exponent) = sum_of_products(&[[x.re, y.im], [-x.im, y.re]]);
        let difference = product / plus;
        let exponent = exponent - 2 * plus_exponent;
        let size = difference.shifted_value(exponent);
        if size.abs() < 1e-20 {
            return size;
        }
        if size < 0.25 && size > -0.125 {
            difference.shifted(exponent + 2).log_1p()
        } else {
            (minus / plus).log() + Double::LN_2 * Double::from(f64::from(2 * count))
        }
    } else {
        (minus / plus).log() + Double::LN_2 * Double::from(f64::from(2 * count))
    };
    log.scaled(0.25).value()
}
