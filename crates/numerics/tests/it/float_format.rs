//! Tests of `float_format.rs`.

use numerics::{FloatFormat, Specials};

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
        (bits % (1 << format.mantissa_bits)) as f64 / f64::from(1 << format.mantissa_bits);
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
    let encode = |format: FloatFormat| [f64::INFINITY, -1e300, f64::NAN].map(|x| format.encode(x));
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
