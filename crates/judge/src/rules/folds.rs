//! Reductions by any body: in several orders, as the specification leaves the order open.
//!
//! Bodies that combine each accumulator with its value by one operation are reductions by these
//! operations. Of others, nothing is known about the orders that are not tried: results depend on
//! a doubt unless all orders give the same exact values.

use super::sums::WithBody;
use super::windows::places;
use super::{Op, Ruled, flat, reshaped};
use crate::array::{Array, Elements, Value};
use crate::doubts::Kind;
use crate::machine::Machine;
use numerics::math::BinaryOp;
use numerics::{DType, Tensor};
use program::primitives;
use program::{Body, BodyShape, Callee, EvalError, Primitive};

/// Vectors, one for each value of a body.
type Lanes = Vec<Array>;

/// The operations of a body that combines each of several accumulators with its own value by one
/// operation.
fn components(machine: &Machine<'_>, body: &Body) -> Option<Vec<BinaryOp>> {
    let Callee::Block(block) = body.callee else { return None };
    let code = machine.code();
    let block = code.block(block);
    let n = block.results.len();
    if n < 2 || block.arguments.len() != 2 * n || body.dtypes.len() != 2 * n {
        return None;
    }
    let instructions = code.instructions_of(block);
    let component = |(i, result): (usize, &program::Operand)| {
        let own = instructions.iter().find(|own| own.results.first() == Some(&result.slot))?;
        let [a, b] = &own.operands[..] else { return None };
        let pair = [block.arguments[i], block.arguments[n + i]];
        let is_own = [a.slot, b.slot] == pair || [b.slot, a.slot] == pair;
        match *own.primitive {
            Primitive::Binary(op) if is_own && is_commutative(op) => Some(op),
            _ => None,
        }
    };
    block.results.iter().enumerate().map(component).collect()
}

/// True for operations of floats whose order of operands does not matter.
fn is_commutative(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Multiply | BinaryOp::Maximum | BinaryOp::Minimum)
}

/// A body of one operation.
pub(super) fn body_of(body: &Body, op: BinaryOp, dtype: DType) -> Body {
    Body {
        dtypes: vec![Some(dtype); 2],
        shape: BodyShape::Binary { op, swapped: false },
        extremum: None,
        choice: None,
        ..body.clone()
    }
}

/// The elements of an array at some places.
pub(super) fn taken(array: &Array, places: &[usize]) -> Result<Array, EvalError> {
    let shape = vec![places.len()];
    let doubts = match array.doubt_codes()? {
        Some(codes) => {
            let codes = places.iter().map(|&at| codes[at]).collect();
            Some(crate::array::tensor(&shape, codes)?)
        }
        None => None,
    };
    let gathered = |tensor: &Tensor| {
        let size = tensor.dtype().bytes();
        let bytes = places.iter().flat_map(|&at| &tensor.bytes()[at * size..(at + 1) * size]);
        let bytes: Vec<u8> = bytes.copied().collect();
        Tensor::from_bytes(array.dtype, &shape, bytes.into())
    };
    let others = array.moved_others(gathered)?;
    let elements = match &array.elements {
        Elements::Exact(tensor) => Elements::Exact(gathered(tensor)?),
        Elements::Numbers(numbers) => {
            let width = array.width();
            let parts = places.iter().flat_map(|&at| &numbers[at * width..(at + 1) * width]);
            Elements::Numbers(parts.copied().collect::<Vec<_>>().into())
        }
    };
    Ok(Array { dtype: array.dtype, shape, elements, doubts, others })
}

impl Op<'_> {
    /// Runs a body once on vectors.
    fn combined(
        &self,
        machine: &mut Machine<'_>,
        body: &Body,
        n: usize,
        sides: [&Lanes; 2],
    ) -> Result<Option<Lanes>, EvalError> {
        if let BodyShape::Binary { op, swapped } = body.shape {
            let [a, b] = if swapped { [sides[1], sides[0]] } else { sides };
            return Ok(self.binary(machine, op, &[&a[0], &b[0]])?.map(|array| vec![array]));
        }
        let Callee::Block(block) = body.callee else { return Ok(None) };
        if !machine.is_vectorizable(block) {
            return self.combined_one_by_one(machine, block, n, sides).map(Some);
        }
        let arguments = sides.into_iter().flatten().cloned().map(Value::from).collect();
        let results = machine.run_lanes(block, n, arguments)?;
        let vector = |value: Value| {
            let array = value.array()?;
            if array.shape.is_empty() { reshaped(array, &[n]) } else { Ok(array.clone()) }
        };
        results.into_iter().map(vector).collect::<Result<_, EvalError>>().map(Some)
    }

    /// Runs a body with calls or control flow once for each element.
    fn combined_one_by_one(
        &self,
        machine: &mut Machine<'_>,
        block: program::BlockId,
        n: usize,
        sides: [&Lanes; 2],
    ) -> Result<Lanes, EvalError> {
        if n == 0 {
            return Ok(sides[0].clone());
        }
        let mut all: Lanes = Vec::new();
        for i in 0..n {
            let element = |array: &Array| Ok(reshaped(&taken(array, &[i])?, &[])?.into());
            let arguments = sides.into_iter().flatten().map(element);
            let results =
                machine.run_lanes(block, 1, arguments.collect::<Result<_, EvalError>>()?)?;
            for (k, value) in results.iter().enumerate() {
                let own = reshaped(value.array()?, &[1])?;
                match all.get_mut(k) {
                    Some(known) => *known = joined(known, &own)?,
                    None => all.push(own),
                }
            }
        }
        Ok(all)
    }

    /// Combines vectors in order from an initial one: from the first, from the last, and in pairs.
    fn folded(
        &self,
        machine: &mut Machine<'_>,
        body: &Body,
        init: &Lanes,
        steps: &[Lanes],
        n: usize,
    ) -> Result<Option<Lanes>, EvalError> {
        let (mut left, mut right) = (init.clone(), init.clone());
        for step in steps {
            let Some(next) = self.combined(machine, body, n, [&left, step])? else {
                return Ok(None);
            };
            left = next;
        }
        for step in steps.iter().rev() {
            let Some(next) = self.combined(machine, body, n, [step, &right])? else {
                return Ok(None);
            };
            right = next;
        }
        let mut level = steps.to_vec();
        while level.len() > 1 {
            let mut next = Vec::with_capacity(level.len().div_ceil(2));
            for pair in level.chunks(2) {
                next.push(match pair {
                    [a, b] => match self.combined(machine, body, n, [a, b])? {
                        Some(both) => both,
                        None => return Ok(None),
                    },
                    _ => pair[0].clone(),
                });
            }
            level = next;
        }
        let pairs = match level.first() {
            Some(all) => self.combined(machine, body, n, [init, all])?,
            None => Some(init.clone()),
        };
        let Some(pairs) = pairs else { return Ok(None) };
        let mut results = Vec::with_capacity(left.len());
        for ((left, right), pairs) in left.into_iter().zip(right).zip(pairs) {
            results.push(self.in_any_order(machine, [left, right, pairs], steps.len() > 1)?);
        }
        Ok(Some(results))
    }

    /// The result of several orders. If others are possible, elements that differ are in doubt.
    fn in_any_order(
        &self,
        machine: &mut Machine<'_>,
        [first, others @ ..]: [Array; 3],
        is_open: bool,
    ) -> Result<Array, EvalError> {
        let codes = first.doubt_codes()?;
        let mut doubts = codes.unwrap_or_else(|| vec![0; first.len()]);
        let width = first.width();
        let exact = |array: &Array| array.tensor().cloned();
        let tensors: Option<Vec<Tensor>> = others.iter().chain([&first]).map(exact).collect();
        let mut elements = first.elements.clone();
        let differs: Vec<bool> = match tensors {
            Some(tensors) => {
                let size = first.dtype.bytes();
                let at =
                    |tensor: &Tensor, i: usize| tensor.bytes()[i * size..(i + 1) * size].to_vec();
                (0..first.len())
                    .map(|i| tensors.iter().any(|own| at(own, i) != at(&tensors[0], i)))
                    .collect()
            }
            None => {
                let mut hull = first.numbers()?.to_vec();
                let lists = [others[0].numbers()?, others[1].numbers()?];
                for (i, own) in hull.iter_mut().enumerate() {
                    let truth = own.truth;
                    *own = own.hull(lists[0][i]).hull(lists[1][i]);
                    // Each order has the same true value, where the body is associative.
                    own.truth = truth;
                }
                let differs = |i: usize| {
                    (i * width..(i + 1) * width).any(|part| hull[part].bounds.value().is_none())
                };
                let differs = (0..first.len()).map(differs).collect();
                elements = Elements::Numbers(hull.into());
                differs
            }
        };
        if is_open {
            for (doubt, _) in doubts.iter_mut().zip(&differs).filter(|(_, differs)| **differs) {
                if *doubt == 0 {
                    let (origin, kind) = (self.origin(), Kind::Reduction);
                    *doubt = machine.doubts.code(origin, kind, true, None, String::new);
                }
            }
        }
        let doubts = crate::array::tensor(&first.shape, doubts)?;
        Ok(Array { elements, ..first }.with_doubts(Some(doubts)))
    }

    /// The results of the kernel, if no operands that are combined are floats.
    fn exact_reduction(
        &self,
        machine: &mut Machine<'_>,
        operands: &[&Array],
        inputs: &[&Array],
    ) -> Ruled {
        let is_float = |array: &&Array| array.dtype.is_float() || array.dtype.is_complex();
        match inputs.iter().any(is_float) {
            true => Ok(None),
            false => self.exact_kernel(machine, operands),
        }
    }

    /// A reduction of several operands, each by one operation: several reductions.
    fn by_components(
        &self,
        machine: &mut Machine<'_>,
        body: &Body,
        ops: Vec<BinaryOp>,
        with: &WithBody<'_>,
        operands: &[&Array],
    ) -> Ruled {
        let (inputs, inits) = operands.split_at(operands.len() / 2);
        let mut results = Vec::new();
        for ((op, &input), &init) in ops.into_iter().zip(inputs).zip(inits) {
            let primitive = with(body_of(body, op, input.dtype));
            let part = Op { primitive: &primitive, ..*self };
            let Some(own) = part.ruled(machine, &[input, init])? else { return Ok(None) };
            results.extend(own);
        }
        Ok(Some(results))
    }

    /// A reduction whose body is no single operation.
    pub(super) fn reduce_by_body(
        &self,
        machine: &mut Machine<'_>,
        reduce: &primitives::Reduce,
        with: &WithBody<'_>,
        operands: &[&Array],
    ) -> Ruled {
        let (inputs, inits) = operands.split_at(operands.len() / 2);
        if let Some(results) = self.exact_reduction(machine, operands, inputs)? {
            return Ok(Some(results));
        }
        if let Some(ops) = components(machine, &reduce.body) {
            return self.by_components(machine, &reduce.body, ops, with, operands);
        }
        let Some(first) = inputs.first() else { return Ok(None) };
        let inner: usize = reduce.dimensions.iter().map(|&d| first.shape[d]).product();
        let (_, shape) = super::order::rows(first, &reduce.dimensions)?;
        let outer: usize = shape.iter().product();
        let mut columns = Vec::new();
        for input in inputs {
            columns.push(super::order::rows(input, &reduce.dimensions)?.0);
        }
        if let BodyShape::Binary { op: BinaryOp::Multiply, .. } = reduce.body.shape {
            let elements = joined(&flat(&columns[0])?, &reshaped(inits[0], &[1])?)?;
            let row =
                |row: usize| (row * inner..(row + 1) * inner).chain([outer * inner]).collect();
            let rows: Vec<Vec<usize>> = (0..outer).map(row).collect();
            return self.products_of_rows(machine, &elements, &rows, &shape);
        }
        let step = |k: usize| {
            let places: Vec<usize> = (0..outer).map(|row| row * inner + k).collect();
            columns.iter().map(|column| taken(&flat(column)?, &places)).collect()
        };
        let steps = (0..inner).map(step).collect::<Result<Vec<Lanes>, EvalError>>()?;
        let init = inits.iter().map(|init| reshaped(init, &[outer])).collect::<Result<_, _>>()?;
        let Some(results) = self.folded(machine, &reduce.body, &init, &steps, outer)? else {
            return Ok(None);
        };
        results.iter().map(|array| reshaped(array, &shape)).collect::<Result<_, _>>().map(Some)
    }

    /// A reduction of windows by any body.
    pub(super) fn reduce_window_by_body(
        &self,
        machine: &mut Machine<'_>,
        reduce: &primitives::ReduceWindow,
        with: &WithBody<'_>,
        operands: &[&Array],
    ) -> Ruled {
        let (Some(window), Some(first)) = (&reduce.window, operands.first()) else {
            return Ok(None);
        };
        let (inputs, inits) = operands.split_at(operands.len() / 2);
        if let Some(results) = self.exact_reduction(machine, operands, inputs)? {
            return Ok(Some(results));
        }
        if let Some(ops) = components(machine, &reduce.body) {
            return self.by_components(machine, &reduce.body, ops, with, operands);
        }
        let counts: Option<Vec<usize>> = window
            .iter()
            .zip(&first.shape)
            .map(|(dim, &size)| usize::try_from(dim.num_windows(size as i64)?).ok())
            .collect();
        let Some(shape) = counts else { return Ok(None) };
        let seen = places(&first.shape, &shape, window);
        let longest = seen.iter().map(Vec::len).max().unwrap_or(0);
        // Shorter windows are at the edges, and begin with the initial value, as padding is.
        let mut padded = Vec::new();
        for (input, init) in inputs.iter().zip(inits) {
            padded.push(joined(&flat(input)?, &reshaped(init, &[1])?)?);
        }
        let outside = first.len();
        let step = |k: usize| {
            let at = |own: &Vec<usize>| {
                let missing = longest - own.len();
                k.checked_sub(missing).map_or(outside, |k| own[k])
            };
            let places: Vec<usize> = seen.iter().map(at).collect();
            padded.iter().map(|array| taken(array, &places)).collect()
        };
        let steps = (0..longest).map(step).collect::<Result<Vec<Lanes>, EvalError>>()?;
        if let BodyShape::Binary { op: BinaryOp::Multiply, .. } = reduce.body.shape {
            let rows: Vec<Vec<usize>> = seen
                .into_iter()
                .map(|own| [vec![outside; longest - own.len() + 1], own].concat())
                .collect();
            return self.products_of_rows(machine, &padded[0], &rows, &shape);
        }
        let n = seen.len();
        let init = inits.iter().map(|init| reshaped(init, &[n])).collect::<Result<_, _>>()?;
        let Some(results) = self.folded(machine, &reduce.body, &init, &steps, n)? else {
            return Ok(None);
        };
        results.iter().map(|array| reshaped(array, &shape)).collect::<Result<_, _>>().map(Some)
    }

    /// The products of elements at places, in any order.
    pub(super) fn products_of_rows(
        &self,
        machine: &mut Machine<'_>,
        elements: &Array,
        rows: &[Vec<usize>],
        shape: &[usize],
    ) -> Ruled {
        let dtype = elements.dtype;
        let numbers = elements.numbers()?;
        let roundoff = machine.model.sum_roundoff(dtype);
        let rounding = self.rounding(machine, "multiply", dtype);
        let products = match dtype.is_complex() {
            true => {
                let pair = |&at: &usize| [numbers[2 * at], numbers[2 * at + 1]];
                let product = |row: &Vec<usize>| {
                    let all: Vec<_> = row.iter().map(pair).collect();
                    super::complex::product_of(&all, dtype, roundoff)
                };
                rows.iter().flat_map(product).collect()
            }
            false => {
                let product = |row: &Vec<usize>| {
                    let all: Vec<_> = row.iter().map(|&at| numbers[at]).collect();
                    super::sums::product_of(&all, dtype, roundoff, rounding)
                };
                rows.iter().map(product).collect()
            }
        };
        self.with_any_doubt(&[elements], Array::of_numbers(dtype, shape.to_vec(), products)?)
    }

    /// Updates that are combined with elements by any body.
    pub(super) fn scatter_by_body(
        &self,
        machine: &mut Machine<'_>,
        scatter: &primitives::Scatter,
        operands: &[&Array],
    ) -> Ruled {
        let count = operands.len() / 2;
        let (inputs, indices, updates) =
            (&operands[..count], operands[count], &operands[count + 1..]);
        if let Some(results) = self.exact_reduction(machine, operands, inputs)? {
            return Ok(Some(results));
        }
        let (Some(places), Some(first)) = (indices.tensor(), inputs.first()) else {
            return Ok(None);
        };
        let found = self.updates_of(scatter, &first.shape, &updates[0].shape, places)?;
        let mut values = inputs.iter().map(|array| flat(array)).collect::<Result<Lanes, _>>()?;
        let news = updates.iter().map(|array| flat(array)).collect::<Result<Lanes, _>>()?;
        let longest = found.iter().map(Vec::len).max().unwrap_or(0);
        for length in 1..=longest {
            let own: Vec<usize> = (0..found.len()).filter(|&i| found[i].len() == length).collect();
            if own.is_empty() {
                continue;
            }
            let init = values.iter().map(|array| taken(array, &own)).collect::<Result<_, _>>()?;
            let step = |k: usize| {
                let places: Vec<usize> = own.iter().map(|&i| found[i][k]).collect();
                news.iter().map(|array| taken(array, &places)).collect()
            };
            let steps = (0..length).map(step).collect::<Result<Vec<Lanes>, EvalError>>()?;
            let Some(results) = self.folded(machine, &scatter.body, &init, &steps, own.len())?
            else {
                return Ok(None);
            };
            let mut order: Vec<usize> = (0..found.len()).collect();
            own.iter().enumerate().for_each(|(k, &i)| order[i] = found.len() + k);
            for (value, result) in values.iter_mut().zip(&results) {
                *value = taken(&joined(value, result)?, &order)?;
            }
        }
        let shaped = values.iter().zip(inputs).map(|(array, input)| reshaped(array, &input.shape));
        let mut results = shaped.collect::<Result<Vec<Array>, _>>()?;
        let doubt = super::any_doubt(&[indices])?;
        if doubt != 0 {
            for result in &mut results {
                let doubts = Tensor::splat(&result.shape, doubt)?;
                *result = result.clone().with_doubts(Some(doubts));
            }
        }
        Ok(Some(results))
    }
}

/// Two vectors, one after the other.
fn joined(a: &Array, b: &Array) -> Result<Array, EvalError> {
    let shape = vec![a.len() + b.len()];
    let elements = match (&a.elements, &b.elements) {
        (Elements::Exact(x), Elements::Exact(y)) => {
            let bytes = [&x.bytes()[..], &y.bytes()[..]].concat();
            Elements::Exact(Tensor::from_bytes(a.dtype, &shape, bytes.into())?)
        }
        _ => {
            let (x, y) = (a.numbers()?, b.numbers()?);
            Elements::Numbers(x.iter().chain(y.iter()).copied().collect::<Vec<_>>().into())
        }
    };
    let doubts = match (a.doubt_codes()?, b.doubt_codes()?) {
        (None, None) => None,
        (x, y) => {
            let list = |codes: Option<Vec<u32>>, n: usize| codes.unwrap_or_else(|| vec![0; n]);
            let codes = [list(x, a.len()), list(y, b.len())].concat();
            Some(crate::array::tensor(&shape, codes)?)
        }
    };
    Ok(Array { dtype: a.dtype, shape, elements, doubts, others: Vec::new() })
}
