//! Shapes: strides, walks over indices, and strided views, which describe every rearrangement of
//! elements that is affine in the index (broadcast, transpose, slice, reverse, the interior of a
//! pad).

use crate::dispatch::dispatch_storage;
pub use crate::runs::Runs;
use crate::tensor::allocate;
use crate::transposes::Blocks;
use crate::{DType, TensorError};
use bytemuck::Pod;
use smallvec::SmallVec;

/// The number of elements of a shape, or `None` if it does not fit. A shape with an empty dimension
/// has none, however large its other dimensions are.
pub fn num_elements(shape: &[usize]) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size))
}

/// The sizes of dimensions, a few of which need no allocation.
pub type Sizes = SmallVec<[usize; 2]>;

/// True if two shapes are equal. For rank 0 this is many times faster than `==`, which passes the
/// dangling pointers of empty slices to `memcmp`; some versions of that take hundreds of
/// nanoseconds for them.
#[inline]
pub fn equal(lhs: &[usize], rhs: &[usize]) -> bool {
    lhs.len() == rhs.len() && (lhs.is_empty() || lhs == rhs)
}

/// The row-major strides, in elements.
///
/// Strides of a tensor with an empty dimension are never used, and saturate if they overflow.
pub fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1usize; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(shape[axis]);
    }
    strides
}

/// Moves `index` to the next one of `shape` in row-major order. Returns `false`, and the first
/// index, after the last one.
pub fn advance(index: &mut [usize], shape: &[usize]) -> bool {
    for (position, &size) in index.iter_mut().zip(shape).rev() {
        *position += 1;
        if *position < size {
            return true;
        }
        *position = 0;
    }
    false
}

/// A walk over all indices of a shape in row-major order, which lends out each index in turn.
#[derive(Clone, Debug)]
pub struct Indices {
    shape: Vec<usize>,
    index: Vec<usize>,
    started: bool,
    done: bool,
}

impl Indices {
    /// A walk over the indices of `shape`. There is one, the empty index, for rank 0.
    pub fn new(shape: impl AsRef<[usize]>) -> Indices {
        let shape = shape.as_ref().to_vec();
        let done = shape.contains(&0);
        Indices { index: vec![0; shape.len()], shape, started: false, done }
    }

    /// The next index, or `None` after the last one.
    pub fn next_index(&mut self) -> Option<&[usize]> {
        if self.done {
            return None;
        }
        if self.started && !advance(&mut self.index, &self.shape) {
            self.done = true;
            return None;
        }
        self.started = true;
        Some(&self.index)
    }
}

/// A shape laid over linear memory: the element at `index` is at
/// `offset + sum(index[axis] * strides[axis])`. Strides may be zero or negative.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StridedView {
    offset: usize,
    shape: Vec<usize>,
    strides: Vec<isize>,
}

/// A dimension of a view after simplification.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    pub size: usize,
    pub stride: isize,
}

/// Shorter runs are read many at a time.
const SHORT_RUN: usize = 32;

fn too_large(shape: &[usize]) -> TensorError {
    TensorError::Invalid(format!("a tensor of shape {shape:?} does not fit into the address space"))
}

impl StridedView {
    /// A view from its parts.
    ///
    /// # Errors
    /// If there is not one stride for every dimension, or the shape is too large.
    pub fn new(
        offset: usize,
        shape: impl AsRef<[usize]>,
        strides: impl AsRef<[isize]>,
    ) -> Result<StridedView, TensorError> {
        let (shape, strides) = (shape.as_ref().to_vec(), strides.as_ref().to_vec());
        if shape.len() != strides.len() {
            return Err(TensorError::Length { expected: shape.len(), found: strides.len() });
        }
        num_elements(&shape).ok_or_else(|| too_large(&shape))?;
        Ok(StridedView { offset, shape, strides })
    }

    /// All elements of a row-major tensor.
    ///
    /// # Errors
    /// If the shape is too large.
    pub fn dense(shape: &[usize]) -> Result<StridedView, TensorError> {
        let count = num_elements(shape).ok_or_else(|| too_large(shape))?;
        isize::try_from(count).map_err(|_| too_large(shape))?;
        // Without an empty dimension no stride is larger than the number of elements; with one, no
        // stride is ever used.
        let signed = |stride: usize| isize::try_from(stride).unwrap_or(isize::MAX);
        let strides = strides(shape).into_iter().map(signed).collect::<Vec<_>>();
        StridedView::new(0, shape, strides)
    }

    /// The part of a row-major tensor that starts at `start` and has `size` elements along each
    /// dimension, `step` apart. With a negative step it runs backwards.
    ///
    /// # Errors
    /// If the number of dimensions differs or the part reaches outside of `shape`.
    pub fn window(
        shape: &[usize],
        start: &[usize],
        size: &[usize],
        step: &[isize],
    ) -> Result<StridedView, TensorError> {
        let rank = shape.len();
        if start.len() != rank || size.len() != rank || step.len() != rank {
            return Err(TensorError::Length { expected: rank, found: start.len() });
        }
        let mut view = StridedView::dense(shape)?;
        for axis in 0..rank {
            if size[axis] > 0 {
                let last = isize::try_from(size[axis] - 1).ok();
                let last = last.and_then(|last| last.checked_mul(step[axis]));
                let last = last.and_then(|last| start[axis].checked_add_signed(last));
                if start[axis] >= shape[axis] || last.is_none_or(|last| last >= shape[axis]) {
                    return Err(TensorError::OutOfBounds);
                }
            }
        }
        if !size.contains(&0) {
            // Every start is inside of its dimension, so the offset is that of an element.
            view.offset = start.iter().zip(strides(shape)).map(|(&at, stride)| at * stride).sum();
        }
        for (stride, &step) in view.strides.iter_mut().zip(step) {
            *stride = stride.saturating_mul(step);
        }
        StridedView::new(view.offset, size, view.strides)
    }

    /// This view with its dimensions in another order: dimension `axis` of the result is dimension
    /// `permutation[axis]` of this view.
    ///
    /// # Errors
    /// If `permutation` does not name every dimension once.
    pub fn permute(&self, permutation: &[usize]) -> Result<StridedView, TensorError> {
        let rank = self.shape.len();
        if permutation.len() != rank || (0..rank).any(|axis| !permutation.contains(&axis)) {
            return Err(TensorError::Invalid(format!(
                "{permutation:?} is not a permutation of the {rank} dimensions"
            )));
        }
        let shape: Vec<_> = permutation.iter().map(|&axis| self.shape[axis]).collect();
        let strides: Vec<_> = permutation.iter().map(|&axis| self.strides[axis]).collect();
        StridedView::new(self.offset, shape, strides)
    }

    /// This view repeated over `shape`: dimension `axis` of this view becomes dimension
    /// `dimensions[axis]` of the result, where it has the same size, or is repeated if its size is
    /// 1.
    ///
    /// # Errors
    /// If `dimensions` has another length, or names a dimension that does not exist or has another
    /// size.
    pub fn broadcast(
        &self,
        shape: &[usize],
        dimensions: &[usize],
    ) -> Result<StridedView, TensorError> {
        let mismatch = || TensorError::Shape { lhs: self.shape.clone(), rhs: shape.to_vec() };
        if dimensions.len() != self.shape.len() {
            return Err(mismatch());
        }
        let mut strides = vec![0; shape.len()];
        for (axis, &target) in dimensions.iter().enumerate() {
            let size = *shape.get(target).ok_or_else(mismatch)?;
            if self.shape[axis] == size {
                strides[target] = self.strides[axis];
            } else if self.shape[axis] != 1 {
                return Err(mismatch());
            }
        }
        StridedView::new(self.offset, shape, strides)
    }

    /// The part where each dimension has a first index, a size and a stride: `of` gives them
    /// for the number, the size and the stride of the dimension.
    pub fn part(
        &self,
        of: impl Fn(usize, usize, isize) -> Option<(usize, usize, isize)>,
    ) -> Option<StridedView> {
        let mut offset = self.offset();
        let (mut shape, mut strides) = (Vec::new(), Vec::new());
        for (d, (&size, &stride)) in self.shape().iter().zip(self.strides()).enumerate() {
            let (first, size, new_stride) = of(d, size, stride)?;
            offset =
                offset.checked_add_signed(isize::try_from(first).ok()?.checked_mul(stride)?)?;
            shape.push(size);
            strides.push(new_stride);
        }
        StridedView::new(offset, shape, strides).ok()
    }

    /// The elements in another shape; `None` if no strides give it.
    pub fn reshaped(&self, shape: &[usize]) -> Option<StridedView> {
        if num_elements(shape)? == 0 {
            return StridedView::new(0, shape, vec![0; shape.len()]).ok();
        }
        // Runs of elements at equal distances, the innermost first.
        let mut runs: Vec<(usize, isize)> = Vec::new();
        for (&size, &stride) in self.shape().iter().zip(self.strides()).rev() {
            match runs.last_mut() {
                _ if size == 1 => {}
                Some((count, inner))
                    if inner.checked_mul(isize::try_from(*count).ok()?)? == stride =>
                {
                    *count *= size;
                }
                _ => runs.push((size, stride)),
            }
        }
        let mut runs = runs.into_iter();
        let (mut left, mut next) = runs.next().unwrap_or((1, 0));
        let mut strides = vec![0; shape.len()];
        for (&size, stride) in shape.iter().zip(&mut strides).rev().filter(|(size, _)| **size != 1)
        {
            if left == 1 {
                (left, next) = runs.next()?;
            }
            if left % size != 0 {
                return None;
            }
            *stride = next;
            next = next.checked_mul(isize::try_from(size).ok()?)?;
            left /= size;
        }
        StridedView::new(self.offset(), shape, strides).ok()
    }

    /// The shape of the view.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The position of the first element.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The distance of neighbours along each dimension.
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// True if the view is a contiguous run of elements from the start of the memory, in order.
    pub fn is_dense(&self) -> bool {
        self.offset == 0 && matches!(self.axes()[..], [] | [Axis { stride: 1, .. }])
    }

    /// The dimensions of sizes other than 1, neighbours merged where they are one run. A view
    /// with an empty dimension has one empty axis.
    pub(crate) fn axes(&self) -> Vec<Axis> {
        if self.shape.contains(&0) {
            return vec![Axis { size: 0, stride: 1 }];
        }
        let mut axes: Vec<Axis> = Vec::with_capacity(self.shape.len());
        for (&size, &stride) in self.shape.iter().zip(&self.strides) {
            if size == 1 {
                continue;
            }
            match axes.last_mut() {
                Some(outer)
                    if isize::try_from(size).ok().and_then(|n| stride.checked_mul(n))
                        == Some(outer.stride) =>
                {
                    *outer = Axis { size: outer.size * size, stride };
                }
                _ => axes.push(Axis { size, stride }),
            }
        }
        axes
    }

    /// The number of elements of the view, after a check that all lie inside of `len` elements.
    pub(crate) fn check(&self, len: usize) -> Result<usize, TensorError> {
        let count = num_elements(&self.shape).ok_or(TensorError::OutOfBounds)?;
        if count == 0 {
            return Ok(0);
        }
        let (mut low, mut high) = (self.offset as i128, self.offset as i128);
        for (&size, &stride) in self.shape.iter().zip(&self.strides) {
            let reach = (size as i128 - 1) * stride as i128;
            let end = if reach < 0 { &mut low } else { &mut high };
            *end = end.checked_add(reach).ok_or(TensorError::OutOfBounds)?;
        }
        if low < 0 || high >= len as i128 {
            return Err(TensorError::OutOfBounds);
        }
        Ok(count)
    }

    /// The elements of the view, in row-major order of its shape.
    ///
    /// # Errors
    /// If the view reaches outside of `source`, or there is no memory for the result.
    pub fn gather<T: Pod>(&self, source: &[T]) -> Result<Vec<T>, TensorError> {
        let count = self.check(source.len())?;
        let axes = self.axes();
        let transposed = Blocks::of(&axes);
        let mut result = allocate(count)?;
        if let Some(blocks) = transposed {
            result.resize(count, T::zeroed());
            blocks.gather(self.offset, source, &mut result);
            return Ok(result);
        }
        if axes.last().is_some_and(|run| run.size < SHORT_RUN) {
            result.resize(count, T::zeroed());
            Runs::along(self.offset, axes).read(source, 0, &mut result);
            return Ok(result);
        }
        walk_runs(self.offset, &axes, |start, run| match run.stride {
            1 => result.extend_from_slice(&source[start..start + run.size]),
            0 => result.extend(std::iter::repeat_n(source[start], run.size)),
            stride => result.extend((0..run.size).map(|i| source[at(start, i, stride)])),
        });
        Ok(result)
    }

    /// As [`StridedView::gather`], writing to `out`.
    ///
    /// # Errors
    /// If `out` has another number of elements, or the view reaches outside of `source`.
    pub fn gather_into<T: Pod>(&self, source: &[T], out: &mut [T]) -> Result<(), TensorError> {
        let count = self.check(source.len())?;
        if out.len() != count {
            return Err(TensorError::Length { expected: count, found: out.len() });
        }
        let axes = self.axes();
        match Blocks::of(&axes) {
            Some(blocks) => blocks.gather(self.offset, source, out),
            None => Runs::along(self.offset, axes).read(source, 0, out),
        }
        Ok(())
    }

    /// As [`StridedView::gather_into`], of elements of a type, given as bytes.
    ///
    /// # Errors
    /// As there, and if the bytes are not aligned for the type.
    pub fn gather_bytes(
        &self,
        dtype: DType,
        source: &[u8],
        out: &mut [u8],
    ) -> Result<(), TensorError> {
        dispatch_storage!(dtype, S => {
            let (source, out) = elements::<S>(source, out)?;
            self.gather_into(source, out)
        })
    }

    /// The view without dimensions of one element.
    pub fn squeezed(&self) -> StridedView {
        let axes = self.shape.iter().zip(&self.strides).filter(|&(&size, _)| size != 1);
        let (shape, strides) = axes.map(|(&size, &stride)| (size, stride)).unzip();
        StridedView { offset: self.offset, shape, strides }
    }

    /// The view from an index of its first dimension on, of this many of these.
    ///
    /// # Errors
    /// If it has no dimension, or fewer elements along it.
    pub fn rows(&self, first: usize, count: usize) -> Result<StridedView, TensorError> {
        let (Some(&rows), Some(&stride)) = (self.shape.first(), self.strides.first()) else {
            return Err(TensorError::OutOfBounds);
        };
        if first.checked_add(count).is_none_or(|end| end > rows) {
            return Err(TensorError::OutOfBounds);
        }
        let mut view = self.clone();
        view.offset = at(self.offset, first, stride);
        view.shape[0] = count;
        Ok(view)
    }

    /// Writes elements, in row-major order of the view's shape, to the places of the view.
    ///
    /// # Errors
    /// If the number of elements does not fit the view, or the view reaches outside of `target`.
    pub fn scatter<T: Pod>(&self, source: &[T], target: &mut [T]) -> Result<(), TensorError> {
        let count = self.check(target.len())?;
        if source.len() != count {
            return Err(TensorError::Length { expected: count, found: source.len() });
        }
        let axes = self.axes();
        if let Some(blocks) = Blocks::of(&axes) {
            blocks.walk(self.offset, |dense, strided| target[strided] = source[dense]);
            return Ok(());
        }
        Runs::along(self.offset, axes).write(source, target);
        Ok(())
    }

    /// The parts of a tensor of a shape, and of the result of padding it, that are the same
    /// elements, and the shape of this result: `low` and `high` elements around the elements along
    /// each dimension, or less if negative, and `interior` ones between them. `None` if a number is
    /// out of range.
    pub fn padded(
        shape: &[usize],
        low: &[i64],
        high: &[i64],
        interior: &[i64],
    ) -> Option<(StridedView, StridedView, Vec<usize>)> {
        let rank = shape.len();
        let mut result = Vec::with_capacity(rank);
        let (mut from, mut to, mut sizes, mut steps) = (vec![], vec![], vec![], vec![]);
        for (d, &size) in shape.iter().enumerate() {
            // No product or sum of a few of these leaves the range of `i128`.
            let size = size as i128;
            let (low, high) = (i128::from(*low.get(d)?), i128::from(*high.get(d)?));
            let interior = i128::from(*interior.get(d).filter(|&&between| between >= 0)?);
            // Between less than two elements there is nothing.
            let step = if size > 1 { interior + 1 } else { 1 };
            let spread = if size == 0 { 0 } else { (size - 1) * step + 1 };
            // Nothing is left where the edges cut more than there is.
            let padded = (spread + low + high).max(0);
            result.push(usize::try_from(padded).ok()?);
            // Element i is at low + i * step.
            let first = if low >= 0 { 0 } else { (-low + step - 1) / step };
            let room = padded - 1 - low;
            let last = if room < 0 { -1 } else { (room / step).min(size - 1) };
            let count = (last - first + 1).max(0);
            from.push(first.min(size) as usize);
            to.push(if count > 0 { (low + first * step) as usize } else { 0 });
            sizes.push(count as usize);
            steps.push(isize::try_from(step).ok()?);
        }
        let source = StridedView::window(shape, &from, &sizes, &vec![1; rank]).ok()?;
        let target = StridedView::window(&result, &to, &sizes, &steps).ok()?;
        Some((source, target, result))
    }
}

/// Elements that are read and written, given as bytes that are aligned for them.
pub(crate) fn elements<'a, T: Pod>(
    source: &'a [u8],
    target: &'a mut [u8],
) -> Result<(&'a [T], &'a mut [T]), TensorError> {
    match (bytemuck::try_cast_slice(source), bytemuck::try_cast_slice_mut(target)) {
        (Ok(source), Ok(target)) => Ok((source, target)),
        _ => Err(TensorError::OutOfBounds),
    }
}

/// The position `i` steps after `start`. Only for positions checked by [`StridedView::check`].
#[inline]
pub(crate) fn at(start: usize, i: usize, stride: isize) -> usize {
    start.wrapping_add_signed((i as isize).wrapping_mul(stride))
}

/// Calls `visit` with the start of each innermost run of the view, in order.
pub(crate) fn walk_runs(offset: usize, axes: &[Axis], mut visit: impl FnMut(usize, Axis)) {
    let Some((&run, outer)) = axes.split_last() else {
        visit(offset, Axis { size: 1, stride: 1 });
        return;
    };
    if run.size == 0 {
        return;
    }
    let mut index = vec![0usize; outer.len()];
    let mut start = offset;
    loop {
        visit(start, run);
        let mut axis = outer.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            let Axis { size, stride } = outer[axis];
            index[axis] += 1;
            if index[axis] < size {
                start = start.wrapping_add_signed(stride);
                break;
            }
            start = at(start, size - 1, -stride);
            index[axis] = 0;
        }
    }
}
