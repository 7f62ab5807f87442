//! Elements that are stored in a narrower type than they are computed in.

use crate::floats::f16_to_f32;
use crate::{Element, bf16, f16};

/// A type of stored elements, which are all numbers of `T`, too.
pub trait Widen<T>: Element {
    /// The same number. A NaN may become another one.
    fn widen(self) -> T;
}

impl<T: Element> Widen<T> for T {
    #[inline(always)]
    fn widen(self) -> T {
        self
    }
}

impl Widen<f32> for bf16 {
    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }
}

macro_rules! integers {
    ($($ty:ident)*) => {$(
        impl Widen<f32> for $ty {
            #[inline(always)]
            fn widen(self) -> f32 {
                self.into()
            }
        }
    )*};
}

integers!(i8 u8 i16 u16);

impl Widen<f32> for f16 {
    #[inline(always)]
    fn widen(self) -> f32 {
        f16_to_f32(self)
    }
}
