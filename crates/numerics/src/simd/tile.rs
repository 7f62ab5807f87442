//! Sums of products in registers, with the instructions that the machine has for them.
//!
//! The compiler vectorizes a generic loop over a tile of sums in some builds and not in others, by
//! a factor of twenty; so there are loops with vectors of their own for the types that programs
//! multiply most.

use super::Isa;
use crate::{Complex32, Complex64, I1};
use std::ops::Range;

/// Rows of a tile in vector registers.
pub const TILE_ROWS: usize = 12;

/// The factors of a tile of sums of products, of rows with the columns of a panel.
pub struct Factors<'a, T> {
    /// As many rows as a tile has,
    pub rows: &'a [&'a [T]],
    /// of which so many are used;
    pub used: usize,
    /// and where their elements are, one after the other.
    pub segments: &'a [Range<usize>],
    /// The columns: a row for each element of the others, of as many columns as a tile has, and
    /// the distance between these rows,
    pub panel: (&'a [T], usize),
    /// of which so many are used.
    pub columns: usize,
    /// Where the rows of the panel are copied to, one after the other, if they are. Then those on
    /// their right are asked for, which are the rows of the next panel.
    pub copy: Option<&'a mut [T]>,
}

/// Where the sums of a tile are written.
pub struct Sums<'a, 'o, T> {
    /// Room for all of them, row by row.
    pub tile: &'a mut [T],
    /// Tiles of sums, one after the other, of which those with a bit here are added on the left,
    /// from the first one on.
    pub left: (&'a [T], usize),
    /// If given, the used sums are written here instead, as results: zeros are positive, and each
    /// NaN is the quiet one without sign and payload. Used rows have a part, of as many elements as
    /// there are used columns.
    pub results: Option<&'a mut [&'o mut [T]]>,
}

/// A type with a tile of sums in vector registers.
pub trait Tile: Sized {
    /// True if some machines have instructions for it.
    const HAS_TILES: bool = false;

    /// Writes the sums of products of each used row with each used column: chains of fused
    /// multiply-adds from zero on, in the order of the elements. False, and nothing is written, if
    /// there are no instructions for the type, or the sizes are not those of a tile.
    #[inline(always)]
    fn chains(_isa: Isa, _factors: &mut Factors<'_, Self>, _sums: &mut Sums<'_, '_, Self>) -> bool {
        false
    }
}

/// Tiles of AVX2 and NEON, as several parts one after the other, and of AVX-512.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod vectors {
    use super::{Factors, Isa, Sums, TILE_ROWS, Tile};
    use std::ops::Range;

    /// Factors and room for sums, whose sizes are checked.
    struct Checked<'a, T> {
        rows: [*const T; TILE_ROWS],
        segments: &'a [Range<usize>],
        panel: *const T,
        stride: usize,
        copy: Option<*mut T>,
        left: *const T,
        /// Bits of those that are added.
        added: usize,
        sums: [*mut T; TILE_ROWS],
        are_results: bool,
        /// True if results are written to their places at once.
        are_in_place: bool,
    }

    impl<'a, T: Copy> Checked<'a, T> {
        /// `None` if something is too short for tiles of so many columns, of which vectors have
        /// `lanes` each.
        #[inline(always)]
        fn new(
            factors: &mut Factors<'a, T>,
            sums: &mut Sums<'_, '_, T>,
            columns: usize,
            lanes: usize,
        ) -> Option<Checked<'a, T>> {
            let (mut depth, mut end) = (0, 0);
            for segment in factors.segments {
                depth += segment.len();
                end = end.max(segment.end);
            }
            let rows = <&[&[T]; TILE_ROWS]>::try_from(factors.rows).ok()?;
            let (panel, stride) = factors.panel;
            let last = depth.saturating_sub(1).saturating_mul(stride);
            let is_long = depth == 0 || last.saturating_add(columns) <= panel.len();
            let copy = factors.copy.as_deref_mut();
            let has_room = copy.as_ref().is_none_or(|copy| copy.len() / columns >= depth);
            let fits = rows.iter().all(|row| row.len() >= end) && is_long && has_room;
            let (left, added) = sums.left;
            let tiles = (usize::BITS - added.leading_zeros()) as usize;
            let has_left = left.len() / (TILE_ROWS * columns) >= tiles;
            if !(fits && has_left && sums.tile.len() == TILE_ROWS * columns) {
                return None;
            }
            let tile = sums.tile.as_mut_ptr();
            let mut places = [tile; TILE_ROWS];
            for (r, place) in places.iter_mut().enumerate() {
                *place = tile.wrapping_add(r * columns);
            }
            let used = factors.columns;
            // The columns that are written: of whole vectors, and all of them with a copy.
            let are_in_place = used == columns || (used == lanes && copy.is_none());
            if let Some(results) = &mut sums.results
                && are_in_place
            {
                for (place, result) in places.iter_mut().zip(results.iter_mut()) {
                    if result.len() == used {
                        *place = result.as_mut_ptr();
                    }
                }
            }
            Some(Checked {
                rows: rows.map(<[T]>::as_ptr),
                segments: factors.segments,
                panel: panel.as_ptr(),
                stride,
                copy: copy.map(<[T]>::as_mut_ptr),
                left: left.as_ptr(),
                added,
                sums: places,
                are_results: sums.results.is_some(),
                are_in_place,
            })
        }
    }

    /// A module with chains of `R` rows and `V` vectors of columns each.
    macro_rules! chains {
        ($($module:ident $features:literal $ty:ident $columns:literal;)*) => {$(
            mod $module {
                use super::{Checked, TILE_ROWS};
                use crate::simd::prefetch_at;
                use crate::simd::registers::$module::{
                    LANES, add, fused_multiply_add, load, results, splat, store, zero,
                };

                /// Writes sums of `R` rows from `row` on with `V` vectors of columns from `column`
                /// on.
                ///
                /// # Safety
                /// These rows and columns are in the tile. If its sums are results, the columns
                /// are used.
                #[target_feature(enable = $features)]
                pub unsafe fn chains<const R: usize, const V: usize, const COPY: bool>(
                    checked: &Checked<'_, $ty>,
                    [row, column]: [usize; 2],
                ) {
                    const { assert!(R <= TILE_ROWS && V * LANES <= $columns) }
                    let mut chains = [[zero(); V]; R];
                    let (mut rows, mut sums) = ([checked.rows[row]; R], [checked.sums[row]; R]);
                    rows.copy_from_slice(&checked.rows[row..][..R]);
                    sums.copy_from_slice(&checked.sums[row..][..R]);
                    let mut panel = checked.panel.wrapping_add(column);
                    let mut copy = checked.copy.unwrap_or_default().wrapping_add(column);
                    for segment in checked.segments {
                        for k in segment.clone() {
                            let mut columns = [zero(); V];
                            for (v, columns) in columns.iter_mut().enumerate() {
                                // SAFETY: the panel has a row of all columns for each element.
                                *columns = unsafe { load(panel.add(v * LANES)) };
                                if COPY {
                                    // SAFETY: so has the copy.
                                    unsafe { store(copy.add(v * LANES), *columns) };
                                    // The last element, as the first may be in a line just read.
                                    let right = $columns + (v + 1) * LANES - 1;
                                    prefetch_at(panel.wrapping_add(right));
                                }
                            }
                            panel = panel.wrapping_add(checked.stride);
                            copy = copy.wrapping_add($columns);
                            for (chain, row) in chains.iter_mut().zip(rows) {
                                // SAFETY: each row has the elements of the segments.
                                let a = splat(unsafe { *row.add(k) });
                                for (sum, columns) in chain.iter_mut().zip(columns) {
                                    *sum = fused_multiply_add(a, columns, *sum);
                                }
                            }
                        }
                    }
                    let mut added = checked.added;
                    while added != 0 {
                        let tile = added.trailing_zeros() as usize;
                        added &= added - 1;
                        for (r, chain) in chains.iter_mut().enumerate() {
                            let row = (tile * TILE_ROWS + row + r) * $columns;
                            let left = checked.left.wrapping_add(row + column);
                            for (v, sum) in chain.iter_mut().enumerate() {
                                // SAFETY: there is a tile for each bit.
                                *sum = add(unsafe { load(left.add(v * LANES)) }, *sum);
                            }
                        }
                    }
                    // One loop for each, as their vectors stay in registers then.
                    let rows = sums.into_iter().zip(chains);
                    if checked.are_results {
                        for (place, chain) in rows {
                            for (v, sum) in chain.into_iter().enumerate() {
                                // SAFETY: there is room for all columns, or all used ones.
                                unsafe { store(place.add(column + v * LANES), results(sum)) };
                            }
                        }
                    } else {
                        for (place, chain) in rows {
                            for (v, sum) in chain.into_iter().enumerate() {
                                // SAFETY: likewise.
                                unsafe { store(place.add(column + v * LANES), sum) };
                            }
                        }
                    }
                }
            }
        )*};
    }

    macro_rules! tiles {
        ($($ty:ident $columns:literal $narrow:ident $wide:ident;)*) => {$(
            impl Tile for $ty {
                const HAS_TILES: bool = true;

                #[inline(always)]
                fn chains(
                    isa: Isa,
                    factors: &mut Factors<'_, $ty>,
                    sums: &mut Sums<'_, '_, $ty>,
                ) -> bool {
                    /// Columns of a vector of AVX-512, or of two others.
                    const HALF: usize = $columns / 2;
                    let (used, columns) = (factors.used.min(TILE_ROWS), factors.columns);
                    if !isa.has_vectors() || columns > $columns {
                        return false;
                    }
                    let Some(checked) = Checked::new(factors, sums, $columns, HALF) else {
                        return false;
                    };
                    let copies = checked.copy.is_some();
                    let is_wide = isa.has_avx512();
                    #[cfg(target_arch = "x86_64")]
                    if is_wide {
                        macro_rules! chains {
                            ($rows:literal) => {
                                // SAFETY: the instructions were detected, and the rows and columns
                                // are those of the tile.
                                unsafe {
                                    if copies {
                                        $wide::chains::<$rows, 2, true>(&checked, [0, 0]);
                                    } else if columns > HALF {
                                        $wide::chains::<$rows, 2, false>(&checked, [0, 0]);
                                    } else {
                                        $wide::chains::<$rows, 1, false>(&checked, [0, 0]);
                                    }
                                }
                            };
                        }
                        match used.div_ceil(3) {
                            0 | 1 => chains!(3),
                            2 => chains!(6),
                            3 => chains!(9),
                            _ => chains!(12),
                        }
                    }
                    let parts = match copies {
                        _ if is_wide => 0,
                        true => $columns,
                        false => columns,
                    };
                    for column in (0..parts).step_by(HALF) {
                        for row in (0..used).step_by(6) {
                            let (at, is_few) = ([row, column], used - row <= 3);
                            // SAFETY: as above.
                            unsafe {
                                match copies && row == 0 {
                                    true if is_few => {
                                        $narrow::chains::<3, 2, true>(&checked, at);
                                    }
                                    true => $narrow::chains::<6, 2, true>(&checked, at),
                                    false if is_few => {
                                        $narrow::chains::<3, 2, false>(&checked, at);
                                    }
                                    false => $narrow::chains::<6, 2, false>(&checked, at),
                                }
                            }
                        }
                    }
                    if let Some(results) = &mut sums.results
                        && !checked.are_in_place
                    {
                        let rows = sums.tile.chunks_exact($columns);
                        for (result, row) in results.iter_mut().zip(rows) {
                            let count = result.len().min($columns);
                            result[..count].copy_from_slice(&row[..count]);
                        }
                    }
                    true
                }
            }
        )*};
    }

    tiles! {
        f32 32 single wide_single;
        f64 16 double wide_double;
        i32 32 integer wide_integer;
    }

    #[cfg(target_arch = "x86_64")]
    chains! {
        single "avx2,fma" f32 32;
        wide_single "avx512f" f32 32;
        double "avx2,fma" f64 16;
        wide_double "avx512f" f64 16;
        integer "avx2,fma" i32 32;
        wide_integer "avx512f" i32 32;
    }
    #[cfg(target_arch = "aarch64")]
    chains! {
        single "neon" f32 32;
        double "neon" f64 16;
        integer "neon" i32 32;
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
impl Tile for f32 {}
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
impl Tile for f64 {}
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
impl Tile for i32 {}
impl Tile for I1 {}
impl Tile for i64 {}
impl Tile for Complex32 {}
impl Tile for Complex64 {}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: usize = 32;

    fn number(i: usize) -> f32 {
        1.0 / (1 + i * 37 % 101) as f32 - 0.3
    }

    #[test]
    fn chains_are_fused_multiply_adds() {
        for isa in Isa::available() {
            for (depth, used) in
                [(1, 12), (7, 11), (100, 7), (9, 6), (5, 4), (5, 3), (9, 1), (0, 9)]
            {
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
            let mut factors = Factors { rows: &rows, used, segments, panel, columns, copy: None };
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
            let factors = |copy| Factors { rows, used, segments, panel, columns, copy };
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
                Factors { rows: &rows, used: 3, segments, panel, columns: 2, copy: None };
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
}
