//! Attributes and options: values with names.

use crate::structures::{NamedValue, Value, kind};
use std::ffi::c_void;

/// The value of an attribute or option.
#[derive(Clone, Debug, PartialEq)]
pub enum Named {
    Text(String),
    Integer(i64),
    Integers(Vec<i64>),
    Float(f32),
    Boolean(bool),
}

/// Attributes or options, kept for the other side.
pub struct NamedValues {
    /// They own what `values` point to.
    _named: Vec<(String, Named)>,
    values: Vec<NamedValue>,
}

// SAFETY: the pointers lead to memory that `_named` owns and nothing changes.
unsafe impl Send for NamedValues {}
// SAFETY: as above.
unsafe impl Sync for NamedValues {}

impl NamedValues {
    #[must_use]
    pub fn new(named: Vec<(String, Named)>) -> NamedValues {
        let values = named.iter().map(|(name, value)| named_value(name, value)).collect();
        NamedValues { _named: named, values }
    }

    /// Start and number of the values.
    #[must_use]
    pub fn parts(&self) -> (*const NamedValue, usize) {
        (self.values.as_ptr(), self.values.len())
    }
}

fn named_value(name: &str, value: &Named) -> NamedValue {
    let (kind, value, value_size) = match value {
        Named::Text(text) => (kind::STRING, Value { pointer: text.as_ptr().cast() }, text.len()),
        Named::Integer(integer) => (kind::INTEGER, Value { integer: *integer }, 1),
        Named::Integers(list) => {
            (kind::INTEGERS, Value { pointer: list.as_ptr().cast() }, list.len())
        }
        Named::Float(float) => (kind::FLOAT, Value { float: *float }, 1),
        // The whole union is written, so that no byte of it is undefined.
        Named::Boolean(boolean) => (kind::BOOLEAN, Value { integer: i64::from(*boolean) }, 1),
    };
    NamedValue {
        struct_size: size_of::<NamedValue>(),
        extension_start: std::ptr::null_mut(),
        name: name.as_ptr().cast(),
        name_size: name.len(),
        kind,
        value,
        value_size,
    }
}

/// Copies values that the other side of the interface passed.
///
/// # Errors
/// If one is of an unknown kind, or null stands for something.
///
/// # Safety
/// `values` is null or has `count` values, whose pointers are null or lead to as many bytes or
/// numbers as they state.
pub unsafe fn read_named(
    values: *const NamedValue,
    count: usize,
) -> Result<Vec<(String, Named)>, String> {
    let read = |value: &NamedValue| {
        // SAFETY: as the caller says; the kind says which field of the union was written.
        unsafe {
            let name = text(value.name.cast(), value.name_size)?;
            let content = match value.kind {
                kind::STRING => Named::Text(text(value.value.pointer, value.value_size)?),
                kind::INTEGER => Named::Integer(value.value.integer),
                kind::INTEGERS => Named::Integers(
                    array::<i64>(value.value.pointer.cast(), value.value_size)?.to_vec(),
                ),
                kind::FLOAT => Named::Float(value.value.float),
                kind::BOOLEAN => Named::Boolean(value.value.boolean.is_set()),
                other => return Err(format!("the value {name} is of the unknown kind {other}")),
            };
            Ok((name, content))
        }
    };
    // SAFETY: as the caller says.
    unsafe { array(values, count)? }.iter().map(read).collect()
}

/// The text at an address; bytes that are not UTF-8 are replaced.
///
/// # Errors
/// If null stands for bytes.
///
/// # Safety
/// `data` is null or has `len` bytes.
pub unsafe fn text(data: *const c_void, len: usize) -> Result<String, String> {
    // SAFETY: as the caller says.
    let bytes = unsafe { array::<u8>(data.cast(), len)? };
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

/// The values at an address.
///
/// # Errors
/// If null stands for values.
///
/// # Safety
/// `data` is null or has `len` values, which do not change while they are borrowed.
pub unsafe fn array<'a, T>(data: *const T, len: usize) -> Result<&'a [T], String> {
    match (data.is_null(), len) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(format!("an array of {len} values is required, found null")),
        // SAFETY: as the caller says.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(data, len) }),
    }
}
