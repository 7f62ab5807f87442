//! Decisions in doubt, of which all sides are followed: an exact element that depends on some has
//! the few values that these lead to, a float the hull of its numbers.

use crate::array::{Array, Elements, Value};
use numerics::{DType, I1, Tensor};
use program::EvalError;
use smallvec::{SmallVec, smallvec};

/// At most this many values of an element are followed.
pub(crate) const MAX_ALTERNATIVES: usize = 8;

impl Array {
    /// The tensors that the array may be, element by element, as decisions in doubt lead; the first
    /// is that of true values. `None` if the elements are numbers, or values are not known.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn alternatives(&self) -> Result<Option<Vec<Tensor>>, EvalError> {
        let Some(tensor) = self.tensor() else { return Ok(None) };
        let Some(codes) = self.doubt_codes()? else { return Ok(Some(vec![tensor.clone()])) };
        if !self.others.is_empty() {
            return Ok(Some([std::slice::from_ref(tensor), &self.others].concat()));
        }
        if self.dtype != DType::I1 {
            return Ok(None);
        }
        // A boolean is one of two, whatever its doubt.
        let values = tensor.as_slice::<I1>()?;
        let other = |(value, &code): (&I1, &u32)| I1::from(value.get() != (code != 0));
        let others = values.iter().zip(&codes).map(other).collect();
        Ok(Some(vec![tensor.clone(), crate::array::tensor(&self.shape, others)?]))
    }

    /// True if all values that decisions in doubt lead to are known.
    pub fn is_settled(&self) -> bool {
        let is_boolean = self.dtype == DType::I1 && self.tensor().is_some();
        self.doubts.is_none() || !self.others.is_empty() || is_boolean
    }
}

/// The exact array of tensors of one type that decisions in doubt lead to, the first that of true
/// values. An element with several values has the doubt `code`. `None` if an element has too many.
///
/// # Errors
/// If there is no memory.
pub(crate) fn of_tensors(
    tensors: &[Tensor],
    code: &dyn Fn(usize) -> u32,
) -> Result<Option<Array>, EvalError> {
    let Some(first) = tensors.first() else { return Ok(None) };
    let (size, n) = (first.dtype().bytes(), first.num_elements());
    let mut doubts = vec![0u32; n];
    let mut others: Vec<Vec<u8>> = Vec::new();
    for (i, doubt) in doubts.iter_mut().enumerate() {
        let range = i * size..(i + 1) * size;
        let mut seen: SmallVec<[&[u8]; MAX_ALTERNATIVES]> =
            smallvec![&first.bytes()[range.clone()]];
        for tensor in &tensors[1..] {
            let own = &tensor.bytes()[range.clone()];
            if !seen.contains(&own) {
                seen.push(own);
            }
        }
        if seen.len() > MAX_ALTERNATIVES {
            return Ok(None);
        }
        if seen.len() > 1 {
            *doubt = code(i);
        }
        for (j, own) in seen[1..].iter().enumerate() {
            if j == others.len() {
                others.push(first.bytes().to_vec());
            }
            others[j][range.clone()].copy_from_slice(own);
        }
    }
    let other = |bytes: Vec<u8>| Tensor::from_bytes(first.dtype(), first.shape(), bytes.into());
    let others = others.into_iter().map(other).collect::<Result<Vec<Tensor>, _>>()?;
    let doubts = crate::array::tensor(first.shape(), doubts)?;
    Ok(Some(Array { others, ..Array::exact(first.clone()).with_doubts(Some(doubts)) }))
}

/// The array of arrays that decisions in doubt lead to, the first that of true values. Exact
/// elements that differ have the doubt `code`; doubts of the arrays that are not settled stay.
/// `None` if not all values are known.
///
/// # Errors
/// If there is no memory.
pub(crate) fn united(
    arrays: &[Array],
    code: &dyn Fn(usize) -> u32,
) -> Result<Option<Array>, EvalError> {
    let Some(first) = arrays.first() else { return Ok(None) };
    if arrays.iter().any(|array| (array.dtype, &array.shape) != (first.dtype, &first.shape)) {
        return Ok(None);
    }
    if !first.dtype.is_float() && !first.dtype.is_complex() {
        let mut tensors = Vec::new();
        for array in arrays {
            let Some(own) = array.alternatives()? else { return Ok(None) };
            tensors.extend(own);
        }
        return of_tensors(&tensors, code);
    }
    let mut numbers = first.numbers()?.to_vec();
    let width = first.width();
    for other in &arrays[1..] {
        for (at, (own, other)) in numbers.iter_mut().zip(other.numbers()?.iter()).enumerate() {
            let truth = own.truth;
            *own = own.hull(*other);
            if code(at / width) & 1 == 0 {
                own.truth = truth;
            }
        }
    }
    let mut doubts = vec![0u32; first.len()];
    for array in arrays {
        let Some(codes) = array.doubt_codes()? else { continue };
        doubts.iter_mut().zip(codes).filter(|(own, _)| **own == 0).for_each(|(own, x)| *own = x);
    }
    let doubts = crate::array::tensor(&first.shape, doubts)?;
    let array = Array::of_numbers(first.dtype, first.shape.clone(), numbers)?;
    Ok(Some(array.with_doubts(Some(doubts))))
}

/// The values of a program after a decision in doubt of the code `code`, of the values that its
/// sides lead to, the true one first.
///
/// # Errors
/// If there is no memory.
pub(crate) fn after_decision(sides: &[Value], code: u32) -> Result<Value, EvalError> {
    let Some(first) = sides.first() else { return Ok(Value::Token) };
    match first {
        Value::Array(array) => {
            let arrays: Option<Vec<Array>> =
                sides.iter().map(|side| side.array().ok().cloned()).collect();
            if let Some(arrays) = arrays
                && let Some(array) = united(&arrays, &|_| code)?
            {
                return Ok(array.into());
            }
            let doubts = Tensor::splat(&array.shape, code)?;
            Ok(array.clone().with_doubts(Some(doubts)).into())
        }
        Value::Token => Ok(Value::Token),
        Value::Tuple(elements) => {
            let element = |i: usize| {
                let side = |side: &Value| match side {
                    Value::Tuple(elements) => elements.get(i).cloned(),
                    Value::Array(_) | Value::Token => None,
                };
                after_decision(&sides.iter().filter_map(side).collect::<Vec<_>>(), code)
            };
            Ok(Value::Tuple((0..elements.len()).map(element).collect::<Result<_, _>>()?))
        }
    }
}

/// The positions of clusters, ranges of elements that may be exchanged, rotated in all ways: each
/// element of a cluster is at each of its positions once. The first is the order as it is. `None`
/// if a cluster is too long.
pub(crate) fn rotations(n: usize, clusters: &[std::ops::Range<usize>]) -> Option<Vec<Vec<usize>>> {
    let longest = clusters.iter().map(ExactSizeIterator::len).max().unwrap_or(1).max(1);
    if longest > MAX_ALTERNATIVES {
        return None;
    }
    let rotated = |by: usize| {
        let mut places: Vec<usize> = (0..n).collect();
        for cluster in clusters {
            for at in cluster.clone() {
                places[at] = cluster.start + (at - cluster.start + by) % cluster.len();
            }
        }
        places
    };
    Some((0..longest).map(rotated).collect())
}

/// Numbers with clusters of elements that may be exchanged: each gets the bounds of its cluster.
pub(crate) fn with_exchanges(
    array: &Array,
    clusters: &[std::ops::Range<usize>],
) -> Result<Array, EvalError> {
    let (width, mut numbers) = (array.width(), array.numbers()?.to_vec());
    for cluster in clusters {
        for part in 0..width {
            let at = |i: usize| i * width + part;
            let Some(hull) = cluster.clone().map(|i| numbers[at(i)]).reduce(|a, b| a.hull(b))
            else {
                continue;
            };
            cluster.clone().for_each(|i| numbers[at(i)].bounds = hull.bounds);
        }
    }
    let elements = Elements::Numbers(numbers.into());
    Ok(Array { elements, others: Vec::new(), ..array.clone() })
}
