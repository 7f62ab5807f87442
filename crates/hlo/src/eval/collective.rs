//! Collective operations: the groups of processes that meet, and what becomes of what they bring.
//!
//! Source: specification, "Parallel execution" and the sections of the ops.

use super::{Body, slice};
use crate::attrs::{self, AXIS_REF, MESH, MESH_AXIS, REPLICA_GROUP_MESH_AXES, SUB_AXIS_INFO};
use mlir::eval::{EvalEnv, EvalError, EvalResult, RuntimeValue};
use mlir::ir::ValueDef;
use mlir::ods::AttrDef;
use mlir::process::{Contributions, Grid, MAX_PROCESSES, ProcessId};
use mlir::verify::nearest_symbol;
use mlir::{Attribute, Module, OpRef, RegionId, Type, Value};
use numerics::shape::StridedView;
use numerics::{Tensor, TensorError};
use side_dialects::quant::Uniform;
use side_dialects::sdy;
use std::sync::Arc;

/// How lists of ids become groups of processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Ids of replicas; within one partition.
    CrossReplica,
    /// Ids of partitions; within one replica.
    CrossPartition,
    /// Ids of replicas, each with all its partitions.
    CrossReplicaAndPartition,
    /// Numbers of processes, counted row by row.
    FlattenedIds,
}

impl Strategy {
    /// Of ops that gather or reduce: `all_gather`, `all_reduce`, `reduce_scatter`.
    pub fn of_reduction(op: OpRef<'_>) -> Strategy {
        match (channel(op) > 0, attrs::flag(op.attr("use_global_device_ids"))) {
            (_, true) => Strategy::FlattenedIds,
            (true, false) => Strategy::CrossReplicaAndPartition,
            (false, false) => Strategy::CrossReplica,
        }
    }

    /// Of ops that pass values on: `all_to_all`, `collective_broadcast`, `collective_permute`,
    /// `send`, `recv`.
    pub fn of_exchange(op: OpRef<'_>) -> Strategy {
        if channel(op) > 0 { Strategy::CrossPartition } else { Strategy::CrossReplica }
    }

    /// The id of a process.
    fn id(self, me: ProcessId, grid: Grid) -> usize {
        match self {
            Strategy::CrossReplica | Strategy::CrossReplicaAndPartition => me.replica,
            Strategy::CrossPartition => me.partition,
            Strategy::FlattenedIds => grid.number(me).unwrap_or_default(),
        }
    }

    /// How many ids there are.
    fn count(self, grid: Grid) -> usize {
        match self {
            Strategy::CrossReplica | Strategy::CrossReplicaAndPartition => grid.replicas,
            Strategy::CrossPartition => grid.partitions,
            Strategy::FlattenedIds => grid.size().unwrap_or_default(),
        }
    }

    /// The processes that a list of ids means to the process `me`.
    ///
    /// # Errors
    /// An id that is out of range.
    pub fn processes(
        self,
        ids: &[usize],
        me: ProcessId,
        grid: Grid,
    ) -> Result<Vec<ProcessId>, EvalError> {
        if let Some(id) = ids.iter().find(|&&id| id >= self.count(grid)) {
            let what = match self {
                Strategy::CrossReplica | Strategy::CrossReplicaAndPartition => "replica",
                Strategy::CrossPartition => "partition",
                Strategy::FlattenedIds => "process",
            };
            let message = format!("there is no {what} {id}: the program runs on a grid of {grid}");
            return Err(EvalError::new("process_group", message));
        }
        let one = |&id: &usize| match self {
            Strategy::CrossPartition => ProcessId { partition: id, ..me },
            Strategy::FlattenedIds => grid.process(id).unwrap_or_default(),
            _ => ProcessId { replica: id, ..me },
        };
        Ok(match self {
            Strategy::CrossReplicaAndPartition => (0..grid.partitions)
                .flat_map(|partition| {
                    ids.iter().map(move |&replica| ProcessId { replica, partition })
                })
                .collect(),
            _ => ids.iter().map(one).collect(),
        })
    }
}

/// The channel of an op; 0 if it names none.
pub fn channel(op: OpRef<'_>) -> i64 {
    op.attr("channel_handle").map_or(0, attrs::channel_id)
}

/// The ids in `replica_groups`, group by group; no groups mean one of all.
fn replica_groups(op: OpRef<'_>, count: usize) -> Result<Vec<Vec<usize>>, EvalError> {
    let attr = op.attr("replica_groups").ok_or_else(|| super::missing(op, "replica_groups"))?;
    let invalid = || super::missing(op, "replica_groups");
    let groups = match attr.as_dialect(&REPLICA_GROUP_MESH_AXES) {
        Some(_) => mesh_axes_groups(op).ok_or_else(invalid)?,
        None => {
            let columns =
                attr.ty().shape().and_then(|s| usize::try_from(*s.get(1)?).ok()).unwrap_or(0);
            let ids = attr.as_dense().and_then(|d| d.int_values()).ok_or_else(invalid)?;
            // -1 fills up groups that are smaller than others.
            let group =
                |ids: &[i64]| ids.iter().filter_map(|&id| usize::try_from(id).ok()).collect();
            ids.chunks(columns.max(1)).map(group).collect()
        }
    };
    let all = groups.iter().all(Vec::is_empty);
    Ok(if all { vec![(0..count).collect()] } else { groups })
}

/// The groups of processes of an op whose `replica_groups` are axes of a mesh. None if they are
/// not, or the mesh is not known.
pub fn mesh_axes_groups(op: OpRef<'_>) -> Option<Vec<Vec<usize>>> {
    match op.attr("replica_groups")?.as_dialect(&REPLICA_GROUP_MESH_AXES)? {
        [Some(mesh), Some(axes)] => mesh_groups(op, mesh, axes.as_array().unwrap_or(&[])),
        _ => None,
    }
}

/// The groups that axes of a mesh make: devices that differ only along these.
fn mesh_groups(op: OpRef<'_>, mesh: &Attribute, axes: &[Attribute]) -> Option<Vec<Vec<usize>>> {
    let named = |name: &Arc<str>| {
        let symbol = nearest_symbol(op, name)?;
        symbol.attr("mesh").or_else(|| symbol.attr("stablehlo.mesh"))
    };
    let mesh = mesh.as_flat_symbol().map_or(Some(mesh), named)?;
    let mesh = sdy::Mesh::of(mesh).or_else(|| stablehlo_mesh(mesh))?;
    let size =
        |sub: &[Option<Attribute>], i: usize| usize::try_from(sub.get(i)?.as_ref()?.as_i64()?).ok();
    let part = |axis: &Attribute| -> Option<sdy::AxisPart> {
        if let Some(part) = mesh.axis_ref(axis) {
            return Some(part);
        }
        let params = axis.as_dialect(&AXIS_REF)?;
        let sub = match params.get(1)?.as_ref().and_then(|sub| sub.as_dialect(&SUB_AXIS_INFO)) {
            Some(sub) => Some((size(sub, 0)?, size(sub, 1)?)),
            None => None,
        };
        mesh.part(params.first()?.as_ref()?.as_str()?, sub)
    };
    let parts: Vec<sdy::AxisPart> = axes.iter().map(part).collect::<Option<_>>()?;
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut grouped = vec![false; Some(mesh.num_devices()).filter(|&n| n <= MAX_PROCESSES)?];
    for device in 0..grouped.len() {
        if !grouped[device] {
            let group = mesh.group(&mesh.place(device)?, &parts);
            for &member in &group {
                *grouped.get_mut(member)? = true;
            }
            groups.push(group);
        }
    }
    Some(groups)
}

/// A field of an attribute of that declaration, or of a dictionary with the same names.
fn field<'a>(attr: &'a Attribute, def: &'static AttrDef, name: &str) -> Option<&'a Attribute> {
    match attr.as_dictionary() {
        Some(dictionary) => dictionary.get(name),
        None => {
            attr.as_dialect(def)?.get(def.params.iter().position(|p| p.name == name)?)?.as_ref()
        }
    }
}

/// The mesh that a `#stablehlo.mesh` says, or a dictionary with its fields.
fn stablehlo_mesh(attr: &Attribute) -> Option<sdy::Mesh> {
    let axis = |axis: &Attribute| {
        let size = usize::try_from(field(axis, &MESH_AXIS, "size")?.as_i64()?).ok()?;
        Some((field(axis, &MESH_AXIS, "name")?.as_str()?.to_string(), size))
    };
    let axes = field(attr, &MESH, "axes")?.as_array()?.iter().map(axis).collect::<Option<_>>()?;
    let ids = match field(attr, &MESH, "device_ids") {
        Some(ids) => Some(
            ids.as_dense()?
                .int_values()?
                .into_iter()
                .map(|id| usize::try_from(id).ok())
                .collect::<Option<_>>()?,
        ),
        None => None,
    };
    sdy::Mesh::new(axes, ids)
}

/// What the processes of a group brought to an op.
pub struct Meeting {
    all: Contributions,
    /// Which of them this process is.
    pub place: usize,
}

impl Meeting {
    /// Number of processes.
    pub fn size(&self) -> usize {
        self.all.len()
    }

    /// Result `index`, which all processes of the group make alike.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn shared(
        &self,
        index: usize,
        make: impl FnOnce() -> Result<Tensor, EvalError>,
    ) -> Result<RuntimeValue, EvalError> {
        self.all.shared(index, || Ok(make()?.into()))
    }

    /// The reduction of what all brought as value `index`, with a region.
    ///
    /// # Errors
    /// Those of [`reduce_over`].
    pub fn reduced(
        &self,
        op: OpRef<'_>,
        computation: RegionId,
        index: usize,
        env: &mut dyn EvalEnv,
    ) -> Result<RuntimeValue, EvalError> {
        let mut reduce = || {
            reduce_over(op, computation, self.tensors(index)?.into_iter().cloned().collect(), env)
        };
        // A region that sees values around it may reduce differently in each process.
        match is_closed(op.module(), computation) {
            true => self.shared(index, reduce),
            false => Ok(reduce()?.into()),
        }
    }

    /// What each process brought as value `index`.
    ///
    /// # Errors
    /// If somebody brought no such tensor.
    pub fn tensors(&self, index: usize) -> Result<Vec<&Tensor>, EvalError> {
        (0..self.all.len()).map(|member| self.tensor(member, index)).collect()
    }

    /// What the process `member` of the group brought as value `index`.
    ///
    /// # Errors
    /// If it brought no such tensor.
    pub fn tensor(&self, member: usize, index: usize) -> Result<&Tensor, EvalError> {
        let value = self.all.get(member).and_then(|values| values.get(index));
        value
            .ok_or_else(|| {
                EvalError::new("process_group", format!("no value {index} from member {member}"))
            })?
            .tensor()
    }
}

/// Meets the group of this process among the `replica_groups`; none if it is in no group.
///
/// # Errors
/// Groups that do not fit the grid, and those of `World::exchange`.
pub fn try_meet(
    op: OpRef<'_>,
    strategy: Strategy,
    values: Vec<RuntimeValue>,
    env: &mut dyn EvalEnv,
) -> Result<Option<Meeting>, EvalError> {
    let world = env.world()?;
    let (me, grid) = (world.process(), world.grid());
    let id = strategy.id(me, grid);
    let groups = replica_groups(op, strategy.count(grid))?;
    let Some(group) = groups.iter().find(|group| group.contains(&id)) else { return Ok(None) };
    let group = strategy.processes(group, me, grid)?;
    let place = group.iter().position(|&process| process == me).unwrap_or_default();
    Ok(Some(Meeting { all: world.exchange(op, &group, channel(op), values)?, place }))
}

/// As [`try_meet`], of ops in which each process takes part.
///
/// # Errors
/// As there, and if this process is in no group.
pub fn meet(
    op: OpRef<'_>,
    strategy: Strategy,
    values: Vec<RuntimeValue>,
    env: &mut dyn EvalEnv,
) -> Result<Meeting, EvalError> {
    let me = env.world()?.process();
    try_meet(op, strategy, values, env)?.ok_or_else(|| {
        EvalError::new("process_group", format!("process {me} is in none of the replica_groups"))
    })
}

/// Whether the ops of a region of one block use nothing but each other and the arguments.
fn is_closed(module: &Module, region: RegionId) -> bool {
    let Some(block) = module.entry(region) else { return false };
    let inside = |value: &Value| match module.definition(*value) {
        ValueDef::Argument { block: of, .. } => of == block,
        ValueDef::Result { op, .. } => module.op(op).block() == Some(block),
    };
    module.ops(block).all(|op| op.regions().is_empty() && op.operands().iter().all(inside))
}

/// Tensors one after the other along a dimension.
///
/// # Errors
/// If there are none, or they do not fit together.
pub fn concatenate(inputs: &[&Tensor], dimension: usize) -> Result<Tensor, EvalError> {
    let first =
        inputs.first().ok_or_else(|| EvalError::new("concatenate_c1", "there are no inputs"))?;
    if dimension >= first.rank() {
        return Err(EvalError::new("concatenate_c4", format!("there is no dimension {dimension}")));
    }
    let mut shape = first.shape().to_vec();
    let sizes = inputs.iter().map(|t| t.shape().get(dimension).copied().unwrap_or(0));
    let total = sizes.clone().try_fold(0usize, usize::checked_add);
    shape[dimension] =
        total.ok_or_else(|| EvalError::new("concatenate_c6", "the result is too large"))?;
    let mut result = Tensor::zeros(first.dtype(), &shape)?;
    let mut start = vec![0; shape.len()];
    for (input, size) in inputs.iter().zip(sizes) {
        let view = StridedView::window(&shape, &start, input.shape(), &vec![1; shape.len()])?;
        result.scatter(&view, input)?;
        start[dimension] += size;
    }
    Ok(result)
}

/// Part `index` of `count` equal ones along a dimension.
///
/// # Errors
/// If the dimension cannot be split so.
pub fn part(
    tensor: &Tensor,
    dimension: usize,
    index: usize,
    count: usize,
) -> Result<Tensor, EvalError> {
    let size = tensor.shape().get(dimension).copied().unwrap_or(0);
    if count == 0 || size % count != 0 || index >= count {
        let message = format!(
            "dimension {dimension} of shape {:?} cannot be split into {count}",
            tensor.shape()
        );
        return Err(EvalError::new("split", message));
    }
    let (mut starts, mut limits) = (vec![0; tensor.rank()], tensor.shape().to_vec());
    starts[dimension] = index * (size / count);
    limits[dimension] = starts[dimension] + size / count;
    slice(tensor, &starts, &limits, &vec![1; tensor.rank()])
}

/// The elementwise reduction of tensors of one shape with a region, from the first to the last.
///
/// # Errors
/// If there are none, their shapes differ, or the region fails.
pub fn reduce_over(
    op: OpRef<'_>,
    computation: RegionId,
    tensors: Vec<Tensor>,
    env: &mut dyn EvalEnv,
) -> Result<Tensor, EvalError> {
    let shape = tensors.first().map(|t| t.shape().to_vec()).unwrap_or_default();
    if let Some(other) = tensors.iter().find(|t| t.shape() != shape) {
        let (lhs, rhs) = (shape, other.shape().to_vec());
        return Err(TensorError::Shape { lhs, rhs }.into());
    }
    let mut body = Body::new(op, computation, env);
    let mut result: Option<Tensor> = None;
    for tensor in tensors {
        let n = tensor.num_elements();
        let vector = vec![tensor.into_shape([n])?];
        let combined = match result.take() {
            None => body.promote(0, vector)?,
            Some(sum) => {
                let vector = body.promote(1, vector)?;
                body.combine(n, vec![sum], vector)?
            }
        };
        result = combined.into_iter().next();
    }
    let result =
        result.ok_or_else(|| EvalError::new("process_group", "a reduction of no processes"))?;
    Ok(result.into_shape(shape)?)
}

/// What a process has that gets nothing: zeros of type `ty` in a shape.
///
/// # Errors
/// For types that have no storage.
pub fn zeros(ty: &Type, shape: &[usize]) -> Result<Tensor, EvalError> {
    match Uniform::of_element(ty) {
        Some(quantized) => {
            let zeros = Tensor::zeros(super::quantize::expressed_dtype(ty)?, shape)?;
            super::quantize::quantize(zeros, &quantized)
        }
        None => Ok(Tensor::zeros(super::storage_dtype(ty)?, shape)?),
    }
}

/// Zeros for all results of `op`, in the shapes of its operands.
///
/// # Errors
/// As [`zeros`], and if there are fewer operands.
pub fn all_zeros(op: OpRef<'_>, operands: &[RuntimeValue]) -> EvalResult {
    op.result_types()
        .zip(operands)
        .map(|(ty, like)| Ok(zeros(ty, like.tensor()?.shape())?.into()))
        .collect()
}

/// Which process of its group is the root of an op: the first, or for each result another, which
/// the last operand says.
pub struct CollectiveRoot(Option<Vec<i64>>);

impl CollectiveRoot {
    /// The root of `op` on these operands.
    ///
    /// # Errors
    /// If the last operand should say, but is no tensor of integers.
    pub fn of(op: OpRef<'_>, operands: &[RuntimeValue]) -> Result<CollectiveRoot, EvalError> {
        Ok(CollectiveRoot(match operands.last() {
            Some(roots) if attrs::flag(op.attr("has_dynamic_root")) => {
                Some(roots.tensor()?.to_i64s()?)
            }
            _ => None,
        }))
    }

    /// The root of result `index` in a group of `size`.
    ///
    /// # Errors
    /// If the group has no such process.
    pub fn member(&self, index: usize, size: usize) -> Result<usize, EvalError> {
        let Some(roots) = &self.0 else { return Ok(0) };
        let root = roots.get(index).copied().unwrap_or(-1);
        usize::try_from(root).ok().filter(|&root| root < size).ok_or_else(|| {
            let message =
                format!("the root of result {index} is {root}, but its group has {size} processes");
            EvalError::new("collective_broadcast_c6", message)
        })
    }
}

/// Which process each process gets a value from, in `source_target_pairs`: pairs of source and
/// target.
///
/// # Errors
/// If the attribute is not a list of pairs, or a process does not exist.
pub fn source_target_pairs(
    op: OpRef<'_>,
    me: ProcessId,
    grid: Grid,
) -> Result<Vec<(ProcessId, ProcessId)>, EvalError> {
    let Some(attr) = op.attr("source_target_pairs") else { return Ok(Vec::new()) };
    let ids = attr.as_dense().and_then(|d| d.int_values());
    let ids: Option<Vec<usize>> =
        ids.and_then(|ids| ids.into_iter().map(|id| usize::try_from(id).ok()).collect());
    let ids = ids.ok_or_else(|| super::missing(op, "source_target_pairs"))?;
    let processes = Strategy::of_exchange(op).processes(&ids, me, grid)?;
    Ok(processes.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
}

/// Values that came from outside have the types of the results of `op`; the results that follow
/// them are tokens.
///
/// # Errors
/// If they do not.
pub fn expect_results(op: OpRef<'_>, values: &[RuntimeValue]) -> Result<(), EvalError> {
    let wanted: Vec<&Type> = op.result_types().filter(|ty| ty.as_tensor().is_some()).collect();
    let fits = |(value, ty): (&RuntimeValue, &&Type)| match value {
        RuntimeValue::Tensor(tensor) => {
            let shape: Vec<i64> = tensor.shape().iter().map(|&d| d as i64).collect();
            let sizes = crate::check::shape(ty);
            super::storage_dtype(ty).is_ok_and(|dtype| dtype == tensor.dtype())
                && crate::compat::shapes(&shape, sizes)
        }
        _ => false,
    };
    if wanted.len() == values.len() && values.iter().zip(&wanted).all(fits) {
        return Ok(());
    }
    let show = |value: &RuntimeValue| match value {
        RuntimeValue::Tensor(tensor) => {
            let shape: Vec<i64> = tensor.shape().iter().map(|&d| d as i64).collect();
            Type::tensor(shape, Type::from(tensor.dtype())).to_string()
        }
        RuntimeValue::Token => "a token".into(),
        RuntimeValue::Tuple(_) => "a tuple".into(),
    };
    let found: Vec<String> = values.iter().map(show).collect();
    let wanted = crate::check::list(wanted.into_iter());
    Err(EvalError::new(
        "received",
        format!("the values that came are ({}), but the op has {wanted}", found.join(", ")),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(ids: &[(usize, usize)]) -> Vec<ProcessId> {
        ids.iter().map(|&(replica, partition)| ProcessId { replica, partition }).collect()
    }

    #[test]
    fn examples_of_the_specification() {
        let grid = Grid { replicas: 4, partitions: 2 };
        let me = ProcessId { replica: 2, partition: 1 };
        let groups = |strategy: Strategy, list: &[usize]| {
            strategy.processes(list, me, grid).expect("ids in range")
        };
        assert_eq!(groups(Strategy::CrossReplica, &[2, 3]), ids(&[(2, 1), (3, 1)]));
        assert_eq!(groups(Strategy::CrossPartition, &[0, 1]), ids(&[(2, 0), (2, 1)]));
        let both = ids(&[(2, 0), (3, 0), (2, 1), (3, 1)]);
        assert_eq!(groups(Strategy::CrossReplicaAndPartition, &[2, 3]), both);
        assert_eq!(
            groups(Strategy::FlattenedIds, &[4, 5, 6, 7]),
            ids(&[(2, 0), (2, 1), (3, 0), (3, 1)])
        );
        assert!(Strategy::CrossPartition.processes(&[2], me, grid).is_err());
    }

    #[test]
    fn parts_put_together_are_the_whole() {
        let whole = Tensor::from_vec([2, 4], (0..8i64).collect()).expect("eight elements");
        let parts: Vec<Tensor> =
            (0..2).map(|i| part(&whole, 1, i, 2).expect("divisible")).collect();
        assert_eq!(parts[1].to_vec::<i64>().expect("i64"), [2, 3, 6, 7]);
        assert_eq!(concatenate(&parts.iter().collect::<Vec<_>>(), 1).expect("one shape"), whole);
        assert!(part(&whole, 1, 0, 3).is_err());
    }
}
