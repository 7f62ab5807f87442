//! Tests of `simd/neighbours.rs`.

use numerics::simd::AddEights;
use numerics::{Complex32, Widen, bf16, f16};
use std::fmt::Debug;
use std::ops::Add;

/// Sums of numbers, of which the sum of each two is rounded.
fn check<S>(number: impl Fn(f32) -> S, unset: S::Sum)
where
    S: AddEights + Widen<S::Sum>,
    S::Sum: Add<Output = S::Sum> + PartialEq + Debug,
{
    // Blocks of every instruction set, and what is left of them.
    for count in [0, 1, 7, 8, 9, 16, 19, 31] {
        let number = |i: usize| number(((i * 2_654_435 % 1_000_003) as f32).sqrt());
        let elements: Vec<S> = (0..8 * count + 3).map(number).collect();
        for room in [count, count + 1] {
            let mut sums = vec![unset; room];
            S::add_eights(&elements, &mut sums);
            for (&sum, eight) in sums.iter().zip(elements.chunks_exact(8)) {
                let pairs: Vec<S::Sum> =
                    eight.chunks(2).map(|x| x[0].widen() + x[1].widen()).collect();
                assert_eq!(sum, (pairs[0] + pairs[1]) + (pairs[2] + pairs[3]), "{count}");
            }
            assert!(sums[count..].iter().all(|&x| x == unset));
        }
    }
    let signs = |zero: S::Sum| bytemuck::bytes_of(&zero).to_vec();
    let mut sums = [unset; 32];
    S::add_eights(&[S::NOTHING; 256], &mut sums);
    assert!(sums.iter().all(|&sum| signs(sum) == signs(S::Sum::NOTHING)), "zeros stay negative");
}

#[test]
fn eight_neighbours_are_a_tree() {
    check(|x| x, -1.0);
    check(|x| f64::from(x).sqrt(), -1.0);
    check(|x| Complex32::new(x, x.sqrt()), Complex32::new(-1.0, -1.0));
    check(bf16::from_f32, -1.0);
    check(f16::from_f32, -1.0);
}
