//! Elementwise operations with two operands.

use super::kernel::{zip, zip_to};
use super::{complex, scalar};
use crate::element::{Arithmetic, Bitwise, ComplexElement, Float, Integer, Number, Real};
use crate::{DType, Tensor, TensorError, dispatch, dispatch_all};

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
    Power "power" "lhs raised to the power of rhs."
    Remainder "remainder" "What truncating division leaves, with the sign of lhs."
    ShiftLeft "shift_left" "The bits of lhs moved up."
    ShiftRightArithmetic "shift_right_arithmetic" "The bits of lhs moved down, repeating the top one."
    ShiftRightLogical "shift_right_logical" "The bits of lhs moved down, zeros moving in."
    Subtract "subtract" "The difference."
    Xor "xor" "Bitwise exclusive or."
}

/// Applies an operation to every pair of elements of tensors of the same shape, or to a tensor of rank 0
/// and every element of another one.
///
/// # Errors
/// If the element types differ or the operation is not defined for them, if the shapes differ and none
/// is of rank 0, or if there is no memory for the result.
pub fn binary(op: BinaryOp, lhs: Tensor, rhs: Tensor) -> Result<Tensor, TensorError> {
    let dtype = lhs.dtype();
    if dtype != rhs.dtype() {
        return Err(TensorError::DType { expected: dtype, found: rhs.dtype() });
    }
    let unsupported = || Err(TensorError::Unsupported { op: op.name(), dtype });
    match op {
        BinaryOp::Add => dispatch_all!(dtype, T => zip::<T>(lhs, rhs, T::add)),
        BinaryOp::Multiply => dispatch_all!(dtype, T => zip::<T>(lhs, rhs, T::multiply)),
        BinaryOp::Maximum => dispatch_all!(dtype, T => zip::<T>(lhs, rhs, Number::maximum)),
        BinaryOp::Minimum => dispatch_all!(dtype, T => zip::<T>(lhs, rhs, Number::minimum)),
        BinaryOp::Subtract => dispatch!(
            dtype, [integer, float, complex] T => zip::<T>(lhs, rhs, T::subtract), else unsupported()
        ),
        BinaryOp::Divide => dispatch!(
            dtype, [integer, float, complex] T => zip::<T>(lhs, rhs, T::divide), else unsupported()
        ),
        BinaryOp::Remainder => dispatch!(
            dtype, [integer, float] T => zip::<T>(lhs, rhs, T::remainder), else unsupported()
        ),
        BinaryOp::Power => match dtype {
            DType::C64 | DType::C128 => complex_function(complex::power, lhs, rhs),
            _ => dispatch!(dtype, [integer, float] T => zip::<T>(lhs, rhs, T::power), else unsupported()),
        },
        BinaryOp::Atan2 => match dtype {
            DType::C64 | DType::C128 => complex_function(complex::atan2, lhs, rhs),
            _ => dispatch!(
                dtype,
                [float] T => zip::<T>(lhs, rhs, |y, x| T::from_f64(libm::atan2(y.to_f64(), x.to_f64()))),
                else unsupported()
            ),
        },
        BinaryOp::NextAfter => dispatch!(
            dtype, [float] T => zip::<T>(lhs, rhs, scalar::next_after), else unsupported()
        ),
        BinaryOp::And => dispatch!(
            dtype, [boolean, integer] T => zip::<T>(lhs, rhs, T::and), else unsupported()
        ),
        BinaryOp::Or => dispatch!(
            dtype, [boolean, integer] T => zip::<T>(lhs, rhs, T::or), else unsupported()
        ),
        BinaryOp::Xor => dispatch!(
            dtype, [boolean, integer] T => zip::<T>(lhs, rhs, T::xor), else unsupported()
        ),
        BinaryOp::ShiftLeft => dispatch!(
            dtype, [integer] T => zip::<T>(lhs, rhs, T::shift_left), else unsupported()
        ),
        BinaryOp::ShiftRightArithmetic => dispatch!(
            dtype, [integer] T => zip::<T>(lhs, rhs, T::shift_right_arithmetic), else unsupported()
        ),
        BinaryOp::ShiftRightLogical => dispatch!(
            dtype, [integer] T => zip::<T>(lhs, rhs, T::shift_right_logical), else unsupported()
        ),
        BinaryOp::Complex => match dtype.complex() {
            Some(complex) => dispatch!(
                complex,
                [complex] T => zip_to::<<T as ComplexElement>::Part, T>(&lhs, &rhs, T::from_parts),
                else unsupported()
            ),
            None => unsupported(),
        },
    }
}

/// Applies a function of two complex numbers to every pair of elements.
fn complex_function(
    f: fn(complex::Complex64, complex::Complex64) -> complex::Complex64,
    lhs: Tensor,
    rhs: Tensor,
) -> Result<Tensor, TensorError> {
    let dtype = lhs.dtype();
    dispatch!(
        dtype,
        [complex] T => zip::<T>(lhs, rhs, |x, y| complex::narrow(f(complex::widen(x), complex::widen(y)))),
        else Err(TensorError::Unsupported { op: "a complex function", dtype })
    )
}
