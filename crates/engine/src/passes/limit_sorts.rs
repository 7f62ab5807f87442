//! Lets sorts give the first elements along their dimension alone, where nothing uses the others.

use crate::graph::{Graph, Node, Region, Value};
use crate::lower::sorts::sorting;
use crate::passes::retain;
use kernels::{Sorted, from_end};
use program::{Effects, Primitive, primitives};
use rustc_hash::FxHashMap;
use std::sync::Arc;

pub(crate) fn run(graph: &mut Graph<'_>, body: &mut Region) {
    limit(graph, body);
}

/// Makes the slices of the first elements of sorts their results, if nothing uses the others.
fn limit(graph: &Graph<'_>, region: &mut Region) {
    for node in &mut region.nodes {
        node.regions.iter_mut().for_each(|inner| limit(graph, inner));
    }
    let is_sort = |node: &Node| matches!(*node.primitive, Primitive::Sort(_));
    let sorts = region.nodes.iter().enumerate().filter(|(_, node)| is_sort(node));
    let sorts: Vec<usize> = sorts.map(|(position, _)| position).collect();
    if sorts.is_empty() {
        return;
    }
    let mut users: FxHashMap<Value, Vec<usize>> = FxHashMap::default();
    for (position, node) in region.nodes.iter().enumerate() {
        node.uses().into_iter().for_each(|value| users.entry(value).or_default().push(position));
    }
    for sort in sorts {
        let Some((slices, count)) = slices(graph, region, &users, sort) else { continue };
        for (result, slice) in slices {
            let sliced = std::mem::take(&mut region.nodes[slice].results);
            region.nodes[sort].results[result] = sliced[0];
        }
        let node = &mut region.nodes[sort];
        if let Primitive::Sort(sort) = &*node.primitive {
            let limited = primitives::Sort { limit: Some(count), ..sort.clone() };
            node.primitive = Arc::new(limited.into());
        }
    }
    retain(region, |node| !node.results.is_empty() || graph.effects(node) != Effects::None);
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
    let Primitive::Sort(primitives::Sort { dimension, .. }) = &*node.primitive else {
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
            &*region.nodes[slice].primitive
        else {
            return None;
        };
        let count = *limits.get(along)?;
        let is_first = starts.iter().all(|&start| start == 0)
            && strides.iter().all(|&stride| stride == 1)
            && limits.iter().zip(&shape).enumerate().all(|(d, (a, b))| d == along || a == b);
        // Only results of static types are prepared.
        let sliced = graph.shape(*region.nodes[slice].results.first()?);
        let is_static = sliced.as_deref() == Some(&limits[..]);
        if !is_first
            || !is_static
            || count == 0
            || count > shape[along] / 2
            || found.is_some_and(|n| n != count)
        {
            return None;
        }
        found = Some(count);
        slices.push((result, slice));
    }
    Some((slices, found?))
}
