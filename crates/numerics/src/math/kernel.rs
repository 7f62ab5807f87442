//! The loops that all elementwise operations share.

use crate::tensor::allocate;
use crate::{DType, Element, Tensor, TensorError, shape};

/// The number of elements that go through a loop at a time where elements are first copied, so that the
/// copy is still in the cache when the loop reads it.
pub(super) const BLOCK: usize = 1024;

/// Whether loops over this element type are worth compiling once per operation, because the compiler
/// can turn them into vector instructions. The other types call operations through pointers.
pub(super) const fn is_vectorizable(dtype: DType) -> bool {
    matches!(
        dtype,
        DType::I1
            | DType::I8
            | DType::I16
            | DType::I32
            | DType::I64
            | DType::U8
            | DType::U16
            | DType::U32
            | DType::U64
            | DType::BF16
            | DType::F32
            | DType::F64
            | DType::C64
            | DType::C128
    )
}

/// The shape of the result of an elementwise operation: that of both operands, or that of one if the
/// other one has rank 0.
pub(super) fn common_shape(lhs: &Tensor, rhs: &Tensor) -> Result<Vec<usize>, TensorError> {
    if lhs.shape() == rhs.shape() || rhs.rank() == 0 {
        Ok(lhs.shape().to_vec())
    } else if lhs.rank() == 0 {
        Ok(rhs.shape().to_vec())
    } else {
        Err(TensorError::Shape { lhs: lhs.shape().to_vec(), rhs: rhs.shape().to_vec() })
    }
}

/// Applies `f` to every element.
pub(super) fn map<T: Element>(operand: Tensor, f: impl Fn(T) -> T + Copy) -> Result<Tensor, TensorError> {
    if is_vectorizable(T::DTYPE) { map_loop(operand, f) } else { map_loop(operand, &f as &dyn Fn(T) -> T) }
}

fn map_loop<T: Element>(mut operand: Tensor, f: impl Fn(T) -> T) -> Result<Tensor, TensorError> {
    update(&mut operand, |_, block: &mut [T]| {
        for x in block {
            *x = f(*x);
        }
    })?;
    Ok(operand)
}

/// Applies `f` to every element, with a result of another type.
pub(super) fn map_to<T: Element, R: Element>(operand: &Tensor, f: impl Fn(T) -> R) -> Result<Tensor, TensorError> {
    let elements = operand.as_slice::<T>()?;
    let mut results = allocate(elements.len())?;
    results.extend(elements.iter().map(|&x| f(x)));
    Tensor::from_vec(operand.shape(), results)
}

/// Lets `f` change all elements, a block at a time: in place if nobody shares them, else in a copy. `f`
/// gets the position of the first element of the block.
fn update<T: Element>(tensor: &mut Tensor, mut f: impl FnMut(usize, &mut [T])) -> Result<(), TensorError> {
    if tensor.is_unshared() {
        f(0, tensor.make_mut::<T>()?);
        return Ok(());
    }
    let elements = tensor.as_slice::<T>()?;
    let mut results = allocate(elements.len())?;
    for block in elements.chunks(BLOCK) {
        let start = results.len();
        results.extend_from_slice(block);
        f(start, &mut results[start..]);
    }
    *tensor = Tensor::from_vec(tensor.shape(), results)?;
    Ok(())
}

/// Applies `f` to every pair of elements. An operand of rank 0 is paired with every element of the other
/// one.
pub(super) fn zip<T: Element>(lhs: Tensor, rhs: Tensor, f: impl Fn(T, T) -> T + Copy) -> Result<Tensor, TensorError> {
    if is_vectorizable(T::DTYPE) { zip_loop(lhs, rhs, f) } else { zip_loop(lhs, rhs, &f as &dyn Fn(T, T) -> T) }
}

fn zip_loop<T: Element>(mut lhs: Tensor, mut rhs: Tensor, f: impl Fn(T, T) -> T + Copy) -> Result<Tensor, TensorError> {
    let shape = common_shape(&lhs, &rhs)?;
    if lhs.shape() != shape || (!lhs.is_unshared() && rhs.is_unshared() && rhs.shape() == shape) {
        combine(&mut rhs, &lhs, |x, y| f(y, x))?;
        Ok(rhs)
    } else {
        combine(&mut lhs, &rhs, f)?;
        Ok(lhs)
    }
}

/// Replaces every element of `target` by `f` of it and the element of `other`, which may be of rank 0.
fn combine<T: Element>(target: &mut Tensor, other: &Tensor, f: impl Fn(T, T) -> T + Copy) -> Result<(), TensorError> {
    let others = other.as_slice::<T>()?;
    if target.shape() == other.shape() {
        update(target, |start, block: &mut [T]| {
            for (x, &y) in block.iter_mut().zip(&others[start..]) {
                *x = f(*x, y);
            }
        })
    } else {
        let y = other.item::<T>()?;
        update(target, |_, block: &mut [T]| {
            for x in block {
                *x = f(*x, y);
            }
        })
    }
}

/// Applies `f` to every pair of elements, as [`zip`] does, with a result of another type.
pub(super) fn zip_to<T: Element, R: Element>(
    lhs: &Tensor,
    rhs: &Tensor,
    f: impl Fn(T, T) -> R,
) -> Result<Tensor, TensorError> {
    let shape = common_shape(lhs, rhs)?;
    let (left, right) = (lhs.as_slice::<T>()?, rhs.as_slice::<T>()?);
    let mut results = allocate(shape::num_elements(&shape).unwrap_or(0))?;
    if lhs.shape() == rhs.shape() {
        results.extend(left.iter().zip(right).map(|(&x, &y)| f(x, y)));
    } else if rhs.rank() == 0 {
        let y = rhs.item::<T>()?;
        results.extend(left.iter().map(|&x| f(x, y)));
    } else {
        let x = lhs.item::<T>()?;
        results.extend(right.iter().map(|&y| f(x, y)));
    }
    Tensor::from_vec(shape, results)
}
