//! Chains of [`super`] with SIMD of WebAssembly, relaxed where that is fused. Loops over vectors
//! are written out: a build for size keeps loops, and with them all sums in memory.

use super::{Checked, PanelColumns, TILE_ROWS};

/// A function that writes sums of a block with these runs, of these rows from `row` on, with two
/// vectors of columns from `column` on. It copies these columns if `COPY`.
macro_rules! rows {
    ($name:ident $features:literal $ty:ident $columns:literal: $($r:literal)*) => {
        /// # Safety
        /// These rows and columns are in the tile. If its sums are results, the columns are used.
        #[target_feature(enable = $features)]
        unsafe fn $name<const COPY: bool>(
            checked: &Checked<'_, $ty>,
            runs: &[Range<usize>],
            [row, column]: [usize; 2],
        ) {
            const R: usize = [$($r),*].len();
            let mut chains = [[zero(); 2]; R];
            let rows: [*const $ty; R] = [$(checked.rows[row + $r]),*];
            let mut panel = checked.panel.wrapping_add(column);
            let mut copy = checked.copy.unwrap_or_default().wrapping_add(column);
            for run in runs {
                for k in run.clone() {
                    // SAFETY: the panel has a row of all columns for each element, and so has the
                    // copy. Each row has the elements of the runs.
                    unsafe {
                        let (low, high) = (load(panel), load(panel.add(LANES)));
                        if COPY {
                            store(copy, low);
                            store(copy.add(LANES), high);
                        }
                        $(
                            let a = splat(*rows[$r].add(k));
                            chains[$r][0] = fused_multiply_add(a, low, chains[$r][0]);
                            chains[$r][1] = fused_multiply_add(a, high, chains[$r][1]);
                        )*
                    }
                    panel = panel.wrapping_add(checked.stride);
                    copy = copy.wrapping_add($columns);
                }
            }
            let mut added = checked.added;
            while added != 0 {
                let level = checked.level(added.trailing_zeros() as usize);
                added &= added - 1;
                let left = level.wrapping_add(row * $columns + column);
                // SAFETY: there is a tile for each bit.
                unsafe {
                    $(
                        let sums = left.wrapping_add($r * $columns);
                        chains[$r][0] = add(load(sums), chains[$r][0]);
                        chains[$r][1] = add(load(sums.add(LANES)), chains[$r][1]);
                    )*
                }
            }
            if let Some(tile) = checked.sums {
                let tile = tile.wrapping_add(row * $columns + column);
                // SAFETY: a tile has room for all columns.
                unsafe {
                    $(
                        let place = tile.wrapping_add($r * $columns);
                        store(place, chains[$r][0]);
                        store(place.add(LANES), chains[$r][1]);
                    )*
                }
                return;
            }
            let used = checked.used.saturating_sub(column);
            // SAFETY: there is room for all columns that are used.
            unsafe {
                $(
                    let place = checked.results[row + $r].wrapping_add(column);
                    store_first(place, results(chains[$r][0]), used.min(LANES));
                    let right = used.saturating_sub(LANES).min(LANES);
                    store_first(place.wrapping_add(LANES), results(chains[$r][1]), right);
                )*
            }
        }
    };
}

/// A function that writes the sums of a row with panels of these vectors.
macro_rules! vectors {
    ($features:literal $ty:ident $columns:literal: $($v:literal)*) => {
        /// Writes the sums of a row with whole panels.
        ///
        /// # Safety
        /// The panels have the columns of all sums, and rows for all elements.
        #[target_feature(enable = $features)]
        pub(crate) unsafe fn row_chains(
            row: &[$ty],
            PanelColumns { elements, stride, distance }: PanelColumns<'_, $ty>,
            sums: &mut [$ty],
        ) {
            const { assert!([$($v),*].len() * LANES == $columns) }
            let mut panel = elements.as_ptr();
            for sums in sums.chunks_exact_mut($columns) {
                let mut chains = [$({ let _ = $v; zero() }),*];
                let mut columns = panel;
                for &a in row {
                    let a = splat(a);
                    // SAFETY: the panel has a row for each element.
                    unsafe {
                        $(
                            let elements = load(columns.add($v * LANES));
                            chains[$v] = fused_multiply_add(a, elements, chains[$v]);
                        )*
                    }
                    columns = columns.wrapping_add(stride);
                }
                // SAFETY: the slice has the elements of these vectors.
                unsafe {
                    $(store(sums.as_mut_ptr().add($v * LANES), chains[$v]);)*
                }
                panel = panel.wrapping_add(distance);
            }
        }
    };
}

macro_rules! chains {
    ($($module:ident $features:literal $ty:ident $columns:literal;)*) => {$(
        pub(super) mod $module {
            use super::{Checked, PanelColumns, TILE_ROWS};
            use std::ops::Range;
            use crate::simd::registers::$module::{
                LANES, add, fused_multiply_add, load, results, splat, store, store_first, zero,
            };

            rows! { six $features $ty $columns: 0 1 2 3 4 5 }
            rows! { three $features $ty $columns: 0 1 2 }
            vectors! { $features $ty $columns: 0 1 2 3 4 5 6 7 }

            /// Writes sums of `R` rows, three or six, from `row` on with `V` vectors of columns,
            /// two, from `column` on.
            ///
            /// # Safety
            /// These rows and columns are in the tile. If its sums are results, the columns are
            /// used.
            pub(crate) unsafe fn chains<
                const R: usize,
                const V: usize,
                const COPY: bool,
                const EVEN: bool,
            >(
                checked: &Checked<'_, $ty>,
                runs: &[Range<usize>],
                at: [usize; 2],
            ) {
                const { assert!((R == 3 || R == 6) && V == 2 && !EVEN) }
                // SAFETY: the caller says so.
                unsafe {
                    match R {
                        3 => three::<COPY>(checked, runs, at),
                        _ => six::<COPY>(checked, runs, at),
                    }
                }
            }
        }
    )*};
}

chains! {
    single "relaxed-simd" f32 32;
    exact_single "simd128" f32 32;
    double "relaxed-simd" f64 16;
    integer "simd128" i32 32;
}
