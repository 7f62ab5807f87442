//! Moves nodes out of loops that do not change their operands.
//!
//! Elementwise work whose result is larger than its operands stays in the loop if only elementwise
//! work reads it: to compute it again takes less time than to read it. Anything else reads it from
//! memory.
//!
//! Small matrices that are multiplied with vectors along their rows, as recurrent networks have
//! them, are transposed before the loop: kernels add up the products of many columns at a time, and
//! would transpose them in each round.

use crate::graph::{Graph, Node, Region, Value};
use program::primitives::DotDims;
use program::{Effects, Kind, Primitive, ValueType, primitives};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The largest matrix that is transposed before a loop, in bytes: larger ones are prepacked, or
/// read from memory as fast as it gives them.
const MAX_MATRIX: usize = 1 << 15;
/// Smaller products have code that reads any order.
const MIN_PRODUCTS: usize = 1 << 9;
/// With more rows of the other operand, it matters less that each round transposes.
const MAX_ROWS: usize = 32;

pub(crate) fn run(graph: &mut Graph<'_>, body: &mut Region) {
    let (sources, transposes) = (FxHashMap::default(), FxHashMap::default());
    Hoist { graph, sources, transposes }.region(body);
}

struct Hoist<'g, 'c> {
    graph: &'g mut Graph<'c>,
    /// The bytes of the memory that movements read, by their results.
    sources: FxHashMap<Value, usize>,
    /// The operands of transposes of matrices, by their results.
    transposes: FxHashMap<Value, Value>,
}

impl Hoist<'_, '_> {
    fn region(&mut self, region: &mut Region) {
        let mut nodes = Vec::with_capacity(region.nodes.len());
        for mut node in std::mem::take(&mut region.nodes) {
            self.note_source(&node);
            for inner in &mut node.regions {
                self.region(inner);
            }
            if matches!(*node.primitive, Primitive::While(_)) {
                let first = nodes.len();
                self.hoist(&mut node, &mut nodes);
                nodes[first..].iter().for_each(|node| self.note_source(node));
                self.transpose_matrices(&mut node, &mut nodes);
            }
            nodes.push(node);
        }
        region.nodes = nodes;
    }

    /// Moves nodes from the regions of a loop to the nodes before it.
    fn hoist(&self, node: &mut Node, before: &mut Vec<Node>) {
        let mut changing: FxHashSet<Value> = FxHashSet::default();
        node.visit_definitions(&mut |value| {
            changing.insert(value);
        });
        for region in &mut node.regions {
            let in_memory = in_memory(region);
            let is_out = |node: &mut Node| {
                let is_in_memory = is_any_of(node, &in_memory);
                let is_out = is_invariant(node, &changing)
                    && self.graph.effects(node) == Effects::None
                    && (is_in_memory || self.is_worth_it(node));
                if is_out {
                    node.visit_definitions(&mut |value| {
                        changing.remove(&value);
                    });
                }
                is_out
            };
            before.extend(region.nodes.extract_if(.., is_out));
        }
    }

    /// Transposes matrices before a loop that multiplies along their rows.
    fn transpose_matrices(&mut self, node: &mut Node, before: &mut Vec<Node>) {
        let mut changing: FxHashSet<Value> = FxHashSet::default();
        node.visit_definitions(&mut |value| {
            changing.insert(value);
        });
        let mut known: FxHashMap<Value, Value> = FxHashMap::default();
        for node in node.regions.iter_mut().flat_map(|region| &mut region.nodes) {
            for side in 0..2 {
                let Some((matrix, dot)) = self.along_rows(node, side, &changing) else { continue };
                let transposed = match known.get(&matrix) {
                    Some(&transposed) => transposed,
                    None => {
                        let Some(transpose) = self.transpose(node, matrix) else { continue };
                        let transposed = transpose.results[0];
                        before.push(transpose);
                        known.insert(matrix, transposed);
                        transposed
                    }
                };
                node.operands[side] = transposed;
                node.primitive = Arc::new(dot.into());
            }
        }
    }

    /// The small matrix along whose rows a product multiplies, if it is one of the operands and
    /// does not change, and the product with its transpose.
    fn along_rows(
        &self,
        node: &Node,
        side: usize,
        changing: &FxHashSet<Value>,
    ) -> Option<(Value, primitives::Dot)> {
        let Primitive::Dot(dot) = &*node.primitive else { return None };
        let (&[lhs, rhs], &[result]) = (&node.operands[..], &node.results[..]) else { return None };
        let graph = &self.graph;
        let mut dims = match &dot.dims {
            Some(dims) => DotDims::clone(dims),
            None => DotDims::of_dot(graph.shape(lhs)?.len()),
        };
        let [operand, other] = if side == 0 { [lhs, rhs] } else { [rhs, lhs] };
        let has_type = |value| graph.dtype(value) == Some(dot.dtype);
        let is_float = dot.dtype.is_float() && dot.dtype.bytes() >= 4;
        if changing.contains(&operand) || !is_float || ![lhs, rhs, result].into_iter().all(has_type)
        {
            return None;
        }
        let matrix = self.transposes.get(&operand).copied();
        let along = usize::from(matrix.is_none());
        let matrix = matrix.unwrap_or(operand);
        let contracting = match side {
            0 => &mut dims.lhs_contracting_dimensions,
            _ => &mut dims.rhs_contracting_dimensions,
        };
        let (elements, products) = (graph.elements(operand)?, graph.elements(result)?);
        let depth = *graph.shape(operand)?.get(along)?;
        let fits = graph.shape(operand)?.len() == 2
            && contracting[..] == [along as i64]
            && depth > 0
            && graph.bytes(operand)? <= MAX_MATRIX
            && products.saturating_mul(depth) >= MIN_PRODUCTS
            && elements > depth
            && graph.elements(other)? / depth <= MAX_ROWS;
        *contracting = vec![0];
        let dot = primitives::Dot { dims: Some(Box::new(dims)), dtype: dot.dtype };
        fits.then_some((matrix, dot))
    }

    /// The transpose of a matrix, for a node, as a value in memory.
    fn transpose(&mut self, node: &Node, matrix: Value) -> Option<Node> {
        let &[rows, columns] = &self.graph.shape(matrix)?[..] else { return None };
        let ty = ValueType::tensor(self.graph.dtype(matrix)?, &[columns, rows]);
        let result = self.graph.value(&Arc::new(ty));
        self.graph.in_memory.insert(result);
        let primitive = Primitive::from(primitives::Transpose { permutation: vec![1, 0] });
        Some(Node {
            primitive: Arc::new(primitive),
            operands: [matrix].into_iter().collect(),
            results: [result].into_iter().collect(),
            regions: Vec::new(),
            captures: Vec::new(),
            ops: 0,
            ..*node
        })
    }

    fn note_source(&mut self, node: &Node) {
        if let (Primitive::Transpose(transpose), &[operand], &[result]) =
            (&*node.primitive, &node.operands[..], &node.results[..])
            && transpose.permutation[..] == [1, 0]
        {
            self.transposes.insert(result, operand);
        }
        if let (Kind::Movement, &[result]) = (node.primitive.kind(), &node.results[..]) {
            let read = self.bytes_read(node);
            let own = self.graph.bytes(result).unwrap_or(usize::MAX);
            self.sources.insert(result, read.min(own));
        }
    }

    /// The bytes of the memory of operands.
    fn bytes_read(&self, node: &Node) -> usize {
        let bytes = node.operands.iter().map(|value| match self.sources.get(value) {
            Some(&bytes) => bytes,
            None if self.graph.repeated.contains_key(value) => 0,
            None => self.graph.bytes(*value).unwrap_or(0),
        });
        bytes.fold(0, usize::saturating_add)
    }

    /// True for nodes, which may run although the loop does not, unless they are as fast as what
    /// reads their results.
    fn is_worth_it(&self, node: &Node) -> bool {
        let is_cheap = match node.primitive.kind() {
            Kind::Elementwise => {
                let results = node.results.iter().map(|&value| self.graph.bytes(value));
                results.sum::<Option<usize>>().is_none_or(|bytes| bytes > self.bytes_read(node))
            }
            Kind::Value
            | Kind::Movement
            | Kind::Product
            | Kind::Convolution
            | Kind::Reduction
            | Kind::Control
            | Kind::Kernel => false,
        };
        !is_cheap
    }
}

/// Values of a loop that kernels read from memory, and the loop-invariant operands of elementwise
/// nodes that compute such values.
fn in_memory(region: &Region) -> FxHashSet<Value> {
    let mut changing: FxHashSet<Value> = region.arguments.iter().copied().collect();
    let mut is_changing = Vec::with_capacity(region.nodes.len());
    for node in &region.nodes {
        let is_invariant = node.regions.is_empty() && is_invariant(node, &changing);
        is_changing.push(!is_invariant);
        if !is_invariant {
            changing.extend(&node.results);
        }
    }
    let mut in_memory: FxHashSet<Value> = FxHashSet::default();
    for (node, is_changing) in region.nodes.iter().zip(is_changing).rev() {
        let is_read = match node.primitive.kind() {
            // Products convert what they read, and reductions compute it.
            Kind::Value | Kind::Product | Kind::Convolution | Kind::Reduction => false,
            Kind::Elementwise => !is_changing && is_any_of(node, &in_memory),
            // Views have one operand.
            Kind::Movement => node.operands.len() > 1 || is_any_of(node, &in_memory),
            Kind::Control | Kind::Kernel => true,
        };
        if is_read {
            node.visit_uses(&mut |value| {
                in_memory.insert(value);
            });
        }
    }
    in_memory
}

/// True if a result of a node is one of these values.
fn is_any_of(node: &Node, values: &FxHashSet<Value>) -> bool {
    node.results.iter().any(|value| values.contains(value))
}

fn is_invariant(node: &Node, changing: &FxHashSet<Value>) -> bool {
    let mut own: FxHashSet<Value> = FxHashSet::default();
    node.visit_definitions(&mut |value| {
        own.insert(value);
    });
    let mut is_invariant = true;
    node.visit_uses(&mut |value| {
        is_invariant &= own.contains(&value) || !changing.contains(&value);
    });
    is_invariant
}
