//! Data movement as views: which elements of which memory a value is.

use crate::graph::{Graph, Node, Region, Value};
use numerics::shape::{self, StridedView};
use program::Primitive;
use rustc_hash::FxHashMap;

/// At most so many movements are looked through.
const MAX_DEPTH: usize = 8;
/// Memory of at most so many elements is read in any order; other memory line by line, or an
/// element again and again.
const ANY_ORDER: usize = 1 << 12;

/// A value as a view of the memory of another one, or of itself.
#[derive(Debug)]
pub(crate) struct Viewed {
    pub memory: Value,
    /// The elements, in the shape of the value.
    pub view: StridedView,
    /// Number of elements of the memory.
    pub len: usize,
}

/// The nodes of a graph by their results.
pub(crate) struct Definitions<'g> {
    pub graph: &'g Graph<'g>,
    nodes: FxHashMap<Value, &'g Node>,
}

impl<'g> Definitions<'g> {
    pub fn of(graph: &'g Graph<'g>, region: &'g Region) -> Definitions<'g> {
        let mut definitions = Definitions { graph, nodes: FxHashMap::default() };
        definitions.add(region);
        definitions
    }

    fn add(&mut self, region: &'g Region) {
        for node in &region.nodes {
            self.nodes.extend(node.results.first().map(|&value| (value, node)));
            node.regions.iter().for_each(|region| self.add(region));
        }
    }

    /// A value as a view; `None` if its shape is not known.
    pub fn view(&self, value: Value) -> Option<Viewed> {
        let looked_through = self.look_through(value, MAX_DEPTH).filter(|viewed| {
            let runs = shape::Runs::new(&viewed.view, viewed.len);
            runs.is_ok_and(|runs| matches!(runs.stride(), 0 | 1) || viewed.len <= ANY_ORDER)
        });
        looked_through.or_else(|| self.whole(value))
    }

    fn whole(&self, value: Value) -> Option<Viewed> {
        let shape = self.graph.shape(value)?;
        let view = StridedView::dense(&shape).ok()?;
        Some(Viewed { memory: value, view, len: shape::num_elements(&shape)? })
    }

    fn look_through(&self, value: Value, depth: usize) -> Option<Viewed> {
        let Some(&node) = self.nodes.get(&value).filter(|_| depth > 0) else {
            return self.whole(value);
        };
        let operand = || self.look_through(*node.operands.first()?, depth - 1);
        let repeated = || self.whole(*self.graph.repeated.get(&value)?);
        match self.graph.primitive(node) {
            Primitive::Splat { shape, .. } => {
                let viewed = repeated()?;
                Some(Viewed { view: viewed.view.broadcast(shape, &[]).ok()?, ..viewed })
            }
            Primitive::Iota { shape, dimension, .. } => {
                let viewed = repeated()?;
                Some(Viewed { view: viewed.view.broadcast(shape, &[*dimension]).ok()?, ..viewed })
            }
            Primitive::BroadcastInDim { shape, dimensions } => {
                let viewed = operand()?;
                Some(Viewed { view: viewed.view.broadcast(shape, dimensions).ok()?, ..viewed })
            }
            Primitive::Broadcast { sizes } => {
                let viewed = operand()?;
                let shape = [sizes, viewed.view.shape()].concat();
                let dimensions: Vec<usize> = (sizes.len()..shape.len()).collect();
                Some(Viewed { view: viewed.view.broadcast(&shape, &dimensions).ok()?, ..viewed })
            }
            Primitive::Transpose(permutation) => {
                let viewed = operand()?;
                Some(Viewed { view: viewed.view.permute(permutation).ok()?, ..viewed })
            }
            Primitive::Reshape(shape) => {
                let viewed = operand()?;
                let view = match () {
                    () if viewed.view.is_dense() => StridedView::dense(shape).ok()?,
                    () if viewed.view.shape().iter().all(|&size| size == 1) => {
                        StridedView::new(viewed.view.offset(), shape, vec![0; shape.len()]).ok()?
                    }
                    () => return None,
                };
                Some(Viewed { view, ..viewed })
            }
            Primitive::Reverse(dimensions) => {
                let viewed = operand().filter(|viewed| viewed.view.is_dense())?;
                let shape = viewed.view.shape().to_vec();
                let (mut starts, mut steps) = (vec![0; shape.len()], vec![1; shape.len()]);
                for &dimension in dimensions {
                    *starts.get_mut(dimension)? = shape[dimension].saturating_sub(1);
                    steps[dimension] = -1;
                }
                let view = StridedView::window(&shape, &starts, &shape, &steps).ok()?;
                Some(Viewed { view, ..viewed })
            }
            Primitive::Slice { starts, limits, strides } => {
                let viewed = operand()?;
                if !viewed.view.is_dense() {
                    return None;
                }
                let sizes = starts.iter().zip(limits).zip(strides);
                let sizes: Option<Vec<usize>> = sizes
                    .map(|((start, limit), &step)| {
                        Some(limit.checked_sub(*start)?.div_ceil(step.max(1)))
                    })
                    .collect();
                let steps: Option<Vec<isize>> =
                    strides.iter().map(|&step| isize::try_from(step).ok()).collect();
                let shape = viewed.view.shape().to_vec();
                let view = StridedView::window(&shape, starts, &sizes?, &steps?).ok()?;
                Some(Viewed { view, ..viewed })
            }
            _ => self.whole(value),
        }
    }
}

/// True for a primitive without side effects or errors at run time: it is dead if nothing uses its
/// results.
pub(crate) fn is_removable(primitive: &Primitive) -> bool {
    matches!(
        primitive,
        Primitive::Constant(_)
            | Primitive::Splat { .. }
            | Primitive::Iota { .. }
            | Primitive::BroadcastInDim { .. }
            | Primitive::Broadcast { .. }
            | Primitive::Transpose(_)
            | Primitive::Reshape(_)
            | Primitive::Reverse(_)
            | Primitive::Slice { .. }
            | Primitive::Pad { .. }
            | Primitive::Concatenate(_)
            | Primitive::DynamicSlice { .. }
            | Primitive::DynamicUpdateSlice
    )
}
