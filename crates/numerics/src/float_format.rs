//! Floating-point formats as data, and the one rounding routine that serves them all.

/// The special values of a format, and their encoding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Specials {
    /// The all-ones exponent holds infinities (mantissa zero) and NaNs, as in IEEE 754.
    Ieee,
    /// No infinities; all ones is NaN (`FN`, and `f8E8M0FNU`).
    NanAllOnes,
    /// No infinities and no negative zero, whose encoding is the one NaN (`FNUZ`).
    NanNegativeZero,
    /// Neither infinities nor NaNs (`f4*FN`, `f6*FN`).
    None,
}

/// The layout of a binary floating-point format of at most 64 bits: from the most significant bit,
/// a sign (unless `!signed`), `exponent_bits` and `mantissa_bits`.
///
/// A number with exponent field `e > 0` and mantissa field `m` is
/// `(1 + m / 2^mantissa_bits) * 2^(e - bias)`. With `e = 0` it is
/// `m / 2^mantissa_bits * 2^(1 - bias)`, unless the format has no zero, in which case `e = 0` is no
/// exception.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FloatFormat {
    /// True if the format has a sign bit. A format without one has neither zero nor subnormal
    /// numbers.
    pub signed: bool,
    /// The width of the exponent field.
    pub exponent_bits: u32,
    /// The width of the mantissa field: the digits after the binary point.
    pub mantissa_bits: u32,
    /// The bias subtracted from the exponent field.
    pub bias: i32,
    /// Infinities and NaNs.
    pub specials: Specials,
}

const F64_MANTISSA_BITS: u32 = 52;
const F64_INFINITY: u64 = 0x7FF0_0000_0000_0000;

const fn ones(bits: u32) -> u64 {
    if bits == 0 { 0 } else { u64::MAX >> (64 - bits) }
}

macro_rules! formats {
    (
        $boolean:tt $signed:tt $unsigned:tt
        [$(($float:ident, $name:literal, $type:tt, {
            $kind:ident, $format:ident $parameters:tt, code $code:literal, $doc:literal
        }))*]
        $complex:tt
    ) => {
        impl FloatFormat {
            $(#[doc = $doc] pub const $float: FloatFormat = Self::$format $parameters;)*
        }
    };
}

crate::element_types!([formats]);

impl FloatFormat {
    const fn ieee(exponent_bits: u32, mantissa_bits: u32) -> FloatFormat {
        FloatFormat {
            signed: true,
            exponent_bits,
            mantissa_bits,
            bias: (1 << (exponent_bits - 1)) - 1,
            specials: Specials::Ieee,
        }
    }

    const fn finite(exponent_bits: u32, mantissa_bits: u32) -> FloatFormat {
        FloatFormat { specials: Specials::None, ..Self::ieee(exponent_bits, mantissa_bits) }
    }

    const fn fnuz(exponent_bits: u32, mantissa_bits: u32, bias: i32) -> FloatFormat {
        let specials = Specials::NanNegativeZero;
        FloatFormat { bias, specials, ..Self::ieee(exponent_bits, mantissa_bits) }
    }

    const fn without_infinities(exponent_bits: u32, mantissa_bits: u32) -> FloatFormat {
        FloatFormat { specials: Specials::NanAllOnes, ..Self::ieee(exponent_bits, mantissa_bits) }
    }

    const fn unsigned(exponent_bits: u32) -> FloatFormat {
        FloatFormat { signed: false, ..Self::without_infinities(exponent_bits, 0) }
    }

    /// The number of bits of an encoding.
    #[inline]
    pub const fn bits(&self) -> u32 {
        self.signed as u32 + self.exponent_bits + self.mantissa_bits
    }

    /// The number of significant binary digits of a normal number.
    #[inline]
    pub const fn precision(&self) -> u32 {
        self.mantissa_bits + 1
    }

    /// The bits of the sign, or zero for a format without one.
    #[inline]
    pub const fn sign_mask(&self) -> u64 {
        if self.signed { 1 << (self.exponent_bits + self.mantissa_bits) } else { 0 }
    }

    /// The exponent of the smallest normal number.
    #[inline]
    pub const fn min_exponent(&self) -> i32 {
        if self.signed { 1 - self.bias } else { -self.bias }
    }

    /// The bits of the largest finite number.
    #[inline]
    pub const fn max_finite(&self) -> u64 {
        let all = ones(self.exponent_bits + self.mantissa_bits);
        match self.specials {
            Specials::Ieee => all - (1 << self.mantissa_bits),
            Specials::NanAllOnes => all - 1,
            Specials::NanNegativeZero | Specials::None => all,
        }
    }

    /// The bits of infinity, for a format that has one.
    #[inline]
    pub const fn infinity(&self) -> Option<u64> {
        match self.specials {
            Specials::Ieee => Some(self.max_finite() + 1),
            _ => None,
        }
    }

    /// The bits of the canonical (quiet, positive) NaN. A format without NaN represents it as
    /// negative zero, as `ml_dtypes` does.
    #[inline]
    pub const fn nan(&self) -> u64 {
        match self.specials {
            Specials::Ieee => (self.max_finite() + 1) | (1 << (self.mantissa_bits - 1)),
            Specials::NanAllOnes => self.max_finite() + 1,
            Specials::NanNegativeZero | Specials::None => self.sign_mask(),
        }
    }

    /// True if `bits` encode a NaN.
    #[inline]
    pub const fn is_nan(&self, bits: u64) -> bool {
        let magnitude = bits & ones(self.exponent_bits + self.mantissa_bits);
        match self.specials {
            Specials::Ieee => magnitude > self.max_finite() + 1,
            Specials::NanAllOnes => magnitude > self.max_finite(),
            Specials::NanNegativeZero => bits == self.sign_mask(),
            Specials::None => false,
        }
    }

    /// The value that `bits` encode, exactly. Bits above the width of the format are ignored.
    pub const fn decode(&self, bits: u64) -> f64 {
        let bits = bits & ones(self.bits());
        let sign = if bits & self.sign_mask() != 0 { 1 << 63 } else { 0 };
        if self.is_nan(bits) {
            let sign = if matches!(self.specials, Specials::Ieee | Specials::NanAllOnes) {
                sign
            } else {
                0
            };
            return f64::from_bits(sign | FloatFormat::F64.nan());
        }
        let magnitude = bits & !self.sign_mask();
        if magnitude > self.max_finite() {
            return f64::from_bits(sign | F64_INFINITY);
        }
        let field = magnitude >> self.mantissa_bits;
        let mantissa = magnitude & ones(self.mantissa_bits);
        let to_f64 = F64_MANTISSA_BITS - self.mantissa_bits;
        if field == 0 && self.signed {
            if mantissa == 0 {
                return f64::from_bits(sign);
            }
            if self.bias == FloatFormat::F64.bias {
                return f64::from_bits(sign | mantissa);
            }
            // Normalized, the leading one of the mantissa becomes the hidden one.
            let shift = self.mantissa_bits + 1 - (64 - mantissa.leading_zeros());
            let mantissa = (mantissa << shift) & ones(self.mantissa_bits);
            let exponent = (self.min_exponent() - shift as i32 + FloatFormat::F64.bias) as u64;
            return f64::from_bits(sign | exponent << F64_MANTISSA_BITS | mantissa << to_f64);
        }
        let exponent = (field as i32 - self.bias + FloatFormat::F64.bias) as u64;
        f64::from_bits(sign | exponent << F64_MANTISSA_BITS | mantissa << to_f64)
    }

    /// The encoding of the number nearest to `value`, ties to even.
    ///
    /// If the format lacks a value: infinity and overflow become NaN, or the largest finite
    /// number in a format without NaN; a negative number in a format without sign becomes NaN; zero
    /// in a format without zero becomes the smallest number; NaN as [`FloatFormat::nan`] says.
    #[inline]
    pub const fn encode(&self, value: f64) -> u64 {
        let bits = value.to_bits();
        let negative = bits >> 63 != 0;
        let magnitude = bits & !(1 << 63);
        let sign = if negative { self.sign_mask() } else { 0 };
        if magnitude > F64_INFINITY {
            // The encodings of the other NaNs have no sign to set.
            let signed = matches!(self.specials, Specials::Ieee | Specials::NanAllOnes);
            return if signed { self.nan() | sign } else { self.nan() };
        }
        if negative && magnitude != 0 && !self.signed {
            return self.nan();
        }
        let overflow = match self.specials {
            Specials::Ieee => sign | (self.max_finite() + 1),
            Specials::NanAllOnes => sign | self.nan(),
            Specials::NanNegativeZero => self.nan(),
            Specials::None => sign | self.max_finite(),
        };
        if magnitude == F64_INFINITY {
            return overflow;
        }
        // |value| = significand * 2^(exponent - 52).
        let field = (magnitude >> F64_MANTISSA_BITS) as i32;
        let fraction = magnitude & ones(F64_MANTISSA_BITS);
        let (significand, exponent) = if field == 0 {
            (fraction, FloatFormat::F64.min_exponent())
        } else {
            (fraction | 1 << F64_MANTISSA_BITS, field - FloatFormat::F64.bias)
        };
        let min = self.min_exponent();
        let binade = if exponent > min { exponent } else { min };
        let shift = F64_MANTISSA_BITS - self.mantissa_bits + (binade - exponent) as u32;
        let rounded = shift_right_ties_even(significand, shift);
        // The hidden one of a normal number adds the one that separates its exponent field from
        // `min`'s.
        let encoded = ((binade - min) as u64) << self.mantissa_bits;
        let encoded =
            if self.signed { encoded + rounded } else { (encoded + rounded).saturating_sub(1) };
        if encoded > self.max_finite() {
            return overflow;
        }
        if encoded == 0 && matches!(self.specials, Specials::NanNegativeZero) {
            return 0;
        }
        sign | encoded
    }
}

/// `value / 2^shift`, rounded to the nearest integer, ties to even.
const fn shift_right_ties_even(value: u64, shift: u32) -> u64 {
    if shift == 0 {
        return value;
    }
    if shift > 63 {
        // Only significands (less than 2^53) come here, which are below half a unit.
        return 0;
    }
    let quotient = value >> shift;
    let rest = value & ones(shift);
    let half = 1 << (shift - 1);
    let up = rest > half || (rest == half && quotient & 1 == 1);
    quotient + up as u64
}
