//! Compiled programs: their weights are also in the order in which kernels read them.

use crate::dialects::stablehlo::ConstantOp;
use crate::ir::{AttrKind, Dictionary};
use crate::{Attribute, Error, Module, Program, Result, RunOptions, Type, walk};
use engine::PrepackedConstant;
use mlir::attrs::{Blob, Resource};
use mlir::types::Signedness;
use numerics::Bytes;
use std::collections::HashSet;
use std::sync::Arc;

/// The attribute of a module with its prepacked constants.
const PREPACKED: &str = "stablo.prepacked";

/// Minimum size in bytes of constants that become resources: smaller ones are copied anyway.
const MIN_RESOURCE: usize = 4096;

/// The alignment of resources: a line of the cache.
const ALIGNMENT: u32 = 64;

/// Compiles the function `entry` of a verified program that is loaded often: its large constants
/// become resources, which artifacts and bytecode align, so that a file of them is mapped instead
/// of read. Those that kernels read in another order are there in that order, too. It is a program
/// like others, with the same results.
///
/// The order of elements is the same on all machines. What is prepacked for kernels that a machine
/// or another version of stablo does not have is not used, nor is anything of a program with
/// dynamic shapes: make it static first.
///
/// ```
/// let module = stablo::load(
///     "product.mlir",
///     "func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
///      %w = stablehlo.constant dense<2.0> : tensor<4x4xf32>
///      %0 = stablehlo.dot %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
///      return %0 : tensor<4x4xf32>
///      }",
/// )?;
/// let compiled = stablo::compile(module, "main")?;
/// let bytes = stablo::serialize(&compiled, stablo::Version::CURRENT)?;
/// let x = stablo::Tensor::scalar(1f32).broadcast_scalar([4, 4])?;
/// let results = stablo::run(&stablo::load("compiled", bytes)?, "main", vec![x.into()])?;
/// assert_eq!(results[0].tensor()?.as_slice::<f32>()?, [8.0; 16]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`Program::prepare`], and if there is no memory for prepacked constants.
pub fn compile(mut module: Module, entry: &str) -> Result<Module> {
    let top = module.top().id();
    remove_prepacked(&mut module);
    to_resources(&mut module)?;
    let program = Program::prepare(module.clone(), entry, RunOptions::default())?;
    let constants = engine::prepack_constants(program.prepared()).map_err(|error| {
        Error::in_module(vec![module.top().error("memory", error.to_string())], &module)
    })?;
    let names = resource_names(&module);
    let mut entries = Vec::new();
    for (number, PrepackedConstant { constant, kernel, packed }) in constants.iter().enumerate() {
        // Equal programs share a plan: its constants may belong to another one.
        let is_same = |value: &&Attribute| {
            blob(value).is_some_and(|blob| blob.same(constant) || **blob == **constant)
        };
        let value = walk(&module).filter_map(ConstantOp::cast).map(|op| op.value()).find(is_same);
        // Others are computed when the program is compiled.
        let Some(value) = value else { continue };
        let ty = Type::tensor([packed.len() as i64], Type::integer(8, Signedness::Signless));
        let resource = resource(&names, "prepacked", number, packed.clone());
        let mut entry = Dictionary::default();
        entry.set("constant", value.clone());
        entry.set("kernel", Attribute::i64(kernel.cast_signed()));
        entry.set("packed", AttrKind::DenseResource { ty, resource }.into());
        entries.push(entry.into());
    }
    if !entries.is_empty() {
        module.set_attr(top, PREPACKED, AttrKind::Array(entries).into());
    }
    Ok(module)
}

/// Turns large constants into resources.
fn to_resources(module: &mut Module) -> Result<()> {
    let names = resource_names(module);
    let mut large = Vec::new();
    for op in walk(module).filter_map(ConstantOp::cast) {
        let Some(elements) = op.value().as_dense() else { continue };
        let tensor = elements.stored()?;
        let has_bytes = tensor.dtype().bits() as usize == 8 * tensor.dtype().bytes();
        if !elements.is_splat() && has_bytes && elements.data().len() >= MIN_RESOURCE {
            large.push((op.id(), op.value().ty(), tensor.bytes().clone()));
        }
    }
    for (number, (op, ty, data)) in large.into_iter().enumerate() {
        let resource = resource(&names, "constant", number, data);
        module.set_attr(op, "value", AttrKind::DenseResource { ty, resource }.into());
    }
    Ok(())
}

/// A new resource `stablo_kind_number`, with `_` appended while `names` has that.
fn resource(names: &HashSet<Arc<str>>, kind: &str, number: usize, data: Bytes) -> Resource {
    let mut name = format!("stablo_{kind}_{number}");
    while names.contains(&*name) {
        name.push('_');
    }
    let resource = Resource::new(name);
    resource.define(Blob { alignment: ALIGNMENT, data });
    resource
}

/// The names of the resources of constants.
fn resource_names(module: &Module) -> HashSet<Arc<str>> {
    let constants = walk(module).filter_map(ConstantOp::cast);
    let name = |op: ConstantOp<'_>| match &**op.value() {
        AttrKind::DenseResource { resource, .. } => Some(resource.key().clone()),
        _ => None,
    };
    constants.filter_map(name).collect()
}

/// The contents of a resource.
fn blob(value: &Attribute) -> Option<&Bytes> {
    match &**value {
        AttrKind::DenseResource { resource, .. } => Some(&resource.blob()?.data),
        _ => None,
    }
}

/// Removes what [`compile`] has prepacked.
pub(crate) fn remove_prepacked(module: &mut Module) {
    let top = module.top().id();
    module.remove_attr(top, PREPACKED);
}

/// The prepacked constants that a module has by [`compile`]; none of one that was read as text, as
/// a constant may have been edited there.
pub(crate) fn prepacked_constants(module: &Module) -> Vec<PrepackedConstant> {
    if module.source().is_some() {
        return Vec::new();
    }
    let entries = module.top().attr(PREPACKED).and_then(|attribute| attribute.as_array());
    let constant = |entry: &Attribute| {
        let entry = entry.as_dictionary()?;
        Some(PrepackedConstant {
            constant: blob(entry.get("constant")?)?.clone(),
            kernel: entry.get("kernel")?.as_i64()?.cast_unsigned(),
            packed: blob(entry.get("packed")?)?.clone(),
        })
    };
    entries.into_iter().flatten().filter_map(constant).collect()
}
