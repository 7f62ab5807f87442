//! Functions of numbers of `f32`, by functions of `f64` whose loops become vector instructions: not
//! closures, which the compiler does not always inline.

use super::{lanes, lanes_erf, lanes_trigonometric};

macro_rules! functions {
    ($($module:ident { $($name:ident)* })*) => {$($(
        #[doc = concat!("`", stringify!($name), "`.")]
        #[inline(always)]
        pub(crate) fn $name(x: f32) -> f32 {
            let wide = f64::from(x);
            lanes::one_nan(wide, $module::$name(wide)) as f32
        }
    )*)*};
}

functions! {
    lanes { cbrt exp exp_m1 log log_1p logistic rsqrt tanh }
    lanes_erf { erf erfc erf_inv }
    lanes_trigonometric { acos asin atan sin cos tan }
}

/// The inverse tangent of a quotient.
#[inline(always)]
pub(crate) fn atan2(y: f32, x: f32) -> f32 {
    lanes_trigonometric::atan2(f64::from(y), f64::from(x)) as f32
}

/// True for angles that functions of angles take.
#[inline(always)]
pub(crate) fn is_angle(x: f32) -> bool {
    lanes_trigonometric::is_angle(f64::from(x))
}
