//! The left factor of a product of matrices, row by row.

use super::accumulator::Accumulator;
use super::matmul::BLOCK;
use numerics::simd::{ChainBlocks, Starts, transpose};
use std::ops::Range;

/// Elements in memory as a matrix: that of row `i` and column `j` is at
/// `i * strides[0] + j * strides[1]`.
#[derive(Clone, Copy)]
pub struct Matrix<'a, T> {
    /// The elements from the first one on.
    pub elements: &'a [T],
    /// Distances between rows and between columns.
    pub strides: [usize; 2],
}

/// The left factor of a product, a few rows at a time.
pub trait Rows<T>: Sync {
    /// A range of rows, of `depth` elements each; in memory as they are, or copied to `scratch`.
    fn rows<'s>(
        &'s self,
        range: Range<usize>,
        depth: usize,
        scratch: &'s mut RowScratch<T>,
    ) -> SomeRows<'s, T>;

    /// The number of elements in memory that some rows of `depth` elements have, at most: rows may
    /// share some.
    fn footprint(&self, rows: usize, depth: usize) -> usize {
        rows.saturating_mul(depth)
    }

    /// The number of elements that [`Rows::rows`] copies for some rows of `depth` elements, at
    /// most.
    fn copied(&self, rows: usize, depth: usize) -> usize {
        rows.saturating_mul(depth)
    }

    /// True if [`Rows::rows`] gives rows in segments.
    fn has_segments(&self) -> bool {
        false
    }

    /// The number of chains of a sum of `depth` products.
    fn blocks(&self, depth: usize) -> usize {
        depth.div_ceil(BLOCK)
    }
}

/// Memory for [`Rows::rows`].
pub struct RowScratch<T> {
    /// For elements.
    pub elements: Vec<T>,
    /// For [`SomeRows::Segments`].
    pub starts: Vec<usize>,
}

impl<T> Default for RowScratch<T> {
    fn default() -> RowScratch<T> {
        RowScratch { elements: Vec::new(), starts: Vec::new() }
    }
}

/// Rows of a left factor.
#[derive(Clone, Copy)]
pub enum SomeRows<'s, T> {
    /// Rows of neighbouring elements, and the distance between rows.
    Neighbours(&'s [T], usize),
    /// Rows of several runs of neighbouring elements.
    Segments {
        /// All elements.
        elements: &'s [T],
        /// Where each row starts.
        starts: &'s [usize],
        /// Where its elements are, from there on.
        segments: &'s Segments,
    },
}

impl<'s, T> SomeRows<'s, T> {
    /// The number of chains of a sum of `depth` products.
    #[inline(always)]
    pub fn blocks(&self, depth: usize) -> usize {
        match self {
            SomeRows::Neighbours(..) => depth.div_ceil(BLOCK),
            SomeRows::Segments { segments, .. } => segments.blocks(),
        }
    }

    /// Some of these chains, and the number of products before them.
    #[inline(always)]
    pub fn some_blocks(&self, blocks: &Range<usize>, depth: usize) -> (ChainBlocks<'s>, usize) {
        let before = self.products(blocks, depth).start;
        let blocks = match *self {
            SomeRows::Neighbours(..) => ChainBlocks::Neighbours {
                start: before,
                end: depth.min(blocks.end * BLOCK),
                length: BLOCK,
            },
            SomeRows::Segments { segments: Segments { runs, ends, .. }, .. } => ChainBlocks::Runs {
                runs,
                start: if blocks.start == 0 { 0 } else { ends[blocks.start - 1] },
                ends: &ends[blocks.clone()],
            },
        };
        (blocks, before)
    }

    /// The products of some of these chains.
    #[inline(always)]
    pub fn products(&self, blocks: &Range<usize>, depth: usize) -> Range<usize> {
        match self {
            SomeRows::Neighbours(..) => blocks.start * BLOCK..depth.min(blocks.end * BLOCK),
            SomeRows::Segments { segments: Segments { before, depth, .. }, .. } => {
                let before = |block| before.get(block).copied().unwrap_or(*depth);
                before(blocks.start)..before(blocks.end)
            }
        }
    }

    /// The elements from which the rows from one on start, and where.
    #[inline(always)]
    pub fn starts(&self, row: usize) -> (&'s [T], Starts<'s>) {
        match *self {
            SomeRows::Neighbours(elements, stride) => {
                (&elements[row * stride..], Starts::Distance(stride))
            }
            SomeRows::Segments { elements, starts, .. } => {
                (elements, Starts::Places(&starts[row..]))
            }
        }
    }

    /// The elements from the start of a row on.
    #[inline(always)]
    pub fn start_of(&self, row: usize) -> &'s [T] {
        match *self {
            SomeRows::Neighbours(elements, stride) => &elements[row * stride..],
            SomeRows::Segments { elements, starts, .. } => &elements[starts[row]..],
        }
    }
}

/// Runs of neighbouring elements of a row, for each block of at most [`BLOCK`] products.
#[derive(Debug, Default)]
pub struct Segments {
    runs: Vec<Range<usize>>,
    /// The number of runs at the end of each block,
    ends: Vec<usize>,
    /// and of the elements before it.
    before: Vec<usize>,
    depth: usize,
}

impl Segments {
    /// Adds elements after the others, which are the next ones from a `place` on where all products
    /// are divided into blocks.
    pub fn push(&mut self, mut run: Range<usize>, mut place: usize) {
        while !run.is_empty() {
            let part = run.start..run.end.min(run.start + BLOCK - place % BLOCK);
            let is_new_block = self.blocks() <= place / BLOCK;
            self.extend_to(place / BLOCK * BLOCK + 1);
            run.start = part.end;
            place += part.len();
            self.depth += part.len();
            match self.runs.last_mut().filter(|last| !is_new_block && last.end == part.start) {
                Some(last) => last.end = part.end,
                None => self.runs.push(part),
            }
            self.ends.last_mut().into_iter().for_each(|end| *end = self.runs.len());
        }
    }

    /// Adds the blocks without elements that this many places have at the end.
    pub fn extend_to(&mut self, places: usize) {
        let blocks = places.div_ceil(BLOCK);
        self.ends.resize(blocks, self.runs.len());
        self.before.resize(blocks, self.depth);
    }

    /// The runs of `depth` neighbouring complex numbers, as pairs of real ones.
    pub fn pairs(depth: usize) -> Segments {
        let mut segments = Segments::default();
        segments.push(0..depth, 0);
        segments.doubled()
    }

    /// The same runs of pairs of elements.
    pub fn doubled(&self) -> Segments {
        let Segments { runs, ends, before, depth } = self;
        Segments {
            runs: runs.iter().map(|run| 2 * run.start..2 * run.end).collect(),
            ends: ends.clone(),
            before: before.iter().map(|products| 2 * products).collect(),
            depth: 2 * depth,
        }
    }

    /// The number of blocks.
    #[inline(always)]
    pub fn blocks(&self) -> usize {
        self.ends.len()
    }

    /// All runs.
    pub fn runs(&self) -> &[Range<usize>] {
        &self.runs
    }
}

impl<T: Accumulator> Rows<T> for Matrix<'_, T> {
    fn rows<'s>(
        &'s self,
        range: Range<usize>,
        depth: usize,
        scratch: &'s mut RowScratch<T>,
    ) -> SomeRows<'s, T> {
        let [row_stride, column_stride] = self.strides;
        let elements = &self.elements[range.start * row_stride..];
        if column_stride == 1 || depth == 1 {
            return SomeRows::Neighbours(elements, row_stride);
        }
        let copy = &mut scratch.elements;
        copy.resize(range.len() * depth, T::ZERO);
        if row_stride == 1 {
            transpose((elements, column_stride), (copy, depth), [depth, range.len()]);
            return SomeRows::Neighbours(copy, depth);
        }
        // A few rows at a time, which are close together in memory.
        for (part, copy) in copy.chunks_mut(16 * depth).enumerate() {
            let elements = &elements[part * 16 * row_stride..];
            for k in 0..depth {
                for (r, row) in copy.chunks_exact_mut(depth).enumerate() {
                    row[k] = elements[r * row_stride + k * column_stride];
                }
            }
        }
        SomeRows::Neighbours(copy, depth)
    }

    fn copied(&self, rows: usize, depth: usize) -> usize {
        if self.strides[1] == 1 || depth == 1 { 0 } else { rows.saturating_mul(depth) }
    }
}
