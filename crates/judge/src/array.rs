//! Values of a judged program: exact tensors, and tensors of real numbers with bounds.

use crate::ball::Ball;
use crate::bounds::Bounds;
use crate::parallel::collect;
use host::Charge;
use numerics::math;
use numerics::{DType, Element, Float, Integer, Tensor, TensorError, dispatch};
use program::{EvalError, RuntimeValue};
use std::ops::Deref;
use std::sync::Arc;

/// A real number of the program, and the floats that a conforming backend may compute for it.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    /// The number.
    pub truth: Ball,
    /// The floats.
    pub bounds: Bounds,
}

impl Number {
    /// A float that is what it says.
    pub fn exact(value: f64) -> Number {
        Number { truth: Ball::exact(value), bounds: Bounds::point(value) }
    }

    /// Nothing is known.
    pub const UNKNOWN: Number = Number { truth: Ball::UNKNOWN, bounds: Bounds::ANY };

    /// The float, if truth and bounds are that and nothing else.
    fn as_exact(&self) -> Option<f64> {
        let value = self.bounds.value()?;
        let Ball { hi, lo, radius, .. } = self.truth;
        let same = hi.to_bits() == value.to_bits() || (hi.is_nan() && value.is_nan());
        (same && lo == 0.0 && radius == 0.0).then_some(value)
    }

    /// The smallest number around both.
    #[must_use]
    pub fn hull(self, other: Number) -> Number {
        let truth = match (self.truth, other.truth) {
            (a, b) if a.is_nan() || b.is_nan() => Ball::UNKNOWN,
            (a, b) => Ball::between(a.lower().min(b.lower()), a.upper().max(b.upper())),
        };
        Number { truth, bounds: self.bounds.hull(other.bounds) }
    }
}

/// A vector of numbers that is shared, and charged to the budget of the thread that makes it.
#[derive(Clone, Debug)]
pub struct NumberList(Arc<ChargedNumbers>);

#[derive(Debug)]
struct ChargedNumbers {
    numbers: Vec<Number>,
    _charge: Option<Charge>,
}

impl From<Vec<Number>> for NumberList {
    fn from(numbers: Vec<Number>) -> NumberList {
        let charge = host::charge(numbers.capacity() * size_of::<Number>());
        NumberList(Arc::new(ChargedNumbers { numbers, _charge: charge }))
    }
}

impl Deref for NumberList {
    type Target = [Number];

    fn deref(&self) -> &[Number] {
        &self.0.numbers
    }
}

impl NumberList {
    /// The numbers to be changed, copied if they are shared.
    pub(crate) fn make_mut(&mut self) -> &mut [Number] {
        if Arc::get_mut(&mut self.0).is_none() {
            *self = self.to_vec().into();
        }
        match Arc::get_mut(&mut self.0) {
            Some(own) => &mut own.numbers,
            // Just made, it is not shared.
            None => &mut [],
        }
    }
}

/// The elements of an array, which are read as numbers.
pub(crate) enum NumberReader {
    /// Floats that are what they say.
    Floats(Vec<f64>),
    /// Numbers.
    Numbers(NumberList),
}

impl NumberReader {
    /// The number of elements, or parts of them.
    pub(crate) fn len(&self) -> usize {
        match self {
            NumberReader::Floats(values) => values.len(),
            NumberReader::Numbers(numbers) => numbers.len(),
        }
    }

    /// The number at a place, or the only one.
    #[inline]
    pub(crate) fn at(&self, i: usize) -> Number {
        match self {
            NumberReader::Floats(values) => {
                Number::exact(values[if values.len() == 1 { 0 } else { i }])
            }
            NumberReader::Numbers(numbers) => numbers[if numbers.len() == 1 { 0 } else { i }],
        }
    }
}

/// The elements of an array.
#[derive(Clone, Debug)]
pub enum Elements {
    /// Known exactly.
    Exact(Tensor),
    /// Real numbers; of complex types, real and imaginary parts by turns.
    Numbers(NumberList),
}

/// A tensor whose elements are known exactly, or within bounds.
#[derive(Clone, Debug)]
pub struct Array {
    /// The element type.
    pub dtype: DType,
    /// The shape.
    pub shape: Vec<usize>,
    /// The elements.
    pub elements: Elements,
    /// For each element, the doubt that it depends on, a code of `doubts.rs`, or 0; `None` without
    /// doubts.
    pub doubts: Option<Tensor>,
    /// Of exact elements, the other values that all decisions lead to of which elements are in
    /// doubt, if these are known: tensors of the same type.
    pub others: Vec<Tensor>,
}

/// A value at run time.
#[derive(Clone, Debug)]
pub enum Value {
    /// A tensor.
    Array(Array),
    /// A token.
    Token,
    /// A tuple.
    Tuple(Vec<Value>),
}

impl From<Array> for Value {
    fn from(array: Array) -> Value {
        Value::Array(array)
    }
}

impl From<RuntimeValue> for Value {
    fn from(value: RuntimeValue) -> Value {
        match value {
            RuntimeValue::Tensor(tensor) => Value::Array(Array::exact(tensor)),
            RuntimeValue::Token => Value::Token,
            RuntimeValue::Tuple(values) => {
                Value::Tuple(values.into_iter().map(Value::from).collect())
            }
        }
    }
}

impl Value {
    /// The array that this is.
    ///
    /// # Errors
    /// If it is a token or tuple.
    pub fn array(&self) -> Result<&Array, EvalError> {
        match self {
            Value::Array(array) => Ok(array),
            Value::Token | Value::Tuple(_) => Err(EvalError::new("type", "expected a tensor")),
        }
    }

    /// The exact value, if there are neither numbers nor doubts in it.
    pub fn as_exact(&self) -> Option<RuntimeValue> {
        match self {
            Value::Array(array) => Some(array.as_exact()?.clone().into()),
            Value::Token => Some(RuntimeValue::Token),
            Value::Tuple(values) => Some(RuntimeValue::Tuple(
                values.iter().map(Value::as_exact).collect::<Option<_>>()?,
            )),
        }
    }
}

/// The elements of a tensor of plain floats or integers as `f64`, which holds all floats exactly.
///
/// # Errors
/// If there is no memory, or the elements are complex.
pub fn to_f64s(tensor: &Tensor) -> Result<Vec<f64>, TensorError> {
    math::convert(tensor.clone(), DType::F64)?.to_vec::<f64>()
}

/// A tensor of a type from numbers, which are rounded to it.
///
/// # Errors
/// If there is no memory.
pub fn from_f64s(dtype: DType, shape: &[usize], values: Vec<f64>) -> Result<Tensor, TensorError> {
    if let Some(part) = dtype.is_complex().then(|| dtype.part()) {
        let parts = math::convert(Tensor::from_vec([values.len()], values)?, part)?;
        return Tensor::from_bytes(dtype, shape, parts.bytes().clone());
    }
    math::convert(Tensor::from_vec(shape, values)?, dtype)
}

/// The real and imaginary parts of a complex tensor, with one more dimension; others as they are.
///
/// # Errors
/// If there is no memory.
pub fn parts(tensor: &Tensor) -> Result<Tensor, TensorError> {
    if !tensor.dtype().is_complex() {
        return Ok(tensor.clone());
    }
    let shape = [tensor.shape(), &[2]].concat();
    Tensor::from_bytes(tensor.dtype().part(), shape, tensor.bytes().clone())
}

/// The numbers that the elements of an exact tensor are.
///
/// # Errors
/// If there is no memory.
pub fn numbers_of(tensor: &Tensor) -> Result<Vec<Number>, TensorError> {
    let tensor = parts(tensor)?;
    if tensor.dtype().is_integer() {
        fn of<T: Integer>(tensor: &Tensor) -> Result<Vec<Number>, TensorError> {
            let number = |x: &T| {
                let truth = Ball::integer(x.to_i128());
                let bounds = Bounds { low: truth.lower(), high: truth.upper(), nan: false };
                Number { truth, bounds }
            };
            Ok(tensor.as_slice::<T>()?.iter().map(number).collect())
        }
        let dtype = tensor.dtype();
        return dispatch!(dtype, [integer] T => of::<T>(&tensor),
            else Err(TensorError::Unsupported { op: "numbers", dtype }));
    }
    fn of<T: Float>(tensor: &Tensor) -> Result<Vec<Number>, TensorError> {
        let values = tensor.as_slice::<T>()?;
        Ok(collect(values.len(), Number::UNKNOWN, |i| Number::exact(values[i].to_f64())))
    }
    match tensor.dtype() {
        DType::I1 => Ok(to_f64s(&tensor)?.into_iter().map(Number::exact).collect()),
        dtype => dispatch!(dtype, [float] T => of::<T>(&tensor),
            else Err(TensorError::Unsupported { op: "numbers", dtype })),
    }
}

impl Array {
    /// A tensor that is what it says.
    pub fn exact(tensor: Tensor) -> Array {
        Array {
            dtype: tensor.dtype(),
            shape: tensor.shape().to_vec(),
            elements: Elements::Exact(tensor),
            doubts: None,
            others: Vec::new(),
        }
    }

    /// An array of numbers, or an exact one if all of them are exact.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn of_numbers(
        dtype: DType,
        shape: Vec<usize>,
        numbers: Vec<Number>,
    ) -> Result<Array, TensorError> {
        let exact: Option<Vec<f64>> = numbers.iter().map(Number::as_exact).collect();
        let elements = match exact {
            // Of NaNs, the sign and the payload do not count.
            Some(values) => Elements::Exact(from_f64s(dtype, &shape, values)?),
            None => Elements::Numbers(numbers.into()),
        };
        Ok(Array { dtype, shape, elements, doubts: None, others: Vec::new() })
    }

    /// The same array with doubts, whose values are not known.
    #[must_use]
    pub fn with_doubts(self, doubts: Option<Tensor>) -> Array {
        let some = |doubts: &Tensor| {
            doubts.as_slice::<u32>().is_ok_and(|doubts| doubts.iter().any(|&doubt| doubt != 0))
        };
        Array { doubts: doubts.filter(some), others: Vec::new(), ..self }
    }

    /// The other values after movement of all elements.
    ///
    /// # Errors
    /// Errors of the movement.
    pub fn moved_others<E>(
        &self,
        movement: impl Fn(&Tensor) -> Result<Tensor, E>,
    ) -> Result<Vec<Tensor>, E> {
        self.others.iter().map(movement).collect()
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// True if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of parts of an element: 2 for complex types.
    pub fn width(&self) -> usize {
        if self.dtype.is_complex() { 2 } else { 1 }
    }

    /// About how many numbers are known, but not exactly.
    pub(crate) fn count_inexact(&self) -> u64 {
        const SAMPLES: usize = 1024;
        let Elements::Numbers(numbers) = &self.elements else { return 0 };
        let step = 1 + numbers.len() / SAMPLES;
        let is_inexact = |n: &&Number| n.truth.is_finite() && !n.truth.is_exact();
        (numbers.iter().step_by(step).filter(is_inexact).count() * step) as u64
    }

    /// The tensor, if all elements are exact and without doubts.
    pub fn as_exact(&self) -> Option<&Tensor> {
        match &self.elements {
            Elements::Exact(tensor) if self.doubts.is_none() => Some(tensor),
            _ => None,
        }
    }

    /// The tensor, if all elements are exact, with or without doubts.
    pub fn tensor(&self) -> Option<&Tensor> {
        match &self.elements {
            Elements::Exact(tensor) => Some(tensor),
            Elements::Numbers(_) => None,
        }
    }

    /// The elements as numbers.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn numbers(&self) -> Result<NumberList, TensorError> {
        match &self.elements {
            Elements::Exact(tensor) => Ok(numbers_of(tensor)?.into()),
            Elements::Numbers(numbers) => Ok(numbers.clone()),
        }
    }

    /// The elements as numbers, one at a time, which takes less memory where they are exact floats.
    ///
    /// # Errors
    /// If there is no memory.
    pub(crate) fn reader(&self) -> Result<NumberReader, TensorError> {
        match &self.elements {
            Elements::Exact(tensor) if self.dtype.is_float() || self.dtype.is_complex() => {
                Ok(NumberReader::Floats(to_f64s(&parts(tensor)?)?))
            }
            _ => Ok(NumberReader::Numbers(self.numbers()?)),
        }
    }

    /// The true values rounded to the element type, as well as they are known.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn approximate(&self) -> Result<Tensor, TensorError> {
        match &self.elements {
            Elements::Exact(tensor) => Ok(tensor.clone()),
            Elements::Numbers(numbers) => {
                let value = |number: &Number| match number.truth.is_unknown() {
                    true if number.bounds.low.is_finite() => number.bounds.low,
                    _ => number.truth.hi,
                };
                from_f64s(self.dtype, &self.shape, numbers.iter().map(value).collect())
            }
        }
    }

    /// The doubt of each element.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn doubt_codes(&self) -> Result<Option<Vec<u32>>, TensorError> {
        self.doubts.as_ref().map(Tensor::to_vec::<u32>).transpose()
    }

    /// An array about whose elements nothing is known but `like`, a guess, because of a doubt.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn unknown(like: &Tensor, doubt: u32) -> Result<Array, TensorError> {
        let array = match like.dtype().is_float() || like.dtype().is_complex() {
            false => Array::exact(like.clone()),
            true => {
                let width = if like.dtype().is_complex() { 2 } else { 1 };
                let numbers = vec![Number::UNKNOWN; like.num_elements() * width];
                Array::of_numbers(like.dtype(), like.shape().to_vec(), numbers)?
            }
        };
        let doubts = Tensor::splat(like.shape(), doubt)?;
        Ok(array.with_doubts(Some(doubts)))
    }
}

/// A vector of elements as a tensor.
///
/// # Errors
/// If there is no memory.
pub fn tensor<T: Element>(shape: &[usize], elements: Vec<T>) -> Result<Tensor, TensorError> {
    Tensor::from_vec(shape, elements)
}
