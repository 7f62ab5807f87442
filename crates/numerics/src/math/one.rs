//! Functions of [`super::lanes`] and its neighbours of one number, with the instructions of this
//! machine. Code without them calls a function for each fused multiply-add.

use super::{lanes, lanes_erf, lanes_trigonometric};
use crate::simd::{Isa, Kernel};

/// A function of numbers, and where its result goes.
struct OneCall<'a, F, const N: usize> {
    f: F,
    numbers: [f64; N],
    result: &'a mut f64,
}

impl<F: Fn([f64; N]) -> f64, const N: usize> Kernel for OneCall<'_, F, N> {
    #[inline(always)]
    fn run(self) {
        *self.result = (self.f)(self.numbers);
    }
}

macro_rules! functions {
    ($($module:ident { $($name:ident($($x:ident)*))* })*) => {$($(
        #[doc = concat!("[`", stringify!($module), "::", stringify!($name), "`].")]
        pub(crate) fn $name($($x: f64),*) -> f64 {
            const COUNT: usize = [$(stringify!($x)),*].len();
            // Not a closure, which is compiled for other instructions.
            #[inline(always)]
            fn f([$($x),*]: [f64; COUNT]) -> f64 {
                $module::$name($($x),*)
            }
            let mut result = 0.0;
            Isa::best().run(OneCall { f, numbers: [$($x),*], result: &mut result });
            result
        }
    )*)*};
}

functions! {
    lanes { exp(x) logistic(x) pow(x y) tanh(x) }
    lanes_erf { erf(x) erfc(x) erf_inv(x) }
    lanes_trigonometric { acos(x) asin(x) atan(x) atan2(y x) }
}

/// The functions of angles of any size.
macro_rules! of_angles {
    ($($name:ident)*) => {
        mod of_angles {
            use super::*;
            functions! { lanes_trigonometric { $($name(x))* } }
        }
        $(
            #[doc = concat!("`", stringify!($name), "` of any angle.")]
            pub(crate) fn $name(x: f64) -> f64 {
                match lanes_trigonometric::is_angle(x) {
                    true => of_angles::$name(x),
                    false => libm::$name(x),
                }
            }
        )*
    };
}

of_angles! { sin cos tan }
