//! Collective operations: a rendezvous of processes, each of which computes its results from all
//! contributions.
//!
//! Source: specification, "Parallel execution" and the sections of the ops.

use crate::Combiner;
use crate::movement::concatenate;
use crate::quantize::quantize;
use numerics::math::{self, BinaryOp};
use numerics::{Tensor, TensorError};
use program::collective::{Collective, CollectiveKind, Pairs, Zeros};
use program::operands::{part, values};
use program::{
    Body, Channel, Contributions, EvalError, EvalResult, Evaluator, Origin, ProcessId, RuntimeValue,
};

/// The contributions of the processes of a group to an op.
struct Rendezvous {
    contributions: Contributions,
    /// The position of this process in the group.
    place: usize,
}

impl Rendezvous {
    /// Number of processes.
    fn size(&self) -> usize {
        self.contributions.len()
    }

    /// Result `index`, which all processes of the group compute alike.
    fn shared(
        &self,
        index: usize,
        make: impl FnOnce() -> Result<Tensor, EvalError>,
    ) -> Result<RuntimeValue, EvalError> {
        self.contributions.shared(index, || Ok(make()?.into()))
    }

    /// The value `index` of each process.
    fn tensors(&self, index: usize) -> Result<Vec<&Tensor>, EvalError> {
        (0..self.size()).map(|member| self.tensor(member, index)).collect()
    }

    /// The value `index` of the process `member` of the group.
    fn tensor(&self, member: usize, index: usize) -> Result<&Tensor, EvalError> {
        let value = self.contributions.get(member).and_then(|values| values.get(index));
        let missing =
            || EvalError::new("process_group", format!("no value {index} from member {member}"));
        value.ok_or_else(missing)?.tensor()
    }

    fn cloned(&self, index: usize) -> Result<Vec<Tensor>, EvalError> {
        Ok(self.tensors(index)?.into_iter().cloned().collect())
    }
}

/// Meets the group of this process; `None` if it is in no group.
fn rendezvous(
    collective: &Collective,
    origin: Origin,
    values: Vec<RuntimeValue>,
    env: &mut dyn Evaluator,
) -> Result<Option<Rendezvous>, EvalError> {
    let world = env.process_context()?;
    let (me, grid) = (world.process(), world.grid());
    let strategy = collective.strategy;
    let id = strategy.id(me, grid);
    let everyone: Vec<usize>;
    let group = if collective.groups.iter().all(Vec::is_empty) {
        everyone = (0..strategy.count(grid)).collect();
        Some(&everyone)
    } else {
        collective.groups.iter().find(|group| group.contains(&id))
    };
    let Some(group) = group else { return Ok(None) };
    let group = strategy.processes(group, me, grid)?;
    let place = group.iter().position(|&process| process == me).unwrap_or_default();
    let contributions = world.exchange(origin, &group, collective.channel, values)?;
    Ok(Some(Rendezvous { contributions, place }))
}

/// Evaluates a collective op of `results` results.
///
/// # Errors
/// If groups are inconsistent with the grid or a reduction fails, and those of
/// [`program::ProcessContext::exchange`].
pub(crate) fn collective(
    collective: &Collective,
    origin: Origin,
    operands: Vec<RuntimeValue>,
    env: &mut dyn Evaluator,
) -> EvalResult {
    let results = collective.zeros.len();
    let optional = matches!(
        collective.kind,
        CollectiveKind::Broadcast { .. } | CollectiveKind::ReduceToRoot { .. }
    );
    let Some(met) = rendezvous(collective, origin, operands.clone(), env)? else {
        if optional {
            return all_zeros(&collective.zeros, &operands);
        }
        let me = env.process_context()?.process();
        return Err(EvalError::new(
            "process_group",
            format!("process {me} is in none of the replica_groups"),
        ));
    };
    match &collective.kind {
        CollectiveKind::Gather { dimension } => (0..results)
            .map(|i| met.shared(i, || concatenate(&met.tensors(i)?, *dimension)))
            .collect(),
        CollectiveKind::Reduce(computation) => {
            let mut reduced = Vec::with_capacity(results);
            for i in 0..results {
                let mut reduce = || reduce_over(computation, met.cloned(i)?, env);
                // A body that uses values around it may reduce differently in each process.
                reduced.push(match computation.closed {
                    true => met.shared(i, reduce)?,
                    false => reduce()?.into(),
                });
            }
            Ok(reduced)
        }
        CollectiveKind::Sum => {
            let mut tensors = met.cloned(0)?.into_iter();
            let first = tensors
                .next()
                .ok_or_else(|| EvalError::new("process_group", "a sum of no processes"))?;
            let sum =
                tensors.try_fold(first, |sum, next| math::binary(BinaryOp::Add, sum, next))?;
            Ok(vec![sum.into()])
        }
        CollectiveKind::AllToAll { split, concat, count } => (0..results)
            .map(|i| {
                let parts = met.tensors(i)?.into_iter();
                let parts = parts.map(|tensor| part(tensor, *split, met.place, *count));
                let parts = parts.collect::<Result<Vec<_>, _>>()?;
                Ok(concatenate(&parts.iter().collect::<Vec<_>>(), *concat)?.into())
            })
            .collect(),
        CollectiveKind::ReduceScatter { dimension, computation } => {
            // Reduced elementwise, so only the part that this process keeps.
            let parts = met.tensors(0)?.into_iter();
            let parts = parts.map(|tensor| part(tensor, *dimension, met.place, met.size()));
            let parts = parts.collect::<Result<_, _>>()?;
            Ok(vec![reduce_over(computation, parts, env)?.into()])
        }
        CollectiveKind::Broadcast { dynamic_root } => {
            let root = RootProcess::of(*dynamic_root, &operands)?;
            let received = |i| Ok(met.tensor(root.member(i, met.size())?, i)?.clone().into());
            (0..results).map(received).collect()
        }
        CollectiveKind::ReduceToRoot { dynamic_root, computation } => {
            let root = RootProcess::of(*dynamic_root, &operands)?;
            let mut reduced = all_zeros(&collective.zeros, &operands)?;
            for (i, value) in reduced.iter_mut().enumerate() {
                if root.member(i, met.size())? == met.place {
                    *value = reduce_over(computation, met.cloned(i)?, env)?.into();
                }
            }
            Ok(reduced)
        }
    }
}

/// The elementwise reduction of tensors of one shape with a body, in order.
///
/// # Errors
/// If the list is empty, their shapes differ, or the body fails.
fn reduce_over(
    computation: &Body,
    tensors: Vec<Tensor>,
    env: &mut dyn Evaluator,
) -> Result<Tensor, EvalError> {
    let shape = tensors.first().map(|t| t.shape().to_vec()).unwrap_or_default();
    if let Some(other) = tensors.iter().find(|t| t.shape() != shape) {
        let (lhs, rhs) = (shape, other.shape().to_vec());
        return Err(TensorError::Shape { lhs, rhs }.into());
    }
    let mut body = Combiner::new(computation, env);
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

/// The value that a process has that receives nothing: zeros in a shape.
fn zeros(zeros: &Zeros, shape: &[usize]) -> Result<Tensor, EvalError> {
    match zeros {
        Zeros::Plain(dtype) => Ok(Tensor::zeros(*dtype, shape)?),
        Zeros::Quantized(quantization) => {
            quantize(Tensor::zeros(quantization.expressed, shape)?, quantization)
        }
    }
}

/// Zeros for all results, in the shapes of the operands.
fn all_zeros(kinds: &[Zeros], operands: &[RuntimeValue]) -> EvalResult {
    let value =
        |(kind, like): (&Zeros, &RuntimeValue)| Ok(zeros(kind, like.tensor()?.shape())?.into());
    kinds.iter().zip(operands).map(value).collect()
}

/// The process of its group that is the root of an op: the first, or for each result the one that
/// the last operand names.
struct RootProcess(Option<Vec<i64>>);

impl RootProcess {
    fn of(dynamic: bool, operands: &[RuntimeValue]) -> Result<RootProcess, EvalError> {
        Ok(RootProcess(match operands.last() {
            Some(roots) if dynamic => Some(roots.tensor()?.to_i64s()?),
            _ => None,
        }))
    }

    /// The root of result `index` in a group of `size`.
    fn member(&self, index: usize, size: usize) -> Result<usize, EvalError> {
        let Some(roots) = &self.0 else { return Ok(0) };
        let root = roots.get(index).copied().unwrap_or(-1);
        usize::try_from(root).ok().filter(|&root| root < size).ok_or_else(|| {
            let message =
                format!("the root of result {index} is {root}, but its group has {size} processes");
            EvalError::new("collective_broadcast_c6", message)
        })
    }
}

/// Evaluates a `collective_permute`: the values of the source of this process, or zeros.
///
/// # Errors
/// Processes that do not exist, and those of [`program::ProcessContext::exchange`].
pub(crate) fn permute(
    pairs: &Pairs,
    channel: i64,
    zeros: &[Zeros],
    origin: Origin,
    operands: Vec<RuntimeValue>,
    env: &mut dyn Evaluator,
) -> EvalResult {
    let world = env.process_context()?;
    let me = world.process();
    let pairs = pairs.processes(me, world.grid())?;
    // All senders and receivers take part, each at most once.
    let mut group: Vec<ProcessId> =
        pairs.iter().flat_map(|&(source, target)| [source, target]).collect();
    group.sort_unstable();
    group.dedup();
    let received = match group.contains(&me) {
        true => Some(world.exchange(origin, &group, channel, operands.clone())?),
        false => None,
    };
    let source = pairs.iter().find(|&&(_, target)| target == me).map(|&(source, _)| source);
    let place = source.and_then(|source| group.iter().position(|&process| process == source));
    match received.zip(place).and_then(|(all, place)| all.get(place).cloned()) {
        Some(values) => Ok(values),
        None => all_zeros(zeros, &operands),
    }
}

/// Evaluates a `send` of all operands but the last, a token.
///
/// # Errors
/// Processes that do not exist.
pub(crate) fn send(
    id: i64,
    pairs: Option<&Pairs>,
    mut operands: Vec<RuntimeValue>,
    env: &mut dyn Evaluator,
) -> EvalResult {
    operands.pop();
    let world = env.process_context()?;
    let (me, grid) = (world.process(), world.grid());
    match pairs {
        None => world.send(Channel { id, between: None }, operands),
        Some(pairs) => {
            let pairs = pairs.processes(me, grid)?;
            if let Some(&pair) = pairs.iter().find(|&&(source, _)| source == me) {
                world.send(Channel { id, between: Some(pair) }, operands);
            }
        }
    }
    Ok(vec![RuntimeValue::Token])
}

/// Evaluates a `recv`: values and a token. A process without sender receives zeros.
///
/// # Errors
/// Processes that do not exist, and those of [`program::ProcessContext::receive`].
pub(crate) fn receive(
    id: i64,
    pairs: Option<&Pairs>,
    defaults: &[(Zeros, Vec<usize>)],
    origin: Origin,
    env: &mut dyn Evaluator,
) -> EvalResult {
    let world = env.process_context()?;
    let (me, grid) = (world.process(), world.grid());
    let mut received = match pairs {
        None => world.receive(origin, Channel { id, between: None })?,
        Some(pairs) => {
            let pairs = pairs.processes(me, grid)?;
            match pairs.into_iter().find(|&(_, target)| target == me) {
                Some(pair) => world.receive(origin, Channel { id, between: Some(pair) })?,
                None => {
                    let value = |(kind, shape): &(Zeros, Vec<usize>)| zeros(kind, shape);
                    values(defaults.iter().map(value).collect::<Result<_, _>>()?)
                }
            }
        }
    };
    received.push(RuntimeValue::Token);
    Ok(received)
}
