//! Replaces gathers by views where the indices count evenly along dimensions: frames of a signal,
//! for example, or elements backwards.

use crate::graph::{Graph, Node, Region, Value};
use crate::passes::known;
use numerics::math::{BinaryOp, Direction, UnaryOp};
use numerics::shape::{Sizes, StridedView, num_elements, strides};
use numerics::{DType, Tensor};
use program::{Primitive, primitives};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// Numbers that count evenly along each dimension: the first one, and the steps.
#[derive(Clone, Debug, PartialEq)]
struct Progression {
    first: i64,
    steps: SmallVec<[i64; 4]>,
}

/// The known elements of a value.
#[derive(Clone, Debug, PartialEq)]
enum KnownElements {
    Numbers(Progression),
    /// The same boolean everywhere.
    Truth(bool),
    /// Numbers side by side along the last dimension, of a separate value each.
    Columns(Vec<Progression>),
}

pub(crate) fn run(graph: &mut Graph<'_>, body: &mut Region) {
    if has_gathers(body) {
        replace(graph, body, &mut FxHashMap::default());
    }
}

/// True if there is a gather in a region or in nested regions.
fn has_gathers(body: &Region) -> bool {
    body.nodes.iter().any(|node| {
        matches!(&*node.primitive, Primitive::Gather(_)) || node.regions.iter().any(has_gathers)
    })
}

/// Replaces the gathers of a region and of nested regions. `found` has the values that are known.
fn replace(graph: &Graph<'_>, body: &mut Region, found: &mut FxHashMap<Value, KnownElements>) {
    for node in &mut body.nodes {
        for region in &mut node.regions {
            replace(graph, region, found);
        }
        let &[result] = &node.results[..] else { continue };
        if let Some(view) = view(graph, node, found) {
            node.primitive = Arc::new(primitives::StridedGather { view }.into());
            node.operands.truncate(1);
        } else if let Some(elements) = elements(graph, node, found) {
            found.insert(result, elements);
        }
    }
}

/// The shape of a value, if it is known and has elements.
fn shape_of(graph: &Graph<'_>, value: Value) -> Option<Sizes> {
    graph.shape(value).filter(|shape| num_elements(shape).is_some_and(|count| count > 0))
}

impl Progression {
    fn constant(number: i64, rank: usize) -> Progression {
        Progression { first: number, steps: SmallVec::from_elem(0, rank) }
    }

    /// The number that all elements are.
    fn single(&self) -> Option<i64> {
        self.steps.iter().all(|&step| step == 0).then_some(self.first)
    }

    /// The least and the largest number.
    fn range(&self, shape: &[usize]) -> Option<[i64; 2]> {
        let mut range = [self.first; 2];
        for (&step, &size) in self.steps.iter().zip(shape) {
            let reach = step.checked_mul(i64::try_from(size).ok()?.checked_sub(1)?)?;
            let end = &mut range[usize::from(reach > 0)];
            *end = end.checked_add(reach)?;
        }
        Some(range)
    }

    /// The same, if a type has all numbers.
    fn within(self, dtype: DType, shape: &[usize]) -> Option<Progression> {
        let bits = dtype.bits();
        let limits = match dtype.is_signed() {
            true if bits <= 64 => [i64::MIN >> (64 - bits), i64::MAX >> (64 - bits)],
            false if dtype.is_unsigned() && bits < 64 => [0, (1 << bits) - 1],
            _ => return None,
        };
        let [least, most] = self.range(shape)?;
        (least >= limits[0] && most <= limits[1]).then_some(self)
    }

    fn map(&self, change: impl Fn(i64) -> Option<i64>) -> Option<Progression> {
        let steps = self.steps.iter().map(|&step| change(step)).collect::<Option<_>>()?;
        Some(Progression { first: change(self.first)?, steps })
    }

    fn plus(&self, other: &Progression) -> Option<Progression> {
        let steps = self.steps.iter().zip(&other.steps).map(|(x, y)| x.checked_add(*y));
        let first = self.first.checked_add(other.first)?;
        Some(Progression { first, steps: steps.collect::<Option<_>>()? })
    }

    fn minus(&self, other: &Progression) -> Option<Progression> {
        self.plus(&other.map(i64::checked_neg)?)
    }

    fn times(&self, other: &Progression) -> Option<Progression> {
        match (self.single(), other.single()) {
            (_, Some(factor)) => self.map(|x| x.checked_mul(factor)),
            (Some(factor), _) => other.map(|x| x.checked_mul(factor)),
            _ => None,
        }
    }

    /// The progression of a small tensor, if it is one.
    fn of(tensor: &Tensor) -> Option<Progression> {
        // Not all numbers of `u64` are ones of `i64`.
        if !tensor.dtype().is_integer() || tensor.dtype() == DType::U64 {
            return None;
        }
        let (shape, numbers) = (tensor.shape(), tensor.to_i64s().ok()?);
        let first = *numbers.first()?;
        let distances = strides(shape);
        let step = |(&size, &distance): (&usize, &usize)| match size {
            1 => Some(0),
            _ => numbers.get(distance)?.checked_sub(first),
        };
        let steps = shape.iter().zip(&distances).map(step).collect::<Option<_>>()?;
        let found = Progression { first, steps };
        found.range(shape)?;
        let is_number = |(place, &number): (usize, &i64)| {
            let terms = found.steps.iter().zip(shape.iter().zip(&distances));
            // From the first number on, all sums are within the range.
            let sum = terms.fold(first, |sum, (step, (size, distance))| {
                sum + step * (place / distance % size) as i64
            });
            sum == number
        };
        numbers.iter().enumerate().all(is_number).then_some(found)
    }
}

/// The numbers of a value.
fn numbers(
    graph: &Graph<'_>,
    value: Value,
    found: &FxHashMap<Value, KnownElements>,
) -> Option<Progression> {
    match found.get(&value) {
        Some(KnownElements::Numbers(numbers)) => Some(numbers.clone()),
        Some(_) => None,
        None => Progression::of(&known(graph, value)?),
    }
}

/// The known elements of the result of a node.
fn elements(
    graph: &Graph<'_>,
    node: &Node,
    found: &FxHashMap<Value, KnownElements>,
) -> Option<KnownElements> {
    let result = node.results[0];
    let (dtype, shape) = (graph.dtype(result)?, shape_of(graph, result)?);
    if !(dtype.is_integer() || dtype == DType::I1) {
        return None;
    }
    let of = |value: Value| numbers(graph, value, found);
    let of_operand = |number: usize| of(*node.operands.get(number)?);
    let truth = |number: usize| match found.get(node.operands.get(number)?)? {
        KnownElements::Truth(truth) => Some(*truth),
        _ => None,
    };
    let numbers = match &*node.primitive {
        Primitive::Iota(iota) => {
            let mut numbers = Progression::constant(0, shape.len());
            *numbers.steps.get_mut(iota.dimension)? = 1;
            numbers
        }
        Primitive::Splat(splat) => {
            let number = *splat.element.to_i64s().ok()?.first()?;
            if dtype == DType::I1 {
                return Some(KnownElements::Truth(number != 0));
            }
            Progression::constant(number, shape.len())
        }
        Primitive::Compare(comparison) if comparison.read_as.is_none() => {
            let [lhs, rhs] = [of_operand(0)?, of_operand(1)?];
            return decided(comparison.direction, &lhs, &rhs, &shape).map(KnownElements::Truth);
        }
        Primitive::Binary(op @ (BinaryOp::And | BinaryOp::Or)) if dtype == DType::I1 => {
            let is_and = *op == BinaryOp::And;
            return match (truth(0), truth(1)) {
                (Some(x), _) | (_, Some(x)) if x != is_and => Some(KnownElements::Truth(!is_and)),
                (Some(_), Some(_)) => Some(KnownElements::Truth(is_and)),
                _ => None,
            };
        }
        _ if dtype == DType::I1 => match (&*node.primitive, &node.operands[..]) {
            (Primitive::BroadcastInDim(_) | Primitive::Reshape(_), [_]) => {
                return truth(0).map(KnownElements::Truth);
            }
            _ => return None,
        },
        Primitive::Binary(op) => {
            let [lhs, rhs] = [of_operand(0)?, of_operand(1)?];
            match op {
                BinaryOp::Add => lhs.plus(&rhs)?,
                BinaryOp::Subtract => lhs.minus(&rhs)?,
                BinaryOp::Multiply => lhs.times(&rhs)?,
                BinaryOp::Maximum | BinaryOp::Minimum => {
                    let is_left = decided(Direction::Ge, &lhs, &rhs, &shape)?;
                    if is_left == (*op == BinaryOp::Maximum) { lhs } else { rhs }
                }
                _ => return None,
            }
        }
        Primitive::Unary(UnaryOp::Negate) => of_operand(0)?.map(i64::checked_neg)?,
        Primitive::Convert(_) => of_operand(0)?,
        Primitive::Select => of_operand(if truth(0)? { 1 } else { 2 })?,
        Primitive::Clamp => {
            let [least, x, most] = [of_operand(0)?, of_operand(1)?, of_operand(2)?];
            let [low, high] = x.range(&shape)?;
            let is_inside = least.single()? <= low && high <= most.single()?;
            is_inside.then_some(x)?
        }
        Primitive::Concatenate(concatenate) if concatenate.dimension + 1 == shape.len() => {
            let column = |&value: &Value| {
                let is_one = graph.shape(value)?.last() == Some(&1);
                is_one.then(|| of(value)).flatten()
            };
            return node
                .operands
                .iter()
                .map(column)
                .collect::<Option<_>>()
                .map(KnownElements::Columns);
        }
        _ => moved(graph, node, of_operand(0)?, &shape)?,
    };
    numbers.within(dtype, &shape).map(KnownElements::Numbers)
}

/// The result of a comparison that is the same for all elements.
fn decided(
    direction: Direction,
    lhs: &Progression,
    rhs: &Progression,
    shape: &[usize],
) -> Option<bool> {
    if lhs.steps.len() != shape.len() || rhs.steps.len() != shape.len() {
        return None;
    }
    let [least, most] = lhs.minus(rhs)?.range(shape)?;
    let (always, never) = match direction {
        Direction::Lt => (most < 0, least >= 0),
        Direction::Le => (most <= 0, least > 0),
        Direction::Gt => (least > 0, most <= 0),
        Direction::Ge => (least >= 0, most < 0),
        Direction::Eq => ([least, most] == [0; 2], least > 0 || most < 0),
        Direction::Ne => (least > 0 || most < 0, [least, most] == [0; 2]),
    };
    (always || never).then_some(always)
}

/// The numbers after a movement.
fn moved(
    graph: &Graph<'_>,
    node: &Node,
    numbers: Progression,
    shape: &[usize],
) -> Option<Progression> {
    let &[operand] = &node.operands[..] else { return None };
    let sizes = graph.shape(operand)?;
    let Progression { mut first, steps } = numbers;
    let mut result: SmallVec<[i64; 4]> = SmallVec::from_elem(0, shape.len());
    match &*node.primitive {
        Primitive::BroadcastInDim(broadcast) => {
            for ((&d, &step), &size) in broadcast.dimensions.iter().zip(&steps).zip(&sizes) {
                *result.get_mut(d)? = if size == 1 { 0 } else { step };
            }
        }
        Primitive::Broadcast(broadcast) => {
            result.get_mut(broadcast.sizes.len()..)?.copy_from_slice(&steps);
        }
        Primitive::Transpose(transpose) => {
            for (step, &d) in result.iter_mut().zip(&transpose.permutation) {
                *step = *steps.get(d)?;
            }
        }
        Primitive::Reverse(reverse) => {
            for (d, (to, &step)) in result.iter_mut().zip(&steps).enumerate() {
                *to = step;
                if reverse.dimensions.contains(&d) {
                    first = first.checked_add(step.checked_mul(sizes[d] as i64 - 1)?)?;
                    *to = step.checked_neg()?;
                }
            }
        }
        Primitive::Slice(slice) => {
            for (d, (to, &step)) in result.iter_mut().zip(&steps).enumerate() {
                first =
                    first.checked_add(step.checked_mul(i64::try_from(slice.starts[d]).ok()?)?)?;
                *to = step.checked_mul(i64::try_from(slice.strides[d]).ok()?)?;
            }
        }
        Primitive::Reshape(_) => {
            // The dimensions that are not of size 1 stay.
            let kept = |sizes: &[usize]| sizes.iter().copied().filter(|&size| size != 1).collect();
            let [before, after]: [Vec<usize>; 2] = [kept(&sizes), kept(shape)];
            if before != after {
                return None;
            }
            let mut steps = steps.iter().zip(&sizes).filter(|&(_, &size)| size != 1);
            for (to, _) in result.iter_mut().zip(shape).filter(|&(_, &size)| size != 1) {
                *to = *steps.next()?.0;
            }
        }
        _ => return None,
    }
    Some(Progression { first, steps: result })
}

/// A gather as a view of its operand, if its indices count evenly within bounds.
fn view(
    graph: &Graph<'_>,
    node: &Node,
    found: &FxHashMap<Value, KnownElements>,
) -> Option<StridedView> {
    let (Primitive::Gather(gather), &[operand, indices]) = (&*node.primitive, &node.operands[..])
    else {
        return None;
    };
    let primitives::Gather { dims, sizes } = gather;
    let result = shape_of(graph, node.results[0])?;
    let (shape, index_shape) = (shape_of(graph, operand)?, shape_of(graph, indices)?);
    let list = |dims: &[i64]| -> Option<Vec<usize>> {
        dims.iter().map(|&d| usize::try_from(d).ok()).collect()
    };
    let map = list(&dims.start_index_map)?;
    let dropped = list(&[&dims.collapsed_slice_dims[..], &dims.operand_batching_dims].concat())?;
    let batching = [list(&dims.operand_batching_dims)?, list(&dims.start_indices_batching_dims)?];
    let offset_dims = list(&dims.offset_dims)?;
    let vector = usize::try_from(dims.index_vector_dim).ok()?;
    // The numbers of each entry of the index vectors.
    let entries = match found.get(&indices) {
        Some(KnownElements::Columns(columns)) if vector + 1 == index_shape.len() => columns.clone(),
        _ => vec![numbers(graph, indices, found)?],
    };
    if entries.len() != map.len() || index_shape.get(vector).is_some_and(|&n| n != map.len()) {
        return None;
    }
    let distances = strides(&shape);
    let distance = |d: usize| isize::try_from(*distances.get(d)?).ok();
    // The dimensions of the indices except the index vectors, as dimensions of the result.
    let batch: Vec<usize> = (0..index_shape.len()).filter(|&d| d != vector).collect();
    let targets: Vec<usize> = (0..result.len()).filter(|d| !offset_dims.contains(d)).collect();
    let windows: Vec<usize> = (0..shape.len()).filter(|d| !dropped.contains(d)).collect();
    if batch.len() != targets.len() || windows.len() != offset_dims.len() {
        return None;
    }
    let (mut offset, mut steps) = (0_isize, vec![0_isize; result.len()]);
    for (entry, &d) in entries.iter().zip(&map) {
        let last = shape.get(d)?.checked_sub(*sizes.get(d)?)?;
        let mut entry_shape = index_shape.clone();
        if let Some(size) = entry_shape.get_mut(vector) {
            *size = 1;
        }
        let [least, most] = entry.range(&entry_shape)?;
        if least < 0 || usize::try_from(most).ok()? > last {
            return None;
        }
        offset =
            offset.checked_add(isize::try_from(entry.first).ok()?.checked_mul(distance(d)?)?)?;
        for (&from, &to) in batch.iter().zip(&targets) {
            let step = isize::try_from(*entry.steps.get(from)?).ok()?;
            steps[to] = steps[to].checked_add(step.checked_mul(distance(d)?)?)?;
        }
    }
    for (&d, from) in batching[0].iter().zip(&batching[1]) {
        let to = targets[batch.iter().position(|dimension| dimension == from)?];
        steps[to] = steps[to].checked_add(distance(d)?)?;
    }
    for (&to, &d) in offset_dims.iter().zip(&windows) {
        *steps.get_mut(to)? = distance(d)?;
    }
    StridedView::new(usize::try_from(offset).ok()?, &result[..], steps).ok()
}
