//! Conversion between element types, by value and by bits, and reduction of precision.

use super::binary::{BinaryOp, binary};
use super::kernel::{Elementwise, SliceKernel, cast, cast_mut};
use super::unary::{UnaryOp, unary};
use crate::element::{ComplexElement, Element, Float, Integer, Number};
use crate::floats::{bf16_of_single, f16_of_single, f16_to_f32, single_of_bf16};
use crate::tensor::allocate;
use crate::{Bytes, DType, Family, I1, Tensor, TensorError, bf16, dispatch, dispatch_all, f16};
use std::sync::OnceLock;

/// The elements as numbers of another type.
///
/// To a floating-point type, numbers are rounded to the nearest one, ties to even; what overflows
/// becomes as [`FloatFormat::encode`](crate::FloatFormat::encode) says. To an integer type,
/// floating-point numbers are truncated and saturated, NaN becomes zero, and integers wrap around.
/// To booleans, everything but zero becomes `true`. Complex numbers lose their imaginary part, and
/// other numbers get zero as theirs.
///
/// # Errors
/// If there is no memory for the result.
pub fn convert(operand: Tensor, dtype: DType) -> Result<Tensor, TensorError> {
    let source = operand.dtype();
    if source == dtype {
        return Ok(operand);
    }
    match (source.family(), dtype.family()) {
        (Family::Complex, Family::Complex) => {
            let (re, im) = (unary(UnaryOp::Real, operand.clone())?, unary(UnaryOp::Imag, operand)?);
            binary(BinaryOp::Complex, convert(re, dtype.part())?, convert(im, dtype.part())?)
        }
        (Family::Complex, _) => convert(unary(UnaryOp::Real, operand)?, dtype),
        (_, Family::Complex) => {
            let re = convert(operand, dtype.part())?;
            dispatch!(
                dtype,
                [complex] T => SliceKernel::one(|re| T::from_parts(re, Element::ZERO)).map(re),
                else unsupported("convert", dtype)
            )
        }
        _ => match conversion(source, dtype) {
            Some(kernel) => kernel.map(operand),
            None => unsupported("convert", source),
        },
    }
}

/// The kernel of [`convert`], made once for each pair of types; `None` for complex ones.
pub fn conversion(from: DType, to: DType) -> Option<&'static SliceKernel> {
    const COUNT: usize = DType::ALL.len();
    static KERNELS: [OnceLock<Option<Box<SliceKernel>>>; COUNT * COUNT] =
        [const { OnceLock::new() }; COUNT * COUNT];
    let kernel = KERNELS.get(from as usize * COUNT + to as usize)?;
    kernel.get_or_init(|| SliceKernel::convert(from, to).map(Box::new)).as_deref()
}

/// An element widened to one of three types that hold every number exactly.
#[derive(Clone, Copy)]
pub(super) enum Wide {
    /// A signed integer.
    Signed(i64),
    /// An unsigned integer or a boolean.
    Unsigned(u64),
    /// A floating-point number.
    Float(f64),
}

/// The integer that an element of a signed type is.
pub(super) fn widen_signed<S: Integer>(x: S) -> i64 {
    x.to_i128() as i64
}

/// The integer that an element of an unsigned type is.
pub(super) fn widen_unsigned<S: Integer>(x: S) -> u64 {
    x.to_i128() as u64
}

/// The number rounded to a type, as [`convert`] does.
pub(super) fn store_wide<T: Number>(wide: Wide) -> T {
    match wide {
        Wide::Signed(x) => T::from_i64(x),
        Wide::Unsigned(x) => T::from_u64(x),
        Wide::Float(x) => T::from_float(x),
    }
}

fn unsupported<T>(op: &'static str, dtype: DType) -> Result<T, TensorError> {
    Err(TensorError::Unsupported { op, dtype })
}

/// The number of elements that are widened at a time.
const WIDE_BLOCK: usize = 256;

/// Widens elements to `i64`, `u64` or `f64`.
///
/// A conversion goes through blocks of one of these three types, which hold every number exactly,
/// so that there are loops for every source and for every target, but not for every pair.
type Load<W> = Box<dyn Fn(&[u8], &mut [W]) -> Option<()> + Send + Sync>;

/// Rounds numbers to elements.
type Store<W> = Box<dyn Fn(&[W], &mut [u8]) -> Option<()> + Send + Sync>;

fn load<S: Element, W>(widen: impl Fn(S) -> W + Send + Sync + 'static) -> Load<W> {
    Box::new(move |elements, block| {
        for (wide, &x) in block.iter_mut().zip(cast::<S>(elements)?) {
            *wide = widen(x);
        }
        Some(())
    })
}

fn store<W: Copy, T: Element>(narrow: impl Fn(W) -> T + Send + Sync + 'static) -> Store<W> {
    Box::new(move |block, elements| {
        for (x, &wide) in cast_mut::<T>(elements)?.iter_mut().zip(block) {
            *x = narrow(wide);
        }
        Some(())
    })
}

macro_rules! stores {
    ($($name:ident $wide:ty;)*) => {$(
        fn $name(dtype: DType) -> Option<Store<$wide>> {
            dispatch!(
                dtype,
                [boolean, integer, float] T => Some(store::<$wide, T>(Number::$name)),
                else None
            )
        }
    )*};
}

stores! {
    from_i64 i64;
    from_u64 u64;
    from_float f64;
}

/// The kernel that widens elements and rounds them to another type.
fn through<W: Copy + Default + 'static>(
    [from, to]: [DType; 2],
    load: Load<W>,
    store: Option<Store<W>>,
) -> Option<SliceKernel> {
    let store = store?;
    Some(SliceKernel::of([from; 3], 1, to, move |results, operands| {
        let mut block = [W::default(); WIDE_BLOCK];
        let operands = operands.first()?.chunks(WIDE_BLOCK * from.bytes());
        for (results, xs) in results.chunks_mut(WIDE_BLOCK * to.bytes()).zip(operands) {
            let block = &mut block[..xs.len() / from.bytes()];
            load(xs, block)?;
            store(block, results)?;
        }
        Some(())
    }))
}

/// The kernel of conversions between the most common types, which have loops of their own.
fn direct(from: DType, to: DType) -> Option<SliceKernel> {
    match (from, to) {
        (DType::F32, DType::BF16) => return Some(SliceKernel::one(bf16_of_single)),
        (DType::F32, DType::F16) => return Some(SliceKernel::one(f16_of_single)),
        (DType::F32, DType::I32) => {
            return Some(SliceKernel::one(|x: f32| int_of_double(x.into())));
        }
        (DType::F64, DType::I32) => return Some(SliceKernel::one(int_of_double)),
        (DType::F64, DType::I8) => {
            return Some(SliceKernel::one(|x: f64| int_of_double(x).clamp(-128, 127) as i8));
        }
        (DType::F64, DType::U8) => {
            return Some(SliceKernel::one(|x: f64| int_of_double(x).clamp(0, 255) as u8));
        }
        (DType::F32, DType::I8) => return Some(SliceKernel::one(|x: f32| x as i8)),
        (DType::F32, DType::U8) => return Some(SliceKernel::one(|x: f32| x as u8)),
        (DType::F64 | DType::I32, DType::BF16) => return rounded_from::<bf16>(from),
        (DType::F64 | DType::I32, DType::F16) => return rounded_from::<f16>(from),
        (DType::BF16, DType::F32) => return Some(SliceKernel::one(single_of_bf16)),
        (DType::F16, DType::F32) => return Some(SliceKernel::one(f16_to_f32)),
        (DType::I8, DType::F32) => return Some(SliceKernel::one(|x: i8| f32::from(x))),
        (DType::I8, DType::I32) => return Some(SliceKernel::one(|x: i8| i32::from(x))),
        (DType::U8, DType::F32) => return Some(SliceKernel::one(|x: u8| f32::from(x))),
        (DType::U8, DType::I32) => return Some(SliceKernel::one(|x: u8| i32::from(x))),
        (DType::I1, DType::F32) => return Some(SliceKernel::one(|x: I1| f32::from(x.get()))),
        (DType::I1, DType::F64) => return Some(SliceKernel::one(|x: I1| f64::from(x.get()))),
        (DType::I1, DType::I8) => return Some(SliceKernel::one(|x: I1| i8::from(x.get()))),
        (DType::I1, DType::U8) => return Some(SliceKernel::one(|x: I1| u8::from(x.get()))),
        _ => {}
    }
    macro_rules! to {
        ($S:ty, $widen:expr, $store:ident) => {
            match to {
                DType::I1 => SliceKernel::one(|x: $S| I1::$store($widen(x))),
                DType::I32 => SliceKernel::one(|x: $S| i32::$store($widen(x))),
                DType::I64 => SliceKernel::one(|x: $S| i64::$store($widen(x))),
                DType::U32 => SliceKernel::one(|x: $S| u32::$store($widen(x))),
                DType::F32 => SliceKernel::one(|x: $S| f32::$store($widen(x))),
                DType::F64 => SliceKernel::one(|x: $S| f64::$store($widen(x))),
                _ => return None,
            }
        };
    }
    Some(match from {
        DType::I1 => to!(I1, |x: I1| u64::from(x.get()), from_u64),
        DType::I32 => to!(i32, i64::from, from_i64),
        DType::I64 => to!(i64, |x: i64| x, from_i64),
        DType::U32 => to!(u32, u64::from, from_u64),
        DType::F32 => to!(f32, f64::from, from_float),
        DType::F64 => to!(f64, |x: f64| x, from_float),
        _ => return None,
    })
}

/// `x as i32`, by operations of which there are vectors.
#[inline(always)]
fn int_of_double(x: f64) -> i32 {
    /// Added to an integer, it leaves it in the low bits of the sum.
    const SHIFT: f64 = 1.5 * (1u64 << 52) as f64;
    let integer = x.trunc().max(f64::from(i32::MIN)).min(f64::from(i32::MAX));
    let integer = (integer + SHIFT).to_bits() as i32;
    if x.is_nan() { 0 } else { integer }
}

/// The kernel that rounds numbers of 64 or 32 bits, all of which `f64` has, to another type.
fn rounded_from<T: Number>(from: DType) -> Option<SliceKernel> {
    match from {
        DType::F64 => Some(SliceKernel::one(|x: f64| T::from_float(x))),
        DType::I32 => Some(SliceKernel::one(|x: i32| T::from_float(f64::from(x)))),
        _ => None,
    }
}

/// The kernel that goes through `f32`, which has all numbers of the source; `None` for other
/// sources, and for targets that are not rounded to from it in vectors.
fn through_single(from: DType, to: DType) -> Option<SliceKernel> {
    use DType::{BF16, F16, F32, F64, I1, I8, I32, I64, U8};
    let is_source = matches!(from, I1 | I8 | U8 | BF16 | F16);
    let is_float = to.is_float() && to.bytes() <= 2;
    let is_target = is_float || from.is_float() && matches!(to, I1 | I8 | U8 | I32 | I64 | F64);
    if !is_source || !is_target {
        return None;
    }
    let (widen, narrow) = (conversion(from, F32)?, conversion(F32, to)?);
    Some(SliceKernel::of([from; 3], 1, to, move |results, operands| {
        let mut block = [0f32; WIDE_BLOCK];
        let operands = operands.first()?.chunks(WIDE_BLOCK * from.bytes());
        for (results, xs) in results.chunks_mut(WIDE_BLOCK * to.bytes()).zip(operands) {
            let block = &mut block[..xs.len() / from.bytes()];
            let block: &mut [u8] = bytemuck::cast_slice_mut(block);
            widen.run(block, &[xs])?;
            narrow.run(results, &[block])?;
        }
        Some(())
    }))
}

impl SliceKernel {
    /// The kernel of [`convert`]; `None` for complex types.
    pub fn convert(from: DType, to: DType) -> Option<SliceKernel> {
        let kernel = SliceKernel::conversion(from, to)?;
        // Machine code of conversions to booleans is shorter than to look them up.
        let is_tabulated = from.is_float() && from.bytes() == 1 && to != DType::I1;
        let kernel = if is_tabulated { kernel.tabulated_conversion() } else { kernel };
        Some(kernel.named(Elementwise::Convert(to)))
    }

    fn conversion(from: DType, to: DType) -> Option<SliceKernel> {
        let types = [from, to];
        if from != to
            && let Some(kernel) = direct(from, to).or_else(|| through_single(from, to))
        {
            return Some(kernel);
        }
        match from.family() {
            _ if from == to => Some(dispatch_all!(from, T => SliceKernel::in_place(|x: T| x))),
            Family::Boolean => through(types, load(|x: I1| x.get().into()), from_u64(to)),
            Family::Signed => dispatch!(
                from,
                [integer] S => through(types, load(widen_signed::<S>), from_i64(to)),
                else None
            ),
            Family::Unsigned => dispatch!(
                from,
                [integer] S => through(types, load(widen_unsigned::<S>), from_u64(to)),
                else None
            ),
            // Of all conversions between floats, this one is exact and common.
            Family::Float if to == DType::F32 && from.bits() < 32 => dispatch!(
                from,
                [float] S => Some(SliceKernel::one(|x: S| x.to_f64() as f32)),
                else None
            ),
            Family::Float if from == DType::F32 && to.bytes() == 1 => dispatch!(
                to,
                [float] T => Some(SliceKernel::one(|x: f32| T::from_float(f64::from(x)))),
                else through(types, load(|x: f32| f64::from(x)), from_float(to))
            ),
            Family::Float => dispatch!(
                from,
                [float] S => through(types, load(S::to_f64), from_float(to)),
                else None
            ),
            Family::Complex => None,
        }
    }

    /// The kernel of [`bitcast`] between types of the same number of whole bytes.
    pub fn bitcast(from: DType, to: DType) -> Option<SliceKernel> {
        let is_whole = |dtype: DType| dtype.bits() as usize == 8 * dtype.bytes();
        (is_whole(from) && is_whole(to) && from.bytes() == to.bytes()).then(|| {
            let kernel = SliceKernel::of([from; 3], 1, to, |results, operands| {
                results.copy_from_slice(operands.first()?);
                Some(())
            });
            kernel.named(Elementwise::Bitcast(to))
        })
    }

    /// The kernel of [`reduce_precision`]; `None` where that is an error.
    pub fn reduce_precision(
        dtype: DType,
        exponent_bits: u32,
        mantissa_bits: u32,
    ) -> Option<SliceKernel> {
        if exponent_bits == 0 {
            return None;
        }
        dispatch!(
            dtype,
            [float] T => Some(SliceKernel::in_place(move |x: T| reduce(x, exponent_bits, mantissa_bits))),
            else None
        )
    }
}

/// The bits of the elements as elements of another type. The bits of one element may be those of
/// several smaller ones, the lowest first, which are then along a new innermost dimension; or the
/// other way round.
///
/// # Errors
/// If the width of one type is not a multiple of the other one's, or if the innermost dimension
/// does not have the elements that make up one of the result.
pub fn bitcast(operand: &Tensor, dtype: DType) -> Result<Tensor, TensorError> {
    let (from, to) = (operand.dtype().bits() as usize, dtype.bits() as usize);
    let mut shape = operand.shape().to_vec();
    if operand.dtype() == dtype {
        return Ok(operand.clone());
    }
    if from % to != 0 && to % from != 0 {
        return Err(TensorError::Invalid(format!(
            "the {to} bits of {dtype} and the {from} bits of {} do not divide each other",
            operand.dtype()
        )));
    }
    if from > to {
        shape.push(from / to);
    } else if from < to {
        let found = shape.pop();
        if found != Some(to / from) {
            return Err(TensorError::Invalid(format!(
                "one {dtype} takes {} elements of type {}, but the innermost dimension has {}",
                to / from,
                operand.dtype(),
                found.unwrap_or(1)
            )));
        }
    }
    // Elements narrower than a byte have a byte each; the bits of neighbours share a byte of a
    // wider one.
    let bytes = match (from.min(8), to.min(8)) {
        (from, to) if from > to => split_bytes(operand.bytes(), from, to)?,
        (from, to) if from < to => join_bytes(operand.bytes(), from, to)?,
        _ => operand.bytes().clone(),
    };
    Tensor::from_bytes(dtype, shape, bytes)
}

/// Each group of `to` bits among the low `from` bits of every byte, as a byte.
fn split_bytes(bytes: &[u8], from: usize, to: usize) -> Result<Bytes, TensorError> {
    let mut parts = allocate::<u8>(bytes.len().saturating_mul(from / to))?;
    let mask = (1u8 << to) - 1;
    for byte in bytes {
        parts.extend((0..from).step_by(to).map(|shift| byte >> shift & mask));
    }
    Ok(Bytes::from_vec(parts))
}

/// The low `from` bits of neighbouring bytes, as the low `to` bits of a byte.
fn join_bytes(bytes: &[u8], from: usize, to: usize) -> Result<Bytes, TensorError> {
    let mut whole = allocate::<u8>(bytes.len() / (to / from))?;
    let mask = (1u8 << from) - 1;
    for parts in bytes.chunks_exact(to / from) {
        let joined =
            parts.iter().rev().fold(0u32, |joined, part| joined << from | u32::from(part & mask));
        whole.push(joined as u8);
    }
    Ok(Bytes::from_vec(whole))
}

/// The floating-point numbers rounded to the precision and range of a format with the given numbers
/// of exponent and mantissa bits. Numbers below the normal range become zero, those above become
/// infinite; NaN stays NaN; without mantissa bits to tell it from infinity it becomes that.
///
/// # Errors
/// If the elements are not floating-point numbers, there are no exponent bits, or there is no
/// memory for the result.
pub fn reduce_precision(
    operand: Tensor,
    exponent_bits: u32,
    mantissa_bits: u32,
) -> Result<Tensor, TensorError> {
    if exponent_bits == 0 {
        return Err(TensorError::Invalid(
            "reduce_precision needs at least one exponent bit".to_owned(),
        ));
    }
    match SliceKernel::reduce_precision(operand.dtype(), exponent_bits, mantissa_bits) {
        Some(kernel) => kernel.map(operand),
        None => unsupported("reduce_precision", operand.dtype()),
    }
}

fn reduce<T: Float>(x: T, exponent_bits: u32, mantissa_bits: u32) -> T {
    let format = T::FORMAT;
    let infinity = T::from_float(f64::INFINITY).to_raw();
    let sign = x.to_raw() & format.sign_mask();
    if x.is_nan() {
        return if mantissa_bits > 0 { x } else { T::from_raw(infinity) };
    }
    let mut magnitude = x.to_raw() & !format.sign_mask();
    if mantissa_bits < format.mantissa_bits {
        let cut = format.mantissa_bits - mantissa_bits;
        let is_odd = magnitude >> cut & 1;
        magnitude = (magnitude + (1 << (cut - 1)) - 1 + is_odd) >> cut << cut;
    }
    if exponent_bits < format.exponent_bits {
        let bias = format.bias as u64;
        let reach = (1 << (exponent_bits - 1)) - 1;
        if magnitude >> format.mantissa_bits > bias + reach {
            magnitude = infinity;
        } else if magnitude >> format.mantissa_bits <= bias.saturating_sub(reach) {
            magnitude = 0;
        }
    }
    T::from_raw(sign | magnitude.min(infinity))
}
