//! Sorts, of which often only the first elements are used.

use crate::graph::{Graph, Node, Value};
use crate::lower::views::Definitions;
use kernels::{Sorted, Sorting, from_end};
use numerics::DType;
use program::Primitive;
use program::primitives;

/// The sort of a node for one of its results; `None` if its order depends on the comparator.
pub(crate) fn sorting(graph: &Graph<'_>, node: &Node, sorted: Sorted) -> Option<Sorting> {
    let Primitive::Sort(primitives::Sort { dimension, comparator, limit }) = &*node.primitive
    else {
        return None;
    };
    let shape = graph.shape(*node.operands.first()?)?;
    let is_of_shape = |&operand: &Value| graph.shape(operand).as_ref() == Some(&shape);
    let dtypes = node.operands.iter().map(|&operand| graph.dtype(operand));
    let dtypes: Vec<DType> = dtypes.collect::<Option<_>>()?;
    if !node.operands.iter().all(is_of_shape) {
        return None;
    }
    Sorting::new(&dtypes, &shape, *dimension, comparator, &[sorted], *limit)
}

/// The operand of a sort at a position as one of which there is a [`sorting`].
pub(crate) fn sorted(definitions: &Definitions<'_>, node: &Node, position: usize) -> Sorted {
    let counting = definitions.node(node.operands[position]).map(|node| &*node.primitive);
    let is_counted = match (&*node.primitive, counting) {
        (
            Primitive::Sort(primitives::Sort { dimension, .. }),
            Some(Primitive::Iota(primitives::Iota {
                dtype: DType::I32,
                shape,
                dimension: counted,
            })),
        ) => {
            from_end(*dimension, shape.len()) == Some(*counted)
                && shape.get(*counted).is_some_and(|&size| i32::try_from(size).is_ok())
        }
        _ => false,
    };
    if is_counted { Sorted::Indices } else { Sorted::Operand(position) }
}
