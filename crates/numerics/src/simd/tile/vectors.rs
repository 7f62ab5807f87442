//! Tiles of AVX2, NEON and relaxed SIMD, as several consecutive parts, and of AVX-512.

#[cfg(not(target_family = "wasm"))]
use super::AHEAD;
use super::{
    ChainBlocks, Factors, Isa, PanelColumns, ResultRows, Starts, Sums, TILE_ROWS, Tile, TreeLeaf,
};
use crate::simd::registers;
use std::ops::Range;

/// Factors and room for sums, whose sizes are checked, with the tile and the block that are
/// next.
struct Checked<'a, T> {
    elements: *const T,
    starts: Starts<'a>,
    /// The number of rows, of columns of a tile, and of columns that are used.
    count: usize,
    columns: usize,
    used: usize,
    blocks: ChainBlocks<'a>,
    /// The number of blocks before these, and in the end.
    done: usize,
    total: usize,
    /// The rows of the tile, of which the last one is repeated.
    rows: [*const T; TILE_ROWS],
    /// The distance between them, if all have the same and are used.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        allow(dead_code, reason = "tiles of other processors do not read it")
    )]
    distance: Option<usize>,
    panel: *const T,
    stride: usize,
    copy: Option<*mut T>,
    /// Elements that are read later, and the bytes of them that are prefetched with each row.
    next: (*const T, usize),
    /// The tiles of sums of few blocks and the number of these levels,
    levels: *mut T,
    lower: usize,
    /// and the ones of this tile with larger ones.
    upper_levels: *mut T,
    upper: usize,
    /// Bits of the levels that are added.
    added: usize,
    /// Where the sums of the block are written, unless they are results,
    sums: Option<*mut T>,
    /// and the rows of results. Ones without use are elsewhere.
    results: [*mut T; TILE_ROWS],
}

/// Tiles whose sums are one chain each, of rows with one distance between them, as are the rows of
/// results.
#[cfg(not(target_family = "wasm"))]
struct Strip<T> {
    /// The first row, and the distance to the next.
    row: *const T,
    distance: usize,
    /// The number of rows, and of products of a sum.
    rows: usize,
    depth: usize,
    panel: *const T,
    stride: usize,
    /// As in [`Checked`].
    next: (*const T, usize),
    /// The first row of results, and the distance to the next.
    results: (*mut T, usize),
    /// The number of columns that are used.
    used: usize,
}

impl<'a, T: Copy> Checked<'a, T> {
    /// `None` if something is too short for tiles of this many columns.
    #[inline(always)]
    fn new(
        factors: &Factors<'a, T>,
        sums: &mut Sums<'_, '_, T>,
        columns: usize,
    ) -> Option<Checked<'a, T>> {
        let Factors { elements, starts, count, blocks, panel: (panel, stride), next, .. } =
            *factors;
        let (depth, end) = blocks.depth_and_end();
        let last_start = match starts {
            Starts::Distance(distance) => count.saturating_sub(1).saturating_mul(distance),
            Starts::Places(places) if places.len() >= count => {
                places[..count].iter().fold(0, |last, &place| last.max(place))
            }
            Starts::Places(_) => return None,
        };
        let has_rows = last_start.saturating_add(end) <= elements.len();
        let last = depth.saturating_sub(1).saturating_mul(stride);
        let is_long = depth == 0 || last.saturating_add(columns) <= panel.len();
        let copied = factors.copy.as_ref().map(|copy| copy.len() / columns);
        let has_room = copied.is_none_or(|copied| copied >= depth);
        let (done, total) = sums.blocks;
        let (tile, tiles) = (TILE_ROWS * columns, count.div_ceil(TILE_ROWS));
        let lower = sums.levels.len() / tile;
        let levels = (usize::BITS - total.saturating_sub(1).leading_zeros()) as usize;
        let upper = levels.saturating_sub(lower);
        let has_levels = sums.upper_levels.len() >= tiles.saturating_mul(upper * tile)
            && done + blocks.count() <= total;
        let has_results = match &sums.results {
            ResultRows::Strided(results, stride) => {
                let last = count.saturating_sub(1).saturating_mul(*stride);
                last.saturating_add(factors.columns) <= results.len()
            }
            ResultRows::Rows(rows, first) => {
                let end = first.saturating_add(factors.columns);
                rows.len() >= count && rows[..count].iter().all(|row| row.len() >= end)
            }
        };
        if !(has_rows && is_long && has_room && has_levels && has_results && count > 0) {
            return None;
        }
        // If nothing is read later, what is near: a look for memory that is not there takes long.
        let next = match next {
            [] => (panel.as_ptr(), 0),
            next => (next.as_ptr(), size_of_val(next).div_ceil((depth * tiles).max(1))),
        };
        Some(Checked {
            elements: elements.as_ptr(),
            starts,
            count,
            columns,
            used: factors.columns,
            blocks,
            done,
            total,
            rows: [elements.as_ptr(); TILE_ROWS],
            distance: None,
            panel: panel.as_ptr(),
            stride,
            copy: None,
            next,
            levels: sums.levels.as_mut_ptr(),
            lower,
            upper_levels: sums.upper_levels.as_mut_ptr(),
            upper,
            added: 0,
            sums: None,
            results: [std::ptr::null_mut(); TILE_ROWS],
        })
    }

    /// The whole tiles of rows from `first` on; `None` without any, with sums of several chains, or
    /// with rows or results at different distances.
    #[cfg(not(target_family = "wasm"))]
    #[inline(always)]
    fn strip(&self, results: &mut ResultRows<'_, '_, T>, first: usize) -> Option<Strip<T>> {
        let (ChainBlocks::Neighbours { start, end, .. }, Starts::Distance(distance), 1) =
            (self.blocks, self.starts, self.total)
        else {
            return None;
        };
        let ResultRows::Strided(results, stride) = results else { return None };
        let rows = (self.count - first) / TILE_ROWS * TILE_ROWS;
        (rows > 0).then(|| Strip {
            row: self.elements.wrapping_add(first * distance + start),
            distance,
            rows,
            depth: end - start,
            panel: self.panel,
            stride: self.stride,
            next: self.next,
            results: (results.as_mut_ptr().wrapping_add(first * *stride), *stride),
            used: self.used,
        })
    }

    /// Goes to the tile of these rows. Rows of sums without use go to `unused`, which has the
    /// columns of a tile.
    #[inline(always)]
    fn begin_tile(
        &mut self,
        Range { start: first, end }: Range<usize>,
        results: &mut ResultRows<'_, '_, T>,
        unused: *mut T,
    ) {
        let used = end - first;
        match self.starts {
            Starts::Distance(distance) => {
                let start = self.elements.wrapping_add(first * distance);
                self.rows = in_steps(start, |row| row.wrapping_add(distance));
                self.distance = (used == TILE_ROWS).then_some(distance);
            }
            Starts::Places(places) => {
                let places = &places[first..][..used];
                for (row, &place) in self.rows.iter_mut().zip(places) {
                    *row = self.elements.wrapping_add(place);
                }
                // Mostly adjacent windows.
                self.distance = <&[usize; TILE_ROWS]>::try_from(places).ok().and_then(|places| {
                    let distance = places[1].wrapping_sub(places[0]);
                    let is_even =
                        |r: usize| places[r] == places[0].wrapping_add(distance.wrapping_mul(r));
                    (0..TILE_ROWS).all(is_even).then_some(distance)
                });
            }
        }
        match results {
            ResultRows::Strided(results, stride) => {
                let start = results.as_mut_ptr().wrapping_add(first * *stride);
                self.results = in_steps(start, |row| row.wrapping_add(*stride));
            }
            ResultRows::Rows(rows, column) => {
                for (place, row) in self.results.iter_mut().zip(&mut rows[first..end]) {
                    *place = row.as_mut_ptr().wrapping_add(*column);
                }
            }
        }
        if used < TILE_ROWS {
            let last = self.rows[used - 1];
            self.rows[used..].fill(last);
            self.results[used..].fill(unused);
        }
    }

    /// The tile of sums of a level.
    #[inline(always)]
    fn level(&self, level: usize) -> *mut T {
        let (levels, at) = match level.checked_sub(self.lower) {
            Some(upper) => (self.upper_levels, upper),
            None => (self.levels, level),
        };
        levels.wrapping_add(at * TILE_ROWS * self.columns)
    }

    /// Goes to a block of the tile.
    #[inline(always)]
    fn begin_block(&mut self, block: usize) {
        let block = self.done + block;
        let TreeLeaf { added, level } = TreeLeaf::new(block, self.total);
        self.added = added;
        self.sums = (block + 1 < self.total).then(|| self.level(level));
    }

    /// Ends a block with these runs.
    #[inline(always)]
    fn end_block(&mut self, runs: &[Range<usize>]) {
        let depth: usize = runs.iter().map(ExactSizeIterator::len).sum();
        self.panel = self.panel.wrapping_add(depth * self.stride);
        self.copy = self.copy.map(|copy| copy.wrapping_add(depth * self.columns));
        self.next.0 = self.next.0.wrapping_byte_add(depth * self.next.1);
    }

    /// Ends a tile, of which each row of the panel has this pointer and distance.
    #[inline(always)]
    fn end_tile(&mut self, panel: *const T, stride: usize) {
        (self.panel, self.stride, self.copy) = (panel, stride, None);
        let tiles = self.upper * TILE_ROWS * self.columns;
        self.upper_levels = self.upper_levels.wrapping_add(tiles);
    }
}

/// The places of rows, each a step after the one before.
#[inline(always)]
fn in_steps<P: Copy>(mut place: P, step: impl Fn(P) -> P) -> [P; TILE_ROWS] {
    std::array::from_fn(|_| {
        let next = step(place);
        std::mem::replace(&mut place, next)
    })
}

/// Rows of a tile of AVX-512, for this many in all: of 49, ten each take less time than twelve, and
/// one in the end, for which the panel is read as long as for some.
fn tile_height(count: usize) -> usize {
    /// Rows that take the time in which the panel is read.
    const FEW: usize = 5;
    let tiles = count.div_ceil(TILE_ROWS).max(1);
    let height = count.div_ceil(tiles).next_multiple_of(2);
    let rest = match count % TILE_ROWS {
        0 => 0,
        rest => rest.next_multiple_of(2).max(FEW),
    };
    if tiles * height < count / TILE_ROWS * TILE_ROWS + rest { height } else { TILE_ROWS }
}

/// True if panels of `width` columns have `depth` rows.
fn are_long<T>(columns: PanelColumns<'_, T>, panels: usize, depth: usize, width: usize) -> bool {
    let last = |count: usize, distance: usize| count.saturating_sub(1).saturating_mul(distance);
    let start = last(panels, columns.distance).saturating_add(last(depth, columns.stride));
    depth == 0 || panels == 0 || start.saturating_add(width) <= columns.elements.len()
}

/// Adds `$count` products to each chain of a tile: of the elements of rows from the places `$rows`
/// on with columns of a panel, which are copied if `$copies`.
#[cfg(not(target_family = "wasm"))]
macro_rules! products {
    (
        $count:literal $columns:literal: $chains:ident, $rows:expr,
        $panel:ident, $stride:expr, $copies:ident $copy:ident, $next:ident $step:ident
    ) => {
        let mut columns = [[zero(); V]; $count];
        for columns in &mut columns {
            prefetch_later($next);
            $next = $next.wrapping_byte_add($step);
            for (v, columns) in columns.iter_mut().enumerate() {
                // SAFETY: the panel has a row of all columns for each element.
                *columns = unsafe { load($panel.wrapping_add(v * LANES)) };
                if $copies {
                    // SAFETY: so has the copy.
                    unsafe { store($copy.wrapping_add(v * LANES), *columns) };
                    // The last element, as the first may be in a line just read.
                    let right = $columns + (v + 1) * LANES - 1;
                    prefetch_at($panel.wrapping_add(right));
                } else {
                    // A later row of the panel, or of the next one, if it is in no near cache.
                    prefetch_at($panel.wrapping_add(AHEAD * $columns + v * LANES));
                }
            }
            $panel = $panel.wrapping_add($stride);
            $copy = $copy.wrapping_add($columns);
        }
        let rows: [*const _; R] = $rows;
        for (chain, row) in $chains.iter_mut().zip(rows) {
            for (k, columns) in columns.iter().enumerate() {
                // SAFETY: each row has the elements of the runs.
                let a = splat(unsafe { *row.wrapping_add(k) });
                for (sum, &columns) in chain.iter_mut().zip(columns) {
                    *sum = fused_multiply_add(a, columns, *sum);
                }
            }
        }
    };
}

/// Adds `$count` products to each chain of a tile of `R` rows: of the elements of rows from a pointer
/// on, with a distance between rows, and the columns of a panel, which are not copied.
#[cfg(not(target_family = "wasm"))]
macro_rules! even_products {
    (
        $unrolled:literal $columns:literal: $chains:ident, ($row:expr, $distance:expr), $count:expr,
        $panel:ident $stride:expr, $next:ident $step:ident
    ) => {
        /// Rows that are addressed from one pointer: x86-64 adds an index times 0, 1 or 2 elements.
        const GROUP: usize = 3;
        let (row, distance) = ($row, $distance);
        let mut copy = row.cast_mut();
        let first = |group: usize| row.wrapping_add((group * GROUP).min(R - 1).wrapping_mul(distance));
        let mut firsts: [_; TILE_ROWS / GROUP] = std::array::from_fn(first);
        let mut rest = $count;
        macro_rules! add {
                    ($some:literal) => {
                        products!(
                            $some $columns: $chains,
                            std::array::from_fn(|r| {
                                firsts[r / GROUP].wrapping_add((r % GROUP).wrapping_mul(distance))
                            }),
                            $panel, $stride, false copy, $next $step
                        );
                        firsts = kept(firsts.map(|first| first.wrapping_add($some)));
                        rest -= $some;
                    };
                }
        while rest >= $unrolled {
            add!($unrolled);
        }
        while rest > 0 {
            add!(1);
        }
    };
}

/// Writes the sums of columns from `$column` on as results, of which the first ones are `$used`, to
/// the rows of a tile. There is room for these columns.
#[cfg(not(target_family = "wasm"))]
macro_rules! write_results {
    ($chains:ident, |$row:ident| $place:expr, $column:ident, $used:expr) => {
        let (used, is_whole) = ($used, $column + V * LANES <= $used);
        for ($row, chain) in $chains.iter().enumerate() {
            for (v, &sum) in chain.iter().enumerate() {
                let at = $column + v * LANES;
                let (place, sum) = ($place.wrapping_add(at), results(sum));
                // SAFETY: there is room.
                unsafe {
                    if is_whole {
                        store(place, sum);
                    } else {
                        store_first(place, sum, used.saturating_sub(at).min(LANES));
                    }
                }
            }
        }
    };
}

/// A module with chains of `R` rows and `V` vectors of columns each, of which `$unrolled`
/// products are added at a time.
#[cfg(not(target_family = "wasm"))]
macro_rules! chains {
    ($($module:ident $features:literal $ty:ident $columns:literal $unrolled:literal;)*) => {$(
        mod $module {
            use super::{AHEAD, Checked, PanelColumns, Strip, TILE_ROWS, kept};
            use crate::simd::{prefetch_at, prefetch_later};
            use crate::simd::registers::$module::{
                LANES, add, fused_multiply_add, load, results, splat, store, store_first, zero,
            };
            use std::ops::Range;

            /// Products that are added at a time.
            const UNROLLED: usize = $unrolled;
            /// Vectors of a panel.
            const VECTORS: usize = $columns / LANES;
            /// Panels at a time: enough independent chains to hide the latency of an addition.
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
                        // SAFETY: the slice has the elements of a vector.
                        unsafe { store(sums.as_mut_ptr(), sum) };
                    }
                }
            }

            /// Writes sums of the block with these runs, of `R` rows from `row` on with `V`
            /// vectors of columns from `column` on. All rows have the same distance if `EVEN`.
            ///
            /// # Safety
            /// These rows and columns are in the tile. If its sums are results, the columns
            /// are used. The distance is that of [`Checked`].
            #[target_feature(enable = $features)]
            pub(crate) unsafe fn chains<
                const R: usize,
                const V: usize,
                const COPY: bool,
                const EVEN: bool,
            >(
                checked: &Checked<'_, $ty>,
                runs: &[Range<usize>],
                [row, column]: [usize; 2],
            ) {
                const { assert!(R <= TILE_ROWS && V * LANES <= $columns) }
                let mut chains = [[zero(); V]; R];
                let mut rows = [checked.rows[row]; R];
                rows.copy_from_slice(&checked.rows[row..][..R]);
                let distance = checked.distance.unwrap_or_default();
                let mut panel = checked.panel.wrapping_add(column);
                let stride = checked.stride;
                let mut copy = checked.copy.unwrap_or_default().wrapping_add(column);
                let (mut next, step) = checked.next;
                for run in runs {
                    let mut k = run.start;
                    if EVEN {
                        even_products!(
                            $unrolled $columns: chains, (rows[0].wrapping_add(k), distance),
                            run.len(), panel stride, next step
                        );
                        k = run.end;
                    } else {
                        while k + UNROLLED <= run.end {
                            products!(
                                $unrolled $columns: chains, rows.map(|row| row.wrapping_add(k)),
                                panel, stride, COPY copy, next step
                            );
                            k += UNROLLED;
                        }
                    }
                    while k < run.end {
                        products!(
                            1 $columns: chains, rows.map(|row| row.wrapping_add(k)),
                            panel, stride, COPY copy, next step
                        );
                        k += 1;
                    }
                }
                let mut added = checked.added;
                while added != 0 {
                    let level = checked.level(added.trailing_zeros() as usize);
                    added &= added - 1;
                    for (r, chain) in chains.iter_mut().enumerate() {
                        let left = level.wrapping_add((row + r) * $columns + column);
                        for (v, sum) in chain.iter_mut().enumerate() {
                            // SAFETY: there is a tile for each bit.
                            *sum = add(unsafe { load(left.add(v * LANES)) }, *sum);
                        }
                    }
                }
                if let Some(tile) = checked.sums {
                    for (r, chain) in chains.iter().enumerate() {
                        let place = tile.wrapping_add((row + r) * $columns + column);
                        for (v, &sum) in chain.iter().enumerate() {
                            // SAFETY: a tile has room for all columns.
                            unsafe { store(place.add(v * LANES), sum) };
                        }
                    }
                    return;
                }
                let places = &checked.results[row..][..R];
                write_results!(chains, |r| places[r], column, checked.used);
            }

            /// Writes results of one chain each: tiles of `R` rows with `V` vectors of columns from
            /// `column` on.
            ///
            /// # Safety
            /// All rows and columns are as [`Strip`] says.
            #[target_feature(enable = $features)]
            pub(crate) unsafe fn strip<const R: usize, const V: usize>(
                strip: &Strip<$ty>,
                column: usize,
            ) {
                let &Strip { mut row, distance, depth, panel, stride, rows, used, .. } = strip;
                let (mut next, step) = strip.next;
                let (mut start, results_stride) = strip.results;
                for _ in 0..rows / R {
                    let mut chains = [[zero(); V]; R];
                    let mut panel = panel.wrapping_add(column);
                    even_products!(
                        $unrolled $columns: chains, (row, distance), depth, panel stride, next step
                    );
                    write_results!(chains, |r| start.wrapping_add(r * results_stride), column, used);
                    row = row.wrapping_add(R * distance);
                    start = start.wrapping_add(R * results_stride);
                }
            }
        }
    )*};
}

/// Pointers that the compiler takes for new ones: it finds no other form for addresses, with
/// more registers than there are.
#[cfg(not(target_family = "wasm"))]
#[expect(clippy::pointers_in_nomem_asm_block, reason = "nothing is read or written")]
#[inline(always)]
fn kept<T, const N: usize>(pointers: [*const T; N]) -> [*const T; N] {
    pointers.map(|mut pointer| {
        // SAFETY: there are no instructions.
        unsafe {
            std::arch::asm!("/* {} */", inout(reg) pointer, options(pure, nomem, nostack, preserves_flags));
        }
        pointer
    })
}

macro_rules! tiles {
    ($($ty:ident $columns:literal $has:ident $narrow:ident $wide:ident;)*) => {$(
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
                if !isa.$has() || !fits {
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
            fn tree(
                isa: Isa,
                factors: &mut Factors<'_, $ty>,
                sums: &mut Sums<'_, '_, $ty>,
            ) -> bool {
                /// Columns of a vector of AVX-512, or of two or four others.
                #[cfg(target_arch = "x86_64")]
                const HALF: usize = $columns / 2;
                let columns = factors.columns;
                if !isa.$has() || columns > $columns {
                    return false;
                }
                let Some(mut checked) = Checked::new(factors, sums, $columns) else {
                    return false;
                };
                let mut copy = factors.copy.as_deref_mut().map(<[_]>::as_mut_ptr);
                let (mut panel, mut stride) = (checked.panel, checked.stride);
                let (blocks, is_wide) = (checked.blocks, isa.has_avx512());
                let count_of_blocks = blocks.count();
                let mut unused = [<$ty>::default(); $columns];
                let height = if is_wide { tile_height(checked.count) } else { TILE_ROWS };
                let mut first = 0;
                while first < checked.count {
                    #[cfg(not(target_family = "wasm"))]
                    if copy.is_none()
                        && height == TILE_ROWS
                        && let Some(strip) = checked.strip(&mut sums.results, first)
                    {
                        // SAFETY: the instructions were detected, and all sizes checked.
                        unsafe {
                            #[cfg(target_arch = "x86_64")]
                            if is_wide && columns > HALF {
                                $wide::strip::<12, 2>(&strip, 0);
                            } else if is_wide {
                                $wide::strip::<12, 1>(&strip, 0);
                            }
                            let parts = if is_wide { 0 } else { columns };
                            for column in (0..parts).step_by(2 * registers::$narrow::LANES) {
                                $narrow::strip::<6, 2>(&strip, column);
                            }
                        }
                        first += strip.rows;
                        let read = strip.rows / height * strip.depth * strip.next.1;
                        checked.next.0 = checked.next.0.wrapping_byte_add(read);
                        continue;
                    }
                    let used = (checked.count - first).min(height);
                    checked.begin_tile(first..first + used, &mut sums.results, unused.as_mut_ptr());
                    checked.copy = copy;
                    for block in 0..count_of_blocks {
                        let mut one = 0..0;
                        let runs = blocks.runs(block, &mut one);
                        checked.begin_block(block);
                        let copies = checked.copy.is_some();
                        #[cfg(target_arch = "x86_64")]
                        if is_wide {
                            macro_rules! chains {
                                ($rows:literal $even:literal) => {
                                    // SAFETY: the instructions were detected, and the rows
                                    // and columns are in the tile.
                                    unsafe {
                                        let at = [0, 0];
                                        if copies {
                                            $wide::chains::<$rows, 2, true, false>(&checked, runs, at);
                                        } else if columns > HALF {
                                            $wide::chains::<$rows, 2, false, $even>(&checked, runs, at);
                                        } else {
                                            $wide::chains::<$rows, 1, false, $even>(&checked, runs, at);
                                        }
                                    }
                                };
                            }
                            match used.div_ceil(2) {
                                0 | 1 => chains!(2 false),
                                2 => chains!(4 false),
                                3 => chains!(6 false),
                                4 => chains!(8 false),
                                5 => chains!(10 false),
                                _ if checked.distance.is_some() => chains!(12 true),
                                _ => chains!(12 false),
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
                                            $narrow::chains::<3, 2, true, false>(&checked, runs, at);
                                        }
                                        true => $narrow::chains::<6, 2, true, false>(&checked, runs, at),
                                        false if is_few => {
                                            $narrow::chains::<3, 2, false, false>(&checked, runs, at);
                                        }
                                        false => $narrow::chains::<6, 2, false, false>(&checked, runs, at),
                                    }
                                }
                            }
                        }
                        checked.end_block(runs);
                    }
                    // The other tiles read the copy.
                    if let Some(copied) = copy.take() {
                        (panel, stride) = (copied.cast_const(), $columns);
                    }
                    checked.end_tile(panel, stride);
                    first += used;
                }
                true
            }
        }
    )*};
}

tiles! {
    f32 32 has_vectors_of_32_bits single wide_single;
    f64 16 has_vectors double wide_double;
    i32 32 has_vectors_of_32_bits integer wide_integer;
}

#[cfg(target_arch = "x86_64")]
chains! {
    single "avx2,fma" f32 32 1;
    wide_single "avx512f" f32 32 2;
    double "avx2,fma" f64 16 1;
    wide_double "avx512f" f64 16 2;
    integer "avx2,fma" i32 32 1;
    wide_integer "avx512f" i32 32 1;
}
#[cfg(target_arch = "aarch64")]
chains! {
    single "neon" f32 32 1;
    double "neon" f64 16 1;
    integer "neon" i32 32 1;
}
#[cfg(target_family = "wasm")]
use relaxed::{double, integer};
#[cfg(target_family = "wasm")]
mod relaxed;

/// Chains of relaxed SIMD where that is fused, or of exact multiply-adds.
#[cfg(target_family = "wasm")]
mod single {
    use super::relaxed::{exact_single, single};
    use super::{Checked, PanelColumns};
    use crate::simd::relaxed::is_fused;
    use std::ops::Range;

    /// # Safety
    /// As [`single::chains`].
    pub(super) unsafe fn chains<
        const R: usize,
        const V: usize,
        const COPY: bool,
        const EVEN: bool,
    >(
        checked: &Checked<'_, f32>,
        runs: &[Range<usize>],
        at: [usize; 2],
    ) {
        // SAFETY: the caller says so.
        unsafe {
            match is_fused() {
                true => single::chains::<R, V, COPY, EVEN>(checked, runs, at),
                false => exact_single::chains::<R, V, COPY, EVEN>(checked, runs, at),
            }
        }
    }

    /// # Safety
    /// As [`single::row_chains`].
    pub(super) unsafe fn row_chains(row: &[f32], columns: PanelColumns<'_, f32>, sums: &mut [f32]) {
        // SAFETY: the caller says so.
        unsafe {
            match is_fused() {
                true => single::row_chains(row, columns, sums),
                false => exact_single::row_chains(row, columns, sums),
            }
        }
    }
}
