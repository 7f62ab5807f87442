//! Large constants of a program as arguments of its entry function, and back: a program without its weights is small, and the weights
//! can lie in a file of their own.

use crate::refine_arguments::{bind_argument, entry_function, set_argument_attributes, set_signature};
use hlo::ops::ConstantOp;
use mlir::attrs::{DenseElements, Dictionary};
use mlir::pass::Options;
use mlir::rewrite::Rewriter;
use mlir::{Attribute, Diagnostic, Module, OpId, OpRef, Type};
use side_dialects::func::FuncOp;

/// The attribute of an argument that stands for a constant: the name of the constant.
pub const WEIGHT: &str = "stablo.weight";

/// Makes constants of at least `min_bytes` bytes, splats aside, arguments of the entry function, after the others. Returns their names
/// and elements. Constants in other functions stay.
///
/// # Errors
/// There is no entry function.
pub fn extract_weights(module: &mut Module, min_bytes: usize) -> Result<Vec<(String, DenseElements)>, Diagnostic> {
    let root = module.top().id();
    let function = entry_function(module, root)?.id();
    let constants: Vec<(OpId, DenseElements)> = module
        .walk(function)
        .filter(|op| op.is(ConstantOp::DEF))
        .filter_map(|op| Some((op.id(), op.attr("value")?.as_dense()?.clone())))
        .filter(|(_, elements)| !elements.is_splat() && elements.data().len() >= min_bytes)
        .collect();
    let options = Options::defaults(&[]);
    let mut rw = Rewriter::new(module, &options);
    let view = FuncOp(rw.op(function));
    let Some(block) = rw.entry(view.body()) else { return Ok(Vec::new()) };
    let (inputs, results) = view.signature();
    let (mut inputs, results) = (inputs.to_vec(), results.to_vec());
    let mut attributes = view.arg_attrs().and_then(Attribute::as_array).map(<[Attribute]>::to_vec).unwrap_or_default();
    attributes.resize(inputs.len(), Dictionary::default().into());
    let mut weights = Vec::with_capacity(constants.len());
    for (number, (constant, elements)) in constants.into_iter().enumerate() {
        let name = format!("weight_{number}");
        let (ty, loc) = (rw.op(constant).result_type(0).clone(), rw.op(constant).loc().clone());
        let argument = rw.module_mut().add_argument(block, ty.clone(), loc);
        rw.replace(constant, &[argument]);
        let mut dictionary = Dictionary::default();
        dictionary.set(WEIGHT, Attribute::string(&name));
        attributes.push(dictionary.into());
        inputs.push(ty);
        weights.push((name, elements));
    }
    set_argument_attributes(rw.module_mut(), function, attributes);
    set_signature(rw.module_mut(), function, inputs, results);
    Ok(weights)
}

/// Makes the arguments that [`extract_weights`] added constants again, with the elements that `find` gives for a name and a type.
///
/// # Errors
/// There is no entry function, or it has no such arguments; what `find` says, at the function.
pub fn insert_weights(
    module: &mut Module,
    find: &mut dyn FnMut(&str, &Type) -> Result<Attribute, String>,
) -> Result<(), Diagnostic> {
    let root = module.top().id();
    let function = entry_function(module, root)?.id();
    let options = Options::defaults(&[]);
    let mut rw = Rewriter::new(module, &options);
    let mut inserted = false;
    // From the last on, so that those before keep their places.
    for index in (0..FuncOp(rw.op(function)).signature().0.len()).rev() {
        let Some(name) = weight_name(rw.op(function), index).map(str::to_string) else { continue };
        let ty = FuncOp(rw.op(function)).signature().0[index].clone();
        let value = find(&name, &ty).map_err(|why| rw.op(function).error("weight", why))?;
        bind_argument(&mut rw, function, index, value);
        inserted = true;
    }
    if inserted {
        return Ok(());
    }
    let message = format!("no argument stands for a constant: none has the attribute {WEIGHT}");
    Err(rw.op(function).error("weight", message))
}

/// The name of the constant that an argument stands for.
fn weight_name(function: OpRef<'_>, index: usize) -> Option<&str> {
    FuncOp(function).arg_attrs()?.as_array()?.get(index)?.as_dictionary()?.get(WEIGHT)?.as_str()
}
