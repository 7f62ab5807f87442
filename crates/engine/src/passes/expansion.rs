//! The nodes that replace another one.

use crate::graph::{Graph, Node, Value};
use numerics::{DType, Tensor};
use program::{Primitive, ValueType};
use std::sync::Arc;

/// Nodes for the op of a node, which they replace.
pub(crate) struct Expansion<'e, 'c> {
    pub graph: &'e mut Graph<'c>,
    pub node: &'e Node,
    pub nodes: Vec<Node>,
}

impl Expansion<'_, '_> {
    /// Adds a node for a new value.
    pub(crate) fn add(
        &mut self,
        primitive: Primitive,
        operands: &[Value],
        dtype: DType,
        shape: &[usize],
    ) -> Value {
        let value = self.graph.value(&Arc::new(ValueType::tensor(dtype, shape)));
        self.nodes.push(self.node.replacement(primitive, operands, value));
        value
    }

    /// A value that is a constant.
    pub(crate) fn constant(&mut self, tensor: Tensor) -> Value {
        let ty = Arc::new(ValueType::tensor(tensor.dtype(), tensor.shape()));
        let value = self.graph.value(&ty);
        self.graph.constants.insert(value, tensor);
        value
    }

    /// The nodes, with one more for the result of the node, which counts as its op.
    pub(crate) fn finish(mut self, primitive: Primitive, operands: &[Value]) -> Vec<Node> {
        let last = self.node.replacement(primitive, operands, self.node.results[0]);
        self.nodes.push(Node { ops: self.node.ops, ..last });
        self.nodes
    }
}
