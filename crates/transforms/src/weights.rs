//! Moves large constants of a program to arguments or external resources, and back: a program
//! without its weights is small, and the weights can be stored in a separate file.
//!
//! An argument replaces a constant of its function or of a callee; every call on the path passes it
//! on. The name of the constant is an attribute of the argument, and in the function of the
//! constant, its position is another.

use crate::calls::{callee, callees_first};
use crate::refine_arguments::{entry_function, one_block, set_argument_attributes, set_signature};
use crate::symbols;
use hlo::ops::ConstantOp;
use mlir::attrs::{AttrKind, DenseElements, Dictionary, Name, Resource};
use mlir::ir::Loc;
use mlir::pass::PassOptions;
use mlir::rewrite::Rewriter;
use mlir::{Attribute, Diagnostic, Module, OpId, OpRef, Type, Value};
use side_dialects::func::{CallOp, FuncOp};
use std::collections::{HashMap, HashSet};

/// The argument attribute with the name of the constant that the argument replaces.
pub const WEIGHT: &str = "stablo.weight";

/// The attribute of such an argument in the function of the constant: the number of ops before it.
pub const POSITION: &str = "stablo.weight_position";

/// The representation of constants in a program without its weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightForm {
    /// An argument of the entry function.
    Arguments,
    /// Resources without contents, instead of the elements.
    Resources,
}

/// A constant that is to be moved, or has been.
#[derive(Clone)]
struct Weight {
    name: String,
    ty: Type,
    loc: Loc,
    /// The constant, and the number of ops before it; `None` if it is in another function.
    own: Option<(OpId, usize)>,
}

/// Moves constants of at least `min_bytes` bytes, except splats, out of the program. Returns their
/// names, made of the function's name and a number, and their elements. Added arguments come last.
/// Functions that are referenced other than by calls from the entry function keep their constants.
///
/// # Errors
/// As arguments: if there is no entry function, or something refers to it.
pub fn extract_weights(
    module: &mut Module,
    min_bytes: usize,
    form: WeightForm,
) -> Result<Vec<(String, DenseElements)>, Diagnostic> {
    let functions = match form {
        WeightForm::Arguments => extendable(module)?,
        WeightForm::Resources => {
            module.walk(module.top().id()).filter(|op| op.is(FuncOp::DEF)).map(OpRef::id).collect()
        }
    };
    let mut names = HashSet::new();
    let mut found: HashMap<OpId, Vec<Weight>> = HashMap::new();
    let mut weights = Vec::new();
    for &function in &functions {
        let own = found.entry(function).or_default();
        for (position, op) in module.walk(function).enumerate() {
            if !op.is(ConstantOp::DEF) || !op.attributes().is_empty() {
                continue;
            }
            let Some(elements) = elements(ConstantOp(op).value()) else { continue };
            if elements.is_splat() || elements.data().len() < min_bytes {
                continue;
            }
            let name = unique(&mut names, module.op(function), own.len());
            let (ty, loc) = (op.result_type(0).clone(), op.loc().clone());
            own.push(Weight { name: name.clone(), ty, loc, own: Some((op.id(), position)) });
            weights.push((name, elements));
        }
    }
    match form {
        WeightForm::Arguments => to_arguments(module, &functions, found),
        WeightForm::Resources => {
            for weight in found.into_values().flatten() {
                let Some((constant, _)) = weight.own else { continue };
                let resource = Resource::new(weight.name.as_str());
                module.set_attr(
                    constant,
                    "value",
                    AttrKind::DenseResource { ty: weight.ty, resource }.into(),
                );
            }
        }
    }
    Ok(weights)
}

/// The elements of a constant, also those of a resource.
fn elements(value: &Attribute) -> Option<DenseElements> {
    match &**value {
        AttrKind::Dense(elements) => Some(elements.clone()),
        AttrKind::DenseResource { ty, resource } => {
            DenseElements::new(ty.clone(), resource.blob()?.data.clone())
        }
        _ => None,
    }
}

/// A name that is not among `names`: that of the function, and a number.
fn unique(names: &mut HashSet<String>, function: OpRef<'_>, number: usize) -> String {
    let stem = format!("{}.{number}", function.symbol_name().unwrap_or("function"));
    // Nested modules may have functions of equal names.
    let mut name = stem.clone();
    let mut copy = 1;
    while !names.insert(name.clone()) {
        copy += 1;
        name = format!("{stem}.{copy}");
    }
    name
}

/// The functions that can get more arguments: the entry function, and those only referenced by
/// calls from such functions. Callers come before callees.
fn extendable(module: &Module) -> Result<Vec<OpId>, Diagnostic> {
    let root = module.top().id();
    let entry = entry_function(module, root)?.id();
    let mut mentioned = Vec::new();
    let mut calls: HashMap<OpId, Vec<OpId>> = HashMap::new();
    for op in module.walk(root) {
        symbols::collect(op, &mut mentioned);
        if let (true, Some(callee)) = (op.is(CallOp::DEF), callee(op)) {
            let caller =
                std::iter::successors(Some(op), |op| op.parent()).find(|op| op.is(FuncOp::DEF));
            calls.entry(callee.id()).or_default().extend(caller.map(OpRef::id));
        }
    }
    let mut mentions: HashMap<Name, usize> = HashMap::new();
    mentioned.into_iter().for_each(|name| *mentions.entry(name).or_default() += 1);
    let mentions = |function: OpId| {
        let name = module.op(function).symbol_name().unwrap_or("");
        mentions.iter().find(|(mentioned, _)| &***mentioned == name).map_or(0, |(_, count)| *count)
    };
    if mentions(entry) > 0 {
        return Err(module.op(entry).error(
            "weight",
            "the program refers to its entry function, which so can get no arguments",
        ));
    }
    let mut order = vec![entry];
    for function in callees_first(module).into_iter().rev().filter(|&f| f != entry) {
        let op = module.op(function);
        let Some(callers) =
            calls.get(&function).filter(|_| op.is_private() && one_block(op).is_ok())
        else {
            continue;
        };
        if callers.len() == mentions(function)
            && callers.iter().all(|caller| order.contains(caller))
        {
            order.push(function);
        }
    }
    Ok(order)
}

/// Adds arguments for the constants of each function and its callees. `functions` lists callers
/// before callees.
fn to_arguments(module: &mut Module, functions: &[OpId], mut weights: HashMap<OpId, Vec<Weight>>) {
    let calls_in = |module: &Module,
                    function: OpId,
                    weights: &HashMap<OpId, Vec<Weight>>|
     -> Vec<(OpId, OpId)> {
        let called = |op: OpRef<'_>| {
            callee(op).filter(|f| weights.contains_key(&f.id())).map(|f| (op.id(), f.id()))
        };
        module.walk(function).filter_map(called).collect()
    };
    for &function in functions.iter().rev() {
        for (_, callee) in calls_in(module, function, &weights) {
            let passed = weights[&callee].clone();
            let known = weights.entry(function).or_default();
            for weight in passed {
                if known.iter().all(|k| k.name != weight.name) {
                    known.push(Weight { own: None, ..weight });
                }
            }
        }
    }
    let options = PassOptions::defaults(&[]);
    let mut rw = Rewriter::new(module, &options);
    for &function in functions {
        let view = FuncOp(rw.op(function));
        let Some(block) = rw.entry(view.body()) else { continue };
        let (inputs, results) = view.signature();
        let (mut inputs, results) = (inputs.to_vec(), results.to_vec());
        let mut attributes = argument_attributes(view);
        let mut arguments: HashMap<&str, Value> = HashMap::new();
        for weight in &weights[&function] {
            let argument =
                rw.module_mut().add_argument(block, weight.ty.clone(), weight.loc.clone());
            arguments.insert(&weight.name, argument);
            let mut dictionary = Dictionary::default();
            dictionary.set(WEIGHT, Attribute::string(&weight.name));
            if let Some((constant, position)) = weight.own {
                rw.replace(constant, &[argument]);
                dictionary.set(POSITION, Attribute::i64(position as i64));
            }
            attributes.push(dictionary.into());
            inputs.push(weight.ty.clone());
        }
        for (call, callee) in calls_in(&rw, function, &weights) {
            let mut operands = rw.op(call).operands().to_vec();
            operands.extend(
                weights[&callee].iter().filter_map(|weight| arguments.get(weight.name.as_str())),
            );
            rw.set_operands(call, &operands);
        }
        set_argument_attributes(rw.module_mut(), function, attributes);
        set_signature(rw.module_mut(), function, inputs, results);
    }
}

/// The attribute dictionaries of all arguments.
fn argument_attributes(function: FuncOp<'_>) -> Vec<Attribute> {
    let mut attributes = function.arg_attrs().unwrap_or(&[]).to_vec();
    attributes.resize(function.signature().0.len(), Dictionary::default().into());
    attributes
}

/// Reverses [`extract_weights`]: restores constants, with the elements that `find` returns for a
/// name and a type.
///
/// # Errors
/// If the program has no extracted constants; errors of `find`, reported at the function or
/// constant, after which some constants may be back and others not.
pub fn insert_weights(
    module: &mut Module,
    find: &mut dyn FnMut(&str, &Type) -> Result<Attribute, String>,
) -> Result<(), Diagnostic> {
    let root = module.top().id();
    let mut inserted = false;
    let empty: Vec<(OpId, String, Type)> = module.walk(root).filter_map(empty_resource).collect();
    for (constant, name, ty) in empty {
        let value = find(&name, &ty).map_err(|why| module.op(constant).error("weight", why))?;
        module.set_attr(constant, "value", value);
        inserted = true;
    }
    let functions = module.walk(root).filter_map(FuncOp::cast).filter(|f| !f.is_declaration());
    let weights: HashMap<OpId, Vec<usize>> = functions
        .map(|f| {
            (
                f.id(),
                (0..f.signature().0.len())
                    .filter(|&i| weight_name(*f, i).is_some())
                    .collect::<Vec<_>>(),
            )
        })
        .filter(|(_, indices)| !indices.is_empty())
        .collect();
    if weights.is_empty() && !inserted {
        let message = format!(
            "the program has no extracted constants: no argument has the attribute {WEIGHT}, and no resource is empty"
        );
        return Err(module.top().error("weight", message));
    }
    let functions: Vec<OpId> =
        module.walk(root).map(OpRef::id).filter(|op| weights.contains_key(op)).collect();
    let calls: Vec<(OpId, OpId)> = module
        .walk(root)
        .filter_map(|op| Some((op.id(), callee(op)?.id())))
        .filter(|(_, f)| weights.contains_key(f))
        .collect();
    let options = PassOptions::defaults(&[]);
    let mut rw = Rewriter::new(module, &options);
    for (call, callee) in calls {
        let operands = rw.op(call).operands().iter().enumerate();
        let kept: Vec<Value> = operands
            .filter(|(i, _)| !weights[&callee].contains(i))
            .map(|(_, &value)| value)
            .collect();
        rw.set_operands(call, &kept);
    }
    for function in functions {
        insert_in(&mut rw, function, &weights[&function], find)?;
    }
    Ok(())
}

/// Replaces arguments of the entry function, given by their numbers, by constants.
///
/// # Errors
/// If there is no entry function of one block, the program refers to it, or an argument does not
/// exist, is given twice, or has another type than its value; and if constants of the program were
/// extracted and not yet put back. The module is then as before.
pub fn bind_arguments(
    module: &mut Module,
    values: Vec<(usize, Attribute)>,
) -> Result<(), Diagnostic> {
    let entry = extendable(module)?[0];
    let function = module.op(entry);
    if let Some(op) = module.walk(module.top().id()).find(|&op| is_without_constants(op)) {
        let why = "constants of the program were extracted, and must be put back first";
        return Err(op.error("bind", why));
    }
    let inputs = FuncOp(function).signature().0;
    let mut attributes = argument_attributes(FuncOp(function));
    let mut by_name: HashMap<String, Attribute> = HashMap::new();
    for (index, value) in values {
        let Some(ty) = inputs.get(index) else {
            let count = inputs.len();
            let why = format!("there is no argument {index}; the function has {count}");
            return Err(function.error("bind", why));
        };
        if value.ty() != *ty {
            let why = format!("argument {index} is a {ty}; the value is a {}", value.ty());
            return Err(function.error("bind", why));
        }
        let name = format!("argument {index}");
        let mut dictionary = attributes[index].as_dictionary().cloned().unwrap_or_default();
        dictionary.set(WEIGHT, Attribute::string(&name));
        // Before the first op in the function; the function comes before it.
        dictionary.set(POSITION, Attribute::i64(1));
        attributes[index] = dictionary.into();
        if by_name.insert(name, value).is_some() {
            return Err(function.error("bind", format!("argument {index} is given twice")));
        }
    }
    if by_name.is_empty() {
        return Ok(());
    }
    set_argument_attributes(module, entry, attributes);
    insert_weights(module, &mut |name, _| {
        by_name.remove(name).ok_or_else(|| "the program has extracted constants".to_string())
    })
}

/// True for a function with arguments instead of constants, and for a constant that is a
/// resource without contents.
fn is_without_constants(op: OpRef<'_>) -> bool {
    let has_weight = |function: FuncOp<'_>| {
        (0..function.signature().0.len()).any(|index| weight_name(op, index).is_some())
    };
    FuncOp::cast(op).is_some_and(has_weight) || empty_resource(op).is_some()
}

/// The name and type of the constant that a resource without contents replaces.
fn empty_resource(op: OpRef<'_>) -> Option<(OpId, String, Type)> {
    match &**ConstantOp::cast(op)?.value() {
        AttrKind::DenseResource { ty, resource } if resource.blob().is_none() => {
            Some((op.id(), resource.key().to_string(), ty.clone()))
        }
        _ => None,
    }
}

/// Restores arguments of a function to constants at their positions. Arguments that were only
/// passed on to calls are removed.
fn insert_in(
    rw: &mut Rewriter<'_>,
    function: OpId,
    indices: &[usize],
    find: &mut dyn FnMut(&str, &Type) -> Result<Attribute, String>,
) -> Result<(), Diagnostic> {
    let view = FuncOp(rw.op(function));
    let Some(block) = rw.entry(view.body()) else { return Ok(()) };
    let mut attributes = argument_attributes(view);
    let (inputs, results) = view.signature();
    let (mut inputs, results) = (inputs.to_vec(), results.to_vec());
    let position =
        |i: &usize| attributes[*i].as_dictionary().and_then(|d| d.get(POSITION)?.as_i64());
    let mut constants: Vec<(Option<i64>, usize)> =
        indices.iter().map(|i| (position(i), *i)).collect();
    // Each position counts the constants before it.
    constants.sort_unstable();
    rw.module_mut().build_uses();
    for (position, index) in constants {
        let Some(&argument) = rw.arguments(block).get(index) else { continue };
        if position.is_none() && rw.is_unused(argument) {
            continue;
        }
        let (ty, loc) = (rw.ty(argument).clone(), rw.argument_locs(block)[index].clone());
        let name = weight_name(rw.op(function), index).unwrap_or_default();
        let value = find(name, &ty).map_err(|why| rw.op(function).error("weight", why))?;
        let next =
            position.and_then(|n| rw.walk(function).nth(usize::try_from(n).ok()?)).map(OpRef::id);
        match next.filter(|&next| precedes_uses(rw, next, argument)) {
            Some(next) => rw.before(next),
            None => rw.at_start(block),
        }
        rw.set_loc(loc);
        let constant = rw.make(ConstantOp::DEF, []).attr("value", value).result(ty);
        rw.replace_uses(argument, constant);
    }
    for &index in indices.iter().rev() {
        rw.module_mut().erase_argument(block, index);
        inputs.remove(index);
        attributes.remove(index);
    }
    set_argument_attributes(rw.module_mut(), function, attributes);
    set_signature(rw.module_mut(), function, inputs, results);
    Ok(())
}

/// True if an op inserted before `next` dominates all uses of `value`; the program may have changed
/// since.
fn precedes_uses(module: &Module, next: OpId, value: Value) -> bool {
    let block = module.op(next).block();
    module.users(value).all(|user| {
        let mut around = std::iter::successors(Some(module.op(user)), |op| op.parent());
        let in_block = around.find(|op| op.block() == block).map(OpRef::id);
        block.is_some()
            && in_block.is_some_and(|op| op == next || module.is_before_in_block(next, op))
    })
}

/// The name of the constant that an argument replaces.
fn weight_name(function: OpRef<'_>, index: usize) -> Option<&str> {
    FuncOp(function).arg_attrs()?.get(index)?.as_dictionary()?.get(WEIGHT)?.as_str()
}
