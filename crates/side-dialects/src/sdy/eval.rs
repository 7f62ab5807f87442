//! The meaning of the ops of the dialect. Values outside of manual computations are global tensors,
//! which ops that only say how to spread them leave alone.

use super::attrs::{DIMENSION_SHARDING, MANUAL_AXES, SHARDING, SHARDING_PER_VALUE, list};
use super::mesh::{AxisPart, Mesh};
use super::ops::{ManualComputationOp, NamedComputationOp};
use mlir::eval::{EvalEnv, EvalError, EvalResult, RuntimeValue};
use mlir::process::{Grid, MAX_PROCESSES, ProcessId, Work};
use mlir::{Attribute, OpRef};
use numerics::Tensor;
use numerics::math::{self, BinaryOp};
use numerics::shape::StridedView;

/// The values themselves.
pub(super) fn identity(
    _: OpRef<'_>,
    operands: Vec<RuntimeValue>,
    _: &mut dyn EvalEnv,
) -> EvalResult {
    Ok(operands)
}

/// Nothing: there are no results.
pub(super) fn nothing(_: OpRef<'_>, _: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    Ok(Vec::new())
}

pub(super) fn constant(op: OpRef<'_>, _: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let tensor = op.attr("value").and_then(Attribute::to_tensor).transpose()?;
    let tensor = tensor.ok_or_else(|| EvalError::new("attribute", "the constant has no value"))?;
    Ok(vec![RuntimeValue::Tensor(tensor)])
}

/// As if it were inlined.
pub(super) fn named_computation(
    op: OpRef<'_>,
    operands: Vec<RuntimeValue>,
    env: &mut dyn EvalEnv,
) -> EvalResult {
    env.region(NamedComputationOp(op).body(), operands)
}

/// How a value is cut along the manual axes: for each dimension the parts of axes over which it is
/// split, outermost first, and the parts over which it is a sum.
struct Cut {
    dims: Vec<Vec<AxisPart>>,
    unreduced: Vec<AxisPart>,
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
        Some(Cut { dims: dims.collect::<Option<_>>()?, unreduced: parts(list(params, 3))? })
    }

    /// Where the shard of a place starts in the whole tensor, whose shards have shape `shard`.
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

    /// The shard of a place.
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
    /// first counts; those over unreduced axes are added.
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
                Some((_, sum)) => *sum = math::binary(BinaryOp::Add, sum.clone(), shard.clone())?,
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

/// Cuts the operands into shards, runs the body on those of this process, and puts the shards of
/// the results together. Where there is one process only, this starts one for each device of the
/// mesh.
pub(super) fn manual_computation(
    op: OpRef<'_>,
    operands: Vec<RuntimeValue>,
    env: &mut dyn EvalEnv,
) -> EvalResult {
    let view = ManualComputationOp(op);
    let shardings = |attr: Option<&Attribute>| -> Vec<Attribute> {
        let params = attr.and_then(|a| a.as_dialect(&SHARDING_PER_VALUE));
        params.map_or(Vec::new(), |params| list(params, 0).to_vec())
    };
    let (inputs, outputs) = (shardings(view.in_shardings()), shardings(view.out_shardings()));
    let manual =
        view.manual_axes().and_then(|a| a.as_dialect(&MANUAL_AXES)).map_or(&[][..], |p| list(p, 0));
    let mesh_or_ref =
        inputs.iter().chain(&outputs).find_map(|s| s.as_dialect(&SHARDING)?.first()?.as_ref());
    let Some(mesh_or_ref) = mesh_or_ref else {
        // Without values there is nothing to cut.
        return env.region(view.body(), operands);
    };
    let mesh = Mesh::resolve(op, mesh_or_ref).ok_or_else(|| invalid("mesh"))?;
    let devices = mesh.num_devices();
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
        let results =
            world.run_grid(grid, vec![Work::Eval { op, operands }; devices], Vec::new())?;
        // All processes have the whole results.
        return Ok(results.into_iter().next().unwrap_or_default());
    }
    if grid.partitions != devices {
        let message =
            format!("the mesh has {devices} devices, but the grid of processes is {grid}");
        return Err(EvalError::new("manual_computation", message));
    }
    let place = mesh.place(me.partition).ok_or_else(|| invalid("device ids of the mesh"))?;
    let axis = |name: &Attribute| Some(mesh.axis(name.as_str()?)?.axis);
    let manual: Vec<usize> = manual
        .iter()
        .map(axis)
        .collect::<Option<_>>()
        .ok_or_else(|| invalid("list of manual axes"))?;
    let cut =
        |sharding: &Attribute| Cut::of(&mesh, sharding, &manual).ok_or_else(|| invalid("sharding"));

    let shard =
        |(operand, sharding): (RuntimeValue, &Attribute)| -> Result<RuntimeValue, EvalError> {
            Ok(cut(sharding)?.shard(operand.tensor()?, &place)?.into())
        };
    let shards = operands.into_iter().zip(&inputs).map(shard).collect::<Result<_, _>>()?;
    let results = env.region(view.body(), shards)?;

    let parts: Vec<AxisPart> =
        manual.iter().filter_map(|&axis| mesh.axis(&mesh.axes[axis].0)).collect();
    let mut group = mesh.group(&place, &parts);
    group.sort_unstable();
    let processes: Vec<ProcessId> =
        group.iter().map(|&device| ProcessId { replica: me.replica, partition: device }).collect();
    let places: Vec<Vec<usize>> = group.iter().filter_map(|&device| mesh.place(device)).collect();
    let all = env.world()?.exchange(op, &processes, 0, results)?;
    let whole = |(index, sharding): (usize, &Attribute)| {
        all.shared(index, || {
            let mut shards = Vec::with_capacity(places.len());
            for (place, values) in places.iter().zip(all.iter()) {
                let value = values.get(index).ok_or_else(|| invalid("result"))?;
                shards.push((&place[..], value.tensor()?));
            }
            Ok(cut(sharding)?.whole(&shards)?.into())
        })
    };
    outputs.iter().enumerate().map(whole).collect()
}
