//! Verification of the dialect's parameters and ops.

use super::attrs::{MESH_TENSOR, REDUCTION, REDUCTION_TYPE};
use super::ops::{
    CallOp, ForOp, FragmentCallOp, FragmentOp, NamedComputationOp, ReduceOp, TransferOp,
};
use super::topology::{MeshTensor, function, has_topology, mesh_named, mesh_of_function};
use crate::func::FuncOp;
use mlir::attrs::AttrKind;
use mlir::diag::counted;
use mlir::ir::ValueDef;
use mlir::ods::Params;
use mlir::types::{Signedness, TypeKind};
use mlir::verify::{nearest_symbol, suggest_symbol};
use mlir::{Attribute, OpRef, RegionId, Type, Value, Verdict};

/// The label of checks of meshes and of the tensors on them.
const LABEL: &str = "topology";

/// The kinds of memory that a transfer moves tensors between.
const MEMORY_KINDS: [&str; 2] = ["device", "pinned_host"];

/// The attribute of values and ops that older programs have for the kind of memory.
const MEMORY_KIND_ATTRIBUTE: &str = "mhlo.memory_kind";

/// Checks that a topology has a mesh.
pub(super) fn topology(params: &Params) -> Result<(), String> {
    match params.first().and_then(|meshes| meshes.as_ref()?.as_array()) {
        Some([]) | None => Err("a topology must have a mesh; found none".into()),
        Some(_) => Ok(()),
    }
}

/// Checks that the tensor of a type is a ranked one.
pub(super) fn mesh_tensor(params: &Params) -> Result<(), String> {
    match params.get(1).and_then(|tensor| tensor.as_ref()?.as_type()) {
        Some(ty) if ty.as_tensor().is_some() => Ok(()),
        Some(ty) => Err(format!("a mesh has ranked tensors only, found {ty}")),
        None => Err("the type of the tensor is missing".into()),
    }
}

/// The types of the arguments of a body and of the values that it returns.
fn types_of_body(op: OpRef<'_>, body: RegionId) -> (Vec<Type>, Vec<Type>) {
    let module = op.module();
    let Some(block) = module.entry(body) else { return Default::default() };
    let arguments = module.arguments(block).iter().map(|&value| module.ty(value).clone());
    let returned = module.terminator(block);
    (arguments.collect(), returned.iter().flat_map(|op| op.operand_types()).cloned().collect())
}

/// Checks each value inside against that outside: an argument against an operand, a returned value
/// against a result.
fn check_pairs<'m>(
    label: &'static str,
    op: OpRef<'m>,
    inner: (&[Type], &str),
    outer: (Vec<&'m Type>, &str),
    check: impl Fn(&Type, &Type) -> Result<(), String>,
) -> Verdict {
    let ((inner, inner_name), (outer, outer_name)) = (inner, outer);
    if inner.len() != outer.len() {
        let message = format!(
            "there must be as many {inner_name}s as {outer_name}s, {}; found {}",
            outer.len(),
            inner.len()
        );
        return Err(op.error(label, message));
    }
    for (i, (inner, outer)) in inner.iter().zip(outer).enumerate() {
        check(inner, outer)
            .map_err(|message| op.error(label, format!("{inner_name} {i}: {message}")))?;
    }
    Ok(())
}

/// Verifies that the body has arguments and results of the types of the operands and results.
pub(super) fn named_computation(op: OpRef<'_>) -> Verdict {
    let (arguments, returned) = types_of_body(op, NamedComputationOp(op).region());
    let same = |inner: &Type, outer: &Type| match inner == outer {
        true => Ok(()),
        false => Err(format!("the type must be that outside, {outer}; found {inner}")),
    };
    let operands = op.operand_types().collect();
    check_pairs("region", op, (&arguments, "argument"), (operands, "operand"), same)?;
    let results = op.result_types().collect();
    check_pairs("region", op, (&returned, "returned value"), (results, "result"), same)
}

/// Verifies that operands and results are on the mesh and their whole tensors have the given types.
fn check_on_mesh(op: OpRef<'_>, name: &str, arguments: &[Type], returned: &[Type]) -> Verdict {
    let check = |inner: &Type, outer: &Type| {
        let mesh = mesh_named(op, name)?;
        let Some(tensor) = MeshTensor::of(outer) else {
            return match inner == outer {
                true => Ok(()),
                false => Err(format!("the type must be {outer}; found {inner}")),
            };
        };
        if tensor.mesh != name {
            let found = tensor.mesh;
            return Err(format!(
                "the value must be on the mesh \"{name}\" of the op; found \"{found}\""
            ));
        }
        tensor.check(mesh)?;
        match inner == tensor.tensor {
            true => Ok(()),
            false => Err(format!(
                "the type must be that of the whole tensor, {}; found {inner}",
                tensor.tensor
            )),
        }
    };
    let operands = op.operand_types().collect();
    check_pairs(LABEL, op, (arguments, "argument"), (operands, "operand"), check)?;
    let results = op.result_types().collect();
    check_pairs(LABEL, op, (returned, "returned value"), (results, "result"), check)
}

pub(super) fn fragment(op: OpRef<'_>) -> Verdict {
    let view = FragmentOp(op);
    let (arguments, returned) = types_of_body(op, view.region());
    check_on_mesh(op, view.mesh_name(), &arguments, &returned)
}

/// The function that an op calls.
fn callee<'m>(op: OpRef<'m>, name: &str) -> Result<FuncOp<'m>, mlir::Diagnostic> {
    nearest_symbol(op, name).and_then(FuncOp::cast).ok_or_else(|| {
        let error = op.error("symbol", format!("there is no function @{name} to call"));
        error.help(suggest_symbol(op, name))
    })
}

pub(super) fn fragment_call(op: OpRef<'_>) -> Verdict {
    let view = FragmentCallOp(op);
    let callee = callee(op, view.callee())?;
    let (inputs, results) = callee.signature();
    check_on_mesh(op, view.mesh_name(), inputs, results)?;
    let mesh = mesh_named(op, view.mesh_name()).map_err(|message| op.error(LABEL, message))?;
    let found = mesh_of_function(callee);
    if found == Some(mesh) {
        return Ok(());
    }
    let found = found.map_or("none".to_string(), |found| found.to_string());
    let message = format!(
        "the callee must have the attribute `mesh_shape` with the mesh of the call, {mesh}; found \
         {found}"
    );
    Err(op.error(LABEL, message))
}

/// Checks that a type is a valid tensor on a mesh of the topology.
fn check_type(op: OpRef<'_>, tensor: MeshTensor<'_>) -> Result<(), String> {
    tensor.check(mesh_named(op, tensor.mesh)?)
}

pub(super) fn transfer(op: OpRef<'_>) -> Verdict {
    let check = || {
        let types = [op.module().ty(op.operand(0)), op.result_type(0)];
        let [Some(from), Some(to)] = types.map(MeshTensor::of) else { return Ok(()) };
        check_type(op, from)?;
        check_type(op, to)?;
        if from.tensor != to.tensor {
            return Err(format!(
                "operand and result must have the same whole tensor; found {} and {}",
                from.tensor, to.tensor
            ));
        }
        for kind in [from, to].iter().filter_map(|tensor| tensor.memory_kind) {
            if !MEMORY_KINDS.contains(&kind) {
                return Err(format!(
                    "the memory kind must be \"device\" or \"pinned_host\"; found \"{kind}\""
                ));
            }
        }
        let result = op.results().next().map(|result| (result, "result"));
        for (value, what) in [(op.operand(0), "operand")].into_iter().chain(result) {
            if memory_kind_attribute(op, value) == Some("pinned_host") {
                return Err(format!(
                    "the memory kind of the {what} must be part of its type; found the attribute \
                     `{MEMORY_KIND_ATTRIBUTE}`"
                ));
            }
        }
        Ok(())
    };
    check().map_err(|message: String| op.error(LABEL, message))
}

/// The memory kind of a value as an attribute of what defines it.
fn memory_kind_attribute<'m>(op: OpRef<'m>, value: Value) -> Option<&'m str> {
    let of_entry = |entries: &'m Attribute, index: u32| {
        let entry = entries.as_array()?.get(index as usize)?;
        entry.as_dictionary()?.get(MEMORY_KIND_ATTRIBUTE)?.as_str()
    };
    match op.module().definition(value) {
        ValueDef::Argument { index, .. } => {
            let attributes = function(op)?.arg_attrs()?.get(index as usize)?;
            attributes.as_dictionary()?.get(MEMORY_KIND_ATTRIBUTE)?.as_str()
        }
        ValueDef::Result { op: source, index } => {
            let source = op.module().op(source);
            if TransferOp::cast(source).is_some() {
                return source.attr(MEMORY_KIND_ATTRIBUTE)?.as_str();
            }
            let has_several = FragmentOp::cast(source).is_some()
                || CallOp::cast(source).is_some()
                || FragmentCallOp::cast(source).is_some()
                || ForOp::cast(source).is_some();
            if has_several { of_entry(source.attr("res_attrs")?, index) } else { None }
        }
    }
}

/// Verifies that a tensor without mesh and one that is whole on each device have one type.
pub(super) fn assignment(op: OpRef<'_>) -> Verdict {
    let check = || {
        let types = [op.module().ty(op.operand(0)), op.result_type(0)];
        let (tensor, local) = match types.map(MeshTensor::of) {
            [Some(tensor), _] => (tensor, types[1]),
            [None, Some(tensor)] => (tensor, types[0]),
            [None, None] => return Ok(()),
        };
        check_type(op, tensor)?;
        if !tensor.is_replicated() {
            return Err(
                "the tensor on the mesh must be whole on each device; its sharding splits it"
                    .into(),
            );
        }
        match tensor.tensor == local {
            true => Ok(()),
            false => Err(format!(
                "the tensor on the mesh must have the type of that without mesh, {local}; found {}",
                tensor.tensor
            )),
        }
    };
    check().map_err(|message: String| op.error(LABEL, message))
}

/// True if an op is in a function of VHLO, whose types are not those of this dialect.
fn is_in_vhlo(op: OpRef<'_>) -> bool {
    std::iter::successors(op.parent(), |op| op.parent())
        .any(|op| op.name().starts_with("vhlo.func"))
}

pub(super) fn call(op: OpRef<'_>) -> Verdict {
    let name = CallOp(op).callee();
    if let Some(counter) = op.attr("call_counter") {
        let is_u32 = |ty: &Type| {
            matches!(**ty, TypeKind::Integer { width: 32, signedness: Signedness::Unsigned })
        };
        let is_integer = matches!(**counter, AttrKind::Integer { .. });
        if is_integer && !is_u32(&counter.ty()) {
            let message = format!("call_counter must be of type ui32; found {counter}");
            return Err(op.error("attribute", message));
        }
    }
    if is_in_vhlo(op) {
        return Ok(());
    }
    let Some(function) = function(op) else {
        return Err(op.error("call", "the op must be in a function"));
    };
    let parent = op
        .parent()
        .filter(|parent| FuncOp::cast(*parent).is_none() && ForOp::cast(*parent).is_none());
    if let Some(parent) = parent {
        let message = format!(
            "the call must be directly in a function or in mpmd.for; it is in {}",
            parent.name()
        );
        return Err(op.error("call", message));
    }
    let is_public = function.symbol_visibility().is_none_or(|visibility| visibility == "public");
    if has_topology(function) && !is_public {
        let message = format!(
            "only an entry function, which is public, may call @{name}; @{} is not",
            function.symbol_name().unwrap_or("")
        );
        return Err(op.error("call", message));
    }
    Ok(())
}

pub(super) fn call_symbol(op: OpRef<'_>) -> Verdict {
    if is_in_vhlo(op) {
        return Ok(());
    }
    let callee = callee(op, CallOp(op).callee())?;
    let (inputs, results) = callee.signature();
    // As in Shardy, the numbers may differ: passes that drop unused values rely on it.
    let differs = |found: Vec<&Type>, required: &[Type]| {
        found.into_iter().zip(required).position(|(found, required)| found != required)
    };
    for (what, found, required) in [
        ("operand", op.operand_types().collect::<Vec<_>>(), inputs),
        ("result", op.result_types().collect(), results),
    ] {
        if let Some(i) = differs(found.clone(), required) {
            let message = format!(
                "{what} {i} must have the type that it has in @{}, {}; found {}",
                CallOp(op).callee(),
                required[i],
                found[i]
            );
            return Err(op.error("call", message));
        }
    }
    if has_topology(callee) && callee.symbol_visibility().is_none_or(|v| v == "public") {
        let message = format!(
            "the callee @{} has a topology, so it must be private; public functions with one are \
             entries",
            CallOp(op).callee()
        );
        return Err(op.error("call", message));
    }
    Ok(())
}

/// Verifies the numbers of iterations and the types of the values that a loop carries.
pub(super) fn for_op(op: OpRef<'_>) -> Verdict {
    let view = ForOp(op);
    let (arguments, returned) = types_of_body(op, view.region());
    let Some((index, carried)) = arguments.split_last() else {
        return Err(op.error(
            "region",
            "the body must take the carried values and the index; it has no arguments",
        ));
    };
    let same = |inner: &Type, outer: &Type| match inner == outer {
        true => Ok(()),
        false => Err(format!("the type must be that outside, {outer}; found {inner}")),
    };
    let operands: Vec<&Type> = op.operand_types().collect();
    let results: Vec<&Type> = op.result_types().collect();
    let owned: Vec<Type> = results.iter().map(|&ty| ty.clone()).collect();
    check_pairs("result-type", op, (&owned, "result"), (operands.clone(), "operand"), same)?;
    check_pairs("region", op, (carried, "argument"), (operands.clone(), "operand"), same)?;
    check_pairs("region", op, (&returned, "returned value"), (results, "result"), same)?;
    if index.as_tensor().is_some_and(|ty| ty.rank() != 0 || !ty.element.is_integer(Some(32))) {
        let message = format!("the index must be a 32-bit integer tensor of rank 0; found {index}");
        return Err(op.error("region", message));
    }
    let kind = |ty: &Type| (std::mem::discriminant(&**ty), ty.as_dialect(&MESH_TENSOR).is_some());
    if let Some((first, other)) =
        operands.first().and_then(|&f| Some((f, *operands.iter().find(|&&t| kind(t) != kind(f))?)))
    {
        let message = format!("all carried values must be of one kind; found {first} and {other}");
        return Err(op.error("operand-type", message));
    }
    let (iterations, factor) = (view.iterations(), view.unroll_factor().unwrap_or(1));
    if iterations == 0 {
        return Err(op.error("attribute", "iterations must be greater than zero"));
    }
    match iterations.checked_rem(factor) {
        Some(0) => Ok(()),
        _ => Err(op.error(
            "attribute",
            format!("unroll_factor must divide the {iterations} iterations; found {factor}"),
        )),
    }
}

/// Verifies that several values are combined somehow.
pub(super) fn reduce(op: OpRef<'_>) -> Verdict {
    let view = ReduceOp(op);
    let kind = view.reduction().as_dialect(&REDUCTION).and_then(|params| params.first()?.as_ref());
    let is_none = kind.and_then(|kind| kind.as_enum(&REDUCTION_TYPE)) == Some(0);
    if is_none && op.operands().len() != 1 {
        let message = format!(
            "the reduction `none` is for one value; found {}",
            counted(op.operands().len(), "operand")
        );
        return Err(op.error("operands", message));
    }
    Ok(())
}
