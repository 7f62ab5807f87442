//! Elementwise operations with two operands.

use super::double::Double;
use super::kernel::SliceKernel;
use super::{complex, gamma, hyperbolic, lanes, one, scalar, single};
use crate::element::{Arithmetic, Bitwise, ComplexElement, Element, Float, Integer, Number, Real};
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
        f: impl Fn(T, T) -> R + Send + Sync + 'static,
    ) -> Self::Output;

    /// As [`PairSink::zip`], of a function of so much code that the compiler would not inline it
    /// into more loops.
    fn zip_large<T: Element, R: Element>(
        self,
        f: impl Fn(T, T) -> R + Send + Sync + 'static,
    ) -> Self::Output {
        self.zip(f)
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
        BinaryOp::Divide => dispatch!(
            dtype, [integer, float, complex] T => sink.zip(T::divide), else sink.unsupported()
        ),
        BinaryOp::Remainder => dispatch!(
            dtype, [integer, float] T => sink.zip(T::remainder), else sink.unsupported()
        ),
        BinaryOp::Power => match dtype {
            // Known to the compiler, so that it vectorizes the loop.
            DType::F32 => sink.zip_large(single_power),
            DType::C64 => complex_function(complex::power::<f64>, dtype, sink),
            DType::C128 => complex_function(complex::power::<Double>, dtype, sink),
            _ => dispatch!(
                dtype, [integer, float] T => sink.zip(T::power), else sink.unsupported()
            ),
        },
        BinaryOp::Atan2 => match dtype {
            DType::F64 => sink.zip(hyperbolic::atan2),
            // Known to the compiler, so that it vectorizes the loop.
            DType::F32 => sink.zip_large(single::atan2),
            DType::C64 => complex_function(complex::atan2::<f64>, dtype, sink),
            DType::C128 => complex_function(complex::atan2::<Double>, dtype, sink),
            _ => real_function(one::atan2, dtype, sink),
        },
        BinaryOp::Zeta => real_function(gamma::zeta, dtype, sink),
        BinaryOp::Polygamma => real_function(gamma::polygamma, dtype, sink),
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

/// `x` raised to the power of `y`.
#[inline(always)]
fn single_power(x: f32, y: f32) -> f32 {
    lanes::pow(f64::from(x), f64::from(y)) as f32
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
    f: fn(complex::Complex64, complex::Complex64) -> complex::Complex64,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Complex32, I1};

    fn vector<T: Element>(elements: &[T]) -> Tensor {
        Tensor::from_vec([elements.len()], elements.to_vec()).unwrap()
    }

    #[test]
    fn operands_pair_up_by_shape() {
        let long: Vec<i32> = (0..3000).collect();
        let x = vector(&long);
        let y = Tensor::scalar(1i32);
        let expected = |f: fn(i32) -> i32| vector(&long.iter().map(|&x| f(x)).collect::<Vec<_>>());
        // Shared and unshared operands on either side.
        assert_eq!(binary(BinaryOp::Subtract, x.clone(), y.clone()).unwrap(), expected(|x| x - 1));
        assert_eq!(binary(BinaryOp::Subtract, y.clone(), x.clone()).unwrap(), expected(|x| 1 - x));
        assert_eq!(
            binary(BinaryOp::Subtract, vector(&long), y.clone()).unwrap(),
            expected(|x| x - 1)
        );
        assert_eq!(
            binary(BinaryOp::Subtract, y.clone(), vector(&long)).unwrap(),
            expected(|x| 1 - x)
        );
        assert_eq!(binary(BinaryOp::Subtract, x.clone(), x.clone()).unwrap(), expected(|_| 0));
        let doubled = binary(BinaryOp::Add, x.clone(), x.clone()).unwrap();
        assert_eq!(
            binary(BinaryOp::Subtract, x.clone(), doubled.clone()).unwrap(),
            expected(|x| -x)
        );
        assert_eq!(binary(BinaryOp::Subtract, doubled, x.clone()).unwrap(), x);
        assert_eq!(binary(BinaryOp::Add, y.clone(), y.clone()).unwrap(), Tensor::scalar(2i32));
        assert!(binary(BinaryOp::Add, x.clone(), vector(&[1i32])).is_err());
        assert!(binary(BinaryOp::Add, x, Tensor::scalar(1i64)).is_err());
        let empty = vector::<i32>(&[]);
        assert_eq!(binary(BinaryOp::Add, empty.clone(), y).unwrap(), empty);
    }

    #[test]
    fn an_unshared_operand_becomes_the_result() {
        let (x, y) = (vector(&[1.0f32, 2.0]), vector(&[3.0f32, 4.0]));
        let place = y.bytes().as_ptr();
        let sum = binary(BinaryOp::Add, x.clone(), y).unwrap();
        assert_eq!(sum.bytes().as_ptr(), place);
        assert_eq!(sum.as_slice::<f32>().unwrap(), [4.0, 6.0]);
    }

    #[test]
    fn functions() {
        let pair = |op, x: f64, y: f64| {
            let result = binary(op, Tensor::scalar(x), Tensor::scalar(y)).unwrap();
            result.item::<f64>().unwrap()
        };
        assert_eq!(pair(BinaryOp::Power, 2.0, 10.0), 1024.0);
        assert_eq!(pair(BinaryOp::Power, 0.0, -1.0), f64::INFINITY);
        assert_eq!(pair(BinaryOp::Atan2, 0.0, -1.0), std::f64::consts::PI);
        assert_eq!(pair(BinaryOp::Remainder, -5.0, 3.0), -2.0);
        assert_eq!(pair(BinaryOp::NextAfter, 1.0, 2.0), 1.0 + f64::EPSILON);
        let z = binary(BinaryOp::Complex, Tensor::scalar(1.0f32), vector(&[2.0f32, 3.0])).unwrap();
        assert_eq!(z, vector(&[Complex32::new(1.0, 2.0), Complex32::new(1.0, 3.0)]));
        let square =
            binary(BinaryOp::Power, z.clone(), Tensor::scalar(Complex32::new(2.0, 0.0))).unwrap();
        let square = square.as_slice::<Complex32>().unwrap()[0];
        assert!((square - Complex32::new(-3.0, 4.0)).norm() < 1e-6);
    }

    #[test]
    fn every_operation_is_defined_or_refused() {
        for &op in BinaryOp::ALL {
            for &dtype in DType::ALL {
                let x = Tensor::zeros(dtype, [3]).unwrap();
                match binary(op, x.clone(), x) {
                    Ok(result) => assert_eq!(result.shape(), [3]),
                    Err(error) => {
                        assert_eq!(error, TensorError::Unsupported { op: op.name(), dtype })
                    }
                }
            }
        }
        let yes = Tensor::scalar(I1::new(true));
        assert_eq!(binary(BinaryOp::Add, yes.clone(), yes.clone()).unwrap(), yes);
        assert!(binary(BinaryOp::Subtract, yes.clone(), yes).is_err());
    }
}
