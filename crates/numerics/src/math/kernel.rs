//! The walks that all elementwise operations share.
//!
//! Elements go through an operation in blocks that stay in the cache. Only the loop over one block
//! is compiled for every operation and element type; the walk over the blocks is compiled once for
//! every element type and reaches the loop through a pointer.

use crate::tensor::allocate;
use crate::{Element, Tensor, TensorError, shape};

/// The number of elements of a block.
pub(super) const BLOCK: usize = 1024;

/// Applies `f` to every element, in place if the tensor is unshared.
pub(super) fn map<T: Element>(operand: Tensor, f: impl Fn(T) -> T) -> Result<Tensor, TensorError> {
    map_blocks(operand, &|block| {
        for x in block {
            *x = f(*x);
        }
    })
}

fn map_blocks<T: Element>(
    mut operand: Tensor,
    f: &dyn Fn(&mut [T]),
) -> Result<Tensor, TensorError> {
    if operand.is_unshared() {
        operand.make_mut::<T>()?.chunks_mut(BLOCK).for_each(f);
        return Ok(operand);
    }
    let elements = operand.as_slice::<T>()?;
    let mut results = allocate(elements.len())?;
    for block in elements.chunks(BLOCK) {
        let start = results.len();
        results.extend_from_slice(block);
        f(&mut results[start..]);
    }
    Tensor::from_vec(operand.shape(), results)
}

/// Applies `f` to every element, with a result of another type.
pub(super) fn map_to<T: Element, R: Element>(
    operand: &Tensor,
    f: impl Fn(T) -> R,
) -> Result<Tensor, TensorError> {
    let elements = operand.as_slice::<T>()?;
    let mut results = allocate(elements.len())?;
    results.extend(elements.iter().map(|&x| f(x)));
    Tensor::from_vec(operand.shape(), results)
}

/// Applies `f` to every pair of elements. An operand of rank 0 is paired with every element of the
/// other one. The result reuses the memory of an unshared operand of its shape.
pub(super) fn zip<T: Element>(
    lhs: Tensor,
    rhs: Tensor,
    f: impl Fn(T, T) -> T,
) -> Result<Tensor, TensorError> {
    zip_blocks(lhs, rhs, &|results, xs, ys| {
        for ((result, &x), &y) in results.iter_mut().zip(xs).zip(ys) {
            *result = f(x, y);
        }
    })
}

/// Writes a block of results of two blocks of operands, all of the same length.
type ZipBlock<'a, T, R> = dyn Fn(&mut [R], &[T], &[T]) + 'a;

fn zip_blocks<T: Element>(
    mut lhs: Tensor,
    mut rhs: Tensor,
    f: &ZipBlock<'_, T, T>,
) -> Result<Tensor, TensorError> {
    let shape = common_shape(&lhs, &rhs)?;
    // An operand whose memory the result reuses is copied block by block.
    if shape::equal(lhs.shape(), &shape) && lhs.is_unshared() {
        let mut copy = vec![T::ZERO; BLOCK.min(lhs.num_elements())];
        let ys = Blocks::new(&rhs, lhs.num_elements())?;
        for (start, results) in blocks_mut(lhs.make_mut::<T>()?) {
            let xs = &mut copy[..results.len()];
            xs.copy_from_slice(results);
            f(results, xs, ys.get(start, results.len()));
        }
        return Ok(lhs);
    }
    if shape::equal(rhs.shape(), &shape) && rhs.is_unshared() {
        let mut copy = vec![T::ZERO; BLOCK.min(rhs.num_elements())];
        let xs = Blocks::new(&lhs, rhs.num_elements())?;
        for (start, results) in blocks_mut(rhs.make_mut::<T>()?) {
            let ys = &mut copy[..results.len()];
            ys.copy_from_slice(results);
            f(results, xs.get(start, results.len()), ys);
        }
        return Ok(rhs);
    }
    zip_blocks_to(&lhs, &rhs, f)
}

/// Applies `f` to every pair of elements, as [`zip`] does, with a result of another type.
pub(super) fn zip_to<T: Element, R: Element>(
    lhs: &Tensor,
    rhs: &Tensor,
    f: impl Fn(T, T) -> R,
) -> Result<Tensor, TensorError> {
    zip_blocks_to(lhs, rhs, &|results: &mut [R], xs: &[T], ys: &[T]| {
        for ((result, &x), &y) in results.iter_mut().zip(xs).zip(ys) {
            *result = f(x, y);
        }
    })
}

fn zip_blocks_to<T: Element, R: Element>(
    lhs: &Tensor,
    rhs: &Tensor,
    f: &ZipBlock<'_, T, R>,
) -> Result<Tensor, TensorError> {
    let shape = common_shape(lhs, rhs)?;
    // One operand has this shape, so the number of elements has been computed before.
    let len = shape::num_elements(&shape).unwrap_or(0);
    let (xs, ys) = (Blocks::<T>::new(lhs, len)?, Blocks::<T>::new(rhs, len)?);
    let mut results = allocate(len)?;
    for start in (0..len).step_by(BLOCK) {
        let end = len.min(start + BLOCK);
        results.resize(end, R::ZERO);
        f(&mut results[start..], xs.get(start, end - start), ys.get(start, end - start));
    }
    Tensor::from_vec(shape, results)
}

/// The shape of the result of an elementwise operation: that of both operands, or that of one if
/// the other one has rank 0.
fn common_shape(lhs: &Tensor, rhs: &Tensor) -> Result<Vec<usize>, TensorError> {
    if rhs.rank() == 0 || shape::equal(lhs.shape(), rhs.shape()) {
        Ok(lhs.shape().to_vec())
    } else if lhs.rank() == 0 {
        Ok(rhs.shape().to_vec())
    } else {
        Err(TensorError::Shape { lhs: lhs.shape().to_vec(), rhs: rhs.shape().to_vec() })
    }
}

/// The blocks of a slice, each with the position of its first element.
fn blocks_mut<T>(elements: &mut [T]) -> impl Iterator<Item = (usize, &mut [T])> {
    elements.chunks_mut(BLOCK).enumerate().map(|(block, elements)| (block * BLOCK, elements))
}

/// The elements of an operand, block by block.
enum Blocks<'a, T> {
    /// An element for every one of the result.
    Elements(&'a [T]),
    /// A block of copies of the only element, or fewer if there are fewer results.
    Splat(Vec<T>),
}

impl<'a, T: Element> Blocks<'a, T> {
    /// The blocks of an operand of an operation with `len` results.
    fn new(operand: &'a Tensor, len: usize) -> Result<Blocks<'a, T>, TensorError> {
        match operand.as_slice::<T>()? {
            elements if elements.len() == len => Ok(Blocks::Elements(elements)),
            [element] => Ok(Blocks::Splat(vec![*element; BLOCK.min(len)])),
            elements => Err(TensorError::Length { expected: len, found: elements.len() }),
        }
    }

    fn get(&self, start: usize, len: usize) -> &[T] {
        match self {
            Blocks::Elements(elements) => &elements[start..start + len],
            Blocks::Splat(block) => &block[..len],
        }
    }
}
