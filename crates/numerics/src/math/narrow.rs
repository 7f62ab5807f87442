//! Functions of `f16` and `bf16`, by blocks of `f64`, of which there are vectors.

use super::binary::BinaryOp;
use super::complex_lanes::ComplexNear;
use super::double_lanes::Rounded;
use super::kernel::{self, SliceKernel};
use super::pieces::{self, NativeFloat, Pieced};
use super::single;
use super::unary::{ElementSink, RealFunction, UnaryOp, dispatch_unary};
use crate::element::{ComplexElement, Element, Number};
use crate::floats::{f16_to_f32, single_of_bf16};
use crate::{DType, bf16, f16};
use num_complex::Complex;

/// Elements of a block.
const BLOCK: usize = 256;

/// The kernel of a unary operation; `None` if it has no vectors of `f64`, or for other types.
pub(super) fn unary(op: UnaryOp, dtype: DType) -> Option<SliceKernel> {
    let real = op.functions().real;
    in_doubles(dtype, real, || dispatch_unary(op, DType::F64, InVectors { real: real? }))
}

/// The kernel of an operation on pairs, as [`unary`].
pub(super) fn binary(op: BinaryOp, dtype: DType) -> Option<SliceKernel> {
    in_doubles(dtype, None, || match op {
        BinaryOp::Atan2 => Some(SliceKernel::inlined_pairs::<f64, single::Atan2>()),
        BinaryOp::Power => Some(SliceKernel::inlined_pairs::<f64, single::Pow>()),
        _ => None,
    })
}

/// A kernel that converts operands of two bytes to `f64`, and results of a kernel back. `of_nan`
/// is the function of single numbers, whose NaN is the result for each NaN.
fn in_doubles(
    dtype: DType,
    of_nan: Option<RealFunction>,
    kernel: impl FnOnce() -> Option<SliceKernel>,
) -> Option<SliceKernel> {
    // Not the conversions of programs, which have one NaN.
    let (widen, narrow) = match dtype {
        DType::BF16 => (
            SliceKernel::one(|x: bf16| f64::from(single_of_bf16(x))),
            SliceKernel::one(|x: f64| bf16::from_float(x)),
        ),
        DType::F16 => (
            SliceKernel::one(|x: f16| f64::from(f16_to_f32(x))),
            SliceKernel::one(|x: f64| f16::from_float(x)),
        ),
        _ => return None,
    };
    let kernel = kernel()?;
    let arity = kernel.operands().len();
    Some(SliceKernel::of([dtype; 3], arity, dtype, move |results, operands| {
        let [mut of_kernel, mut first, mut second] = [[0f64; BLOCK]; 3];
        let step = BLOCK * dtype.bytes();
        for (number, results) in results.chunks_mut(step).enumerate() {
            let bytes = number * step..number * step + results.len();
            let count = results.len() / dtype.bytes();
            for (block, operand) in [&mut first, &mut second].into_iter().zip(operands) {
                let block = bytemuck::cast_slice_mut(&mut block[..count]);
                widen.run(block, &[operand.get(bytes.clone())?])?;
            }
            let blocks = [&first, &second].map(|block| bytemuck::cast_slice(&block[..count]));
            let of_kernel: &mut [u8] = bytemuck::cast_slice_mut(&mut of_kernel[..count]);
            kernel.run(of_kernel, &blocks[..arity])?;
            if let Some(of_nan) = of_nan {
                for (result, &x) in
                    bytemuck::cast_slice_mut::<u8, f64>(of_kernel).iter_mut().zip(&first)
                {
                    if x.is_nan() {
                        *result = of_nan(x);
                    }
                }
            }
            narrow.run(results, &[of_kernel])?;
        }
        Some(())
    }))
}

/// Compiles functions of `f64` with vectors, and no others.
struct InVectors {
    /// The function of single numbers, which is enough for narrower types.
    real: RealFunction,
}

impl ElementSink for InVectors {
    type Output = Option<SliceKernel>;

    fn map<T: Element>(self, _: impl Fn(T) -> T + Copy + Send + Sync + 'static) -> Self::Output {
        None
    }

    fn map_rounded<F: Rounded<1>>(self) -> Self::Output {
        Some(kernel::rounded::<F>(self.real))
    }

    fn map_pieced<T: NativeFloat, F: Pieced>(self) -> Self::Output {
        Some(pieces::kernel::<T, F>(self.real))
    }

    fn map_complex<P: NativeFloat, F: ComplexNear<P, 1>>(self) -> Self::Output
    where
        Complex<P>: ComplexElement<Part = P>,
    {
        None
    }

    fn map_to<T: Element, R: Element>(
        self,
        _: impl Fn(T) -> R + Copy + Send + Sync + 'static,
    ) -> Self::Output {
        None
    }

    fn unsupported(self) -> Self::Output {
        None
    }
}
