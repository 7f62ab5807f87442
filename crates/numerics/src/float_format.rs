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
    pub const fn bits(&self) -> u32 {
        self.signed as u32 + self.exponent_bits + self.mantissa_bits
    }

    /// The number of significant binary digits of a normal number.
    pub const fn precision(&self) -> u32 {
        self.mantissa_bits + 1
    }

    /// The bits of the sign, or zero for a format without one.
    pub const fn sign_mask(&self) -> u64 {
        if self.signed { 1 << (self.exponent_bits + self.mantissa_bits) } else { 0 }
    }

    /// The exponent of the smallest normal number.
    pub const fn min_exponent(&self) -> i32 {
        if self.signed { 1 - self.bias } else { -self.bias }
    }

    /// The bits of the largest finite number.
    pub const fn max_finite(&self) -> u64 {
        let all = ones(self.exponent_bits + self.mantissa_bits);
        match self.specials {
            Specials::Ieee => all - (1 << self.mantissa_bits),
            Specials::NanAllOnes => all - 1,
            Specials::NanNegativeZero | Specials::None => all,
        }
    }

    /// The bits of infinity, for a format that has one.
    pub const fn infinity(&self) -> Option<u64> {
        match self.specials {
            Specials::Ieee => Some(self.max_finite() + 1),
            _ => None,
        }
    }

    /// The bits of the canonical (quiet, positive) NaN. A format without NaN represents it as
    /// negative zero, as `ml_dtypes` does.
    pub const fn nan(&self) -> u64 {
        match self.specials {
            Specials::Ieee => (self.max_finite() + 1) | (1 << (self.mantissa_bits - 1)),
            Specials::NanAllOnes => self.max_finite() + 1,
            Specials::NanNegativeZero | Specials::None => self.sign_mask(),
        }
    }

    /// True if `bits` encode a NaN.
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

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: [FloatFormat; 11] = [
        FloatFormat::F4E2M1FN,
        FloatFormat::F6E2M3FN,
        FloatFormat::F6E3M2FN,
        FloatFormat::F8E3M4,
        FloatFormat::F8E4M3,
        FloatFormat::F8E4M3B11FNUZ,
        FloatFormat::F8E4M3FN,
        FloatFormat::F8E4M3FNUZ,
        FloatFormat::F8E5M2,
        FloatFormat::F8E5M2FNUZ,
        FloatFormat::F8E8M0FNU,
    ];

    /// The value of an encoding by the definition of a format, for finite numbers.
    fn value(format: &FloatFormat, bits: u64) -> f64 {
        let field = (bits & !format.sign_mask()) >> format.mantissa_bits;
        let fraction =
            (bits & ones(format.mantissa_bits)) as f64 / f64::from(1 << format.mantissa_bits);
        let sign = if bits & format.sign_mask() != 0 { -1.0 } else { 1.0 };
        if field == 0 && format.signed {
            sign * fraction * f64::from(1 - format.bias).exp2()
        } else {
            sign * (1.0 + fraction) * f64::from(field as i32 - format.bias).exp2()
        }
    }

    /// All finite encodings without sign, in increasing order of their values.
    fn magnitudes(format: &FloatFormat) -> std::ops::RangeInclusive<u64> {
        0..=format.max_finite()
    }

    #[test]
    fn decodes_by_definition() {
        for format in SMALL.iter().chain([&FloatFormat::F16, &FloatFormat::BF16]) {
            for bits in magnitudes(format) {
                assert_eq!(format.decode(bits), value(format, bits), "{format:?} {bits:#x}");
            }
        }
    }

    #[test]
    fn encodes_to_the_nearest() {
        for format in &SMALL {
            for (low, high) in magnitudes(format).zip(magnitudes(format).skip(1)) {
                let (x, y) = (value(format, low), value(format, high));
                let middle = x + (y - x) / 2.0;
                // The even significand: without mantissa bits, it is 2 at the top of a binade.
                let even = if format.mantissa_bits == 0 || low % 2 == 1 { high } else { low };
                assert_eq!(format.encode(x), low);
                assert_eq!(format.encode(middle), even, "{format:?} {middle}");
                assert_eq!(format.encode(middle.next_down()), low);
                assert_eq!(format.encode(middle.next_up()), high);
                if format.signed {
                    let sign = format.sign_mask();
                    let minus_low = if low == 0 && format.specials == Specials::NanNegativeZero {
                        0
                    } else {
                        sign | low
                    };
                    assert_eq!(format.encode(-x), minus_low);
                    assert_eq!(format.encode(-middle.next_up()), sign | high);
                }
            }
        }
    }

    #[test]
    fn largest_numbers() {
        // From the definitions of the formats: OCP MX, OCP FP8, and the FNUZ paper.
        let largest =
            [6.0, 7.5, 28.0, 15.5, 240.0, 30.0, 448.0, 240.0, 57344.0, 57344.0, 127f64.exp2()];
        for (format, largest) in SMALL.iter().zip(largest) {
            assert_eq!(format.decode(format.max_finite()), largest, "{format:?}");
        }
        assert_eq!(FloatFormat::BF16.decode(FloatFormat::BF16.max_finite()), 3.3895313892515355e38);
        assert_eq!(FloatFormat::F16.decode(FloatFormat::F16.max_finite()), 65504.0);
    }

    #[test]
    fn what_a_format_lacks() {
        let encode =
            |format: FloatFormat| [f64::INFINITY, -1e300, f64::NAN].map(|x| format.encode(x));
        assert_eq!(encode(FloatFormat::F8E5M2), [0x7C, 0xFC, 0x7E]);
        assert_eq!(encode(FloatFormat::F8E4M3FN), [0x7F, 0xFF, 0x7F]);
        assert_eq!(encode(FloatFormat::F8E4M3FNUZ), [0x80, 0x80, 0x80]);
        assert_eq!(encode(FloatFormat::F4E2M1FN), [0x7, 0xF, 0x8]);
        assert_eq!(encode(FloatFormat::F8E8M0FNU), [0xFF, 0xFF, 0xFF]);
        assert_eq!(FloatFormat::F8E8M0FNU.encode(0.0), 0);
        // Halfway to the number after the largest one is too large.
        assert_eq!(FloatFormat::F16.encode(65520.0), 0x7C00);
        assert_eq!(FloatFormat::F16.encode(65519.999), 0x7BFF);
        assert_eq!(FloatFormat::F8E4M3FN.encode(464.0), 0x7E);
        assert_eq!(FloatFormat::F8E4M3FN.encode(464.1), 0x7F);
    }

    #[test]
    fn wide_formats_are_those_of_the_machine() {
        let mut state = 1u64;
        for _ in 0..100_000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let x = f64::from_bits(state);
            let narrow = x as f32;
            if !x.is_nan() {
                assert_eq!(FloatFormat::F64.encode(x), state);
                assert_eq!(FloatFormat::F64.decode(state).to_bits(), state);
                assert_eq!(FloatFormat::F32.encode(x), u64::from(narrow.to_bits()));
                assert_eq!(FloatFormat::F32.decode(u64::from(narrow.to_bits())), f64::from(narrow));
            }
            // The exponents of f32 are rare among those of f64.
            let x = f64::from(f32::from_bits((state >> 32) as u32)) * 1.000_000_01;
            if !x.is_nan() {
                assert_eq!(FloatFormat::F32.encode(x), u64::from((x as f32).to_bits()));
            }
        }
    }
}
