//! Elements of types for which `numerics` has no storage: integers of other widths, complex
//! integers, f80 and f128. They can be read, stored and written, but not computed with.
//!
//! As in MLIR, each number is stored in the smallest number of whole bytes, in little-endian order,
//! padded with zeros; a complex one is a pair.

use crate::attrs::{AttrKind, Attribute};
use crate::types::{Type, TypeKind, num_elements};

/// The type of the numbers of an element: of its parts, if it is complex.
fn part(element: &Type) -> &Type {
    match &**element {
        TypeKind::Complex(part) => part,
        _ => element,
    }
}

/// Size in bytes of a number of a scalar type of at most 128 bits.
fn part_size(part: &Type) -> Option<usize> {
    let bits = part.bit_width().filter(|&bits| bits <= 128)?;
    Some((bits as usize).div_ceil(8).max(1))
}

/// Size in bytes of an element; `None` if it is not a number of at most 128 bits.
pub fn element_size(element: &Type) -> Option<usize> {
    match &**element {
        TypeKind::Complex(part) => part_size(part)?.checked_mul(2),
        _ => part_size(element),
    }
}

/// The stored bytes of a number.
pub fn to_bytes(bits: u128, part: &Type) -> Vec<u8> {
    let width = part.bit_width().unwrap_or(0);
    let bits = if width < 128 { bits & ((1 << width) - 1) } else { bits };
    bits.to_le_bytes()[..part_size(part).unwrap_or(0)].to_vec()
}

/// The numbers of a stored element: one, or the parts of a complex number.
pub fn numbers<'e>(element: &'e Type, bytes: &'e [u8]) -> impl Iterator<Item = u128> + 'e {
    let part = part(element);
    let number =
        |bytes: &[u8]| bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u128::from(byte));
    bytes.chunks(part_size(part).unwrap_or(1)).map(number)
}

/// An attribute with elements of `ty`: all of them, or one for a splat. Equal elements become a
/// splat, and bits beyond the width of a number are ignored. Returns `None` if `data` has the wrong
/// size, or the type has no static shape or elements that can be stored.
pub fn elements(ty: Type, mut data: Vec<u8>) -> Option<Attribute> {
    let element = ty.element_type();
    let size = element_size(element)?;
    let count = num_elements(ty.shape()?)?;
    let part = part(element);
    if let Some(bits) = part.bit_width().filter(|bits| bits % 8 != 0) {
        let last = part_size(part)?;
        data.iter_mut()
            .skip(last - 1)
            .step_by(last)
            .for_each(|byte| *byte &= (1 << (bits % 8)) - 1);
    }
    if data.len() != size {
        if Some(data.len()) != count.checked_mul(size) {
            return None;
        }
        if count > 0 && data[size..] == data[..data.len() - size] {
            data.truncate(size);
        }
    }
    Some(AttrKind::DenseRaw { ty, data: data.into() }.into())
}
