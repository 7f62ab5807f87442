//! Tests of `text.rs`.

use numerics::DType;
use numerics::text::{format_float, parse_float, parse_float_bits};

fn f32s(value: f32) -> String {
    format_float(u64::from(value.to_bits()), DType::F32)
}

fn f64s(value: f64) -> String {
    format_float(value.to_bits(), DType::F64)
}

#[test]
fn short_form() {
    assert_eq!(f32s(0.0), "0.000000e+00");
    assert_eq!(f32s(-0.0), "-0.000000e+00");
    assert_eq!(f32s(0.1), "1.000000e-01");
    assert_eq!(f32s(-123456.0), "-1.234560e+05");
    assert_eq!(f64s(1e100), "1.000000e+100");
    assert_eq!(format_float(0x3E00, DType::F16), "1.500000e+00");
    assert_eq!(format_float(0, DType::F8E8M0FNU), "5.877470e-39");
}

#[test]
fn long_form() {
    assert_eq!(f32s(std::f32::consts::PI), "3.14159274");
    // 1/3 and 1/96 in f32 are 0.3333333432674407958984375 and 0.010416666977107524871826171875.
    assert_eq!(f32s(1.0 / 3.0), "0.333333343");
    assert_eq!(f32s(1.0 / 96.0), "0.010416667");
    assert_eq!(f32s((-13f32).exp2() / 3.0), "4.06901054E-5");
    assert_eq!(f64s(0.1 + 0.2), "0.30000000000000004");
    assert_eq!(f32s(f32::MAX), "3.40282347E+38");
    assert_eq!(f64s(f64::MIN_POSITIVE), "2.2250738585072014E-308");
}

#[test]
fn bits_where_decimals_fail() {
    assert_eq!(f32s(f32::INFINITY), "0x7F800000");
    assert_eq!(f32s(f32::NEG_INFINITY), "0xFF800000");
    assert_eq!(f32s(f32::NAN), "0x7FC00000");
    assert_eq!(format_float(0x80, DType::F8E4M3FNUZ), "0x80");
    // 1234567 has no point in the long form.
    assert_eq!(f32s(1234567.0), "0x4996B438");
}

#[test]
fn literals_read_back() {
    let mut state = 1u64;
    for _ in 0..20_000 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        for (dtype, shift) in
            [(DType::F64, 0), (DType::F32, 32), (DType::F16, 48), (DType::BF16, 48)]
        {
            let bits = state >> shift;
            let text = format_float(bits, dtype);
            let read = parse_float(&text, dtype).or_else(|| parse_float_bits(&text, dtype));
            assert_eq!(read, Some(bits), "{text}: {dtype}");
        }
    }
}

#[test]
fn reads_literals() {
    assert_eq!(parse_float("1.5", DType::F16), Some(0x3E00));
    assert_eq!(parse_float("-1.", DType::F32), Some(0xBF80_0000));
    assert_eq!(parse_float("1.0e999", DType::BF16), Some(0x7F80));
    assert_eq!(parse_float("1.0e30", DType::F8E4M3FN), Some(0x7F));
    assert_eq!(parse_float("-0.0", DType::F8E5M2FNUZ), Some(0));
    for wrong in ["", "-", "inf", "nan", ".5", "1.5f", "1e", "0x10", "1_0"] {
        assert_eq!(parse_float(wrong, DType::F32), None, "{wrong}");
    }
    assert_eq!(parse_float("1.0", DType::I32), None);
    assert_eq!(parse_float_bits("0x7fC0", DType::BF16), Some(0x7FC0));
    assert_eq!(parse_float_bits("0x10", DType::F4E2M1FN), None);
    assert_eq!(parse_float_bits("0x", DType::F32), None);
    assert_eq!(parse_float_bits("0x+1", DType::F32), None);
}
