//! Values that are unreduced: each device has a term of a sum, and the sum is the value.
//!
//! A program that takes or returns such values runs in a process for each device, where they are
//! the term of the device. Ops that are linear in them compute terms from terms. Where a value
//! becomes unreduced, each process has the part of a product or a sum that comes from its shards of
//! the operands; of other values, its shard, with zeros around it, or all of it on the first of
//! the devices with the same shard. Where it becomes reduced, an `all_reduce` adds the terms.
//!
//! Source: Shardy, "Sharding representation", unreduced axes; which terms devices have is as XLA
//! shows them.

use crate::error::{Code, Failure, Outcome};
use crate::parameters::ENTRY;
use crate::propagation::{stated_dims, value_shardings};
use stablo::dialects::sdy::{self, ManualComputationOp, Mesh};
use stablo::dialects::stablehlo::{
    AddOp, AllReduceOp, BroadcastInDimOp, CaseOp, CompareOp, ConcatenateOp, ConstantOp, ConvertOp,
    DivideOp, DotGeneralOp, DynamicSliceOp, DynamicUpdateSliceOp, IfOp, MultiplyOp, NegateOp,
    OptimizationBarrierOp, PartitionIdOp, ReduceOp, ReshapeOp, ReverseOp, ScatterOp, SelectOp,
    SliceOp, SubtractOp, TransposeOp, WhileOp,
};
use stablo::ir::{BlockId, OpId, OpRef, RegionId, Value};
use stablo::{Attribute, Builder, Module, Tensor, Type};
use std::collections::HashMap;

/// The attribute of a slice that is the shard of a process: the axes that split each dimension.
pub(crate) const SHARD: &str = "stablo.shard";

/// The axes along which a value is unreduced, `#sdy.axis_ref`s; empty for reduced values.
type Axes = Vec<Attribute>;

/// An operand that is unreduced along other axes than its use needs.
struct TermChange {
    user: OpId,
    operand: usize,
    /// The axes along which it becomes unreduced.
    enters: Axes,
    /// The axes along which it stops to be.
    leaves: Axes,
}

/// Rewrites a program that takes or returns unreduced values for processes with separate terms.
/// False if it has no such values, or ops that are not supported here: then the first device has
/// the value, and the others have zeros.
pub(crate) fn prepare(module: &mut Module, devices: usize) -> Outcome<bool> {
    if devices < 2 || !has_terms(module) {
        return Ok(false);
    }
    separate(module, devices)
}

/// As [`prepare`], of a program that may have unreduced values within alone.
pub(crate) fn separate(module: &mut Module, devices: usize) -> Outcome<bool> {
    let mut own = module.clone();
    if stablo::run_pipeline(&mut own, "inline").is_err() {
        return Ok(false);
    }
    let Some(TermStates { changes, mesh: Some(mesh), .. }) = TermStates::of(&own) else {
        return Ok(false);
    };
    let Some(mut edit) = TermEditor::new(&mut own, devices, &mesh, &changes) else {
        return Ok(false);
    };
    for change in &changes {
        edit.apply(change).map_err(Failure::of(Code::Internal))?;
    }
    take_own_terms(&mut own);
    stablo::verify(&own).map_err(Failure::of(Code::Internal))?;
    *module = own;
    Ok(true)
}

/// The axes along which a sharding is unreduced by sums. `None` for other reductions.
fn unreduced(sharding: &Attribute) -> Option<Axes> {
    let params = sharding.as_dialect(&sdy::SHARDING)?;
    let axes = params.get(3).and_then(|axes| axes.as_ref()?.as_array()).unwrap_or(&[]);
    let is_sum = params.get(4).is_none_or(|own| own.as_ref().is_none_or(is_zero));
    (is_sum || axes.is_empty()).then(|| axes.to_vec())
}

fn is_zero(reduction: &Attribute) -> bool {
    reduction.as_i64() == Some(0)
}

/// The sharding of an argument or a result of a function.
fn sharding(attributes: Option<&[Attribute]>, index: usize) -> Option<&Attribute> {
    attributes?.get(index)?.as_dictionary()?.get("sdy.sharding")
}

/// True if an argument or a result of the function that runs is unreduced.
fn has_terms(module: &Module) -> bool {
    let Ok(function) = stablo::entry_function(module, ENTRY) else { return false };
    let all = function.arg_attrs().into_iter().chain(function.res_attrs());
    let shardings = all.flatten().filter_map(|own| own.as_dictionary()?.get("sdy.sharding"));
    shardings.filter_map(unreduced).any(|axes| !axes.is_empty())
}

/// True if any value of the program is stated to be unreduced.
pub(crate) fn has_inner_terms(module: &Module) -> bool {
    let is_unreduced = |own: &Attribute| unreduced(own).is_none_or(|axes| !axes.is_empty());
    stablo::walk(module).filter_map(|op| op.attr("sharding")).any(is_unreduced)
}

/// Those axes of the first list that the second does not have.
fn without(axes: &Axes, others: &Axes) -> Axes {
    axes.iter().filter(|axis| !others.contains(axis)).cloned().collect()
}

/// True if an op with one computation adds, as reductions and scatters do.
pub(crate) fn adds(op: OpRef<'_>) -> bool {
    combining_op(op).is_some_and(|sum| sum.is(AddOp::DEF))
}

/// The op that combines both arguments of the first region, if that is all the region does.
pub(crate) fn combining_op(op: OpRef<'_>) -> Option<OpRef<'_>> {
    let module = op.module();
    let block = module.entry(*op.regions().first()?)?;
    let (&[left, right], &[returned]) =
        (module.arguments(block), module.terminator(block)?.operands())
    else {
        return None;
    };
    let body = module.defining_op(returned)?;
    let combines = matches!(body.operands(), &[a, b] if [[a, b], [b, a]].contains(&[left, right]));
    combines.then_some(body)
}

/// True for constants all elements of which are zero.
pub(crate) fn is_zero_constant(module: &Module, value: Value) -> bool {
    let constant = module.defining_op(value).and_then(ConstantOp::cast);
    let tensor = constant.and_then(|own| own.value().to_tensor()?.ok());
    tensor.is_some_and(|own| Tensor::zeros(own.dtype(), own.shape()).is_ok_and(|zero| zero == own))
}

/// Finds out which values are unreduced, and where that changes.
struct TermStates<'m> {
    module: &'m Module,
    /// The axes of the values that are unreduced.
    states: HashMap<Value, Axes>,
    /// The mesh of the axes.
    mesh: Option<Attribute>,
    changes: Vec<TermChange>,
}

impl<'m> TermStates<'m> {
    /// The changes, in the order of the program. `None` if an op is not supported.
    fn of(module: &'m Module) -> Option<TermStates<'m>> {
        let function = stablo::entry_function(module, ENTRY).ok()?;
        let block = module.entry(*function.regions().first()?)?;
        let (states, changes) = Default::default();
        let mut own = TermStates { module, states, mesh: None, changes };
        for (index, &argument) in module.arguments(block).iter().enumerate() {
            if let Some(sharding) = sharding(function.arg_attrs(), index) {
                let axes = own.axes(sharding)?;
                own.set(argument, axes);
            }
        }
        own.block(block)?;
        let last = module.terminator(block)?;
        for (index, _) in last.operands().iter().enumerate() {
            let stated = sharding(function.res_attrs(), index);
            let axes = stated.map_or(Some(Axes::new()), |own_sharding| own.axes(own_sharding))?;
            own.need(last, index, &axes);
        }
        Some(own)
    }

    /// The axes along which a sharding is unreduced. `None` for another reduction than
    /// a sum, or a second mesh.
    fn axes(&mut self, sharding: &Attribute) -> Option<Axes> {
        let axes = unreduced(sharding)?;
        if !axes.is_empty() {
            let mesh = sdy::mesh_or_ref(sharding)?;
            if self.mesh.get_or_insert_with(|| mesh.clone()) != mesh {
                return None;
            }
        }
        Some(axes)
    }

    fn state(&self, value: Value) -> Axes {
        self.states.get(&value).cloned().unwrap_or_default()
    }

    fn set(&mut self, value: Value, axes: Axes) {
        if !axes.is_empty() {
            self.states.insert(value, axes);
        }
    }

    /// Notes that an op needs an operand that is unreduced along these axes.
    fn need(&mut self, user: OpRef<'_>, operand: usize, axes: &Axes) {
        let found = self.state(user.operand(operand));
        let (enters, leaves) = (without(axes, &found), without(&found, axes));
        if !(enters.is_empty() && leaves.is_empty()) {
            self.changes.push(TermChange { user: user.id(), operand, enters, leaves });
        }
    }

    fn block(&mut self, block: BlockId) -> Option<()> {
        self.module.ops(block).try_for_each(|op| self.op(op))
    }

    fn op(&mut self, op: OpRef<'m>) -> Option<()> {
        let last = self.module.terminator(op.block()?);
        if last.is_some_and(|last| last.id() == op.id()) {
            // The op around the block states its needs.
            return Some(());
        }
        if op.is_any(&[sdy::ShardingConstraintOp::DEF, sdy::ReshardOp::DEF]) {
            let axes = self.axes(op.attr("sharding")?)?;
            self.need(op, 0, &axes);
            self.set(op.result(0), axes);
        } else if let Some(manual) = ManualComputationOp::cast(op) {
            for (index, sharding) in sdy::shardings(manual.in_shardings()).iter().enumerate() {
                let axes = self.axes(sharding)?;
                self.need(op, index, &axes);
            }
            for (result, sharding) in op.results().zip(sdy::shardings(manual.out_shardings())) {
                let axes = self.axes(sharding)?;
                self.set(result, axes);
            }
        } else if op.is(WhileOp::DEF) {
            let carried: Vec<Axes> = op.operands().iter().map(|&own| self.state(own)).collect();
            for (index, &region) in op.regions().iter().enumerate() {
                let block = self.module.entry(region)?;
                for (&argument, axes) in self.module.arguments(block).iter().zip(&carried) {
                    self.set(argument, axes.clone());
                }
                let condition = [Axes::new()];
                self.region(region, if index == 0 { &condition } else { &carried })?;
            }
            op.results().zip(carried).for_each(|(result, axes)| self.set(result, axes));
        } else if op.is_any(&[CaseOp::DEF, IfOp::DEF]) {
            self.need(op, 0, &Axes::new());
            let mut returned: Option<Vec<Axes>> = None;
            for &region in op.regions() {
                let block = self.module.entry(region)?;
                self.block(block)?;
                let last = self.module.terminator(block)?;
                let own = || last.operands().iter().map(|&own| self.state(own)).collect();
                let needed = returned.get_or_insert_with(own).clone();
                needed.iter().enumerate().for_each(|(index, axes)| self.need(last, index, axes));
            }
            let returned = returned.unwrap_or_default();
            op.results().zip(returned).for_each(|(result, axes)| self.set(result, axes));
        } else if op.is(OptimizationBarrierOp::DEF) {
            for (&operand, result) in op.operands().iter().zip(op.results()) {
                let axes = self.state(operand);
                self.set(result, axes);
            }
        } else {
            let terms = self.linear(op);
            let axes = terms.first().map(|&index| self.state(op.operand(index)));
            let axes = axes.unwrap_or_default();
            let is_term = |index: &usize| {
                terms.contains(index) && self.state(op.operand(*index)).len() == axes.len()
            };
            let is_linear = !axes.is_empty()
                && terms.iter().all(is_term)
                && terms.iter().all(|&i| without(&axes, &self.state(op.operand(i))).is_empty());
            for index in 0..op.operands().len() {
                let is_kept = is_linear && terms.contains(&index);
                self.need(op, index, if is_kept { &axes } else { const { &Axes::new() } });
            }
            if is_linear {
                op.results()
                    .collect::<Vec<_>>()
                    .into_iter()
                    .for_each(|r| self.set(r, axes.clone()));
            }
        }
        Some(())
    }

    /// Goes through a region that is to return values that are unreduced along these axes.
    fn region(&mut self, region: RegionId, returned: &[Axes]) -> Option<()> {
        let block = self.module.entry(region)?;
        self.block(block)?;
        let last = self.module.terminator(block)?;
        for (index, axes) in returned.iter().enumerate().take(last.operands().len()) {
            self.need(last, index, axes);
        }
        Some(())
    }

    /// The operands whose terms give terms of the result, if all of these are unreduced and the
    /// others are not.
    fn linear(&self, op: OpRef<'_>) -> Vec<usize> {
        let is_unreduced = |index: usize| self.states.contains_key(&op.operand(index));
        let is_float = |value: Value| self.module.ty(value).element_type().is_float();
        if op.is_any(&[AddOp::DEF, SubtractOp::DEF, ConcatenateOp::DEF]) {
            (0..op.operands().len()).collect()
        } else if op.is(SelectOp::DEF) {
            vec![1, 2]
        } else if op.is(DynamicUpdateSliceOp::DEF) {
            vec![0, 1]
        } else if op.is(ScatterOp::DEF) && op.operands().len() == 3 && adds(op) {
            vec![0, 2]
        } else if op.is_any(&[MultiplyOp::DEF, DotGeneralOp::DEF]) {
            (0..2).filter(|&index| is_unreduced(index)).take(1).collect()
        } else if op.is_any(&[
            NegateOp::DEF,
            ReshapeOp::DEF,
            TransposeOp::DEF,
            BroadcastInDimOp::DEF,
            SliceOp::DEF,
            ReverseOp::DEF,
            DynamicSliceOp::DEF,
        ]) || op.is_any(&[ConvertOp::DEF, DivideOp::DEF])
            && is_float(op.operand(0))
            && is_float(op.result(0))
            || op.is(ReduceOp::DEF)
                && op.operands().len() == 2
                && adds(op)
                && is_zero_constant(self.module, op.operand(1))
        {
            vec![0]
        } else {
            Vec::new()
        }
    }
}

/// A dimension of an operand, and axes that split it.
struct SplitDim {
    operand: usize,
    dim: usize,
    axes: Axes,
}

/// Edits the program.
struct TermEditor<'m> {
    builder: Builder<'m>,
    devices: usize,
    mesh: Mesh,
    /// The shardings of values that become unreduced, and of what they are made of.
    shardings: HashMap<Value, Attribute>,
}

impl<'m> TermEditor<'m> {
    /// `None` if the mesh has devices that do not run the program.
    fn new(
        module: &'m mut Module,
        devices: usize,
        mesh: &Attribute,
        changes: &[TermChange],
    ) -> Option<TermEditor<'m>> {
        let function = stablo::entry_function(module, ENTRY).ok()?;
        let mesh = Mesh::resolve(*function, mesh)?;
        if mesh.num_devices() != devices || mesh.place(devices - 1).is_none() {
            return None;
        }
        let mut values = Vec::new();
        for change in changes.iter().filter(|change| !change.enters.is_empty()) {
            let value = module.op(change.user).operand(change.operand);
            values.push(value);
            values.extend(module.defining_op(value).into_iter().flat_map(OpRef::operands));
        }
        let shardings = value_shardings(module, *function, &values);
        let known = values.into_iter().zip(shardings);
        let shardings = known.filter_map(|(value, own)| Some((value, own?))).collect();
        Some(TermEditor { builder: Builder::new(module), devices, mesh, shardings })
    }

    fn module(&self) -> &Module {
        self.builder.module()
    }

    fn apply(&mut self, change: &TermChange) -> stablo::Result<()> {
        let user = self.module().op(change.user);
        let (mut value, location) = (user.operand(change.operand), user.location());
        self.builder.insert_before(change.user).set_location(location);
        if !change.leaves.is_empty() {
            value = self.sum(value, &change.leaves)?;
        }
        if !change.enters.is_empty() {
            value = self.term(value, &change.enters, change.user)?;
        }
        let before = self.module().op(change.user).operand(change.operand);
        self.builder.module_mut().set_operand(change.user, change.operand, value);
        let unused = self.module().defining_op(before).filter(|_| self.module().is_unused(before));
        match unused.filter(|op| op.num_results() == 1).map(OpRef::id) {
            Some(op) => self.builder.erase(op),
            None => Ok(()),
        }
    }

    /// The sum of the terms along axes.
    fn sum(&mut self, value: Value, axes: &Axes) -> stablo::Result<Value> {
        let parts: Vec<_> = axes.iter().filter_map(|axis| self.mesh.axis_ref(axis)).collect();
        let mut groups: Vec<Vec<i64>> = Vec::new();
        for place in (0..self.devices).filter_map(|device| self.mesh.place(device)) {
            let group = self.mesh.group(&place, &parts).into_iter().map(|device| device as i64);
            let group: Vec<i64> = group.collect();
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
        let shape = [groups.len() as i64, groups.first().map_or(0, Vec::len) as i64];
        let groups = Attribute::i64_elements(&shape, &groups.concat());
        let ty = self.module().ty(value).clone();
        let scalar = Type::tensor([], ty.element_type().clone());
        self.builder
            .op(AllReduceOp::DEF)
            .operands([value])
            .attribute("replica_groups", groups.unwrap_or_else(|| Attribute::array(Vec::new())))
            .attribute(
                "channel_handle",
                stablo::parse_attribute("#stablehlo.channel_handle<handle = 1, type = 1>")?,
            )
            .attribute("use_global_device_ids", Attribute::unit())
            .body([scalar.clone(), scalar], |builder, arguments| {
                let sum = builder.op(AddOp::DEF).operands(arguments.iter().copied());
                Ok(vec![sum.value()?])
            })
            .result_types([ty])
            .value()
    }

    /// The term of this process of a value that becomes unreduced along axes.
    fn term(&mut self, value: Value, axes: &Axes, user: OpId) -> stablo::Result<Value> {
        let producer = self.module().defining_op(value).map(OpRef::id);
        let splits = producer.map_or_else(Vec::new, |op| self.splits(self.module().op(op), axes));
        let Some(producer) = producer.filter(|_| !splits.is_empty()) else {
            let splits = self.dims(value, axes);
            return self.shard(value, &splits, axes);
        };
        let used: Axes = splits.iter().flat_map(|own| own.axes.iter().cloned()).collect();
        let open = without(axes, &used);
        let mut operands = self.module().op(producer).operands().to_vec();
        for (index, operand) in operands.iter_mut().enumerate() {
            let own = splits.iter().filter(|split| split.operand == index);
            let own: Vec<_> = own.map(|split| (split.dim, split.axes.clone())).collect();
            if !own.is_empty() {
                *operand = self.slice(*operand, &own)?.0;
            }
        }
        // The value to which others are added counts once.
        let view = self.module().op(producer);
        let start = match () {
            () if view.is(ScatterOp::DEF) => Some(0),
            () if view.is(ReduceOp::DEF) => Some(1),
            () => None,
        };
        if let Some(start) = start {
            operands[start] = self.on_first(operands[start], &used)?;
        }
        let before = self.module().op(producer).operands().to_vec();
        let mut values: HashMap<Value, Value> = before.into_iter().zip(operands.clone()).collect();
        let module = self.builder.module_mut();
        let copy = module.clone_op(producer, &mut values, &mut HashMap::new());
        module.set_operands(copy, operands);
        module.insert_before(copy, user);
        let result = self.module().op(copy).result(0);
        self.on_first(result, &open)
    }

    /// The dimensions that a product or a sum contracts, with the axes that split them. None for
    /// other ops.
    fn splits(&self, op: OpRef<'_>, axes: &Axes) -> Vec<SplitDim> {
        let of = |operand: usize, dim: i64| -> Axes {
            let dims = self.dims(op.operand(operand), axes);
            dims.into_iter().find(|own| own.0 as i64 == dim).map_or(Axes::new(), |own| own.1)
        };
        let mut splits: Vec<SplitDim> = Vec::new();
        let mut add = |dims: &[(usize, i64)]| {
            let used: Axes = splits.iter().flat_map(|own| own.axes.iter().cloned()).collect();
            let stated = dims.iter().map(|&(operand, dim)| of(operand, dim));
            let axes = without(&stated.max_by_key(Axes::len).unwrap_or_default(), &used);
            let count = self.count(&axes);
            let is_even = |&(operand, dim): &(usize, i64)| {
                let shape = self.shape(op.operand(operand));
                shape.get(dim as usize).is_some_and(|&size| size > 0 && size % count == 0)
            };
            if !axes.is_empty() && dims.iter().all(is_even) {
                let split = |&(operand, dim): &(usize, i64)| SplitDim {
                    operand,
                    dim: dim as usize,
                    axes: axes.clone(),
                };
                splits.extend(dims.iter().map(split));
            }
        };
        if let Some(dot) = DotGeneralOp::cast(op) {
            let numbers = dot.dot_dimension_numbers();
            let left = numbers.lhs_contracting_dimensions;
            for (&l, &r) in left.iter().zip(numbers.rhs_contracting_dimensions) {
                add(&[(0, l), (1, r)]);
            }
        } else if op.is(ReduceOp::DEF) && op.operands().len() == 2 && adds(op) {
            op.int_array("dimensions").unwrap_or(&[]).iter().for_each(|&dim| add(&[(0, dim)]));
        } else if let Some(scatter) = ScatterOp::cast(op)
            && op.operands().len() == 3
            && adds(op)
        {
            let numbers = scatter.scatter_dimension_numbers();
            let rank = |operand: usize| {
                let ty = self.module().ty(op.operand(operand)).as_tensor();
                ty.map_or(0, |own| own.rank() as i64)
            };
            let indices = (0..rank(1)).filter(|&dim| dim != numbers.index_vector_dim);
            let updates = (0..rank(2)).filter(|dim| !numbers.update_window_dims.contains(dim));
            for (index, update) in indices.zip(updates) {
                if !numbers.scatter_indices_batching_dims.contains(&index) {
                    add(&[(1, index), (2, update)]);
                }
            }
        }
        splits
    }

    /// The dimensions of a value that some of the axes split, with these axes.
    fn dims(&self, value: Value, axes: &Axes) -> Vec<(usize, Axes)> {
        let Some(sharding) = self.shardings.get(&value) else { return Vec::new() };
        let shape = self.shape(value);
        let own = stated_dims(sharding).into_iter().enumerate().map(|(dim, (stated, _))| {
            (dim, stated.iter().filter(|axis| axes.contains(axis)).cloned().collect::<Axes>())
        });
        let is_even = |(dim, own): &(usize, Axes)| {
            !own.is_empty() && shape.get(*dim).is_some_and(|size| size % self.count(own) == 0)
        };
        own.filter(is_even).collect()
    }

    fn shape(&self, value: Value) -> Vec<usize> {
        let shape = self.module().ty(value).as_tensor().and_then(|own| own.static_shape());
        shape.unwrap_or_default()
    }

    /// The number of parts along axes.
    fn count(&self, axes: &Axes) -> usize {
        axes.iter().filter_map(|axis| Some(self.mesh.axis_ref(axis)?.size)).product()
    }

    /// The number of the part of each device along axes.
    fn numbers(&self, axes: &Axes) -> Vec<i64> {
        let parts: Vec<_> = axes.iter().filter_map(|axis| self.mesh.axis_ref(axis)).collect();
        let number = |device| {
            let place = self.mesh.place(device).unwrap_or_else(|| vec![0; self.mesh.axes.len()]);
            parts.iter().fold(0, |n, part| n * part.size + part.index(&place)) as i64
        };
        (0..self.devices).map(number).collect()
    }

    /// The element of a table for this process.
    fn own(&mut self, table: Vec<i64>) -> stablo::Result<Value> {
        if let Some(&first) = table.first().filter(|first| table.iter().all(|own| own == *first)) {
            return self.builder.constant(&Tensor::splat([], first)?);
        }
        let table = Tensor::from_vec([self.devices], table)?;
        let table = self.builder.constant(&table)?;
        let device = self.builder.op(PartitionIdOp::DEF).value()?;
        let slice = self.builder.op(DynamicSliceOp::DEF).operands([table, device]);
        let element = slice.attribute("slice_sizes", Attribute::i64_array([1])).value()?;
        let scalar = Type::tensor([], self.module().ty(element).element_type().clone());
        self.builder.op(ReshapeOp::DEF).operands([element]).result_types([scalar]).value()
    }

    /// Zeros of the type of a value.
    fn zeros(&mut self, ty: &Type) -> stablo::Result<Value> {
        let scalar = Type::tensor([], ty.element_type().clone());
        let dtype = stablo::storage_dtype(ty).unwrap_or(stablo::DType::F32);
        let zero = self.builder.constant(&Tensor::zeros(dtype, [])?)?;
        self.builder.set_type(zero, scalar);
        let zeros = self.builder.op(BroadcastInDimOp::DEF).operands([zero]);
        let none = Attribute::i64_array([]);
        zeros.attribute("broadcast_dimensions", none).result_types([ty.clone()]).value()
    }

    /// A value on the devices that are first along axes, and zeros on the others.
    fn on_first(&mut self, value: Value, axes: &Axes) -> stablo::Result<Value> {
        if axes.is_empty() {
            return Ok(value);
        }
        let ty = self.module().ty(value).clone();
        let number = self.own(self.numbers(axes))?;
        let zero = self.builder.constant(&Tensor::splat([], 0i64)?)?;
        let is_first = self.builder.op(CompareOp::DEF).operands([number, zero]);
        let is_first = is_first.case("comparison_direction", "EQ").value()?;
        let zeros = self.zeros(&ty)?;
        self.builder.op(SelectOp::DEF).operands([is_first, value, zeros]).value()
    }

    /// The shard of this process, and where it starts.
    fn slice(
        &mut self,
        value: Value,
        dims: &[(usize, Axes)],
    ) -> stablo::Result<(Value, Vec<Value>)> {
        let mut sizes: Vec<i64> = self.shape(value).iter().map(|&size| size as i64).collect();
        let mut starts = Vec::with_capacity(sizes.len());
        for (dim, size) in sizes.iter_mut().enumerate() {
            let mut table = vec![0; self.devices];
            if let Some((_, axes)) = dims.iter().find(|own| own.0 == dim) {
                *size /= self.count(axes).max(1) as i64;
                table = self.numbers(axes).into_iter().map(|number| number * *size).collect();
            }
            starts.push(self.own(table)?);
        }
        let axes =
            |dim| dims.iter().find(|own| own.0 == dim).map_or(Axes::new(), |own| own.1.clone());
        let split = (0..sizes.len()).map(|dim| Attribute::array(axes(dim))).collect();
        let slice = self.builder.op(DynamicSliceOp::DEF).attribute(SHARD, Attribute::array(split));
        let slice = slice.operands([value]).operands(starts.iter().copied());
        let shard = slice.attribute("slice_sizes", Attribute::i64_array(sizes)).value()?;
        Ok((shard, starts))
    }

    /// The shard of this process with zeros around it. Of equal shards, the first counts.
    fn shard(
        &mut self,
        value: Value,
        dims: &[(usize, Axes)],
        axes: &Axes,
    ) -> stablo::Result<Value> {
        let used: Axes = dims.iter().flat_map(|own| own.1.iter().cloned()).collect();
        let mut whole = value;
        if !dims.is_empty() {
            let (shard, starts) = self.slice(value, dims)?;
            let ty = self.module().ty(value).clone();
            let zeros = self.zeros(&ty)?;
            let update = self.builder.op(DynamicUpdateSliceOp::DEF).operands([zeros, shard]);
            whole = update.operands(starts).value()?;
        }
        self.on_first(whole, &without(axes, &used))
    }
}

/// Manual computations of the processes take and give the terms of these as they are.
fn take_own_terms(module: &mut Module) {
    let is_outer = |op: &OpRef<'_>| {
        op.is(ManualComputationOp::DEF)
            && std::iter::successors(op.parent(), |op| op.parent())
                .all(|op| !op.is(ManualComputationOp::DEF))
    };
    let manual: Vec<OpId> = stablo::walk(module).filter(is_outer).map(OpRef::id).collect();
    for id in manual {
        for name in ["in_shardings", "out_shardings"] {
            let Some(all) = module.op(id).attr(name) else { continue };
            let reduced = |sharding: &Attribute| {
                let Some(params) = sharding.as_dialect(&sdy::SHARDING) else {
                    return sharding.clone();
                };
                let mut params = params.to_vec();
                params[3] = Some(Attribute::array(Vec::new()));
                Attribute::dialect(&sdy::SHARDING, params)
            };
            let all = sdy::shardings(all).iter().map(reduced).collect();
            let all =
                Attribute::dialect(&sdy::SHARDING_PER_VALUE, vec![Some(Attribute::array(all))]);
            module.set_attr(id, name, all);
        }
    }
}
