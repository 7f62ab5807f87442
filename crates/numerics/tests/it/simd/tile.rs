//! Tests of `simd/tile.rs`.

use numerics::simd::{Factors, Isa, Sums, TILE_ROWS, Tile};
use std::ops::Range;

const COLUMNS: usize = 32;

fn number(i: usize) -> f32 {
    1.0 / (1 + i * 37 % 101) as f32 - 0.3
}

#[test]
fn chains_are_fused_multiply_adds() {
    for isa in Isa::available() {
        for (depth, used) in [(1, 12), (7, 11), (100, 7), (9, 6), (5, 4), (5, 3), (9, 1), (0, 9)] {
            for columns in [32, 31, 17, 16, 9, 1] {
                check(isa, depth, used, columns);
            }
        }
    }
}

#[test]
fn integers_wrap() {
    let number = |i: usize| (i as i32).wrapping_mul(0x9E37_79B9_u32 as i32);
    let (depth, used, columns) = (37, 8, 29);
    let row = |r: usize| -> Vec<i32> { (0..depth).map(|k| number(r * 31 + k)).collect() };
    let a: Vec<Vec<i32>> = (0..TILE_ROWS).map(row).collect();
    let rows: Vec<&[i32]> = a.iter().map(|row| &row[..]).collect();
    let panel: Vec<i32> = (0..depth * COLUMNS).map(|i| number(7 * i)).collect();
    for isa in Isa::available() {
        let mut sums = [0; TILE_ROWS * COLUMNS];
        let mut results = vec![0; used * columns];
        let mut places: Vec<&mut [i32]> = results.chunks_mut(columns).collect();
        let panel = (&panel[..], COLUMNS);
        let segments = &[0..depth / 2, depth / 2..depth];
        let mut factors =
            Factors { rows: &rows, used, segments, panel, columns, copy: None, next: &[] };
        let mut to = Sums { tile: &mut sums, left: (&[], 0), results: Some(&mut places) };
        if !i32::chains(isa, &mut factors, &mut to) {
            assert!(!isa.has_vectors());
            continue;
        }
        for (at, &found) in results.iter().enumerate() {
            let (r, c) = (at / columns, at % columns);
            let products = (0..depth).map(|k| a[r][k].wrapping_mul(panel.0[k * COLUMNS + c]));
            assert_eq!(found, products.fold(0, i32::wrapping_add));
        }
    }
}

fn check(isa: Isa, depth: usize, used: usize, columns: usize) {
    // The elements as they are, and in two segments in the other order.
    let (whole, third) = (0..depth, depth / 3);
    for segments in [vec![whole], vec![third..depth, 0..third]] {
        let row = |r: usize| (0..depth).map(|k| number(r * 31 + k)).collect();
        let stride = COLUMNS + depth % 3;
        let a: Vec<Vec<f32>> = (0..TILE_ROWS).map(row).collect();
        let rows: Vec<&[f32]> = a.iter().map(|row| &row[..]).collect();
        let panel: Vec<f32> = (0..depth * stride).map(|i| number(7 * i)).collect();
        let mut copy = vec![0.0; depth * COLUMNS];
        let expected = |r: usize, c: usize| {
            let elements = segments.iter().cloned().flatten().zip(0..);
            elements.fold(0.0, |sum: f32, (k, n)| a[r][k].mul_add(panel[n * stride + c], sum))
        };
        let (rows, panel, segments) = (&rows[..], (&panel[..], stride), &segments[..]);
        let factors = |copy| Factors { rows, used, segments, panel, columns, copy, next: &[] };
        let mut sums = [f32::NAN; TILE_ROWS * COLUMNS];
        let mut results = vec![f32::NAN; used * columns];
        let mut places: Vec<&mut [f32]> = results.chunks_mut(columns).collect();
        if !f32::chains(
            isa,
            &mut factors(None),
            &mut Sums { tile: &mut sums, left: (&[], 0), results: Some(&mut places) },
        ) {
            assert!(!isa.has_vectors());
            return;
        }
        // With a copy, all columns are computed, and no others than the used ones written.
        let mut unread = copy.clone();
        let mut again = vec![f32::NAN; used * columns];
        let mut places: Vec<&mut [f32]> = again.chunks_mut(columns).collect();
        let mut to = Sums { tile: &mut sums, left: (&[], 0), results: Some(&mut places) };
        assert!(f32::chains(isa, &mut factors(Some(&mut unread)), &mut to));
        assert_eq!(again, results);
        for (at, found) in results.iter().enumerate() {
            let expected = expected(at / columns, at % columns) + 0.0;
            assert_eq!(found.to_bits(), expected.to_bits(), "{at} of {used} x {columns}");
        }
        assert!(f32::chains(
            isa,
            &mut factors(Some(&mut copy)),
            &mut Sums { tile: &mut sums, left: (&[], 0), results: None }
        ));
        // Two of three tiles on the left.
        let tile = TILE_ROWS * COLUMNS;
        let left: Vec<f32> = (0..3 * tile).map(|i| number(11 * i)).collect();
        let mut total = [f32::NAN; TILE_ROWS * COLUMNS];
        let mut with_left = Sums { tile: &mut total, left: (&left, 5), results: None };
        assert!(f32::chains(isa, &mut factors(None), &mut with_left));
        for (row, copy) in panel.0.chunks(stride).zip(copy.chunks(COLUMNS)) {
            assert_eq!(row[..COLUMNS], *copy);
        }
        let is_used = |&(at, _): &(usize, &f32)| at % COLUMNS < columns;
        for (at, found) in sums[..used * COLUMNS].iter().enumerate().filter(is_used) {
            let expected = expected(at / COLUMNS, at % COLUMNS);
            assert_eq!(found.to_bits(), expected.to_bits(), "{at} of {used} rows");
            let expected = left[2 * tile + at] + (left[at] + expected);
            assert_eq!(total[at].to_bits(), expected.to_bits(), "{at} of {used} rows");
        }
    }
}

#[test]
fn results_are_quiet_and_positive_zeros() {
    let negative = f64::from_bits(0xFFF8_0000_0000_0123);
    let a = [[negative], [-0.0], [1.0]];
    let rows: Vec<&[f64]> = (0..TILE_ROWS).map(|r| &a[r.min(2)][..]).collect();
    for isa in Isa::available() {
        let (mut results, mut sums) = ([1.0; 6], [1.0; TILE_ROWS * 16]);
        let mut places: Vec<&mut [f64]> = results.chunks_mut(2).collect();
        let segments = &[Range { start: 0, end: 1 }];
        let panel = (&[3.0; 16][..], 16);
        let mut factors =
            Factors { rows: &rows, used: 3, segments, panel, columns: 2, copy: None, next: &[] };
        if f64::chains(
            isa,
            &mut factors,
            &mut Sums { tile: &mut sums, left: (&[], 0), results: Some(&mut places) },
        ) {
            let quiet = 0x7FF8_0000_0000_0000;
            let three = 3f64.to_bits();
            let expected = [quiet, quiet, 0, 0, three, three];
            assert_eq!(results.map(f64::to_bits), expected, "{isa:?}");
        }
    }
}

#[test]
fn no_columns_are_no_results() {
    let rows = [&[1.0; 2][..]; TILE_ROWS];
    let mut factors = Factors {
        rows: &rows,
        used: 3,
        segments: &[Range { start: 0, end: 2 }],
        panel: (&[1.0; 64], 32),
        columns: 0,
        copy: None,
        next: &[],
    };
    let mut sums = [0f32; COLUMNS * TILE_ROWS];
    let mut places = [&mut [][..], &mut [], &mut []];
    for isa in Isa::available() {
        let results = Some(&mut places[..]);
        f32::chains(isa, &mut factors, &mut Sums { tile: &mut sums, left: (&[], 0), results });
    }
}

#[test]
fn other_sizes_than_those_of_tiles() {
    let one = std::slice::from_ref(&(0..1));
    let two = std::slice::from_ref(&(0..2));
    let rows = [&[1.0; 2][..]; TILE_ROWS];
    let (wide, narrow) = (&[1.0; 32][..], &[1.0; 15][..]);
    let of = |rows, segments, panel| Factors {
        rows,
        used: 3,
        segments,
        panel,
        columns: 16,
        copy: None,
        next: &[],
    };
    for mut factors in [
        of(&rows[1..], one, (wide, 16)),
        of(&rows, one, (narrow, 16)),
        of(&rows, two, (wide, 17)),
        of(&rows, std::slice::from_ref(&(2..3)), (wide, 16)),
    ] {
        let mut sums = [0.0; 16 * TILE_ROWS];
        assert!(!f64::chains(
            Isa::best(),
            &mut factors,
            &mut Sums { tile: &mut sums, left: (&[], 0), results: None }
        ));
    }
    let mut few = [0.0; 8 * TILE_ROWS];
    let mut factors = of(&rows, one, (wide, 16));
    assert!(!f64::chains(
        Isa::best(),
        &mut factors,
        &mut Sums { tile: &mut few, left: (&[], 0), results: None }
    ));
}
