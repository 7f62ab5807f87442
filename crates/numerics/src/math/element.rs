//! Elementwise operations on single elements, without tensors.
//!
//! The operations are those of the tensors: both come from one list of functions by element type,
//! which [`super::unary()`] and [`super::binary()`] walk over whole tensors.

use super::binary::{BinaryOp, PairSink, dispatch_binary};
use super::compare::{Direction, relate, total_order_key};
use super::convert::{Wide, store_wide, widen_signed, widen_unsigned};
use super::kernel::function_objects;
use super::unary::{ElementSink, UnaryOp, dispatch_unary};
use crate::element::{ComplexElement, Element, Float, Integer};
use crate::{DType, Family, I1, Tensor, TensorError, dispatch, dispatch_all};
use std::fmt;

/// Room for an element of any type.
const MAX_BYTES: usize = 16;

/// An element of any type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ScalarElement {
    bits: Bits,
    dtype: DType,
}

/// The bytes of an element, followed by zeros.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(align(16))]
struct Bits([u8; MAX_BYTES]);

impl Bits {
    fn of<T: Element>(value: T) -> Bits {
        let mut bits = [0; MAX_BYTES];
        bits[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
        Bits(bits)
    }

    fn get<T: Element>(&self) -> T {
        bytemuck::pod_read_unaligned(&self.0[..size_of::<T>()])
    }
}

impl ScalarElement {
    /// An element.
    pub fn new<T: Element>(value: T) -> ScalarElement {
        ScalarElement { bits: Bits::of(value), dtype: T::DTYPE }
    }

    /// The only element of a tensor.
    ///
    /// # Errors
    /// If it has more or fewer.
    pub fn of_tensor(tensor: &Tensor) -> Result<ScalarElement, TensorError> {
        dispatch_all!(tensor.dtype(), T => Ok(ScalarElement::new(tensor.item::<T>()?)))
    }

    /// A tensor of rank 0.
    pub fn into_tensor(self) -> Tensor {
        dispatch_all!(self.dtype, T => Tensor::scalar(self.bits.get::<T>()))
    }

    /// The type of the element.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The element, if it has that type.
    pub fn get<T: Element>(&self) -> Option<T> {
        if self.dtype == T::DTYPE { Some(self.bits.get()) } else { None }
    }

    /// True if this is the boolean `true`.
    pub fn is_true(&self) -> bool {
        self.get::<I1>().is_some_and(I1::get)
    }
}

impl fmt::Debug for ScalarElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        dispatch_all!(self.dtype, T => write!(f, "{:?}: {}", self.bits.get::<T>(), self.dtype))
    }
}

/// The integer in the bytes of an element, brought into the range of `i64`; `None` for other
/// types.
pub fn integer(dtype: DType, bytes: &[u8]) -> Option<i64> {
    let saturated = |wide: i128| i64::try_from(wide).unwrap_or(i64::MAX);
    dispatch!(
        dtype,
        [integer] T => {
            let element = bytemuck::try_pod_read_unaligned::<T>(bytes).ok()?;
            Some(saturated(element.to_i128()))
        },
        else None
    )
}

function_objects! {
    /// A function of the bits of one or two elements.
    Apply(x: &Bits, y: &Bits) -> Bits;
}

/// A function of one or two elements of certain types.
pub struct ElementKernel {
    apply: Box<dyn Apply>,
    result: DType,
}

impl ElementKernel {
    pub(super) fn one<T: Element, R: Element>(
        f: impl Fn(T) -> R + Copy + Send + Sync + 'static,
    ) -> ElementKernel {
        ElementKernel {
            apply: Box::new(move |x: &Bits, _: &Bits| Bits::of(f(x.get()))),
            result: R::DTYPE,
        }
    }

    pub(super) fn two<T: Element, R: Element>(
        f: impl Fn(T, T) -> R + Copy + Send + Sync + 'static,
    ) -> ElementKernel {
        ElementKernel {
            apply: Box::new(move |x: &Bits, y: &Bits| Bits::of(f(x.get(), y.get()))),
            result: R::DTYPE,
        }
    }

    /// The kernel of an operation on elements of a type; `None` if it is not defined for them, or
    /// needs none.
    pub fn unary(op: UnaryOp, dtype: DType) -> Option<ElementKernel> {
        dispatch_unary(op, dtype, Collect)
    }

    /// The kernel of an operation on two elements of a type; `None` if it is not defined for them.
    pub fn binary(op: BinaryOp, dtype: DType) -> Option<ElementKernel> {
        dispatch_binary(op, dtype, Collect)
    }

    /// The kernel that compares two elements of a type, floats in the total order if asked.
    pub fn compare(direction: Direction, total_order: bool, dtype: DType) -> Option<ElementKernel> {
        if total_order {
            return dispatch!(
                dtype,
                [float] T => Some(ElementKernel::two(move |x: T, y: T| {
                    I1::new(relate(direction, &total_order_key(x), &total_order_key(y)))
                })),
                else None
            );
        }
        Some(dispatch!(
            dtype,
            [complex] T => ElementKernel::two(move |x: T, y: T| {
                I1::new(relate(direction, &(x.re(), x.im()), &(y.re(), y.im())))
            }),
            else dispatch!(
                dtype,
                [boolean, integer, float] T => {
                    ElementKernel::two(move |x: T, y: T| I1::new(relate(direction, &x, &y)))
                },
                else return None
            )
        ))
    }

    /// The kernel that converts an element to another type; `None` for complex types.
    pub fn convert(from: DType, to: DType) -> Option<ElementKernel> {
        if from == to {
            return Some(dispatch_all!(from, T => ElementKernel::one(|x: T| x)));
        }
        let load: Load = match from.family() {
            Family::Boolean => |bits| Wide::Unsigned(bits.get::<I1>().get().into()),
            Family::Signed => dispatch!(
                from,
                [integer] T => |bits| Wide::Signed(widen_signed(bits.get::<T>())),
                else return None
            ),
            Family::Unsigned => dispatch!(
                from,
                [integer] T => |bits| Wide::Unsigned(widen_unsigned(bits.get::<T>())),
                else return None
            ),
            Family::Float => dispatch!(
                from, [float] T => |bits| Wide::Float(bits.get::<T>().to_f64()), else return None
            ),
            Family::Complex => return None,
        };
        let store: Store = dispatch!(
            to, [boolean, integer, float] T => |wide| Bits::of(store_wide::<T>(wide)), else return None
        );
        Some(ElementKernel {
            apply: Box::new(move |x: &Bits, _: &Bits| store(load(x))),
            result: to,
        })
    }

    /// The type of the result.
    pub fn result(&self) -> DType {
        self.result
    }

    /// The byte of the result for the bytes of elements, all of types of one byte.
    pub(super) fn apply_to_bytes(&self, x: u8, y: u8) -> u8 {
        let Bits([result, ..]) = self.apply.call(&Bits::of(x), &Bits::of(y));
        result
    }

    /// The result for elements of the types that the kernel was made for; a function of one element
    /// ignores the second.
    pub fn apply(&self, x: &ScalarElement, y: &ScalarElement) -> ScalarElement {
        ScalarElement { bits: self.apply.call(&x.bits, &y.bits), dtype: self.result }
    }
}

/// Widens an element.
type Load = fn(&Bits) -> Wide;
/// Narrows to an element.
type Store = fn(Wide) -> Bits;

/// Makes kernels of functions.
struct Collect;

impl ElementSink for Collect {
    type Output = Option<ElementKernel>;

    fn map<T: Element>(self, f: impl Fn(T) -> T + Copy + Send + Sync + 'static) -> Self::Output {
        Some(ElementKernel::one(f))
    }

    fn map_to<T: Element, R: Element>(
        self,
        f: impl Fn(T) -> R + Copy + Send + Sync + 'static,
    ) -> Self::Output {
        Some(ElementKernel::one(f))
    }

    fn unsupported(self) -> Self::Output {
        None
    }
}

impl PairSink for Collect {
    type Output = Option<ElementKernel>;

    fn zip<T: Element, R: Element>(
        self,
        f: impl Fn(T, T) -> R + Copy + Send + Sync + 'static,
    ) -> Self::Output {
        Some(ElementKernel::two(f))
    }

    fn unsupported(self) -> Self::Output {
        None
    }
}
