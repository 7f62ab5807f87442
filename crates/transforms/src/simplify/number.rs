//! The number in a splat constant.

use mlir::Value;
use mlir::rewrite::Rewriter;

/// One element of a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    /// The bits of an integer or boolean, sign-extended if the type is signed.
    Integer { value: i128, width: u32 },
    /// A float.
    Float(f64),
}

impl Number {
    pub(crate) fn is_zero(self) -> bool {
        matches!(self, Number::Integer { value: 0, .. }) || self == Number::Float(0.0)
    }

    pub(crate) fn is_one(self) -> bool {
        matches!(self, Number::Integer { value: 1, .. }) || self == Number::Float(1.0)
    }

    pub(crate) fn is_integer(self) -> bool {
        matches!(self, Number::Integer { .. })
    }

    /// True for an integer with all bits set.
    pub(crate) fn is_all_ones(self) -> bool {
        match self {
            Number::Integer { value, width } => {
                value == -1 || width < 127 && value == (1 << width) - 1
            }
            Number::Float(_) => false,
        }
    }

    /// True for the float `-0.0`.
    pub(crate) fn is_negative_zero(self) -> bool {
        matches!(self, Number::Float(x) if x == 0.0 && x.is_sign_negative())
    }
}

/// The element of `value`, if it is a splat constant.
pub(crate) fn splat_number(rw: &Rewriter<'_>, value: Value) -> Option<Number> {
    let constant = rw.constant_of(value)?;
    let dense = constant.as_dense().filter(|d| d.is_splat() && !d.data().is_empty())?;
    let dtype = dense.dtype();
    let mut bytes = [0u8; 16];
    let data = &dense.data()[..];
    bytes.get_mut(..data.len())?.copy_from_slice(data);
    let bits = u128::from_le_bytes(bytes);
    if let Some(format) = dtype.float_format().filter(|_| dtype.is_float()) {
        return Some(Number::Float(format.decode(bits as u64)));
    }
    if !dtype.is_integer() && !dtype.is_boolean() {
        return None;
    }
    let stored = 8 * data.len() as u32;
    let shift = 128 - stored;
    let value = if dtype.is_signed() { ((bits << shift) as i128) >> shift } else { bits as i128 };
    Some(Number::Integer { value, width: dtype.bits() })
}
