//! Tests of `integers.rs`.

use numerics::{Arithmetic, Bitwise, I1, I2, I4, Integer, Number, Real, U2, U4};

/// Every operation of two integers against arithmetic in `i128`, for every pair.
fn check_all<T: Integer>() {
    let values: Vec<T> = (0..1i128 << T::BITS).map(T::from_i128).collect();
    let unsigned = |x: T| x.to_i128() & ((1 << T::BITS) - 1);
    let signed = |x: T| {
        let x = unsigned(x);
        if x >> (T::BITS - 1) == 1 { x - (1 << T::BITS) } else { x }
    };
    for &x in &values {
        let n = x.to_i128();
        assert!(T::MIN <= x && x <= T::MAX);
        assert_eq!(x.negate(), T::from_i128(-n));
        assert_eq!(x.abs(), T::from_i128(n.abs()));
        assert_eq!(x.sign(), T::from_i128(n.signum()));
        assert_eq!(x.not(), T::from_i128(!n));
        assert_eq!(x.popcnt(), T::from_i128(i128::from(unsigned(x).count_ones())));
        let leading = unsigned(x).leading_zeros() - (128 - T::BITS);
        assert_eq!(x.count_leading_zeros(), T::from_i128(i128::from(leading)));
        for &y in &values {
            let m = y.to_i128();
            assert_eq!(x.add(y), T::from_i128(n + m));
            assert_eq!(x.subtract(y), T::from_i128(n - m));
            assert_eq!(x.multiply(y), T::from_i128(n * m));
            assert_eq!(Number::maximum(x, y), T::from_i128(n.max(m)));
            assert_eq!(Number::minimum(x, y), T::from_i128(n.min(m)));
            assert_eq!(x.divide(y), T::from_i128(if m == 0 { -1 } else { n / m }));
            assert_eq!(x.remainder(y), if m == 0 { x } else { T::from_i128(n % m) });
            assert_eq!(x.and(y), T::from_i128(n & m));
            assert_eq!(x.or(y), T::from_i128(n | m));
            assert_eq!(x.xor(y), T::from_i128(n ^ m));
            let amount = unsigned(y).min(i128::from(T::BITS)) as u32;
            assert_eq!(x.shift_left(y), T::from_i128(n << amount));
            assert_eq!(x.shift_right_logical(y), T::from_i128(unsigned(x) >> amount));
            assert_eq!(x.shift_right_arithmetic(y), T::from_i128(signed(x) >> amount));
            let power = match m {
                0.. => (0..m).fold(T::ONE, |power, _| power.multiply(x)),
                _ if n == 1 || n == -1 => T::from_i128(n.pow(m.unsigned_abs() as u32)),
                _ => T::ZERO,
            };
            assert_eq!(x.power(y), power, "{n}^{m}");
        }
    }
}

#[test]
fn all_pairs() {
    check_all::<I2>();
    check_all::<I4>();
    check_all::<i8>();
    check_all::<U2>();
    check_all::<U4>();
    check_all::<u8>();
}

#[test]
fn ranges() {
    assert_eq!((I4::MIN, I4::MAX), (I4::new(-8), I4::new(7)));
    assert_eq!((<i64 as Integer>::MIN, <i64 as Integer>::MAX), (i64::MIN, i64::MAX));
    assert_eq!((<u64 as Integer>::MIN, <u64 as Integer>::MAX), (0, u64::MAX));
    assert_eq!(i64::MIN.divide(-1), i64::MIN);
    assert_eq!(i32::MIN.remainder(-1), 0);
    assert_eq!(1u64.shift_left(64), 0);
    assert_eq!((-1i32).shift_right_arithmetic(-1), -1);
}

#[test]
fn booleans() {
    let (no, yes) = (I1::new(false), I1::new(true));
    assert_eq!([yes.add(yes), yes.multiply(no), yes.xor(yes), no.not()], [yes, no, no, yes]);
}
