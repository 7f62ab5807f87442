//! Masks, which comparisons give, as the bytes of booleans in memory.

use crate::ops::{Op, Store};
use crate::vector::{Value, VectorFunction};

/// Adds code that makes a mask of eight bytes, each 0 or 1.
pub fn mask_of_bytes(code: &mut VectorFunction, bytes: Value) -> Value {
    let zero = code.splat4(0);
    code.pair(Op::SubtractI32, zero, bytes)
}

/// Adds code that makes bytes of a mask, each 0 or 1, and returns how they are stored.
pub fn mask_store(code: &mut VectorFunction, mask: Value) -> (Value, Store) {
    if code.width.narrows() {
        let one = code.splat4(1);
        return (code.pair(Op::And, mask, one), Store::LowBytes);
    }
    (bytes_of_mask(code, mask), Store::Low8)
}

/// Adds code that makes eight bytes of a mask, each 0 or 1.
pub fn bytes_of_mask(code: &mut VectorFunction, mask: Value) -> Value {
    let high = code.extract_high(mask);
    let words = code.pair(Op::PackI32, mask, high);
    let bytes = code.pair(Op::PackI16, words, words);
    let ones = code.splat4(0x0101_0101);
    code.pair(Op::And, bytes, ones)
}
