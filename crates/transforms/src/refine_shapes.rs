//! `stablehlo-refine-shapes`: infers shapes from the types of the entry function's arguments.
//!
//! One walk in program order is enough, since values are defined before they are used: each op gets
//! the result types that follow from its operands, by the hooks `refine` and `infer` of its
//! declaration, and integer ops over constants are evaluated on the way, since they compute shapes.
//! A function is refined when its first call is reached.

use crate::calls::{self, Calls};
use crate::evaluate::{Limits, evaluate, scalar};
use crate::folder::concatenate_splats;
use crate::refine_arguments::{
    OPERAND_WRAPPER, entry_function, functions, main_function, one_block, refine_arguments,
    set_signature, substitute_argument,
};
use hlo::compat;
use hlo::ops::{
    ConcatenateOp, ConstantOp, CustomCallOp, GetDimensionSizeOp, SetDimensionSizeOp, WhileOp,
    shape_operands,
};
use hlo::types::TOKEN;
use host::Host;
use mlir::builtin::UnrealizedConversionCastOp;
use mlir::diag::Diagnostics;
use mlir::ods::Trait;
use mlir::pass::{Pass, PassContext, PassOptions};
use mlir::rewrite::effects::is_dead;
use mlir::rewrite::greedy::{self, Config};
use mlir::rewrite::{PatternSet, Rewriter};
use mlir::types::{DYNAMIC, TensorType};
use mlir::verify::nearest_symbol;
use mlir::{Attribute, BlockId, Module, OpId, OpRef, Type, Value};
use side_dialects::func::{CallOp, FuncOp, ReturnOp};
use side_dialects::sdy::{ManualComputationOp, NamedComputationOp, shard_types};
use std::collections::HashMap;

/// Infers shapes from the types of arguments.
pub(crate) const PASS: Pass = Pass::on_modules(
    "stablehlo-refine-shapes",
    "Infer shapes from the types of the entry function's arguments",
    run,
);

/// Integer ops are evaluated if no operand or result has more elements than this.
const MAX_ELEMENTS: usize = 1 << 16;

/// Maximum number of copies of functions, and of the ops in them, that a program may get.
const MAX_COPIES: usize = 1 << 11;
const MAX_COPIED_OPS: usize = 1 << 20;

/// Maximum nesting of calls and regions.
const MAX_DEPTH: usize = 1000;

/// Stack size in bytes of the refining thread; enough for `MAX_DEPTH`.
const STACK_BYTES: usize = 256 << 20;

fn run(cx: &mut PassContext<'_>) {
    let (root, options) = (cx.root, cx.options);
    let errors = refine_shapes(cx.module, root, options, false);
    cx.diagnostics.extend(errors);
}

/// Refines the entry function of the module `root` and all functions that it calls. Calls that ask
/// for different refinements of a function get copies of it if `copies`; else they are an error, as
/// in upstream's pass.
pub(crate) fn refine_shapes(
    module: &mut Module,
    root: OpId,
    options: &PassOptions,
    copies: bool,
) -> Diagnostics {
    let entry = if copies { entry_function } else { main_function };
    let entry = match entry(module, root) {
        Ok(entry) => entry.id(),
        // Nothing to refine, as in upstream's pass.
        Err(_) if functions(module, root).next().is_none() => return Vec::new(),
        Err(error) => return vec![error],
    };
    let mut refine = || {
        let types = FuncOp(module.op(entry)).signature().0.to_vec();
        let effect_free = calls::effect_free_functions(module);
        let mut refiner = Refiner {
            rw: Rewriter::new(module, options),
            options,
            effect_free,
            refined: HashMap::new(),
            running: Vec::new(),
            copies,
            unrefined: HashMap::new(),
            versions: HashMap::new(),
            copied: (0, 0),
            depth: 0,
            errors: Vec::new(),
        };
        refiner.function(entry, Key { constants: Vec::new(), types, tokens: 0 });
        refiner.errors
    };
    // Calls and regions nest: the depth of that is limited, and the stack is ours, if there are
    // threads.
    let host = Host::current();
    if !host.has_threads() {
        return refine();
    }
    std::thread::scope(|scope| match host.spawn(scope, STACK_BYTES, refine) {
        Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        Err(error) => {
            vec![mlir::Diagnostic::error("thread", format!("cannot start a thread: {error}"))]
        }
    })
}

/// The arguments that a function is refined for.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    /// The values of constant scalar arguments after the leading tokens, which are sizes.
    constants: Vec<i64>,
    /// The types of all other arguments.
    types: Vec<Type>,
    /// Number of leading tokens.
    tokens: usize,
}

struct Refiner<'m> {
    rw: Rewriter<'m>,
    options: &'m PassOptions,
    effect_free: Calls,
    /// The key that each function was refined for.
    refined: HashMap<OpId, Key>,
    /// The call stack of functions being refined, callers first.
    running: Vec<OpId>,
    /// True if calls that ask for different refinements of a function get copies of it.
    copies: bool,
    /// An unrefined copy of each function that has several versions or may get them.
    unrefined: HashMap<OpId, OpId>,
    /// The versions of each unrefined copy.
    versions: HashMap<OpId, HashMap<Key, OpId>>,
    /// Number of copies, and of the ops in them.
    copied: (usize, usize),
    depth: usize,
    errors: Diagnostics,
}

/// Functions.
impl Refiner<'_> {
    fn function(&mut self, function: OpId, key: Key) {
        if let Err(error) = one_block(self.rw.op(function)) {
            return self.errors.push(error);
        }
        for &value in &key.constants {
            if let Err(error) = substitute_argument(&mut self.rw, function, key.tokens, value) {
                return self.errors.push(error);
            }
        }
        if let Err(error) = refine_arguments(&mut self.rw, function, &key.types) {
            return self.errors.push(error);
        }
        self.refined.insert(function, key);
        self.tidy(function, 1);
        self.running.push(function);
        if let Some(block) = self.rw.entry(FuncOp(self.rw.op(function)).body()) {
            self.block(block);
        }
        self.running.pop();
        // Erase ops that only computed shapes.
        let ops: Vec<OpId> = self.rw.walk(function).skip(1).map(OpRef::id).collect();
        for op in ops.into_iter().rev() {
            if self.rw.is_attached(op) && is_dead(&self.rw, op) {
                self.rw.erase(op);
            }
        }
        self.tidy(function, Config::default().max_iterations);
    }

    /// Folds, and places constants in the order of the greedy driver.
    fn tidy(&mut self, function: OpId, max_iterations: usize) {
        let config = Config { max_iterations, ..Config::default() };
        greedy::rewrite(
            self.rw.module_mut(),
            function,
            &mut PatternSet::default(),
            self.options,
            config,
        );
    }

    /// Refines a function for a call or composite, unless already refined for it. Returns the
    /// function or its copy for these arguments, which the op then refers to; on failure, reports
    /// it and returns `None`.
    fn callee(&mut self, op: OpId, function: OpId, key: &Key, copies: bool) -> Option<OpId> {
        let function = if copies { self.version(op, function, key)? } else { function };
        let Some(before) = self.refined.get(&function) else {
            let errors = self.errors.len();
            self.function(function, key.clone());
            return (self.errors.len() == errors).then_some(function);
        };
        let name = self.name(function);
        let why = if key.types != before.types
            || !key.constants.is_empty() && key.constants != before.constants
        {
            format!(
                "calls of @{name} ask for different refinements: {}, and {}",
                show(before),
                show(key)
            )
        } else if self.running.contains(&function)
            && !(key.constants.is_empty() && self.has_static_results(function))
        {
            format!("@{name} calls itself, so it cannot be refined")
        } else {
            return Some(function);
        };
        self.refuse(op, function, why)
    }

    /// Reports that a function cannot be refined for a call.
    fn refuse(&mut self, op: OpId, function: OpId, why: String) -> Option<OpId> {
        let error = self.rw.op(function).error("refine", why);
        let note = format!("@{} cannot be refined for this call", self.name(function));
        self.errors.extend([error, self.rw.op(op).error("refine", note)]);
        None
    }

    fn name(&self, function: OpId) -> String {
        self.rw.op(function).symbol_name().unwrap_or("").to_string()
    }

    /// Returns the version of a function that is or can be refined for `key`, and makes the op
    /// refer to it. The first version is the function itself. On failure, reports it.
    fn version(&mut self, op: OpId, function: OpId, key: &Key) -> Option<OpId> {
        let Some(&unrefined) = self.unrefined.get(&function) else {
            // The entry function has one version.
            if !self.refined.contains_key(&function) {
                let copy = self.copy(function);
                self.unrefined.insert(function, copy);
                self.versions.insert(copy, HashMap::from([(key.clone(), function)]));
            }
            return Some(function);
        };
        let versions = self.versions.entry(unrefined).or_default();
        let (known, number) = (versions.get(key).copied(), versions.len() - 1);
        let is_version = |of: &OpId| self.unrefined.get(of) == Some(&unrefined);
        if known.is_none() && self.running.iter().any(is_version) {
            let why = format!("@{} calls itself with other sizes", self.name(function));
            return self.refuse(op, function, why);
        }
        let version = match known {
            Some(known) => known,
            None => self.new_version(op, function, unrefined, key, number)?,
        };
        if version != function
            && let Some(slot) = calls::callee_attribute(self.rw.op(op))
        {
            let name = self.name(version);
            self.rw.set_attr(op, slot, Attribute::symbol(name.as_str()));
        }
        Some(version)
    }

    /// Copies an unrefined function, under a new name.
    fn new_version(
        &mut self,
        op: OpId,
        function: OpId,
        unrefined: OpId,
        key: &Key,
        number: usize,
    ) -> Option<OpId> {
        self.copied.0 += 1;
        self.copied.1 += self.rw.walk(unrefined).count();
        if self.copied.0 > MAX_COPIES || self.copied.1 > MAX_COPIED_OPS {
            let why = format!(
                "calls ask for more than {MAX_COPIES} copies of functions, or {MAX_COPIED_OPS} ops in them"
            );
            return self.refuse(op, function, why);
        }
        let name = self.unused_symbol(function, number);
        let version = self.copy(unrefined);
        let module = self.rw.module_mut();
        module.insert_before(version, function);
        module.set_attr(version, "sym_name", Attribute::string(&name));
        module.set_attr(version, "sym_visibility", Attribute::string("private"));
        if self.effect_free.contains(function) {
            self.effect_free.insert(version);
        }
        self.unrefined.insert(version, unrefined);
        self.versions.entry(unrefined).or_default().insert(key.clone(), version);
        Some(version)
    }

    fn copy(&mut self, function: OpId) -> OpId {
        self.rw.module_mut().clone_op(function, &mut HashMap::new(), &mut HashMap::new())
    }

    /// The first name that is not used of `name_0`, `name_1`, …, after the first `number`.
    fn unused_symbol(&self, function: OpId, number: usize) -> String {
        let name = self.name(function);
        let numbered = (number..).map(|i| format!("{name}_{i}"));
        let is_free = |name: &String| nearest_symbol(self.rw.op(function), name).is_none();
        let mut free = numbered.filter(is_free);
        free.next().unwrap_or_default()
    }

    /// True if the declared result types are static, so that the function need not be refined
    /// first.
    fn has_static_results(&self, function: OpId) -> bool {
        let is_static = |ty: &Type| ty.as_tensor().is_none_or(TensorType::has_static_shape);
        FuncOp(self.rw.op(function)).signature().1.iter().all(is_static)
    }

    fn call(&mut self, op: OpId) {
        let view = self.rw.op(op);
        let function = nearest_symbol(view, CallOp(view).callee()).and_then(FuncOp::cast);
        let Some(function) = function else {
            return;
        };
        if function.is_declaration() {
            return;
        }
        let (function, key) = (function.id(), self.key(view));
        let Some(function) = self.callee(op, function, &key, self.copies) else { return };
        let constants = self.constant_results(function);
        if self.effect_free.contains(function) && constants.iter().all(Option::is_some) {
            let values: Option<Vec<Value>> =
                constants.into_iter().map(|c| self.constant_before(op, c?)).collect();
            if let Some(values) = values {
                self.rw.replace(op, &values);
            }
            return;
        }
        let types = FuncOp(self.rw.op(function)).signature().1.to_vec();
        let results: Vec<Value> = self.rw.op(op).results().collect();
        self.refine_values(&results, &types);
        self.drop_constant_operands(op, &key);
        for (result, constant) in results.into_iter().zip(constants) {
            let Some(constant) = constant.filter(|_| !self.rw.is_unused(result)) else { continue };
            if let Some(value) = self.constant_before(op, constant) {
                self.rw.replace_uses(result, value);
            }
        }
    }

    /// Removes the operands that became constants in the callee, with their attributes.
    fn drop_constant_operands(&mut self, op: OpId, key: &Key) {
        if key.constants.is_empty() {
            return;
        }
        let dropped = key.tokens..key.tokens + key.constants.len();
        let view = self.rw.op(op);
        let mut operands = view.operands().to_vec();
        operands.drain(dropped.clone());
        let attributes = CallOp(view).arg_attrs().map(<[Attribute]>::to_vec);
        self.rw.set_operands(op, &operands);
        if let Some(mut attributes) = attributes.filter(|list| list.len() >= dropped.end) {
            attributes.drain(dropped);
            self.rw.set_attr(op, "arg_attrs", Attribute::array(attributes));
        }
    }

    /// The key of a call.
    fn key(&self, call: OpRef<'_>) -> Key {
        let is_token = |ty: &Type| ty.as_dialect(&TOKEN).is_some();
        let tokens = call.operand_types().take_while(|ty| is_token(ty)).count();
        let is_scalar = |v: Value| self.rw.ty(v).shape().is_some_and(<[i64]>::is_empty);
        let size = |&v: &Value| {
            self.rw
                .constant_of(v)
                .filter(|_| is_scalar(v))?
                .as_dense()?
                .int_values()?
                .first()
                .copied()
        };
        let constants: Vec<i64> = call.operands()[tokens..].iter().map_while(size).collect();
        let rest = call.operand_types().skip(tokens + constants.len());
        Key {
            types: call.operand_types().take(tokens).chain(rest).cloned().collect(),
            constants,
            tokens,
        }
    }

    /// The integer constants that a function returns.
    fn constant_results(&self, function: OpId) -> Vec<Option<Attribute>> {
        let block = self.rw.entry(FuncOp(self.rw.op(function)).body());
        let Some(terminator) = block.and_then(|block| self.rw.terminator(block)) else {
            return Vec::new();
        };
        let integers = |constant: &Attribute| constant.ty().element_type().is_integer(None);
        terminator.operands().iter().map(|&v| self.rw.constant_of(v).filter(integers)).collect()
    }

    /// Refines the decomposition of a composite for its operands, or a copy if it is already
    /// refined for others.
    fn composite(&mut self, op: OpId) {
        let view = self.rw.op(op);
        let Some(function) = calls::callee(view).filter(|f| !f.is_declaration()).map(|f| f.id())
        else {
            return;
        };
        let key = Key {
            constants: Vec::new(),
            types: view.operand_types().cloned().collect(),
            tokens: 0,
        };
        if let Some(function) = self.callee(op, function, &key, true) {
            let types = FuncOp(self.rw.op(function)).signature().1.to_vec();
            let results: Vec<Value> = self.rw.op(op).results().collect();
            self.refine_values(&results, &types);
        }
    }
}

/// Ops.
impl Refiner<'_> {
    fn block(&mut self, block: BlockId) {
        if self.depth >= MAX_DEPTH {
            let message = format!("calls and regions nest deeper than {MAX_DEPTH} levels");
            let op = self.running.last().map_or_else(|| self.rw.top(), |&f| self.rw.op(f));
            return self.errors.push(op.error("depth", message));
        }
        self.depth += 1;
        let ops: Vec<OpId> = self.rw.ops(block).map(OpRef::id).collect();
        for op in ops {
            if self.errors.is_empty() && self.rw.is_attached(op) {
                self.op(op);
            }
        }
        self.depth -= 1;
    }

    fn op(&mut self, op: OpId) {
        let view = self.rw.op(op);
        if view.is(CallOp::DEF) {
            return self.call(op);
        }
        if view.is(ReturnOp::DEF) {
            return self.function_return(op);
        }
        if view.is(FuncOp::DEF) {
            return;
        }
        let isolated = view.is(ManualComputationOp::DEF) || view.is(NamedComputationOp::DEF);
        if view.is(WhileOp::DEF) {
            self.enter_loop(op);
        }
        if isolated {
            self.enter_computation(op);
        }
        for region in self.rw.op(op).regions().to_vec() {
            self.rw.blocks(region).to_vec().into_iter().for_each(|block| self.block(block));
        }
        if self.rw.op(op).is(hlo::ops::CompositeOp::DEF) {
            return self.composite(op);
        }
        if let Some(error) =
            CustomCallOp::cast(self.rw.op(op)).and_then(|op| shape_operands(*op).err())
        {
            return self.errors.push(error);
        }
        if let Some(types) = result_types(self.rw.op(op)) {
            let results: Vec<Value> = self.rw.op(op).results().collect();
            self.refine_values(&results, &types);
        }
        self.simplify(op);
    }

    /// Propagates the operand types of a loop to its regions.
    fn enter_loop(&mut self, op: OpId) {
        let types: Vec<Type> = self.rw.op(op).operand_types().cloned().collect();
        for region in self.rw.op(op).regions().to_vec() {
            let arguments =
                self.rw.entry(region).map_or(Vec::new(), |block| self.rw.arguments(block).to_vec());
            self.refine_values(&arguments, &types);
        }
    }

    /// Gives the arguments of a region that is isolated from above the types of the operands, or of
    /// their shards, and replaces those that are constant integers, since they may be sizes.
    fn enter_computation(&mut self, op: OpId) {
        let view = self.rw.op(op);
        let operands = view.operands().to_vec();
        let types = match ManualComputationOp::cast(view) {
            Some(manual) => match shard_types(manual) {
                Ok(types) => types,
                Err(error) => return self.errors.push(error),
            },
            None => Some(view.operand_types().cloned().collect()),
        };
        let region = view.regions().first().copied();
        let (Some(types), Some(block)) = (types, region.and_then(|region| self.rw.entry(region)))
        else {
            return;
        };
        let arguments = self.rw.arguments(block).to_vec();
        self.refine_values(&arguments, &types);
        for (argument, operand) in arguments.into_iter().zip(operands) {
            let constant = self.rw.constant_of(operand).filter(|_| !self.rw.is_unused(argument));
            let ty = self.rw.ty(argument).clone();
            if let Some(value) =
                constant.filter(|c| c.ty() == ty && ty.element_type().is_integer(None))
            {
                self.rw.at_start(block);
                let value = self.rw.make(ConstantOp::DEF, []).attr("value", value).result(ty);
                self.rw.replace_uses(argument, value);
            }
        }
    }

    /// Updates the function type to the returned types, ignoring casts to less specific types.
    fn function_return(&mut self, op: OpId) {
        for index in 0..self.rw.op(op).operands().len() {
            let value = self.rw.op(op).operand(index);
            let cast =
                self.rw.defining_op(value).filter(|def| def.is(UnrealizedConversionCastOp::DEF));
            let Some(&[source]) = cast.map(OpRef::operands) else { continue };
            if compat::refined(self.rw.ty(value), self.rw.ty(source)).as_ref()
                == Some(self.rw.ty(source))
            {
                self.rw.set_operand(op, index, source);
            }
        }
        let view = self.rw.op(op);
        let Some(function) = view.parent().and_then(FuncOp::cast) else { return };
        let inputs = function.signature().0.to_vec();
        let (function, results) = (function.id(), view.operand_types().cloned().collect());
        set_signature(self.rw.module_mut(), function, inputs, results);
    }

    /// Refines the types of values, as far as all users accept that.
    fn refine_values(&mut self, values: &[Value], types: &[Type]) {
        if values.len() != types.len() {
            return;
        }
        for (&value, known) in values.iter().zip(types) {
            let Some(ty) = compat::refined(self.rw.ty(value), known) else { continue };
            if ty != *self.rw.ty(value) && self.rw.users(value).all(|user| adapts(self.rw.op(user)))
            {
                self.rw.module_mut().set_type(value, ty);
            }
        }
    }

    /// Replaces an op by its known results.
    fn simplify(&mut self, op: OpId) {
        if let Some(values) = self.known_values(op) {
            self.rw.replace(op, &values);
        } else if self.rw.op(op).is(ConcatenateOp::DEF)
            && self.rw.op(op).result_type(0).element_type().is_integer(None)
        {
            self.rw.set_root(op);
            concatenate_splats(&mut self.rw, op);
        }
    }

    fn known_values(&mut self, op: OpId) -> Option<Vec<Value>> {
        let view = self.rw.op(op);
        if let Some(size) = GetDimensionSizeOp::cast(view).and_then(static_size) {
            return Some(vec![self.constant_before(op, size)?]);
        }
        let sets_size = view.is(SetDimensionSizeOp::DEF);
        if sets_size || is_wrapper(view) {
            // A dynamic dimension may have another size, although the type is the same.
            let is_static = view.result_type(0).as_tensor().is_some_and(|t| t.has_static_shape());
            let same = view.operand_type(0) == view.result_type(0) && (is_static || !sets_size);
            return same.then(|| vec![view.operand(0)]);
        }
        let integers = |ty: &Type| ty.element_type().is_integer(None);
        // Ops that take a shape operand compute data; their results' types already show static
        // shapes.
        let computes_shapes = view.def()?.to_static.is_none()
            && view.operand_types().chain(view.result_types()).all(integers);
        if !computes_shapes {
            return None;
        }
        let constants = evaluate(view, Limits::elements(MAX_ELEMENTS))?;
        constants.into_iter().map(|constant| self.constant_before(op, constant)).collect()
    }

    fn constant_before(&mut self, op: OpId, value: Attribute) -> Option<Value> {
        self.rw.set_root(op);
        let ty = value.ty();
        Some(self.rw.make(ConstantOp::DEF, []).attr("value", value).result(ty))
            .filter(|_| self.rw.is_attached(op))
    }
}

/// The result types inferred for an op of a known dialect.
fn result_types(op: OpRef<'_>) -> Option<Vec<Type>> {
    let def = op.def().filter(|def| matches!(def.dialect(), "stablehlo" | "chlo" | "sdy"))?;
    match (def.refine, def.infer) {
        (Some(refine), _) => refine(op),
        (None, Some(infer)) => infer(op).ok(),
        (None, None) => op
            .has_trait(&Trait::SameOperandsAndResultType)
            .then(|| op.operand_types().take(op.num_results()).cloned().collect()),
    }
}

/// True if the operands of an op may get more specific types.
fn adapts(op: OpRef<'_>) -> bool {
    let dialect = op.def().map_or("", |def| def.dialect());
    matches!(dialect, "stablehlo" | "chlo" | "sdy") || op.is(ReturnOp::DEF) || op.is(CallOp::DEF)
}

/// True if an op is a wrapper between an argument and its uses.
fn is_wrapper(op: OpRef<'_>) -> bool {
    let target = CustomCallOp::cast(op).map(|op| op.call_target_name());
    target == Some(OPERAND_WRAPPER) && op.num_results() == 1 && !op.operands().is_empty()
}

/// The size that the op reads, if it is static.
fn static_size(op: GetDimensionSizeOp<'_>) -> Option<Attribute> {
    let dimension = usize::try_from(op.dimension()).ok()?;
    let size = *op.operand_type(0).shape()?.get(dimension)?;
    scalar(size, &Type::tensor([], Type::i32())).filter(|_| size != DYNAMIC)
}

/// Formats a key for diagnostics.
fn show(key: &Key) -> String {
    let types: Vec<String> = key.types.iter().map(Type::to_string).collect();
    let types = if types.is_empty() { "no arguments".into() } else { types.join(", ") };
    match &key.constants[..] {
        [] => format!("({types})"),
        sizes => format!("({types}) with sizes {sizes:?}"),
    }
}
