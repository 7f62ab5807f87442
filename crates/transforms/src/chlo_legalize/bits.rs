//! Functions of the bit representation of numbers.

use super::expr::{Expr, select, shift_right, shift_right_arithmetic};
use mlir::Type;
use mlir::types::{Signedness, TypeKind};

/// The float next to `x` in the direction of `y`: its bits as an integer, plus or minus 1.
pub(super) fn next_after<'b>(x: Expr<'b>, y: Expr<'b>) -> Expr<'b> {
    let float = x.element();
    let width = float.bit_width().unwrap_or(0);
    let integer = Type::integer(width, Signedness::Signless);
    let (xi, yi) = (x.bitcast(integer.clone()), y.bitcast(integer.clone()));
    let x_is_nan = x.ne(x);
    let is_nan = x_is_nan | y.ne(y);
    let nan = x.like(f64::NAN).bitcast(integer);

    let sign_bit = -1i128 << width.saturating_sub(1);
    let sign_mask = xi.like_integer(sign_bit);
    let magnitude_mask = xi.like_integer(!sign_bit);
    let x_magnitude = xi & magnitude_mask;
    let y_magnitude = yi & magnitude_mask;
    let is_equal = x.eq(y);
    let zero = xi.like_integer(0);
    let x_is_zero = x_magnitude.eq(zero);
    let y_is_zero = y_magnitude.eq(zero);
    let x_sign = xi & sign_mask;
    let y_sign = yi & sign_mask;

    let one = xi.like_integer(1);
    // From zero, the next number is the smallest one with the sign of y.
    let smallest = y_sign | one;
    let signs_differ = x_sign.ne(y_sign);
    let is_toward_zero = x_magnitude.gt(y_magnitude) | signs_differ;
    let minus_one = xi.like_integer(-1);
    let next = xi + select(is_toward_zero, minus_one, one);
    let from_zero = select(y_is_zero, yi, smallest);
    let next = select(x_is_zero, from_zero, next);
    let next = select(is_equal, yi, next);
    select(is_nan, nan, next).bitcast(float)
}

/// The upper half of the product, computed in twice the width where such a type exists.
pub(super) fn mulhi<'b>(a: Expr<'b>, b: Expr<'b>) -> Expr<'b> {
    let narrow = a.element();
    let TypeKind::Integer { width, signedness } = *narrow else { return a };
    let is_unsigned = signedness == Signedness::Unsigned;
    match width {
        64 if is_unsigned => mulhi_u64(a, b),
        64 => mulhi_i64(a, b),
        _ => {
            let wide = Type::integer(width.saturating_mul(2), signedness);
            let product = a.convert(wide.clone()) * b.convert(wide);
            let by = product.like_integer(width.into());
            let shift = if is_unsigned { shift_right } else { shift_right_arithmetic };
            shift(product, by).convert(narrow)
        }
    }
}

/// By halves of 32 bits: `(a1 2³² + a0)(b1 2³² + b0) = a1 b1 2⁶⁴ + (a0 b1 + a1 b0) 2³² + a0 b0`.
fn mulhi_u64<'b>(a: Expr<'b>, b: Expr<'b>) -> Expr<'b> {
    let upper = |x: Expr<'b>| shift_right(x, x.like(32.0));
    let lower = |x: Expr<'b>| x & x.like_integer(0xffff_ffff);
    // Constants take their shape from the operands.
    let upper_of = |x: Expr<'b>| shift_right(x, a.like(32.0));
    let (a1, b1) = (upper(a), upper(b));
    let high = a1 * b1;
    let a0 = lower(a);
    let cross = a0 * b1;
    let b0 = lower(b);
    let carry = upper_of(a0 * b0);
    let middle = cross + carry;
    let high = high + upper_of(middle);
    let cross = a1 * b0;
    let middle = cross + (middle & a.like_integer(0xffff_ffff));
    high + upper_of(middle)
}

/// Read as unsigned, a negative number is too large by 2⁶⁴: `hi(a, b) = hi'(a, b) - (a < 0 ? b : 0)
/// - (b < 0 ? a : 0)`.
fn mulhi_i64<'b>(a: Expr<'b>, b: Expr<'b>) -> Expr<'b> {
    let unsigned = |x: Expr<'b>| x.convert(Type::ui64());
    let high = mulhi_u64(unsigned(a), unsigned(b));
    let excess = |sign: Expr<'b>, other: Expr<'b>| {
        let is_negative = sign.lt(sign.like(0.0));
        let value = unsigned(other);
        select(is_negative, value, unsigned(other).like(0.0))
    };
    let high = high - excess(a, b);
    (high - excess(b, a)).convert(a.element())
}
