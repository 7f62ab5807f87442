//! Sums of products in registers, with the instructions that the machine has for them.
//!
//! The compiler vectorizes a generic loop over a tile of sums in some builds and not in others, by
//! a factor of twenty; so there are loops with explicit vectors for the types that programs
//! multiply most.

use super::Isa;
use crate::{Complex32, Complex64};
use std::ops::Range;

/// Rows of a tile in vector registers.
pub const TILE_ROWS: usize = 12;
/// Rows of a panel that are asked for before they are read.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_family = "wasm"))]
const AHEAD: usize = 16;

/// The factors of sums of products: rows, and the columns of a panel.
pub struct Factors<'a, T> {
    /// The elements of the rows.
    pub elements: &'a [T],
    /// Where each row starts in these.
    pub starts: Starts<'a>,
    /// The number of rows.
    pub count: usize,
    /// Where the elements of a row are, from its start on, in order.
    pub blocks: ChainBlocks<'a>,
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

/// Places of rows.
#[derive(Clone, Copy)]
pub enum Starts<'a> {
    /// The first one is at zero, and all have the same distance.
    Distance(usize),
    /// Any places.
    Places(&'a [usize]),
}

impl Starts<'_> {
    /// The place of a row.
    #[inline(always)]
    pub fn of(&self, row: usize) -> usize {
        match self {
            Starts::Distance(distance) => row * distance,
            Starts::Places(places) => places[row],
        }
    }
}

/// The products of a sum in blocks, each of which is a chain: where the elements of rows are.
#[derive(Clone, Copy)]
pub enum ChainBlocks<'a> {
    /// Neighbouring elements.
    Neighbours {
        /// The first one.
        start: usize,
        /// The one after the last.
        end: usize,
        /// The number of elements of a block, which is not zero.
        length: usize,
    },
    /// Runs of neighbouring elements.
    Runs {
        /// All of them.
        runs: &'a [Range<usize>],
        /// The first one.
        start: usize,
        /// For each block, the one after its last.
        ends: &'a [usize],
    },
}

impl ChainBlocks<'_> {
    /// The number of elements, and where the last one ends in a row.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_family = "wasm"))]
    #[inline(always)]
    fn depth_and_end(&self) -> (usize, usize) {
        if let ChainBlocks::Neighbours { start, end, .. } = self {
            return (end - start, *end);
        }
        let (mut depth, mut end, mut one) = (0, 0, 0..0);
        for block in 0..self.count() {
            for run in self.runs(block, &mut one) {
                (depth, end) = (depth + run.len(), end.max(run.start).max(run.end));
            }
        }
        (depth, end)
    }

    /// The number of blocks: at least one, which may be empty.
    #[inline(always)]
    pub fn count(&self) -> usize {
        match self {
            ChainBlocks::Neighbours { start, end, length } => {
                (end - start).div_ceil(*length).max(1)
            }
            ChainBlocks::Runs { ends, .. } => ends.len(),
        }
    }

    /// The runs of a block, in memory of the caller if they are not yet there.
    #[inline(always)]
    pub fn runs<'s>(&'s self, block: usize, one: &'s mut Range<usize>) -> &'s [Range<usize>] {
        match self {
            ChainBlocks::Neighbours { start, end, length } => {
                let first = start + block * length;
                *one = first..first.saturating_add(*length).min(*end);
                std::slice::from_ref(one)
            }
            ChainBlocks::Runs { runs, start, ends } => {
                let start = if block == 0 { *start } else { ends[block - 1] };
                &runs[start..ends[block]]
            }
        }
    }
}

/// The position of a block in the binary tree that combines the sums of blocks.
#[derive(Clone, Copy)]
pub struct TreeLeaf {
    /// The subtrees on the left that its sums are added to, as bits: the one of bit `level` has
    /// `1 << level` blocks.
    pub added: usize,
    /// The level of the subtree that it completes.
    pub level: usize,
}

impl TreeLeaf {
    /// That of a block of `count`.
    #[inline(always)]
    pub fn new(block: usize, count: usize) -> TreeLeaf {
        // Every one bit that the addition of one carries over is a subtree of this size. The last
        // sums are added to all subtrees that are left.
        let level = block.trailing_ones() as usize;
        TreeLeaf { added: if block + 1 == count { block } else { (1 << level) - 1 }, level }
    }
}

/// Where sums are written.
pub struct Sums<'a, 'o, T> {
    /// The number of blocks that the sums had before, and the number they have in the end.
    pub blocks: (usize, usize),
    /// Scratch tiles for subtrees of 1, 2, 4, … blocks: all of them, or the small ones, which are
    /// complete between calls.
    pub levels: &'a mut [T],
    /// Tiles for the larger subtrees of each tile of results, kept between calls.
    pub upper_levels: &'a mut [T],
    /// Where the sums of all blocks are written.
    pub results: ResultRows<'a, 'o, T>,
}

/// Rows of results: zeros are positive, and each NaN is the quiet one without sign and payload.
pub enum ResultRows<'a, 'o, T> {
    /// From the first one on, with the distance between rows.
    Strided(&'a mut [T], usize),
    /// Rows, and their first column that is used.
    Rows(&'a mut [&'o mut [T]], usize),
}

impl<T> ResultRows<'_, '_, T> {
    /// Columns of a row; `None` if it is too short.
    #[inline(always)]
    pub fn row(&mut self, row: usize, columns: usize) -> Option<&mut [T]> {
        match self {
            ResultRows::Strided(elements, stride) => {
                elements.get_mut(row * *stride..)?.get_mut(..columns)
            }
            ResultRows::Rows(rows, first) => {
                rows.get_mut(row)?.get_mut(*first..)?.get_mut(..columns)
            }
        }
    }
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

    /// Writes the sums of products of each row with each used column, in tiles of [`TILE_ROWS`].
    /// Those of a block are chains of fused multiply-adds from zero on, in the order of the
    /// elements, and these are combined as [`TreeLeaf`] says. False, and nothing is written, if there
    /// are no instructions for the type, or something is too short.
    #[inline(always)]
    fn tree(_isa: Isa, _factors: &mut Factors<'_, Self>, _sums: &mut Sums<'_, '_, Self>) -> bool {
        false
    }

    /// Writes the sums of products of a row with columns, each a chain. False, and nothing
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

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_family = "wasm"))]
mod vectors;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_family = "wasm")))]
impl Tile for f32 {}
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_family = "wasm")))]
impl Tile for f64 {}
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_family = "wasm")))]
impl Tile for i32 {}
impl Tile for i64 {}
impl Tile for Complex32 {}
impl Tile for Complex64 {}
