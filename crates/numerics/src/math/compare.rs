//! Comparison, and choices between elements.

use super::binary::{BinaryOp, binary};
use super::kernel::{Elementwise, SliceKernel};
use super::within::MemoryKernel;
use crate::dispatch::dispatch_storage;
use crate::element::{ComplexElement, Element, Float};
use crate::{DType, I1, Tensor, TensorError, dispatch, shape};

/// The relation tested by a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// The operands are equal.
    Eq,
    /// The operands differ or are unordered.
    Ne,
    /// lhs is greater than or equal to rhs.
    Ge,
    /// lhs is greater than rhs.
    Gt,
    /// lhs is less than or equal to rhs.
    Le,
    /// lhs is less than rhs.
    Lt,
}

impl Direction {
    /// Every direction.
    pub const ALL: [Direction; 6] =
        [Direction::Eq, Direction::Ne, Direction::Ge, Direction::Gt, Direction::Le, Direction::Lt];

    /// The relation of exchanged operands.
    pub fn mirrored(self) -> Direction {
        match self {
            Direction::Lt => Direction::Gt,
            Direction::Le => Direction::Ge,
            Direction::Gt => Direction::Lt,
            Direction::Ge => Direction::Le,
            Direction::Eq | Direction::Ne => self,
        }
    }
}

/// True if two keys are in a relation; keys that do not compare are different.
#[inline]
pub(super) fn relate<K: PartialOrd>(direction: Direction, lhs: &K, rhs: &K) -> bool {
    match direction {
        Direction::Eq => lhs == rhs,
        Direction::Ne => lhs != rhs,
        Direction::Ge => lhs >= rhs,
        Direction::Gt => lhs > rhs,
        Direction::Le => lhs <= rhs,
        Direction::Lt => lhs < rhs,
    }
}

/// Compares every pair of elements, of which one tensor may be of rank 0. Floating-point numbers
/// compare as in IEEE 754: a NaN is different from everything. Complex numbers compare
/// lexicographically.
///
/// # Errors
/// If the element types differ, if the shapes differ and none is of rank 0, or if there is no
/// memory for the result.
pub fn compare(direction: Direction, lhs: &Tensor, rhs: &Tensor) -> Result<Tensor, TensorError> {
    check_types(lhs, rhs)?;
    SliceKernel::compare(direction, false, lhs.dtype()).zip(lhs.clone(), rhs.clone())
}

/// Compares every pair of elements in IEEE 754's total order: negative NaN, negative numbers, -0,
/// +0, positive numbers, NaN. Types other than floating-point types compare as by [`compare`].
///
/// # Errors
/// As [`compare`].
pub fn compare_total_order(
    direction: Direction,
    lhs: &Tensor,
    rhs: &Tensor,
) -> Result<Tensor, TensorError> {
    check_types(lhs, rhs)?;
    SliceKernel::compare(direction, true, lhs.dtype()).zip(lhs.clone(), rhs.clone())
}

impl SliceKernel {
    /// The kernel of [`compare`], or of [`compare_total_order`], for elements of a type.
    pub fn compare(direction: Direction, total_order: bool, dtype: DType) -> SliceKernel {
        let kernel = dispatch!(
            dtype,
            [complex] T => if total_order {
                compare_by(direction, |z: T| (total_order_key(z.re()), total_order_key(z.im())))
            } else {
                compare_by(direction, |z: T| (z.re(), z.im()))
            },
            else dispatch!(
                dtype,
                [float] T => if total_order {
                    compare_by(direction, total_order_key::<T>)
                } else {
                    compare_by(direction, |x: T| x)
                },
                else match dtype {
                    DType::I1 => compare_by(direction, |x: I1| x),
                    _ => dispatch!(
                        dtype,
                        [integer] T => compare_by(direction, |x: T| x),
                        // All families are listed.
                        else compare_by(direction, |x: I1| x)
                    ),
                }
            )
        );
        kernel.named(Elementwise::Compare(direction, total_order))
    }

    /// The kernel that chooses elements of a type: of the second operand where the first, a
    /// boolean, is true, else of the third.
    pub fn select(dtype: DType) -> SliceKernel {
        let within = match dtype.bytes() {
            1 => Some(MemoryKernel::select::<u8>()),
            4 => Some(MemoryKernel::select::<u32>()),
            8 => Some(MemoryKernel::select::<u64>()),
            _ => None,
        };
        type Run = fn(&mut [u8], &[&[u8]]) -> Option<()>;
        let of = |run: Run| SliceKernel::of([DType::I1, dtype, dtype], 3, dtype, run);
        let kernel = dispatch_storage!(dtype, S => of(|results, operands| {
            let &[pred, on_true, on_false] = operands else { return None };
            let pred = bytemuck::try_cast_slice::<u8, I1>(pred).ok()?;
            let yes = bytemuck::try_cast_slice::<u8, S>(on_true).ok()?;
            let no = bytemuck::try_cast_slice::<u8, S>(on_false).ok()?;
            let results = bytemuck::try_cast_slice_mut::<u8, S>(results).ok()?;
            let choices = pred.iter().zip(yes.iter().zip(no));
            for (result, (p, (&yes, &no))) in results.iter_mut().zip(choices) {
                *result = if p.get() { yes } else { no };
            }
            Some(())
        }));
        kernel.with(within).named(Elementwise::Select)
    }
}

/// An integer that orders numbers of a type by IEEE 754's total order.
pub fn total_order_key<T: Float>(x: T) -> i64 {
    let sign = T::FORMAT.sign_mask();
    let magnitude = (x.to_raw() & !sign) as i64;
    if x.to_raw() & sign != 0 { !magnitude } else { magnitude }
}

/// The [`total_order_key`] of a float scalar; `None` for other tensors.
pub fn total_order_key_of(scalar: &Tensor) -> Option<i64> {
    dispatch!(
        scalar.dtype(),
        [float] T => scalar.item::<T>().ok().map(total_order_key),
        else None
    )
}

fn check_types(lhs: &Tensor, rhs: &Tensor) -> Result<(), TensorError> {
    if lhs.dtype() == rhs.dtype() {
        Ok(())
    } else {
        Err(TensorError::DType { expected: lhs.dtype(), found: rhs.dtype() })
    }
}

/// The kernel that compares the keys of pairs of elements.
fn compare_by<T: Element, K: PartialOrd>(
    direction: Direction,
    key: impl Fn(T) -> K + Copy + Send + Sync + 'static,
) -> SliceKernel {
    // Three loops for six relations.
    match direction {
        Direction::Eq | Direction::Ne => {
            let equal = SliceKernel::two(move |x: T, y: T| {
                I1::new(relate(Direction::Eq, &key(x), &key(y)))
            });
            if direction == Direction::Eq { equal } else { equal.complemented() }
        }
        Direction::Lt | Direction::Gt => {
            let less = SliceKernel::two(move |x: T, y: T| {
                I1::new(relate(Direction::Lt, &key(x), &key(y)))
            });
            if direction == Direction::Lt { less } else { less.swapped() }
        }
        Direction::Le | Direction::Ge => {
            let less_or_equal = SliceKernel::two(move |x: T, y: T| {
                I1::new(relate(Direction::Le, &key(x), &key(y)))
            });
            if direction == Direction::Le { less_or_equal } else { less_or_equal.swapped() }
        }
    }
}

/// Chooses every element from `on_true` or from `on_false`. `pred` has their shape, or rank 0.
///
/// # Errors
/// If `pred` is not boolean, the types or shapes of the other operands differ or do not fit to it,
/// or there is no memory for the result.
pub fn select(pred: &Tensor, on_true: &Tensor, on_false: &Tensor) -> Result<Tensor, TensorError> {
    check_types(on_true, on_false)?;
    if !shape::equal(on_true.shape(), on_false.shape()) {
        return Err(TensorError::Shape {
            lhs: on_true.shape().to_vec(),
            rhs: on_false.shape().to_vec(),
        });
    }
    if pred.rank() == 0 {
        let chosen = if pred.item::<I1>()?.get() { on_true } else { on_false };
        return Ok(chosen.clone());
    }
    if !shape::equal(pred.shape(), on_true.shape()) {
        return Err(TensorError::Shape {
            lhs: pred.shape().to_vec(),
            rhs: on_true.shape().to_vec(),
        });
    }
    pred.as_slice::<I1>()?;
    let kernel = SliceKernel::select(on_true.dtype());
    kernel.collect(on_true.shape(), &[pred.bytes(), on_true.bytes(), on_false.bytes()])
}

/// The operations that make up [`clamp`]: of the operand and `min`, then of that and `max`.
pub const CLAMP: [BinaryOp; 2] = [BinaryOp::Maximum, BinaryOp::Minimum];

/// The elements of `operand`, but at least those of `min` and at most those of `max`, which have
/// its shape, or rank 0.
///
/// # Errors
/// If the types differ or the shapes do not fit, or there is no memory for the result.
pub fn clamp(min: &Tensor, operand: Tensor, max: &Tensor) -> Result<Tensor, TensorError> {
    for bound in [min, max] {
        if bound.rank() != 0 && !shape::equal(bound.shape(), operand.shape()) {
            return Err(TensorError::Shape {
                lhs: bound.shape().to_vec(),
                rhs: operand.shape().to_vec(),
            });
        }
    }
    let [raise, lower] = CLAMP;
    let raised = binary(raise, operand, min.clone())?;
    binary(lower, raised, max.clone())
}
