//! Attributes as Python values, and Python values as attributes.

use crate::arrays::{result, tensor};
use crate::errors::{message, raised};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyString, PyTuple};
use stablo::ir::{AttrConstraint, AttrKind, Dictionary, Signedness};
use stablo::{Attribute, DType, Type};

/// The Python value of an attribute: a number, a string, a list or a dictionary; the case of an
/// enumeration; an array of the elements of a tensor, which is read-only if all are one; a
/// dictionary of the parameters of a dialect's attribute. The text of anything else, such as a
/// type, and of a tensor for which there is no array.
pub fn value_of(py: Python<'_>, attribute: &Attribute) -> PyResult<Py<PyAny>> {
    match &**attribute {
        AttrKind::Unit => true.into_py_any(py),
        AttrKind::Integer { ty, value } if ty.is_integer(Some(1)) => (*value != 0).into_py_any(py),
        AttrKind::Integer { value, .. } => value.into_py_any(py),
        AttrKind::Float { bits, ty } => match ty.dtype().and_then(DType::float_format) {
            Some(format) => format.decode(*bits as u64).into_py_any(py),
            None => attribute.to_string().into_py_any(py),
        },
        AttrKind::String { value, .. } => String::from_utf8_lossy(value).into_py_any(py),
        AttrKind::Array(elements) => {
            let elements: PyResult<Vec<_>> = elements.iter().map(|e| value_of(py, e)).collect();
            PyList::new(py, elements?)?.into_py_any(py)
        }
        AttrKind::Dictionary(entries) => {
            let dictionary = PyDict::new(py);
            for (name, value) in entries.iter() {
                dictionary.set_item(&**name, value_of(py, value)?)?;
            }
            dictionary.into_py_any(py)
        }
        AttrKind::DenseArray { element, values } => {
            let format = element.dtype().and_then(DType::float_format);
            match (format, element.is_integer(Some(1))) {
                (Some(format), _) => {
                    let numbers = values.iter().map(|&bits| format.decode(bits as u64));
                    numbers.collect::<Vec<_>>().into_py_any(py)
                }
                (None, true) => values.iter().map(|&v| v != 0).collect::<Vec<_>>().into_py_any(py),
                (None, false) => values.into_py_any(py),
            }
        }
        AttrKind::Dialect(dialect) if !dialect.params.is_empty() => {
            let dictionary = PyDict::new(py);
            for (parameter, value) in dialect.def.params.iter().zip(&dialect.params) {
                if let Some(value) = value {
                    dictionary.set_item(parameter.name, value_of(py, value)?)?;
                }
            }
            dictionary.into_py_any(py)
        }
        AttrKind::Dense(_) | AttrKind::DenseResource { .. } => match array_of(py, attribute) {
            Some(array) => Ok(array.unbind()),
            None => attribute.to_string().into_py_any(py),
        },
        AttrKind::Enum(case) => match case.def.spelling(case.value) {
            Some(spelling) => spelling.into_py_any(py),
            None => attribute.to_string().into_py_any(py),
        },
        _ => attribute.to_string().into_py_any(py),
    }
}

/// The array of a tensor; none if it has no elements in memory, or NumPy lacks their type.
fn array_of<'py>(py: Python<'py>, attribute: &Attribute) -> Option<Bound<'py, PyAny>> {
    if let AttrKind::Dense(elements) = &**attribute
        && elements.is_splat()
    {
        let shape = PyTuple::new(py, elements.ty().shape()?).ok()?;
        let one = result(py, elements.stored().ok()?.into()).ok()?;
        let one = one.call_method1("reshape", (PyTuple::empty(py),)).ok()?;
        return py.import("numpy").ok()?.call_method1("broadcast_to", (one, shape)).ok();
    }
    result(py, attribute.to_tensor()?.ok()?.into()).ok()
}

/// The attribute that a Python value stands for, for a slot with that constraint or, without one,
/// for a discardable attribute. A value that does not fit is converted all the same: the check of
/// the op says which one it requires.
pub fn attribute_of(
    value: &Bound<'_, PyAny>,
    slot: Option<&'static AttrConstraint>,
) -> PyResult<Attribute> {
    if let Some(AttrConstraint::AnyOf(sets)) = slot {
        let fits = |set: &&'static AttrConstraint| {
            attribute_of(value, Some(set)).ok().filter(|attribute| set.holds(attribute))
        };
        if let Some(attribute) = sets.iter().find_map(fits) {
            return Ok(attribute);
        }
    }
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(match slot {
            Some(AttrConstraint::Unit) => Attribute::unit(),
            _ => Attribute::bool(value.is_true()),
        });
    }
    if let Ok(text) = value.cast::<PyString>() {
        return of_text(value.py(), text.to_str()?, slot);
    }
    if let Ok(entries) = value.cast::<PyDict>() {
        return of_entries(entries, slot);
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        return of_list(value, slot);
    }
    let is_scalar = matches!(
        slot,
        Some(AttrConstraint::Int(_) | AttrConstraint::AnyInt | AttrConstraint::Float(_))
    );
    let is_list = matches!(
        slot,
        Some(
            AttrConstraint::I64Array
                | AttrConstraint::I32Array
                | AttrConstraint::BoolArray
                | AttrConstraint::ArrayOf(_)
        )
    );
    if is_list && value.hasattr("tolist")? {
        return attribute_of(&value.call_method0("tolist")?, slot);
    }
    if value.hasattr("dtype")? && !is_scalar {
        let array = value.py().import("stablo._arrays")?.call_method1("to_bytes", (value,))?;
        return Ok(Attribute::from_tensor(&tensor(array.extract()?)?));
    }
    if let Ok(value) = value.extract::<i128>() {
        return Ok(of_integer(value, slot));
    }
    let value: f64 = value.extract().map_err(|_| {
        message(format!("a value of type {} does not stand for an attribute", value.get_type()))
    })?;
    Ok(match slot {
        Some(AttrConstraint::Float(32)) => Attribute::f32(value as f32),
        _ => Attribute::f64(value),
    })
}

fn of_integer(value: i128, slot: Option<&AttrConstraint>) -> Attribute {
    let ty = match slot {
        Some(
            AttrConstraint::Int(width)
            | AttrConstraint::NonNegative(width)
            | AttrConstraint::Positive(width)
            | AttrConstraint::IntEnum(width, _),
        ) => Type::integer(*width, Signedness::Signless),
        Some(AttrConstraint::UInt(width)) => Type::integer(*width, Signedness::Unsigned),
        Some(AttrConstraint::Float(32)) => return Attribute::f32(value as f32),
        Some(AttrConstraint::Float(_)) => return Attribute::f64(value as f64),
        Some(AttrConstraint::Index) => Type::index(),
        _ => Type::i64(),
    };
    Attribute::integer(value, ty)
}

/// The attribute of a string: a string, a symbol or the case of an enumeration where the slot has
/// one, else what the text says in MLIR.
fn of_text(py: Python<'_>, text: &str, slot: Option<&AttrConstraint>) -> PyResult<Attribute> {
    let case = match slot {
        None | Some(AttrConstraint::String | AttrConstraint::SymbolName | AttrConstraint::Any) => {
            return Ok(Attribute::string(text));
        }
        Some(AttrConstraint::SymbolRef | AttrConstraint::FlatSymbolRef) => {
            return Ok(Attribute::symbol(text.trim_start_matches('@')));
        }
        Some(AttrConstraint::Type(_)) => {
            return stablo::parse_type(text).map(Attribute::from).map_err(|e| raised(py, &e));
        }
        Some(AttrConstraint::Enum(def)) => {
            def.value(text).map(|value| Attribute::enumeration(def, value))
        }
        Some(AttrConstraint::IntEnum(_, def)) => {
            def.value(text).map(|value| of_integer(value.into(), slot))
        }
        Some(_) => None,
    };
    let parsed = match case {
        Some(attribute) => return Ok(attribute),
        None => stablo::parse_attribute(text),
    };
    parsed.map_err(|error| match slot {
        Some(AttrConstraint::Enum(def) | AttrConstraint::IntEnum(_, def)) => {
            let cases: Vec<&str> = def.cases.iter().map(|(_, case)| *case).collect();
            message(format!("`{text}` is no case: they are {}", cases.join(", ")))
        }
        _ => raised(py, &error),
    })
}

/// The attribute of a dictionary: the parameters of a dialect's attribute by name, or a dictionary.
fn of_entries(entries: &Bound<'_, PyDict>, slot: Option<&AttrConstraint>) -> PyResult<Attribute> {
    let Some(AttrConstraint::Def(def)) = slot else {
        let entries = entries.iter().map(|(name, value)| {
            let name: String = name.extract()?;
            Ok((name.into(), attribute_of(&value, None)?))
        });
        let dictionary = Dictionary::new(entries.collect::<PyResult<Vec<_>>>()?);
        let twice = |name| message(format!("`{name}` is given twice"));
        return dictionary.map(Attribute::from).map_err(twice);
    };
    let mut parameters = vec![None; def.params.len()];
    for (name, value) in entries {
        let name: String = name.extract()?;
        let at = def.params.iter().position(|parameter| parameter.name == name);
        let Some(at) = at else {
            let names: Vec<&str> = def.params.iter().map(|parameter| parameter.name).collect();
            let names = names.join(", ");
            return Err(message(format!("`{name}` is not a parameter: they are {names}")));
        };
        parameters[at] = Some(attribute_of(&value, Some(&AttrConstraint::I64Array))?);
    }
    for (parameter, value) in def.params.iter().zip(&parameters) {
        if value.is_none() && !parameter.optional {
            return Err(message(format!("parameter `{}` is not given", parameter.name)));
        }
    }
    Ok(Attribute::dialect(def, parameters))
}

/// The attribute of a list: integers as the slot has them, or an array of attributes.
fn of_list(list: &Bound<'_, PyAny>, slot: Option<&AttrConstraint>) -> PyResult<Attribute> {
    Ok(match slot {
        Some(AttrConstraint::I64Array) => Attribute::i64_array(list.extract::<Vec<i64>>()?),
        Some(AttrConstraint::BoolArray) => Attribute::bool_array(list.extract::<Vec<bool>>()?),
        Some(AttrConstraint::I32Array) => {
            let values = list.extract::<Vec<i32>>()?.into_iter().map(i64::from).collect();
            AttrKind::DenseArray { element: Type::i32(), values }.into()
        }
        Some(AttrConstraint::IntElements(64)) => {
            let array = list.py().import("numpy")?.call_method1("array", (list, "int64"))?;
            return attribute_of(&array, None);
        }
        _ => {
            let element = match slot {
                Some(AttrConstraint::ArrayOf(element)) => Some(*element),
                _ => None,
            };
            let elements = list.try_iter()?.map(|value| attribute_of(&value?, element));
            Attribute::array(elements.collect::<PyResult<_>>()?)
        }
    })
}
