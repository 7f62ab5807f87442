//! Movement: kernels move the numbers of elements.

use super::{Op, Ruled, any_doubt};
use crate::array::{Array, Elements, Number, NumberList};
use crate::machine::Machine;
use crate::parallel::collect;
use numerics::Tensor;
use program::primitives::{self, Dynamic};
use program::{Body, EvalError, Primitive, RuntimeValue};

impl Op<'_> {
    /// True if the primitive moves an operand, rather than goes by it.
    fn moves(&self, operand: usize, count: usize) -> bool {
        match self.primitive() {
            Primitive::Concatenate(_) => true,
            Primitive::Pad(_) | Primitive::DynamicUpdateSlice => operand < 2,
            Primitive::Dynamic(dynamic) => match &**dynamic {
                Dynamic::Pad { .. } => operand < 2,
                Dynamic::Iota { .. } => false,
                _ => operand == 0,
            },
            // Inputs, indices, updates.
            Primitive::Scatter(_) => operand != count / 2,
            _ => operand == 0,
        }
    }

    /// The results of movement.
    pub(super) fn moved(&self, machine: &mut Machine<'_>, operands: &[&Array]) -> Ruled {
        if let (Primitive::Reshape(reshape), &[array]) = (self.primitive(), operands)
            && array.len() == reshape.shape.iter().product::<usize>()
            && !array.shape.is_empty()
        {
            return Ok(Some(vec![super::reshaped(array, &reshape.shape)?]));
        }
        let mut run = |tensors: Vec<RuntimeValue>| self.kernel(machine, tensors);
        self.moved_by(operands, &mut run).map(Some)
    }

    /// The results of scattered updates that replace elements.
    pub(super) fn replaced(
        &self,
        machine: &mut Machine<'_>,
        scatter: &primitives::Scatter,
        operands: &[&Array],
    ) -> Ruled {
        // The body returns elements of any type.
        let body =
            Body { dtypes: vec![None; scatter.body.dtypes.len()], ..(*scatter.body).clone() };
        let dims = primitives::ScatterDims::clone(&scatter.dims);
        let primitive =
            Primitive::Scatter(primitives::Scatter { dims: Box::new(dims), body: Box::new(body) });
        let origin = self.origin();
        let mut run = |tensors| kernels::evaluate(&primitive, origin, tensors, machine);
        self.moved_by(operands, &mut run).map(Some)
    }

    fn moved_by(
        &self,
        operands: &[&Array],
        run: &mut dyn FnMut(Vec<RuntimeValue>) -> Result<Vec<RuntimeValue>, EvalError>,
    ) -> Result<Vec<Array>, EvalError> {
        let count = operands.len();
        let tensors: Option<Vec<&Tensor>> = operands.iter().map(|array| array.tensor()).collect();
        if let Some(tensors) = tensors {
            return self.moved_exactly(operands, &tensors, run);
        }
        // Elements are counted from 1; 0 stands for zeros that the kernel makes.
        let mut next = 1u32;
        let mut sources: Vec<Source> = Vec::new();
        let mut inputs = Vec::new();
        let mut others = Vec::new();
        for (index, array) in operands.iter().enumerate() {
            if !self.moves(index, count) {
                let tensor = array.tensor().ok_or_else(|| {
                    EvalError::new("judge", "indices are integers, which are exact")
                })?;
                others.push(*array);
                inputs.push(tensor.clone().into());
                continue;
            }
            let n = u32::try_from(array.len()).ok();
            let end = n
                .and_then(|n| next.checked_add(n))
                .ok_or_else(|| EvalError::new("judge", "there are too many elements to judge"))?;
            inputs.push(crate::array::tensor(&array.shape, (next..end).collect())?.into());
            sources.push(Source {
                first: next,
                end,
                numbers: array.numbers()?,
                width: array.width(),
                doubts: array.doubt_codes()?,
            });
            next = end;
        }
        let doubt = any_doubt(&others)?;
        let results = run(inputs)?;
        let gather = |(index, result): (usize, RuntimeValue)| {
            let places = result.into_tensor()?;
            let dtype = operands[index.min(count - 1)].dtype;
            // Results of ops with several inputs have the types of these.
            let dtype = self.result_dtype(index).unwrap_or(dtype);
            gathered(&places, &sources, dtype, doubt)
        };
        results.into_iter().enumerate().map(gather).collect()
    }
}

impl Op<'_> {
    /// Movement of exact elements and, likewise, of their doubts.
    fn moved_exactly(
        &self,
        operands: &[&Array],
        tensors: &[&Tensor],
        run: &mut dyn FnMut(Vec<RuntimeValue>) -> Result<Vec<RuntimeValue>, EvalError>,
    ) -> Result<Vec<Array>, EvalError> {
        let count = operands.len();
        let results = run(tensors.iter().map(|&tensor| tensor.clone().into()).collect())?;
        let mut others = Vec::new();
        let mut doubts = Vec::with_capacity(count);
        for (index, (array, tensor)) in operands.iter().zip(tensors).enumerate() {
            doubts.push(match (self.moves(index, count), &array.doubts) {
                (true, Some(doubts)) => doubts.clone().into(),
                (true, None) => Tensor::splat(&array.shape, 0u32)?.into(),
                (false, _) => {
                    others.push(*array);
                    Tensor::clone(tensor).into()
                }
            });
        }
        let doubt = any_doubt(&others)?;
        let doubts = run(doubts)?;
        let array = |(result, doubts): (RuntimeValue, RuntimeValue)| {
            let mut doubts = doubts.into_tensor()?;
            if doubt != 0 {
                let all = doubts.make_mut::<u32>()?;
                all.iter_mut().filter(|own| **own == 0).for_each(|own| *own = doubt);
            }
            Ok(Array::exact(result.into_tensor()?).with_doubts(Some(doubts)))
        };
        results.into_iter().zip(doubts).map(array).collect()
    }
}

/// The elements of an operand that is moved.
struct Source {
    first: u32,
    end: u32,
    numbers: NumberList,
    width: usize,
    doubts: Option<Vec<u32>>,
}

fn gathered(
    places: &Tensor,
    sources: &[Source],
    dtype: numerics::DType,
    doubt: u32,
) -> Result<Array, EvalError> {
    let width = if dtype.is_complex() { 2 } else { 1 };
    let places_of = places.as_slice::<u32>()?;
    let has_doubts = doubt != 0 || sources.iter().any(|source| source.doubts.is_some());
    // The source of an element, and its place there.
    let find = |place: u32| {
        let source = sources.iter().find(|source| (source.first..source.end).contains(&place));
        source.map(|source| (source, (place - source.first) as usize))
    };
    let numbers =
        collect(places_of.len() * width, Number::UNKNOWN, |i| match find(places_of[i / width]) {
            Some((source, at)) if source.width == width => source.numbers[at * width + i % width],
            _ => Number::exact(0.0),
        });
    let mut doubts = Vec::with_capacity(if has_doubts { places_of.len() } else { 0 });
    if has_doubts {
        doubts.extend(places_of.iter().map(|&place| {
            let of = |(source, at): (&Source, usize)| source.doubts.as_ref().map(|all| all[at]);
            find(place).and_then(of).filter(|&own| own != 0).unwrap_or(doubt)
        }));
    }
    let shape = places.shape().to_vec();
    let doubts = match has_doubts {
        true => Some(crate::array::tensor(&shape, doubts)?),
        false => None,
    };
    Ok(Array::of_numbers(dtype, shape, numbers)?.with_doubts(doubts))
}

/// An array whose dimensions are permuted.
pub(super) fn transposed(array: &Array, permutation: &[usize]) -> Result<Array, EvalError> {
    let doubts = array.doubts.as_ref();
    let doubts = doubts.map(|doubts| kernels::transpose(doubts, permutation)).transpose()?;
    let others = array.moved_others(|tensor| kernels::transpose(tensor, permutation))?;
    let shape: Vec<usize> = permutation.iter().map(|&d| array.shape[d]).collect();
    let elements = match &array.elements {
        Elements::Exact(tensor) => Elements::Exact(kernels::transpose(tensor, permutation)?),
        Elements::Numbers(numbers) => {
            let n = array.len() as u32;
            let places = crate::array::tensor(&array.shape, (0..n).collect())?;
            let places = kernels::transpose(&places, permutation)?;
            let width = array.width();
            let mut moved = Vec::with_capacity(numbers.len());
            for &place in places.as_slice::<u32>()? {
                let at = place as usize * width;
                moved.extend_from_slice(&numbers[at..at + width]);
            }
            Elements::Numbers(moved.into())
        }
    };
    Ok(Array { dtype: array.dtype, shape, elements, doubts, others })
}
