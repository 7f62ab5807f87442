//! Tests of `math/convert.rs`.

use numerics::math::element::{ElementKernel, ScalarElement};
use numerics::math::{bitcast, convert, reduce_precision};
use numerics::{
    Complex32, Complex64, DType, Element, F4E2M1FN, F8E3M4, F8E4M3, F8E4M3B11FNUZ, F8E4M3FN,
    F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, I1, I4, Tensor, U2, U4, bf16, f16,
};

fn vector<T: Element>(elements: &[T]) -> Tensor {
    Tensor::from_vec([elements.len()], elements.to_vec()).unwrap()
}

fn converted<S: Element, T: Element>(elements: &[S]) -> Vec<T> {
    convert(vector(elements), T::DTYPE).unwrap().to_vec().unwrap()
}

#[test]
fn floats_to_integers_saturate() {
    let floats = [1.9f32, -1.9, 1e10, -1e10, f32::NAN, f32::INFINITY];
    assert_eq!(converted::<f32, i32>(&floats), [1, -1, i32::MAX, i32::MIN, 0, i32::MAX]);
    assert_eq!(converted::<f32, u8>(&floats), [1, 0, 255, 0, 0, 255]);
    assert_eq!(converted::<f32, I4>(&floats), [1, -1, 7, -8, 0, 7].map(I4::new));
    assert_eq!(converted::<f64, u64>(&[1.8446744073709552e19]), [u64::MAX]);
}

#[test]
fn integers_wrap() {
    assert_eq!(converted::<i32, i8>(&[300, -129]), [44, 127]);
    assert_eq!(converted::<i32, U4>(&[-1, 17]), [15, 1].map(U4::new));
    assert_eq!(converted::<u64, i64>(&[u64::MAX]), [-1]);
    assert_eq!(converted::<I4, u32>(&[I4::new(-1)]), [u32::MAX]);
}

#[test]
fn integers_round_once() {
    // 2^25 + 1 lies between 2^25 and 2^25 + 4; 2^60 + 2^36 + 1 just above the midpoint of two
    // floats.
    assert_eq!(
        converted::<i64, f32>(&[(1 << 25) + 1, (1 << 60) + (1 << 36) + 1]),
        [(1u32 << 25) as f32, ((1u64 << 60) + (1 << 37)) as f32]
    );
    // A midpoint of bf16 plus one, which an f64 in between would have rounded away.
    let above = (1i64 << 60) + (1 << 52) + 1;
    assert_eq!(
        converted::<i64, bf16>(&[above, -above, above - 1]),
        [bf16::from_bits(0x5D81), bf16::from_bits(0xDD81), bf16::from_bits(0x5D80)]
    );
    assert_eq!(
        converted::<u64, f16>(&[u64::MAX, 65519, 65520]),
        [f16::INFINITY, f16::MAX, f16::INFINITY]
    );
}

#[test]
fn booleans_and_complex_numbers() {
    let truth = [I1::new(true), I1::new(false)];
    assert_eq!(converted::<f32, I1>(&[f32::NAN, -0.0]), truth);
    assert_eq!(
        converted::<I1, F8E4M3FN>(&truth),
        [F8E4M3FN::from_bits(0x38), F8E4M3FN::from_bits(0)]
    );
    assert_eq!(converted::<Complex32, i32>(&[Complex32::new(2.5, 9.0)]), [2]);
    assert_eq!(converted::<u8, Complex64>(&[7]), [Complex64::new(7.0, 0.0)]);
    assert_eq!(
        converted::<Complex64, Complex32>(&[Complex64::new(0.5, 1e300)]),
        [Complex32::new(0.5, f32::INFINITY)]
    );
}

#[test]
fn long_tensors_convert_in_blocks() {
    let elements: Vec<i32> = (0..3000).collect();
    assert_eq!(converted::<i32, f64>(&elements), (0..3000).map(f64::from).collect::<Vec<_>>());
}

#[test]
fn bits_of_wider_and_narrower_types() {
    let x = Tensor::from_vec([1], vec![0x4030_2010u32]).unwrap();
    let bytes = bitcast(&x, DType::U8).unwrap();
    assert_eq!(bytes, Tensor::from_vec([1, 4], vec![0x10u8, 0x20, 0x30, 0x40]).unwrap());
    assert_eq!(bitcast(&bytes, DType::U32).unwrap(), x);
    let nibbles = bitcast(&x, DType::I4).unwrap();
    assert_eq!(
        nibbles,
        Tensor::from_vec([1, 8], [0, 1, 0, 2, 0, 3, 0, 4].map(I4::new).to_vec()).unwrap()
    );
    assert_eq!(bitcast(&nibbles, DType::U32).unwrap(), x);
    let crumbs = bitcast(&vector(&[U4::new(0b1101)]), DType::U2).unwrap();
    assert_eq!(crumbs, Tensor::from_vec([1, 2], [1, 3].map(U2::new).to_vec()).unwrap());
    assert_eq!(bitcast(&crumbs, DType::F4E2M1FN).unwrap(), vector(&[F4E2M1FN::from_bits(0b1101)]));
    assert_eq!(bitcast(&vector(&[1.0f32]), DType::I32).unwrap(), vector(&[0x3F80_0000i32]));
    assert!(bitcast(&bytes, DType::U64).is_err());
    assert!(bitcast(&vector(&[1u8]), DType::F6E2M3FN).is_err());
    assert!(bitcast(&Tensor::scalar(1u8), DType::U16).is_err());
}

#[test]
fn reduced_precision() {
    let reduced = |x: f32, exponent, mantissa| {
        let x = reduce_precision(Tensor::scalar(x), exponent, mantissa).unwrap();
        x.item::<f32>().unwrap()
    };
    // To bf16 and f16, but for subnormal numbers.
    for bits in (0..=u16::MAX).step_by(7) {
        let x = f32::from_bits(u32::from(bits) << 16 | 0x9ABC);
        if x.is_nan() {
            assert!(reduced(x, 8, 7).is_nan());
        } else {
            assert_eq!(reduced(x, 8, 7), bf16::from_f32(x).to_f32());
            let half = f16::from_f32(x);
            if half.is_normal() && half > f16::MIN_POSITIVE {
                assert_eq!(reduced(x, 5, 10), half.to_f32());
            }
        }
    }
    assert_eq!(reduced(65520.0, 5, 10), f32::INFINITY);
    assert_eq!(reduced(-1e-6, 5, 10).to_bits(), (-0.0f32).to_bits());
    assert_eq!(reduced(f32::NAN, 5, 0), f32::INFINITY);
    assert_eq!(reduced(2.5, 11, 52), 2.5);
    assert!(reduce_precision(Tensor::scalar(1.0f32), 0, 1).is_err());
    assert!(reduce_precision(Tensor::scalar(1i32), 5, 1).is_err());
}

/// From `f32` directly, and as through `f64`, which is how other formats are rounded.
#[test]
fn single_numbers_are_rounded_once_to_half_of_the_bits() {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 32) as u32
    };
    // All upper halves with the lower ones that decide, and any others.
    let lower = [0, 1, 0x0FFF, 0x1000, 0x1001, 0x7FFF, 0x8000, 0x8001, 0xFFFF];
    let near = (0..1 << 16).step_by(5).flat_map(|upper| lower.map(|lower| upper << 16 | lower));
    let bits: Vec<u32> = near.chain((0..50_000).map(|_| next())).collect();
    let numbers: Vec<f32> = bits.into_iter().map(f32::from_bits).collect();
    let doubles: Vec<f64> = numbers.iter().map(|&x| f64::from(x)).collect();
    let singles = Tensor::from_vec([numbers.len()], numbers).unwrap();
    let doubles = Tensor::from_vec([doubles.len()], doubles).unwrap();
    for dtype in [DType::BF16, DType::F16] {
        let expected = convert(doubles.clone(), dtype).unwrap();
        assert!(convert(singles.clone(), dtype).unwrap().bytes() == expected.bytes());
    }
}

/// All numbers of 16 bits are widened exactly, and NaNs become quiet and keep sign and payload.
#[test]
fn half_of_the_bits_are_widened_exactly() {
    let bits: Vec<u16> = (0..=u16::MAX).collect();
    let brains: Vec<bf16> = bits.iter().map(|&bits| bf16::from_bits(bits)).collect();
    let widened: Vec<f32> = converted(&brains);
    for (&bits, found) in bits.iter().zip(widened) {
        let quiet = if bits & 0x7FFF > 0x7F80 { 0x40 } else { 0 };
        assert_eq!(found.to_bits(), u32::from(bits | quiet) << 16);
    }
    let halves: Vec<f16> = bits.iter().map(|&bits| f16::from_bits(bits)).collect();
    let widened: Vec<f32> = converted(&halves);
    for (&half, found) in halves.iter().zip(widened) {
        let bits = u32::from(half.to_bits());
        let (sign, magnitude) = (bits >> 15 << 31, bits & 0x7FFF);
        let expected = match magnitude {
            0x7C00 => sign | 0x7F80_0000,
            0x7C01.. => sign | 0x7FC0_0000 | (magnitude & 0x3FF) << 13,
            _ => {
                let exponent = (magnitude >> 10).max(1) as i32 - 15;
                let leading = if magnitude < 0x400 { 0 } else { 0x400 };
                let mantissa = (leading + (magnitude & 0x3FF)) as f32 / 1024.0;
                sign | (mantissa * 2f32.powi(exponent)).to_bits()
            }
        };
        assert_eq!(found.to_bits(), expected, "{bits:#x}");
    }
    let bytes: Vec<i8> = (-128..=127).collect();
    let expected: Vec<f32> = (-128..=127).map(|x: i32| x as f32).collect();
    assert_eq!(converted::<i8, f32>(&bytes), expected);
    assert_eq!(converted::<i8, i32>(&bytes), (-128..=127).collect::<Vec<i32>>());
    let bytes: Vec<u8> = (0..=255).collect();
    assert_eq!(converted::<u8, f32>(&bytes), (0..=255).map(|x: i32| x as f32).collect::<Vec<_>>());
    assert_eq!(converted::<u8, i32>(&bytes), (0..=255).collect::<Vec<i32>>());
}

/// Converts elements to every type, and compares with conversions of one at a time.
fn check_conversions<S: Element>(elements: &[S]) {
    for &to in DType::ALL {
        let Some(single) = ElementKernel::convert(S::DTYPE, to) else { continue };
        let converted = convert(vector(elements), to).unwrap();
        let size = to.bytes();
        for (&x, found) in elements.iter().zip(converted.bytes().chunks(size)) {
            let x = ScalarElement::new(x);
            let expected = single.apply(&x, &x).into_tensor();
            assert_eq!(found, &expected.bytes()[..], "{x:?} to {to}");
        }
    }
}

/// Numbers around those of `f32` near all numbers of 16 bits, halfway between two of them, and
/// pseudo-random ones.
fn critical_singles() -> Vec<f32> {
    let mut state = 1u64;
    let near = (0..=u16::MAX).flat_map(|high| {
        let bits = u32::from(high) << 16;
        let offsets = [0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFF, 0x1000, 0x1001, 0x2000, 0x3000];
        offsets.map(|low| f32::from_bits(bits | low))
    });
    let random = (0..1 << 14).map(move |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        f32::from_bits((state >> 32) as u32)
    });
    near.step_by(17).chain(random).collect()
}

#[test]
fn vectors_convert_as_single_elements_do() {
    check_conversions(&(0..=u16::MAX).map(f16::from_bits).collect::<Vec<_>>());
    check_conversions(&(0..=u16::MAX).map(bf16::from_bits).collect::<Vec<_>>());
    let bytes = || 0..=u8::MAX;
    check_conversions(&bytes().map(|bits| bits as i8).collect::<Vec<_>>());
    check_conversions(&bytes().collect::<Vec<_>>());
    check_conversions(&[I1::new(false), I1::new(true)].repeat(300));
    macro_rules! small {
        ($($ty:ident)*) => {$(
            // Often enough for a table.
            check_conversions(&bytes().chain(bytes()).map($ty::from_bits).collect::<Vec<_>>());
        )*};
    }
    small!(F4E2M1FN F8E3M4 F8E4M3 F8E4M3B11FNUZ F8E4M3FN F8E4M3FNUZ F8E5M2 F8E5M2FNUZ F8E8M0FNU);
    let singles = critical_singles();
    check_conversions(&singles);
    // With bits that `f32` does not have below, at and above a number.
    let doubles = singles.iter().step_by(3).flat_map(|&x| {
        let bits = f64::from(x).to_bits();
        [bits, bits + 1, bits.wrapping_sub(1), bits | 1 << 28].map(f64::from_bits)
    });
    let extremes = [1e-320, f64::MIN_POSITIVE, f64::MAX, -f64::MAX, 1e39, 65519.999999999, 65520.0];
    check_conversions(&doubles.chain(extremes).collect::<Vec<_>>());
    let integers = || (0..31).flat_map(|shift| (-9..=9).map(move |x: i64| (1 << shift) + x));
    let wide = (0..1i64 << 14).map(|x| x.wrapping_mul(0x1F35_79BD) as i32);
    check_conversions(&integers().map(|x| x as i32).chain(wide).collect::<Vec<_>>());
    check_conversions(&integers().map(|x| -x << 31 | x).collect::<Vec<_>>());
}
