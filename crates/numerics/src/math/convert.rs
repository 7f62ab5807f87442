//! Conversion between element types, by value and by bits, and reduction of precision.

use super::binary::{BinaryOp, binary};
use super::kernel::{Elementwise, SliceKernel, cast, cast_mut};
use super::unary::{UnaryOp, unary};
use crate::element::{ComplexElement, Element, Float, Integer, Number};
use crate::tensor::allocate;
use crate::{Bytes, DType, Family, I1, Tensor, TensorError, dispatch, dispatch_all};
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

impl SliceKernel {
    /// The kernel of [`convert`]; `None` for complex types.
    pub fn convert(from: DType, to: DType) -> Option<SliceKernel> {
        Some(SliceKernel::conversion(from, to)?.named(Elementwise::Convert(to)))
    }

    fn conversion(from: DType, to: DType) -> Option<SliceKernel> {
        let types = [from, to];
        if from != to
            && let Some(kernel) = direct(from, to)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Complex32, Complex64, F4E2M1FN, F8E4M3FN, I4, U2, U4, bf16, f16};

    fn vector<T: Element>(elements: &[T]) -> Tensor {
        Tensor::from_vec([elements.len()], elements.to_vec()).unwrap()
    }

    fn converted<S: Element, T: Element>(elements: &[S]) -> Vec<T> {
        convert(vector(elements), T::DTYPE).unwrap().to_vec().unwrap()
    }

    #[test]
    fn floats_to_integers_saturate() {
        let floats = [1.9f32, -1.9, 1e10, -1e10, f32::NAN, f32::INFINITY];
        assert_eq!(converted::<f32, i32>(&floats), [1, -1, i32::MAX, i32::MIN, 0, i32::MAX]);
        assert_eq!(converted::<f32, u8>(&floats), [1, 0, 255, 0, 0, 255]);
        assert_eq!(converted::<f32, I4>(&floats), [1, -1, 7, -8, 0, 7].map(I4::new));
        assert_eq!(converted::<f64, u64>(&[1.8446744073709552e19]), [u64::MAX]);
    }

    #[test]
    fn integers_wrap() {
        assert_eq!(converted::<i32, i8>(&[300, -129]), [44, 127]);
        assert_eq!(converted::<i32, U4>(&[-1, 17]), [15, 1].map(U4::new));
        assert_eq!(converted::<u64, i64>(&[u64::MAX]), [-1]);
        assert_eq!(converted::<I4, u32>(&[I4::new(-1)]), [u32::MAX]);
    }

    #[test]
    fn integers_round_once() {
        // 2^25 + 1 lies between 2^25 and 2^25 + 4; 2^60 + 2^36 + 1 just above the midpoint of two
        // floats.
        assert_eq!(
            converted::<i64, f32>(&[(1 << 25) + 1, (1 << 60) + (1 << 36) + 1]),
            [(1u32 << 25) as f32, ((1u64 << 60) + (1 << 37)) as f32]
        );
        // A midpoint of bf16 plus one, which an f64 in between would have rounded away.
        let above = (1i64 << 60) + (1 << 52) + 1;
        assert_eq!(
            converted::<i64, bf16>(&[above, -above, above - 1]),
            [bf16::from_bits(0x5D81), bf16::from_bits(0xDD81), bf16::from_bits(0x5D80)]
        );
        assert_eq!(
            converted::<u64, f16>(&[u64::MAX, 65519, 65520]),
            [f16::INFINITY, f16::MAX, f16::INFINITY]
        );
    }

    #[test]
    fn booleans_and_complex_numbers() {
        let truth = [I1::new(true), I1::new(false)];
        assert_eq!(converted::<f32, I1>(&[f32::NAN, -0.0]), truth);
        assert_eq!(
            converted::<I1, F8E4M3FN>(&truth),
            [F8E4M3FN::from_bits(0x38), F8E4M3FN::from_bits(0)]
        );
        assert_eq!(converted::<Complex32, i32>(&[Complex32::new(2.5, 9.0)]), [2]);
        assert_eq!(converted::<u8, Complex64>(&[7]), [Complex64::new(7.0, 0.0)]);
        assert_eq!(
            converted::<Complex64, Complex32>(&[Complex64::new(0.5, 1e300)]),
            [Complex32::new(0.5, f32::INFINITY)]
        );
    }

    #[test]
    fn long_tensors_convert_in_blocks() {
        let elements: Vec<i32> = (0..3000).collect();
        assert_eq!(converted::<i32, f64>(&elements), (0..3000).map(f64::from).collect::<Vec<_>>());
    }

    #[test]
    fn bits_of_wider_and_narrower_types() {
        let x = Tensor::from_vec([1], vec![0x4030_2010u32]).unwrap();
        let bytes = bitcast(&x, DType::U8).unwrap();
        assert_eq!(bytes, Tensor::from_vec([1, 4], vec![0x10u8, 0x20, 0x30, 0x40]).unwrap());
        assert_eq!(bitcast(&bytes, DType::U32).unwrap(), x);
        let nibbles = bitcast(&x, DType::I4).unwrap();
        assert_eq!(
            nibbles,
            Tensor::from_vec([1, 8], [0, 1, 0, 2, 0, 3, 0, 4].map(I4::new).to_vec()).unwrap()
        );
        assert_eq!(bitcast(&nibbles, DType::U32).unwrap(), x);
        let crumbs = bitcast(&vector(&[U4::new(0b1101)]), DType::U2).unwrap();
        assert_eq!(crumbs, Tensor::from_vec([1, 2], [1, 3].map(U2::new).to_vec()).unwrap());
        assert_eq!(
            bitcast(&crumbs, DType::F4E2M1FN).unwrap(),
            vector(&[F4E2M1FN::from_bits(0b1101)])
        );
        assert_eq!(bitcast(&vector(&[1.0f32]), DType::I32).unwrap(), vector(&[0x3F80_0000i32]));
        assert!(bitcast(&bytes, DType::U64).is_err());
        assert!(bitcast(&vector(&[1u8]), DType::F6E2M3FN).is_err());
        assert!(bitcast(&Tensor::scalar(1u8), DType::U16).is_err());
    }

    #[test]
    fn reduced_precision() {
        let reduced = |x: f32, exponent, mantissa| {
            let x = reduce_precision(Tensor::scalar(x), exponent, mantissa).unwrap();
            x.item::<f32>().unwrap()
        };
        // To bf16 and f16, but for subnormal numbers.
        for bits in (0..=u16::MAX).step_by(7) {
            let x = f32::from_bits(u32::from(bits) << 16 | 0x9ABC);
            if x.is_nan() {
                assert!(reduced(x, 8, 7).is_nan());
            } else {
                assert_eq!(reduced(x, 8, 7), bf16::from_f32(x).to_f32());
                let half = f16::from_f32(x);
                if half.is_normal() && half > f16::MIN_POSITIVE {
                    assert_eq!(reduced(x, 5, 10), half.to_f32());
                }
            }
        }
        assert_eq!(reduced(65520.0, 5, 10), f32::INFINITY);
        assert_eq!(reduced(-1e-6, 5, 10).to_bits(), (-0.0f32).to_bits());
        assert_eq!(reduced(f32::NAN, 5, 0), f32::INFINITY);
        assert_eq!(reduced(2.5, 11, 52), 2.5);
        assert!(reduce_precision(Tensor::scalar(1.0f32), 0, 1).is_err());
        assert!(reduce_precision(Tensor::scalar(1i32), 5, 1).is_err());
    }
}
