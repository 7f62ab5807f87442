//! Elements as integers of the same order, which are compared in fewer instructions, and in vectors
//! where they are narrow.

use numerics::Element;
use std::ops::BitXor;

/// Elements that are compared with others at a time.
const LANES: usize = 32;

/// Integers with the bits of elements.
pub(super) trait KeyBits: Element + Ord + BitXor<Output = Self> {
    /// Integers of at least 32 bits.
    type Wide: KeyBits + From<Self>;

    /// The bits of a float as an integer in the order of floats and back, as long as it is none of
    /// the NaNs.
    fn turned(self) -> Self;

    /// The complement.
    fn complement(self) -> Self;

    /// The bits of a float without its sign.
    fn magnitude(self) -> Self;

    /// True if there are floats of these bits that are compared in vectors.
    const HAS_FLOATS: bool;

    /// True if the float of these bits, or without such floats the integer, is greater.
    fn exceeds(self, other: Self) -> bool;

    /// The smallest and the largest integer.
    const SMALLEST: Self;
    const LARGEST: Self;
}

macro_rules! key_bits {
    ($($ty:ident in $wide:ident, $has_floats:literal, $exceeds:expr;)*) => {$(
        impl KeyBits for $ty {
            type Wide = $wide;
            #[inline(always)]
            fn turned(self) -> $ty {
                self ^ ((self >> ($ty::BITS - 1)) & $ty::MAX)
            }
            #[inline(always)]
            fn complement(self) -> $ty {
                !self
            }
            #[inline(always)]
            fn magnitude(self) -> $ty {
                self & $ty::MAX
            }
            const HAS_FLOATS: bool = $has_floats;
            #[inline(always)]
            fn exceeds(self, other: $ty) -> bool {
                let exceeds: fn($ty, $ty) -> bool = $exceeds;
                exceeds(self, other)
            }
            const SMALLEST: $ty = $ty::MIN;
            const LARGEST: $ty = $ty::MAX;
        }
    )*};
}
key_bits! {
    i8 in i32, false, |x, y| x > y;
    i16 in i32, false, |x, y| x > y;
    i32 in i32, true, |x, y| f32::from_bits(x as u32) > f32::from_bits(y as u32);
    i64 in i64, true, |x, y| f64::from_bits(x as u64) > f64::from_bits(y as u64);
}

/// An order of elements, by which the largest is looked for: theirs, or the reverse.
#[derive(Clone, Copy)]
pub(super) struct KeyOrder<K, const FLOATS: bool> {
    /// The bits in which an element differs from its key.
    pub(super) flipped: K,
    /// The bits of infinity.
    pub(super) infinity: K,
    /// The bits of the NaN that is a result of arithmetic.
    pub(super) nan: K,
}

impl<K: KeyBits, const FLOATS: bool> KeyOrder<K, FLOATS> {
    /// The key of an element. NaNs have larger keys than numbers.
    #[inline(always)]
    pub(super) fn key(self, element: K) -> K {
        let bits = element ^ self.flipped;
        if !FLOATS {
            return bits;
        }
        // Negative NaNs are below infinity.
        let key = bits.turned();
        if key < self.infinity.complement() { K::LARGEST } else { key }
    }

    /// The key of an element, the same for both zeros, and for all NaNs.
    #[inline(always)]
    pub(super) fn key_of_value(self, element: K) -> K {
        if !FLOATS {
            return element ^ self.flipped;
        }
        let (magnitude, key) = (element.magnitude(), (element ^ self.flipped).turned());
        let key = if magnitude == K::ZERO { K::ZERO } else { key };
        if magnitude > self.infinity { K::LARGEST } else { key }
    }

    /// The largest [key](Self::key_of_value) of elements, at least one.
    #[inline(always)]
    pub(super) fn largest_key(self, elements: &[K]) -> K {
        if !FLOATS {
            return elements.iter().fold(K::SMALLEST, |largest, &x| largest.max(x ^ self.flipped));
        }
        // In lanes, as LLVM does not see that these are maxima.
        let (chunks, rest) = elements.as_chunks::<LANES>();
        let largest = if K::HAS_FLOATS {
            // Floats are compared in fewer instructions than their keys.
            let mut lanes = [elements[0] ^ self.flipped; LANES];
            let mut magnitudes = [K::ZERO; LANES];
            for chunk in chunks {
                for ((lane, magnitude), &x) in lanes.iter_mut().zip(&mut magnitudes).zip(chunk) {
                    let x = x ^ self.flipped;
                    *lane = if x.exceeds(*lane) { x } else { *lane };
                    *magnitude = x.magnitude().max(*magnitude);
                }
            }
            if magnitudes.into_iter().any(|magnitude| magnitude > self.infinity) {
                return K::LARGEST;
            }
            lanes.map(|x| self.key_of_value(x ^ self.flipped))
        } else {
            let mut lanes = [K::SMALLEST; LANES];
            for chunk in chunks {
                for (lane, &x) in lanes.iter_mut().zip(chunk) {
                    *lane = self.key_of_value(x).max(*lane);
                }
            }
            lanes
        };
        let largest = largest.into_iter().fold(K::SMALLEST, K::max);
        rest.iter().fold(largest, |largest, &x| largest.max(self.key_of_value(x)))
    }

    /// The [key](Self::key_of_value) of the number that is smaller than all others, such as
    /// infinity with a sign.
    #[inline(always)]
    pub(super) fn least(self) -> K {
        if FLOATS { self.infinity.complement() } else { K::SMALLEST }
    }

    /// True for the key of NaNs.
    #[inline(always)]
    pub(super) fn is_nan(self, key: K) -> bool {
        FLOATS && key > self.infinity
    }

    /// The element of a key.
    #[inline(always)]
    pub(super) fn element(self, key: K) -> K {
        if self.is_nan(key) {
            return self.nan;
        }
        let bits = if FLOATS { key.turned() } else { key };
        bits ^ self.flipped
    }
}

/// Evaluates an expression with the integers of a type's elements as `$K`, `$FLOATS` true for
/// floats, and `$order` their order, or the reverse unless `$is_largest`; another one for other
/// types.
macro_rules! with_key_order {
    ($dtype:expr, $is_largest:expr, ($order:ident, $K:ident, $FLOATS:ident) => $body:expr,
        else $other:expr) => {
        $crate::key_order::with_key_order!(@arms $dtype, $is_largest, ($order, $K, $FLOATS), $body,
            $other,
            (I1 | I8, i8, false, [0, 0, 0])
            (U8, i8, false, [i8::MIN, 0, 0])
            (I16, i16, false, [0, 0, 0])
            (U16, i16, false, [i16::MIN, 0, 0])
            (I32, i32, false, [0, 0, 0])
            (U32, i32, false, [i32::MIN, 0, 0])
            (I64, i64, false, [0, 0, 0])
            (U64, i64, false, [i64::MIN, 0, 0])
            (BF16, i16, true, [0, 0x7F80, 0x7FC0])
            (F16, i16, true, [0, 0x7C00, 0x7E00])
            (F32, i32, true, [0, 0x7F80_0000, 0x7FC0_0000])
            (F64, i64, true, [0, 0x7FF0_0000_0000_0000, 0x7FF8_0000_0000_0000]))
    };
    (@arms $dtype:expr, $is_largest:expr, ($order:ident, $K:ident, $FLOATS:ident), $body:expr,
        $other:expr, $(($($name:ident)|+, $key:ident, $floats:literal, $bits:expr))*) => {
        match $dtype {
            $($(numerics::DType::$name)|+ => {
                type $K = $key;
                const $FLOATS: bool = $floats;
                let [sign, infinity, nan]: [$K; 3] = $bits;
                // Complements are in the reverse order, and floats with the other sign.
                let reverse = if $FLOATS { $K::MIN } else { !0 };
                let flipped = if $is_largest { sign } else { sign ^ reverse };
                let $order = $crate::key_order::KeyOrder::<$K, $FLOATS> { flipped, infinity, nan };
                $body
            })*
            _ => $other,
        }
    };
}

pub(super) use with_key_order;
