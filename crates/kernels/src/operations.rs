//! The operations that reductions and scatters commonly combine elements with.

use super::sums::{Addition, Combine, Commutative, ROWS, WindowLines};
use bytemuck::{cast, cast_slice, cast_slice_mut};
use numerics::math::BinaryOp;
use numerics::{Bitwise, Complex32, Complex64, DType, Element, Family, Number, bf16, f16};
use std::marker::PhantomData;

/// An operation on the bits of elements: code around it, which only moves elements, is compiled for
/// each of their sizes, not for each type.
#[derive(Clone, Copy)]
pub(crate) enum CombineBits {
    Bits8(&'static dyn Combine<u8>),
    Bits16(&'static dyn Combine<u16>),
    Bits32(&'static dyn Combine<u32>),
    Bits64(&'static dyn Combine<u64>),
    Complex32(&'static dyn Combine<Complex32>),
    Complex64(&'static dyn Combine<Complex64>),
}

/// Evaluates an expression with `o` bound to what combines bits: `on_bits!(operation, |o| f(o))`.
macro_rules! on_bits {
    ($operation:expr, |$o:ident| $body:expr) => {{
        use $crate::operations::CombineBits;
        match $operation {
            CombineBits::Bits8($o) => $body,
            CombineBits::Bits16($o) => $body,
            CombineBits::Bits32($o) => $body,
            CombineBits::Bits64($o) => $body,
            CombineBits::Complex32($o) => $body,
            CombineBits::Complex64($o) => $body,
        }
    }};
}
pub(crate) use on_bits;

/// The type in which a common operation combines elements, to be converted back: the low bits of
/// narrow integers equal the low bits of wide ones.
pub(crate) fn operation_type(dtype: DType) -> DType {
    match (dtype.family(), dtype.bits()) {
        (Family::Signed, bits) if bits < 32 => DType::I32,
        (Family::Unsigned, bits) if bits < 32 => DType::U32,
        _ => dtype,
    }
}

/// The operation on elements of a type that [`operation_type`] gives; `None` for one that
/// reductions hardly use, or for floats of 8 bits. For the types that programs reduce most, and for
/// sums of narrow floats, loops are compiled with the operation; the others call it by a pointer.
pub(crate) fn operation(op: BinaryOp, dtype: DType) -> Option<CombineBits> {
    use BinaryOp::{Add, And, Maximum, Minimum, Multiply, Or, Xor};
    /// A pointer to a function of elements.
    macro_rules! pointer {
        ($T:ty, $function:expr) => {
            $function as fn($T, $T) -> $T
        };
    }
    /// A form of an operation on elements of a type.
    macro_rules! of {
        ($T:ty, $form:expr) => {
            const { &OnBits { form: $form, element: PhantomData::<$T> } }
        };
    }
    /// An operation on unsigned integers of any order.
    macro_rules! bits {
        ($function:expr) => {
            const { &Commutative($function) }
        };
        ($T:ty, $function:expr) => {
            const { &Commutative(pointer!($T, $function)) }
        };
    }
    macro_rules! floats {
        ($T:ty, $sum:expr) => {
            match op {
                Add => of!($T, $sum),
                Multiply => of!($T, <$T as Number>::multiply),
                Maximum => of!($T, Commutative(<$T as Number>::maximum)),
                Minimum => of!($T, Commutative(<$T as Number>::minimum)),
                _ => return None,
            }
        };
    }
    /// Narrow floats, and complex numbers, by pointers; sums as given.
    macro_rules! rare {
        ($T:ty, $sum:expr) => {
            match op {
                Add => of!($T, $sum),
                Multiply => of!($T, pointer!($T, Number::multiply)),
                Maximum => of!($T, pointer!($T, Number::maximum)),
                Minimum => of!($T, pointer!($T, Number::minimum)),
                _ => return None,
            }
        };
    }
    Some(match dtype {
        // Booleans are bytes of 0 or 1.
        DType::I1 => CombineBits::Bits8(match op {
            Or | Add | Maximum => bits!(|x: u8, y: u8| x | y),
            And | Multiply | Minimum => bits!(|x: u8, y: u8| x & y),
            Xor => bits!(u8, Bitwise::xor),
            _ => return None,
        }),
        DType::F16 => CombineBits::Bits16(rare!(f16, <f16 as Number>::add)),
        DType::BF16 => CombineBits::Bits16(rare!(bf16, <bf16 as Number>::add)),
        DType::F32 => CombineBits::Bits32(floats!(f32, Addition(<f32 as Number>::add))),
        DType::I32 | DType::U32 => CombineBits::Bits32(match op {
            Add => bits!(<u32 as Number>::add),
            Multiply => bits!(<u32 as Number>::multiply),
            Maximum if dtype == DType::I32 => of!(i32, Commutative(<i32 as Number>::maximum)),
            Minimum if dtype == DType::I32 => of!(i32, Commutative(<i32 as Number>::minimum)),
            Maximum => bits!(u32, Number::maximum),
            Minimum => bits!(u32, Number::minimum),
            And => bits!(u32, Bitwise::and),
            Or => bits!(u32, Bitwise::or),
            Xor => bits!(u32, Bitwise::xor),
            _ => return None,
        }),
        DType::F64 => CombineBits::Bits64(floats!(f64, <f64 as Number>::add)),
        DType::I64 | DType::U64 => CombineBits::Bits64(match op {
            Add => bits!(<u64 as Number>::add),
            Multiply => bits!(u64, Number::multiply),
            Maximum if dtype == DType::I64 => bits!(u64, |x, y| (x as i64).max(y as i64) as u64),
            Minimum if dtype == DType::I64 => bits!(u64, |x, y| (x as i64).min(y as i64) as u64),
            Maximum => bits!(u64, Number::maximum),
            Minimum => bits!(u64, Number::minimum),
            And => bits!(u64, Bitwise::and),
            Or => bits!(u64, Bitwise::or),
            Xor => bits!(u64, Bitwise::xor),
            _ => return None,
        }),
        DType::C64 => CombineBits::Complex32(rare!(Complex32, pointer!(Complex32, Number::add))),
        DType::C128 => CombineBits::Complex64(rare!(Complex64, pointer!(Complex64, Number::add))),
        _ => return None,
    })
}

/// A form of an operation on elements of a type, as one on their bits.
struct OnBits<T, F> {
    form: F,
    element: PhantomData<T>,
}

impl<T: Element, B: Element, F: Combine<T>> Combine<B> for OnBits<T, F> {
    fn pair(&self, left: B, right: B) -> B {
        cast(self.form.pair(cast(left), cast(right)))
    }

    fn merge(&self, left: &mut [B], right: &[B]) {
        self.form.merge(cast_slice_mut(left), cast_slice(right));
    }

    fn merge_into(&self, left: &[B], right: &[B], out: &mut [B]) {
        self.form.merge_into(cast_slice(left), cast_slice(right), cast_slice_mut(out));
    }

    fn merge_at(&self, elements: &mut [B], targets: &[usize], values: &[B]) {
        self.form.merge_at(cast_slice_mut(elements), targets, cast_slice(values));
    }

    fn merge_rows(&self, rows: [&[B]; ROWS], out: &mut [B]) {
        self.form.merge_rows(rows.map(cast_slice), cast_slice_mut(out));
    }

    fn merge_adjacent(&self, elements: &[B], columns: usize, out: &mut [B]) {
        self.form.merge_adjacent(cast_slice(elements), columns, cast_slice_mut(out));
    }

    fn combine_rows(&self, elements: &[B], len: usize, out: &mut [B]) {
        self.form.combine_rows(cast_slice(elements), len, cast_slice_mut(out));
    }

    fn chain(&self, elements: &[B], windows: WindowLines<'_>, out: &mut [B]) {
        self.form.chain(cast_slice(elements), windows, cast_slice_mut(out));
    }
}
