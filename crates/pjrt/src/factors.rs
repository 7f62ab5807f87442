//! Dimensions of the operands and results of ops that are split alike.
//!
//! Source: Shardy, "Sharding representation" and its registry of sharding rules, which follow the
//! meaning of ops.

use crate::propagation::Propagation;
use stablo::Attribute;
use stablo::dialects::sdy;
use stablo::dialects::stablehlo::{
    BroadcastInDimOp, CholeskyOp, ConcatenateOp, ConvolutionOp, CustomCallOp, DotGeneralOp,
    DynamicSliceOp, DynamicUpdateSliceOp, FftOp, GatherOp, OptimizationBarrierOp, PadOp, ReduceOp,
    ReduceWindowOp, ReshapeOp, ReverseOp, ScatterOp, SliceOp, SortOp, TransposeOp,
    TriangularSolveOp,
};
use stablo::ir::{OpRef, Trait, Value};
use std::collections::BTreeMap;

/// A dimension of a value: the value's number and the dimension's.
pub(crate) type Place = (usize, usize);

/// Factors of all ops: their places, and whether the op keeps shapes.
#[derive(Default)]
pub(crate) struct ShardingFactors {
    places: Vec<Place>,
    /// The end of each factor in `places`, and true if axes pass through its op first.
    ends: Vec<(usize, bool)>,
}

impl ShardingFactors {
    /// Adds a factor of an op that keeps shapes.
    pub(crate) fn pass(&mut self, places: &[Place]) {
        self.push(places, true);
    }

    fn push(&mut self, places: &[Place], is_pass_through: bool) {
        if places.len() > 1 {
            self.places.extend_from_slice(places);
            self.ends.push((self.places.len(), is_pass_through));
        }
    }

    /// The factors.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[Place], bool)> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(end, _)| *end));
        let ranges = starts.zip(&self.ends);
        ranges.map(|(start, &(end, is_pass_through))| (&self.places[start..end], is_pass_through))
    }
}

/// The factors of one op. Its values have numbers: operands first, then results.
pub(crate) struct OpFactors {
    /// The shapes of operands and results; `None` for those that are no tensors of static shape.
    shapes: Vec<Option<Vec<usize>>>,
    operands: Vec<Option<usize>>,
    results: Vec<Option<usize>>,
    keeps_shapes: bool,
    /// The places of each factor.
    pub places: Vec<Vec<Place>>,
    /// Pairs of an operand and a result that is made of it element by element.
    derived: Vec<(usize, usize)>,
}

impl OpFactors {
    /// The factors of an op without regions that shardings pass, by the shapes of its operands and
    /// results.
    pub(crate) fn of(op: OpRef<'_>, shapes: Vec<Option<Vec<usize>>>) -> OpFactors {
        let number = |index: usize| shapes[index].is_some().then_some(index);
        let count = op.operands().len();
        let mut own = OpFactors {
            operands: (0..count).map(number).collect(),
            results: (count..shapes.len()).map(number).collect(),
            keeps_shapes: false,
            places: Vec::new(),
            derived: Vec::new(),
            shapes,
        };
        own.add(op);
        own
    }
}

/// Adds the factors of an op without regions that shardings pass.
pub(crate) fn operation<'m>(all: &mut Propagation<'m>, call: usize, op: OpRef<'m>) {
    let values: Vec<Value> = op.operands().iter().copied().chain(op.results()).collect();
    let nodes: Vec<Option<usize>> = values.iter().map(|&value| all.node(call, value)).collect();
    let shapes = nodes.iter().map(|node| Some(all.shape((*node)?))).collect();
    let own = OpFactors::of(op, shapes);
    let node = |value: usize| nodes.get(value).copied().flatten();
    for places in &own.places {
        let known: Vec<Place> =
            places.iter().filter_map(|&(value, dim)| Some((node(value)?, dim))).collect();
        all.factors().push(&known, own.keeps_shapes);
    }
    for (from, to) in own.derived {
        if let Some((from, to)) = node(from).zip(node(to)) {
            all.derive(from, to);
        }
    }
}

/// The dimensions from 0 on that a list does not have.
fn others(rank: usize, listed: &[&[i64]]) -> Vec<usize> {
    let is_listed = |dim: &usize| listed.iter().any(|list| list.contains(&(*dim as i64)));
    (0..rank).filter(|dim| !is_listed(dim)).collect()
}

fn dims(list: &[i64]) -> impl Iterator<Item = usize> {
    list.iter().map(|&dim| dim as usize)
}

impl OpFactors {
    fn shape(&self, value: Option<usize>) -> Vec<usize> {
        value.and_then(|value| self.shapes[value].clone()).unwrap_or_default()
    }

    /// Adds the factor of dimensions; values without a shape are left out.
    fn link(&mut self, places: &[(Option<usize>, usize)]) {
        let rank = |value: usize| self.shapes[value].as_ref().map_or(0, Vec::len);
        let known = places.iter().filter_map(|&(value, dim)| {
            value.filter(|&value| dim < rank(value)).map(|value| (value, dim))
        });
        let known: Vec<Place> = known.collect();
        if known.len() > 1 {
            self.places.push(known);
        }
    }

    /// Links each dimension of all values that have one shape.
    fn link_all(&mut self, values: &[Option<usize>], dims: impl IntoIterator<Item = usize>) {
        for dim in dims {
            let places: Vec<_> = values.iter().map(|&value| (value, dim)).collect();
            self.link(&places);
        }
    }

    /// Operands and results that have the shape of the first result.
    fn alike(&self) -> Vec<Option<usize>> {
        let first = self.shape(self.results.first().copied().flatten());
        let all = self.operands.iter().chain(&self.results).copied();
        all.filter(|value| value.is_some() && self.shape(*value) == first).collect()
    }

    /// Links dimensions of an operand and the result that have one size.
    fn link_equal(&mut self, operand: Option<usize>, result: Option<usize>) {
        let (from, to) = (self.shape(operand), self.shape(result));
        if from.len() == to.len() {
            let equal = (0..from.len()).filter(|&dim| from[dim] == to[dim]);
            self.link_all(&[operand, result], equal.collect::<Vec<_>>());
        }
    }

    fn add(&mut self, op: OpRef<'_>) {
        let Some(&result) = self.results.first() else { return };
        let first = self.operands.first().copied().flatten();
        let rank = self.shape(result).len();
        let ints = |name: &str| op.int_array(name).unwrap_or(&[]);
        if let Some(rule) = op.attr("sdy.sharding_rule") {
            self.rule(rule);
        } else if op.has_trait(&Trait::Elementwise) || op.name() == "stablehlo.composite" {
            self.keeps_shapes = true;
            let alike = self.alike();
            self.link_all(&alike, 0..rank);
            for (&from, &to) in alike.iter().flat_map(|from| alike.iter().map(move |to| (from, to)))
            {
                if let Some((from, to)) = from.zip(to)
                    && self.operands.contains(&Some(from))
                    && self.results.contains(&Some(to))
                {
                    self.derived.push((from, to));
                }
            }
        } else if op.is_any(&[OptimizationBarrierOp::DEF, CustomCallOp::DEF]) {
            // Of custom calls, annotations return their operand.
            self.keeps_shapes = true;
            if self.operands.len() == self.results.len() {
                let pairs: Vec<_> =
                    self.operands.iter().copied().zip(self.results.iter().copied()).collect();
                pairs.into_iter().for_each(|(from, to)| self.link_equal(from, to));
            }
        } else if op.is(TransposeOp::DEF) {
            self.keeps_shapes = true;
            for (to, from) in dims(ints("permutation")).enumerate() {
                self.link(&[(first, from), (result, to)]);
            }
        } else if op.is(ReshapeOp::DEF) {
            self.keeps_shapes = true;
            self.reshape(first, result);
        } else if op.is(BroadcastInDimOp::DEF) {
            let (from, to) = (self.shape(first), self.shape(result));
            for (dim, of) in dims(ints("broadcast_dimensions")).enumerate() {
                if from.get(dim) == to.get(of) {
                    self.link(&[(first, dim), (result, of)]);
                }
            }
        } else if op.is_any(&[ReverseOp::DEF, SliceOp::DEF, PadOp::DEF]) {
            self.link_all(&[first, result], 0..rank);
        } else if op.is(DynamicSliceOp::DEF) {
            self.link_equal(first, result);
        } else if op.is(DynamicUpdateSliceOp::DEF) {
            let update = self.operands.get(1).copied().flatten();
            self.link_equal(first, result);
            self.link_equal(update, result);
        } else if op.is(ReduceOp::DEF) {
            self.reduce(ints("dimensions"));
        } else if op.is(ReduceWindowOp::DEF) {
            let whole: Vec<usize> = {
                let windows = ints("window_dimensions").iter().enumerate();
                windows.filter(|(_, size)| **size == 1).map(|(dim, _)| dim).collect()
            };
            let alike = self.alike();
            self.link_all(&alike, whole);
        } else if op.is(SortOp::DEF) {
            let dim = op.attr_or_default("dimension").and_then(|own| own.as_i64()).unwrap_or(-1);
            let dim = if dim < 0 { dim + rank as i64 } else { dim };
            let alike = self.alike();
            self.link_all(&alike, others(rank, &[&[dim]]));
        } else if op.is(ConcatenateOp::DEF) {
            let all: Vec<_> = self.operands.iter().copied().chain([result]).collect();
            self.link_all(&all, 0..rank);
        } else if op.is_any(&[CholeskyOp::DEF, TriangularSolveOp::DEF]) {
            let all: Vec<_> = self.operands.iter().copied().chain([result]).collect();
            self.link_all(&all, 0..rank.saturating_sub(2));
        } else if op.is(FftOp::DEF) {
            self.link_all(&[first, result], 0..rank.saturating_sub(ints("fft_length").len()));
        } else if let Some(dot) = DotGeneralOp::cast(op) {
            self.dot(dot);
        } else if let Some(convolution) = ConvolutionOp::cast(op) {
            let numbers = convolution.dimension_numbers();
            let rhs = self.operands.get(1).copied().flatten();
            let dim = |dim: i64| dim as usize;
            self.link(&[
                (first, dim(numbers.input_batch_dimension)),
                (result, dim(numbers.output_batch_dimension)),
            ]);
            self.link(&[
                (rhs, dim(numbers.kernel_output_feature_dimension)),
                (result, dim(numbers.output_feature_dimension)),
            ]);
        } else if let Some(gather) = GatherOp::cast(op) {
            self.gather(gather);
        } else if op.is(ScatterOp::DEF) {
            let alike = self.alike();
            self.link_all(&alike, 0..rank);
        }
    }

    /// Links the dimensions of a factor as an `#sdy.op_sharding_rule` states them. Dimensions of
    /// several factors are alike where they have the same ones.
    fn rule(&mut self, rule: &Attribute) {
        fn list(params: &[Option<Attribute>], index: usize) -> &[Attribute] {
            params.get(index).and_then(|list| list.as_ref()?.as_array()).unwrap_or(&[])
        }
        let Some(rule) = rule.as_dialect(&sdy::OP_SHARDING_RULE) else { return };
        let values = [(1, self.operands.clone()), (2, self.results.clone())];
        // By the factors of dimensions.
        let mut places = BTreeMap::<&[i64], Vec<_>>::new();
        for (index, values) in values {
            for (value, mapping) in values.into_iter().zip(list(rule, index)) {
                let dims =
                    mapping.as_dialect(&sdy::TENSOR_MAPPING).map_or(&[][..], |own| list(own, 0));
                for (dim, mapping) in dims.iter().enumerate() {
                    let factors = mapping.as_dialect(&sdy::DIM_MAPPING);
                    let factors = factors.and_then(|own| own.first()?.as_ref()?.as_int_array());
                    let Some(factors) = factors.filter(|own| !own.is_empty()) else { continue };
                    places.entry(factors).or_default().push((value, dim));
                }
            }
        }
        places.values().for_each(|places| self.link(places));
    }

    /// Dimensions with a common product of sizes are one factor if each side has one of them; of
    /// several, the first ones are split alike. Those of size 1 are part of no factor.
    fn reshape(&mut self, operand: Option<usize>, result: Option<usize>) {
        let dims = |shape: Vec<usize>| {
            let all = shape.into_iter().enumerate().filter(|&(_, size)| size != 1);
            all.collect::<Vec<(usize, usize)>>()
        };
        let (from, to) = (dims(self.shape(operand)), dims(self.shape(result)));
        let (mut left, mut right) = (0, 0);
        while left < from.len() && right < to.len() {
            let start = (from[left].0, to[right].0);
            let (mut before, mut after) = (from[left].1, to[right].1);
            (left, right) = (left + 1, right + 1);
            while before != after {
                if before < after && left < from.len() {
                    before = before.saturating_mul(from[left].1);
                    left += 1;
                } else if after < before && right < to.len() {
                    after = after.saturating_mul(to[right].1);
                    right += 1;
                } else {
                    return;
                }
            }
            self.link(&[(operand, start.0), (result, start.1)]);
        }
    }

    fn reduce(&mut self, reduced: &[i64]) {
        let count = self.results.len();
        let inputs: Vec<_> = self.operands.iter().copied().take(count).collect();
        let results = self.results.clone();
        let rank = self.shape(inputs.first().copied().flatten()).len();
        for (to, from) in others(rank, &[reduced]).into_iter().enumerate() {
            let inputs = inputs.iter().map(|&input| (input, from));
            let places: Vec<_> = inputs.chain(results.iter().map(|&own| (own, to))).collect();
            self.link(&places);
        }
    }

    fn dot(&mut self, dot: DotGeneralOp<'_>) {
        let numbers = dot.dot_dimension_numbers();
        let (lhs, rhs) = (self.operands[0], self.operands[1]);
        let result = self.results[0];
        let (left, right) = (numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions);
        let mut to = 0;
        for (l, r) in dims(left).zip(dims(right)) {
            self.link(&[(lhs, l), (rhs, r), (result, to)]);
            to += 1;
        }
        for (side, batching, contracting) in [
            (lhs, left, numbers.lhs_contracting_dimensions),
            (rhs, right, numbers.rhs_contracting_dimensions),
        ] {
            for dim in others(self.shape(side).len(), &[batching, contracting]) {
                self.link(&[(side, dim), (result, to)]);
                to += 1;
            }
        }
        let contracted = dims(numbers.lhs_contracting_dimensions);
        for (l, r) in contracted.zip(dims(numbers.rhs_contracting_dimensions)) {
            self.link(&[(lhs, l), (rhs, r)]);
        }
    }

    fn gather(&mut self, gather: GatherOp<'_>) {
        let numbers = gather.dimension_numbers();
        let (operand, indices, result) = (self.operands[0], self.operands[1], self.results[0]);
        let (from, rank) = (self.shape(operand), self.shape(result).len());
        // Windows that have all of a dimension.
        let kept =
            others(from.len(), &[numbers.collapsed_slice_dims, numbers.operand_batching_dims]);
        for (dim, to) in kept.into_iter().zip(dims(numbers.offset_dims)) {
            if gather.slice_sizes().get(dim).is_some_and(|&size| size as usize == from[dim]) {
                self.link(&[(operand, dim), (result, to)]);
            }
        }
        let batch = others(rank, &[numbers.offset_dims]);
        let of = others(self.shape(indices).len(), &[&[numbers.index_vector_dim]]);
        for (to, dim) in batch.into_iter().zip(of) {
            let batching = dims(numbers.start_indices_batching_dims);
            let pair = batching.zip(dims(numbers.operand_batching_dims)).find(|own| own.0 == dim);
            let operand = pair.map(|(_, own)| (operand, own));
            let places: Vec<_> =
                operand.into_iter().chain([(indices, dim), (result, to)]).collect();
            self.link(&places);
        }
    }
}
