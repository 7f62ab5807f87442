//! Operations on constants, which are computed while the plan is made.

use crate::graph::{Graph, Value, nested};
use numerics::Tensor;
use program::{BlockId, Instruction, NoEnv, Primitive, RuntimeValue};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// At most so many bytes have the operands and the result of an operation that is folded,
const MAX_BYTES: usize = 1 << 12;
/// and the results of all.
const MAX_TOTAL: usize = 1 << 20;

/// Values that are known while the plan is made.
#[derive(Default)]
pub(crate) struct Folded {
    /// Broadcasts of constants: as steps they are views.
    broadcasts: FxHashMap<Value, Tensor>,
    /// The bytes of all results.
    bytes: usize,
}

/// Makes the result of an operation a constant if its operands are constants, all of them small.
pub(crate) fn fold(
    graph: &mut Graph<'_>,
    instruction: &Instruction,
    operands: &[Value],
    result: Value,
) {
    if !is_foldable(&instruction.primitive) || operands.is_empty() || !is_small(graph, result) {
        return;
    }
    let known = operands.iter().map(|&operand| Some(tensor(graph, operand)?.into()));
    let Some(known) = known.collect::<Option<Vec<RuntimeValue>>>() else { return };
    let evaluated =
        kernels::evaluate(&instruction.primitive, instruction.origin, known, &mut NoEnv);
    // What fails is left to the run.
    let Ok(evaluated) = evaluated else { return };
    let [RuntimeValue::Tensor(folded)] = &evaluated[..] else { return };
    let is_of_type = graph.dtype(result) == Some(folded.dtype())
        && graph.shape(result).is_some_and(|shape| shape[..] == *folded.shape());
    let total = graph.folded.bytes.saturating_add(folded.bytes().len());
    if !is_of_type || total > MAX_TOTAL {
        return;
    }
    graph.folded.bytes = total;
    let is_larger =
        operands.iter().any(|&operand| graph.elements(operand) < graph.elements(result));
    let is_broadcast =
        matches!(instruction.primitive, Primitive::BroadcastInDim(_) | Primitive::Broadcast(_));
    match is_broadcast && is_larger {
        true => graph.folded.broadcasts.insert(result, folded.clone()),
        false => graph.constants.insert(result, folded.clone()),
    };
}

/// The elements of a value that is known, and small.
pub(crate) fn tensor(graph: &Graph<'_>, value: Value) -> Option<Tensor> {
    if !is_small(graph, value) {
        return None;
    }
    let known = graph.constants.get(&value).or_else(|| graph.folded.broadcasts.get(&value));
    if let Some(tensor) = known {
        return Some(tensor.clone());
    }
    let repeated = graph.constants.get(graph.repeated.get(&value)?)?;
    let shape = graph.shape(value)?;
    match repeated.rank() {
        0 => repeated.broadcast_scalar(&shape).ok(),
        // An iota.
        _ => (repeated.shape() == &shape[..]).then(|| repeated.clone()),
    }
}

fn is_small(graph: &Graph<'_>, value: Value) -> bool {
    let bytes = || graph.elements(value)?.checked_mul(graph.dtype(value)?.bytes());
    bytes().is_some_and(|bytes| bytes <= MAX_BYTES)
}

/// True for operations without effects, whose kernels need nothing but their operands.
fn is_foldable(primitive: &Primitive) -> bool {
    matches!(
        primitive,
        Primitive::Unary(_)
            | Primitive::Binary(_)
            | Primitive::Compare(_)
            | Primitive::Select
            | Primitive::Convert(_)
            | Primitive::Clamp
            | Primitive::Bitcast(_)
            | Primitive::BroadcastInDim(_)
            | Primitive::Broadcast(_)
            | Primitive::Transpose(_)
            | Primitive::Reshape(_)
            | Primitive::Reverse(_)
            | Primitive::Slice(_)
            | Primitive::Pad(_)
            | Primitive::Concatenate(_)
    )
}

/// For each value that a loop carries, the constant that it is in all rounds, if it is one: its
/// initial value, which the body returns as it is.
pub(crate) fn invariants(
    graph: &Graph<'_>,
    body: BlockId,
    operands: &[Value],
    results: &[Value],
) -> SmallVec<[Option<Value>; 4]> {
    let code = graph.code;
    let block = code.block(body);
    let mut defined = FxHashSet::default();
    for inner in nested(code, body) {
        let block = code.block(inner);
        if inner != body {
            defined.extend(block.arguments.iter().copied());
        }
        for instruction in code.instructions_of(block) {
            defined.extend(instruction.results.iter().copied());
        }
    }
    let invariant = |(number, &operand): (usize, &Value)| {
        let (argument, returned) = (block.arguments.get(number)?, block.results.get(number)?);
        let result = *results.get(number)?;
        let is_same = *argument == returned.slot
            && !defined.contains(argument)
            && block.arguments.iter().filter(|slot| *slot == argument).count() == 1;
        let is_constant = graph.constants.contains_key(&operand)
            && graph.types[operand as usize] == graph.types[result as usize];
        (is_same && is_constant).then_some(operand)
    };
    operands.iter().enumerate().map(invariant).collect()
}
