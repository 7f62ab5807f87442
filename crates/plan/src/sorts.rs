//! Sorts, of which often only the first elements are used.

use crate::graph::{Graph, Node, Region, Value};
use crate::views::Definitions;
use kernels::{Sorted, Sorting, from_end};
use numerics::DType;
use program::Primitive;
use program::primitives;
use rustc_hash::FxHashMap;

/// The sort of a node for one of its results; `None` if its order depends on the comparator.
pub(crate) fn sorting(graph: &Graph<'_>, node: &Node, sorted: Sorted) -> Option<Sorting> {
    let Primitive::Sort(primitives::Sort { dimension, comparator }) = graph.primitive(node) else {
        return None;
    };
    let shape = graph.shape(*node.operands.first()?)?;
    let is_of_shape = |&operand: &Value| graph.shape(operand).as_ref() == Some(&shape);
    let dtypes = node.operands.iter().map(|&operand| graph.dtype(operand));
    let dtypes: Vec<DType> = dtypes.collect::<Option<_>>()?;
    if !node.operands.iter().all(is_of_shape) {
        return None;
    }
    Sorting::new(&dtypes, &shape, *dimension, comparator, sorted, node.limit)
}

/// The operand of a sort at a position as one of which there is a [`sorting`].
pub(crate) fn sorted(definitions: &Definitions<'_>, node: &Node, position: usize) -> Sorted {
    let (graph, operand) = (definitions.graph, node.operands[position]);
    let counting = definitions.node(operand).map(|node| graph.primitive(node));
    let is_counted = match (graph.primitive(node), counting) {
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

/// Makes the slices of the first elements of sorts their results, if nothing uses the others.
pub(crate) fn limit(graph: &Graph<'_>, region: &mut Region) {
    for node in &mut region.nodes {
        node.regions.iter_mut().for_each(|inner| limit(graph, inner));
    }
    let is_sort = |node: &Node| matches!(graph.primitive(node), Primitive::Sort(_));
    let sorts = region.nodes.iter().enumerate().filter(|(_, node)| is_sort(node));
    let sorts: Vec<usize> = sorts.map(|(position, _)| position).collect();
    if sorts.is_empty() {
        return;
    }
    let mut users: FxHashMap<Value, Vec<usize>> = FxHashMap::default();
    for (position, node) in region.nodes.iter().enumerate() {
        node.uses.iter().for_each(|&value| users.entry(value).or_default().push(position));
    }
    for sort in sorts {
        let Some((slices, count)) = slices(graph, region, &users, sort) else { continue };
        for (result, slice) in slices {
            let sliced = std::mem::take(&mut region.nodes[slice].results);
            region.nodes[sort].results[result] = sliced[0];
        }
        region.nodes[sort].limit = Some(count);
    }
}

/// For each result of a sort that is used, the slice that is its only user, and how many elements
/// along the dimension these are, at most half of them.
fn slices(
    graph: &Graph<'_>,
    region: &Region,
    users: &FxHashMap<Value, Vec<usize>>,
    sort: usize,
) -> Option<(Vec<(usize, usize)>, usize)> {
    let node = &region.nodes[sort];
    let Primitive::Sort(primitives::Sort { dimension, .. }) = graph.primitive(node) else {
        return None;
    };
    sorting(graph, node, Sorted::Operand(0))?;
    let shape = graph.shape(node.results[0])?;
    let along = from_end(*dimension, shape.len())?;
    let mut found = None;
    let mut slices = Vec::new();
    for (result, value) in node.results.iter().enumerate() {
        let is_result = region.results.contains(value);
        let slice = match users.get(value).map_or(&[][..], |users| users) {
            [] if !is_result => continue,
            &[slice] if !is_result => slice,
            _ => return None,
        };
        let Primitive::Slice(primitives::Slice { starts, limits, strides }) =
            graph.primitive(&region.nodes[slice])
        else {
            return None;
        };
        let count = *limits.get(along)?;
        let is_first = starts.iter().all(|&start| start == 0)
            && strides.iter().all(|&stride| stride == 1)
            && limits.iter().zip(&shape).enumerate().all(|(d, (a, b))| d == along || a == b);
        if !is_first || count == 0 || count > shape[along] / 2 || found.is_some_and(|n| n != count)
        {
            return None;
        }
        found = Some(count);
        slices.push((result, slice));
    }
    Some((slices, found?))
}
