//! Ops whose operands depend on decisions in doubt: they are applied to all values that these lead
//! to, as far as they are few.

use super::Op;
use crate::alternatives::{MAX_ALTERNATIVES, united};
use crate::array::{Array, Value};
use crate::machine::Machine;
use numerics::Tensor;
use program::{Effects, EvalError, Primitive};

/// An exact element in doubt: the operand, the place of its bytes, and its values, the true one
/// first.
struct OpenElement {
    operand: usize,
    start: usize,
    values: Vec<Vec<u8>>,
}

impl Op<'_> {
    /// The results of the op with all values of its operands, given `results` with true values,
    /// which has elements in doubt.
    pub(super) fn followed(
        &self,
        machine: &mut Machine<'_>,
        operands: &[Value],
        results: Vec<Value>,
    ) -> Result<Vec<Value>, EvalError> {
        let is_open = |value: &Value| matches!(value, Value::Array(a) if a.doubts.is_some() && a.others.is_empty());
        if !results.iter().any(is_open) {
            return Ok(results);
        }
        let Some(sides) = self.sides(operands)? else { return Ok(results) };
        let mut all: Vec<Vec<Array>> = vec![Vec::new(); results.len()];
        let mut base = Vec::with_capacity(results.len());
        for (value, own) in results.iter().zip(&mut all) {
            let array = value.array()?;
            base.push(array.doubt_codes()?);
            own.push(Array { doubts: None, others: Vec::new(), ..array.clone() });
        }
        for side in sides {
            let side = machine.hypothetically(|machine| self.apply_once(machine, side));
            // A side that fails says nothing about results.
            let Ok(side) = side else { return Ok(results) };
            for (value, own) in side.into_iter().zip(&mut all) {
                own.push(value.array()?.clone());
            }
        }
        let mut followed = Vec::with_capacity(results.len());
        for ((value, arrays), codes) in results.into_iter().zip(&all).zip(base) {
            let some = codes.iter().flatten().copied().find(|&code| code != 0).unwrap_or(0);
            let code = |i: usize| match codes.as_ref().map_or(0, |codes| codes[i]) {
                0 => some,
                code => code,
            };
            followed.push(united(arrays, &code)?.map_or(value, Value::from));
        }
        Ok(followed)
    }

    /// All combinations of values of the operands but that of true values, if there are few: of
    /// whole operands where each element of a result depends on one element of each operand, else
    /// of their elements.
    fn sides(&self, operands: &[Value]) -> Result<Option<Vec<Vec<Value>>>, EvalError> {
        if operands.is_empty() || !self.primitive().is_by_element() {
            return match self.primitive().effects() {
                Effects::None | Effects::MayFail => self.sides_by_element(operands),
                Effects::Stateful | Effects::External => Ok(None),
            };
        }
        let mut sides: Vec<Vec<Value>> = vec![Vec::new()];
        let mut own_choices = Vec::new();
        for (index, operand) in operands.iter().enumerate() {
            let Ok(array) = operand.array() else { return Ok(None) };
            let is_number = array.tensor().is_none();
            let tensors = match array.alternatives()? {
                _ if is_number || array.doubts.is_none() => None,
                Some(tensors) => Some(self.index_vectors(index, tensors)?),
                None => return Ok(None),
            };
            let choices: Vec<Value> = match tensors {
                None => vec![operand.clone()],
                Some(tensors) => {
                    tensors.into_iter().map(|tensor| Array::exact(tensor).into()).collect()
                }
            };
            own_choices.push(choices);
        }
        if self.is_same
            && let [first, _] = &own_choices[..]
        {
            // The same value on both sides.
            let pairs = first.iter().skip(1).map(|value| vec![value.clone(), value.clone()]);
            return Ok(Some(pairs.collect()));
        }
        for choices in own_choices {
            if sides.len() * choices.len() > 2 * MAX_ALTERNATIVES {
                return Ok(None);
            }
            let with = |side: &Vec<Value>, choice: &Value| {
                let mut side = side.clone();
                side.push(choice.clone());
                side
            };
            let longer = sides.iter().flat_map(|side| choices.iter().map(move |c| with(side, c)));
            sides = longer.collect();
        }
        // The first is that of true values.
        sides.remove(0);
        Ok((!sides.is_empty()).then_some(sides))
    }

    /// All combinations of values of elements in doubt but that of true values, if there are few.
    fn sides_by_element(&self, operands: &[Value]) -> Result<Option<Vec<Vec<Value>>>, EvalError> {
        let mut open: Vec<OpenElement> = Vec::new();
        let mut count = 1;
        // Of an operand that is used twice, the values of the first use count.
        let own = if self.is_same { &operands[..1] } else { operands };
        for (operand, value) in own.iter().enumerate() {
            let Ok(array) = value.array() else { return Ok(None) };
            let Some(codes) = array.doubt_codes()?.filter(|_| array.tensor().is_some()) else {
                continue;
            };
            let Some(tensors) = array.alternatives()? else { return Ok(None) };
            let size = array.dtype.bytes();
            for index in (0..codes.len()).filter(|&index| codes[index] != 0) {
                let at = index * size..(index + 1) * size;
                let mut values: Vec<Vec<u8>> = Vec::new();
                for own in tensors.iter().map(|tensor| &tensor.bytes()[at.clone()]) {
                    if values.iter().all(|known| known != own) {
                        values.push(own.to_vec());
                    }
                }
                count *= values.len();
                if count > 2 * MAX_ALTERNATIVES {
                    return Ok(None);
                }
                open.push(OpenElement { operand, start: at.start, values });
            }
        }
        let side = |number: usize| -> Result<Vec<Value>, EvalError> {
            let mut rest = number;
            let chosen: Vec<&[u8]> = open
                .iter()
                .map(|element| {
                    let choice = rest % element.values.len();
                    rest /= element.values.len();
                    &*element.values[choice]
                })
                .collect();
            let mut side = operands.to_vec();
            for (operand, value) in side.iter_mut().enumerate().take(own.len()) {
                let Some(tensor) = value.array()?.tensor() else { continue };
                let mut bytes = tensor.bytes().to_vec();
                let own = open.iter().zip(&chosen).filter(|(open, _)| open.operand == operand);
                for (element, chosen) in own {
                    bytes[element.start..element.start + chosen.len()].copy_from_slice(chosen);
                }
                let tensor = Tensor::from_bytes(tensor.dtype(), tensor.shape(), bytes.into())?;
                *value = Array::exact(tensor).into();
            }
            if self.is_same {
                side[1] = side[0].clone();
            }
            Ok(side)
        };
        // The first is that of true values.
        let sides: Vec<_> = (1..count).map(side).collect::<Result<_, _>>()?;
        Ok((!sides.is_empty()).then_some(sides))
    }

    /// Index vectors with components from one tensor or from several.
    fn index_vectors(
        &self,
        operand: usize,
        tensors: Vec<Tensor>,
    ) -> Result<Vec<Tensor>, EvalError> {
        let Primitive::Gather(gather) = self.primitive() else { return Ok(tensors) };
        let Some(first) = tensors.first().filter(|_| operand == 1) else { return Ok(tensors) };
        let dimension = usize::try_from(gather.dims.index_vector_dim).unwrap_or(usize::MAX);
        let components = first.shape().get(dimension).copied().unwrap_or(1);
        let count = u32::try_from(components).ok().and_then(|n| tensors.len().checked_pow(n));
        // Too many combinations are refused by their number.
        let Some(count) = count.filter(|&count| components > 1 && count <= 2 * MAX_ALTERNATIVES)
        else {
            let all = if components > 1 { 2 * MAX_ALTERNATIVES + 1 } else { tensors.len() };
            return Ok(tensors.into_iter().cycle().take(all).collect());
        };
        let inner: usize = first.shape()[dimension + 1..].iter().product();
        let size = first.dtype().bytes();
        let mixed = |number: usize| {
            let mut bytes = Vec::with_capacity(first.bytes().len());
            for i in 0..first.num_elements() {
                let component = (i / inner) % components;
                let choice = number / tensors.len().pow(component as u32) % tensors.len();
                bytes.extend_from_slice(&tensors[choice].bytes()[i * size..(i + 1) * size]);
            }
            Tensor::from_bytes(first.dtype(), first.shape(), bytes.into())
        };
        Ok((0..count).map(mixed).collect::<Result<_, _>>()?)
    }
}
