//! The operations that reductions and scatters commonly combine elements with.

use super::converted::convert_into;
use super::narrow::combine_narrow;
use super::sums::{Addition, Called, Combine, Commutative, OfWindows, ROWS, WindowLines};
use bytemuck::{cast, cast_slice, cast_slice_mut};
use numerics::math::BinaryOp;
use numerics::{
    Bitwise, Complex, Complex32, Complex64, DType, Element, Family, Number, TensorError, bf16, f16,
};
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
/// sums of narrow floats, loops are compiled with the operation; the others call it.
pub(crate) fn operation(op: BinaryOp, dtype: DType) -> Option<CombineBits> {
    use BinaryOp::{Add, And, Maximum, Minimum, Multiply, Or, Xor};
    /// An operation on elements of a type that loops over their bits call.
    macro_rules! called {
        ($T:ty as $W:ty, $function:expr) => {
            const {
                &Called {
                    f: &|x: $W, y: $W| -> $W { cast($function(cast::<_, $T>(x), cast(y))) },
                    is_commutative: false,
                }
            }
        };
        ($W:ty, $function:expr) => {
            const { &Called { f: &|x: $W, y: $W| $function(x, y), is_commutative: true } }
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
    /// Narrow floats, by calls but for sums as given.
    macro_rules! narrow {
        ($T:ty, $sum:expr) => {
            match op {
                Add => of!($T, $sum),
                Multiply => called!($T as u16, <$T as Number>::multiply),
                Maximum => called!($T as u16, <$T as Number>::maximum),
                Minimum => called!($T as u16, <$T as Number>::minimum),
                _ => return None,
            }
        };
    }
    Some(match dtype {
        // Booleans are bytes of 0 or 1.
        DType::I1 => CombineBits::Bits8(match op {
            Or | Add | Maximum => const { &OfWindows(|x: u8, y: u8| x | y) },
            And | Multiply | Minimum => const { &OfWindows(|x: u8, y: u8| x & y) },
            Xor => called!(u8, <u8 as Bitwise>::xor),
            _ => return None,
        }),
        DType::F16 => CombineBits::Bits16(narrow!(f16, HalfAddition)),
        DType::BF16 => CombineBits::Bits16(narrow!(bf16, <bf16 as Number>::add)),
        DType::F32 => CombineBits::Bits32(floats!(f32, Addition(<f32 as Number>::add))),
        DType::I32 | DType::U32 => CombineBits::Bits32(match op {
            Add => bits!(<u32 as Number>::add),
            Multiply => bits!(<u32 as Number>::multiply),
            Maximum if dtype == DType::I32 => of!(i32, OfWindows(<i32 as Number>::maximum)),
            Minimum if dtype == DType::I32 => of!(i32, OfWindows(<i32 as Number>::minimum)),
            Maximum => called!(u32, <u32 as Number>::maximum),
            Minimum => called!(u32, <u32 as Number>::minimum),
            And => called!(u32, <u32 as Bitwise>::and),
            Or => called!(u32, <u32 as Bitwise>::or),
            Xor => bits!(|x: u32, y: u32| x ^ y),
            _ => return None,
        }),
        DType::F64 => CombineBits::Bits64(floats!(f64, Addition(<f64 as Number>::add))),
        DType::I64 | DType::U64 => CombineBits::Bits64(match op {
            Add => bits!(<u64 as Number>::add),
            Multiply => bits!(<u64 as Number>::multiply),
            Maximum if dtype == DType::I64 => of!(i64, OfWindows(<i64 as Number>::maximum)),
            Minimum if dtype == DType::I64 => of!(i64, OfWindows(<i64 as Number>::minimum)),
            Maximum => called!(u64, <u64 as Number>::maximum),
            Minimum => called!(u64, <u64 as Number>::minimum),
            And => called!(u64, <u64 as Bitwise>::and),
            Or => called!(u64, <u64 as Bitwise>::or),
            Xor => called!(u64, <u64 as Bitwise>::xor),
            _ => return None,
        }),
        DType::C64 if op == Add => {
            CombineBits::Complex32(const { &Addition(Parts(Addition(<f32 as Number>::add))) })
        }
        DType::C128 if op == Add => {
            CombineBits::Complex64(const { &Parts(Addition(<f64 as Number>::add)) })
        }
        DType::C64 if op == Multiply => {
            CombineBits::Complex32(const { &<Complex32 as Number>::multiply })
        }
        DType::C128 if op == Multiply => {
            CombineBits::Complex64(const { &<Complex64 as Number>::multiply })
        }
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

    fn scan_rows(&self, elements: &[B], len: usize, init: B, out: &mut [B]) {
        self.form.scan_rows(cast_slice(elements), len, cast(init), cast_slice_mut(out));
    }

    fn chain(&self, elements: &[B], windows: WindowLines<'_>, out: &mut [B]) {
        self.form.chain(cast_slice(elements), windows, cast_slice_mut(out));
    }
}

/// An operation on the parts of complex numbers, elementwise.
struct Parts<F>(F);

impl<P: Element, F: Combine<P>> Combine<Complex<P>> for Parts<F>
where
    Complex<P>: Element,
{
    fn pair(&self, left: Complex<P>, right: Complex<P>) -> Complex<P> {
        Complex::new(self.0.pair(left.re, right.re), self.0.pair(left.im, right.im))
    }

    fn merge(&self, left: &mut [Complex<P>], right: &[Complex<P>]) {
        self.0.merge(cast_slice_mut(left), cast_slice(right));
    }

    fn merge_into(&self, left: &[Complex<P>], right: &[Complex<P>], out: &mut [Complex<P>]) {
        self.0.merge_into(cast_slice(left), cast_slice(right), cast_slice_mut(out));
    }

    fn merge_at(&self, elements: &mut [Complex<P>], targets: &[usize], values: &[Complex<P>]) {
        let len = values.len().checked_div(targets.len()).unwrap_or(0).max(1);
        for (&target, values) in targets.iter().zip(values.chunks_exact(len)) {
            let from_target = elements.get_mut(target..);
            match (from_target.and_then(|row| row.get_mut(..len)), values) {
                (Some([element]), &[value]) => *element = self.pair(*element, value),
                (Some(row), values) => self.merge(row, values),
                (None, _) => {}
            }
        }
    }

    fn merge_rows(&self, rows: [&[Complex<P>]; ROWS], out: &mut [Complex<P>]) {
        self.0.merge_rows(rows.map(cast_slice), cast_slice_mut(out));
    }

    fn merge_adjacent(&self, elements: &[Complex<P>], columns: usize, out: &mut [Complex<P>]) {
        self.0.merge_adjacent(cast_slice(elements), 2 * columns, cast_slice_mut(out));
    }

    fn combine_rows(&self, elements: &[Complex<P>], len: usize, out: &mut [Complex<P>]) {
        let elements = &elements[..len * out.len()];
        combine_narrow(cast_slice(elements), [len, 2], &self.0, cast_slice_mut(out));
    }

    fn scan_rows(
        &self,
        elements: &[Complex<P>],
        len: usize,
        init: Complex<P>,
        out: &mut [Complex<P>],
    ) {
        let rows = elements.chunks_exact(len.max(1)).zip(out.chunks_exact_mut(len.max(1)));
        for (elements, out) in rows {
            let mut result = init;
            for (out, &x) in out.iter_mut().zip(elements) {
                result = self.pair(result, x);
                *out = result;
            }
        }
    }

    fn chain(&self, elements: &[Complex<P>], windows: WindowLines<'_>, out: &mut [Complex<P>]) {
        let WindowLines { line_starts, stride, taps } = windows;
        if stride == 1 {
            let [line_starts, taps] = [line_starts, taps]
                .map(|places| places.iter().map(|at| 2 * at).collect::<Vec<_>>());
            let windows = WindowLines { line_starts: &line_starts, stride, taps: &taps };
            return self.0.chain(cast_slice(elements), windows, cast_slice_mut(out));
        }
        let line = (out.len() / line_starts.len().max(1)).max(1);
        for (out, &start) in out.chunks_exact_mut(line).zip(line_starts) {
            for (out, at) in out.iter_mut().zip((start..).step_by(stride)) {
                *out = taps.iter().fold(*out, |sum, tap| self.pair(sum, elements[at + tap]));
            }
        }
    }
}

/// The addition of numbers of `f16`, of which windows are added as `f32`.
struct HalfAddition;

impl Combine<f16> for HalfAddition {
    fn pair(&self, left: f16, right: f16) -> f16 {
        left.add(right)
    }

    fn merge(&self, left: &mut [f16], right: &[f16]) {
        <f16 as Number>::add.merge(left, right);
    }

    fn merge_into(&self, left: &[f16], right: &[f16], out: &mut [f16]) {
        <f16 as Number>::add.merge_into(left, right, out);
    }

    fn merge_at(&self, elements: &mut [f16], targets: &[usize], values: &[f16]) {
        <f16 as Number>::add.merge_at(elements, targets, values);
    }

    fn merge_rows(&self, rows: [&[f16]; ROWS], out: &mut [f16]) {
        <f16 as Number>::add.merge_rows(rows, out);
    }

    fn merge_adjacent(&self, elements: &[f16], columns: usize, out: &mut [f16]) {
        <f16 as Number>::add.merge_adjacent(elements, columns, out);
    }

    fn combine_rows(&self, elements: &[f16], len: usize, out: &mut [f16]) {
        <f16 as Number>::add.combine_rows(elements, len, out);
    }

    fn scan_rows(&self, elements: &[f16], len: usize, init: f16, out: &mut [f16]) {
        <f16 as Number>::add.scan_rows(elements, len, init, out);
    }

    fn chain(&self, elements: &[f16], windows: WindowLines<'_>, out: &mut [f16]) {
        let WindowLines { line_starts, stride, taps } = windows;
        let line = (out.len() / line_starts.len().max(1)).max(1);
        let (Some(first), Some(last)) = (taps.iter().min(), taps.iter().max()) else { return };
        let seen_by = |results: usize| (results - 1) * stride + last - first + 1;
        let block = line.min(BLOCK);
        // Conversions take as long as additions.
        if seen_by(block) > (block * taps.len()).min(MAX_SEEN) {
            return <f16 as Number>::add.chain(elements, windows, out);
        }
        let taps: Vec<usize> = taps.iter().map(|tap| tap - first).collect();
        let windows = WindowLines { line_starts: &[0], stride, taps: &taps };
        let mut rooms = [seen_by(block), block].map(|count| vec![0f32; count]);
        for (out, start) in out.chunks_exact_mut(line).zip(line_starts) {
            for (nth, out) in out.chunks_mut(block).enumerate() {
                let start = start + nth * block * stride + first;
                let seen = &elements[start..][..seen_by(out.len())];
                if add_as_singles(seen, windows, &mut rooms, out).is_err() {
                    <f16 as Number>::add.chain(seen, windows, out);
                }
            }
        }
    }
}

/// Results of [`HalfAddition::chain`] that are added at a time, and elements that they may see.
const BLOCK: usize = 2048;
const MAX_SEEN: usize = 1 << 14;

/// Adds the elements of windows to sums as `f32`, in rooms for elements and for sums.
///
/// # Errors
/// If a room is too small; then sums are as they were.
fn add_as_singles(
    seen: &[f16],
    windows: WindowLines<'_>,
    [wide, sums]: &mut [Vec<f32>; 2],
    out: &mut [f16],
) -> Result<(), TensorError> {
    let too_small = TensorError::OutOfBounds;
    let wide = wide.get_mut(..seen.len()).ok_or(too_small.clone())?;
    let sums = sums.get_mut(..out.len()).ok_or(too_small)?;
    let types = [DType::F16, DType::F32];
    convert_into(cast_slice(seen), types, cast_slice_mut(wide))?;
    convert_into(cast_slice(out), types, cast_slice_mut(sums))?;
    add_halves.chain(wide, windows, sums);
    convert_into(cast_slice(sums), [types[1], types[0]], cast_slice_mut(out))
}

/// The sum of two numbers of `f16`, rounded to one: twice, which gives the bits of one rounding, as
/// `f32` has more than twice the digits.
#[inline(always)]
fn add_halves(x: f32, y: f32) -> f32 {
    /// The least number that has all digits, and the least one that is too large.
    const NORMAL: f32 = 1.0 / (1 << 14) as f32;
    const TOO_LARGE: f32 = (1 << 16) as f32;
    let sum = x + y;
    let bits = sum.to_bits();
    let rounded = bits.wrapping_add(0xFFF + (bits >> 13 & 1)) & !0x1FFF;
    let rounded = f32::from_bits(rounded);
    let rounded = if rounded.abs() >= TOO_LARGE { f32::INFINITY.copysign(sum) } else { rounded };
    // Smaller sums are multiples of the smallest number.
    if sum.abs() < NORMAL || sum.is_nan() { sum } else { rounded }
}
