//! Floating-point literals as MLIR reads and writes them.
//!
//! A number is written with six significant digits, as `1.500000e+00`, if that reads back as the
//! same number; otherwise with enough digits to distinguish all numbers of the type, as
//! `0.123456791` or `1.23456791E-8`; otherwise (infinities, NaNs, and numbers for which that form
//! has no point) as the bits, as `0x7FC00000`.
//!
//! The digits are the ones of LLVM's `APFloat::toString`, which are not always the nearest
//! decimal: it cuts the exact decimal expansion off at about the wanted length, then rounds half
//! up.

use crate::{DType, Float, FloatFormat, Integer, dispatch};

/// The bits of the number of type `dtype` nearest to a decimal literal such as `-1.5e-3`. As in
/// MLIR, the literal is first read as an `f64`.
///
/// `None` if this is not a decimal literal, or `dtype` is not a floating-point type.
pub fn parse_float(literal: &str, dtype: DType) -> Option<u64> {
    let value = parse_f64(literal)?;
    Some(real_format(dtype)?.encode(value))
}

/// The bits that a hexadecimal literal such as `0x7FC00000` stands for.
///
/// `None` if this is not a hexadecimal literal, has more significant bits than `dtype`, or `dtype`
/// is not a floating-point type.
pub fn parse_float_bits(literal: &str, dtype: DType) -> Option<u64> {
    let format = real_format(dtype)?;
    let digits = literal.strip_prefix("0x").or_else(|| literal.strip_prefix("0X"))?;
    if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let bits = u64::from_str_radix(digits, 16).ok()?;
    (64 - bits.leading_zeros() <= format.bits()).then_some(bits)
}

/// A decimal literal as an `f64`: digits with an optional sign, fraction and exponent.
fn parse_f64(literal: &str) -> Option<f64> {
    let unsigned = literal.strip_prefix(['-', '+']).unwrap_or(literal);
    // After the first digit no name such as `inf` can follow.
    if !unsigned.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    literal.parse().ok()
}

fn real_format(dtype: DType) -> Option<&'static FloatFormat> {
    if dtype.is_complex() { None } else { dtype.float_format() }
}

/// The literal for the number of type `dtype` with these bits, as MLIR prints it. Types other than
/// floating-point types print their bits.
pub fn format_float(bits: u64, dtype: DType) -> String {
    let mut text = String::new();
    write_float(&mut text, bits, dtype);
    text
}

/// An element of a tensor, by its bytes, as MLIR writes it within `dense<…>`: `true`, `-3`,
/// `1.000000e+00`, `(1.000000e+00,0.000000e+00)`. Empty if these are not the bytes of one element.
pub fn format_element(dtype: DType, element: &[u8]) -> String {
    if element.len() != dtype.bytes() {
        return String::new();
    }
    if dtype.is_complex() {
        let (re, im) = element.split_at(dtype.part().bytes());
        return format!(
            "({},{})",
            format_element(dtype.part(), re),
            format_element(dtype.part(), im)
        );
    }
    dispatch!(
        dtype,
        [float] T => format_float(bytemuck::pod_read_unaligned::<T>(element).to_raw(), dtype),
        else dispatch!(
            dtype,
            [integer] T => bytemuck::pod_read_unaligned::<T>(element).to_i128().to_string(),
            else (element[0] != 0).to_string()
        )
    )
}

/// Appends what [`format_float`] returns.
pub fn write_float(out: &mut String, bits: u64, dtype: DType) {
    let start = out.len();
    if let Some(format) = real_format(dtype) {
        let value = format.decode(bits);
        if value.is_finite() {
            let sign = if value.is_sign_negative() { "-" } else { "" };
            let (significand, exponent) = binary(value.abs());
            out.push_str(sign);
            Decimal::new(significand, exponent, SHORT_DIGITS).write_short(out);
            if reads_as(&out[start..], value, dtype, format) {
                return;
            }
            out.truncate(start);
            out.push_str(sign);
            let digits = round_trip_digits(format);
            Decimal::new(significand, exponent, digits).write_long(out, digits);
            if out[start..].contains('.') {
                return;
            }
            out.truncate(start);
        }
    }
    use std::fmt::Write;
    // Writing to a string does not fail.
    let _ = write!(out, "0x{bits:X}");
}

/// True if a decimal literal reads as this number of the type.
fn reads_as(literal: &str, value: f64, dtype: DType, format: &FloatFormat) -> bool {
    let read = match dtype {
        // Rounded once, and quickly.
        DType::F32 => literal.parse::<f32>().ok().map(f64::from),
        _ => literal.parse::<f64>().ok().map(|read| format.decode(format.encode(read))),
    };
    read.is_some_and(|read| read.to_bits() == value.to_bits())
}

/// The number of digits of the first form.
const SHORT_DIGITS: usize = 6;

/// The number of digits of the second form. 59/196 is a little less than the logarithm of 2 to base
/// 10.
fn round_trip_digits(format: &FloatFormat) -> usize {
    2 + format.precision() as usize * 59 / 196
}

/// The most zeros between the point and a digit in the second form without an exponent.
const MAX_PADDING: i32 = 3;

/// `(n, e)` such that a finite, non-negative `value` is `n * 2^e`, with `n` odd or zero.
fn binary(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let field = (bits >> 52) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let (significand, exponent) =
        if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) };
    match significand {
        0 => (0, 0),
        _ => (
            significand >> significand.trailing_zeros(),
            exponent + significand.trailing_zeros() as i32,
        ),
    }
}

/// The decimal number `digits * 10^exponent`. The last digit is not zero, unless the number is.
struct Decimal {
    digits: [u8; Decimal::CAPACITY],
    len: usize,
    exponent: i32,
}

impl Decimal {
    /// More than the decimal digits of a `u128`.
    const CAPACITY: usize = 40;

    /// `significand * 2^exponent` with at most `precision` digits, `significand` being odd or zero.
    fn new(significand: u64, exponent: i32, precision: usize) -> Decimal {
        let mut whole = Natural::new(significand);
        let mut ten_exponent = 0;
        if exponent >= 0 {
            whole.shift_left(exponent as u32);
        } else {
            // 2^-e is 5^e / 10^e.
            whole.multiply_by_power_of_5(exponent.unsigned_abs());
            ten_exponent = exponent;
        }
        let required = (precision * 196).div_ceil(59);
        let tens = whole.bits().saturating_sub(required) * 59 / 196;
        whole.divide_by_power_of_10(tens as u32);
        ten_exponent += tens as i32;

        // At most four bits more than `required` are left, which is 57 for 17 digits.
        let mut rest = whole.low();
        let mut digits = [0; Decimal::CAPACITY];
        let mut len = 0;
        while rest != 0 {
            digits[len] = (rest % 10) as u8;
            rest /= 10;
            len += 1;
        }
        digits[..len].reverse();
        let mut decimal = Decimal { digits, len, exponent: ten_exponent };
        decimal.round(precision);
        decimal
    }

    /// Rounds half up to `precision` digits and drops trailing zeros.
    fn round(&mut self, precision: usize) {
        if self.len > precision {
            let up = self.digits[precision] >= 5;
            self.exponent += (self.len - precision) as i32;
            self.len = precision;
            if up {
                // Nines that carry become zeros, which are dropped.
                while self.len > 0 && self.digits[self.len - 1] == 9 {
                    self.len -= 1;
                    self.exponent += 1;
                }
                if self.len == 0 {
                    self.digits[0] = 0;
                    self.len = 1;
                }
                self.digits[self.len - 1] += 1;
            }
        }
        while self.len > 0 && self.digits[self.len - 1] == 0 {
            self.len -= 1;
            self.exponent += 1;
        }
    }

    fn push_digits(&self, out: &mut String, from: usize, to: usize) {
        out.extend(self.digits[from..to].iter().map(|&digit| char::from(b'0' + digit)));
    }

    /// The exponent of ten of the first digit.
    fn leading_exponent(&self) -> i32 {
        self.exponent + self.len as i32 - 1
    }

    /// As `1.234560e+00`.
    fn write_short(&self, out: &mut String) {
        if self.len == 0 {
            out.push_str("0.000000e+00");
            return;
        }
        self.push_digits(out, 0, 1);
        out.push('.');
        self.push_digits(out, 1, self.len);
        push_zeros(out, SHORT_DIGITS + 1 - self.len);
        let exponent = self.leading_exponent();
        out.push_str(if exponent < 0 { "e-" } else { "e+" });
        push_number(out, exponent.unsigned_abs(), 2);
    }

    /// As `0.00123456789`, `123.456789` or, if it is too long for that, as `1.23456789E-8`.
    fn write_long(&self, out: &mut String, precision: usize) {
        if self.len == 0 {
            out.push('0');
            return;
        }
        let leading = self.leading_exponent();
        let scientific = if self.exponent >= 0 {
            self.exponent > MAX_PADDING || leading + 1 > precision as i32
        } else {
            leading < -MAX_PADDING
        };
        if scientific {
            self.push_digits(out, 0, 1);
            out.push('.');
            if self.len == 1 {
                out.push('0');
            }
            self.push_digits(out, 1, self.len);
            out.push_str(if leading < 0 { "E-" } else { "E+" });
            push_number(out, leading.unsigned_abs(), 1);
        } else if self.exponent >= 0 {
            self.push_digits(out, 0, self.len);
            push_zeros(out, self.exponent as usize);
        } else if leading >= 0 {
            let whole = leading as usize + 1;
            self.push_digits(out, 0, whole);
            out.push('.');
            self.push_digits(out, whole, self.len);
        } else {
            out.push_str("0.");
            push_zeros(out, leading.unsigned_abs() as usize - 1);
            self.push_digits(out, 0, self.len);
        }
    }
}

fn push_zeros(out: &mut String, count: usize) {
    out.extend(std::iter::repeat_n('0', count));
}

fn push_number(out: &mut String, number: u32, width: usize) {
    use std::fmt::Write;
    // Writing to a string does not fail.
    let _ = write!(out, "{number:0width$}");
}

/// A natural number large enough for the exact decimal expansion of every `f64`: at most
/// `2^53 * 5^1074`, which has 2547 bits.
struct Natural {
    /// The digits to base 2^64 from the lowest on.
    limbs: [u64; Natural::CAPACITY],
    /// The number of limbs without leading zeros.
    len: usize,
}

impl Natural {
    const CAPACITY: usize = 40;

    fn new(value: u64) -> Natural {
        let mut limbs = [0; Natural::CAPACITY];
        limbs[0] = value;
        Natural { limbs, len: usize::from(value != 0) }
    }

    fn bits(&self) -> usize {
        match self.len {
            0 => 0,
            len => 64 * len - self.limbs[len - 1].leading_zeros() as usize,
        }
    }

    fn low(&self) -> u128 {
        u128::from(self.limbs[1]) << 64 | u128::from(self.limbs[0])
    }

    fn multiply(&mut self, factor: u64) {
        let mut carry = 0u128;
        for limb in &mut self.limbs[..self.len] {
            carry += u128::from(*limb) * u128::from(factor);
            *limb = carry as u64;
            carry >>= 64;
        }
        if carry != 0 {
            self.limbs[self.len] = carry as u64;
            self.len += 1;
        }
    }

    fn shift_left(&mut self, bits: u32) {
        let limbs = (bits / 64) as usize;
        if self.len != 0 {
            self.limbs.copy_within(0..self.len, limbs);
            self.limbs[..limbs].fill(0);
            self.len += limbs;
            self.multiply(1 << (bits % 64));
        }
    }

    fn multiply_by_power_of_5(&mut self, exponent: u32) {
        const STEP: u32 = 27;
        for _ in 0..exponent / STEP {
            self.multiply(5u64.pow(STEP));
        }
        self.multiply(5u64.pow(exponent % STEP));
    }

    /// Divides, dropping the remainder.
    fn divide(&mut self, divisor: u64) {
        let mut remainder = 0u64;
        for limb in self.limbs[..self.len].iter_mut().rev() {
            let dividend = u128::from(remainder) << 64 | u128::from(*limb);
            *limb = (dividend / u128::from(divisor)) as u64;
            remainder = (dividend % u128::from(divisor)) as u64;
        }
        while self.len > 0 && self.limbs[self.len - 1] == 0 {
            self.len -= 1;
        }
    }

    fn divide_by_power_of_10(&mut self, exponent: u32) {
        const STEP: u32 = 19;
        for _ in 0..exponent / STEP {
            self.divide(10u64.pow(STEP));
        }
        if !exponent.is_multiple_of(STEP) {
            self.divide(10u64.pow(exponent % STEP));
        }
    }
}
