//! Elementwise operations with one operand.

use super::complex::{self, Complex64};
use super::complex_lanes::{self, ComplexNear};
use super::double::Double;
use super::double_lanes::{
    Acos, Acosh, Asin, Asinh, Atan, Atanh, Cbrt, Cos, Cosh, Exp, ExpM1, Log, Log1p, Logistic,
    Rounded, Rsqrt, Sin, Sinh, Tan, Tanh,
};
use super::double_lanes_erf::{Erf, Erfc};
use super::kernel::SliceKernel;
use super::pieces::{self, NativeFloat, Pieced};
use super::single::Inlined;
use super::{bessel, gamma, lanes, one, scalar, single};
use crate::element::{Arithmetic, Bitwise, ComplexElement, Element, Float, Integer, Number, Real};
use crate::{DType, I1, Tensor, TensorError, dispatch};
use num_complex::{Complex, Complex32};

/// A function of real numbers.
pub(super) type RealFunction = fn(f64) -> f64;
/// A function of complex numbers.
type ComplexFunction = fn(Complex64) -> Complex64;
/// A property of real numbers.
type Predicate = fn(f64) -> bool;

macro_rules! unary_ops {
    ($(
        $variant:ident $name:literal $($kind:ident($function:expr))* $(, complex $complex:ident)? ;
    )*) => {
        /// An elementwise operation with one operand, named as in StableHLO or CHLO.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum UnaryOp {
            $(#[doc = concat!("`", $name, "`.")] $variant,)*
        }

        impl UnaryOp {
            /// Every operation, by name.
            pub const ALL: &'static [UnaryOp] = &[$(UnaryOp::$variant),*];

            /// The operation of that name.
            pub fn from_name(name: &str) -> Option<UnaryOp> {
                match name {
                    $($name => Some(UnaryOp::$variant),)*
                    _ => None,
                }
            }

            /// The name of the operation in StableHLO, or in CHLO.
            pub fn name(self) -> &'static str {
                match self {
                    $(UnaryOp::$variant => $name,)*
                }
            }

            pub(super) fn functions(self) -> OpFunctions {
                match self {
                    $(UnaryOp::$variant => {
                        #[allow(unused_mut, reason = "some functions do not change it")]
                        let mut functions = OpFunctions::default();
                        $(functions.$kind = Some($function);)*
                        $(functions.complex = Some([
                            complex::$complex::<f64>, complex::$complex::<Double>
                        ]);)?
                        functions
                    })*
                }
            }
        }
    };
}

/// The functions behind an operation that is defined by functions of numbers.
#[derive(Default)]
pub(super) struct OpFunctions {
    /// Within a few units of the last place of `f64`: enough for the narrower types.
    pub(super) real: Option<RealFunction>,
    /// For `f64` itself, where `real` is not good enough.
    double: Option<RealFunction>,
    /// For complex numbers with parts of `f32` and of `f64`.
    complex: Option<[ComplexFunction; 2]>,
    predicate: Option<Predicate>,
}

unary_ops! {
    Abs "abs";
    Acos "acos" real(one::acos), complex acos;
    Acosh "acosh" real(scalar::acosh), complex acosh;
    Asin "asin" real(one::asin), complex asin;
    Asinh "asinh" real(libm::asinh), complex asinh;
    Atan "atan" real(one::atan), complex atan;
    Atanh "atanh" real(libm::atanh), complex atanh;
    BesselI1e "bessel_i1e" real(bessel::i1e);
    Cbrt "cbrt" real(libm::cbrt), complex cbrt;
    Ceil "ceil" real(f64::ceil);
    Cosh "cosh" real(libm::cosh), complex cosh;
    Cosine "cosine" real(one::cos), complex cos;
    CountLeadingZeros "count_leading_zeros";
    Digamma "digamma" real(gamma::digamma);
    Erf "erf" real(one::erf) double(exact::<Erf>);
    ErfInv "erf_inv" real(one::erf_inv);
    Erfc "erfc" real(one::erfc) double(exact::<Erfc>);
    Exponential "exponential" real(one::exp), complex exp;
    ExponentialMinusOne "exponential_minus_one" real(libm::expm1), complex exp_m1;
    Floor "floor" real(f64::floor);
    Imag "imag";
    IsFinite "is_finite" predicate(f64::is_finite);
    IsInf "is_inf" predicate(f64::is_infinite);
    IsNegInf "is_neg_inf" predicate(|x| x == f64::NEG_INFINITY);
    IsPosInf "is_pos_inf" predicate(|x| x == f64::INFINITY);
    Lgamma "lgamma" real(scalar::lgamma);
    Log "log" real(libm::log), complex log;
    LogPlusOne "log_plus_one" real(libm::log1p), complex log_1p;
    Logistic "logistic" real(one::logistic), complex logistic;
    Negate "negate";
    Not "not";
    Popcnt "popcnt";
    Real "real";
    RoundNearestAfz "round_nearest_afz" real(f64::round);
    RoundNearestEven "round_nearest_even" real(f64::round_ties_even);
    Rsqrt "rsqrt" real(|x| 1.0 / x.sqrt()), complex rsqrt;
    Sign "sign", complex sign;
    Sine "sine" real(one::sin), complex sin;
    Sinh "sinh" real(libm::sinh), complex sinh;
    Sqrt "sqrt" real(f64::sqrt), complex sqrt;
    Square "square";
    Tan "tan" real(one::tan), complex tan;
    Tanh "tanh" real(one::tanh), complex tanh;
}

/// Takes the function behind an operation and an element type.
pub(super) trait ElementSink: Sized {
    /// Result of consuming the function: a kernel of slices or of single elements.
    type Output;

    /// Takes a function whose result has the type of the operand.
    fn map<T: Element>(self, f: impl Fn(T) -> T + Copy + Send + Sync + 'static) -> Self::Output;

    /// As [`ElementSink::map`], of a function of so much code that the compiler would not inline it
    /// into more loops.
    fn map_large<T: Element, F: Inlined<T, 1>>(self) -> Self::Output {
        self.map(|x: T| F::of([x]))
    }

    /// As [`ElementSink::map`], of a function that the compiler makes vector instructions of, for
    /// numbers that are `easy`; `scalar` is the same for these, and is defined for others, too.
    fn map_lanes<F: Inlined<f32, 1>>(
        self,
        _easy: impl Fn(f32) -> bool + Copy + Send + Sync + 'static,
        scalar: RealFunction,
    ) -> Self::Output {
        self.map(of_single(scalar))
    }

    /// Takes a function of `f64`.
    fn map_rounded<F: Rounded<1>>(self) -> Self::Output {
        self.map(|x| exact::<F>(x))
    }

    /// Takes a function that is computed by pieces.
    fn map_pieced<T: NativeFloat, F: Pieced>(self) -> Self::Output {
        self.map(|x: T| x.fallback_result(F::exact))
    }

    /// Takes a function of complex numbers that the compiler makes vector instructions of.
    fn map_complex<P: NativeFloat, F: ComplexNear<P, 1>>(self) -> Self::Output
    where
        Complex<P>: ComplexElement<Part = P>,
    {
        self.map(|z: Complex<P>| complex::narrow(F::exact([complex::widen(z)])))
    }

    /// Takes a function with a result of another type.
    fn map_to<T: Element, R: Element>(
        self,
        f: impl Fn(T) -> R + Copy + Send + Sync + 'static,
    ) -> Self::Output;

    /// The operation is not defined for the type.
    fn unsupported(self) -> Self::Output;
}

/// Gives the function behind an operation on elements of a type to `sink`.
pub(super) fn dispatch_unary<S: ElementSink>(op: UnaryOp, dtype: DType, sink: S) -> S::Output {
    match (op, dtype) {
        (UnaryOp::Abs, DType::C64) => sink.map_to(complex::abs_of_singles),
        (UnaryOp::Abs, DType::C128) => parts(dtype, sink, |z| libm::hypot(z.re, z.im)),
        (UnaryOp::Real, DType::C64) => sink.map_to(|z: Complex32| z.re),
        (UnaryOp::Real, DType::C128) => sink.map_to(|z: Complex64| z.re),
        (UnaryOp::Imag, DType::C64) => sink.map_to(|z: Complex32| z.im),
        (UnaryOp::Imag, DType::C128) => sink.map_to(|z: Complex64| z.im),
        (UnaryOp::Real, _) => dispatch!(
            dtype, [float] T => sink.map(|x: T| x), else sink.unsupported()
        ),
        (UnaryOp::Imag, _) => dispatch!(
            dtype, [float] T => sink.map(|_: T| T::ZERO), else sink.unsupported()
        ),
        (UnaryOp::Abs, _) => dispatch!(
            dtype, [integer, float] T => sink.map(<T as Real>::abs), else sink.unsupported()
        ),
        (UnaryOp::Sign, _) if !dtype.is_complex() => dispatch!(
            dtype, [integer, float] T => sink.map(T::sign), else sink.unsupported()
        ),
        (UnaryOp::Square, DType::C64 | DType::C128) => {
            complex_function(complex::square, dtype, sink)
        }
        (UnaryOp::Square, _) => dispatch!(
            dtype, [float] T => sink.map(|x: T| x.multiply(x)), else sink.unsupported()
        ),
        (UnaryOp::Negate, _) => dispatch!(
            dtype, [integer, float, complex] T => sink.map(T::negate), else sink.unsupported()
        ),
        (UnaryOp::Not, _) => dispatch!(
            dtype, [boolean, integer] T => sink.map(T::not), else sink.unsupported()
        ),
        (UnaryOp::Popcnt, _) => dispatch!(
            dtype, [integer] T => sink.map(T::popcnt), else sink.unsupported()
        ),
        (UnaryOp::CountLeadingZeros, _) => dispatch!(
            dtype, [integer] T => sink.map(T::count_leading_zeros), else sink.unsupported()
        ),
        // Exact in the type itself, with the same result as the function of `f64`.
        (UnaryOp::Sqrt, DType::F32) => sink.map(f32::sqrt),
        (UnaryOp::Ceil, DType::F32) => sink.map(f32::ceil),
        (UnaryOp::Floor, DType::F32) => sink.map(f32::floor),
        (UnaryOp::RoundNearestAfz, DType::F32) => sink.map(f32::round),
        (UnaryOp::RoundNearestEven, DType::F32) => sink.map(f32::round_ties_even),
        (UnaryOp::Ceil, DType::F64) => sink.map(f64::ceil),
        (UnaryOp::Floor, DType::F64) => sink.map(f64::floor),
        (UnaryOp::RoundNearestAfz, DType::F64) => sink.map(f64::round),
        (UnaryOp::RoundNearestEven, DType::F64) => sink.map(f64::round_ties_even),
        // A new NaN has a sign on some machines, which is cleared. To the compiler all NaNs are
        // one: it drops `one_nan` behind a root.
        (UnaryOp::Sqrt, DType::F64) => {
            sink.map(|x: f64| f64::from_bits(x.sqrt().to_bits() & !(u64::from(x < 0.0) << 63)))
        }
        // As of the other types, but known to the compiler, so that it vectorizes the loops.
        (UnaryOp::Cbrt, DType::F32) => sink.map_large::<f32, single::Cbrt>(),
        (UnaryOp::Exponential, DType::F32) => sink.map_large::<f32, single::Exp>(),
        (UnaryOp::ExponentialMinusOne, DType::F32) => sink.map_large::<f32, single::ExpM1>(),
        (UnaryOp::Log, DType::F32) => sink.map_large::<f32, single::Log>(),
        (UnaryOp::LogPlusOne, DType::F32) => sink.map_large::<f32, single::Log1p>(),
        (UnaryOp::Logistic, DType::F32) => sink.map_large::<f32, single::Logistic>(),
        (UnaryOp::Rsqrt, DType::F32) => sink.map_large::<f32, single::Rsqrt>(),
        (UnaryOp::Tanh, DType::F32) => sink.map_large::<f32, single::Tanh>(),
        (UnaryOp::Acos, DType::F32) => sink.map_lanes::<single::Acos>(|_| true, one::acos),
        (UnaryOp::Asin, DType::F32) => sink.map_lanes::<single::Asin>(|_| true, one::asin),
        (UnaryOp::Atan, DType::F32) => sink.map_lanes::<single::Atan>(|_| true, one::atan),
        (UnaryOp::Cosine, DType::F32) => sink.map_lanes::<single::Cos>(single::is_angle, one::cos),
        (UnaryOp::Erf, DType::F32) => sink.map_lanes::<single::Erf>(|_| true, one::erf),
        (UnaryOp::Erfc, DType::F32) => sink.map_lanes::<single::Erfc>(|_| true, one::erfc),
        (UnaryOp::ErfInv, DType::F32) => sink.map_lanes::<single::ErfInv>(|_| true, one::erf_inv),
        (UnaryOp::Sine, DType::F32) => sink.map_lanes::<single::Sin>(single::is_angle, one::sin),
        (UnaryOp::Tan, DType::F32) => sink.map_lanes::<single::Tan>(single::is_angle, one::tan),
        (UnaryOp::Acos, DType::F64) => sink.map_rounded::<Acos>(),
        (UnaryOp::Asin, DType::F64) => sink.map_rounded::<Asin>(),
        (UnaryOp::Acosh, DType::F64) => sink.map_rounded::<Acosh>(),
        (UnaryOp::Asinh, DType::F64) => sink.map_rounded::<Asinh>(),
        (UnaryOp::Atanh, DType::F64) => sink.map_rounded::<Atanh>(),
        (UnaryOp::Cosh, DType::F64) => sink.map_rounded::<Cosh>(),
        (UnaryOp::Rsqrt, DType::F64) => sink.map_rounded::<Rsqrt>(),
        (UnaryOp::Sinh, DType::F64) => sink.map_rounded::<Sinh>(),
        (UnaryOp::Atan, DType::F64) => sink.map_rounded::<Atan>(),
        (UnaryOp::Cbrt, DType::F64) => sink.map_rounded::<Cbrt>(),
        (UnaryOp::Cosine, DType::F64) => sink.map_rounded::<Cos>(),
        (UnaryOp::Erf, DType::F64) => sink.map_rounded::<Erf>(),
        (UnaryOp::Erfc, DType::F64) => sink.map_rounded::<Erfc>(),
        (UnaryOp::Exponential, DType::F64) => sink.map_rounded::<Exp>(),
        (UnaryOp::ExponentialMinusOne, DType::F64) => sink.map_rounded::<ExpM1>(),
        (UnaryOp::Log, DType::F64) => sink.map_rounded::<Log>(),
        (UnaryOp::LogPlusOne, DType::F64) => sink.map_rounded::<Log1p>(),
        (UnaryOp::Logistic, DType::F64) => sink.map_rounded::<Logistic>(),
        (UnaryOp::Sine, DType::F64) => sink.map_rounded::<Sin>(),
        (UnaryOp::Tan, DType::F64) => sink.map_rounded::<Tan>(),
        (UnaryOp::Tanh, DType::F64) => sink.map_rounded::<Tanh>(),
        (UnaryOp::Exponential, DType::C64) => sink.map_complex::<f32, complex_lanes::Exp>(),
        (UnaryOp::Exponential, DType::C128) => sink.map_complex::<f64, complex_lanes::Exp>(),
        (UnaryOp::Log, DType::C64) => sink.map_complex::<f32, complex_lanes::Logarithm>(),
        (UnaryOp::Log, DType::C128) => sink.map_complex::<f64, complex_lanes::Logarithm>(),
        (UnaryOp::LogPlusOne, DType::C64) => sink.map_complex::<f32, complex_lanes::LogPlusOne>(),
        (UnaryOp::LogPlusOne, DType::C128) => sink.map_complex::<f64, complex_lanes::LogPlusOne>(),
        (UnaryOp::Rsqrt, DType::C64) => sink.map_complex::<f32, complex_lanes::Rsqrt>(),
        (UnaryOp::Rsqrt, DType::C128) => sink.map_complex::<f64, complex_lanes::Rsqrt>(),
        (UnaryOp::Sqrt, DType::C64) => sink.map_complex::<f32, complex_lanes::Sqrt>(),
        (UnaryOp::Sqrt, DType::C128) => sink.map_complex::<f64, complex_lanes::Sqrt>(),
        (UnaryOp::Tanh, DType::C64) => sink.map_complex::<f32, complex_lanes::Tanh>(),
        (UnaryOp::Tanh, DType::C128) => sink.map_complex::<f64, complex_lanes::Tanh>(),
        (UnaryOp::Asinh, DType::F32) => sink.map_pieced::<f32, pieces::Asinh>(),
        (UnaryOp::BesselI1e, DType::F32) => sink.map_pieced::<f32, pieces::BesselI1e>(),
        (UnaryOp::BesselI1e, DType::F64) => sink.map_pieced::<f64, pieces::BesselI1e>(),
        (UnaryOp::Digamma, DType::F32) => sink.map_pieced::<f32, pieces::Digamma>(),
        (UnaryOp::Digamma, DType::F64) => sink.map_pieced::<f64, pieces::Digamma>(),
        (UnaryOp::Lgamma, DType::F64) => sink.map_pieced::<f64, pieces::Lgamma>(),
        (UnaryOp::ErfInv, DType::F64) => sink.map_pieced::<f64, pieces::ErfInv>(),
        (UnaryOp::IsFinite, DType::F32) => sink.map_to(|x: f32| I1::new(x.is_finite())),
        (UnaryOp::IsFinite, DType::F64) => sink.map_to(|x: f64| I1::new(x.is_finite())),
        _ => match op.functions() {
            OpFunctions { double: Some(f), .. } if dtype == DType::F64 => {
                sink.map(move |x: f64| lanes::one_nan(x, f(x)))
            }
            OpFunctions { real: Some(f), .. } if dtype.is_float() => real_function(f, dtype, sink),
            OpFunctions { complex: Some([single, double]), .. } if dtype.is_complex() => {
                complex_function(if dtype == DType::C128 { double } else { single }, dtype, sink)
            }
            OpFunctions { predicate: Some(f), .. } => dispatch!(
                dtype,
                [float] T => sink.map_to(move |x: T| I1::new(f(x.to_f64()))),
                else sink.unsupported()
            ),
            _ => sink.unsupported(),
        },
    }
}

/// The result of a function, with one NaN.
pub(super) fn exact<F: Rounded<1>>(x: f64) -> f64 {
    lanes::one_nan(x, F::exact([x]))
}

/// A function of `f64` as one of `f32`.
pub(super) fn of_single(f: RealFunction) -> impl Fn(f32) -> f32 + Copy {
    move |x| {
        let wide = f64::from(x);
        lanes::one_nan(wide, f(wide)) as f32
    }
}

/// Gives a function of `f64` to `sink`, with its result rounded to the type.
fn real_function<S: ElementSink>(f: RealFunction, dtype: DType, sink: S) -> S::Output {
    dispatch!(
        dtype,
        [float] T => sink.map(move |x: T| {
            let wide = x.to_f64();
            T::from_float(lanes::one_nan(wide, f(wide)))
        }),
        else sink.unsupported()
    )
}

/// Gives a function of complex numbers to `sink`, with its result rounded to the type.
fn complex_function<S: ElementSink>(f: ComplexFunction, dtype: DType, sink: S) -> S::Output {
    dispatch!(
        dtype,
        [complex] T => sink.map(move |z: T| complex::narrow(f(complex::widen(z)))),
        else sink.unsupported()
    )
}

/// Gives a real function of complex numbers to `sink`; its result is rounded to the parts' type.
fn parts<S: ElementSink>(dtype: DType, sink: S, f: fn(Complex64) -> f64) -> S::Output {
    dispatch!(
        dtype,
        [complex] T => sink.map_to(move |z: T| {
            <<T as ComplexElement>::Part as Number>::from_float(f(complex::widen(z)))
        }),
        else sink.unsupported()
    )
}

/// Applies an operation to every element. The result has the operand's type, but for
/// [`UnaryOp::Abs`], [`UnaryOp::Real`] and [`UnaryOp::Imag`] of complex numbers, which have the
/// type of their parts, and the predicates `Is*`, which are booleans.
///
/// # Errors
/// If the operation is not defined for the element type, or there is no memory for the result.
pub fn unary(op: UnaryOp, operand: Tensor) -> Result<Tensor, TensorError> {
    let dtype = operand.dtype();
    match op {
        UnaryOp::Real if dtype.is_float() => Ok(operand),
        UnaryOp::Imag if dtype.is_float() => Tensor::zeros(dtype, operand.shape()),
        _ => match SliceKernel::unary(op, dtype) {
            Some(kernel) => kernel.map(operand),
            None => Err(TensorError::Unsupported { op: op.name(), dtype }),
        },
    }
}
