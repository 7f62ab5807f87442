//! The arguments and results of programs: their shapes on each device, and their shardings.

use crate::buffer::Shape;
use crate::device::MEMORY_KINDS;
use crate::error::{Code, Failure, Outcome};
use crate::types;
use stablo::dialects::func::{CallOp, FuncOp};
use stablo::dialects::sdy;
use stablo::ir::{OpRef, Trait, Value, ValueDef};
use stablo::{Attribute, DType, Distribution, EvalError, Module, RuntimeValue, Type};

/// The function that runs.
pub const ENTRY: &str = "main";

/// The attributes of arguments and results that state a sharding.
const SHARDINGS: [&str; 2] = ["sdy.sharding", "mhlo.sharding"];

/// The maximum number of ops that are looked at for the sharding of a result.
const MAX_STEPS: usize = 256;

/// An argument or a result of a program.
pub struct Parameter {
    /// The shape on each device.
    pub shape: Shape,
    /// The distribution over devices; `None` if each has all of it.
    pub distribution: Option<Distribution>,
    /// True for tokens, for which clients pass and get empty booleans.
    pub is_token: bool,
    /// True if an execution may take over the memory of the argument.
    pub is_donated: bool,
    /// The memory that a result is to be in, as an index of [`MEMORY_KINDS`].
    pub memory: usize,
}

/// The type of an argument or result of `function`, and what its attributes say of it.
fn parameter(
    what: &str,
    ty: &Type,
    attributes: Option<&Attribute>,
    function: OpRef<'_>,
    partitions: usize,
) -> Outcome<Parameter> {
    let is_token = stablo::value_fits(&RuntimeValue::Token, ty);
    let sizes = ty.as_tensor().and_then(|tensor| tensor.static_shape());
    let known =
        if is_token { Some((vec![0], DType::I1)) } else { sizes.zip(stablo::storage_dtype(ty)) };
    let Some((sizes, dtype)) = known else {
        let message = format!("{what} of the program has type {ty}, not a static tensor");
        return Err(Failure::new(Code::Unimplemented, message));
    };
    types::number(dtype)?;
    let attributes = attributes.and_then(Attribute::as_dictionary);
    let attribute = |name| attributes.and_then(|own| own.get(name));
    let is_donated = attribute("tf.aliasing_output").is_some()
        || attribute("jax.buffer_donor").and_then(Attribute::as_bool) == Some(true);
    let kind = attribute("mhlo.memory_kind").and_then(Attribute::as_str);
    let memory = MEMORY_KINDS.iter().position(|own| Some(*own) == kind).unwrap_or(0);
    let distribution = match attributes {
        Some(attributes) if partitions > 1 && !is_token => {
            Distribution::of(function, attributes, sizes.len(), partitions).map_err(unsharded)?
        }
        _ => None,
    };
    let sizes = match &distribution {
        Some(distribution) => distribution.tile_shape(&sizes).map_err(unsharded)?,
        None => sizes,
    };
    Ok(Parameter { distribution, shape: Shape { dtype, sizes }, is_token, is_donated, memory })
}

/// The failure of a sharding that cannot be applied.
pub fn unsharded(error: EvalError) -> Failure {
    Failure::of(Code::Unimplemented)(error.into())
}

/// For each result of a function, the sharding of the value that it is made of, if all between is
/// elementwise. XLA propagates shardings so, and through more.
fn result_shardings(module: &Module, function: OpRef<'_>) -> Vec<Option<Attribute>> {
    let values = returned(module, function);
    let sharding = |&value: &Value| sharding_of(module, value, function, &[], &mut { MAX_STEPS });
    values.iter().map(sharding).collect()
}

/// The values that a function returns.
fn returned<'m>(module: &'m Module, function: OpRef<'_>) -> &'m [Value] {
    let entry = function.regions().first().and_then(|&body| module.entry(body));
    entry.and_then(|entry| module.terminator(entry)).map_or(&[], OpRef::operands)
}

/// The sharding of a value in `function` or in what it calls, an `#sdy.sharding`; `calls` are the
/// calls around the value, the innermost last.
fn sharding_of(
    module: &Module,
    value: Value,
    function: OpRef<'_>,
    calls: &[OpRef<'_>],
    steps: &mut usize,
) -> Option<Attribute> {
    *steps = steps.checked_sub(1)?;
    let (op, index) = match module.definition(value) {
        ValueDef::Result { op, index } => (module.op(op), index as usize),
        ValueDef::Argument { block, index } => {
            if let Some((call, around)) = calls.split_last() {
                let value = *call.operands().get(index as usize)?;
                return sharding_of(module, value, function, around, steps);
            }
            let body = function.regions().first().and_then(|&body| module.entry(body))?;
            let attributes = FuncOp::cast(function)?.arg_attrs()?.get(index as usize)?;
            let attributes = attributes.as_dictionary().filter(|_| block == body)?;
            return attributes.get("sdy.sharding").cloned();
        }
    };
    if let Some(manual) = sdy::ManualComputationOp::cast(op) {
        return sdy::shardings(manual.out_shardings()).get(index).cloned();
    }
    if op.is(sdy::ShardingConstraintOp::DEF) {
        return op.attr("sharding").cloned();
    }
    if let Some(call) = CallOp::cast(op) {
        let callee = module.top().lookup_symbol(call.callee())?;
        let value = *returned(module, callee).get(index)?;
        let calls: Vec<OpRef<'_>> = calls.iter().copied().chain([op]).collect();
        return sharding_of(module, value, function, &calls, steps);
    }
    if !op.has_trait(&Trait::Elementwise) {
        return None;
    }
    let shape = module.ty(value).shape();
    let operands = op.operands().iter().filter(|operand| module.ty(**operand).shape() == shape);
    { operands }.find_map(|&operand| sharding_of(module, operand, function, calls, steps))
}

/// The arguments and the results of the function that runs.
pub fn parameters(module: &Module, partitions: usize) -> Outcome<(Vec<Parameter>, Vec<Parameter>)> {
    let function =
        stablo::entry_function(module, ENTRY).map_err(Failure::of(Code::InvalidArgument))?;
    let (inputs, results) = function.signature();
    let derived = result_shardings(module, *function);
    let list = |what: &str, types: &[Type], attributes: Option<&[Attribute]>| {
        let each = types.iter().enumerate().map(|(index, ty)| {
            let attributes = attributes.and_then(|all| all.get(index));
            let own = attributes.and_then(Attribute::as_dictionary);
            let derived = derived.get(index).filter(|_| what == "result").and_then(|derived| {
                let mut all = own.cloned().unwrap_or_default();
                let is_open = SHARDINGS.iter().all(|name| all.get(name).is_none());
                if is_open {
                    all.set("sdy.sharding", derived.clone()?);
                }
                Some(Attribute::from(all))
            });
            let attributes = derived.as_ref().or(attributes);
            parameter(&format!("{what} {index}"), ty, attributes, *function, partitions)
        });
        each.collect::<Outcome<Vec<Parameter>>>()
    };
    let arguments = list("argument", inputs, function.arg_attrs())?;
    let results = list("result", results, function.res_attrs())?;
    Ok((arguments, results))
}
