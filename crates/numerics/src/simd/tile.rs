//! Sums of products in registers, with the instructions that the machine has for them.
//!
//! The compiler vectorizes a generic loop over a tile of sums in some builds and not in others, by
//! a factor of twenty; so there are loops with explicit vectors for the types that programs
//! multiply most.

use super::Isa;
use crate::{Complex32, Complex64, I1};
use std::ops::Range;

/// Rows of a tile in vector registers.
pub const TILE_ROWS: usize = 12;
/// Rows of a panel that are asked for before they are read.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_family = "wasm"))]
const AHEAD: usize = 16;

/// The factors of a tile of sums of products, of rows with the columns of a panel.
pub struct Factors<'a, T> {
    /// The rows of a tile.
    pub rows: &'a [&'a [T]],
    /// The number of rows that are used.
    pub used: usize,
    /// Where their elements are, in order.
    pub segments: &'a [Range<usize>],
    /// The columns: a row for each element of the others, with the columns of a tile, and
    /// the distance between these rows.
    pub panel: (&'a [T], usize),
    /// The number of columns that are used.
    pub columns: usize,
    /// Where the rows of the panel are copied to, consecutively, if they are. Then the elements on
    /// their right are asked for, which are the rows of the next panel.
    pub copy: Option<&'a mut [T]>,
    /// Elements that are read after these products: they are prefetched while these are computed.
    pub next: &'a [T],
}

/// Where the sums of a tile are written.
pub struct Sums<'a, 'o, T> {
    /// Room for all of them, row by row.
    pub tile: &'a mut [T],
    /// Consecutive tiles of sums, of which the ones with a bit here are added on the left,
    /// from the first one on.
    pub left: (&'a [T], usize),
    /// If given, the used sums are written here instead, as results: zeros are positive, and each
    /// NaN is the quiet one without sign and payload. Used rows have a part, with an element for
    /// each used column.
    pub results: Option<&'a mut [&'o mut [T]]>,
}

/// Columns whose rows are adjacent, in panels of the columns of a tile.
#[derive(Clone, Copy)]
pub struct PanelColumns<'a, T> {
    /// The elements from the first one on.
    pub elements: &'a [T],
    /// The distance between rows.
    pub stride: usize,
    /// The distance between panels.
    pub distance: usize,
}

/// A type with a tile of sums in vector registers.
pub trait Tile: Sized {
    /// True if some machines have instructions for it.
    const HAS_TILES: bool = false;
    /// Columns of a tile, and of a panel.
    const COLUMNS: usize = 1;

    /// Writes the sums of products of each used row with each used column: chains of fused
    /// multiply-adds from zero on, in the order of the elements. False, and nothing is written, if
    /// there are no instructions for the type, or the sizes do not fit a tile.
    #[inline(always)]
    fn chains(_isa: Isa, _factors: &mut Factors<'_, Self>, _sums: &mut Sums<'_, '_, Self>) -> bool {
        false
    }

    /// Writes the sums of products of a row with columns, as [`Tile::chains`]. False, and nothing
    /// is written, if there are no instructions for the type, columns are too short, or these sums
    /// are not of whole panels.
    #[inline(always)]
    fn row_chains(
        _isa: Isa,
        _row: &[Self],
        _columns: PanelColumns<'_, Self>,
        _sums: &mut [Self],
    ) -> bool {
        false
    }
}

/// Tiles of AVX2, NEON and relaxed SIMD, as several consecutive parts, and of AVX-512.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_family = "wasm"))]
mod vectors {
    #[cfg(not(target_family = "wasm"))]
    use super::AHEAD;
    use super::{Factors, Isa, PanelColumns, Sums, TILE_ROWS, Tile};
    use crate::simd::registers;
    use std::ops::Range;

    /// Factors and room for sums, whose sizes are checked.
    struct Checked<'a, T> {
        rows: [*const T; TILE_ROWS],
        segments: &'a [Range<usize>],
        panel: *const T,
        stride: usize,
        copy: Option<*mut T>,
        /// Elements that are read later, and the bytes of them that are prefetched with each row.
        next: (*const T, usize),
        left: *const T,
        /// Bits of the tiles that are added.
        added: usize,
        sums: [*mut T; TILE_ROWS],
        are_results: bool,
        /// True if results are written to their places at once.
        are_in_place: bool,
    }

    impl<'a, T: Copy> Checked<'a, T> {
        /// `None` if something is too short for tiles of this many columns, of which vectors have
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
            // If nothing is read later, what is near: a look for memory that is not there takes long.
            let next = match factors.next {
                [] => (panel.as_ptr(), 0),
                next => (next.as_ptr(), size_of_val(next).div_ceil(depth.max(1))),
            };
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
                next,
                left: left.as_ptr(),
                added,
                sums: places,
                are_results: sums.results.is_some(),
                are_in_place,
            })
        }
    }

    /// True if panels of `width` columns have rows for as many elements.
    fn are_long<T>(
        columns: PanelColumns<'_, T>,
        panels: usize,
        depth: usize,
        width: usize,
    ) -> bool {
        let last = |count: usize, distance: usize| count.saturating_sub(1).saturating_mul(distance);
        let start = last(panels, columns.distance).saturating_add(last(depth, columns.stride));
        depth == 0 || panels == 0 || start.saturating_add(width) <= columns.elements.len()
    }

    /// A module with chains of `R` rows and `V` vectors of columns each.
    #[cfg(not(target_family = "wasm"))]
    macro_rules! chains {
        ($($module:ident $features:literal $ty:ident $columns:literal;)*) => {$(
            mod $module {
                use super::{AHEAD, Checked, PanelColumns, TILE_ROWS};
                use crate::simd::{prefetch_at, prefetch_later};
                use crate::simd::registers::$module::{
                    LANES, add, fused_multiply_add, load, results, splat, store, zero,
                };

                /// Vectors of a panel.
                const VECTORS: usize = $columns / LANES;
                /// Panels whose chains are independent of each other, as long as these take.
                const PANELS: usize = 8_usize.div_ceil(VECTORS);

                /// Writes the sums of a row with whole panels.
                ///
                /// # Safety
                /// The panels have the columns of all sums, and rows for all elements.
                #[target_feature(enable = $features)]
                pub(crate) unsafe fn row_chains(
                    row: &[$ty],
                    columns: PanelColumns<'_, $ty>,
                    sums: &mut [$ty],
                ) {
                    let mut panels = columns.elements.as_ptr();
                    let (groups, rest) = sums.as_chunks_mut::<{ PANELS * $columns }>();
                    for sums in groups {
                        // SAFETY: the caller has these panels.
                        unsafe { row_with::<PANELS>(row, panels, columns, sums) };
                        panels = panels.wrapping_add(PANELS * columns.distance);
                    }
                    for sums in rest.chunks_exact_mut($columns) {
                        // SAFETY: likewise.
                        unsafe { row_with::<1>(row, panels, columns, sums) };
                        panels = panels.wrapping_add(columns.distance);
                    }
                }

                /// The sums with `P` panels.
                ///
                /// # Safety
                /// As [`row_chains`].
                #[inline]
                #[target_feature(enable = $features)]
                unsafe fn row_with<const P: usize>(
                    row: &[$ty],
                    mut panels: *const $ty,
                    PanelColumns { stride, distance, .. }: PanelColumns<'_, $ty>,
                    sums: &mut [$ty],
                ) {
                    let mut chains = [[zero(); VECTORS]; P];
                    for &a in row {
                        let a = splat(a);
                        for (p, chain) in chains.iter_mut().enumerate() {
                            let panel = panels.wrapping_add(p * distance);
                            for (v, sum) in chain.iter_mut().enumerate() {
                                let at = panel.wrapping_add(v * LANES);
                                prefetch_at(at.wrapping_add(AHEAD * stride));
                                // SAFETY: the panel has a row for each element.
                                *sum = fused_multiply_add(a, unsafe { load(at) }, *sum);
                            }
                        }
                        panels = panels.wrapping_add(stride);
                    }
                    for (sums, chain) in sums.chunks_exact_mut($columns).zip(&chains) {
                        for (sums, &sum) in sums.chunks_exact_mut(LANES).zip(chain) {
                            // SAFETY: there are as many elements.
                            unsafe { store(sums.as_mut_ptr(), sum) };
                        }
                    }
                }

                /// Writes sums of `R` rows from `row` on with `V` vectors of columns from `column`
                /// on.
                ///
                /// # Safety
                /// These rows and columns are in the tile. If its sums are results, the columns
                /// are used.
                #[target_feature(enable = $features)]
                pub(crate) unsafe fn chains<const R: usize, const V: usize, const COPY: bool>(
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
                    let (mut next, step) = checked.next;
                    for segment in checked.segments {
                        for k in segment.clone() {
                            prefetch_later(next);
                            next = next.wrapping_byte_add(step);
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
                                } else {
                                    // A later row of the panel, or of the next one, if it is in no
                                    // near cache.
                                    let later = AHEAD * $columns + v * LANES;
                                    prefetch_at(panel.wrapping_add(later));
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
                    if checked.are_results {
                        for sum in chains.as_flattened_mut() {
                            *sum = results(*sum);
                        }
                    }
                    for (place, chain) in sums.iter().zip(&chains) {
                        for (v, &sum) in chain.iter().enumerate() {
                            // SAFETY: there is room for all columns, or all used ones.
                            unsafe { store(place.add(column + v * LANES), sum) };
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
                const COLUMNS: usize = $columns;

                #[inline(always)]
                fn row_chains(
                    isa: Isa,
                    row: &[$ty],
                    columns: PanelColumns<'_, $ty>,
                    sums: &mut [$ty],
                ) -> bool {
                    let panels = sums.len() / $columns;
                    let fits = sums.len() % $columns == 0
                        && are_long(columns, panels, row.len(), $columns);
                    if !isa.has_vectors() || !fits {
                        return false;
                    }
                    // SAFETY: the instructions were detected, and panels are long enough.
                    unsafe {
                        #[cfg(target_arch = "x86_64")]
                        if isa.has_avx512() {
                            $wide::row_chains(row, columns, sums);
                            return true;
                        }
                        $narrow::row_chains(row, columns, sums);
                    }
                    true
                }

                #[inline(always)]
                fn chains(
                    isa: Isa,
                    factors: &mut Factors<'_, $ty>,
                    sums: &mut Sums<'_, '_, $ty>,
                ) -> bool {
                    /// Columns of a vector of AVX-512, or of two or four others.
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
                                // are in the tile.
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
                        match used.div_ceil(2) {
                            0 | 1 => chains!(2),
                            2 => chains!(4),
                            3 => chains!(6),
                            4 => chains!(8),
                            5 => chains!(10),
                            _ => chains!(12),
                        }
                    }
                    let parts = match copies {
                        _ if is_wide => 0,
                        true => $columns,
                        false => columns,
                    };
                    for column in (0..parts).step_by(2 * registers::$narrow::LANES) {
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
    #[cfg(target_family = "wasm")]
    use relaxed::{double, integer, single};
    #[cfg(target_family = "wasm")]
    mod relaxed;
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_family = "wasm")))]
impl Tile for f32 {}
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_family = "wasm")))]
impl Tile for f64 {}
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_family = "wasm")))]
impl Tile for i32 {}
impl Tile for I1 {}
impl Tile for i64 {}
impl Tile for Complex32 {}
impl Tile for Complex64 {}
