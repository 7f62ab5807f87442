//! Elementwise operations with two operands.

use super::complex::Complex64;
use super::complex_lanes::{ComplexNear, Divide, Power};
use super::double_lanes::{Atan2, Pow, Rounded};
use super::kernel::SliceKernel;
use super::pieces::NativeFloat;
use super::single::Inlined;
use super::{complex, complex_binary, gamma, one, scalar, single, zeta};
use crate::element::{Arithmetic, Bitwise, ComplexElement, Element, Float, Integer, Number, Real};
use crate::{DType, Tensor, TensorError, dispatch, dispatch_all};
use num_complex::Complex;

macro_rules! binary_ops {
    ($($variant:ident $name:literal $doc:literal)*) => {
        /// An elementwise operation with two operands of one type.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum BinaryOp {
            $(#[doc = $doc] $variant,)*
        }

        impl BinaryOp {
            /// Every operation, by name.
            pub const ALL: &'static [BinaryOp] = &[$(BinaryOp::$variant),*];

            /// The operation of that name.
            pub fn from_name(name: &str) -> Option<BinaryOp> {
                match name {
                    $($name => Some(BinaryOp::$variant),)*
                    _ => None,
                }
            }

            /// The name of the operation in StableHLO, or in CHLO.
            pub fn name(self) -> &'static str {
                match self {
                    $(BinaryOp::$variant => $name,)*
                }
            }
        }
    };
}

binary_ops! {
    Add "add" "The sum; `or` of booleans."
    And "and" "Bitwise and."
    Atan2 "atan2" "The angle of the point with ordinate lhs and abscissa rhs."
    Complex "complex" "The complex number with real part lhs and imaginary part rhs."
    Divide "divide" "The quotient, truncated for integers."
    Maximum "maximum" "The larger one; NaN if one is NaN; `or` of booleans."
    Minimum "minimum" "The smaller one; NaN if one is NaN; `and` of booleans."
    Multiply "multiply" "The product; `and` of booleans."
    NextAfter "next_after" "The number of the type next to lhs in the direction of rhs."
    Or "or" "Bitwise or."
    Polygamma "polygamma" "The derivative of order lhs of the digamma function at rhs."
    Power "power" "lhs raised to the power of rhs."
    Remainder "remainder" "What truncating division leaves, with the sign of lhs."
    ShiftLeft "shift_left" "The bits of lhs moved up."
    ShiftRightArithmetic "shift_right_arithmetic" "The bits of lhs moved down, repeating the top one."
    ShiftRightLogical "shift_right_logical" "The bits of lhs moved down, zeros moving in."
    Subtract "subtract" "The difference."
    Xor "xor" "Bitwise exclusive or."
    Zeta "zeta" "The Hurwitz zeta function with exponent lhs at rhs."
}

/// Takes the function behind an operation and an element type.
pub(super) trait PairSink: Sized {
    /// Result of consuming the function: a kernel of slices or of single elements.
    type Output;

    /// Takes a function of two elements of one type.
    fn zip<T: Element, R: Element>(
        self,
        f: impl Fn(T, T) -> R + Copy + Send + Sync + 'static,
    ) -> Self::Output;

    /// As [`PairSink::zip`], of a function of so much code that the compiler would not inline it
    /// into more loops.
    fn zip_large<T: Element, F: Inlined<T, 2>>(self) -> Self::Output {
        self.zip(|x: T, y: T| F::of([x, y]))
    }

    /// Takes a function of `f64`.
    fn zip_rounded<F: Rounded<2>>(self) -> Self::Output {
        self.zip(|x, y| F::exact([x, y]))
    }

    /// Takes a function of complex numbers that the compiler makes vector instructions of.
    fn zip_complex<P: NativeFloat, F: ComplexNear<P, 2>>(self) -> Self::Output
    where
        Complex<P>: ComplexElement<Part = P>,
    {
        self.zip(|x: Complex<P>, y: Complex<P>| {
            complex::narrow::<P>(F::exact([x, y].map(complex::widen)))
        })
    }

    /// The operation is not defined for the type.
    fn unsupported(self) -> Self::Output;
}

/// Gives the function behind an operation on elements of a type to `sink`.
pub(super) fn dispatch_binary<S: PairSink>(op: BinaryOp, dtype: DType, sink: S) -> S::Output {
    match op {
        BinaryOp::Add => dispatch_all!(dtype, T => sink.zip(T::add)),
        BinaryOp::Multiply => dispatch_all!(dtype, T => sink.zip(T::multiply)),
        BinaryOp::Maximum => dispatch_all!(dtype, T => sink.zip::<T, T>(Number::maximum)),
        BinaryOp::Minimum => dispatch_all!(dtype, T => sink.zip::<T, T>(Number::minimum)),
        BinaryOp::Subtract => dispatch!(
            dtype, [integer, float, complex] T => sink.zip(T::subtract), else sink.unsupported()
        ),
        BinaryOp::Divide if dtype == DType::C128 => sink.zip_complex::<f64, Divide>(),
        BinaryOp::Divide => dispatch!(
            dtype, [integer, float, complex] T => sink.zip(T::divide), else sink.unsupported()
        ),
        BinaryOp::Remainder => dispatch!(
            dtype, [integer, float] T => sink.zip(T::remainder), else sink.unsupported()
        ),
        BinaryOp::Power => match dtype {
            // Known to the compiler, so that it vectorizes the loop.
            DType::F32 => sink.zip_large::<f32, single::Pow>(),
            DType::F64 => sink.zip_rounded::<Pow>(),
            DType::C64 => sink.zip_complex::<f32, Power>(),
            DType::C128 => sink.zip_complex::<f64, Power>(),
            _ => dispatch!(
                dtype, [integer, float] T => sink.zip(T::power), else sink.unsupported()
            ),
        },
        BinaryOp::Atan2 => match dtype {
            DType::F64 => sink.zip_rounded::<Atan2>(),
            // Known to the compiler, so that it vectorizes the loop.
            DType::F32 => sink.zip_large::<f32, single::Atan2>(),
            DType::C64 | DType::C128 => complex_function(complex_binary::atan2, dtype, sink),
            _ => real_function(one::atan2, dtype, sink),
        },
        BinaryOp::Zeta | BinaryOp::Polygamma => real_function(
            match (op, dtype) {
                (BinaryOp::Zeta, DType::F64) => gamma::zeta,
                (BinaryOp::Zeta, _) => zeta::zeta,
                (_, DType::F64) => gamma::polygamma,
                _ => zeta::polygamma,
            },
            dtype,
            sink,
        ),
        BinaryOp::NextAfter => dispatch!(
            dtype, [float] T => sink.zip::<T, T>(scalar::next_after), else sink.unsupported()
        ),
        BinaryOp::And => dispatch!(
            dtype, [boolean, integer] T => sink.zip(T::and), else sink.unsupported()
        ),
        BinaryOp::Or => dispatch!(
            dtype, [boolean, integer] T => sink.zip(T::or), else sink.unsupported()
        ),
        BinaryOp::Xor => dispatch!(
            dtype, [boolean, integer] T => sink.zip(T::xor), else sink.unsupported()
        ),
        BinaryOp::ShiftLeft => dispatch!(
            dtype, [integer] T => sink.zip(T::shift_left), else sink.unsupported()
        ),
        BinaryOp::ShiftRightArithmetic => dispatch!(
            dtype, [integer] T => sink.zip(T::shift_right_arithmetic), else sink.unsupported()
        ),
        BinaryOp::ShiftRightLogical => dispatch!(
            dtype, [integer] T => sink.zip(T::shift_right_logical), else sink.unsupported()
        ),
        BinaryOp::Complex => match dtype.complex() {
            Some(complex) => dispatch!(
                complex,
                [complex] T => sink.zip::<<T as ComplexElement>::Part, T>(T::from_parts),
                else sink.unsupported()
            ),
            None => sink.unsupported(),
        },
    }
}

/// Gives a function of two numbers of `f64` to `sink`, with its result rounded to the type.
fn real_function<S: PairSink>(f: fn(f64, f64) -> f64, dtype: DType, sink: S) -> S::Output {
    dispatch!(
        dtype,
        [float] T => sink.zip(move |x: T, y: T| -> T { T::from_float(f(x.to_f64(), y.to_f64())) }),
        else sink.unsupported()
    )
}

/// Gives a function of two complex numbers to `sink`, with its result rounded to the type.
fn complex_function<S: PairSink>(
    f: fn(Complex64, Complex64) -> Complex64,
    dtype: DType,
    sink: S,
) -> S::Output {
    dispatch!(
        dtype,
        [complex] T => sink.zip(move |x: T, y: T| -> T {
            complex::narrow(f(complex::widen(x), complex::widen(y)))
        }),
        else sink.unsupported()
    )
}

/// Applies an operation to every pair of elements of tensors of the same shape, or to a tensor of
/// rank 0 and every element of another one.
///
/// # Errors
/// If the element types differ or the operation is not defined for them, if the shapes differ and
/// none is of rank 0, or if there is no memory for the result.
pub fn binary(op: BinaryOp, lhs: Tensor, rhs: Tensor) -> Result<Tensor, TensorError> {
    let dtype = lhs.dtype();
    if dtype != rhs.dtype() {
        return Err(TensorError::DType { expected: dtype, found: rhs.dtype() });
    }
    match SliceKernel::binary(op, dtype) {
        Some(kernel) => kernel.zip(lhs, rhs),
        None => Err(TensorError::Unsupported { op: op.name(), dtype }),
    }
}
