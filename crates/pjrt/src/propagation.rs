//! Propagation of shardings through a program, to results whose sharding it leaves open.
//!
//! Dimensions of operands and results that are split alike are a factor (`factors.rs`). The longest
//! list of axes of a factor's dimensions goes to the others, first through ops that keep shapes,
//! then through all, until nothing changes. Programs run on whole tensors, so that this decides
//! which device has which part of a result, and nothing else.
//!
//! Source: Shardy, "Propagation"; its order of conflicts is followed where programs of JAX show it.

use crate::factors::{ShardingFactors, operation};
use stablo::dialects::func::{CallOp, FuncOp};
use stablo::dialects::sdy::{self, ManualComputationOp, NamedComputationOp};
use stablo::dialects::stablehlo::{CaseOp, IfOp, WhileOp};
use stablo::ir::{BlockId, OpRef, RegionId, Value};
use stablo::{Attribute, Module};
use std::collections::HashMap;

/// The maximum number of values that are looked at: the others stay open.
const MAX_VALUES: usize = 1 << 20;
/// The maximum number of ops that are looked at. Ops of functions count for each call: functions
/// that each call the next one twice have 2^n of them.
const MAX_OPS: usize = 1 << 18;
/// The maximum nesting of calls that are followed.
const MAX_CALLS: usize = 32;
/// The maximum number of values that are looked at for axes outside of dimensions.
const MAX_SOURCES: usize = 256;
/// The maximum number of rounds until nothing changes.
const MAX_ROUNDS: usize = 64;

/// A dimension of a value.
struct Dim {
    size: usize,
    /// The axes of the mesh that split it, as `#sdy.axis_ref`.
    axes: Vec<Attribute>,
    is_closed: bool,
}

/// A value at one place of the program; the body of a function is one for each call.
struct Node {
    /// The mesh of its sharding, or its name.
    mesh: Option<Attribute>,
    dims: Vec<Dim>,
    /// The sharding that the program states.
    stated: Option<Attribute>,
    /// Values that this one is made of element by element, whose axes outside of dimensions, such
    /// as unreduced ones, are its own.
    sources: Vec<usize>,
    /// The number of the list of axes that may not split it, as the computation that it is in is
    /// one of single devices along them.
    manual: usize,
}

/// The values of a program with the shardings that are known.
pub(crate) struct Propagation<'m> {
    module: &'m Module,
    /// The function that runs.
    entry: OpRef<'m>,
    nodes: Vec<Node>,
    numbers: HashMap<(usize, Value), usize>,
    factors: ShardingFactors,
    meshes: HashMap<Attribute, Option<sdy::Mesh>>,
    /// The first value of each sharding group.
    groups: HashMap<i64, usize>,
    num_calls: usize,
    num_ops: usize,
    /// The axes of manual computations, with the axes of enclosing ones, by numbers; empty at 0.
    manual_axes: Vec<Vec<String>>,
    /// The number for the computation whose ops are added.
    manual: usize,
}

/// For each result of a function, the sharding that propagation gives it, an `#sdy.sharding`.
pub(crate) fn result_shardings<'m>(
    module: &'m Module,
    function: OpRef<'m>,
) -> Vec<Option<Attribute>> {
    let (all, results) = Propagation::of(module, function);
    results.iter().map(|&node| all.even_sharding(node)).collect()
}

/// For each value, the sharding that propagation gives it in a function and what that calls; of
/// several calls, in the first.
pub(crate) fn value_shardings<'m>(
    module: &'m Module,
    function: OpRef<'m>,
    values: &[Value],
) -> Vec<Option<Attribute>> {
    all_shardings(module, function, values).0
}

/// The shardings of [`value_shardings`] and of [`result_shardings`].
pub(crate) fn all_shardings<'m>(
    module: &'m Module,
    function: OpRef<'m>,
    values: &[Value],
) -> (Vec<Option<Attribute>>, Vec<Option<Attribute>>) {
    let (all, results) = Propagation::of(module, function);
    let mut nodes: HashMap<Value, (usize, usize)> = HashMap::new();
    for (&(call, value), &node) in &all.numbers {
        let first = nodes.entry(value).or_insert((call, node));
        *first = (*first).min((call, node));
    }
    let of_values = values.iter().map(|value| all.sharding(nodes.get(value)?.1)).collect();
    (of_values, results.iter().map(|&node| all.even_sharding(node)).collect())
}

/// The name of an axis, and the size of its part if it is one.
fn axis(attribute: &Attribute) -> Option<(&str, Option<usize>)> {
    let params = attribute.as_dialect(&sdy::AXIS_REF)?;
    let name = params.first()?.as_ref()?.as_str()?;
    let part = params.get(1).and_then(Option::as_ref);
    let part = part.and_then(|part| part.as_dialect(&sdy::SUB_AXIS_INFO));
    let size = part.and_then(|part| usize::try_from(part.get(1)?.as_ref()?.as_i64()?).ok());
    Some((name, size))
}

/// The axes of each dimension of a sharding, and if they are all that split it.
pub(crate) fn stated_dims(sharding: &Attribute) -> Vec<(&[Attribute], bool)> {
    let params = sharding.as_dialect(&sdy::SHARDING);
    let dims = params.and_then(|params| params.get(1)?.as_ref()?.as_array());
    fn dim(stated: &Attribute) -> Option<(&[Attribute], bool)> {
        let params = stated.as_dialect(&sdy::DIMENSION_SHARDING)?;
        let axes = params.first().and_then(|axes| axes.as_ref()?.as_array());
        let is_closed = params.get(1).and_then(|closed| closed.as_ref()?.as_bool());
        Some((axes.unwrap_or(&[]), is_closed.unwrap_or(true)))
    }
    dims.unwrap_or(&[]).iter().filter_map(dim).collect()
}

impl<'m> Propagation<'m> {
    /// Propagates through a function. Returns the results, too.
    fn of(module: &'m Module, function: OpRef<'m>) -> (Propagation<'m>, Vec<usize>) {
        let mut all = Propagation {
            module,
            entry: function,
            nodes: Vec::new(),
            numbers: HashMap::new(),
            factors: ShardingFactors::default(),
            meshes: HashMap::new(),
            groups: HashMap::new(),
            num_calls: 0,
            num_ops: 0,
            manual_axes: vec![Vec::new()],
            manual: 0,
        };
        let results = all.function(function).unwrap_or_default();
        all.run();
        (all, results)
    }

    /// The number of a value in a call. `None` for those that are no tensors of static shape, and
    /// if there are too many.
    pub(crate) fn node(&mut self, call: usize, value: Value) -> Option<usize> {
        if let Some(&number) = self.numbers.get(&(call, value)) {
            return Some(number);
        }
        let shape = self.module.ty(value).as_tensor()?.static_shape()?;
        let number = self.new_node(&shape)?;
        self.numbers.insert((call, value), number);
        Some(number)
    }

    fn new_node(&mut self, shape: &[usize]) -> Option<usize> {
        if self.nodes.len() >= MAX_VALUES {
            return None;
        }
        let dim = |&size: &usize| Dim { size, axes: Vec::new(), is_closed: false };
        let dims = shape.iter().map(dim).collect();
        let (sources, manual) = (Vec::new(), self.manual);
        self.nodes.push(Node { mesh: None, dims, stated: None, sources, manual });
        Some(self.nodes.len() - 1)
    }

    /// The sizes of the dimensions of a value.
    pub(crate) fn shape(&self, node: usize) -> Vec<usize> {
        self.nodes[node].dims.iter().map(|dim| dim.size).collect()
    }

    pub(crate) fn factors(&mut self) -> &mut ShardingFactors {
        &mut self.factors
    }

    /// A value of the shape of another with a sharding that the program states.
    fn stated(&mut self, like: usize, sharding: &Attribute) -> Option<usize> {
        let shape = self.shape(like);
        let number = self.new_node(&shape)?;
        self.state(number, sharding);
        Some(number)
    }

    /// Gives a value the sharding that the program states.
    fn state(&mut self, node: usize, sharding: &Attribute) {
        let dims = stated_dims(sharding);
        let own = &mut self.nodes[node];
        if dims.len() != own.dims.len() {
            return;
        }
        own.stated = Some(sharding.clone());
        own.mesh = sdy::mesh_or_ref(sharding).cloned();
        if let Some(mesh) = &own.mesh
            && !self.meshes.contains_key(mesh)
        {
            let resolved = sdy::Mesh::resolve(self.entry, mesh);
            self.meshes.insert(mesh.clone(), resolved);
        }
        // JAX leaves dimensions open on a mesh without axes, where any mesh may follow.
        let resolved = own.mesh.as_ref().and_then(|mesh| self.meshes.get(mesh)?.as_ref());
        if resolved.is_some_and(|mesh| mesh.axes.is_empty()) {
            own.mesh = None;
        }
        for (dim, (axes, is_closed)) in own.dims.iter_mut().zip(dims) {
            (dim.axes, dim.is_closed) = (axes.to_vec(), is_closed);
        }
    }

    /// Adds the function that runs, and returns its results.
    fn function(&mut self, function: OpRef<'m>) -> Option<Vec<usize>> {
        let entry = self.module.entry(*function.regions().first()?)?;
        let own = FuncOp::cast(function)?;
        let attribute = |all: Option<&'m [Attribute]>, index: usize| {
            let own = all?.get(index)?.as_dictionary()?;
            own.get("sdy.sharding")
        };
        for (index, &argument) in self.module.arguments(entry).iter().enumerate() {
            if let Some(node) = self.node(0, argument)
                && let Some(sharding) = attribute(own.arg_attrs(), index)
            {
                self.state(node, sharding);
            }
        }
        self.block(0, entry, 0);
        let mut results = Vec::new();
        for (index, &value) in self.returned(entry).iter().enumerate() {
            let node = self.node(0, value).or_else(|| self.new_node(&[]))?;
            let sharding = attribute(own.res_attrs(), index);
            let stated = sharding.and_then(|sharding| self.stated(node, sharding));
            if let Some(stated) = stated {
                self.same(stated, node);
            }
            results.push(stated.unwrap_or(node));
        }
        Some(results)
    }

    /// The values that the terminator of a block passes on.
    fn returned(&self, block: BlockId) -> &'m [Value] {
        self.module.terminator(block).map_or(&[], OpRef::operands)
    }

    /// All dimensions of two values of one shape are split alike.
    fn same(&mut self, left: usize, right: usize) {
        let rank = self.nodes[left].dims.len().min(self.nodes[right].dims.len());
        (0..rank).for_each(|dim| self.factors.pass(&[(left, dim), (right, dim)]));
    }

    /// Notes that a value is made of another element by element.
    pub(crate) fn derive(&mut self, source: usize, derived: usize) {
        self.nodes[derived].sources.push(source);
    }

    /// As [`Propagation::same`] for lists of values, of which the second are made of the first;
    /// values without a node are left out.
    fn same_values(
        &mut self,
        left: (usize, impl IntoIterator<Item = Value>),
        right: (usize, impl IntoIterator<Item = Value>),
    ) {
        for (from, to) in left.1.into_iter().zip(right.1) {
            if let Some((from, to)) = self.node(left.0, from).zip(self.node(right.0, to)) {
                self.same(from, to);
                self.derive(from, to);
            }
        }
    }

    /// Adds the ops of a block.
    fn block(&mut self, call: usize, block: BlockId, depth: usize) {
        for op in self.module.ops(block) {
            if self.num_ops >= MAX_OPS {
                return;
            }
            self.num_ops += 1;
            self.op(call, op, depth);
        }
    }

    /// Adds the ops of a region, and returns its arguments and what it returns.
    fn region(
        &mut self,
        call: usize,
        region: RegionId,
        depth: usize,
    ) -> (&'m [Value], &'m [Value]) {
        let Some(block) = self.module.entry(region) else { return (&[], &[]) };
        self.block(call, block, depth);
        (self.module.arguments(block), self.returned(block))
    }

    /// Adds an op and what is within it.
    fn op(&mut self, call: usize, op: OpRef<'m>, depth: usize) {
        let operands = || op.operands().iter().copied();
        if let Some(manual) = ManualComputationOp::cast(op) {
            self.manual_computation(call, manual, depth);
        } else if op.is_any(&[sdy::ShardingConstraintOp::DEF, sdy::ReshardOp::DEF]) {
            let ends = self.node(call, op.operand(0)).zip(self.node(call, op.result(0)));
            if let Some(((from, to), sharding)) = ends.zip(op.attr("sharding")) {
                self.state(to, sharding);
                self.same(from, to);
            }
        } else if let Some(group) = sdy::ShardingGroupOp::cast(op) {
            if let Some(node) = self.node(call, group.input()) {
                let first = *self.groups.entry(group.group_id()).or_insert(node);
                self.same(first, node);
            }
        } else if let Some(callee) = CallOp::cast(op).map(|call| call.callee()) {
            let callee = self.module.top().lookup_symbol(callee);
            let body = callee.and_then(|callee| self.module.entry(*callee.regions().first()?));
            let Some(body) = body.filter(|_| depth < MAX_CALLS) else { return };
            self.num_calls += 1;
            let inner = self.num_calls;
            self.same_values(
                (call, operands()),
                (inner, self.module.arguments(body).iter().copied()),
            );
            self.block(inner, body, depth + 1);
            self.same_values((inner, self.returned(body).iter().copied()), (call, op.results()));
        } else if op.is(WhileOp::DEF) {
            for (index, &region) in op.regions().iter().enumerate() {
                let (arguments, returned) = self.region(call, region, depth);
                self.same_values((call, operands()), (call, arguments.iter().copied()));
                if index == 1 {
                    self.same_values((call, returned.iter().copied()), (call, op.results()));
                }
            }
            self.same_values((call, operands()), (call, op.results()));
        } else if op.is_any(&[CaseOp::DEF, IfOp::DEF, NamedComputationOp::DEF]) {
            for &region in op.regions() {
                let (arguments, returned) = self.region(call, region, depth);
                self.same_values((call, operands()), (call, arguments.iter().copied()));
                self.same_values((call, returned.iter().copied()), (call, op.results()));
            }
        } else {
            operation(self, call, op);
        }
    }

    /// Adds a computation of single devices along some axes. The others pass dimensions that these
    /// do not split.
    fn manual_computation(&mut self, call: usize, op: ManualComputationOp<'m>, depth: usize) {
        let names = op.manual_axes().as_dialect(&sdy::MANUAL_AXES);
        let names = names.and_then(|own| own.first()?.as_ref()?.as_array()).unwrap_or(&[]);
        let own: Vec<String> =
            names.iter().filter_map(|name| Some(name.as_str()?.to_string())).collect();
        let outer = self.manual;
        let mut all = self.manual_axes[outer].clone();
        all.extend(own.iter().cloned());
        let is_free = |(axes, _): &(&[Attribute], bool)| {
            let is_own = |attribute: &Attribute| {
                axis(attribute).is_some_and(|(name, _)| own.iter().any(|other| other == name))
            };
            !axes.iter().any(is_own)
        };
        let free = |sharding: &Attribute| {
            let dims = stated_dims(sharding).into_iter().enumerate();
            dims.filter(|(_, dim)| is_free(dim)).map(|(dim, _)| dim).collect::<Vec<_>>()
        };
        let mut outside = Vec::new();
        for (&operand, sharding) in op.operands().iter().zip(sdy::shardings(op.in_shardings())) {
            let node = self.node(call, operand);
            let stated = node.and_then(|node| self.stated(node, sharding));
            if let Some((node, stated)) = node.zip(stated) {
                self.same(stated, node);
            }
            outside.push((stated, free(sharding)));
        }
        for (result, sharding) in op.results().zip(sdy::shardings(op.out_shardings())) {
            let node = self.node(call, result);
            if let Some(node) = node {
                self.state(node, sharding);
            }
            outside.push((node, free(sharding)));
        }
        self.manual_axes.push(all);
        self.manual = self.manual_axes.len() - 1;
        let (arguments, returned) = self.region(call, op.body(), depth);
        for (&value, (outside, free)) in arguments.iter().chain(returned).zip(outside) {
            let Some((inside, outside)) = self.node(call, value).zip(outside) else { continue };
            let rank = self.nodes[inside].dims.len();
            for dim in free.into_iter().filter(|&dim| dim < rank) {
                self.factors.pass(&[(outside, dim), (inside, dim)]);
            }
        }
        self.manual = outer;
    }

    /// Propagates until nothing changes, first through ops that keep shapes.
    fn run(&mut self) {
        let factors = std::mem::take(&mut self.factors);
        for only_pass_through in [true, false] {
            for _ in 0..MAX_ROUNDS {
                let mut has_changed = false;
                for (places, is_pass_through) in factors.iter() {
                    if is_pass_through || !only_pass_through {
                        has_changed |= self.propagate(places);
                    }
                }
                if !has_changed {
                    break;
                }
            }
        }
    }

    /// Gives the longest list of axes of a factor's dimensions to the others, as far as that can
    /// be. True if anything has changed.
    fn propagate(&mut self, places: &[(usize, usize)]) -> bool {
        let longest =
            places.iter().rev().max_by_key(|(node, dim)| self.nodes[*node].dims[*dim].axes.len());
        let Some(&(node, dim)) = longest else { return false };
        let axes = self.nodes[node].dims[dim].axes.clone();
        let Some(mesh) = self.nodes[node].mesh.clone() else { return false };
        let mut has_changed = false;
        for &(node, dim) in places {
            let own = &self.nodes[node].dims[dim];
            if own.is_closed || own.axes.len() >= axes.len() || !axes.starts_with(&own.axes) {
                continue;
            }
            let fits = |len: &usize| self.fits(node, dim, &axes[..*len], &mesh);
            if let Some(len) = (own.axes.len() + 1..=axes.len()).rev().find(fits) {
                self.nodes[node].dims[dim].axes = axes[..len].to_vec();
                self.nodes[node].mesh = Some(mesh.clone());
                has_changed = true;
            }
        }
        has_changed
    }

    /// True if the dimension can be split by the axes: equally, and no other dimension of the value
    /// is split by one of them.
    fn fits(&self, node: usize, dim: usize, axes: &[Attribute], mesh: &Attribute) -> bool {
        let own = &self.nodes[node];
        if own.mesh.as_ref().is_some_and(|own| own != mesh) {
            return false;
        }
        let shards = self.num_shards(mesh, axes);
        let is_even = shards.is_some_and(|n| n != 0 && own.dims[dim].size.is_multiple_of(n));
        let others = || own.dims.iter().enumerate().filter(|(other, _)| *other != dim);
        fn name(attribute: &Attribute) -> Option<&str> {
            axis(attribute).map(|(name, _)| name)
        }
        let is_used = |attribute: &Attribute| {
            others().any(|(_, other)| other.axes.iter().any(|own| name(own) == name(attribute)))
        };
        let manual = &self.manual_axes[own.manual];
        let is_manual = |attribute: &Attribute| {
            name(attribute).is_some_and(|name| manual.iter().any(|own| own == name))
        };
        let is_free = !axes.iter().any(|axis| is_used(axis) || is_manual(axis));
        is_even && own.dims[dim].size != 0 && is_free
    }

    /// The number of shards along axes of a mesh.
    fn num_shards(&self, mesh: &Attribute, axes: &[Attribute]) -> Option<usize> {
        let mesh = self.meshes.get(mesh)?.as_ref()?;
        let size = |attribute: &Attribute| {
            let (name, part) = axis(attribute)?;
            let whole = || mesh.axes.iter().find(|(own, _)| own == name).map(|(_, size)| *size);
            part.or_else(whole)
        };
        axes.iter().try_fold(1usize, |all, axis| all.checked_mul(size(axis)?))
    }

    /// As [`Propagation::sharding`], without the axes that do not divide a dimension equally: the
    /// results of programs have no padding.
    fn even_sharding(&self, node: usize) -> Option<Attribute> {
        let sharding = self.sharding(node)?;
        let mesh = sdy::mesh_or_ref(&sharding).cloned();
        let (Some(mesh), Some(params)) = (mesh, sharding.as_dialect(&sdy::SHARDING)) else {
            return Some(sharding);
        };
        let even = |(dim, (axes, is_closed)): (&Dim, (&[Attribute], bool))| {
            let divides = |len: &usize| {
                let shards = self.num_shards(&mesh, &axes[..*len]);
                shards.is_some_and(|n| n != 0 && dim.size.is_multiple_of(n))
            };
            let len = (0..=axes.len()).rev().find(divides).unwrap_or(0);
            let kept = Attribute::array(axes[..len].to_vec());
            let params = vec![Some(kept), Some(Attribute::bool(is_closed)), None];
            (len == axes.len(), Attribute::dialect(&sdy::DIMENSION_SHARDING, params))
        };
        let dims = self.nodes[node].dims.iter().zip(stated_dims(&sharding)).map(even);
        let (is_even, dims): (Vec<bool>, Vec<Attribute>) = dims.unzip();
        if is_even.iter().all(|own| *own) {
            return Some(sharding);
        }
        let mut params = params.to_vec();
        params[1] = Some(Attribute::array(dims));
        Some(Attribute::dialect(&sdy::SHARDING, params))
    }

    /// The sharding of a value. `None` if it is open.
    fn sharding(&self, node: usize) -> Option<Attribute> {
        let own = &self.nodes[node];
        if let Some(stated) = self.stated_source(node) {
            return Some(stated.clone());
        }
        if own.dims.iter().all(|dim| dim.axes.is_empty()) {
            return None;
        }
        let dim = |dim: &Dim| {
            let axes = Attribute::array(dim.axes.clone());
            let is_closed = Some(Attribute::bool(true));
            Attribute::dialect(&sdy::DIMENSION_SHARDING, vec![Some(axes), is_closed, None])
        };
        let dims = Attribute::array(own.dims.iter().map(dim).collect());
        let none = || Some(Attribute::array(Vec::new()));
        let params = vec![own.mesh.clone(), Some(dims), none(), none(), None];
        Some(Attribute::dialect(&sdy::SHARDING, params))
    }

    /// The sharding that the program states of a value, or of one that it is made of, if it splits
    /// dimensions as propagation does.
    fn stated_source(&self, node: usize) -> Option<&Attribute> {
        let dims = &self.nodes[node].dims;
        let is_same = |stated: &Attribute| {
            let stated = stated_dims(stated);
            stated.len() == dims.len()
                && stated.iter().zip(dims).all(|((axes, _), dim)| *axes == dim.axes)
        };
        let mut next = vec![node];
        for _ in 0..MAX_SOURCES {
            let own = &self.nodes[next.pop()?];
            match &own.stated {
                Some(stated) if is_same(stated) => return Some(stated),
                Some(_) => {}
                None => next.extend(own.sources.iter().rev()),
            }
        }
        None
    }
}
