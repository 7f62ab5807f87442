//! The shards that a manual computation takes and gives, one for each device of a mesh.

use super::attrs::{DIMENSION_SHARDING, MANUAL_AXES, SHARDING, list, reduction_name, reduction_of};
use super::mesh::{AxisPart, Mesh};
use mlir::types::DYNAMIC;
use mlir::{Attribute, Type};
use numerics::Tensor;
use numerics::math::{self, BinaryOp};
use numerics::shape::StridedView;
use program::{EvalError, EvalResult, Evaluator, Origin, ProcessId, RuntimeValue};

/// The sharding of a value along the manual axes: for each dimension the axis parts over which it
/// is split, outermost first, and the axis parts over which it is unreduced: a part of a sum, for
/// instance.
pub(super) struct ShardCut {
    dims: Vec<Vec<AxisPart>>,
    unreduced: Vec<AxisPart>,
    /// The reduction of the parts; a sum unless stated otherwise.
    reduction: BinaryOp,
}

impl ShardCut {
    pub(super) fn of(mesh: &Mesh, sharding: &Attribute, manual: &[usize]) -> Option<ShardCut> {
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
        let reduction = match reduction_name(reduction_of(params)) {
            "max" => BinaryOp::Maximum,
            "min" => BinaryOp::Minimum,
            _ => BinaryOp::Add,
        };
        Some(ShardCut { dims, unreduced: parts(list(params, 3))?, reduction })
    }

    /// A type with each size changed for the number of shards of its dimension; an error is a
    /// size that cannot be.
    pub(super) fn resized<E>(
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
    pub(super) fn start(&self, place: &[usize], shard: &[usize]) -> Vec<usize> {
        let number = |parts: &Vec<AxisPart>| {
            parts.iter().fold(0, |n, part| n * part.size + part.index(place))
        };
        self.dims.iter().zip(shard).map(|(parts, size)| number(parts) * size).collect()
    }

    /// Into how many shards each dimension is split.
    pub(super) fn counts(&self) -> impl Iterator<Item = usize> {
        self.dims.iter().map(|parts| parts.iter().map(|part| part.size).product())
    }

    /// The number of a place among those that differ along unreduced axes.
    pub(super) fn term(&self, place: &[usize]) -> usize {
        self.unreduced.iter().fold(0, |n, part| n * part.size + part.index(place))
    }

    /// The number of places that differ along unreduced axes alone.
    pub(super) fn num_terms(&self) -> usize {
        self.unreduced.iter().map(|part| part.size).product()
    }

    pub(super) fn reduction(&self) -> BinaryOp {
        self.reduction
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
        if self.reduction == BinaryOp::Add && self.term(place) != 0 {
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

    /// For each place, its number among the places of the same shard and the same term.
    fn copies(&self, places: &[Vec<usize>]) -> Vec<usize> {
        let units = vec![1; self.dims.len()];
        let keys: Vec<_> =
            places.iter().map(|place| (self.start(place, &units), self.term(place))).collect();
        let copy = |(index, key)| keys[..index].iter().filter(|earlier| *earlier == key).count();
        keys.iter().enumerate().map(copy).collect()
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

/// The error of an attribute of a manual computation that cannot be read.
pub(super) fn invalid(what: &str) -> EvalError {
    EvalError::new("manual_computation", format!("the {what} cannot be read"))
}

/// The shardings of several values along the manual axes of a mesh.
pub struct Shards {
    mesh: Mesh,
    /// The manual axes, as parts of the mesh.
    axes: Vec<AxisPart>,
    /// The sharding of each value.
    pub(super) cuts: Vec<ShardCut>,
}

impl Shards {
    /// Resolves the axes of `manual_axes`, an `#sdy.manual_axes`, and of each value's
    /// `#sdy.sharding`.
    ///
    /// # Errors
    /// Attributes of another kind, and axes that the mesh does not have.
    pub fn new(
        mesh: Mesh,
        manual_axes: &Attribute,
        shardings: &[Attribute],
    ) -> Result<Shards, EvalError> {
        let names = manual_axes.as_dialect(&MANUAL_AXES).map_or(&[][..], |p| list(p, 0));
        let axis = |name: &Attribute| mesh.axis(name.as_str()?);
        let axes: Option<Vec<AxisPart>> = names.iter().map(axis).collect();
        let axes = axes.ok_or_else(|| invalid("list of manual axes"))?;
        let manual: Vec<usize> = axes.iter().map(|part| part.axis).collect();
        let cuts = shardings.iter().map(|sharding| ShardCut::of(&mesh, sharding, &manual));
        let cuts = cuts.collect::<Option<_>>().ok_or_else(|| invalid("sharding"))?;
        Ok(Shards { mesh, axes, cuts })
    }

    /// Number of devices of the mesh.
    pub fn num_devices(&self) -> usize {
        self.mesh.num_devices()
    }

    /// This process and its coordinates in the mesh.
    fn place(&self, env: &mut dyn Evaluator) -> Result<(ProcessId, Vec<usize>), EvalError> {
        let world = env.process_context()?;
        let (me, grid, devices) = (world.process(), world.grid(), self.num_devices());
        if grid.partitions != devices {
            let message =
                format!("the mesh has {devices} devices, but the grid of processes is {grid}");
            return Err(EvalError::new("manual_computation", message));
        }
        let place = self.mesh.place(me.partition);
        Ok((me, place.ok_or_else(|| invalid("device ids of the mesh"))?))
    }

    /// The shards of this process of whole values.
    ///
    /// # Errors
    /// A grid of another size than the mesh, and dimensions that cannot be split into equal shards.
    pub fn split(&self, values: Vec<RuntimeValue>, env: &mut dyn Evaluator) -> EvalResult {
        let (_, place) = self.place(env)?;
        let shard = |(value, cut): (RuntimeValue, &ShardCut)| -> Result<RuntimeValue, EvalError> {
            match value {
                RuntimeValue::Token => Ok(value),
                _ => Ok(cut.shard(value.tensor()?, &place)?.into()),
            }
        };
        values.into_iter().zip(&self.cuts).map(shard).collect()
    }

    /// The whole values of the shards that the processes along the manual axes contribute. Where
    /// processes contribute other values of the same shard, each has the values of its own copies.
    ///
    /// # Errors
    /// A grid of another size than the mesh, and shards of different shapes.
    pub fn join(
        &self,
        origin: Origin,
        shards: Vec<RuntimeValue>,
        env: &mut dyn Evaluator,
    ) -> EvalResult {
        let (me, place) = self.place(env)?;
        let mut group = self.mesh.group(&place, &self.axes);
        group.sort_unstable();
        let process = |&device: &usize| ProcessId { replica: me.replica, partition: device };
        let processes: Vec<ProcessId> = group.iter().map(process).collect();
        let places: Vec<Vec<usize>> =
            group.iter().filter_map(|&device| self.mesh.place(device)).collect();
        let all = env.process_context()?.exchange(origin, &processes, 0, shards)?;
        let own = places.iter().position(|other| *other == place).unwrap_or(0);
        let whole = |(index, cut): (usize, &ShardCut)| {
            let copies = cut.copies(&places);
            let shards = |copy: usize| -> Result<Vec<(&[usize], &Tensor)>, EvalError> {
                let mut shards = Vec::with_capacity(places.len());
                for ((place, values), of) in places.iter().zip(all.iter()).zip(&copies) {
                    if *of == copy {
                        let value = values.get(index).ok_or_else(|| invalid("result"))?;
                        shards.push((&place[..], value.tensor()?));
                    }
                }
                Ok(shards)
            };
            if let Some(RuntimeValue::Token) = all.first().and_then(|values| values.get(index)) {
                return Ok(RuntimeValue::Token);
            }
            let mut copy = copies[own];
            if copy != 0 {
                let (first, own) = (shards(0)?, shards(copy)?);
                // Both are in the order of places, and so of shards where copies are regular.
                if first.len() == own.len() && first.iter().zip(&own).all(|((_, a), (_, b))| a == b)
                {
                    copy = 0;
                }
            }
            // Results of different copies have different numbers.
            all.shared(index + copy * self.cuts.len(), || Ok(cut.whole(&shards(copy)?)?.into()))
        };
        self.cuts.iter().enumerate().map(whole).collect()
    }
}
