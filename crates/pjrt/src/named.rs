//! Attributes and options: values with names.

use crate::abi::{NamedValue, Value, kind};
use crate::error::{Failure, Outcome};
use crate::handle::{array, bytes, parts, text};

/// The value of an attribute or option.
#[derive(Clone, Debug, PartialEq)]
pub enum Named {
    Text(String),
    Integer(i64),
    Integers(Vec<i64>),
    Float(f32),
    Boolean(bool),
}

/// Attributes, kept for clients.
pub struct Attributes {
    /// They own what `values` point to.
    _named: Vec<(String, Named)>,
    values: Vec<NamedValue>,
}

// SAFETY: the pointers lead to memory that `_named` owns and nothing changes.
unsafe impl Send for Attributes {}
// SAFETY: as above.
unsafe impl Sync for Attributes {}

impl Attributes {
    pub fn new(named: Vec<(String, Named)>) -> Attributes {
        let values = named.iter().map(|(name, value)| named_value(name, value)).collect();
        Attributes { _named: named, values }
    }

    /// Start and number of the values.
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
    let (name, name_size) = parts(name.as_bytes());
    NamedValue {
        struct_size: size_of::<NamedValue>(),
        extension_start: std::ptr::null_mut(),
        name,
        name_size,
        kind,
        value,
        value_size,
    }
}

/// The options that a client passed.
///
/// # Errors
/// If one is of an unknown kind.
pub fn options(values: *const NamedValue, count: usize) -> Outcome<Vec<(String, Named)>> {
    let option = |option: &NamedValue| {
        let name = text(option.name, option.name_size)?.into_owned();
        // SAFETY: the kind says which field of the union the client wrote.
        let value = unsafe {
            match option.kind {
                kind::STRING => {
                    let text = bytes(option.value.pointer.cast(), option.value_size)?;
                    Named::Text(String::from_utf8_lossy(text).into_owned())
                }
                kind::INTEGER => Named::Integer(option.value.integer),
                kind::INTEGERS => {
                    Named::Integers(array(option.value.pointer.cast(), option.value_size)?.to_vec())
                }
                kind::FLOAT => Named::Float(option.value.float),
                kind::BOOLEAN => Named::Boolean(option.value.boolean.is_set()),
                other => {
                    let message = format!("the option {name} is of the unknown kind {other}");
                    return Err(Failure::invalid(message));
                }
            }
        };
        Ok((name, value))
    };
    array(values, count)?.iter().map(option).collect()
}
