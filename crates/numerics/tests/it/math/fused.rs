//! Fused multiply-adds from other operations, against those of the target.

use numerics::math::fused::{fused_multiply_add, fused_multiply_add_f32};

/// Numbers that follow from a seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number with an exponent of at most `spread` more or less than 0.
    fn near(&mut self, spread: u64) -> f64 {
        let (bits, exponent) = (self.next(), self.next() % (2 * spread + 1));
        f64::from_bits((bits & !(0x7ff << 52)) | ((1023 - spread + exponent) << 52))
    }
}

#[track_caller]
fn check(x: f64, y: f64, z: f64) {
    let (found, expected) = (fused_multiply_add(x, y, z), x.mul_add(y, z));
    let is_same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
    assert!(is_same, "{x:e} * {y:e} + {z:e}: {found:e}, not {expected:e}");
}

#[track_caller]
fn check_f32(x: f32, y: f32, z: f32) {
    let (found, expected) = (fused_multiply_add_f32(x, y, z), x.mul_add(y, z));
    let is_same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
    assert!(is_same, "{x:e} * {y:e} + {z:e}: {found:e}, not {expected:e}");
}

#[test]
fn special_numbers() {
    let all = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        1.5,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        5e-324,
        -5e-324,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::EPSILON,
        1e300,
        1e-300,
        1e154,
        1e-162,
        3.0,
    ];
    for x in all {
        for y in all {
            for z in all {
                check(x, y, z);
                check_f32(x as f32, y as f32, z as f32);
            }
        }
    }
}

#[test]
fn sums_that_cancel_or_are_near_ties() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..200_000 {
        let (x, y) = if round % 4 == 0 {
            (random.near(400), random.near(400))
        } else {
            (random.near(3), random.near(3))
        };
        let product = x * y;
        let shift = (random.next() % 8) as i32;
        for z in [
            -product,
            f64::from_bits((-product).to_bits() ^ (random.next() % 16)),
            product * f64::powi(2.0, 50 + shift),
            -product * f64::powi(2.0, -50 - shift),
            random.near(60),
            f64::from_bits(random.next()),
        ] {
            check(x, y, z);
        }
        let (x, y) = (x as f32, y as f32);
        let product = x * y;
        for z in
            [-product, product * f32::powi(2.0, 20 + shift), f32::from_bits(random.next() as u32)]
        {
            check_f32(x, y, z);
        }
        check_f32(f32::from_bits(random.next() as u32), f32::from_bits(random.next() as u32), x);
    }
}
