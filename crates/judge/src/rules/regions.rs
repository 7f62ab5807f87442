//! Slices of numbers at indices, in place where a loop goes on with the array: its time is that of
//! the slice, as in the interpreter.

use super::Op;
use crate::array::{Array, Elements, NumberList, Value, numbers_of, to_f64s};
use program::{EvalError, Primitive};

/// A part of an array: the index of its first element, and its sizes.
struct Region<'a> {
    shape: &'a [usize],
    start: Vec<usize>,
    sizes: &'a [usize],
}

impl Region<'_> {
    /// Calls `each` with the place of each row of the part, in the order of elements.
    fn rows(&self, mut each: impl FnMut(usize)) {
        let Some(rank) = self.sizes.len().checked_sub(1) else { return each(0) };
        let count: usize = self.sizes[..rank].iter().product();
        if count * self.sizes[rank] == 0 {
            return;
        }
        let mut index = vec![0; rank];
        for _ in 0..count {
            let whole = self.shape.iter().zip(&self.start).enumerate();
            each(whole.fold(0, |place, (d, (&size, &start))| {
                place * size + start + index.get(d).copied().unwrap_or(0)
            }));
            for (own, &size) in index.iter_mut().zip(&self.sizes[..rank]).rev() {
                *own += 1;
                if *own < size {
                    break;
                }
                *own = 0;
            }
        }
    }

    /// The number of elements of a row.
    fn row(&self) -> usize {
        self.sizes.last().copied().unwrap_or(1)
    }
}

/// The start of a part of `sizes`, clamped so that the part is within an array of `shape`;
/// `None` unless all indices are exact.
fn start(
    indices: &[Value],
    shape: &[usize],
    sizes: &[usize],
) -> Result<Option<Vec<usize>>, EvalError> {
    if indices.len() != shape.len() || sizes.len() != shape.len() {
        return Ok(None);
    }
    let mut start = Vec::with_capacity(shape.len());
    for ((index, &size), &own) in indices.iter().zip(shape).zip(sizes) {
        let (Some(tensor), Some(most)) = (index.array()?.as_exact(), size.checked_sub(own)) else {
            return Ok(None);
        };
        let Some(&index) = to_f64s(tensor)?.first() else { return Ok(None) };
        start.push(index.clamp(0.0, most as f64) as usize);
    }
    Ok(Some(start))
}

/// The numbers of an array without doubts; `None` if it has some.
fn numbers(array: &Array) -> Result<Option<NumberList>, EvalError> {
    Ok(if array.doubts.is_none() { Some(array.numbers()?) } else { None })
}

impl Op<'_> {
    /// The result of a slice or an update at indices, if some elements are numbers and there are no
    /// doubts. The operand that is updated is taken.
    pub(super) fn at_indices(&self, operands: &mut [Value]) -> Result<Option<Value>, EvalError> {
        match (self.primitive(), operands) {
            (Primitive::DynamicSlice(slice), [Value::Array(array), indices @ ..]) => {
                let sizes = &slice.sizes;
                if array.tensor().is_some() {
                    return Ok(None);
                }
                let Some(start) = start(indices, &array.shape, sizes)? else { return Ok(None) };
                let Some(all) = numbers(array)? else { return Ok(None) };
                let region = Region { shape: &array.shape, start, sizes };
                let (width, row) = (array.width(), region.row());
                let mut part = Vec::with_capacity(sizes.iter().product::<usize>() * width);
                region.rows(|at| part.extend_from_slice(&all[at * width..(at + row) * width]));
                Ok(Some(Array::of_numbers(array.dtype, sizes.clone(), part)?.into()))
            }
            (Primitive::DynamicUpdateSlice, [whole, Value::Array(update), indices @ ..]) => {
                let Value::Array(array) = &*whole else { return Ok(None) };
                let is_exact = array.tensor().is_some() && update.tensor().is_some();
                if is_exact || array.doubts.is_some() || array.dtype != update.dtype {
                    return Ok(None);
                }
                let Some(start) = start(indices, &array.shape, &update.shape)? else {
                    return Ok(None);
                };
                let Some(new) = numbers(update)? else { return Ok(None) };
                let Value::Array(array) = std::mem::replace(whole, Value::Token) else {
                    return Ok(None);
                };
                let width = array.width();
                let Array { dtype, shape, elements, .. } = array;
                let mut all = match elements {
                    Elements::Exact(tensor) => numbers_of(&tensor)?.into(),
                    Elements::Numbers(numbers) => numbers,
                };
                let region = Region { shape: &shape, start, sizes: &update.shape };
                let row = region.row() * width;
                let (own, mut done) = (all.make_mut(), 0);
                region.rows(|at| {
                    let at = at * width;
                    own[at..at + row].copy_from_slice(&new[done..done + row]);
                    done += row;
                });
                let elements = Elements::Numbers(all);
                Ok(Some(Array { dtype, shape, elements, doubts: None, others: Vec::new() }.into()))
            }
            _ => Ok(None),
        }
    }
}

/// True if the result of the op is the array that it updates, all of whose elements would have to
/// be looked at to see what has changed.
pub(crate) fn updates(primitive: &Primitive) -> bool {
    matches!(primitive, Primitive::DynamicUpdateSlice)
}
