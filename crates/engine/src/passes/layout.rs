//! Lets convolutions write their results with the channels last, and what follows compute with
//! these.
//!
//! Convolutions with the channels last take bias, activation and residual along, and read whole
//! vectors. Kernels read any order of dimensions, so that the first convolution of a chain needs no
//! transpose, and neither does the last if a reduction follows. Sums are defined by indices and not
//! by the order in memory: no bit changes.

use crate::graph::{Graph, Node, Region, Value};
use crate::passes::fold;
use numerics::shape::Sizes;
use program::primitives::ConvDims;
use program::{Primitive, ValueType, Window, WindowDim, primitives};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// The transposes that are added move at most one of this many elements of the results of
/// convolutions that change, or the region stays as it is.
const MIN_SAVED: usize = 2;

pub(crate) fn run(graph: &mut Graph<'_>, body: &mut Region) {
    let is_candidate = |node: &Node| match &*node.primitive {
        Primitive::Convolution(convolution) => channels_last(&convolution.dims).is_some(),
        _ => false,
    };
    if body.nodes.iter().any(is_candidate) {
        let nodes = body.nodes.clone();
        let mut layout = Layout::new(graph);
        layout.region(body);
        if layout.transposed.saturating_mul(MIN_SAVED) > layout.convolved {
            body.nodes = nodes;
        }
    }
    for region in body.nodes.iter_mut().flat_map(|node| &mut node.regions) {
        run(graph, region);
    }
}

/// The dimension of a value that each dimension of its transpose is.
type Permutation = SmallVec<[usize; 6]>;

/// A value that is computed in another order of dimensions.
#[derive(Clone)]
struct Laid {
    /// The transpose.
    value: Value,
    permutation: Permutation,
}

impl Laid {
    /// The dimension of the transpose that a dimension of the value is.
    fn position(&self, dimension: usize) -> Option<usize> {
        self.permutation.iter().position(|&d| d == dimension)
    }
}

struct Layout<'g, 'c> {
    graph: &'g mut Graph<'c>,
    /// Values that are computed as a transpose, and whether they are computed as they are, too.
    laid: FxHashMap<Value, (Laid, bool)>,
    /// The nodes of [`repeats`], by their results.
    repeated: FxHashMap<Value, Node>,
    /// The new nodes.
    nodes: Vec<Node>,
    /// The number of elements that transposes move.
    transposed: usize,
    /// The number of elements of the results of convolutions that are laid out.
    convolved: usize,
}

impl<'g, 'c> Layout<'g, 'c> {
    fn new(graph: &'g mut Graph<'c>) -> Layout<'g, 'c> {
        Layout {
            graph,
            laid: FxHashMap::default(),
            repeated: FxHashMap::default(),
            nodes: Vec::new(),
            transposed: 0,
            convolved: 0,
        }
    }

    fn region(&mut self, region: &mut Region) {
        for node in std::mem::take(&mut region.nodes) {
            if self.rewritten(&node).is_some() {
                continue;
            }
            node.uses().into_iter().for_each(|value| self.transpose_back(value, &node));
            if let (&[result], true) = (&node.results[..], repeats(&node.primitive)) {
                self.repeated.insert(result, node.clone());
            }
            self.nodes.push(node);
        }
        if let Some(last) = self.nodes.last().cloned() {
            region.results.iter().for_each(|&value| self.transpose_back(value, &last));
        }
        region.nodes = std::mem::take(&mut self.nodes);
    }

    /// Adds the node of a value that is computed as a transpose alone. Errors, of which there are
    /// none, would be those of `user`.
    fn transpose_back(&mut self, value: Value, user: &Node) {
        let Some((laid, is_known)) = self.laid.get_mut(&value) else { return };
        if std::mem::replace(is_known, true) {
            return;
        }
        let permutation = (0..laid.permutation.len()).filter_map(|d| laid.position(d)).collect();
        let operand = laid.value;
        self.transposed = self.transposed.saturating_add(self.graph.elements(value).unwrap_or(0));
        self.add(
            user,
            Primitive::from(primitives::Transpose { permutation }),
            &[operand],
            &[value],
            0,
        );
    }

    /// Adds the node on transposes in place of the node; `None` if it stays.
    fn rewritten(&mut self, node: &Node) -> Option<()> {
        match &*node.primitive {
            Primitive::Convolution(convolution) => self.convolution(node, convolution),
            Primitive::Unary(_)
            | Primitive::Binary(_)
            | Primitive::Compare(_)
            | Primitive::Convert(_)
            | Primitive::ReducePrecision(_)
            | Primitive::Select
            | Primitive::Clamp => self.elementwise(node, node.primitive.clone()),
            Primitive::BatchNorm(op) => {
                let laid = self.laid.get(node.operands.first()?)?.0.clone();
                let feature_index = laid.position(op.feature_index)?;
                let (kind, epsilon) = (op.kind, op.epsilon);
                let primitive = primitives::BatchNorm { kind, epsilon, feature_index };
                self.elementwise(node, Arc::new(primitive.into()))
            }
            Primitive::Transpose(transpose) => self.transpose(node, transpose),
            Primitive::Reduce(reduce) => self.reduce(node, reduce),
            Primitive::ReduceWindow(reduce) => self.reduce_window(node, reduce),
            Primitive::SelectAndScatter(scatter) => self.select_and_scatter(node, scatter),
            Primitive::Pad(pad) => self.pad(node, pad),
            Primitive::Concatenate(concatenate) => {
                let laid = self.laid.get(node.operands.first()?)?.0.clone();
                let dimension = laid.position(concatenate.dimension)?;
                self.elementwise(node, Arc::new(primitives::Concatenate { dimension }.into()))
            }
            _ => None,
        }
    }

    /// Adds a node that stands for `ops` ops, for another one.
    fn add(
        &mut self,
        node: &Node,
        primitive: impl Into<Arc<Primitive>>,
        operands: &[Value],
        results: &[Value],
        ops: u32,
    ) {
        self.nodes.push(Node {
            primitive: primitive.into(),
            operands: operands.into(),
            results: results.into(),
            regions: Vec::new(),
            captures: Vec::new(),
            ops,
            ..*node
        });
    }

    /// A new value for the transpose of another one.
    fn lay_out(&mut self, value: Value, permutation: &Permutation) -> Option<Value> {
        let shape = permuted(&self.graph.shape(value)?, permutation)?;
        let ty = ValueType::tensor(self.graph.dtype(value)?, &shape);
        let new = self.graph.value(&Arc::new(ty));
        let laid = Laid { value: new, permutation: permutation.clone() };
        self.laid.insert(value, (laid, false));
        Some(new)
    }

    fn convolution(&mut self, node: &Node, convolution: &primitives::Convolution) -> Option<()> {
        let (&[input, kernel], &[result]) = (&node.operands[..], &node.results[..]) else {
            return None;
        };
        let [laid_input, laid_kernel] =
            [input, kernel].map(|value| self.laid.get(&value).map(|(laid, _)| laid.clone()));
        let permutation = channels_last(&convolution.dims);
        if laid_input.is_none() && laid_kernel.is_none() && permutation.is_none() {
            return None;
        }
        let mut new = convolution.clone();
        let dims = &mut new.dims;
        if let Some(laid) = &laid_input {
            let spatial = dims.input_spatial_dimensions.iter_mut();
            let others = [&mut dims.input_batch_dimension, &mut dims.input_feature_dimension];
            move_dimensions(spatial.chain(others), &laid.permutation)?;
        }
        if let Some(laid) = &laid_kernel {
            let spatial = dims.kernel_spatial_dimensions.iter_mut();
            let (input, output) = (
                &mut dims.kernel_input_feature_dimension,
                &mut dims.kernel_output_feature_dimension,
            );
            move_dimensions(spatial.chain([input, output]), &laid.permutation)?;
        }
        let operands = [
            laid_input.map_or(input, |laid| laid.value),
            laid_kernel.map_or(kernel, |laid| laid.value),
        ];
        let mut out = result;
        if let Some(permutation) = permutation {
            let spatial = dims.output_spatial_dimensions.iter_mut();
            let others = [&mut dims.output_batch_dimension, &mut dims.output_feature_dimension];
            move_dimensions(spatial.chain(others), &permutation)?;
            let elements = self.graph.elements(result)?;
            out = self.lay_out(result, &permutation)?;
            self.convolved = self.convolved.saturating_add(elements);
        }
        self.add(node, Primitive::from(new), &operands, &[out], node.ops);
        Some(())
    }

    /// Adds a node whose operands and results of the shape of the first laid out operand are
    /// transposed alike, if all of these operands are laid out or repeat elements.
    fn elementwise(&mut self, node: &Node, primitive: Arc<Primitive>) -> Option<()> {
        let first = node.operands.iter().find_map(|value| self.laid.get(value))?.0.clone();
        let rank = first.permutation.len();
        let has_rank = |graph: &Graph<'_>, value: Value| Some(graph.shape(value)?.len() == rank);
        for &value in &node.operands {
            let is_known = match self.laid.get(&value) {
                Some((laid, _)) => laid.permutation == first.permutation,
                None => !has_rank(self.graph, value)? || self.repeated.contains_key(&value),
            };
            if !is_known {
                return None;
            }
        }
        node.results.iter().try_for_each(|&value| has_rank(self.graph, value).map(|_| ()))?;
        let operands = node.operands.iter().map(|&value| match self.laid.get(&value) {
            Some((laid, _)) => Some(laid.value),
            None if has_rank(self.graph, value)? => self.repeat(value, &first.permutation),
            None => Some(value),
        });
        let operands: Vec<Value> = operands.collect::<Option<_>>()?;
        let results = node.results.iter().map(|&value| match has_rank(self.graph, value)? {
            true => self.lay_out(value, &first.permutation),
            false => Some(value),
        });
        let results: Vec<Value> = results.collect::<Option<_>>()?;
        self.add(node, primitive, &operands, &results, node.ops);
        Some(())
    }

    /// The transpose of a value of [`repeats`].
    fn repeat(&mut self, value: Value, permutation: &Permutation) -> Option<Value> {
        let node = self.repeated.get(&value)?.clone();
        let shape = permuted(&self.graph.shape(value)?, permutation)?.to_vec();
        let mut operands = node.operands.clone();
        let primitive: Primitive = match &*node.primitive {
            Primitive::Constant(_) => {
                operands.push(value);
                primitives::Transpose { permutation: permutation.to_vec() }.into()
            }
            Primitive::Splat(splat) => {
                primitives::Splat { element: splat.element.clone(), shape }.into()
            }
            Primitive::BroadcastInDim(broadcast) => {
                let position = |&d: &usize| permutation.iter().position(|&p| p == d);
                let dimensions = broadcast.dimensions.iter().map(position);
                let dimensions = dimensions.collect::<Option<_>>()?;
                primitives::BroadcastInDim { shape, dimensions }.into()
            }
            _ => return None,
        };
        let new = self.lay_out(value, permutation)?;
        // The value itself is there.
        if let Some((_, is_known)) = self.laid.get_mut(&value) {
            *is_known = true;
        }
        self.add(&node, primitive, &operands, &[new], 0);
        Some(new)
    }

    fn transpose(&mut self, node: &Node, transpose: &primitives::Transpose) -> Option<()> {
        let laid = self.laid.get(node.operands.first()?)?.0.clone();
        let permutation = transpose.permutation.iter().map(|&d| laid.position(d));
        let permutation = permutation.collect::<Option<_>>()?;
        let transpose = primitives::Transpose { permutation };
        self.add(node, Primitive::from(transpose), &[laid.value], &node.results, node.ops);
        Some(())
    }

    fn reduce(&mut self, node: &Node, reduce: &primitives::Reduce) -> Option<()> {
        let &[input, init] = &node.operands[..] else { return None };
        let laid = self.laid.get(&input)?.0.clone();
        // The elements of a sum, and the sums, stay in their order.
        let (reduced, kept): (Vec<usize>, Vec<usize>) =
            laid.permutation.iter().partition(|d| reduce.dimensions.contains(d));
        if !reduced.is_sorted() || !kept.is_sorted() {
            return None;
        }
        let dimensions = reduced.iter().map(|&d| laid.position(d)).collect::<Option<_>>()?;
        let reduce = primitives::Reduce { dimensions, body: reduce.body.clone() };
        self.add(node, Primitive::from(reduce), &[laid.value, init], &node.results, node.ops);
        Some(())
    }

    fn reduce_window(&mut self, node: &Node, reduce: &primitives::ReduceWindow) -> Option<()> {
        let (&[input, init], &[result]) = (&node.operands[..], &node.results[..]) else {
            return None;
        };
        let laid = self.laid.get(&input)?.0.clone();
        let window = Some(moved_window(reduce.window.as_ref()?, &laid.permutation)?);
        let result = self.lay_out(result, &laid.permutation)?;
        let reduce = primitives::ReduceWindow { window, ..reduce.clone() };
        self.add(node, Primitive::from(reduce), &[laid.value, init], &[result], node.ops);
        Some(())
    }

    fn select_and_scatter(
        &mut self,
        node: &Node,
        scatter: &primitives::SelectAndScatter,
    ) -> Option<()> {
        let (&[input, source, init], &[result]) = (&node.operands[..], &node.results[..]) else {
            return None;
        };
        let [input, source] = [input, source].map(|value| Some(self.laid.get(&value)?.0.clone()));
        let (input, source) = input.zip(source)?;
        let window = moved_window(&scatter.window, &input.permutation)?;
        if input.permutation != source.permutation {
            return None;
        }
        let result = self.lay_out(result, &input.permutation)?;
        let scatter = primitives::SelectAndScatter { window, ..scatter.clone() };
        let operands = [input.value, source.value, init];
        self.add(node, Primitive::from(scatter), &operands, &[result], node.ops);
        Some(())
    }

    fn pad(&mut self, node: &Node, pad: &primitives::Pad) -> Option<()> {
        let (&[input, value], &[result]) = (&node.operands[..], &node.results[..]) else {
            return None;
        };
        let laid = self.laid.get(&input)?.0.clone();
        let moved = |counts: &[i64]| {
            let counts = laid.permutation.iter().map(|&d| counts.get(d).copied());
            counts.collect::<Option<Vec<i64>>>()
        };
        let (low, high, interior) = (moved(&pad.low)?, moved(&pad.high)?, moved(&pad.interior)?);
        let result = self.lay_out(result, &laid.permutation)?;
        let pad = primitives::Pad { low, high, interior };
        self.add(node, Primitive::from(pad), &[laid.value, value], &[result], node.ops);
        Some(())
    }
}

/// True for primitives that repeat few elements, and for constants whose transposes are folded.
fn repeats(primitive: &Primitive) -> bool {
    match primitive {
        Primitive::Splat(_) | Primitive::BroadcastInDim(_) => true,
        Primitive::Constant(constant) => constant.tensor.bytes().len() <= fold::MAX_BYTES,
        _ => false,
    }
}

/// The permutation that puts the channels of a result last; `None` if they are, if its dimensions
/// have another order than those of the input, or if the channels come before the batch: gradients
/// by the kernel have these in its place.
fn channels_last(dims: &ConvDims) -> Option<Permutation> {
    let is_alike = dims.input_batch_dimension == dims.output_batch_dimension
        && dims.input_feature_dimension == dims.output_feature_dimension
        && dims.input_spatial_dimensions == dims.output_spatial_dimensions
        && dims.output_batch_dimension < dims.output_feature_dimension;
    let spatial = dims.output_spatial_dimensions.iter();
    let all = [&dims.output_batch_dimension].into_iter().chain(spatial);
    let all = all.chain([&dims.output_feature_dimension]);
    let permutation = all.map(|&d| usize::try_from(d).ok()).collect::<Option<Permutation>>()?;
    (is_alike && !permutation.is_sorted()).then_some(permutation)
}

/// A window over a transpose, if its elements stay in their order.
fn moved_window(window: &[WindowDim], permutation: &Permutation) -> Option<Window> {
    let is_long = |&&d: &&usize| window.get(d).is_some_and(|dim| dim.size != 1);
    if !permutation.iter().filter(is_long).is_sorted() {
        return None;
    }
    permutation.iter().map(|&d| window.get(d).copied()).collect()
}

/// Replaces dimensions by those of the transpose.
fn move_dimensions<'a>(
    dimensions: impl Iterator<Item = &'a mut i64>,
    permutation: &Permutation,
) -> Option<()> {
    for dimension in dimensions {
        let position = permutation.iter().position(|&d| i64::try_from(d) == Ok(*dimension))?;
        *dimension = i64::try_from(position).ok()?;
    }
    Some(())
}

fn permuted(shape: &Sizes, permutation: &Permutation) -> Option<Sizes> {
    permutation.iter().map(|&d| shape.get(d).copied()).collect()
}
