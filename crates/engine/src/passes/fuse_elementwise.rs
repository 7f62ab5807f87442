//! Fuses elementwise work: puts nodes of a region into groups, each of which becomes a loop.
//!
//! A group runs where its last member stood. A node joins the group of one of its users if all its
//! other users run after that group, and groups that read the same values become one under the same
//! condition; so whatever the groups, each value is computed before it is used.

use crate::graph::{Graph, Node, Region, Value};
use crate::lower::outer::is_outer_product;
use crate::lower::unrolled::UnrolledReduction;
use crate::passes::assign_storage::is_small;
use numerics::DType;
use numerics::math::SliceKernel;
use program::Primitive;
use program::primitives;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// With more members, tiles of values that wait for machine code or have none would be too short.
const MAX_MEMBERS: usize = 128;
/// The number of users of a value that are candidates for a group to merge with.
const LOOKED_AT: usize = 32;

pub(crate) fn run(graph: &mut Graph<'_>, body: &mut Region) {
    group(graph, body);
}

/// Groups the nodes of a region and of nested regions.
fn group(graph: &Graph<'_>, region: &mut Region) {
    let groups = find(graph, region);
    for (node, root) in region.nodes.iter_mut().zip(groups.root) {
        node.group = root;
        node.regions.iter_mut().for_each(|inner| group(graph, inner));
    }
}

/// The groups of a region.
pub(crate) struct Groups {
    /// For each node that is in a group: the position of the group's last member.
    pub root: Vec<Option<usize>>,
    /// The members of each group by its last one, in order.
    pub members: FxHashMap<usize, Vec<usize>>,
}

/// Finds the groups of the nodes of a region.
fn find(graph: &Graph<'_>, region: &Region) -> Groups {
    let nodes = &region.nodes;
    let users = users(region);
    let mut groups = Groups { root: vec![None; nodes.len()], members: FxHashMap::default() };
    for position in (0..nodes.len()).rev() {
        let node = &nodes[position];
        let Some(count) = fusable(graph, node) else { continue };
        let users = users.get(&node.results[0]).map_or(&[][..], |users| &users[..]);
        let joins = |&root: &usize| {
            graph.elements(nodes[root].results[0]) == Some(count)
                && groups.members[&root].len() < MAX_MEMBERS
                && users.iter().all(|&user| groups.runs_at(user) >= root)
                && !users.iter().any(|&user| {
                    groups.runs_at(user) == root && is_outer_product(graph, &nodes[user])
                })
        };
        let root = users.iter().filter_map(|&user| groups.root_of(user)).min();
        let root = root.filter(joins).unwrap_or(position);
        groups.root[position] = Some(root);
        groups.members.entry(root).or_default().push(position);
    }
    groups.members.values_mut().for_each(|members| members.reverse());
    groups.merge(graph, nodes, &users);
    groups
}

impl Groups {
    /// The groups that the pass has found.
    pub(crate) fn of(region: &Region) -> Groups {
        let root = region.nodes.iter().map(|node| node.group).collect::<Vec<_>>();
        let mut members: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for (position, &root) in root.iter().enumerate() {
            if let Some(root) = root {
                members.entry(root).or_default().push(position);
            }
        }
        Groups { root, members }
    }

    /// The last member of the group of a node.
    fn root_of(&self, position: usize) -> Option<usize> {
        self.root.get(position).copied().flatten()
    }

    /// Where a node runs, alone or in its group.
    fn runs_at(&self, position: usize) -> usize {
        self.root_of(position).unwrap_or(position)
    }

    /// Merges each group with a later one that reads the same large values, or its results, if all
    /// else that uses its results runs after that.
    fn merge(&mut self, graph: &Graph<'_>, nodes: &[Node], users: &Users) {
        let mut roots: Vec<usize> = self.members.keys().copied().collect();
        roots.sort_unstable();
        for root in roots.into_iter().rev() {
            let Some(into) = self.neighbour(graph, nodes, users, root) else { continue };
            let mut members = self.members.remove(&root).unwrap_or_default();
            for &member in &members {
                self.root[member] = Some(into);
            }
            let others = self.members.entry(into).or_default();
            members.append(others);
            members.sort_unstable();
            *others = members;
        }
    }

    /// The group that the one of `root` is merged with.
    fn neighbour(
        &self,
        graph: &Graph<'_>,
        nodes: &[Node],
        users: &Users,
        root: usize,
    ) -> Option<usize> {
        let members = self.members.get(&root)?;
        let result = nodes[root].results[0];
        if is_small(&graph.types[result as usize]) {
            return None;
        }
        let count = graph.elements(result);
        let is_as_long = |value: Value| graph.elements(value) == count;
        let users_of = |value: &Value| users.get(value).map_or(&[][..], |users| &users[..]);
        let results = || members.iter().map(|&member| &nodes[member].results[0]);
        let read = members.iter().flat_map(|&member| &nodes[member].operands).chain(results());
        let readers = read.filter(|&&value| is_as_long(value)).flat_map(|value| {
            let users = users_of(value);
            users[users.partition_point(|&user| user < members[0])..].iter().take(LOOKED_AT)
        });
        let others = readers.filter_map(|&user| self.root_of(user)).filter(|&other| other > root);
        let into = others.filter(|&other| is_as_long(nodes[other].results[0])).min()?;
        let fits = members.len() + self.members[&into].len() <= MAX_MEMBERS;
        let follows = |&user: &usize| match self.runs_at(user) {
            at if at == into => !is_outer_product(graph, &nodes[user]),
            at => at == root || at > into,
        };
        (fits && results().flat_map(users_of).all(follows)).then_some(into)
    }
}

/// The positions that use each value, in order.
type Users = FxHashMap<Value, SmallVec<[usize; 2]>>;

/// The users of values; the results of the region come after all nodes.
fn users(region: &Region) -> Users {
    let mut users = Users::default();
    for (position, node) in region.nodes.iter().enumerate() {
        for value in node.uses() {
            users.entry(value).or_default().push(position);
        }
    }
    for &value in &region.results {
        users.entry(value).or_default().push(region.nodes.len());
    }
    users
}

/// The number of elements over which a node can be a part of a loop.
fn fusable(graph: &Graph<'_>, node: &Node) -> Option<usize> {
    let [result] = node.results[..] else { return None };
    if graph.constants.contains_key(&result) {
        return None;
    }
    if let Some(short) = UnrolledReduction::of(graph, node) {
        return Some(short.reduction.results());
    }
    let count = graph.elements(result).filter(|&count| count > 0)?;
    let fits = |&operand: &Value| graph.elements(operand).is_some_and(|n| n == count || n == 1);
    if !node.operands.iter().all(fits) && !is_outer_product(graph, node) {
        return None;
    }
    match &*node.primitive {
        Primitive::Reshape(_) => Some(count),
        _ => kernels(graph, node).map(|_| count),
    }
}

/// The loops that make up an elementwise node, with the numbers of their operands: first the
/// operands of the node, then the results of loops before.
pub(crate) type Kernels = SmallVec<[(&'static str, SliceKernel, SmallVec<[usize; 3]>); 2]>;

/// The loops of an elementwise node; `None` if it is none, or has no kernel.
pub(crate) fn kernels(graph: &Graph<'_>, node: &Node) -> Option<Kernels> {
    let dtypes = node.operands.iter().map(|&operand| graph.dtype(operand));
    let dtypes: SmallVec<[DType; 3]> = dtypes.collect::<Option<_>>()?;
    let of = |name, kernel| {
        let operands = (0..dtypes.len()).collect();
        Kernels::from_iter([(name, kernel, operands)])
    };
    let kernels = match (&*node.primitive, &dtypes[..]) {
        (Primitive::Unary(op), &[x]) => of(op.name(), SliceKernel::unary(*op, x)?),
        (Primitive::Binary(op), &[x, y]) if x == y => of(op.name(), SliceKernel::binary(*op, x)?),
        (Primitive::Compare(c), &[x, y]) if x == y && c.read_as.is_none() => {
            of("compare", SliceKernel::compare(c.direction, c.total_order, x))
        }
        (Primitive::Dot(_), &[x, y]) if x == y && is_outer_product(graph, node) => {
            of("dot_general", SliceKernel::product(x)?)
        }
        (Primitive::Select, &[_, x, y]) if x == y => of("select", SliceKernel::select(x)),
        (Primitive::Convert(primitives::Convert { dtype }), &[x]) => {
            of("convert", SliceKernel::convert(x, *dtype)?)
        }
        (Primitive::Bitcast(primitives::Bitcast { dtype }), &[x]) => {
            of("bitcast_convert", SliceKernel::bitcast(x, *dtype)?)
        }
        (
            Primitive::ReducePrecision(primitives::ReducePrecision {
                exponent_bits,
                mantissa_bits,
            }),
            &[x],
        ) => {
            let kernel = SliceKernel::reduce_precision(x, *exponent_bits, *mantissa_bits)?;
            of("reduce_precision", kernel)
        }
        (Primitive::Clamp, &[min, x, max]) if min == x && max == x => {
            let [raise, lower] = numerics::math::CLAMP;
            Kernels::from_iter([
                (raise.name(), SliceKernel::binary(raise, x)?, SmallVec::from_slice(&[1, 0])),
                (lower.name(), SliceKernel::binary(lower, x)?, SmallVec::from_slice(&[3, 2])),
            ])
        }
        _ => return None,
    };
    let dtype = graph.dtype(*node.results.first()?)?;
    (kernels.last()?.1.result() == dtype).then_some(kernels)
}
