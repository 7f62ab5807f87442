//! Tests of `pairs.rs`.

use numerics::simd::{Isa, PAIR_COLUMNS, PAIR_ROWS, Pair, multiply_pairs};

/// All instruction sets give the sums of 64 bits, of which the lower half is kept.
#[test]
fn sums_of_pairs_are_exact() {
    let mut state = 3_u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        match state >> 60 {
            0 => 0x8000_8000,
            1 => 0x7FFF_8000,
            _ => (state >> 20) as Pair,
        }
    };
    for depth in [0, 1, 2, 7, 300] {
        let rows: Vec<Vec<Pair>> =
            (0..PAIR_ROWS).map(|_| (0..depth).map(|_| next()).collect()).collect();
        let panel: Vec<[Pair; PAIR_COLUMNS]> =
            (0..depth).map(|_| std::array::from_fn(|_| next())).collect();
        let halves = |pair: Pair| [pair as i16, (pair >> 16) as i16].map(i64::from);
        for isa in Isa::available() {
            let slices = std::array::from_fn(|r| &rows[r][..]);
            let found = multiply_pairs(isa, slices, &panel);
            for (r, sums) in found.iter().enumerate() {
                for (c, &sum) in sums.iter().enumerate() {
                    let products = rows[r].iter().zip(&panel).map(|(&a, b)| {
                        let ([a, x], [b, y]) = (halves(a), halves(b[c]));
                        a * b + x * y
                    });
                    assert_eq!(sum, products.sum::<i64>() as i32, "{isa:?} {depth} {r} {c}");
                }
            }
        }
    }
}
