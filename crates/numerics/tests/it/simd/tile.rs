//! Tests of `simd/tile.rs`.

use numerics::simd::{ChainBlocks, Factors, Isa, ResultRows, Starts, Sums, TILE_ROWS, Tile};
use std::ops::Range;

const COLUMNS: usize = 32;

fn neighbours(start: usize, end: usize) -> ChainBlocks<'static> {
    ChainBlocks::Neighbours { start, end, length: 256 }
}

fn number(i: usize) -> f32 {
    1.0 / (1 + i * 37 % 101) as f32 - 0.3
}

#[test]
fn chains_are_fused_multiply_adds() {
    for isa in Isa::available() {
        for (depth, count) in
            [(1, 12), (7, 11), (100, 7), (5, 4), (5, 3), (9, 1), (0, 9), (40, 12), (6, 49)]
        {
            for columns in [32, 31, 17, 16, 9, 1] {
                check(isa, depth, count, columns);
            }
        }
    }
}

#[test]
fn integers_wrap() {
    let number = |i: usize| (i as i32).wrapping_mul(0x9E37_79B9_u32 as i32);
    let (depth, count, columns) = (37, 8, 29);
    let elements: Vec<i32> = (0..count * depth).map(number).collect();
    let panel: Vec<i32> = (0..depth * COLUMNS).map(|i| number(7 * i)).collect();
    for isa in Isa::available() {
        let mut results = vec![0; count * columns];
        let runs = &[0..depth / 2, depth / 2..depth];
        let mut factors = Factors {
            elements: &elements,
            starts: Starts::Distance(depth),
            count,
            blocks: ChainBlocks::Runs { runs, start: 0, ends: &[2] },
            panel: (&panel, COLUMNS),
            columns,
            copy: None,
            next: &[],
        };
        if !i32::tree(isa, &mut factors, &mut whole(&mut [], strided(&mut results, columns))) {
            assert!(!isa.has_vectors());
            continue;
        }
        for (at, &found) in results.iter().enumerate() {
            let (r, c) = (at / columns, at % columns);
            let product = |k: usize| elements[r * depth + k].wrapping_mul(panel[k * COLUMNS + c]);
            assert_eq!(found, (0..depth).map(product).fold(0, i32::wrapping_add));
        }
    }
}

fn strided<T>(results: &mut [T], stride: usize) -> ResultRows<'_, '_, T> {
    ResultRows::Strided(results, stride)
}

/// Sums of one call, with scratch for subtrees.
fn whole<'a, 'o, T>(levels: &'a mut [T], results: ResultRows<'a, 'o, T>) -> Sums<'a, 'o, T> {
    Sums { blocks: (0, 1), levels, upper_levels: &mut [], results }
}

/// Combines sums of blocks: neighbours of equal size are added, and in the end the others from the
/// right on.
fn tree(blocks: impl Iterator<Item = f32>) -> f32 {
    let mut subtrees: Vec<(usize, f32)> = Vec::new();
    for sum in blocks {
        let mut subtree = (1, sum);
        while let Some((size, left)) = subtrees.pop_if(|(size, _)| *size == subtree.0) {
            subtree = (2 * size, left + subtree.1);
        }
        subtrees.push(subtree);
    }
    subtrees.iter().map(|&(_, sum)| sum).rev().reduce(|right, left| left + right).unwrap_or(0.0)
}

fn check(isa: Isa, depth: usize, count: usize, columns: usize) {
    let (third, length) = (depth / 3, depth / 5 + 1);
    let neighbours = |length| ChainBlocks::Neighbours { start: 0, end: depth, length };
    // As a whole, in two runs in the other order, in blocks, and in blocks of several runs or none.
    let (swapped, runs) = ([third..depth, 0..third], [0..third, third..depth, 0..third, 0..third]);
    let places: Vec<usize> = (0..count).map(|r| r * depth + r / 5 % 2).collect();
    let backwards: Vec<usize> = (0..count).rev().map(|r| r * depth).collect();
    let elements: Vec<f32> = (0..count * depth + 1).map(number).collect();
    for (blocks, starts) in [
        (neighbours(depth.max(1)), Starts::Distance(depth)),
        (neighbours(length), Starts::Distance(depth)),
        (neighbours(length), Starts::Places(&places)),
        (neighbours(length), Starts::Places(&backwards)),
        (ChainBlocks::Runs { runs: &swapped, start: 0, ends: &[2] }, Starts::Distance(depth)),
        (ChainBlocks::Runs { runs: &runs, start: 1, ends: &[2, 4, 4] }, Starts::Places(&places)),
    ] {
        let all: Vec<_> =
            (0..blocks.count()).map(|b| blocks.runs(b, &mut (0..0)).to_vec()).collect();
        let products: usize = all.iter().flatten().map(ExactSizeIterator::len).sum();
        let stride = COLUMNS + depth % 3;
        let panel: Vec<f32> = (0..products * stride).map(|i| number(7 * i)).collect();
        let expected = |r: usize, c: usize| {
            let mut n = 0;
            let chain = |runs: &Vec<Range<usize>>| {
                runs.iter().cloned().flatten().fold(0.0, |sum: f32, k| {
                    n += 1;
                    elements[starts.of(r) + k].mul_add(panel[(n - 1) * stride + c], sum)
                })
            };
            tree(all.iter().map(chain)) + 0.0
        };
        let mut factors = Factors {
            elements: &elements,
            starts,
            count,
            blocks,
            panel: (&panel, stride),
            columns,
            copy: None,
            next: &[],
        };
        let mut levels = vec![f32::NAN; 4 * TILE_ROWS * COLUMNS];
        let mut results = vec![f32::NAN; count * columns];
        let mut to = whole(&mut levels, strided(&mut results, columns));
        to.blocks.1 = blocks.count();
        if !f32::tree(isa, &mut factors, &mut to) {
            assert!(!isa.has_vectors());
            return;
        }
        for (at, found) in results.iter().enumerate() {
            let expected = expected(at / columns, at % columns);
            assert_eq!(found.to_bits(), expected.to_bits(), "{at} of {count} x {columns}");
        }
        // With a copy, and results in rows from their second element on.
        let mut copy = vec![0.0; products * COLUMNS];
        let mut again = vec![vec![7.0; columns + 2]; count];
        let mut rows: Vec<&mut [f32]> = again.iter_mut().map(|row| &mut row[..]).collect();
        let mut to = whole(&mut levels, ResultRows::Rows(&mut rows, 1));
        to.blocks.1 = blocks.count();
        assert!(f32::tree(isa, &mut Factors { copy: Some(&mut copy), ..factors }, &mut to));
        for (row, result) in again.iter().zip(results.chunks(columns)) {
            assert_eq!(row[1..=columns], *result);
            assert_eq!([row[0], row[columns + 1]], [7.0; 2], "no other columns are written");
        }
        for (row, copy) in panel.chunks(stride).zip(copy.chunks(COLUMNS)) {
            assert_eq!(row[..COLUMNS], *copy);
        }
    }
}

/// Two blocks at a time, whose larger subtrees are kept for each tile.
#[test]
fn trees_go_on() {
    let (depth, count) = (70, 30);
    let elements: Vec<f32> = (0..count * depth).map(number).collect();
    let panel: Vec<f32> = (0..depth * COLUMNS).map(|i| number(7 * i)).collect();
    for isa in Isa::available() {
        // Seven blocks, one level that is shared, and two for each tile of rows.
        let tile = TILE_ROWS * COLUMNS;
        let (mut levels, mut upper_levels) = (vec![0.0; tile], vec![0.0; 3 * 2 * tile]);
        let (mut results, mut done) = (vec![0.0; count * COLUMNS], true);
        for first in (0..7).step_by(2) {
            let (start, end) = (10 * first, depth.min(10 * first + 20));
            let mut factors = Factors {
                elements: &elements,
                starts: Starts::Distance(depth),
                count,
                blocks: ChainBlocks::Neighbours { start, end, length: 10 },
                panel: (&panel[start * COLUMNS..], COLUMNS),
                columns: COLUMNS,
                copy: None,
                next: &[],
            };
            let mut to = Sums {
                blocks: (first, 7),
                levels: &mut levels,
                upper_levels: &mut upper_levels,
                results: strided(&mut results, COLUMNS),
            };
            done &= f32::tree(isa, &mut factors, &mut to);
        }
        assert_eq!(done, isa.has_vectors());
        for (at, found) in results.iter().enumerate().filter(|_| done) {
            let (r, c) = (at / COLUMNS, at % COLUMNS);
            let product =
                |sum: f32, k: usize| elements[r * depth + k].mul_add(panel[k * COLUMNS + c], sum);
            let chain = |block: usize| (10 * block..10 * block + 10).fold(0.0, product);
            assert_eq!(found.to_bits(), (tree((0..7).map(chain)) + 0.0).to_bits(), "{at}");
        }
    }
}

#[test]
fn results_are_quiet_and_positive_zeros() {
    let negative = f64::from_bits(0xFFF8_0000_0000_0123);
    for isa in Isa::available() {
        let mut results = [1.0; 6];
        let mut factors = Factors {
            elements: &[negative, -0.0, 1.0],
            starts: Starts::Distance(1),
            count: 3,
            blocks: neighbours(0, 1),
            panel: (&[3.0; 16], 16),
            columns: 2,
            copy: None,
            next: &[],
        };
        if f64::tree(isa, &mut factors, &mut whole(&mut [], strided(&mut results, 2))) {
            let quiet = 0x7FF8_0000_0000_0000;
            let three = 3f64.to_bits();
            let expected = [quiet, quiet, 0, 0, three, three];
            assert_eq!(results.map(f64::to_bits), expected, "{isa:?}");
        }
    }
}

#[test]
fn no_columns_are_no_results() {
    for isa in Isa::available() {
        let mut factors = Factors {
            elements: &[1.0; 6],
            starts: Starts::Distance(2),
            count: 3,
            blocks: neighbours(0, 2),
            panel: (&[1.0; 64], 32),
            columns: 0,
            copy: None,
            next: &[],
        };
        let results = &mut [];
        f32::tree(isa, &mut factors, &mut whole(&mut [], strided(results, 0)));
    }
}

/// Nothing is read or written beside slices.
#[test]
fn short_slices() {
    let (one, two) = (neighbours(0, 1), neighbours(0, 2));
    let elements = &[1.0; 6][..];
    let (panel, narrow) = (&[1.0; 32][..], &[1.0; 15][..]);
    let of = |elements, starts, blocks, panel| Factors {
        elements,
        starts,
        count: 3,
        blocks,
        panel,
        columns: 16,
        copy: None,
        next: &[],
    };
    let even = Starts::Distance(2);
    let mut results = [0.0; 48];
    let mut tree = |factors: &mut Factors<'_, f64>, length: usize, stride: usize, total: usize| {
        let mut to = whole(&mut [], strided(&mut results[..length], stride));
        to.blocks.1 = total;
        f64::tree(Isa::best(), factors, &mut to)
    };
    for mut factors in [
        of(&elements[1..], even, two, (panel, 16)),
        of(elements, Starts::Places(&[0, 1]), one, (panel, 16)),
        of(elements, Starts::Places(&[0, 9, 1]), one, (panel, 16)),
        of(elements, Starts::Distance(usize::MAX), one, (panel, 16)),
        of(elements, even, one, (narrow, 16)),
        of(elements, even, two, (panel, 17)),
        of(elements, even, neighbours(2, 3), (panel, 16)),
    ] {
        assert!(!tree(&mut factors, 48, 16, 1));
    }
    // A run that begins after its end.
    let (start, end) = (usize::MAX, 2);
    let runs = [0..1, start..end];
    let backwards = ChainBlocks::Runs { runs: &runs, start: 0, ends: &[2] };
    assert!(!tree(&mut of(elements, even, backwards, (panel, 16)), 48, 16, 1));
    let mut factors = of(elements, even, two, (panel, 16));
    assert_eq!(tree(&mut factors, 48, 16, 1), Isa::best().has_vectors());
    assert!(!tree(&mut factors, 47, 16, 1), "results");
    assert!(!tree(&mut factors, 48, 17, 1), "results with a distance");
    assert!(!tree(&mut factors, 48, 16, 2), "room for the first of two blocks");
    let mut copy = [0.0; 31];
    let mut factors = Factors { copy: Some(&mut copy), ..of(elements, even, two, (panel, 16)) };
    assert!(!tree(&mut factors, 48, 16, 1), "a copy");
}
