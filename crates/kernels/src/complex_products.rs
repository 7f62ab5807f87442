//! Products of complex matrices as products of real ones.
//!
//! A row of complex numbers is a row of real ones, a real part before each imaginary part. A row of
//! the right factor becomes two: as it is, for real parts of the left one, and multiplied by the
//! imaginary unit, for imaginary parts. The real product has the parts of each complex sum, which
//! add the same products in the same order.

use super::accumulator::Accumulator;
use super::direct::DirectRow;
use super::matmul::{FEW, Product, Results};
use super::panels::RowOrder;
use super::rows::{Matrix, RowScratch, Rows, Segments, SomeRows};
use super::vector_products::VectorProduct;
use bytemuck::{Pod, cast_slice, cast_slice_mut};
use numerics::simd::{ColumnScales, Isa, transpose};
use numerics::{Complex, Element, TensorError, budget::Scratch};
use std::ops::{Neg, Range};

/// Rows that are multiplied at a time.
const ROWS: usize = 192;
/// At most this many rows are multiplied as vectors, each of which reads all rows of the right
/// factor: to copy these takes longer.
const MAX_VECTORS: usize = 6;

/// As [`Product::compute`], with `R` rows and `C` columns of real results at a time.
///
/// # Errors
/// If there is no memory for a copy of columns.
pub(crate) fn compute<P, const R: usize, const C: usize>(
    product: &Product<'_, Complex<P>>,
    isa: Isa,
    rows: Range<usize>,
    columns: Range<usize>,
    out: &mut Results<'_, Complex<P>>,
) -> Result<(), TensorError>
where
    P: Accumulator + Neg<Output = P>,
    Complex<P>: Accumulator,
{
    let &Product { depth, a, b, order, .. } = product;
    let most = match b.strides {
        [_, 1] => MAX_VECTORS,
        [1, _] => 1,
        _ => 0,
    };
    let are_vectors = rows.len() <= most && !a.has_segments() && order.is_none();
    if depth <= FEW || are_vectors {
        let elements = &b.elements[columns.start * b.strides[1]..];
        let b = Matrix { elements, ..b };
        let mut scratch = RowScratch::default();
        let some = a.rows(rows.clone(), depth, &mut scratch);
        for i in 0..rows.len() {
            let (a, out) = (&some.start_of(i)[..depth], out.part(i, 0..columns.len()));
            match depth {
                ..=FEW => isa.run(DirectRow { a, b, out }),
                _ => isa.run(VectorProduct { isa, a, b, scales: ColumnScales::NONE, out }),
            }
        }
        return Ok(());
    }
    // Half of the second-level cache holds the columns that are copied at a time.
    let near = host::machine().l2.bytes / 2 / size_of::<P>();
    let wide = (near / (4 * depth) / C).max(1) * C;
    let most = depth * wide.min(columns.len());
    let mut copy = Scratch::filled(4 * most, P::ZERO)?;
    // Neighbours in columns become neighbours in rows before.
    let is_turned = b.strides[0] == 1 && b.strides[1] != 1 && order.is_none();
    let mut in_rows = Scratch::filled(if is_turned { most } else { 0 }, Element::ZERO)?;
    let mut scratch = RowScratch::default();
    for first_column in columns.clone().step_by(wide) {
        let width = wide.min(columns.end - first_column);
        let copy = &mut copy[..4 * depth * width];
        let elements = &b.elements[first_column * b.strides[1]..];
        let b = if is_turned {
            transpose((elements, b.strides[1]), (&mut in_rows, width), [width, depth]);
            Matrix { elements: &in_rows[..], strides: [width, 1] }
        } else {
            Matrix { elements, ..b }
        };
        copy_columns(b, order, [depth, width], copy);
        let at = 2 * (first_column - columns.start);
        for first in rows.clone().step_by(ROWS) {
            let range = first..rows.end.min(first + ROWS);
            let count = range.len();
            let a = RealRows::new(a.rows(range, depth, &mut scratch), count, depth);
            let b = Matrix { elements: &*copy, strides: [2 * width, 1] };
            let (depth, width) = (2 * depth, 2 * width);
            let (order, panels) = (None, None);
            let product = Product { rows: count, depth, columns: width, a: &a, b, order, panels };
            let mut results = real_results(out, first - rows.start, at..at + width);
            product.compute_tiles::<R, C>(isa, 0..count, 0..width, &mut results, None)?;
        }
    }
    Ok(())
}

/// Copies columns of a right factor, two rows of real numbers for each one.
fn copy_columns<P: Accumulator + Neg<Output = P>>(
    b: Matrix<'_, Complex<P>>,
    order: Option<&RowOrder>,
    [depth, width]: [usize; 2],
    copy: &mut [P],
) {
    let Matrix { elements, strides: [row_stride, column_stride] } = b;
    let mut copy_row = |at: usize, row: usize| {
        let (as_it_is, turned) = copy[4 * row * width..][..4 * width].split_at_mut(2 * width);
        let pairs = as_it_is.as_chunks_mut().0.iter_mut().zip(turned.as_chunks_mut().0);
        let copy_pair =
            |((as_it_is, turned), column): ((&mut [P; 2], &mut [P; 2]), &Complex<P>)| {
                *as_it_is = [column.re, column.im];
                *turned = [-column.im, column.re];
            };
        // Neighbours become vectors.
        match column_stride {
            1 => pairs.zip(&elements[at..at + width]).for_each(copy_pair),
            stride => pairs.zip(elements[at..].iter().step_by(stride.max(1))).for_each(copy_pair),
        }
    };
    match order {
        Some(order) => order.places().for_each(|(row, at)| copy_row(at, row)),
        None => (0..depth).for_each(|row| copy_row(row * row_stride, row)),
    }
}

/// Results from a row on and in some columns, as real numbers.
fn real_results<'o, P: Pod>(
    out: &'o mut Results<'_, Complex<P>>,
    row: usize,
    columns: Range<usize>,
) -> Results<'o, P>
where
    Complex<P>: Pod,
{
    match out {
        Results::Strided(elements, stride) => {
            let elements = cast_slice_mut(&mut elements[row * *stride..]);
            Results::Strided(&mut elements[columns.start..], 2 * *stride)
        }
        Results::Rows(rows) => {
            let rows = rows[row..].iter_mut();
            Results::Rows(rows.map(|row| &mut cast_slice_mut(row)[columns.clone()]).collect())
        }
    }
}

/// Rows of complex numbers as rows of real ones.
struct RealRows<'a, P> {
    elements: &'a [P],
    /// Where each row starts.
    starts: Vec<usize>,
    segments: Segments,
}

impl<'a, P: Pod> RealRows<'a, P> {
    /// Some rows of `depth` complex numbers.
    fn new(rows: SomeRows<'a, Complex<P>>, count: usize, depth: usize) -> RealRows<'a, P>
    where
        Complex<P>: Pod,
    {
        let (elements, starts, segments) = match rows {
            SomeRows::Neighbours(elements, stride) => {
                (elements, (0..count).map(|row| 2 * row * stride).collect(), Segments::pairs(depth))
            }
            SomeRows::Segments { elements, starts, segments } => {
                let starts = starts[..count].iter().map(|start| 2 * start).collect();
                (elements, starts, segments.doubled())
            }
        };
        RealRows { elements: cast_slice(elements), starts, segments }
    }
}

impl<P: Sync> Rows<P> for RealRows<'_, P> {
    fn rows<'s>(
        &'s self,
        range: Range<usize>,
        _depth: usize,
        _scratch: &'s mut RowScratch<P>,
    ) -> SomeRows<'s, P> {
        let RealRows { elements, starts, segments } = self;
        SomeRows::Segments { elements, starts: &starts[range], segments }
    }

    fn copied(&self, _rows: usize, _depth: usize) -> usize {
        0
    }

    fn has_segments(&self) -> bool {
        true
    }

    fn blocks(&self, _depth: usize) -> usize {
        self.segments.blocks()
    }
}
