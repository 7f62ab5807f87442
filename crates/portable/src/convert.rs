//! Conversion of a module in place: every op becomes one of another dialect or version over the
//! same operands and regions.

use crate::defaults;
use mlir::attrs::Dictionary;
use mlir::builtin::{ModuleOp, UnrealizedConversionCastOp};
use mlir::ir::{Loc, OpName, OpParts, Properties, ValueDef};
use mlir::ods::OpDef;
use mlir::{Attribute, Diagnostic, Module, OpId, OpRef, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use vhlo::Version;

/// What becomes of ops, types and attributes of dialects that VHLO does not stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// They are refused: readers need know no other dialect.
    Refuse,
    /// They stay, with casts between their types and those of VHLO. Nobody promises that they can
    /// be read later.
    Keep,
}

impl Foreign {
    /// The type or attribute itself if such are kept.
    pub(crate) fn keep<T: Clone>(self, value: &T) -> Option<T> {
        (self == Foreign::Keep).then(|| value.clone())
    }
}

/// Why something cannot be expressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What it is, and what would make it expressible if that is known.
    pub message: String,
    /// The first version that has it, if any has.
    pub since: Option<Version>,
}

impl Refusal {
    pub(crate) fn new(message: impl Into<String>) -> Refusal {
        Refusal { message: message.into(), since: None }
    }

    pub(crate) fn since(version: Version, message: impl Into<String>) -> Refusal {
        Refusal { message: message.into(), since: Some(version) }
    }

    /// An attribute that has no counterpart in VHLO.
    pub(crate) fn attribute(name: &str, value: &Attribute, foreign: Foreign) -> Refusal {
        let remedy = remedy(foreign);
        Refusal::new(format!("attribute {name} = {value} has no portable form{remedy}"))
    }

    /// A type that has no counterpart.
    pub(crate) fn ty(ty: &Type, foreign: Foreign) -> Refusal {
        Refusal::new(format!("type {ty} has no portable form{}", remedy(foreign)))
    }

    /// The diagnostic at an op.
    pub(crate) fn at(&self, op: OpRef<'_>) -> Diagnostic {
        op.error("portable", format!("{}: {}", op.name(), self.message))
    }
}

fn remedy(foreign: Foreign) -> &'static str {
    match foreign {
        Foreign::Refuse => {
            "; if it is of another dialect, allowing other dialects (--allow-other-dialects) keeps it as it is"
        }
        Foreign::Keep => "",
    }
}

/// What an op becomes.
pub(crate) struct Restated {
    pub def: &'static OpDef,
    pub properties: Properties,
    pub attributes: Dictionary,
}

impl Restated {
    pub fn new(def: &'static OpDef) -> Restated {
        Restated {
            def,
            properties: smallvec::smallvec![None; def.attributes.len()],
            attributes: Dictionary::default(),
        }
    }

    /// Sets an attribute: inherent if the declaration has that name.
    pub fn set(&mut self, name: &str, value: Attribute) {
        match self.def.attribute_index(name) {
            Some(index) => self.properties[index] = Some(value),
            None => self.attributes.set(name, value),
        }
    }

    /// An inherent attribute.
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        self.properties.get(self.def.attribute_index(name)?)?.as_ref()
    }

    /// Makes an op this one.
    pub fn apply(self, module: &mut Module, op: OpId) {
        module.restate(op, self.def, self.properties, self.attributes);
    }

    /// Gives the inherent attributes that are absent the values that their absence stands for.
    pub fn fill_defaults(&mut self) -> Result<(), Refusal> {
        for (index, slot) in self.def.attributes.iter().enumerate() {
            if self.properties[index].is_none() {
                let value = defaults::value(slot.name, &|name| self.get(name));
                let missing = || {
                    Refusal::new(format!(
                        "attribute {} is missing, and nothing stands for its absence",
                        slot.name
                    ))
                };
                self.properties[index] = Some(value.ok_or_else(missing)?);
            }
        }
        Ok(())
    }
}

/// What becomes of an op.
pub(crate) enum Outcome {
    /// It is of another dialect.
    Foreign,
    /// It stays as it is.
    Same,
    /// It becomes another.
    Becomes(Restated),
}

/// How a module is converted.
pub(crate) struct Conversion<'a> {
    /// What becomes of an op.
    pub op: &'a mut dyn FnMut(OpRef<'_>) -> Result<Outcome, Refusal>,
    /// What becomes of the type of a result or block argument of an op that becomes another.
    pub ty: &'a dyn Fn(&Type) -> Option<Type>,
    /// Whether the types of results and block arguments of foreign ops are converted too. If not,
    /// casts are inserted.
    pub all_types: bool,
    /// What becomes of ops of other dialects.
    pub foreign: Foreign,
}

impl Conversion<'_> {
    /// Converts `root` and everything in it. Returns the ops that became others, in the order of
    /// the text.
    ///
    /// # Errors
    /// The first op, in the order of the text, that cannot be converted. The module is of no use
    /// then.
    pub fn run(self, module: &mut Module, root: OpId) -> Result<Vec<OpId>, Diagnostic> {
        let ops: Vec<OpId> = module.walk(root).map(OpRef::id).collect();
        let mut types = Types {
            convert: self.ty,
            known: FxHashMap::default(),
            old: (!self.all_types).then(FxHashMap::default),
        };
        let (mut changed, mut kept) = (Vec::new(), FxHashSet::default());
        for id in ops {
            let op = module.op(id);
            let outcome = (self.op)(op).map_err(|refusal| refusal.at(op))?;
            match outcome {
                Outcome::Same => continue,
                Outcome::Foreign if !self.all_types => {}
                _ => {
                    let refuse = |ty: Type, module: &Module| {
                        Refusal::ty(&ty, self.foreign).at(module.op(id))
                    };
                    types.apply(module, id).map_err(|ty| refuse(ty, module))?;
                }
            }
            match outcome {
                Outcome::Becomes(restated) => {
                    changed.push(id);
                    restated.apply(module, id);
                }
                _ if module.op(id).is(ModuleOp::DEF) => {}
                _ if self.foreign == Foreign::Keep => {
                    kept.insert(id);
                }
                _ => {
                    let message = "ops of this dialect have no portable form; allowing other dialects (--allow-other-dialects) keeps them as they are";
                    return Err(Refusal::new(message).at(module.op(id)));
                }
            }
        }
        if let Some(old_types) = &types.old
            && !kept.is_empty()
        {
            Casts { old_types, ty: self.ty, casts: FxHashMap::default() }
                .insert(module, root, &kept);
        }
        Ok(changed)
    }
}

/// Types of values while they are converted.
struct Types<'a> {
    convert: &'a dyn Fn(&Type) -> Option<Type>,
    known: FxHashMap<Type, Type>,
    /// The types that values had whose types changed, if casts may need them.
    old: Option<FxHashMap<Value, Type>>,
}

impl Types<'_> {
    /// Converts the types of the results of an op and of the arguments of its regions. An error is
    /// one that cannot be.
    fn apply(&mut self, module: &mut Module, id: OpId) -> Result<(), Type> {
        for index in 0..module.op(id).num_results() {
            let result = module.op(id).result(index);
            self.apply_to(module, result)?;
        }
        for region in 0..module.op(id).regions().len() {
            for block in module.blocks(module.op(id).regions()[region]).to_vec() {
                for argument in module.arguments(block).to_vec() {
                    self.apply_to(module, argument)?;
                }
            }
        }
        Ok(())
    }

    fn apply_to(&mut self, module: &mut Module, value: Value) -> Result<(), Type> {
        let old = module.ty(value).clone();
        let new = match self.known.get(&old) {
            Some(new) => new.clone(),
            None => {
                let new = (self.convert)(&old).ok_or_else(|| old.clone())?;
                self.known.insert(old.clone(), new.clone());
                new
            }
        };
        if new != old {
            if let Some(known) = &mut self.old {
                known.insert(value, old);
            }
            module.set_type(value, new);
        }
        Ok(())
    }
}

/// Casts between the values of ops that were converted and those that were not.
struct Casts<'a> {
    old_types: &'a FxHashMap<Value, Type>,
    ty: &'a dyn Fn(&Type) -> Option<Type>,
    /// The cast of each value, and whether ops that were converted use it.
    casts: FxHashMap<Value, (Value, bool)>,
}

impl Casts<'_> {
    fn insert(mut self, module: &mut Module, root: OpId, kept: &FxHashSet<OpId>) {
        let ops: Vec<OpId> = module.walk(root).map(OpRef::id).collect();
        for id in ops {
            let is_kept = kept.contains(&id);
            for index in 0..module.op(id).operands().len() {
                let value = module.op(id).operand(index);
                let wanted = match self.old_types.get(&value) {
                    Some(old) if is_kept => Some(old.clone()),
                    None if !is_kept => {
                        (self.ty)(module.ty(value)).filter(|ty| ty != module.ty(value))
                    }
                    _ => None,
                };
                if let Some(ty) = wanted {
                    let cast = match self.casts.get(&value) {
                        Some(&(cast, _)) => cast,
                        None => {
                            let user = (!is_kept).then(|| module.op(id).loc().clone());
                            self.cast(module, value, ty, user)
                        }
                    };
                    module.set_operand(id, index, cast);
                }
            }
        }
        self.order_uses(module, root);
    }

    /// Orders uses as upstream's conversion leaves them: at last it makes each cast anew. A cast
    /// for ops that were converted takes over the uses of its predecessor from the latest to the
    /// first; one for other ops uses its value after all else.
    fn order_uses(self, module: &mut Module, root: OpId) {
        if self.casts.is_empty() {
            return;
        }
        let values = self
            .casts
            .iter()
            .map(|(&value, &(cast, converted))| if converted { cast } else { value });
        let mut uses: FxHashMap<Value, Vec<(OpId, usize)>> =
            values.map(|value| (value, Vec::new())).collect();
        for op in module.walk(root) {
            for (index, value) in op.operands().iter().enumerate() {
                if let Some(uses) = uses.get_mut(value) {
                    uses.push((op.id(), index));
                }
            }
        }
        for (value, (cast, converted)) in self.casts {
            if converted {
                module.set_use_order(cast, uses.remove(&cast).unwrap_or_default());
                continue;
            }
            let mut list = uses.remove(&value).unwrap_or_default();
            let is_cast =
                |&(op, _): &(OpId, usize)| module.def(cast) == ValueDef::Result { op, index: 0 };
            list.reverse();
            list.sort_by_key(|usage| !is_cast(usage));
            module.set_use_order(value, list);
        }
    }

    /// A value cast to a type, right after its definition. As upstream's, it has the location of
    /// `user`, the first op that was converted and uses it, or else that of the value.
    fn cast(&mut self, module: &mut Module, value: Value, ty: Type, user: Option<Loc>) -> Value {
        let (block, at, loc) = match module.def(value) {
            ValueDef::Argument { block, index } => {
                (Some(block), 0, module.argument_locs(block)[index as usize].clone())
            }
            ValueDef::Result { op, .. } => {
                let at = module.position_in_block(op).map_or(0, |at| at + 1);
                (module.op(op).block(), at, module.op(op).loc().clone())
            }
        };
        let name = OpName::Registered(UnrealizedConversionCastOp::DEF);
        let converted = user.is_some();
        let mut parts = OpParts::new(name, user.unwrap_or(loc));
        parts.operands.push(value);
        parts.result_types.push(ty);
        let cast = module.create_op(parts);
        if let Some(block) = block {
            module.insert(block, at, cast);
        }
        let result = module.op(cast).result(0);
        self.casts.insert(value, (result, converted));
        result
    }
}

/// Removes casts between equal types.
pub(crate) fn remove_idle_casts(module: &mut Module, root: OpId) {
    let ops: Vec<OpId> = module.walk(root).map(OpRef::id).collect();
    let mut sources: FxHashMap<Value, Value> = FxHashMap::default();
    let mut idle = Vec::new();
    for &id in &ops {
        let op = module.op(id);
        if op.is(UnrealizedConversionCastOp::DEF) && op.operand_types().eq(op.result_types()) {
            for (result, &operand) in op.results().zip(op.operands()) {
                sources.insert(result, sources.get(&operand).copied().unwrap_or(operand));
            }
            idle.push(id);
        }
    }
    if idle.is_empty() {
        return;
    }
    for id in ops {
        for index in 0..module.op(id).operands().len() {
            if let Some(&source) = sources.get(&module.op(id).operand(index)) {
                module.set_operand(id, index, source);
            }
        }
    }
    idle.into_iter().for_each(|cast| module.erase(cast));
}
