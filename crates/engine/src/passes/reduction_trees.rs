//! Replaces reductions with blocks that are no single operation by elementwise nodes: the tree that
//! defines the result, level by level.
//!
//! As a kernel, each level runs the block op by op. As nodes, levels are loops or code.

use crate::graph::{Graph, Node, Region, Value};
use numerics::DType;
use numerics::shape::num_elements;
use program::{BlockId, BodyShape, Callee, Effects, Kind, Primitive, Slot, ValueType, primitives};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The nodes of a reduction are at most this many,
const MAX_NODES: usize = 1 << 9;
/// and those of all in a function.
const MAX_ALL: usize = 1 << 14;
/// The operands have at most this many elements: the levels of larger ones pass through memory.
const MAX_ELEMENTS: usize = 1 << 16;

pub(crate) fn run(graph: &mut Graph<'_>, body: &mut Region) {
    expand_region(graph, body, &mut { MAX_ALL });
}

fn expand_region(graph: &mut Graph<'_>, body: &mut Region, left: &mut usize) {
    let mut nodes = Vec::with_capacity(body.nodes.len());
    for mut node in std::mem::take(&mut body.nodes) {
        for region in &mut node.regions {
            expand_region(graph, region, left);
        }
        let mut tree = Vec::new();
        match expand(graph, &node, &mut tree) {
            Some(()) if tree.len() <= *left => {
                *left -= tree.len();
                nodes.append(&mut tree);
            }
            _ => nodes.push(node),
        }
    }
    body.nodes = nodes;
}

/// The nodes in place of a reduction; `None` if it stays.
fn expand(graph: &mut Graph<'_>, node: &Node, nodes: &mut Vec<Node>) -> Option<()> {
    let Primitive::Reduce(reduce) = &*node.primitive else { return None };
    let (BodyShape::Block, None, Callee::Block(block)) =
        (reduce.body.shape, reduce.body.extremum, reduce.body.callee)
    else {
        return None;
    };
    let inputs = node.results.len();
    let (values, inits) = node.operands.split_at_checked(inputs)?;
    let shape = graph.shape(*values.first()?)?;
    let mut dimensions = reduce.dimensions.clone();
    dimensions.sort_unstable();
    let (&first, &last) = (dimensions.first()?, dimensions.last()?);
    let sizes = [shape.get(..first)?, shape.get(first..=last)?, shape.get(last + 1..)?];
    let [outer, count, inner] = sizes.map(num_elements);
    let sizes = [outer?, count?, inner?];
    let is_run = last - first + 1 == dimensions.len();
    let dtypes = node.operands.iter().map(|&value| graph.dtype(value));
    let is_alike = dtypes.eq(reduce.body.dtypes.iter().copied());
    let block_nodes = elementwise_nodes(graph, block)?;
    let levels = 2 * sizes[1].checked_ilog2()? as usize + 1;
    let is_small = num_elements(&shape)? <= MAX_ELEMENTS
        && (block_nodes + 4 * inputs).checked_mul(levels)? <= MAX_NODES;
    if !(is_run && is_alike && is_small && reduce.body.closed && inits.len() == inputs) {
        return None;
    }
    let mut tree = OpTree { graph, node, nodes, block, sizes };
    let level = values.iter().map(|&value| tree.reshape(value, &sizes)).collect::<Option<_>>()?;
    let total = tree.total(level, sizes[1])?;
    let inits: Vec<Value> =
        inits.iter().map(|&init| tree.repeat(init, 1)).collect::<Option<_>>()?;
    let results = tree.combine(&inits, &total, 1)?;
    for (&value, &result) in results.iter().zip(&node.results) {
        let shape = tree.graph.shape(result)?.to_vec();
        let primitive = reshape(shape);
        tree.add(primitive, &[value], result);
    }
    // They count as the op that they stand for.
    nodes.last_mut()?.ops = node.ops;
    Some(())
}

/// The number of instructions of a block, all of which are elementwise or constants; `None` if one
/// is not.
fn elementwise_nodes(graph: &Graph<'_>, block: BlockId) -> Option<usize> {
    let block = graph.code.block(block);
    let instructions = graph.code.instructions_of(block);
    let is_known = |primitive: &Primitive| match primitive {
        Primitive::Constant(_) | Primitive::Splat(_) => true,
        _ => {
            primitive.kind() == Kind::Elementwise
                && primitive.effects() == Effects::None
                && primitive.blocks().is_empty()
        }
    };
    let is_known = block.vectorizable && instructions.iter().all(|i| is_known(&i.primitive));
    is_known.then_some(instructions.len())
}

fn reshape(shape: Vec<usize>) -> Primitive {
    primitives::Reshape { shape }.into()
}

/// The nodes of a tree.
struct OpTree<'t, 'c> {
    graph: &'t mut Graph<'c>,
    /// The reduction.
    node: &'t Node,
    nodes: &'t mut Vec<Node>,
    block: BlockId,
    /// The sizes of an input before, along and behind the reduced dimensions.
    sizes: [usize; 3],
}

impl OpTree<'_, '_> {
    /// Adds a node for a value.
    fn add(&mut self, primitive: impl Into<Arc<Primitive>>, operands: &[Value], result: Value) {
        self.nodes.push(self.node.replacement(primitive, operands, result));
    }

    /// Adds a node for a new value.
    fn add_value(
        &mut self,
        primitive: impl Into<Arc<Primitive>>,
        operands: &[Value],
        dtype: DType,
        shape: &[usize],
    ) -> Value {
        let value = self.graph.value(&Arc::new(ValueType::tensor(dtype, shape)));
        self.add(primitive, operands, value);
        value
    }

    fn reshape(&mut self, value: Value, shape: &[usize]) -> Option<Value> {
        let dtype = self.graph.dtype(value)?;
        Some(self.add_value(reshape(shape.to_vec()), &[value], dtype, shape))
    }

    /// The shape of `count` elements of each result.
    fn shape(&self, count: usize) -> [usize; 3] {
        [self.sizes[0], count, self.sizes[2]]
    }

    /// A scalar at each of `count` elements of each result.
    fn repeat(&mut self, scalar: Value, count: usize) -> Option<Value> {
        let (shape, dtype) = (self.shape(count), self.graph.dtype(scalar)?);
        let broadcast =
            primitives::BroadcastInDim { shape: shape.to_vec(), dimensions: Vec::new() };
        Some(self.add_value(Primitive::from(broadcast), &[scalar], dtype, &shape))
    }

    /// Some of the elements of each result: every `stride`-th from `start` on.
    fn part(
        &mut self,
        values: &[Value],
        start: usize,
        limit: usize,
        stride: usize,
    ) -> Option<Vec<Value>> {
        let shape = self.shape((limit - start).div_ceil(stride));
        let part = |&value: &Value| {
            let slice = primitives::Slice {
                starts: vec![0, start, 0],
                limits: vec![self.sizes[0], limit, self.sizes[2]],
                strides: vec![1, stride, 1],
            };
            let dtype = self.graph.dtype(value)?;
            Some(self.add_value(Primitive::from(slice), &[value], dtype, &shape))
        };
        values.iter().map(part).collect()
    }

    /// The combination of `count` elements of each result.
    fn total(&mut self, mut level: Vec<Value>, mut count: usize) -> Option<Vec<Value>> {
        // The last elements of levels without a neighbour, the first level first.
        let mut waiting = Vec::new();
        while count > 1 {
            let pairs = count / 2;
            if count % 2 == 1 {
                waiting.push(self.part(&level, count - 1, count, 1)?);
            }
            let left = self.part(&level, 0, 2 * pairs, 2)?;
            let right = self.part(&level, 1, 2 * pairs, 2)?;
            level = self.combine(&left, &right, pairs)?;
            count = pairs;
        }
        let mut waiting = waiting.into_iter();
        let Some(mut rest) = waiting.next() else { return Some(level) };
        for next in waiting.chain([level]) {
            rest = self.combine(&next, &rest, 1)?;
        }
        Some(rest)
    }

    /// The block on `count` elements of each result.
    fn combine(&mut self, left: &[Value], right: &[Value], count: usize) -> Option<Vec<Value>> {
        let code = self.graph.code;
        let block = code.block(self.block);
        let shape = self.shape(count);
        let arguments = block.arguments.iter().copied();
        let mut values: FxHashMap<Slot, Value> =
            arguments.zip(left.iter().chain(right).copied()).collect();
        for (index, instruction) in block.instructions.clone().zip(code.instructions_of(block)) {
            let operands = instruction.operands.iter().map(|o| values.get(&o.slot).copied());
            let operands: Vec<Value> = operands.collect::<Option<_>>()?;
            let (&[slot], [ty]) = (&instruction.results[..], &instruction.result_types[..]) else {
                return None;
            };
            let dtype = ty.scalar_dtype()?;
            let primitive = instruction.primitive.clone();
            let value = match operands[..] {
                [] => {
                    let scalar = self.add_value(primitive, &[], dtype, &[]);
                    self.repeat(scalar, count)?
                }
                _ => self.add_value(primitive, &operands, dtype, &shape),
            };
            // Listings and profiles name the op of the block.
            if let Some(node) = self.nodes.last_mut().filter(|_| !operands.is_empty()) {
                let function = block.function;
                *node = Node {
                    instruction: index,
                    function,
                    origin: instruction.origin,
                    ..node.clone()
                };
            }
            values.insert(slot, value);
        }
        block.results.iter().map(|operand| values.get(&operand.slot).copied()).collect()
    }
}
