//! Custom calls of JAX that see how values are divided over devices: Python functions that are
//! called with the shards of each device, and functions that receive a sharding.

use crate::error::{Code, Failure, Outcome};
use crate::host::{self, Host};
use crate::parameters::{ENTRY, distribution_of};
use crate::propagation::value_shardings;
use stablo::dialects::sdy::{CHECK_COPIES, ManualComputationOp};
use stablo::dialects::stablehlo::CustomCallOp;
use stablo::ir::{OpId, OpRef, Value};
use stablo::{Attribute, Distribution, Module, RuntimeValue, value_fits};

/// The target of calls of Python functions on shards.
pub(crate) const ON_SHARDS: &str = "xla_ffi_partitioned_python_cpu_callback";
/// The target of calls that tell a sharding when a program is compiled, and return their operand.
pub(crate) const INSPECT: &str = "InspectSharding";
/// The attribute of a call with the number of its distributions in the program.
pub(crate) const NUMBER: &str = "stablo.distributions";

/// The sharding of a value as XLA writes it.
pub(crate) fn to_text(distribution: Option<&Distribution>) -> String {
    distribution.map_or_else(|| "{replicated}".to_string(), Distribution::to_text)
}

/// True if an op is within a computation of single devices, where values are not divided.
fn is_manual(op: OpRef<'_>) -> bool {
    std::iter::successors(op.parent(), |op| op.parent()).any(|op| op.is(ManualComputationOp::DEF))
}

/// Tells shardings to the functions that inspect them, and gives the calls that are made on shards
/// the distributions of their operands.
///
/// # Errors
/// If a sharding cannot be read, or a function fails.
pub(crate) fn prepare(mut module: Module, host: &mut Host, devices: usize) -> Outcome<Module> {
    let is_divided = |call: CustomCallOp<'_>| {
        let has_results = call.result_types().any(|ty| !value_fits(&RuntimeValue::Token, ty));
        match call.call_target_name() {
            INSPECT => true,
            ON_SHARDS => devices > 1 && !has_results && !is_manual(*call),
            _ => false,
        }
    };
    let calls: Vec<OpId> = stablo::walk(&module)
        .filter(|op| CustomCallOp::cast(*op).is_some_and(is_divided))
        .map(OpRef::id)
        .collect();
    if calls.is_empty() {
        return Ok(module);
    }
    let found = distributions(&module, &calls, devices)?;
    for (&id, own) in calls.iter().zip(&found) {
        let op = module.op(id);
        let Some(call) = CustomCallOp::cast(op).filter(|call| call.call_target_name() == INSPECT)
        else {
            continue;
        };
        let text = match is_manual(op) {
            true => "{manual}".to_string(),
            false => to_text(own.first().and_then(Option::as_ref)),
        };
        let key = call.backend_config().and_then(Attribute::as_str).unwrap_or_default();
        host::inspect(key, &text)?;
    }
    for (number, id) in calls.into_iter().enumerate() {
        module.set_attr(id, NUMBER, Attribute::i64(number as i64));
    }
    host.set_distributions(found);
    Ok(module)
}

/// Makes computations of single devices fail where these give other values of what is stated to be
/// the same on all of them. Returns true if there are any.
pub(crate) fn check_copies(module: &mut Module) -> bool {
    let manual: Vec<OpId> =
        stablo::walk(module).filter(|op| op.is(ManualComputationOp::DEF)).map(OpRef::id).collect();
    for &id in &manual {
        module.set_attr(id, CHECK_COPIES, Attribute::bool(true));
    }
    !manual.is_empty()
}

/// For each call, the distributions of its operands.
fn distributions(
    module: &Module,
    calls: &[OpId],
    devices: usize,
) -> Outcome<Vec<Vec<Option<Distribution>>>> {
    let function =
        stablo::entry_function(module, ENTRY).map_err(Failure::of(Code::InvalidArgument))?;
    let operands = |id: &OpId| module.op(*id).operands().iter().copied();
    let values: Vec<Value> = calls.iter().flat_map(operands).collect();
    let mut shardings = value_shardings(module, *function, &values).into_iter();
    let mut of_value = |value: Value| {
        let Some(Some(sharding)) = shardings.next().filter(|_| devices > 1) else {
            return Ok(None);
        };
        let rank = module.ty(value).as_tensor().map_or(0, |own| own.rank());
        distribution_of(*function, sharding, rank, devices)
    };
    calls.iter().map(|id| operands(id).map(&mut of_value).collect()).collect()
}
