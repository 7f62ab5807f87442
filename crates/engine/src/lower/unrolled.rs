//! Unrolled reductions: of few elements each, as elementwise operations of parts of the operand.
//!
//! Element `k` of each result is a part of the operand, a view of it. What is cheap to compute, or
//! used nowhere else, is computed of such parts in the same loop and never stored.

use crate::graph::{Graph, Node, Value};
use crate::lower::views::{Definitions, Viewed};
use crate::passes::fuse_elementwise::kernels;
use ::kernels::Reduction;
use numerics::math::SliceKernel;
use numerics::shape::{Sizes, StridedView};
use program::Primitive;
use program::primitives;
use rustc_hash::FxHashSet;
use std::ops::RangeInclusive;

/// Elements of a short reduction for each result.
const COUNTS: RangeInclusive<usize> = 1..=8;
/// Reductions to fewer results have dedicated code in blocks.
const MIN_RESULTS: usize = 1 << 10;
/// The maximum number of operations that compute the elements of a result.
const MAX_OPS: usize = 64;

/// A short reduction.
pub(crate) struct UnrolledReduction {
    pub reduction: Reduction,
    pub operand: Value,
    pub init: Value,
    pub result: Value,
    /// The reduced dimensions, neighbours in order.
    dimensions: Vec<usize>,
    shape: Sizes,
}

impl UnrolledReduction {
    /// The short reduction that a node is.
    pub(crate) fn of(graph: &Graph<'_>, node: &Node) -> Option<UnrolledReduction> {
        let Primitive::Reduce(primitives::Reduce { dimensions, body }) = &*node.primitive else {
            return None;
        };
        let (&[operand, init], &[result]) = (&node.operands[..], &node.results[..]) else {
            return None;
        };
        let (dtype, shape) = (graph.dtype(operand)?, graph.shape(operand)?);
        let reduction = Reduction::new(body.shape, dtype, &shape, dimensions)?;
        let has_type = |value: Value| graph.dtype(value) == Some(dtype);
        let fits = COUNTS.contains(&reduction.count())
            && reduction.results() >= MIN_RESULTS
            && !dtype.is_complex()
            && has_type(init)
            && has_type(result)
            && graph.elements(init) == Some(1);
        SliceKernel::binary(reduction.op(), reduction.wide()).filter(|_| fits)?;
        let mut dimensions = dimensions.clone();
        dimensions.sort_unstable();
        Some(UnrolledReduction { reduction, operand, init, result, dimensions, shape })
    }

    /// The values whose parts the loop of the reduction computes; parts of others are read.
    pub(crate) fn computed(&self, definitions: &Definitions<'_>) -> FxHashSet<Value> {
        let graph = definitions.graph;
        let mut computed = FxHashSet::default();
        let mut left = MAX_OPS / self.reduction.count();
        let mut waiting = vec![self.operand];
        let mut next = 0;
        while let Some(&value) = waiting.get(next) {
            next += 1;
            let Some(node) = definitions.neighbour(value, self.result) else { continue };
            let has_shape = |&operand: &Value| {
                graph.elements(operand) == Some(1)
                    || graph.shape(operand).as_ref() == Some(&self.shape)
            };
            let Some(kernels) = kernels(graph, node) else { continue };
            let is_known = computed.contains(&value) || graph.constants.contains_key(&value);
            if is_known || !node.operands.iter().all(has_shape) || kernels.len() > left {
                continue;
            }
            let is_expensive = |kernel: &SliceKernel| {
                let is_expensive =
                    |f| codegen::is_expensive(f) || codegen::needs_range_reduction(f);
                kernel.function().is_none_or(is_expensive)
            };
            if definitions.uses(value) > 1
                && kernels.iter().any(|(_, kernel, _)| is_expensive(kernel))
            {
                continue;
            }
            left -= kernels.len();
            computed.insert(value);
            waiting.extend(&node.operands);
        }
        computed
    }

    /// A value in the shape of the operand as a view of element `number` for each result.
    pub(crate) fn part(&self, viewed: Viewed, number: usize) -> Option<Viewed> {
        let Viewed { memory, view, len } = viewed;
        let (mut offset, mut number) = (view.offset(), number);
        for &d in self.dimensions.iter().rev() {
            let (size, stride) = (*view.shape().get(d)?, *view.strides().get(d)?);
            let index = isize::try_from(number % size).ok()?;
            offset = offset.checked_add_signed(index.checked_mul(stride)?)?;
            number /= size;
        }
        let is_kept = |d: &usize| !self.dimensions.contains(d);
        let kept: Vec<usize> = (0..view.shape().len()).filter(is_kept).collect();
        let shape: Vec<usize> = kept.iter().map(|&d| view.shape()[d]).collect();
        let strides: Vec<isize> = kept.iter().map(|&d| view.strides()[d]).collect();
        Some(Viewed { memory, view: StridedView::new(offset, shape, strides).ok()?, len })
    }
}
