//! `stablehlo-refine-arguments`: gives the arguments of the entry function more specific types.
//!
//! Uses of an argument keep the declared type: a wrapper custom call casts in between, which
//! `stablehlo-refine-shapes` removes once all uses accept the new type.

use crate::evaluate::scalar;
use hlo::ops::{ConstantOp, CustomCallOp};
use mlir::diag::counted;
use mlir::pass::{OptionKind, Pass, PassContext, PassOption};
use mlir::rewrite::Rewriter;
use mlir::text::{ParseOptions, parse_type};
use mlir::types::DYNAMIC;
use mlir::{Attribute, Diagnostic, Module, OpId, OpRef, Type, TypeKind};
use side_dialects::func::FuncOp;

/// Target of the wrapper custom calls between arguments and their uses: returns the first operand,
/// with another type.
pub(crate) const OPERAND_WRAPPER: &str = "stablehlo.shape_refinement_operand_wrapper";

/// Gives the arguments of the entry function more specific types.
pub(crate) const PASS: Pass = Pass::on_modules(
    "stablehlo-refine-arguments",
    "Refine the types of the entry function's arguments",
    run,
)
.with_options(&[PassOption {
    name: "types",
    doc: "The types, one per argument",
    kind: OptionKind::List,
}]);

fn run(cx: &mut PassContext<'_>) {
    let types = cx.options.list("types");
    if let Err(error) = refine_entry_arguments(cx, types) {
        cx.report(error);
    }
}

/// Refines the arguments of the entry function to the given types, in MLIR syntax.
///
/// # Errors
/// If a text is not a type; as [`main_function`] and [`refine_arguments`].
pub(crate) fn refine_entry_arguments(
    cx: &mut PassContext<'_>,
    types: &[String],
) -> Result<(), Diagnostic> {
    let entry = main_function(cx.module, cx.root)?.id();
    let types = parse_types(cx.module.op(cx.root), types)?;
    let mut rewriter = Rewriter::new(cx.module, cx.options);
    refine_arguments(&mut rewriter, entry, &types)
}

/// Parses types.
fn parse_types(root: OpRef<'_>, types: &[String]) -> Result<Vec<Type>, Diagnostic> {
    let parse = |text: &String| {
        parse_type(text, root.module().registry(), ParseOptions::default()).map_err(|errors| {
            let why = errors.first().map_or("", |e| e.message.as_str());
            root.error("types", format!("`{text}` is not a type: {why}"))
        })
    };
    types.iter().map(parse).collect()
}

/// The functions of a module.
pub(crate) fn functions(module: &Module, root: OpId) -> impl Iterator<Item = FuncOp<'_>> {
    let body = module.op(root).regions().first().and_then(|&region| module.entry(region));
    body.into_iter().flat_map(|block| module.ops(block)).filter_map(FuncOp::cast)
}

/// The function of a program that is changed: the only public one, else [`main_function`].
///
/// # Errors
/// If there is no such function, or its body does not have exactly one block.
pub(crate) fn entry_function(module: &Module, root: OpId) -> Result<FuncOp<'_>, Diagnostic> {
    let is_public = |f: &FuncOp<'_>| OpRef::symbol_visibility(**f).is_none_or(|v| v == "public");
    let mut public = functions(module, root).filter(is_public);
    let (Some(only), None) = (public.next(), public.next()) else {
        return main_function(module, root);
    };
    one_block(*only)?;
    Ok(only)
}

/// The function at which upstream's passes start: the only one, else `main`.
///
/// # Errors
/// As [`entry_function`].
pub(crate) fn main_function(module: &Module, root: OpId) -> Result<FuncOp<'_>, Diagnostic> {
    let functions: Vec<FuncOp<'_>> = functions(module, root).collect();
    let root = module.op(root);
    let entry = match functions[..] {
        [only] => Some(only),
        _ => functions.iter().copied().find(|f| OpRef::symbol_name(**f) == Some("main")),
    };
    let entry = entry.ok_or_else(|| {
        let found = functions.len();
        root.error(
            "entry",
            format!("the module must have one function or a function @main; found {found}"),
        )
    })?;
    one_block(*entry)?;
    Ok(entry)
}

/// Checks that the body of a function is a single block.
pub(crate) fn one_block(function: OpRef<'_>) -> Result<(), Diagnostic> {
    let blocks = function.regions().first().map_or(0, |&body| function.module().blocks(body).len());
    if blocks == 1 {
        return Ok(());
    }
    let name = function.symbol_name().unwrap_or("");
    Err(function.error("entry", format!("the body of @{name} must be one block; it has {blocks}")))
}

/// Refines the arguments of a function, whose body is one block, to the given types. Uses keep the
/// declared types, through wrapper calls.
///
/// # Errors
/// If the number of types differs from that of the arguments, or a type is not a refinement of the
/// declared one.
pub(crate) fn refine_arguments(
    rw: &mut Rewriter<'_>,
    function: OpId,
    types: &[Type],
) -> Result<(), Diagnostic> {
    let view = FuncOp(rw.op(function));
    let Some(block) = rw.entry(view.body()) else { return Ok(()) };
    let (declared, results) = view.signature();
    check(*view, declared, types)?;
    let (declared, results) = (declared.to_vec(), results.to_vec());
    rw.at_start(block);
    for (index, (old, new)) in
        declared.iter().zip(types).enumerate().filter(|(_, (old, new))| old != new)
    {
        let argument = rw.arguments(block)[index];
        rw.module_mut().set_type(argument, new.clone());
        let loc = rw.argument_locs(block)[index].clone();
        rw.set_loc(loc);
        let sizes = new.shape().unwrap_or(&[]).to_vec();
        let Some(sizes) = Attribute::i64_elements(&[sizes.len() as i64], &sizes) else { continue };
        let (ty, indices) = (sizes.ty(), Attribute::i64_elements(&[1], &[1]));
        let shape = rw.make(ConstantOp::DEF, []).attr("value", sizes).result(ty);
        let wrapper = rw
            .make(CustomCallOp::DEF, [argument, shape])
            .attr("call_target_name", Attribute::string(OPERAND_WRAPPER))
            .optional_attr("indices_of_shape_operands", indices.as_ref())
            .results([old.clone()]);
        let wrapped = rw.op(wrapper).result(0);
        rw.module_mut().replace_uses_if(argument, wrapped, |user| user != wrapper);
    }
    set_signature(rw.module_mut(), function, types.to_vec(), results);
    Ok(())
}

/// Replaces an argument of a function by an integer constant, and removes the argument.
///
/// # Errors
/// If there is no such argument, or it is not a single element that can hold the value.
pub(crate) fn substitute_argument(
    rw: &mut Rewriter<'_>,
    function: OpId,
    index: usize,
    value: i64,
) -> Result<(), Diagnostic> {
    let view = FuncOp(rw.op(function));
    let argument = rw.entry(view.body()).and_then(|block| rw.arguments(block).get(index).copied());
    let Some(argument) = argument else {
        let message = format!(
            "there is no argument {index} to become {value}: the function has {}",
            counted(view.signature().0.len(), "argument")
        );
        return Err(view.error("argument", message));
    };
    let ty = rw.ty(argument).clone();
    let Some(attribute) = scalar(value, &ty) else {
        let message =
            format!("argument {index} cannot become the constant {value}: it has type {ty}");
        return Err(view.error("argument", message));
    };
    bind_argument(rw, function, index, attribute);
    Ok(())
}

/// Replaces an argument of a function by a constant, and removes the argument. A no-op if there is
/// no such argument.
pub(crate) fn bind_argument(rw: &mut Rewriter<'_>, function: OpId, index: usize, value: Attribute) {
    let view = FuncOp(rw.op(function));
    let (inputs, results) = view.signature();
    let (mut inputs, results) = (inputs.to_vec(), results.to_vec());
    let block = rw.entry(view.body());
    let Some((block, &argument)) =
        block.and_then(|block| Some((block, rw.arguments(block).get(index)?)))
    else {
        return;
    };
    let attributes = view.arg_attrs().map(<[Attribute]>::to_vec);
    rw.at_start(block);
    let loc = rw.argument_locs(block)[index].clone();
    rw.set_loc(loc);
    let ty = rw.ty(argument).clone();
    let constant = rw.make(ConstantOp::DEF, []).attr("value", value).result(ty);
    rw.replace_uses(argument, constant);
    rw.module_mut().erase_argument(block, index);
    inputs.remove(index);
    if let Some(mut attributes) = attributes.filter(|list| index < list.len()) {
        attributes.remove(index);
        set_argument_attributes(rw.module_mut(), function, attributes);
    }
    set_signature(rw.module_mut(), function, inputs, results);
}

/// Sets the attribute dictionaries of the arguments; removes the attribute if all are empty.
pub(crate) fn set_argument_attributes(
    module: &mut Module,
    function: OpId,
    attributes: Vec<Attribute>,
) {
    if attributes.iter().all(|a| a.as_dictionary().is_none_or(|d| d.is_empty())) {
        module.remove_attr(function, "arg_attrs");
    } else {
        module.set_attr(function, "arg_attrs", Attribute::array(attributes));
    }
}

/// Sets the function type.
pub(crate) fn set_signature(
    module: &mut Module,
    function: OpId,
    inputs: Vec<Type>,
    results: Vec<Type>,
) {
    module.set_attr(function, "function_type", Type::function(inputs, results).into());
}

/// Checks that each type is the declared one or a refinement of it.
fn check(function: OpRef<'_>, declared: &[Type], types: &[Type]) -> Result<(), Diagnostic> {
    let name = function.symbol_name().unwrap_or("");
    if declared.len() != types.len() {
        let (found, required) = (types.len(), declared.len());
        let message = format!(
            "@{name} has {}, but {} to refine them",
            counted(required, "argument"),
            counted(found, "type")
        );
        return Err(function.error("types", message));
    }
    for (index, (old, new)) in declared.iter().zip(types).enumerate() {
        if let Some(why) = refusal(old, new) {
            let message = format!(
                "argument {index} of @{name} has type {old}, which cannot become {new}: {why}"
            );
            return Err(function.error("types", message));
        }
    }
    Ok(())
}

/// The reason why `new` is not a refinement of `old`; `None` if it is.
fn refusal(old: &Type, new: &Type) -> Option<String> {
    if old == new {
        return None;
    }
    let is_tensor =
        |ty: &Type| matches!(&**ty, TypeKind::RankedTensor(_) | TypeKind::UnrankedTensor(_));
    if !is_tensor(old) || !is_tensor(new) {
        return Some("only tensors can be refined".into());
    }
    if old.element_type() != new.element_type() {
        return Some("the element type must stay".into());
    }
    let Some(sizes) = new.shape() else { return Some("the rank must be known".into()) };
    let declared = old.shape()?;
    if declared.len() != sizes.len() {
        return Some(format!("the rank must stay {}", declared.len()));
    }
    let differs = |&(_, (&old, &new)): &(usize, (&i64, &i64))| old != DYNAMIC && old != new;
    let (dimension, (size, _)) = declared.iter().zip(sizes).enumerate().find(differs)?;
    Some(format!("dimension {dimension} must stay {size}"))
}
