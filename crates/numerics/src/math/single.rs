//! Functions of numbers of `f32`, by functions of `f64` whose loops become vector instructions.

use super::{lanes, lanes_erf, lanes_trigonometric};

/// A function of `N` numbers that loops inline. A trait and not closures or functions as values,
/// which the compiler does not always inline: what it calls instead has no vector instructions.
pub(super) trait Inlined<T, const N: usize>: Copy + Send + Sync + 'static {
    /// The result of some numbers.
    fn of(numbers: [T; N]) -> T;
}

macro_rules! functions {
    ($($module:ident { $($name:ident $function:ident)* })*) => {$($(
        #[doc = concat!("`", stringify!($function), "`.")]
        #[derive(Clone, Copy)]
        pub(super) struct $name;

        impl Inlined<f32, 1> for $name {
            #[inline(always)]
            fn of([x]: [f32; 1]) -> f32 {
                let wide = f64::from(x);
                lanes::one_nan(wide, $module::$function(wide)) as f32
            }
        }
    )*)*};
}

functions! {
    lanes {
        Cbrt cbrt Exp exp ExpM1 exp_m1 Log log Log1p log_1p Logistic logistic Rsqrt rsqrt Tanh tanh
    }
    lanes_erf { Erf erf Erfc erfc ErfInv erf_inv }
    lanes_trigonometric { Acos acos Asin asin Atan atan Sin sin Cos cos Tan tan }
}

/// Functions of pairs, for numbers of `f64`, too, that are numbers of `f32`.
macro_rules! pairs {
    ($($name:ident $module:ident::$function:ident)*) => {$(
        #[doc = concat!("`", stringify!($function), "`.")]
        #[derive(Clone, Copy)]
        pub(super) struct $name;

        impl Inlined<f64, 2> for $name {
            #[inline(always)]
            fn of([x, y]: [f64; 2]) -> f64 {
                $module::$function(x, y)
            }
        }

        impl Inlined<f32, 2> for $name {
            #[inline(always)]
            fn of(numbers: [f32; 2]) -> f32 {
                <$name as Inlined<f64, 2>>::of(numbers.map(f64::from)) as f32
            }
        }
    )*};
}

pairs! { Atan2 lanes_trigonometric::atan2 Pow lanes::pow }

/// True for angles that functions of angles take.
#[inline(always)]
pub(super) fn is_angle(x: f32) -> bool {
    lanes_trigonometric::is_angle(f64::from(x))
}
