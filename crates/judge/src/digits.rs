//! Decimal digits of true values.

use crate::ball::Ball;

/// The most significant digits that are shown.
const DIGITS: usize = 30;

/// A number in decimal, with as many digits as are known, at most 30, and one more.
pub(crate) fn decimal(ball: Ball) -> String {
    if ball.is_beyond() {
        let sign = if ball.hi < 0.0 { "below -" } else { "above " };
        return format!("{sign}{:e}", f64::MAX);
    }
    if !ball.is_finite() {
        return if ball.is_unknown() { "unknown".into() } else { ball.hi.to_string() };
    }
    if ball.hi == 0.0 && ball.lo == 0.0 {
        return match ball.is_exact() {
            true => "0".into(),
            false => format!("0 ± {:.1e}", ball.radius),
        };
    }
    let exponent = ball.hi.abs().log10().floor() as i32;
    let known = match ball.is_exact() {
        true => DIGITS,
        false => {
            let known = exponent - ball.radius.log10().ceil() as i32 + 1;
            (known.max(1) as usize).min(DIGITS)
        }
    };
    let text = sum_of(ball.hi, ball.lo, exponent, known);
    if known < DIGITS { format!("{text} ± {:.1e}", ball.radius) } else { text }
}

/// Formats `hi + lo`, rounded to a number of digits; the first digit of `hi` is at 10^`exponent`.
fn sum_of(hi: f64, lo: f64, exponent: i32, digits: usize) -> String {
    // Digits after the point, of which the printed ones are exact.
    let places = (digits as i32 + 2 - exponent).clamp(0, 400) as usize;
    let number = |x: f64| -> (bool, Vec<u8>) {
        let text = format!("{:.*}", places, x.abs());
        let digits = text.bytes().filter(u8::is_ascii_digit).map(|b| b - b'0');
        (x < 0.0, digits.collect())
    };
    let ((negative, mut sum), (low_negative, mut low)) = (number(hi), number(lo));
    let length = sum.len().max(low.len()) + 1;
    for list in [&mut sum, &mut low] {
        let zeros = vec![0; length - list.len()];
        list.splice(0..0, zeros);
    }
    // The second part is smaller than the first.
    let mut carry = 0i8;
    for (digit, other) in sum.iter_mut().zip(&low).rev() {
        let other = if negative == low_negative { *other as i8 } else { -(*other as i8) };
        let value = *digit as i8 + other + carry;
        (*digit, carry) = (value.rem_euclid(10) as u8, value.div_euclid(10));
    }
    let Some(first) = sum.iter().position(|&digit| digit != 0) else { return "0".into() };
    let exponent = (length - places) as i32 - 1 - first as i32;
    let mut kept: Vec<u8> =
        sum[first..].iter().copied().chain(std::iter::repeat_n(0, digits)).collect();
    let up = kept.get(digits).is_some_and(|&digit| digit >= 5);
    kept.truncate(digits);
    let mut exponent = exponent;
    if up {
        let mut at = digits;
        loop {
            if at == 0 {
                kept.insert(0, 1);
                kept.truncate(digits);
                exponent += 1;
                break;
            }
            at -= 1;
            if kept[at] < 9 {
                kept[at] += 1;
                break;
            }
            kept[at] = 0;
        }
    }
    while kept.len() > 1 && kept.last() == Some(&0) {
        kept.pop();
    }
    let text: String = kept.iter().map(|digit| char::from(b'0' + digit)).collect();
    let sign = if negative { "-" } else { "" };
    let (whole, rest) = text.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    match exponent {
        0 => format!("{sign}{whole}{point}{rest}"),
        _ => format!("{sign}{whole}{point}{rest}e{exponent}"),
    }
}
