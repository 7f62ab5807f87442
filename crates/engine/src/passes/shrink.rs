//! Computes elementwise nodes of which all elements are the same once, and repeats the result: such
//! as what a function of scalars does with the number of a round, after `vmap`.

use crate::graph::{Graph, Node, Region, Value};
use numerics::Tensor;
use program::{Effects, Kind, Primitive, ValueType, primitives};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// Fewer elements take as long as one.
const MIN_ELEMENTS: usize = 64;
/// Constants of at most this many elements are compared with their first one.
const MAX_COMPARED: usize = 1 << 12;

pub(crate) fn run(graph: &mut Graph<'_>, body: &mut Region) {
    shrink(graph, body, &mut FxHashMap::default());
}

/// Shrinks the nodes of a region and of nested regions. `scalars` has the scalar that each value
/// repeats, if it is one of these.
fn shrink(graph: &mut Graph<'_>, body: &mut Region, scalars: &mut FxHashMap<Value, Value>) {
    let mut nodes = Vec::with_capacity(body.nodes.len());
    for mut node in std::mem::take(&mut body.nodes) {
        for region in &mut node.regions {
            shrink(graph, region, scalars);
        }
        if let &[result] = &node.results[..]
            && let Some(scalar) = scalar(graph, &mut node, &mut nodes, scalars)
        {
            scalars.insert(result, scalar);
        }
        nodes.push(node);
    }
    body.nodes = nodes;
}

/// The scalar that the result of a node repeats, or `None`. The node of an elementwise
/// operation becomes one that repeats its result, after one that computes it.
fn scalar(
    graph: &mut Graph<'_>,
    node: &mut Node,
    nodes: &mut Vec<Node>,
    scalars: &FxHashMap<Value, Value>,
) -> Option<Value> {
    let shape = graph.shape(node.results[0])?;
    let of = |graph: &Graph<'_>, value: Value| match scalars.get(&value) {
        Some(&scalar) => Some(scalar),
        None => graph.shape(value)?.is_empty().then_some(value),
    };
    match (&*node.primitive, &node.operands[..]) {
        (Primitive::BroadcastInDim(_) | Primitive::Reshape(_), &[operand]) => of(graph, operand),
        (Primitive::Splat(splat), []) if !shape.is_empty() => {
            let splat = primitives::Splat { element: splat.element.clone(), shape: Vec::new() };
            add(graph, node, nodes, Arc::new(splat.into()), SmallVec::new())
        }
        (Primitive::Constant(constant), []) if !shape.is_empty() => {
            let element = repeated(&constant.tensor)?;
            let scalar = primitives::Constant { tensor: element };
            add(graph, node, nodes, Arc::new(scalar.into()), SmallVec::new())
        }
        (primitive, operands) => {
            let is_elementwise = primitive.kind() == Kind::Elementwise
                && graph.effects(node) == Effects::None
                && graph.elements(node.results[0])? >= MIN_ELEMENTS;
            if !is_elementwise || operands.is_empty() {
                return None;
            }
            let operands = operands.iter().map(|&value| of(graph, value)).collect::<Option<_>>()?;
            let scalar = add(graph, node, nodes, node.primitive.clone(), operands)?;
            let repeat =
                primitives::BroadcastInDim { shape: shape.to_vec(), dimensions: Vec::new() };
            node.primitive = Arc::new(repeat.into());
            node.operands = smallvec![scalar];
            Some(scalar)
        }
    }
}

/// The element that all of a small tensor are, as a scalar.
pub(crate) fn repeated(tensor: &Tensor) -> Option<Tensor> {
    let mut elements = tensor.bytes().chunks_exact(tensor.dtype().bytes());
    let is_small = tensor.num_elements() <= MAX_COMPARED;
    let first = elements.next().filter(|_| is_small)?;
    let are_alike = elements.all(|element| element == first);
    are_alike.then(|| tensor.take(&[0]).and_then(|first| first.into_shape([])).ok()).flatten()
}

/// Adds a node for a scalar of the type of a node's result.
fn add(
    graph: &mut Graph<'_>,
    node: &Node,
    nodes: &mut Vec<Node>,
    primitive: Arc<Primitive>,
    operands: SmallVec<[Value; 2]>,
) -> Option<Value> {
    let ty = ValueType::tensor(graph.dtype(node.results[0])?, &[]);
    let value = graph.value(&Arc::new(ty));
    let results = smallvec![value];
    nodes.push(Node { primitive, operands, results, growth: 0, ops: 0, ..node.clone() });
    Some(value)
}
