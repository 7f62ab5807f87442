//! Preparation: from ops to the primitives that executors run.
//!
//! The declaration of an op says by [`OpDef::prepare`](crate::ods::OpDef::prepare) which
//! [`Primitive`] it is, from its attributes and types. A [`Preparer`] walks functions and puts the
//! primitives into [`Code`]: values get slots, uses know whether they are the last, types become
//! plain data. The crate `folding` prepares and runs single ops.

use crate::attrs::{AttrKind, Attribute, Dictionary};
use crate::ir::{BlockId, Module, OpId, OpRef, RegionId, Value, ValueDef};
use crate::ods::Trait;
use crate::types::{DYNAMIC, Type, TypeKind};
use program::primitives;
use program::{
    Block, Code, EvalError, EvalResult, Evaluator, Function, FunctionId, Instruction,
    NativeFunction, Operand, Origin, Primitive, RuntimeValue, Slot, UNUSED, ValueType,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::Arc;

/// Says which primitive an op is, from its attributes and types.
pub type PrepareFn = fn(OpRef<'_>, &mut Preparer<'_>) -> Prepared;

/// The primitive that an op is.
pub type Prepared = Result<Primitive, EvalError>;

/// The meaning of a target of custom calls, given by the user: one value for each result.
pub type CustomCallFn =
    Arc<dyn Fn(&CustomCall, Vec<RuntimeValue>) -> EvalResult + Send + Sync + 'static>;

/// A custom call, as its implementation sees it.
#[derive(Clone, Debug)]
pub struct CustomCall {
    /// The target.
    pub target: String,
    /// All attributes of the op by name.
    pub attributes: Vec<(String, Attribute)>,
    /// Types of the operands.
    pub operand_types: Vec<Type>,
    /// Types of the results.
    pub result_types: Vec<Type>,
}

impl CustomCall {
    /// The custom call of an op.
    pub fn of(op: OpRef<'_>, target: &str) -> CustomCall {
        let declared = op.def().map_or(&[][..], |def| def.attributes);
        let declared = declared.iter().map(|slot| slot.name).zip(op.properties());
        let inherent =
            declared.filter_map(|(name, value)| Some((name.to_string(), value.clone()?)));
        let discardable =
            op.attributes().iter().map(|(name, value)| (name.to_string(), value.clone()));
        CustomCall {
            target: target.to_string(),
            attributes: inherent.chain(discardable).collect(),
            operand_types: op.operand_types().cloned().collect(),
            result_types: op.result_types().cloned().collect(),
        }
    }

    /// The attribute of that name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }
}

/// Implementations of custom calls by target. They take precedence over those that dialects know.
#[derive(Clone, Default)]
pub struct CustomCalls {
    by_target: HashMap<String, CustomCallFn>,
}

impl CustomCalls {
    /// Registers the implementation of a target; a previous one is replaced.
    pub fn register<F>(&mut self, target: impl Into<String>, function: F)
    where
        F: Fn(&CustomCall, Vec<RuntimeValue>) -> EvalResult + Send + Sync + 'static,
    {
        self.by_target.insert(target.into(), Arc::new(function));
    }

    /// The implementation of a target, if it is registered.
    pub fn get(&self, target: &str) -> Option<CustomCallFn> {
        self.by_target.get(target).cloned()
    }
}

/// Numbers the ops of a name that have a generator of random numbers of their own, given the
/// functions and the entry.
pub type Numbering = fn(&Callables<'_>, OpId, &str) -> Vec<OpId>;

/// The functions of a module and how calls find them.
pub struct Callables<'m> {
    /// The module.
    pub module: &'m Module,
    /// Functions in order: the op, its body and the types of its inputs.
    functions: Vec<Callable<'m>>,
    by_op: FxHashMap<OpId, FunctionId>,
    by_symbol: HashMap<(Option<OpId>, &'m str), FunctionId>,
}

/// A function of a module.
pub struct Callable<'m> {
    /// The op that defines it.
    pub op: OpRef<'m>,
    /// Its body.
    pub body: RegionId,
    /// The types of its inputs.
    pub inputs: &'m [Type],
}

impl<'m> Callables<'m> {
    /// The functions of a module, in the order of the text.
    pub fn new(module: &'m Module, functions: Vec<Callable<'m>>) -> Callables<'m> {
        let mut callables = Callables {
            module,
            functions: Vec::new(),
            by_op: FxHashMap::default(),
            by_symbol: HashMap::new(),
        };
        for (function, id) in functions.into_iter().zip(0..) {
            let (op, id) = (function.op, FunctionId(id));
            callables.by_op.insert(op.id(), id);
            if let Some(name) = op.symbol_name() {
                callables.by_symbol.insert((op.parent().map(OpRef::id), name), id);
            }
            callables.functions.push(function);
        }
        callables
    }

    /// All functions.
    pub fn iter(&self) -> impl Iterator<Item = &Callable<'m>> {
        self.functions.iter()
    }

    /// The function that an op defines.
    pub fn of_op(&self, op: OpId) -> Option<FunctionId> {
        self.by_op.get(&op).copied()
    }

    /// A function.
    pub fn get(&self, id: FunctionId) -> &Callable<'m> {
        &self.functions[id.index()]
    }

    /// The function that `op` names: of that symbol in the table of the function around it.
    pub fn lookup(&self, op: OpRef<'m>, symbol: &str) -> Option<FunctionId> {
        let mut ancestors = std::iter::successors(op.parent(), |op| op.parent());
        let around = ancestors.find(|op| self.by_op.contains_key(&op.id()))?;
        self.by_symbol.get(&(around.parent().map(OpRef::id), symbol)).copied()
    }

    /// The only block of a function.
    pub fn entry_block(&self, id: FunctionId) -> Option<BlockId> {
        single_block(self.module, self.get(id).body).ok()
    }
}

/// Turns the functions of a module into code.
pub struct Preparer<'m> {
    module: &'m Module,
    callables: Option<&'m Callables<'m>>,
    custom_calls: Option<&'m CustomCalls>,
    numbering: Option<(Numbering, OpId)>,
    streams: Option<FxHashMap<OpId, usize>>,
    code: Code,
    /// Blocks of the module that are prepared.
    blocks: FxHashMap<BlockId, program::BlockId>,
    types: Vec<PreparedType>,
    type_indices: FxHashMap<Type, usize>,
    /// The slot of each value in the frame of its function.
    slots: Vec<Slot>,
    last_uses: Vec<Option<LastUse>>,
    /// The values that die with an op because they are used in its regions.
    dying: FxHashMap<OpId, SmallVec<[Value; 4]>>,
    /// A lower bound of the bytes of each value.
    min_bytes: Vec<usize>,
    /// The numbers of plain native functions.
    classes: FxHashMap<OpClass<'m>, u32>,
}

/// An op as a function of its operands: ops of equal classes compute the same results.
#[derive(PartialEq, Eq, Hash)]
struct OpClass<'m> {
    name: &'m str,
    properties: &'m [Option<Attribute>],
    attributes: &'m Dictionary,
    operands: SmallVec<[&'m Type; 2]>,
    results: SmallVec<[&'m Type; 2]>,
}

impl<'m> OpClass<'m> {
    fn of(op: OpRef<'m>) -> OpClass<'m> {
        OpClass {
            name: op.name(),
            properties: op.properties(),
            attributes: op.attributes(),
            operands: op.operand_types().collect(),
            results: op.result_types().collect(),
        }
    }
}

/// A type as plain data.
struct PreparedType {
    ty: Arc<ValueType>,
    /// Its [`ValueType::min_bytes`].
    min_bytes: usize,
}

/// The last op of a value's block that uses it, directly or from a nested region.
#[derive(Clone, Copy, PartialEq)]
struct LastUse {
    op: OpId,
    /// The position among the operands, of the op or of one in a region.
    operand: u32,
    /// True if a region of the op uses the value.
    nested: bool,
}

/// Everything that preparation depends on besides the module.
#[derive(Clone, Copy)]
pub struct PrepareContext<'m> {
    /// The functions.
    pub callables: &'m Callables<'m>,
    /// Custom calls of the user.
    pub custom_calls: &'m CustomCalls,
    /// How ops with a generator of their own are numbered.
    pub numbering: Numbering,
    /// The function that a run starts with.
    pub entry: OpId,
}

/// Prepares all functions. Ops without meaning become instructions that fail when they are reached.
pub fn prepare(context: PrepareContext<'_>) -> Code {
    let mut preparer = Preparer::new(context.callables.module);
    preparer.callables = Some(context.callables);
    preparer.custom_calls = Some(context.custom_calls);
    preparer.numbering = Some((context.numbering, context.entry));
    let module = preparer.module;
    preparer.slots = vec![UNUSED; module.num_values()];
    preparer.last_uses = vec![None; module.num_values()];
    preparer.min_bytes = vec![0; module.num_values()];
    preparer.code.instructions.reserve(module.num_ops());
    for (callable, id) in context.callables.iter().zip(0..) {
        preparer.find_last_uses(callable.op);
        let mut slots = 0;
        let body = single_block(module, callable.body).ok();
        let body = body.map(|block| preparer.prepare_block(block, FunctionId(id), &mut slots));
        let inputs = callable.inputs.iter().map(|ty| preparer.value_type(ty)).collect();
        preparer.code.functions.push(Function {
            name: callable.op.symbol_name().unwrap_or("").to_string(),
            body,
            slots: slots as usize,
            inputs,
            origin: callable.op.id().into(),
        });
    }
    preparer.code
}

/// Prepares a single op without regions or calls.
///
/// # Errors
/// If the op has no meaning.
pub fn single(op: OpRef<'_>) -> Prepared {
    meaning(op, &mut Preparer::new(op.module()))
}

/// The primitive of an op.
fn meaning(op: OpRef<'_>, preparer: &mut Preparer<'_>) -> Prepared {
    let Some((def, prepare)) = op.def().and_then(|def| Some((def, def.prepare?))) else {
        return Err(no_meaning(op));
    };
    if let Some(Err(error)) = def.verify_strict.map(|verify| verify(op)) {
        return Err(EvalError::new(error.label, error.message));
    }
    prepare(op, preparer)
}

/// Larger splats are not kept as tensors: they are made when they are needed, to be overwritten
/// in place.
const MAX_KEPT_SPLAT: usize = 4096;

/// The primitive of a constant. `None` if the elements are not numbers, or not at hand.
pub fn constant(value: &Attribute) -> Option<Prepared> {
    let Some(dense) =
        value.as_dense().filter(|d| d.is_splat() && d.num_elements() > MAX_KEPT_SPLAT)
    else {
        return Some(
            value
                .to_tensor()?
                .map(|tensor| primitives::Constant { tensor }.into())
                .map_err(EvalError::from),
        );
    };
    let shape = dense.ty().shape()?.iter().map(|&size| usize::try_from(size).ok());
    let shape: Vec<usize> = shape.collect::<Option<_>>()?;
    let element = dense.stored().and_then(|element| element.into_shape([]));
    Some(
        element
            .map(|element| Primitive::Splat(primitives::Splat { element, shape }))
            .map_err(EvalError::from),
    )
}

fn no_meaning(op: OpRef<'_>) -> EvalError {
    let name = op.name();
    let message = match op.def() {
        Some(_) => format!("{name} cannot be interpreted"),
        None => {
            format!("{name} cannot be interpreted: it is not registered, so its meaning is unknown")
        }
    };
    EvalError::new("eval", message)
}

/// The only block of a region.
fn single_block(module: &Module, region: RegionId) -> Result<BlockId, EvalError> {
    match module.blocks(region) {
        [block] => Ok(*block),
        blocks => {
            let count = blocks.len();
            let message =
                format!("a region with {count} blocks cannot be interpreted; it must have one");
            Err(EvalError::new("region", message))
        }
    }
}

impl From<Origin> for OpId {
    fn from(origin: Origin) -> OpId {
        OpId::new(origin.index())
    }
}

impl From<OpId> for Origin {
    fn from(op: OpId) -> Origin {
        Origin(op.index() as u32)
    }
}

impl<'m> Preparer<'m> {
    fn new(module: &'m Module) -> Preparer<'m> {
        Preparer {
            module,
            callables: None,
            custom_calls: None,
            numbering: None,
            streams: None,
            code: Code::default(),
            blocks: FxHashMap::default(),
            types: Vec::new(),
            type_indices: FxHashMap::default(),
            slots: Vec::new(),
            last_uses: Vec::new(),
            dying: FxHashMap::default(),
            min_bytes: Vec::new(),
            classes: FxHashMap::default(),
        }
    }

    /// The prepared block of a region of the op.
    ///
    /// # Errors
    /// If the region does not have exactly one block, or a single op is evaluated.
    pub fn block(&self, region: RegionId) -> Result<program::BlockId, EvalError> {
        if self.callables.is_none() {
            return Err(EvalError::new("evaluate", "ops with regions are not evaluated"));
        }
        let block = single_block(self.module, region)?;
        let prepared = self.blocks.get(&block).copied();
        prepared.ok_or_else(|| EvalError::new("region", "the region is not prepared"))
    }

    /// Prepared code so far: blocks of regions of the op among it.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// The function that an op calls.
    ///
    /// # Errors
    /// If there is no such function, or a single op is evaluated.
    pub fn function(&self, op: OpRef<'_>, symbol: &str) -> Result<FunctionId, EvalError> {
        let Some(callables) = self.callables else {
            return Err(EvalError::new("evaluate", "calls are not evaluated"));
        };
        let found = callables.lookup(callables.module.op(op.id()), symbol);
        found.ok_or_else(|| {
            EvalError::new("symbol", format!("there is no function @{symbol} to call"))
        })
    }

    /// The body of a function.
    pub fn function_body(&self, function: FunctionId) -> Option<RegionId> {
        Some(self.callables?.get(function).body)
    }

    /// The number of inputs of a function.
    pub fn num_inputs(&self, function: FunctionId) -> usize {
        self.callables.map_or(0, |callables| callables.get(function).inputs.len())
    }

    /// The user's implementation of a target of custom calls.
    pub fn custom_call(&self, target: &str) -> Option<CustomCallFn> {
        self.custom_calls?.get(target)
    }

    /// The number of an op among those of its name that have a generator of their own.
    ///
    /// # Errors
    /// If a single op is evaluated.
    pub fn stream(&mut self, op: OpRef<'_>) -> Result<usize, EvalError> {
        let (Some((numbering, entry)), Some(callables)) = (self.numbering, self.callables) else {
            return Err(EvalError::new("process", "random numbers come with a run of the program"));
        };
        let streams = self.streams.get_or_insert_with(|| {
            let ops = numbering(callables, entry, op.name());
            ops.into_iter().enumerate().map(|(number, op)| (op, number)).collect()
        });
        Ok(streams.get(&op.id()).copied().unwrap_or_default())
    }

    /// A type as plain data.
    pub fn value_type(&mut self, ty: &Type) -> Arc<ValueType> {
        self.typed(ty).ty.clone()
    }

    fn typed(&mut self, ty: &Type) -> &PreparedType {
        let index = self.type_indices.get(ty).copied().unwrap_or_else(|| {
            let new = value_type(ty);
            self.types.push(PreparedType { min_bytes: new.min_bytes(), ty: Arc::new(new) });
            self.type_indices.insert(ty.clone(), self.types.len() - 1);
            self.types.len() - 1
        });
        &self.types[index]
    }

    /// Finds the last use of each value of a function.
    fn find_last_uses(&mut self, function: OpRef<'m>) {
        for op in self.module.walk(function.id()).skip(1) {
            for (&value, operand) in op.operands().iter().zip(0..) {
                self.note_use(value, op, operand);
            }
        }
    }

    /// Gives a value that is used the next slot in the frame of its function.
    fn define(&mut self, value: Value, next: &mut Slot) {
        let Some(last) = self.last_uses[value.index()] else { return };
        self.slots[value.index()] = *next;
        *next += 1;
        if last.nested {
            self.dying.entry(last.op).or_default().push(value);
        }
        self.min_bytes[value.index()] = self.typed(self.module.ty(value)).min_bytes;
    }

    /// Ops come in the order of the text, so the last to be noted is the last to run.
    fn note_use(&mut self, value: Value, user: OpRef<'m>, operand: u32) {
        let block = match self.module.definition(value) {
            ValueDef::Argument { block, .. } => Some(block),
            ValueDef::Result { op, .. } => self.module.op(op).block(),
        };
        let mut ancestor = user;
        while ancestor.block() != block {
            // A use that its value does not reach: no verified module has one.
            let Some(parent) = ancestor.parent() else { return };
            ancestor = parent;
        }
        let (op, nested) = (ancestor.id(), ancestor.id() != user.id());
        self.last_uses[value.index()] = Some(LastUse { op, operand, nested });
    }

    fn slot(&self, value: Value) -> Slot {
        self.slots[value.index()]
    }

    /// The operands of an op, and the slots of other values that die with it.
    fn operands<const N: usize>(
        &mut self,
        op: OpRef<'m>,
    ) -> (SmallVec<[Operand; N]>, SmallVec<[Slot; 0]>)
    where
        [Operand; N]: smallvec::Array<Item = Operand>,
    {
        let values = op.operands();
        let operands = values.iter().zip(0..).map(|(&value, operand)| {
            let this = Some(LastUse { op: op.id(), operand, nested: false });
            Operand { slot: self.slot(value), last: self.last_uses[value.index()] == this }
        });
        let operands = operands.collect();
        let dead = match op.regions() {
            [] => SmallVec::new(),
            _ => {
                let dying = self.dying.remove(&op.id()).unwrap_or_default();
                dying.into_iter().map(|value| self.slot(value)).collect()
            }
        };
        (operands, dead)
    }

    /// Prepares a block, those nested in it first. Its values get the next slots.
    fn prepare_block(
        &mut self,
        block: BlockId,
        function: FunctionId,
        next_slot: &mut Slot,
    ) -> program::BlockId {
        let module = self.module;
        let arguments = module.arguments(block);
        arguments.iter().for_each(|&argument| self.define(argument, next_slot));
        for op in module.ops(block) {
            op.results().for_each(|result| self.define(result, next_slot));
        }
        for op in module.ops(block) {
            for &region in op.regions() {
                if let Ok(nested) = single_block(module, region) {
                    self.prepare_block(nested, function, next_slot);
                }
            }
        }
        let start = self.code.instructions.len() as u32;
        let mut prepared = Block {
            function,
            arguments: arguments.iter().map(|&v| self.slot(v)).collect(),
            argument_types: arguments.iter().map(|&v| self.value_type(module.ty(v))).collect(),
            instructions: 0..0,
            results: SmallVec::new(),
            result_types: SmallVec::new(),
            dead: SmallVec::new(),
            vectorizable: true,
            closed: true,
        };
        for op in module.ops(block) {
            prepared.vectorizable &= is_scalar_op(op);
            prepared.closed &= op.regions().is_empty() && is_local(op, block);
            if op.has_trait(&Trait::Terminator) && op.successors().is_empty() {
                (prepared.results, prepared.dead) = self.operands(op);
                prepared.result_types = op.operand_types().map(|ty| self.value_type(ty)).collect();
                continue;
            }
            let instruction = self.instruction(op);
            self.code.instructions.push(instruction);
        }
        prepared.instructions = start..self.code.instructions.len() as u32;
        let id = program::BlockId(self.code.blocks.len() as u32);
        self.code.blocks.push(prepared);
        self.blocks.insert(block, id);
        id
    }

    fn instruction(&mut self, op: OpRef<'m>) -> Instruction {
        let mut primitive = meaning(op, self).unwrap_or_else(Primitive::Invalid);
        if let Primitive::Native(native) = &mut primitive
            && native.is_plain
        {
            let next = self.classes.len() as u32;
            native.class = Some(*self.classes.entry(OpClass::of(op)).or_insert(next));
        }
        let (operands, dead) = self.operands(op);
        let mut growth = 0usize;
        let is_native = matches!(&primitive, Primitive::Native(native) if native.is_plain);
        let result_types = op.results().zip(op.result_types()).map(|(result, ty)| {
            let PreparedType { ty, min_bytes } = self.typed(ty);
            // A native function may have results without meaning, which take no memory.
            if !(is_native && op.module().is_unused(result)) {
                growth = growth.saturating_add(*min_bytes);
            }
            ty.clone()
        });
        let result_types = result_types.collect();
        for operand in op.operands() {
            growth = growth.saturating_sub(self.min_bytes[operand.index()]);
        }
        Instruction {
            primitive: Arc::new(primitive),
            operands,
            results: op.results().map(|v| self.slot(v)).collect(),
            growth,
            result_types,
            dead,
            ops: 1,
            origin: op.id().into(),
        }
    }
}

/// True if an op can run on vectors of the scalars that it is declared on.
fn is_scalar_op(op: OpRef<'_>) -> bool {
    let is_scalar = |ty: &Type| ty.as_tensor().is_some_and(|t| t.rank() == 0);
    let is_known = [Trait::Elementwise, Trait::ConstantLike, Trait::Terminator];
    is_known.iter().any(|t| op.has_trait(t))
        && op.regions().is_empty()
        && op.operand_types().all(is_scalar)
        && op.result_types().all(is_scalar)
}

/// True if all operands of an op are defined in `block`.
fn is_local(op: OpRef<'_>, block: BlockId) -> bool {
    let module = op.module();
    op.operands().iter().all(|&value| match module.definition(value) {
        ValueDef::Argument { block: of, .. } => of == block,
        ValueDef::Result { op, .. } => module.op(op).block() == Some(block),
    })
}

/// A type as plain data.
pub fn value_type(ty: &Type) -> ValueType {
    let storage = storage_type(ty.element_type()).and_then(|element| element.dtype());
    match (&**ty, storage) {
        (TypeKind::RankedTensor(tensor), Some(dtype)) => {
            let bounds = tensor.encoding.as_ref().map_or(&[][..], bounds);
            debug_assert_eq!(DYNAMIC, program::DYNAMIC);
            ValueType::Tensor { dtype, shape: tensor.shape.to_vec(), bounds: bounds.to_vec() }
        }
        (TypeKind::UnrankedTensor(_), Some(dtype)) => ValueType::Unranked(dtype),
        (TypeKind::Tuple(types), _) => ValueType::Tuple(types.iter().map(value_type).collect()),
        (TypeKind::Integer { .. } | TypeKind::Index | TypeKind::Float(_), Some(dtype)) => {
            ValueType::Scalar(dtype)
        }
        (TypeKind::Dialect(token), _) if token.def.mnemonic == "token" => ValueType::Token,
        _ => ValueType::Opaque,
    }
}

/// The type as which elements of a type are stored.
pub fn storage_type(element: &Type) -> Option<Type> {
    match &**element {
        TypeKind::Dialect(ty) => (ty.def.storage?)(&ty.params),
        _ => Some(element.clone()),
    }
}

/// The bounds of dimensions in the encoding of a tensor type.
fn bounds(encoding: &Attribute) -> &[i64] {
    let AttrKind::Dialect(encoding) = &**encoding else { return &[] };
    let list = encoding.def.bounds.and_then(|i| encoding.params.get(i)?.as_ref()?.as_int_array());
    list.unwrap_or(&[])
}

/// The primitive of an op that is a function of its operands, of its dialect's own: it asks nothing
/// of the executor, runs no code of users and needs little stack. It depends on nothing but the
/// op's attributes and types: plans run it once for ops that have these in common.
///
/// # Errors
/// None; the type is that of [`PrepareFn`].
pub fn native<F>(op: OpRef<'_>, function: F) -> Prepared
where
    F: Fn(Vec<RuntimeValue>) -> EvalResult + Send + Sync + 'static,
{
    Ok(Primitive::Native(NativeFunction::plain(listed_name(op), function)))
}

/// The primitive of an op that asks something of the executor or runs code of users, of its
/// dialect's own.
///
/// # Errors
/// None; the type is that of [`PrepareFn`].
pub fn native_with_env<F>(op: OpRef<'_>, function: F) -> Prepared
where
    F: Fn(Origin, Vec<RuntimeValue>, &mut dyn Evaluator) -> EvalResult + Send + Sync + 'static,
{
    Ok(Primitive::Native(NativeFunction::new(listed_name(op), function)))
}

/// The name of an op for listings.
fn listed_name(op: OpRef<'_>) -> &'static str {
    op.def().map_or("", |def| def.name)
}
