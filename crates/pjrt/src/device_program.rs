//! The program of one device of several: its operands and results are shards, and collectives
//! bring what ops need of other devices.
//!
//! Clients get it as text. Programs run on whole tensors here, but a process for each device that
//! runs this program gives the same shards.

use crate::combine::{channel_handle, channels, combine_sums};
use crate::parameters::ENTRY;
use crate::propagation::{all_shardings, stated_dims};
use crate::splits::{is_splat, splits};
use crate::terms::{SHARD, has_inner_terms, separate};
use stablo::dialects::func::CallOp;
use stablo::dialects::sdy::{self, AxisPart, ManualComputationOp, Mesh};
use stablo::dialects::stablehlo::{
    AddOp, AllGatherOp, AllReduceOp, AsyncDoneOp, AsyncStartOp, BroadcastInDimOp, CaseOp,
    ConstantOp, ConvertOp, DotGeneralOp, DynamicSliceOp, GatherOp, IfOp, IotaOp, PartitionIdOp,
    ReshapeOp, SliceOp, WhileOp,
};
use stablo::ir::{BlockId, Dictionary, OpId, OpRef, RegionId, Value};
use stablo::{Attribute, Builder, Module, Tensor, Type};
use std::collections::HashMap;

/// The axes of the mesh that split each dimension of a value, from major to minor.
type Tiles = Vec<Vec<AxisPart>>;

/// A value with tiles: the dimension of each axis, the axis, and its part.
type TilesKey = (Value, Vec<[usize; 4]>);

fn tiles_key(value: Value, tiles: &Tiles) -> TilesKey {
    let axes = tiles.iter().enumerate().flat_map(|(dim, axes)| {
        axes.iter().map(move |axis| [dim, axis.axis, axis.minor, axis.size])
    });
    (value, axes.collect())
}

/// The maximum number of ops of a program that is rewritten.
const MAX_OPS: usize = 200_000;

/// The program of a device. `None` if it has ops or shardings that are not supported here. If the
/// program has terms of unreduced values, it is one for processes with these.
pub(crate) fn device_program(module: &Module, devices: usize, has_terms: bool) -> Option<Module> {
    if devices < 2 || module.num_ops() > MAX_OPS {
        return None;
    }
    let mut own = module.clone();
    let has_terms = has_terms || has_inner_terms(&own) && separate(&mut own, devices).ok()?;
    stablo::run_pipeline(&mut own, "inline").ok()?;
    own.build_uses();
    Partitioner::new(&mut own, devices, has_terms)?.program()?;
    combine_sums(&mut own).ok()?;
    stablo::verify(&own).ok()?;
    Some(own)
}

/// Rewrites a program for one device.
struct Partitioner<'m> {
    builder: Builder<'m>,
    devices: usize,
    mesh: Mesh,
    /// The shapes of values in the program for all devices.
    shapes: HashMap<Value, Vec<usize>>,
    /// The tiles that values are to have.
    wanted: HashMap<Value, Tiles>,
    /// The tiles of results of the program.
    results: Vec<Tiles>,
    /// The value in the new program, and its tiles.
    found: HashMap<Value, (Value, Tiles)>,
    /// Values with other tiles that are there, for ops after them in their block and within.
    there: HashMap<TilesKey, Value>,
    /// The values of the blocks that are open.
    open: Vec<TilesKey>,
    /// Ops that nothing uses at the end.
    dead: Vec<OpId>,
    /// The number of the last channel.
    channel: i64,
    /// True in a computation of single devices.
    is_manual: bool,
    /// True if the program is one for processes with terms of unreduced values.
    has_terms: bool,
}

/// The number of shards.
fn count(axes: &[AxisPart]) -> usize {
    axes.iter().map(|axis| axis.size).product()
}

/// True if two parts of axes have devices apart along a common one.
fn overlap(left: &AxisPart, right: &AxisPart) -> bool {
    let is_before = |a: &AxisPart, b: &AxisPart| a.minor >= b.minor * b.size;
    left.axis == right.axis && !is_before(left, right) && !is_before(right, left)
}

/// The axes up to the first one that overlaps some of the others.
fn free<'a>(axes: &'a [AxisPart], used: &[AxisPart]) -> &'a [AxisPart] {
    let is_used = |axis: &AxisPart| used.iter().any(|other| overlap(axis, other));
    let end = axes.iter().position(is_used).unwrap_or(axes.len());
    &axes[..end]
}

/// The first axes whose number of shards divides all sizes.
fn even<'a>(axes: &'a [AxisPart], sizes: &[usize]) -> &'a [AxisPart] {
    let divides = |end: &usize| sizes.iter().all(|size| size.is_multiple_of(count(&axes[..*end])));
    &axes[..(0..=axes.len()).rev().find(divides).unwrap_or(0)]
}

/// The type of a shard.
fn shard_type(ty: &Type, tiles: &Tiles) -> Type {
    let Some(shape) = ty.shape().filter(|shape| shape.len() == tiles.len()) else {
        return ty.clone();
    };
    let sizes = shape.iter().zip(tiles).map(|(size, axes)| size / count(axes) as i64);
    Type::tensor(sizes.collect::<Vec<_>>(), ty.element_type().clone())
}

impl<'m> Partitioner<'m> {
    /// Finds the tiles of all values, which are unknown with several meshes and with unreduced
    /// values.
    fn new(module: &'m mut Module, devices: usize, has_terms: bool) -> Option<Partitioner<'m>> {
        let view = &*module;
        let meshes = stablo::walk(view).filter_map(sdy::MeshOp::cast);
        let mut meshes = meshes.filter_map(|op| op.mesh().and_then(Mesh::of));
        let mesh = meshes.find(|mesh| !mesh.axes.is_empty() && mesh.num_devices() == devices)?;
        (0..devices).all(|device| mesh.place(device).is_some()).then_some(())?;
        let mut values: Vec<Value> = Vec::new();
        for op in stablo::walk(view) {
            values.extend(op.results());
            let blocks = op.regions().iter().flat_map(|&region| view.blocks(region));
            values.extend(blocks.flat_map(|&block| view.arguments(block)));
        }
        let shape = |&value: &Value| Some((value, view.ty(value).as_tensor()?.static_shape()?));
        let mut own = Partitioner {
            devices,
            mesh,
            shapes: values.iter().filter_map(shape).collect(),
            wanted: HashMap::new(),
            results: Vec::new(),
            found: HashMap::new(),
            there: HashMap::new(),
            open: Vec::new(),
            dead: Vec::new(),
            channel: channels(view),
            is_manual: false,
            has_terms,
            builder: Builder::new(module),
        };
        let module = own.builder.module();
        let function = stablo::entry_function(module, ENTRY).ok()?;
        let (shardings, results) = all_shardings(module, *function, &values);
        for (value, sharding) in values.iter().zip(shardings) {
            let shape = own.shapes.get(value).map_or(&[][..], Vec::as_slice);
            let mut tiles = own.tiles(sharding.as_ref(), shape.len())?;
            for (axes, &size) in tiles.iter_mut().zip(shape) {
                axes.truncate(even(axes, &[size]).len());
            }
            own.wanted.insert(*value, tiles);
        }
        let body = module.entry(*function.regions().first()?)?;
        let returned = module.terminator(body)?.operands();
        if results.len() != returned.len() {
            return None;
        }
        let list = returned.iter().zip(&results).map(|(value, sharding)| {
            own.tiles(sharding.as_ref(), own.shapes.get(value).map_or(0, Vec::len))
        });
        own.results = list.collect::<Option<_>>()?;
        Some(own)
    }

    fn module(&self) -> &Module {
        self.builder.module()
    }

    /// The tiles of a sharding. `None` if they are of another mesh, or the value is unreduced.
    fn tiles(&self, sharding: Option<&Attribute>, rank: usize) -> Option<Tiles> {
        let whole = || Some(vec![Vec::new(); rank]);
        let Some(sharding) = sharding else { return whole() };
        let params = sharding.as_dialect(&sdy::SHARDING)?;
        let unreduced = params.get(3).and_then(|axes| axes.as_ref()?.as_array());
        if !self.has_terms && unreduced.is_some_and(|axes| !axes.is_empty()) {
            return None;
        }
        let dims = stated_dims(sharding);
        if dims.iter().all(|(axes, _)| axes.is_empty()) {
            return whole();
        }
        let function = stablo::entry_function(self.module(), ENTRY).ok()?;
        let mesh = Mesh::resolve(*function, sdy::mesh_or_ref(sharding)?)?;
        if mesh != self.mesh || dims.len() != rank {
            return None;
        }
        dims.iter().map(|(axes, _)| self.parts(axes)).collect()
    }

    /// The axes that divide a dimension, which excludes axes of size 1.
    fn parts(&self, axes: &[Attribute]) -> Option<Vec<AxisPart>> {
        let parts = axes.iter().map(|axis| self.mesh.axis_ref(axis));
        let parts: Vec<AxisPart> = parts.collect::<Option<_>>()?;
        Some(parts.into_iter().filter(|part| part.size != 1).collect())
    }

    /// Rewrites the function that runs.
    fn program(mut self) -> Option<()> {
        let module = self.module();
        let function = stablo::entry_function(module, ENTRY).ok()?;
        let id = function.id();
        let body = module.entry(*function.regions().first()?)?;
        let attributes = |all: Option<&[Attribute]>, count: usize| {
            let own = |at: usize| {
                let own = all.and_then(|all| all.get(at)?.as_dictionary());
                own.cloned().unwrap_or_default()
            };
            (0..count).map(own).collect::<Vec<Dictionary>>()
        };
        let arguments = module.arguments(body).to_vec();
        let mut argument_attributes = attributes(function.arg_attrs(), arguments.len());
        let mut result_attributes = attributes(function.res_attrs(), self.results.len());
        for own in argument_attributes.iter_mut().chain(&mut result_attributes) {
            if own.remove("mhlo.sharding").is_some() {
                return None;
            }
        }
        for (&argument, own) in arguments.iter().zip(&mut argument_attributes) {
            let shape = self.shapes.get(&argument).cloned().unwrap_or_default();
            let tiles = self.tiles(own.remove("sdy.sharding").as_ref(), shape.len())?;
            if tiles.iter().zip(&shape).any(|(axes, size)| !size.is_multiple_of(count(axes))) {
                return None;
            }
            self.set(argument, tiles);
        }
        let results = std::mem::take(&mut self.results);
        self.block(body, &results)?;
        let types = |module: &Module, values: &[Value]| -> Vec<Type> {
            values.iter().map(|&value| module.ty(value).clone()).collect()
        };
        let module = self.builder.module_mut();
        let returned = module.terminator(body)?.operands();
        let (inputs, results) = (types(module, &arguments), types(module, returned));
        module.set_attr(id, "function_type", Type::function(inputs, results).into());
        for own in &mut result_attributes {
            own.remove("sdy.sharding");
        }
        for (name, all) in [("arg_attrs", argument_attributes), ("res_attrs", result_attributes)] {
            if !all.is_empty() {
                let all = all.into_iter().map(Attribute::from).collect();
                module.set_attr(id, name, Attribute::array(all));
            }
        }
        for op in std::mem::take(&mut self.dead).into_iter().rev() {
            module.erase(op);
        }
        let meshes: Vec<OpId> =
            stablo::walk(module).filter(|op| op.is(sdy::MeshOp::DEF)).map(OpRef::id).collect();
        meshes.into_iter().for_each(|mesh| module.erase(mesh));
        // Calls are of functions that call themselves. Composites keep their decompositions.
        let is_left = |op: OpRef<'_>| op.name().starts_with("sdy.") || op.is(CallOp::DEF);
        (!stablo::walk(module).any(is_left)).then_some(())
    }

    /// Notes that a value keeps its place, and is split.
    fn set(&mut self, value: Value, tiles: Tiles) {
        let ty = shard_type(self.module().ty(value), &tiles);
        self.builder.set_type(value, ty);
        self.found.insert(value, (value, tiles));
    }

    /// Rewrites the ops of a block, which returns values with these tiles.
    fn block(&mut self, block: BlockId, tiles: &[Tiles]) -> Option<()> {
        let ops: Vec<OpId> = self.module().ops(block).map(OpRef::id).collect();
        let (last, ops) = ops.split_last()?;
        let outer = self.open.len();
        ops.iter().try_for_each(|&op| self.op(op))?;
        self.operands(*last, tiles)?;
        for key in self.open.drain(outer..) {
            self.there.remove(&key);
        }
        Some(())
    }

    /// Rewrites the ops of a block that returns whole values.
    fn whole_block(&mut self, block: BlockId) -> Option<()> {
        let last = self.module().terminator(block)?;
        let whole: Vec<Tiles> = last.operands().iter().map(|&own| self.whole(own)).collect();
        self.block(block, &whole)
    }

    /// Gives the operands of an op these tiles.
    fn operands(&mut self, op: OpId, tiles: &[Tiles]) -> Option<()> {
        let view = self.module().op(op);
        let (operands, location) = (view.operands().to_vec(), view.location());
        if operands.len() != tiles.len() {
            return None;
        }
        self.builder.insert_before(op).set_location(location);
        let own = operands.iter().zip(tiles).map(|(&value, tiles)| self.resharded(value, tiles));
        let own = own.collect::<Option<Vec<Value>>>()?;
        self.builder.set_operands(op, own);
        Some(())
    }

    /// The tiles that a value is to have: by propagation, or none in manual computations.
    fn wanted(&self, value: Value) -> Tiles {
        match self.wanted.get(&value) {
            Some(tiles) if !self.is_manual => tiles.clone(),
            _ => self.whole(value),
        }
    }

    fn whole(&self, value: Value) -> Tiles {
        vec![Vec::new(); self.shapes.get(&value).map_or(0, Vec::len)]
    }

    fn op(&mut self, id: OpId) -> Option<()> {
        let op = self.module().op(id);
        let results: Vec<Value> = op.results().collect();
        if op.is(ManualComputationOp::DEF) {
            return self.manual_computation(id);
        } else if op.is_any(&[sdy::ShardingConstraintOp::DEF, sdy::ReshardOp::DEF]) {
            let (operand, location) = (op.operand(0), op.location());
            self.builder.insert_before(id).set_location(location);
            let tiles = self.wanted(results[0]);
            let value = self.resharded(operand, &tiles)?;
            self.found.insert(results[0], (value, tiles));
            self.dead.push(id);
            return Some(());
        } else if let Some(split) = op.attr(SHARD).and_then(Attribute::as_array) {
            let dim = |axes: &Attribute| self.parts(axes.as_array()?);
            let tiles: Tiles = split.iter().map(dim).collect::<Option<_>>()?;
            let (operand, location) = (op.operand(0), op.location());
            self.builder.insert_before(id).set_location(location);
            let value = self.resharded(operand, &tiles)?;
            let whole = self.whole(results[0]);
            self.found.insert(results[0], (value, whole));
            self.dead.push(id);
            return Some(());
        } else if op.is(sdy::ShardingGroupOp::DEF) {
            self.builder.set_operands(id, []);
            self.dead.push(id);
            return Some(());
        } else if op.is(AsyncStartOp::DEF) {
            return self.started(id);
        } else if op.is(AsyncDoneOp::DEF) {
            let value = self.found.get(&op.operand(0))?.clone();
            self.found.insert(results[0], value);
            self.dead.push(id);
            return Some(());
        } else if op.is_any(&[WhileOp::DEF, CaseOp::DEF, IfOp::DEF]) {
            return self.control_flow(id, &results);
        }
        self.plain(id, &results)
    }

    /// Rewrites a loop or a conditional: what goes into regions and out is split as the results.
    fn control_flow(&mut self, id: OpId, results: &[Value]) -> Option<()> {
        let tiles: Vec<Tiles> = results.iter().map(|&result| self.wanted(result)).collect();
        let op = self.module().op(id);
        let (regions, is_loop): (Vec<RegionId>, bool) =
            (op.regions().to_vec(), op.is(WhileOp::DEF));
        let one = [Tiles::new()];
        self.operands(id, if is_loop { &tiles } else { &one })?;
        for (index, region) in regions.into_iter().enumerate() {
            let block = self.module().entry(region)?;
            let arguments = self.module().arguments(block).to_vec();
            for (argument, tiles) in arguments.into_iter().zip(&tiles) {
                self.set(argument, tiles.clone());
            }
            self.block(block, if is_loop && index == 0 { &one } else { &tiles })?;
        }
        for (&result, tiles) in results.iter().zip(tiles) {
            self.set(result, tiles);
        }
        Some(())
    }

    /// Rewrites a collective that another op waits for: here, nothing is done in between.
    fn started(&mut self, id: OpId) -> Option<()> {
        let op = self.module().op(id);
        let (future, block) = (op.result(0), self.module().entry(*op.regions().first()?)?);
        let whole: Vec<Tiles> = op.operands().iter().map(|&own| self.whole(own)).collect();
        self.operands(id, &whole)?;
        let (returned, tiles) = match self.spliced(id, block)?[..] {
            [only] => (only, self.whole_of(only)),
            _ => return None,
        };
        self.found.insert(future, (returned, tiles));
        self.builder.set_operands(id, []);
        self.dead.push(id);
        Some(())
    }

    /// Puts the ops of a block of whole values before the op that it belongs to, whose operands are
    /// its arguments. Returns what it returns.
    fn spliced(&mut self, id: OpId, block: BlockId) -> Option<Vec<Value>> {
        let operands = self.module().op(id).operands().to_vec();
        let arguments = self.module().arguments(block).to_vec();
        for (argument, &operand) in arguments.into_iter().zip(&operands) {
            let whole = self.whole(argument);
            self.found.insert(argument, (operand, whole));
        }
        let is_manual = std::mem::replace(&mut self.is_manual, true);
        self.whole_block(block)?;
        self.is_manual = is_manual;
        let last = self.module().terminator(block)?;
        let (returned, last) = (last.operands().to_vec(), last.id());
        let module = self.builder.module_mut();
        module.inline_block_before(block, id, &operands);
        module.erase(last);
        Some(returned)
    }

    /// No tiles for each dimension of a value of the new program.
    fn whole_of(&self, value: Value) -> Tiles {
        vec![Vec::new(); self.module().ty(value).shape().map_or(0, <[i64]>::len)]
    }

    /// Rewrites a computation of single devices along some axes. Along the others, all devices
    /// compute the same.
    fn manual_computation(&mut self, id: OpId) -> Option<()> {
        let op = ManualComputationOp::cast(self.module().op(id))?;
        let names =
            op.manual_axes().as_dialect(&sdy::MANUAL_AXES)?.first()?.as_ref()?.as_array()?;
        let axes: Vec<AxisPart> =
            names.iter().map(|name| self.mesh.axis(name.as_str()?)).collect::<Option<_>>()?;
        let results: Vec<Value> = op.results().collect();
        let tiles = |shardings: &Attribute, values: &[Value]| -> Option<Vec<Tiles>> {
            let own = sdy::shardings(shardings).iter().zip(values).map(|(sharding, value)| {
                let shape = self.shapes.get(value).cloned().unwrap_or_default();
                let mut tiles = self.tiles(Some(sharding), shape.len())?;
                for (own, size) in tiles.iter_mut().zip(&shape) {
                    own.retain(|part| axes.iter().any(|axis| axis.axis == part.axis));
                    size.is_multiple_of(count(own)).then_some(())?;
                }
                Some(tiles)
            });
            own.collect()
        };
        let inside = tiles(op.in_shardings(), op.operands())?;
        let outside = tiles(op.out_shardings(), &results)?;
        let block = self.module().entry(op.body())?;
        self.operands(id, &inside)?;
        let returned = self.spliced(id, block)?;
        for ((result, value), tiles) in results.into_iter().zip(returned).zip(outside) {
            self.found.insert(result, (value, tiles));
            self.reshard_result(result, id)?;
        }
        self.builder.set_operands(id, []);
        self.dead.push(id);
        Some(())
    }

    /// Gives a result that is there the tiles that it is to have, before an op.
    fn reshard_result(&mut self, result: Value, before: OpId) -> Option<()> {
        let tiles = self.wanted(result);
        if self.found.get(&result)?.1 != tiles {
            let location = self.module().op(before).location();
            self.builder.insert_before(before).set_location(location);
            let value = self.resharded(result, &tiles)?;
            self.found.insert(result, (value, tiles));
        }
        Some(())
    }

    /// Rewrites an op without control flow.
    fn plain(&mut self, id: OpId, results: &[Value]) -> Option<()> {
        let op = self.module().op(id);
        if op.name().starts_with("sdy.") {
            return None;
        }
        let values: Vec<Value> = op.operands().iter().copied().chain(results.to_vec()).collect();
        let num_operands = op.operands().len();
        let is_known = |value: &Value| {
            self.shapes.contains_key(value) || self.module().ty(*value).as_tensor().is_none()
        };
        if !values.iter().all(is_known) {
            return None;
        }
        let shapes: Vec<_> = values.iter().map(|value| self.shapes.get(value).cloned()).collect();
        let wanted: Vec<Tiles> = results.iter().map(|&result| self.wanted(result)).collect();
        let mut tiles: Vec<Tiles> = values.iter().map(|&value| self.whole(value)).collect();
        let mut used: Vec<AxisPart> = Vec::new();
        let mut reduced: Vec<AxisPart> = Vec::new();
        let splits = if self.is_manual { Vec::new() } else { splits(op, &shapes) };
        let (last, first): (Vec<_>, Vec<_>) = splits.into_iter().partition(|own| own.is_reduced);
        for split in first.into_iter().chain(last) {
            // Axes of results come first; reduced operands keep their axes.
            let axes =
                split.places.iter().map(|&(value, dim)| match value.checked_sub(num_operands) {
                    Some(result) => wanted[result][dim].clone(),
                    None if split.is_reduced => {
                        self.found.get(&values[value]).map_or(Vec::new(), |own| own.1[dim].clone())
                    }
                    None => Vec::new(),
                });
            let axes = axes.max_by_key(Vec::len).unwrap_or_default();
            let size =
                |&(value, dim): &(usize, usize)| shapes[value].as_ref().map_or(1, |own| own[dim]);
            let sizes: Vec<usize> = split.places.iter().map(size).collect();
            let axes = even(free(&axes, &used), &sizes).to_vec();
            for (value, dim) in split.places {
                tiles[value][dim] = axes.clone();
            }
            used.extend(&axes);
            if split.is_reduced {
                reduced.extend(axes);
            }
        }
        self.scalar_computations(id)?;
        let own = tiles.split_off(num_operands);
        self.adapt(id, &tiles, own.first().unwrap_or(&Vec::new()))?;
        self.operands(id, &tiles)?;
        let module = self.builder.module_mut();
        for name in ["sdy.sharding", "sdy.sharding_rule", "mhlo.sharding"] {
            module.remove_attr(id, name);
        }
        let next = module.op(id).next_in_block()?.id();
        for (&result, tiles) in results.iter().zip(own) {
            self.set(result, tiles);
        }
        if !reduced.is_empty() {
            let location = self.module().op(id).location();
            self.builder.insert_before(next).set_location(location);
            let (value, tiles) = self.found.get(&results[0])?.clone();
            let value = self.all_reduce(id, value, &reduced)?;
            self.found.insert(results[0], (value, tiles));
        }
        if self.module().op(id).is(IotaOp::DEF) {
            self.offset_iota(id, next)?;
        }
        results.iter().try_for_each(|&result| self.reshard_result(result, next))
    }

    /// Rewrites the regions of an op that computes with elements.
    fn scalar_computations(&mut self, id: OpId) -> Option<()> {
        let is_manual = std::mem::replace(&mut self.is_manual, true);
        for region in self.module().op(id).regions().to_vec() {
            let block = self.module().entry(region)?;
            for argument in self.module().arguments(block).to_vec() {
                let whole = self.whole(argument);
                self.set(argument, whole);
            }
            self.whole_block(block)?;
        }
        self.is_manual = is_manual;
        Some(())
    }

    /// Changes sizes in the attributes of an op to the sizes of shards.
    fn adapt(&mut self, id: OpId, operands: &[Tiles], result: &Tiles) -> Option<()> {
        let op = self.module().op(id);
        // Sizes of all of a dimension; others, such as 1 of a batch dimension, stay.
        let divided = |name: &str, of: Value, tiles: &Tiles| -> Option<Attribute> {
            let sizes = op.int_array(name)?.iter().zip(tiles).zip(self.shapes.get(&of)?);
            let size = |((&size, axes), &whole): ((&i64, &Vec<AxisPart>), &usize)| match whole {
                whole if whole as i64 == size => size / count(axes) as i64,
                _ => size,
            };
            Some(Attribute::i64_array(sizes.map(size).collect::<Vec<_>>()))
        };
        let (name, value) = match () {
            () if op.is(SliceOp::DEF) => {
                ("limit_indices", divided("limit_indices", op.result(0), result)?)
            }
            () if op.is_any(&[DynamicSliceOp::DEF, GatherOp::DEF]) => {
                ("slice_sizes", divided("slice_sizes", op.operand(0), operands.first()?)?)
            }
            () if is_splat(op) => {
                let ty = shard_type(op.result_type(0), result);
                let data = ConstantOp::cast(op)?.value().as_dense()?.data().clone();
                let value = stablo::ir::DenseElements::new(ty, data)?;
                ("value", Attribute::from(value))
            }
            () => return Some(()),
        };
        self.builder.set_attribute(id, name, value);
        Some(())
    }

    /// Adds to an iota where the shard of the device begins, if its dimension is split.
    fn offset_iota(&mut self, id: OpId, next: OpId) -> Option<()> {
        let iota = IotaOp::cast(self.module().op(id))?;
        let (result, dim) = (iota.result(0), usize::try_from(iota.iota_dimension()).ok()?);
        let location = iota.location();
        let (value, tiles) = self.found.get(&result)?.clone();
        if tiles.get(dim).is_none_or(Vec::is_empty) {
            return Some(());
        }
        self.builder.insert_before(next).set_location(location);
        let ty = self.module().ty(value).clone();
        let size = ty.shape()?[dim];
        let start = self.number(&tiles[dim], size)?;
        let scalar = Type::tensor([], ty.element_type().clone());
        let build = &mut self.builder;
        let start =
            build.op(ConvertOp::DEF).operands([start]).result_types([scalar]).value().ok()?;
        let starts = build.op(BroadcastInDimOp::DEF).operands([start]);
        let starts = starts.attribute("broadcast_dimensions", Attribute::i64_array([]));
        let starts = starts.result_types([ty]).value().ok()?;
        let sum = build.op(AddOp::DEF).operands([value, starts]).value().ok()?;
        self.found.insert(result, (sum, tiles));
        Some(())
    }

    /// The value with other tiles; new ops go before the op that needs it.
    fn resharded(&mut self, value: Value, tiles: &Tiles) -> Option<Value> {
        let (own, from) = self.found.get(&value)?.clone();
        let key = tiles_key(own, tiles);
        if from == *tiles {
            return Some(own);
        } else if let Some(&there) = self.there.get(&key) {
            return Some(there);
        }
        let result = self.exchanged(own, from, tiles)?;
        self.there.insert(key.clone(), result);
        self.open.push(key);
        Some(result)
    }

    /// A value with other tiles, by cuts and gathers.
    fn exchanged(&mut self, mut own: Value, mut from: Tiles, tiles: &Tiles) -> Option<Value> {
        // Values are cut first, so that less is gathered.
        let all = |from: &Tiles| from.concat();
        let mut cut = from.clone();
        for (dim, axes) in tiles.iter().enumerate() {
            if let Some(added) = axes.strip_prefix(&from[dim][..])
                && free(added, &all(&cut)).len() == added.len()
            {
                cut[dim] = axes.clone();
            }
        }
        own = self.cut(own, &from, &cut)?;
        from = cut;
        for (dim, axes) in tiles.iter().enumerate() {
            let common = from[dim].iter().zip(axes).take_while(|(a, b)| a == b).count();
            let gathered = from[dim].split_off(common);
            if !gathered.is_empty() {
                own = self.all_gather(own, dim, &gathered)?;
            }
        }
        self.cut(own, &from, tiles)
    }

    /// The part of a value that a device has if more axes split it.
    fn cut(&mut self, value: Value, from: &Tiles, to: &Tiles) -> Option<Value> {
        if from == to {
            return Some(value);
        }
        let mut sizes = self.module().ty(value).shape()?.to_vec();
        let mut starts = Vec::with_capacity(sizes.len());
        for (dim, size) in sizes.iter_mut().enumerate() {
            let added = to[dim].strip_prefix(&from[dim][..])?;
            *size /= count(added) as i64;
            starts.push(self.number(added, *size)?);
        }
        let slice = self.builder.op(DynamicSliceOp::DEF).operands([value]).operands(starts);
        slice.attribute("slice_sizes", Attribute::i64_array(sizes)).value().ok()
    }

    /// The number of the part that a device has along axes, times a factor, of `i64`.
    fn number(&mut self, axes: &[AxisPart], factor: i64) -> Option<Value> {
        if axes.is_empty() {
            return self.builder.constant(&Tensor::splat([], 0i64).ok()?).ok();
        }
        let number = |device: usize| {
            let place = self.mesh.place(device)?;
            Some(axes.iter().fold(0, |n, axis| n * axis.size + axis.index(&place)) as i64 * factor)
        };
        let table = (0..self.devices).map(number).collect::<Option<Vec<i64>>>()?;
        let table = Tensor::from_vec([self.devices], table).ok()?;
        let build = &mut self.builder;
        let table = build.constant(&table).ok()?;
        let device = build.op(PartitionIdOp::DEF).value().ok()?;
        let slice = build.op(DynamicSliceOp::DEF).operands([table, device]);
        let element = slice.attribute("slice_sizes", Attribute::i64_array([1])).value().ok()?;
        let scalar = Type::tensor([], self.module().ty(element).element_type().clone());
        self.builder.op(ReshapeOp::DEF).operands([element]).result_types([scalar]).value().ok()
    }

    /// The attributes of a collective of the devices along axes.
    fn groups(&mut self, axes: &[AxisPart]) -> Option<[(&'static str, Attribute); 3]> {
        let mut groups: Vec<Vec<i64>> = Vec::new();
        for device in 0..self.devices {
            let group = self.mesh.group(&self.mesh.place(device)?, axes);
            let group: Vec<i64> = group.into_iter().map(|device| device as i64).collect();
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
        let shape = [groups.len() as i64, groups.first()?.len() as i64];
        self.channel += 1;
        Some([
            ("replica_groups", Attribute::i64_elements(&shape, &groups.concat())?),
            ("channel_handle", channel_handle(self.channel).ok()?),
            ("use_global_device_ids", Attribute::unit()),
        ])
    }

    fn all_gather(&mut self, value: Value, dim: usize, axes: &[AxisPart]) -> Option<Value> {
        let groups = self.groups(axes)?;
        let ty = self.module().ty(value);
        let mut shape = ty.shape()?.to_vec();
        shape[dim] *= count(axes) as i64;
        let ty = Type::tensor(shape, ty.element_type().clone());
        let mut gather = self.builder.op(AllGatherOp::DEF).operands([value]);
        gather = gather.attribute("all_gather_dim", Attribute::i64(dim as i64));
        for (name, value) in groups {
            gather = gather.attribute(name, value);
        }
        gather.result_types([ty]).value().ok()
    }

    /// The sum, or what else an op computes over dimensions, of the terms of devices.
    fn all_reduce(&mut self, op: OpId, value: Value, axes: &[AxisPart]) -> Option<Value> {
        let groups = self.groups(axes)?;
        let ty = self.module().ty(value).clone();
        let scalar = Type::tensor([], ty.element_type().clone());
        let body = self.module().op(op).regions().first().copied();
        let is_product = self.module().op(op).is(DotGeneralOp::DEF);
        let body = body.filter(|_| !is_product).map(|body| {
            let module = self.builder.module_mut();
            module.clone_region(body, &mut HashMap::new(), &mut HashMap::new())
        });
        let mut reduce = self.builder.op(AllReduceOp::DEF).operands([value]);
        for (name, value) in groups {
            reduce = reduce.attribute(name, value);
        }
        let reduce = match body {
            Some(body) => reduce.region(body),
            None => reduce.body([scalar.clone(), scalar], |builder, arguments| {
                let sum = builder.op(AddOp::DEF).operands(arguments.iter().copied());
                Ok(vec![sum.value()?])
            }),
        };
        reduce.result_types([ty]).value().ok()
    }
}
