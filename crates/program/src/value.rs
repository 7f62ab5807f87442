//! Values at run time and the types that they must have.

use crate::EvalError;
use numerics::shape::Sizes;
use numerics::{DType, Tensor};
use std::fmt;

/// A value at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuntimeValue {
    /// A tensor. A quantized tensor is the tensor of its storage values.
    Tensor(Tensor),
    /// A token.
    Token,
    /// A tuple.
    Tuple(Vec<RuntimeValue>),
}

impl RuntimeValue {
    /// The tensor that this is.
    ///
    /// # Errors
    /// If this is a token or tuple: only for values that a verified op cannot have.
    pub fn tensor(&self) -> Result<&Tensor, EvalError> {
        match self {
            RuntimeValue::Tensor(t) => Ok(t),
            RuntimeValue::Token => Err(EvalError::new("type", "expected a tensor, found a token")),
            RuntimeValue::Tuple(_) => {
                Err(EvalError::new("type", "expected a tensor, found a tuple"))
            }
        }
    }

    /// The tensor that this is, by value.
    ///
    /// # Errors
    /// As [`RuntimeValue::tensor`].
    pub fn into_tensor(self) -> Result<Tensor, EvalError> {
        match self {
            RuntimeValue::Tensor(t) => Ok(t),
            other => other.tensor().cloned(),
        }
    }
}

impl From<Tensor> for RuntimeValue {
    fn from(tensor: Tensor) -> RuntimeValue {
        RuntimeValue::Tensor(tensor)
    }
}

/// The size of a dimension that is known at run time only.
pub const DYNAMIC: i64 = i64::MIN;

/// The type that a value is declared to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// A tensor of `dtype` with a size, or [`DYNAMIC`], for each dimension. `bounds` is empty, or
    /// has the largest size of each dimension, or [`DYNAMIC`].
    Tensor {
        /// The storage type of elements, also of quantized ones.
        dtype: DType,
        /// Sizes.
        shape: Vec<i64>,
        /// Bounds of the sizes.
        bounds: Vec<i64>,
    },
    /// A tensor of any rank.
    Unranked(DType),
    /// A scalar that is not a tensor in the program, such as an `index`.
    Scalar(DType),
    /// A token.
    Token,
    /// A tuple.
    Tuple(Vec<ValueType>),
    /// A type whose values only the ops of its dialect know.
    Opaque,
}

impl ValueType {
    /// The static type of tensors of a shape.
    pub fn tensor(dtype: DType, shape: &[usize]) -> ValueType {
        let shape = shape.iter().map(|&size| i64::try_from(size).unwrap_or(i64::MAX)).collect();
        ValueType::Tensor { dtype, shape, bounds: Vec::new() }
    }

    /// The element type of a tensor of rank 0.
    pub fn scalar_dtype(&self) -> Option<DType> {
        match self {
            ValueType::Tensor { dtype, shape, .. } if shape.is_empty() => Some(*dtype),
            _ => None,
        }
    }

    /// The static shape; `None` if a dimension is dynamic, or this is no ranked tensor.
    pub fn static_shape(&self) -> Option<Sizes> {
        let ValueType::Tensor { shape, .. } = self else { return None };
        let mut sizes = Sizes::from_elem(0, shape.len());
        for (size, &declared) in sizes.iter_mut().zip(shape) {
            *size = usize::try_from(declared).ok()?;
        }
        Some(sizes)
    }

    /// A lower bound of the size of such a value in bytes: dynamic dimensions count as 1.
    pub fn min_bytes(&self) -> usize {
        let ValueType::Tensor { dtype, shape, .. } = self else { return 0 };
        let size = |&d: &i64| if d == DYNAMIC { 1 } else { usize::try_from(d).unwrap_or(0) };
        if shape.contains(&0) {
            return 0;
        }
        shape.iter().map(size).fold(dtype.bytes(), usize::saturating_mul)
    }

    /// True if a value has this type.
    pub fn accepts(&self, value: &RuntimeValue) -> bool {
        match (self, value) {
            (
                ValueType::Tensor { .. } | ValueType::Unranked(_) | ValueType::Scalar(_),
                RuntimeValue::Tensor(tensor),
            ) => self.accepts_tensor(tensor),
            (ValueType::Token, RuntimeValue::Token) => true,
            (ValueType::Tuple(types), RuntimeValue::Tuple(values)) => {
                values.len() == types.len() && values.iter().zip(types).all(|(v, t)| t.accepts(v))
            }
            _ => false,
        }
    }

    fn accepts_tensor(&self, tensor: &Tensor) -> bool {
        self.accepts_elements(tensor.dtype(), tensor.shape())
    }

    /// True if a tensor with elements of type `found` in `sizes` has this type.
    pub fn accepts_elements(&self, found: DType, sizes: &[usize]) -> bool {
        match self {
            ValueType::Tensor { dtype, shape, bounds } => {
                let fits = |(&size, &declared): (&usize, &i64)| {
                    declared == DYNAMIC || i64::try_from(size) == Ok(declared)
                };
                let within = |(&size, &bound): (&usize, &i64)| {
                    bound == DYNAMIC || i64::try_from(size).is_ok_and(|size| size <= bound)
                };
                *dtype == found
                    && sizes.len() == shape.len()
                    && sizes.iter().zip(shape).all(fits)
                    && sizes.iter().zip(bounds).all(within)
            }
            ValueType::Unranked(dtype) => *dtype == found,
            ValueType::Scalar(dtype) => *dtype == found && sizes.is_empty(),
            ValueType::Token | ValueType::Tuple(_) | ValueType::Opaque => false,
        }
    }

    /// True if a value contradicts this type: a tensor of another shape or element type. Of values
    /// that are no tensors, nothing is required: the ops that take them check them.
    pub fn contradicts(&self, value: &RuntimeValue) -> bool {
        match (self, value) {
            (ValueType::Tensor { .. } | ValueType::Unranked(_), RuntimeValue::Tensor(tensor)) => {
                !self.accepts_tensor(tensor)
            }
            (ValueType::Tuple(types), RuntimeValue::Tuple(values)) => {
                values.len() != types.len()
                    || values.iter().zip(types).any(|(v, t)| t.contradicts(v))
            }
            _ => false,
        }
    }
}

/// As in listings: `4x?xf32`.
impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueType::Tensor { dtype, shape, .. } => {
                for size in shape {
                    match u64::try_from(*size) {
                        Ok(size) => write!(f, "{size}x")?,
                        Err(_) => f.write_str("?x")?,
                    }
                }
                write!(f, "{dtype}")
            }
            ValueType::Token => f.write_str("token"),
            _ => f.write_str("value"),
        }
    }
}
