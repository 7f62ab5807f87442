//! The meaning of the ops of the dialect. Values outside of manual computations are global tensors,
//! on which pure sharding annotations have no effect.

use super::attrs::{
    DIMENSION_SHARDING, MANUAL_AXES, REDUCTIONS, SHARDING, SHARDING_PER_VALUE, int, list,
};
use super::mesh::{AxisPart, Mesh};
use super::ops::{ConstantOp, ManualComputationOp, NamedComputationOp};
use mlir::prepare::{Prepared, Preparer, native, native_with_env};
use mlir::types::DYNAMIC;
use mlir::{Attribute, Diagnostic, OpRef, RegionId, Type};
use numerics::Tensor;
use numerics::math::{self, BinaryOp};
use numerics::shape::StridedView;
use program::{
    BlockId, Env, EvalError, EvalResult, Grid, MAX_PROCESSES, Origin, Primitive, ProcessId,
    RuntimeValue, Work,
};

/// The values themselves.
pub(super) fn identity(_: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::Identity)
}

/// Nothing: there are no results.
pub(super) fn nothing(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |_| Ok(Vec::new()))
}

pub(super) fn constant(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let tensor = ConstantOp(op).value().to_tensor().transpose()?;
    let tensor = tensor.ok_or_else(|| EvalError::new("attribute", "the constant has no value"))?;
    Ok(Primitive::Constant(tensor))
}

/// As if it were inlined.
pub(super) fn named_computation(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::Block(cx.block(NamedComputationOp(op).body())?))
}

/// The sharding of a value along the manual axes: for each dimension the axis parts over which it
/// is split, outermost first, and the axis parts over which it is unreduced: a part of a sum, for
/// instance.
struct Cut {
    dims: Vec<Vec<AxisPart>>,
    unreduced: Vec<AxisPart>,
    /// The reduction of the parts; a sum unless stated otherwise.
    reduction: BinaryOp,
}

impl Cut {
    fn of(mesh: &Mesh, sharding: &Attribute, manual: &[usize]) -> Option<Cut> {
        let params = sharding.as_dialect(&SHARDING)?;
        let parts = |axes: &[Attribute]| -> Option<Vec<AxisPart>> {
            let mut parts =
                axes.iter().map(|axis| mesh.axis_ref(axis)).collect::<Option<Vec<_>>>()?;
            parts.retain(|part| manual.contains(&part.axis));
            Some(parts)
        };
        let dims =
            list(params, 1).iter().map(|dim| parts(list(dim.as_dialect(&DIMENSION_SHARDING)?, 0)));
        let dims = dims.collect::<Option<_>>()?;
        let reduction = match int(params, 4).and_then(|n| REDUCTIONS.iter().find(|r| r.0 == n)) {
            Some((_, "max")) => BinaryOp::Maximum,
            Some(_) => BinaryOp::Minimum,
            None => BinaryOp::Add,
        };
        Some(Cut { dims, unreduced: parts(list(params, 3))?, reduction })
    }

    /// A type with each size changed for the number of shards of its dimension; an error is a
    /// size that cannot be.
    fn resized<E>(
        &self,
        ty: &Type,
        change: impl Fn(usize, i64, i64) -> Result<i64, E>,
    ) -> Result<Type, E> {
        let Some(tensor) = ty.as_tensor() else { return Ok(ty.clone()) };
        let size = |(axis, (&size, count)): (usize, (&i64, usize))| match i64::try_from(count) {
            Ok(count) if size != DYNAMIC => change(axis, size, count),
            _ => Ok(DYNAMIC),
        };
        let sizes = tensor.shape.iter().zip(self.counts()).enumerate().map(size);
        let shape = sizes.collect::<Result<Vec<_>, E>>()?;
        Ok(Type::encoded_tensor(shape, tensor.element.clone(), tensor.encoding.clone()))
    }

    /// The start of the shard at `place` in the whole tensor; shards have shape `shard`.
    fn start(&self, place: &[usize], shard: &[usize]) -> Vec<usize> {
        let number = |parts: &Vec<AxisPart>| {
            parts.iter().fold(0, |n, part| n * part.size + part.index(place))
        };
        self.dims.iter().zip(shard).map(|(parts, size)| number(parts) * size).collect()
    }

    /// Into how many shards each dimension is split.
    fn counts(&self) -> impl Iterator<Item = usize> {
        self.dims.iter().map(|parts| parts.iter().map(|part| part.size).product())
    }

    /// The shard of a place. Of places that differ only along axes over which a sum is unreduced,
    /// the first has the value and the others have zeros; the maximum and the minimum of equal
    /// values are that value.
    fn shard(&self, whole: &Tensor, place: &[usize]) -> Result<Tensor, EvalError> {
        let mut sizes = Vec::with_capacity(whole.rank());
        for (axis, (&size, count)) in whole.shape().iter().zip(self.counts()).enumerate() {
            if size % count != 0 {
                let message = format!(
                    "dimension {axis} of size {size} cannot be split into {count} equal shards"
                );
                return Err(EvalError::new("manual_computation", message));
            }
            sizes.push(size / count);
        }
        let has_value = self.unreduced.iter().all(|part| part.index(place) == 0);
        if self.reduction == BinaryOp::Add && !has_value {
            return Ok(Tensor::zeros(whole.dtype(), &sizes)?);
        }
        if sizes == whole.shape() {
            return Ok(whole.clone());
        }
        let view = StridedView::window(
            whole.shape(),
            &self.start(place, &sizes),
            &sizes,
            &vec![1; sizes.len()],
        )?;
        Ok(whole.gather(&view)?)
    }

    /// The whole tensor of shards, given with their places. Of shards that should be equal the
    /// first counts; those over unreduced axes are reduced.
    fn whole(&self, shards: &[(&[usize], &Tensor)]) -> Result<Tensor, EvalError> {
        let Some((_, first)) = shards.first() else {
            return Err(EvalError::new("manual_computation", "there are no shards"));
        };
        let sizes = first.shape().to_vec();
        let shape: Option<Vec<usize>> =
            sizes.iter().zip(self.counts()).map(|(s, n)| s.checked_mul(n)).collect();
        let shape =
            shape.ok_or_else(|| EvalError::new("manual_computation", "the result is too large"))?;
        let mut whole = Tensor::zeros(first.dtype(), &shape)?;
        // Of each place in the whole and each term of its sum: the first shard.
        let mut terms: Vec<(Vec<usize>, Vec<usize>, &Tensor)> = Vec::new();
        for &(place, shard) in shards {
            if shard.shape() != sizes {
                let message =
                    format!("shards have different shapes: {sizes:?} and {:?}", shard.shape());
                return Err(EvalError::new("manual_computation", message));
            }
            let start = self.start(place, &sizes);
            let term: Vec<usize> = self.unreduced.iter().map(|part| part.index(place)).collect();
            if !terms.iter().any(|(s, t, _)| *s == start && *t == term) {
                terms.push((start, term, shard));
            }
        }
        let mut sums: Vec<(Vec<usize>, Tensor)> = Vec::new();
        for (start, _, shard) in terms {
            match sums.iter_mut().find(|(s, _)| *s == start) {
                Some((_, sum)) => *sum = math::binary(self.reduction, sum.clone(), shard.clone())?,
                None => sums.push((start, shard.clone())),
            }
        }
        for (start, shard) in sums {
            let view = StridedView::window(&shape, &start, &sizes, &vec![1; sizes.len()])?;
            whole.scatter(&view, &shard)?;
        }
        Ok(whole)
    }
}

fn invalid(what: &str) -> EvalError {
    EvalError::new("manual_computation", format!("the {what} cannot be read"))
}

/// A manual computation with its mesh, manual axes and shardings resolved.
struct Manual {
    mesh: Mesh,
    /// The manual axes, as parts of the mesh.
    axes: Vec<AxisPart>,
    inputs: Vec<Cut>,
    outputs: Vec<Cut>,
}

impl Manual {
    /// Resolves the mesh and the shardings of an op. `None` if it has no values to cut.
    fn of(view: ManualComputationOp<'_>) -> Result<Option<Manual>, EvalError> {
        let shardings = |attr: &Attribute| -> Vec<Attribute> {
            let params = attr.as_dialect(&SHARDING_PER_VALUE);
            params.map_or(Vec::new(), |params| list(params, 0).to_vec())
        };
        let (inputs, outputs) = (shardings(view.in_shardings()), shardings(view.out_shardings()));
        let mesh_or_ref =
            inputs.iter().chain(&outputs).find_map(|s| s.as_dialect(&SHARDING)?.first()?.as_ref());
        let Some(mesh_or_ref) = mesh_or_ref else { return Ok(None) };
        let mesh = Mesh::resolve(*view, mesh_or_ref).ok_or_else(|| invalid("mesh"))?;
        let names = view.manual_axes().as_dialect(&MANUAL_AXES).map_or(&[][..], |p| list(p, 0));
        let axis = |name: &Attribute| Some(mesh.axis(name.as_str()?)?.axis);
        let manual: Option<Vec<usize>> = names.iter().map(axis).collect();
        let manual = manual.ok_or_else(|| invalid("list of manual axes"))?;
        let axes = manual.iter().filter_map(|&axis| mesh.axis(&mesh.axes[axis].0)).collect();
        let cuts = |shardings: &[Attribute]| -> Option<Vec<Cut>> {
            shardings.iter().map(|sharding| Cut::of(&mesh, sharding, &manual)).collect()
        };
        let cuts = |shardings: &[Attribute]| cuts(shardings).ok_or_else(|| invalid("sharding"));
        let (inputs, outputs) = (cuts(&inputs)?, cuts(&outputs)?);
        Ok(Some(Manual { axes, inputs, outputs, mesh }))
    }
}

/// The types of the body's arguments for the operands of a manual computation. `None` if the mesh
/// or a sharding cannot be resolved.
///
/// # Errors
/// If a dimension cannot be split into equal shards.
pub fn shard_types(view: ManualComputationOp<'_>) -> Result<Option<Vec<Type>>, Diagnostic> {
    let Ok(Some(manual)) = Manual::of(view) else { return Ok(None) };
    let shard = |(operand, (ty, cut)): (usize, (&Type, &Cut))| {
        cut.resized(ty, |axis, size, count| match size % count {
            0 => Ok(size / count),
            _ => Err(view.error(
                "manual_computation",
                format!(
                    "dimension {axis} of operand {operand}, of size {size}, cannot be split into \
                     {count} equal shards"
                ),
            )),
        })
    };
    view.operand_types()
        .zip(&manual.inputs)
        .enumerate()
        .map(shard)
        .collect::<Result<_, _>>()
        .map(Some)
}

/// The types of the results of a manual computation for what its body returns.
pub(super) fn whole_types(op: OpRef<'_>) -> Option<Vec<Type>> {
    let view = ManualComputationOp(op);
    let manual = Manual::of(view).ok()??;
    let returned = returned_types(op, view.body())?;
    let whole = |(ty, cut): (&Type, &Cut)| {
        cut.resized(ty, |_, size, count| size.checked_mul(count).ok_or(())).ok()
    };
    returned.iter().zip(&manual.outputs).map(whole).collect()
}

/// The types that the body of an op returns.
pub(super) fn returned_types(op: OpRef<'_>, body: RegionId) -> Option<Vec<Type>> {
    let module = op.module();
    let terminator = module.terminator(module.entry(body)?)?;
    Some(terminator.operand_types().cloned().collect())
}

/// Cuts the operands into shards, runs the body on those of this process, and puts the shards of
/// the results together. Where there is one process only, this starts one for each device of the
/// mesh.
pub(super) fn manual_computation(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    let view = ManualComputationOp(op);
    let body = cx.block(view.body())?;
    let Some(manual) = Manual::of(view)? else {
        // Without values there is nothing to cut.
        return Ok(Primitive::Block(body));
    };
    native_with_env(op, move |origin, operands, env| manual.run(body, origin, operands, env))
}

impl Manual {
    fn run(
        &self,
        body: BlockId,
        origin: Origin,
        operands: Vec<RuntimeValue>,
        env: &mut dyn Env,
    ) -> EvalResult {
        let devices = self.mesh.num_devices();
        let world = env.world()?;
        let (me, grid) = (world.process(), world.grid());
        if devices > MAX_PROCESSES {
            let message = format!(
                "the mesh has {devices} devices, but at most {MAX_PROCESSES} processes can run"
            );
            return Err(EvalError::new("manual_computation", message));
        }
        if grid == Grid::SINGLE && devices > 1 {
            let grid = Grid { replicas: 1, partitions: devices };
            let work = vec![Work::Instruction { origin, operands }; devices];
            let results = world.run_grid(grid, work, Vec::new())?;
            // All processes have the whole results.
            return Ok(results.into_iter().next().unwrap_or_default());
        }
        if grid.partitions != devices {
            let message =
                format!("the mesh has {devices} devices, but the grid of processes is {grid}");
            return Err(EvalError::new("manual_computation", message));
        }
        let place =
            self.mesh.place(me.partition).ok_or_else(|| invalid("device ids of the mesh"))?;
        let shard = |(operand, cut): (RuntimeValue, &Cut)| -> Result<RuntimeValue, EvalError> {
            match operand {
                RuntimeValue::Token => Ok(operand),
                _ => Ok(cut.shard(operand.tensor()?, &place)?.into()),
            }
        };
        let shards = operands.into_iter().zip(&self.inputs).map(shard).collect::<Result<_, _>>()?;
        let results = env.block(body, shards)?;

        let mut group = self.mesh.group(&place, &self.axes);
        group.sort_unstable();
        let process = |&device: &usize| ProcessId { replica: me.replica, partition: device };
        let processes: Vec<ProcessId> = group.iter().map(process).collect();
        let places: Vec<Vec<usize>> =
            group.iter().filter_map(|&device| self.mesh.place(device)).collect();
        let all = env.world()?.exchange(origin, &processes, 0, results)?;
        let whole = |(index, cut): (usize, &Cut)| {
            all.shared(index, || {
                let mut shards = Vec::with_capacity(places.len());
                for (place, values) in places.iter().zip(all.iter()) {
                    let value = values.get(index).ok_or_else(|| invalid("result"))?;
                    if matches!(value, RuntimeValue::Token) {
                        return Ok(RuntimeValue::Token);
                    }
                    shards.push((&place[..], value.tensor()?));
                }
                Ok(cut.whole(&shards)?.into())
            })
        };
        self.outputs.iter().enumerate().map(whole).collect()
    }
}
