//! Lines of Fourier transforms on their way between tensors and the lanes of vectors.

use crate::fft_lines::Lanes;
use numerics::Element;
use numerics::simd::{Doubles, DoublesArray, DoublesKernel};
use std::slice;

/// The type of real numbers, and of the parts of complex ones.
pub(crate) trait SamplePart: Element + Into<f64> {
    /// The nearest number.
    fn nearest(number: f64) -> Self;

    /// The first pairs of a slice, one for each lane: their first numbers, and their second ones.
    fn read<V: Doubles>(pairs: &[[Self; 2]]) -> [V; 2];

    /// Writes pairs, from their first numbers and their second ones.
    fn write<V: Doubles>(parts: [V; 2], pairs: &mut [[Self; 2]]);

    /// The first pairs of a slice as they are.
    fn read_row<V: Doubles<Array = [f64; L]>, const L: usize>(pairs: &[[Self; 2]]) -> [V; 2];

    /// Writes pairs as they are.
    fn write_row<V: Doubles<Array = [f64; L]>, const L: usize>(row: [V; 2], to: &mut [[Self; 2]]);

    /// The pairs of rows, each with the pairs of all rows as [`SamplePart::read`] has them.
    fn columns<V: Doubles, const L: usize>(rows: [[V; 2]; L]) -> [[V; 2]; L];

    /// The inverse of [`SamplePart::columns`], rounded.
    fn rows<V: Doubles, const L: usize>(columns: [[V; 2]; L]) -> [[V; 2]; L];
}

/// A pair of them takes the space of one number.
impl SamplePart for f32 {
    #[inline(always)]
    fn nearest(number: f64) -> f32 {
        number as f32
    }
    #[inline(always)]
    fn read<V: Doubles>(pairs: &[[f32; 2]]) -> [V; 2] {
        V::read_pairs(pairs).widened()
    }
    #[inline(always)]
    fn write<V: Doubles>(parts: [V; 2], pairs: &mut [[f32; 2]]) {
        V::narrowed(parts).write_pairs(pairs);
    }
    #[inline(always)]
    fn read_row<V: Doubles<Array = [f64; L]>, const L: usize>(pairs: &[[f32; 2]]) -> [V; 2] {
        [V::read_pairs(pairs), V::splat(0.0)]
    }
    #[inline(always)]
    fn write_row<V: Doubles<Array = [f64; L]>, const L: usize>(row: [V; 2], to: &mut [[f32; 2]]) {
        row[0].write_pairs(to);
    }
    #[inline(always)]
    fn columns<V: Doubles, const L: usize>(mut rows: [[V; 2]; L]) -> [[V; 2]; L] {
        let mut pairs = [V::splat(0.0); L];
        for (pair, row) in pairs.iter_mut().zip(rows) {
            *pair = row[0];
        }
        V::transpose(&mut pairs);
        for (column, pair) in rows.iter_mut().zip(pairs) {
            *column = pair.widened();
        }
        rows
    }
    #[inline(always)]
    fn rows<V: Doubles, const L: usize>(mut columns: [[V; 2]; L]) -> [[V; 2]; L] {
        let mut pairs = [V::splat(0.0); L];
        for (pair, column) in pairs.iter_mut().zip(columns) {
            *pair = V::narrowed(column);
        }
        V::transpose(&mut pairs);
        for (row, pair) in columns.iter_mut().zip(pairs) {
            row[0] = pair;
        }
        columns
    }
}

/// Numbers of which a row has two vectors.
impl SamplePart for f64 {
    #[inline(always)]
    fn nearest(number: f64) -> f64 {
        number
    }
    #[inline(always)]
    fn read<V: Doubles>(pairs: &[[f64; 2]]) -> [V; 2] {
        V::read_wide_pairs(pairs)
    }
    #[inline(always)]
    fn write<V: Doubles>(parts: [V; 2], pairs: &mut [[f64; 2]]) {
        V::write_wide_pairs(parts, pairs);
    }
    #[inline(always)]
    fn read_row<V: Doubles<Array = [f64; L]>, const L: usize>(pairs: &[[f64; 2]]) -> [V; 2] {
        let numbers = pairs[..L].as_flattened().as_chunks::<L>().0;
        [V::read(&numbers[0]), V::read(&numbers[1])]
    }
    #[inline(always)]
    fn write_row<V: Doubles<Array = [f64; L]>, const L: usize>(row: [V; 2], to: &mut [[f64; 2]]) {
        let numbers = to[..L].as_flattened_mut().as_chunks_mut::<L>().0;
        (numbers[0], numbers[1]) = (row[0].array(), row[1].array());
    }
    #[inline(always)]
    fn columns<V: Doubles, const L: usize>(rows: [[V; 2]; L]) -> [[V; 2]; L] {
        let mut numbers = [[V::splat(0.0); L]; 2];
        for lane in 0..L {
            (numbers[0][lane], numbers[1][lane]) = (rows[lane][0], rows[lane][1]);
        }
        V::transpose(&mut numbers[0]);
        V::transpose(&mut numbers[1]);
        let mut columns = rows;
        for (column, numbers) in columns.iter_mut().zip(numbers.as_flattened().as_chunks().0) {
            *column = *numbers;
        }
        columns
    }
    #[inline(always)]
    fn rows<V: Doubles, const L: usize>(columns: [[V; 2]; L]) -> [[V; 2]; L] {
        let mut numbers = [[V::splat(0.0); L]; 2];
        for (to, column) in numbers.as_flattened_mut().as_chunks_mut().0.iter_mut().zip(columns) {
            *to = column;
        }
        V::transpose(&mut numbers[0]);
        V::transpose(&mut numbers[1]);
        let mut rows = columns;
        for lane in 0..L {
            rows[lane] = [numbers[0][lane], numbers[1][lane]];
        }
        rows
    }
}

/// A change of all numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scale {
    /// None.
    One,
    /// Multiplication.
    Times(f64),
    /// Division.
    Over(f64),
}

impl Scale {
    /// Numbers changed.
    #[inline(always)]
    fn of<V: Doubles>(self, [a, b]: [V; 2]) -> [V; 2] {
        match self {
            Scale::One => [a, b],
            Scale::Times(factor) => [a * V::splat(factor), b * V::splat(factor)],
            Scale::Over(divisor) => [a / V::splat(divisor), b / V::splat(divisor)],
        }
    }
}

/// Reads pairs of lines into lanes. Beyond what there is, these are zeros.
pub(crate) struct PairLoad<'a, R, const L: usize> {
    /// The numbers from the first one of the first line on.
    pub from: &'a [R],
    /// Number of numbers of a line that are there.
    pub count: usize,
    /// The distance between the pairs of a line; `None` if lines are consecutive.
    pub stride: Option<usize>,
    /// The number of lines.
    pub lanes: usize,
    /// True if parts are exchanged.
    pub is_swapped: bool,
    /// An element for each pair of a line.
    pub x: &'a mut [Lanes<[f64; L]>],
}

impl<R: SamplePart, const L: usize> DoublesKernel for PairLoad<'_, R, L>
where
    [f64; L]: DoublesArray,
{
    type Array = [f64; L];

    #[inline(always)]
    fn run<V: Doubles<Array = [f64; L]>, Q: Doubles<Array = [f64; 4]>>(self) {
        let PairLoad { from, count, stride, lanes, is_swapped, x } = self;
        let (re, im) = (usize::from(is_swapped), usize::from(!is_swapped));
        if let Some(stride) = stride {
            for (k, x) in x.iter_mut().enumerate() {
                let mut copy = [[R::ZERO; 2]; L];
                let parts: [V; 2] = if 2 * k >= count {
                    R::read(&copy)
                } else {
                    let pairs = &from[k * stride..][..2 * lanes];
                    if lanes == L {
                        R::read(pairs.as_chunks().0)
                    } else {
                        copy[..lanes].as_flattened_mut().copy_from_slice(pairs);
                        R::read(&copy)
                    }
                };
                (x[re], x[im]) = (parts[0].array(), parts[1].array());
            }
            return;
        }
        if L == 1 && lanes == 1 {
            let (pairs, last) = from[..count].as_chunks::<2>();
            let (whole, rest) = x.split_at_mut(pairs.len().min(x.len()));
            for (x, &pair) in whole.iter_mut().zip(pairs) {
                let parts: [V; 2] = R::read(&[pair]);
                (x[re], x[im]) = (parts[0].array(), parts[1].array());
            }
            rest.fill([V::splat(0.0).array(); 2]);
            if let (Some(x), &[last]) = (rest.first_mut(), last) {
                x[re] = R::read::<V>(&[[last, R::ZERO]])[0].array();
            }
            return;
        }
        for (block, x) in x.chunks_mut(L).enumerate() {
            let first = count.min(2 * block * L);
            let len = (count - first).min(2 * L);
            let mut rows = [[V::splat(0.0); 2]; L];
            for (lane, row) in rows[..lanes].iter_mut().enumerate() {
                let numbers = &from[lane * count + first..][..len];
                *row = if len == 2 * L {
                    R::read_row(numbers.as_chunks().0)
                } else {
                    let mut copy = [[R::ZERO; 2]; L];
                    copy.as_flattened_mut()[..len].copy_from_slice(numbers);
                    R::read_row(&copy)
                };
            }
            for (x, parts) in x.iter_mut().zip(R::columns(rows)) {
                (x[re], x[im]) = (parts[0].array(), parts[1].array());
            }
        }
    }
}

/// Writes lines in lanes as pairs, where they are consecutive.
pub(crate) struct StoreRows<'a, R, const L: usize> {
    /// The elements.
    pub x: &'a [Lanes<[f64; L]>],
    /// True if parts are exchanged.
    pub is_swapped: bool,
    /// The scaling of all numbers, before they are rounded.
    pub scale: Scale,
    /// The pairs of all lines.
    pub to: &'a mut [[R; 2]],
}

impl<R: SamplePart, const L: usize> DoublesKernel for StoreRows<'_, R, L>
where
    [f64; L]: DoublesArray,
{
    type Array = [f64; L];

    #[inline(always)]
    fn run<V: Doubles<Array = [f64; L]>, Q: Doubles<Array = [f64; 4]>>(self) {
        let StoreRows { x, is_swapped, scale, to } = self;
        let (re, im) = (usize::from(is_swapped), usize::from(!is_swapped));
        let (count, lanes) = (x.len(), to.len() / x.len().max(1));
        if L == 1 && lanes == 1 {
            for (x, pair) in x.iter().zip(to) {
                R::write(scale.of([V::read(&x[re]), V::read(&x[im])]), slice::from_mut(pair));
            }
            return;
        }
        for (block, x) in x.chunks(L).enumerate() {
            let mut columns = [[V::splat(0.0); 2]; L];
            for (column, x) in columns.iter_mut().zip(x) {
                *column = scale.of([V::read(&x[re]), V::read(&x[im])]);
            }
            for (lane, row) in R::rows(columns)[..lanes].iter().enumerate() {
                let pairs = &mut to[lane * count + block * L..][..x.len()];
                if pairs.len() == L {
                    R::write_row(*row, pairs);
                } else {
                    let mut copy = [[R::ZERO; 2]; L];
                    R::write_row(*row, &mut copy);
                    pairs.copy_from_slice(&copy[..pairs.len()]);
                }
            }
        }
    }
}

/// Writes lines in lanes as pairs, with the pairs of all lines side by side.
pub(crate) struct StoreColumns<'a, 'o, R, const L: usize> {
    /// The elements.
    pub x: &'a [Lanes<[f64; L]>],
    /// True if parts are exchanged.
    pub is_swapped: bool,
    /// The scaling of all numbers, before they are rounded.
    pub scale: Scale,
    /// For each element, the elements of all lines.
    pub to: &'a mut [&'o mut [[R; 2]]],
    /// The first line, and the number of lines.
    pub lines: [usize; 2],
}

impl<R: SamplePart, const L: usize> DoublesKernel for StoreColumns<'_, '_, R, L>
where
    [f64; L]: DoublesArray,
{
    type Array = [f64; L];

    #[inline(always)]
    fn run<V: Doubles<Array = [f64; L]>, Q: Doubles<Array = [f64; 4]>>(self) {
        let StoreColumns { x, is_swapped, scale, to, lines: [first, lanes] } = self;
        let (re, im) = (usize::from(is_swapped), usize::from(!is_swapped));
        for (to, x) in to.iter_mut().zip(x) {
            let parts: [V; 2] = scale.of([V::read(&x[re]), V::read(&x[im])]);
            let to = &mut to[first..][..lanes];
            if lanes == L {
                R::write(parts, to);
            } else {
                let mut copy = [[R::ZERO; 2]; L];
                R::write(parts, &mut copy);
                to.copy_from_slice(&copy[..lanes]);
            }
        }
    }
}

/// Elements in groups of lines along another dimension.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grouped<'a, const L: usize> {
    /// The elements from the first one on.
    pub elements: &'a [Lanes<[f64; L]>],
    /// The distance between elements of these lines, or of other lanes.
    pub stride: usize,
    /// True if the elements of these lines are the lanes.
    pub is_transposed: bool,
}

/// Reads lines from groups of lines along another dimension.
pub(crate) struct Regroup<'a, const L: usize> {
    /// The groups.
    pub from: Grouped<'a, L>,
    /// The number of lines.
    pub lanes: usize,
    /// True if parts are exchanged.
    pub is_swapped: bool,
    /// The scaling of all numbers.
    pub scale: Scale,
    /// The elements of a line.
    pub x: &'a mut [Lanes<[f64; L]>],
}

impl<const L: usize> DoublesKernel for Regroup<'_, L>
where
    [f64; L]: DoublesArray,
{
    type Array = [f64; L];

    #[inline(always)]
    fn run<V: Doubles<Array = [f64; L]>, Q: Doubles<Array = [f64; 4]>>(self) {
        let Regroup { from: Grouped { elements, stride, is_transposed }, .. } = self;
        let (re, im) = (usize::from(self.is_swapped), usize::from(!self.is_swapped));
        if !is_transposed {
            for (k, x) in self.x.iter_mut().enumerate() {
                let element = &elements[k * stride];
                let parts = self.scale.of([V::read(&element[0]), V::read(&element[1])]);
                (x[re], x[im]) = (parts[0].array(), parts[1].array());
            }
            return;
        }
        for (block, x) in self.x.chunks_mut(L).enumerate() {
            let mut parts = [[V::splat(0.0); L]; 2];
            let rows = &elements[block * stride..][..self.lanes];
            for (lane, row) in rows.iter().enumerate() {
                let row = self.scale.of([V::read(&row[0]), V::read(&row[1])]);
                (parts[0][lane], parts[1][lane]) = (row[0], row[1]);
            }
            V::transpose(&mut parts[0]);
            V::transpose(&mut parts[1]);
            for (k, x) in x.iter_mut().enumerate() {
                (x[re], x[im]) = (parts[0][k].array(), parts[1][k].array());
            }
        }
    }
}
