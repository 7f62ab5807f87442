//! Intervals of the values that a conforming backend may compute.

use crate::ball::{Ball, down_of, up_of};
use numerics::math::double::{Double, two_product, two_sum};
use numerics::ulp::unit_in_the_last_place as ulp;
use numerics::{DType, FloatFormat};

/// The floats between two bounds, and NaN if `nan`. Without numbers, the lower bound is above the
/// upper one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The least number.
    pub low: f64,
    /// The greatest number.
    pub high: f64,
    /// True if the value may be NaN.
    pub nan: bool,
}

impl Bounds {
    /// NaN alone.
    pub const NAN: Bounds = Bounds { low: f64::INFINITY, high: f64::NEG_INFINITY, nan: true };
    /// Any number, or NaN.
    pub const ANY: Bounds = Bounds { low: f64::NEG_INFINITY, high: f64::INFINITY, nan: true };

    /// A single value.
    pub fn point(value: f64) -> Bounds {
        if value.is_nan() { Bounds::NAN } else { Bounds { low: value, high: value, nan: false } }
    }

    /// The numbers between two, which may be NaN for no bound.
    pub fn new(low: f64, high: f64) -> Bounds {
        let nan = low.is_nan() || high.is_nan();
        let bound = |x: f64, other: f64| if x.is_nan() { other } else { x };
        Bounds { low: bound(low, f64::NEG_INFINITY), high: bound(high, f64::INFINITY), nan }
    }

    /// True if there are no numbers.
    pub fn is_empty(self) -> bool {
        self.low > self.high
    }

    /// The value, if there is only one.
    pub fn value(self) -> Option<f64> {
        match (self.low == self.high, self.is_empty()) {
            (true, _) if !self.nan => Some(self.low),
            (_, true) if self.nan => Some(f64::NAN),
            _ => None,
        }
    }

    /// True if the value may be computed. The sign of zero does not count.
    pub fn contains(self, value: f64) -> bool {
        if value.is_nan() { self.nan } else { self.low <= value && value <= self.high }
    }

    /// The smallest bounds around both.
    #[must_use]
    pub fn hull(self, other: Bounds) -> Bounds {
        Bounds {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            nan: self.nan || other.nan,
        }
    }

    /// The same numbers, and NaN if `nan`.
    #[must_use]
    pub fn or_nan(self, nan: bool) -> Bounds {
        Bounds { nan: self.nan || nan, ..self }
    }

    /// The largest absolute value.
    pub fn magnitude(self) -> f64 {
        if self.is_empty() { 0.0 } else { self.low.abs().max(self.high.abs()) }
    }

    /// The distance of the bounds; 0 for a single value, infinite for a number or NaN.
    pub fn width(self) -> f64 {
        match self.value() {
            Some(_) => 0.0,
            None if self.nan => f64::INFINITY,
            None => self.high - self.low,
        }
    }

    /// True if the bounds contain zero.
    pub fn has_zero(self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }

    /// True if the value may be infinite.
    pub fn has_infinity(self) -> bool {
        !self.is_empty() && (self.low == f64::NEG_INFINITY || self.high == f64::INFINITY)
    }
}

/// The real numbers that an operation may give before it is rounded: bounds as sums of two, of
/// which the first is the bound rounded to nearest and the second has the sign of the rest.
#[derive(Clone, Copy, Debug)]
pub struct Image {
    low: Double,
    high: Double,
    /// True if the result may be NaN.
    nan: bool,
}

impl Image {
    /// No numbers.
    pub const EMPTY: Image = Image {
        low: Double::new(f64::INFINITY, 0.0),
        high: Double::new(f64::NEG_INFINITY, 0.0),
        nan: false,
    };

    /// Numbers that are known up to a radius, or between two of them.
    pub fn between(low: Ball, high: Ball) -> Image {
        let nan = low.is_nan() || high.is_nan();
        // Numbers beyond the range are infinities, whatever they are rounded to.
        let low = match low {
            low if low.is_nan() => Double::from(f64::NEG_INFINITY),
            low if low.is_beyond() => Double::from(low.hi),
            low => low.ends().0,
        };
        let high = match high {
            high if high.is_nan() => Double::from(f64::INFINITY),
            high if high.is_beyond() => Double::from(high.hi),
            high => high.ends().1,
        };
        Image { low, high, nan }
    }

    /// The smallest image around both.
    #[must_use]
    pub fn hull(self, other: Image) -> Image {
        let less = |a: Double, b: Double| a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
        Image {
            low: if less(other.low, self.low) { other.low } else { self.low },
            high: if less(self.high, other.high) { other.high } else { self.high },
            nan: self.nan || other.nan,
        }
    }

    /// The same numbers, and NaN if `nan`.
    #[must_use]
    pub fn or_nan(self, nan: bool) -> Image {
        Image { nan: self.nan || nan, ..self }
    }

    fn is_empty(self) -> bool {
        self.low.hi > self.high.hi
    }

    /// The numbers as they are, without rounding.
    pub fn unrounded(self) -> Bounds {
        Bounds { low: down_of(self.low), high: up_of(self.high), nan: self.nan }
    }
}

/// The rounding of an operation's result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rounding {
    /// The largest error in units in the last place; 0.5 is correct rounding to nearest.
    pub ulps: f64,
    /// An error that is allowed besides.
    pub absolute: f64,
    /// An error that is allowed besides, in proportion to the result.
    pub relative: f64,
    /// True if the result may stay unrounded.
    pub unrounded: bool,
    /// True if subnormal results may become zero.
    pub flushes: bool,
}

impl Rounding {
    /// Correct rounding.
    pub const NEAREST: Rounding =
        Rounding { ulps: 0.5, absolute: 0.0, relative: 0.0, unrounded: false, flushes: false };
}

impl Rounding {
    /// True if results may be off by more than their last rounding.
    fn is_wide(&self) -> bool {
        self.ulps > 0.5 || self.absolute > 0.0 || self.relative > 0.0
    }
}

/// A sum of two rounded to odd: rounded once more to at most 51 digits, it has been rounded once.
fn to_odd(x: Double) -> f64 {
    if x.lo == 0.0 || !x.hi.is_finite() || x.hi.to_bits() & 1 == 1 {
        return x.hi;
    }
    if x.lo > 0.0 { x.hi.next_up() } else { x.hi.next_down() }
}

/// A sum of two rounded to nearest in a format, ties to even.
pub fn nearest(x: Double, dtype: DType) -> f64 {
    match dtype {
        DType::F64 => x.hi,
        DType::F32 => f64::from(to_odd(x) as f32),
        _ => match dtype.float_format() {
            Some(format) => format.decode(format.encode(to_odd(x))),
            None => x.hi,
        },
    }
}

/// The largest finite number of a format.
pub fn largest(format: &FloatFormat) -> f64 {
    format.decode(format.max_finite())
}

/// The smallest normal number of a format.
pub fn smallest_normal(format: &FloatFormat) -> f64 {
    libm::scalbn(1.0, format.min_exponent())
}

/// A rounding to a type, prepared for many numbers.
#[derive(Clone, Copy)]
pub struct Rounder {
    dtype: DType,
    rounding: Rounding,
    format: Option<&'static FloatFormat>,
    /// The largest finite number.
    limit: f64,
    /// True if results only are rounded to nearest and may be infinite.
    is_plain: bool,
}

impl Rounder {
    /// The results of a type that a rounding may give.
    pub fn new(dtype: DType, rounding: Rounding) -> Rounder {
        let format = dtype.float_format();
        let limit = format.map_or(f64::INFINITY, largest);
        let is_plain = matches!(dtype, DType::F32 | DType::F64)
            && !rounding.is_wide()
            && !rounding.unrounded
            && !rounding.flushes;
        Rounder { dtype, rounding, format, limit, is_plain }
    }

    /// True if results are the nearest numbers, and no others.
    pub fn is_nearest(&self) -> bool {
        !self.rounding.is_wide() && !self.rounding.unrounded && !self.rounding.flushes
    }

    /// The results for a float.
    pub fn bounds_of(&self, value: f64) -> Bounds {
        let value = Double::from(value);
        self.bounds(Image { low: value, high: value, nan: false })
    }

    /// The results for real numbers of an image.
    #[inline]
    pub fn bounds(&self, image: Image) -> Bounds {
        if self.is_plain && image.low.hi <= image.high.hi {
            let (low, high) = match self.dtype {
                DType::F64 => (image.low.hi, image.high.hi),
                _ => (f64::from(to_odd(image.low) as f32), f64::from(to_odd(image.high) as f32)),
            };
            return Bounds { low, high, nan: image.nan };
        }
        self.bounds_of_any(image)
    }

    fn bounds_of_any(&self, image: Image) -> Bounds {
        let (dtype, rounding) = (self.dtype, self.rounding);
        let Some(format) = self.format else { return image.unrounded() };
        if image.is_empty() {
            return Bounds { nan: image.nan, ..Bounds::NAN };
        }
        let (mut low, mut high) = (nearest(image.low, dtype), nearest(image.high, dtype));
        let mut nan = image.nan || low.is_nan() || high.is_nan();
        if low.is_nan() {
            low = f64::NEG_INFINITY;
        }
        if high.is_nan() {
            high = f64::INFINITY;
        }
        if rounding.is_wide() {
            let outer = image.unrounded();
            let error = |x: f64| {
                rounding.ulps * ulp(x, format) + rounding.absolute + rounding.relative * x.abs()
            };
            if outer.low.is_finite() {
                low = low.min((outer.low - error(outer.low)).next_down());
            }
            if outer.high.is_finite() {
                high = high.max((outer.high + error(outer.high)).next_up());
            }
            // Functions keep to the sign and the limits that their results have.
            if image.low.hi == 0.0 && image.low.lo == 0.0 {
                low = 0.0;
            }
            if image.high.hi == 0.0 && image.high.lo == 0.0 {
                high = 0.0;
            }
        }
        if rounding.unrounded {
            let outer = image.unrounded();
            (low, high) = (low.min(outer.low), high.max(outer.high));
        }
        let limit = self.limit;
        if high > limit || low < -limit {
            match format.infinity() {
                Some(_) if !rounding.unrounded || rounding.is_wide() => {
                    if high > limit {
                        high = f64::INFINITY;
                    }
                    if low < -limit {
                        low = f64::NEG_INFINITY;
                    }
                }
                Some(_) => {}
                None => nan = true,
            }
        }
        let mut bounds = Bounds { low, high, nan };
        if rounding.flushes {
            bounds = flushed(bounds, format);
        }
        bounds
    }
}

impl Image {
    /// The results of a type that a rounding may give.
    pub fn rounded(self, dtype: DType, rounding: Rounding) -> Bounds {
        Rounder::new(dtype, rounding).bounds(self)
    }
}

/// Bounds with zero, if a subnormal number is between them.
pub fn flushed(bounds: Bounds, format: &FloatFormat) -> Bounds {
    let normal = smallest_normal(format);
    let is_near = bounds.low < normal && bounds.high > -normal;
    if is_near && !bounds.is_empty() && (bounds.low, bounds.high) != (0.0, 0.0) {
        return Bounds { low: bounds.low.min(0.0), high: bounds.high.max(0.0), ..bounds };
    }
    bounds
}

/// True for numbers of at most 24 bits, whose products are exact in `f64`.
#[inline(always)]
fn is_short(x: f64) -> bool {
    x.to_bits().trailing_zeros() >= 29
}

/// A product with the sign of its error.
#[inline]
fn times(a: f64, b: f64) -> Double {
    let product = a * b;
    if is_short(a) && is_short(b) && (1e-250..1e250).contains(&product.abs()) {
        return Double::new(product, 0.0);
    }
    times_of_any(product, a, b)
}

fn times_of_any(product: f64, a: f64, b: f64) -> Double {
    // Zero times infinity is a limit of products that are zero.
    if a == 0.0 || b == 0.0 {
        return Double::from(if product.is_nan() { 0.0 } else { product });
    }
    if !product.is_finite() {
        return Double::from(product);
    }
    let size = product.abs();
    if (1e-250..1e250).contains(&size) && a.abs() < 1e280 && b.abs() < 1e280 {
        return Double { hi: product, lo: two_product(a, b).lo };
    }
    Double { hi: product, lo: sign_of_rest(product, a, b) }
}

/// A number with the sign of `a * b - product`, also where that is below the range of `f64`.
fn sign_of_rest(product: f64, a: f64, b: f64) -> f64 {
    let unit = |x: f64| (libm::scalbn(x, -libm::ilogb(x)), libm::ilogb(x));
    let ((a, ea), (b, eb)) = (unit(a), unit(b));
    let exact = two_product(a, b);
    // Compared at the scale of numbers near 1; scaling the product up is exact.
    let shift = -(ea + eb);
    let near = libm::scalbn(libm::scalbn(product, shift / 2), shift - shift / 2);
    let rest = (exact.hi - near) + exact.lo;
    if rest == 0.0 { 0.0 } else { f64::MIN_POSITIVE.copysign(rest) }
}

/// A quotient with the sign of its error.
fn over(a: f64, b: f64) -> Double {
    let quotient = a / b;
    if !quotient.is_finite() || a == 0.0 || b.is_infinite() || quotient == 0.0 && b.is_infinite() {
        return Double::from(quotient);
    }
    let unit = |x: f64| (libm::scalbn(x, -libm::ilogb(x)), libm::ilogb(x));
    let ((a, ea), (b, eb)) = (unit(a), unit(b));
    let shift = eb - ea;
    let near = libm::scalbn(libm::scalbn(quotient, shift / 2), shift - shift / 2);
    let rest = libm::fma(-near, b, a) * b;
    let lo = if rest == 0.0 { 0.0 } else { f64::MIN_POSITIVE.copysign(rest) };
    Double { hi: quotient, lo }
}

/// `a + b` with its error.
fn plus(a: f64, b: f64) -> Double {
    let sum = two_sum(a, b);
    if sum.hi.is_finite() { sum } else { Double::from(sum.hi) }
}

impl Bounds {
    fn nothing(self, other: Bounds) -> Option<Image> {
        let nan = self.nan || other.nan;
        (self.is_empty() || other.is_empty()).then_some(Image { nan, ..Image::EMPTY })
    }

    /// The sum.
    pub fn plus(self, other: Bounds) -> Image {
        if let Some(nothing) = self.nothing(other) {
            return nothing;
        }
        let opposite = |a: Bounds, b: Bounds| a.high == f64::INFINITY && b.low == f64::NEG_INFINITY;
        let nan = self.nan || other.nan || opposite(self, other) || opposite(other, self);
        let (low, high) = (plus(self.low, other.low), plus(self.high, other.high));
        let mut image = Image { low, high, nan };
        if low.hi.is_nan() {
            image.low = Double::from(f64::NEG_INFINITY);
        }
        if high.hi.is_nan() {
            image.high = Double::from(f64::INFINITY);
        }
        let is_point = |b: Bounds| b.low == b.high;
        if low.hi.is_nan() && is_point(self) && is_point(other) {
            return Image { nan: true, ..Image::EMPTY };
        }
        image
    }

    /// The numbers with the other sign.
    #[must_use]
    pub fn negated(self) -> Bounds {
        Bounds { low: -self.high, high: -self.low, nan: self.nan }
    }

    /// The product.
    pub fn times(self, other: Bounds) -> Image {
        if let Some(nothing) = self.nothing(other) {
            return nothing;
        }
        let zero_and_infinity = |a: Bounds, b: Bounds| a.has_zero() && b.has_infinity();
        let nan = zero_and_infinity(self, other) || zero_and_infinity(other, self);
        let is_point = |b: Bounds| b.low == b.high;
        if is_point(self) && is_point(other) {
            if nan {
                return Image { nan: true, ..Image::EMPTY };
            }
            let product = times(self.low, other.low);
            return Image { low: product, high: product, nan: self.nan || other.nan };
        }
        if self.low >= 0.0 && other.low >= 0.0 && !nan {
            let (low, high) = (times(self.low, other.low), times(self.high, other.high));
            return Image { low, high, nan: self.nan || other.nan };
        }
        let mut image = Image { nan: self.nan || other.nan || nan, ..Image::EMPTY };
        for a in [self.low, self.high] {
            for b in [other.low, other.high] {
                let product = times(a, b);
                image = image.hull(Image { low: product, high: product, nan: false });
            }
        }
        image
    }

    /// The square.
    pub fn squared(self) -> Image {
        if self.is_empty() {
            return Image { nan: self.nan, ..Image::EMPTY };
        }
        let greatest = self.magnitude();
        let least = if self.has_zero() { 0.0 } else { self.low.abs().min(self.high.abs()) };
        Image { low: times(least, least), high: times(greatest, greatest), nan: self.nan }
    }

    /// The quotient.
    pub fn over(self, other: Bounds) -> Image {
        if let Some(nothing) = self.nothing(other) {
            return nothing;
        }
        let nan =
            (self.has_zero() && other.has_zero()) || (self.has_infinity() && other.has_infinity());
        let is_point = |b: Bounds| b.low == b.high;
        if is_point(self) && is_point(other) {
            if nan {
                return Image { nan: true, ..Image::EMPTY };
            }
            let quotient = over(self.low, other.low);
            return Image { low: quotient, high: quotient, nan: self.nan || other.nan };
        }
        let nan = self.nan || other.nan || nan;
        if other.has_zero() {
            let any = Bounds::ANY;
            return Image { low: Double::from(any.low), high: Double::from(any.high), nan };
        }
        let mut image = Image { nan, ..Image::EMPTY };
        for a in [self.low, self.high] {
            for b in [other.low, other.high] {
                let quotient = over(a, b);
                let quotient = if quotient.hi.is_nan() { Double::from(0.0) } else { quotient };
                image = image.hull(Image { low: quotient, high: quotient, nan: false });
            }
        }
        image
    }
}
