//! The custom calls that stand for Shardy's ops in programs that JAX exported from March to May
//! 2025, before StableHLO kept ops of other dialects. Shardy's attributes are strings in
//! `mhlo.frontend_attributes`; meshes are attributes of the module.
//!
//! Source: XLA, `xla/service/spmd/shardy/constants.h` and the passes of `sdy_round_trip`.

use crate::ops::CustomCallOp;
use crate::spmd;
use mlir::prepare::{Prepared, Preparer, native, native_with_env};
use mlir::text::{ParseOptions, parse_attribute};
use mlir::{Attribute, OpRef};
use program::EvalError;
use side_dialects::func::CallOp;
use side_dialects::sdy::{self, Mesh, Shards};
use std::sync::Arc;

/// A call that returns the shards of this device.
pub const GLOBAL_TO_LOCAL: &str = "xla.sdy.GlobalToLocalShape";
/// A call that assembles the shards.
pub const LOCAL_TO_GLOBAL: &str = "xla.sdy.LocalToGlobalShape";
/// A call that says that two values are sharded alike.
pub const SHARDING_GROUP: &str = "xla.sdy.ShardingGroup";

const FRONTEND_ATTRIBUTES: &str = "mhlo.frontend_attributes";
const MANUAL_AXES: &str = "xla.sdy.manual_axes";
const MESHES: &str = "xla.sdy.meshes";

/// An attribute of Shardy, written as a string by exporters, of an op; `None` if it has none.
///
/// # Errors
/// If the string is not an attribute.
fn written(op: OpRef<'_>, name: &str) -> Result<Option<Attribute>, EvalError> {
    let own = op.attr(FRONTEND_ATTRIBUTES).and_then(|all| all.as_dictionary()?.get(name));
    let Some(attribute) = own.or_else(|| op.attr(name)) else { return Ok(None) };
    let Some(text) = attribute.as_str() else { return Ok(Some(attribute.clone())) };
    let parse = |text: &str| parse_attribute(text, op.module().registry(), ParseOptions::default());
    // Early exporters escaped quotes.
    parse(text).or_else(|_| parse(&text.replace("\\\"", "\""))).map(Some).map_err(|errors| {
        let reason = errors.first().map_or("", |error| error.message.as_ref());
        EvalError::new("sharding", format!("{name} cannot be read: {reason}; found {attribute}"))
    })
}

/// The meshes of a module by name.
///
/// # Errors
/// If they cannot be read.
pub fn meshes(op: OpRef<'_>) -> Result<Vec<(Arc<str>, Mesh)>, EvalError> {
    let Some(all) = written(op.module().top(), MESHES)? else { return Ok(Vec::new()) };
    let entries = all.as_dictionary().into_iter().flat_map(|meshes| meshes.iter());
    let mesh = |(name, mesh): &(Arc<str>, Attribute)| Some((name.clone(), Mesh::of(mesh)?));
    let meshes: Option<Vec<_>> = entries.map(mesh).collect();
    meshes.ok_or_else(|| {
        EvalError::new("sharding", format!("{MESHES} must hold meshes; found {all}"))
    })
}

/// The mesh of an `#sdy.sharding`.
fn mesh_of(op: OpRef<'_>, sharding: &Attribute) -> Result<Mesh, EvalError> {
    let mesh_or_ref = sdy::mesh_or_ref(sharding);
    let named = match mesh_or_ref.and_then(|mesh| mesh.as_flat_symbol()) {
        Some(name) => {
            meshes(op)?.into_iter().find(|(own, _)| **own == **name).map(|(_, mesh)| mesh)
        }
        None => None,
    };
    named.or_else(|| Mesh::resolve(op, mesh_or_ref?)).ok_or_else(|| {
        EvalError::new("sharding", format!("there is no mesh for the sharding {sharding}"))
    })
}

/// The shards that a call takes or gives. `call` calls the manual computation's body and has the
/// attributes in early exports.
fn shards(op: OpRef<'_>, call: Option<OpRef<'_>>, name: &str) -> Result<Shards, EvalError> {
    let find = |name: &str| -> Result<Attribute, EvalError> {
        let found = match (written(op, name)?, call) {
            (None, Some(call)) => written(call, name)?,
            (own, _) => own,
        };
        let target = CustomCallOp(op).call_target_name();
        found.ok_or_else(|| {
            EvalError::new("sharding", format!("the call of {target} has no {name}"))
        })
    };
    let (shardings, axes) = (find(name)?, find(MANUAL_AXES)?);
    let shardings = sdy::shardings(&shardings);
    let expected = op.num_results();
    if shardings.len() != expected || op.operands().len() != expected {
        let message = format!(
            "{name} must have a sharding for each operand and result; found {}, for {} and {expected}",
            shardings.len(),
            op.operands().len(),
        );
        return Err(EvalError::new("sharding", message));
    }
    let mesh = shardings.first().map(|sharding| mesh_of(op, sharding));
    let mesh =
        mesh.unwrap_or_else(|| Err(EvalError::new("sharding", format!("{name} is empty"))))?;
    Shards::new(mesh, &axes, shardings)
}

/// The shards of this process.
///
/// # Errors
/// Shardings and meshes that cannot be read.
pub fn global_to_local(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let module = op.module();
    let user = || module.walk(module.top().id()).find(|user| takes_result_of(*user, op));
    let has_own = written(op, MANUAL_AXES)?.is_some();
    let shards = shards(op, if has_own { None } else { user() }, "xla.sdy.in_shardings")?;
    native_with_env(op, move |_, operands, env| shards.split(operands, env))
}

/// True if `user` is a call of a function on a result of `op`.
fn takes_result_of(user: OpRef<'_>, op: OpRef<'_>) -> bool {
    let made_by = |&value: &_| op.module().defining_op(value).map(OpRef::id) == Some(op.id());
    user.is(CallOp::DEF) && user.operands().iter().any(made_by)
}

/// The whole values assembled from the shards of all processes along the manual axes.
///
/// # Errors
/// As [`global_to_local`].
pub fn local_to_global(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let made_by = op.operands().iter().filter_map(|&value| op.module().defining_op(value));
    let call = made_by.into_iter().find(|op| op.is(CallOp::DEF));
    let shards = shards(op, call, "xla.sdy.out_shardings")?;
    native_with_env(op, move |origin, operands, env| shards.join(origin, operands, env))
}

/// Nothing, or an empty tuple as early exports have it.
pub fn sharding_group(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    if op.num_results() > 0 {
        return spmd::annotation(op, cx);
    }
    native(op, |_| Ok(Vec::new()))
}
