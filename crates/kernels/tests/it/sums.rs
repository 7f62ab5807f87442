//! Tests of `sums.rs`.

use kernels::Tree;
use kernels::short_rows::combine_rows;
use kernels::sums::{Addition, Combine, Commutative, WindowLines, combine_columns};
use numerics::simd::AddEights;
use numerics::{Complex32, Number};
use std::fmt::Debug;

/// The definition: halves, the left one with a power of two of the elements.
fn defined<T: Copy>(elements: &[T], f: &impl Fn(T, T) -> T) -> T {
    match elements {
        [x] => *x,
        _ => {
            let (left, right) = elements.split_at(elements.len().next_power_of_two() / 2);
            f(defined(left, f), defined(right, f))
        }
    }
}

/// Neither associative nor commutative, so that it shows every change of order.
fn mix(x: u64, y: u64) -> u64 {
    (x ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(31).rotate_left(7) ^ y.wrapping_mul(17)
}

fn floats(len: usize) -> Vec<f32> {
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        // Of both signs, from 2^-12 to 2^12, with 24 bits.
        let exponent = (state >> 40) as u32 % 24 + 115;
        f32::from_bits((state >> 32) as u32 & 0x807F_FFFF | exponent << 23)
    };
    (0..len).map(|_| next()).collect()
}

/// Rows of `len` numbers, added eight neighbours at a time where that is faster.
fn check_addition<T>(numbers: &[T], len: usize)
where
    T: AddEights<Sum = T> + Number + PartialEq + Debug,
{
    let add = <T as Number>::add;
    let mut out = vec![T::NOTHING; numbers.len() / len];
    combine_rows(numbers, len, &Addition(add), &mut out);
    let expected: Vec<T> = numbers.chunks(len).map(|row| defined(row, &add)).collect();
    assert_eq!(out, expected, "{len}");
}

#[test]
fn rows_are_trees() {
    let lengths = (1..=520).chain([767, 768, 1000, 1023, 1024, 1025, 4096, 4097, 70_001]);
    for len in lengths {
        let rows = 2 + 3000 / len;
        let all: Vec<u64> = (0..(rows * len + 5) as u64).collect();
        let elements = &all[..rows * len];
        let mut out = vec![0; rows];
        combine_rows(&all, len, &mix, &mut out);
        let expected: Vec<u64> = elements.chunks(len).map(|row| defined(row, &mix)).collect();
        assert_eq!(out, expected, "{len}");
        // Where any order does.
        let sum = |x: u64, y: u64| x.wrapping_add(y);
        combine_rows(&all, len, &Commutative(sum), &mut out);
        let expected: Vec<u64> = elements.chunks(len).map(|row| row.iter().sum()).collect();
        assert_eq!(out, expected, "{len}");
        // Of numbers whose sums are rounded.
        let root = |&x: &u64| (x as f64).sqrt();
        check_addition(&elements.iter().map(root).collect::<Vec<f64>>(), len);
        check_addition(&elements.iter().map(|x| root(x) as f32).collect::<Vec<f32>>(), len);
        let complex = |x: &u64| Complex32::new(root(x) as f32, -(*x as f32).cbrt());
        check_addition(&elements.iter().map(complex).collect::<Vec<Complex32>>(), len);
    }
    let mut out = [3u64];
    combine_rows(&[], 0, &mix, &mut out);
    assert_eq!(out, [3]);
}

#[test]
fn columns_are_trees() {
    for (count, columns, stride) in
        (1..=40).map(|n| (n, 3, 1)).chain([(9, 1, 2), (70, 5, 3), (13, 1100, 1), (6, 600, 2)])
    {
        // Rows overlap, as those of windows do.
        let row = |i: usize| 7 * (i % 5) + i;
        let len = row(count + 4) + columns * stride + 40;
        let elements: Vec<u64> = (0..len as u64).map(|x| x * x).collect();
        let mut out = vec![0; columns];
        combine_columns(&elements, stride, count, &row, &mix, &mut out);
        for (j, out) in out.into_iter().enumerate() {
            let column: Vec<u64> = (0..count).map(|i| elements[row(i) + j * stride]).collect();
            assert_eq!(out, defined(&column, &mix), "{count} x {columns}");
        }
    }
}

#[test]
fn chains_go_from_left_to_right() {
    let elements: Vec<u64> = (0..400).map(|x| x * x).collect();
    for (line, stride) in [(1, 1), (3, 2), (8, 1), (45, 1), (45, 3), (70, 2)] {
        let (line_starts, taps) = ([5, 0, 100], [7, 0, 31]);
        let mut out: Vec<u64> = (0..3 * line as u64).collect();
        let windows = WindowLines { line_starts: &line_starts, stride, taps: &taps };
        mix.chain(&elements, windows, &mut out);
        for (number, &found) in out.iter().enumerate() {
            let start = line_starts[number / line] + number % line * stride;
            let expected = taps.iter().fold(number as u64, |x, tap| mix(x, elements[start + tap]));
            assert_eq!(found, expected, "{line} windows, {stride} apart");
        }
    }
}

#[test]
fn errors_pass_through_a_tree() {
    let mut tree = Tree::new();
    let refuse = |_: u8, _: u8| Err("refused");
    assert_eq!(tree.try_push(1, refuse), Ok(()));
    assert_eq!(tree.try_push(2, refuse), Err("refused"));
    assert_eq!(Tree::<u8>::new().finish(|x, _| x), None);
}

/// A hardware reduction may fill its vectors with numbers that change no other number.
#[test]
fn neutral_elements_change_nothing() {
    for len in [1usize, 2, 3, 5, 13, 100, 257] {
        for mut elements in [floats(len), vec![-0.0; len]] {
            let sum = defined(&elements, &|x, y| x + y);
            elements.resize(len.next_power_of_two(), -0.0);
            assert_eq!(sum.to_bits(), defined(&elements, &|x, y| x + y).to_bits(), "{len}");
        }
    }
}

/// Sums are compared with exact ones: all numbers here are multiples of 2^-36, and an `i128`
/// holds the sums of these.
#[test]
fn errors_grow_with_the_logarithm() {
    let exact = |x: f32| (f64::from(x) * 2f64.powi(36)) as i128;
    for len in [1usize, 2, 10, 1000, 65_536, 1_000_000] {
        let elements = floats(len);
        let mut out = [0.0];
        combine_rows(&elements, len, &|x: f32, y: f32| x + y, &mut out);
        let sum: i128 = elements.iter().map(|&x| exact(x)).sum();
        let magnitude: i128 = elements.iter().map(|&x| exact(x.abs())).sum();
        let depth = f64::from(len.next_power_of_two().trailing_zeros());
        let bound = depth * 2f64.powi(-24) * (1.0 + 1e-6) * magnitude as f64;
        assert!((exact(out[0]) - sum).abs() as f64 <= bound, "{len}");
    }
}
