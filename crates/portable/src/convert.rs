//! In-place conversion of a module: every op is replaced by an op of another dialect or version
//! with the same operands and regions.

use crate::defaults;
use mlir::attrs::Dictionary;
use mlir::builtin::{ModuleOp, UnrealizedConversionCastOp};
use mlir::ir::{Loc, OpName, OpParts, Properties, Template, ValueDef};
use mlir::ods::OpDef;
use mlir::{Attribute, Diagnostic, Module, OpId, OpRef, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use vhlo::Version;

/// Treatment of ops, types and attributes of dialects that VHLO does not cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignOps {
    /// Reject them, so that readers need no other dialect.
    Refuse,
    /// Keep them, with casts between their types and those of VHLO. Their later readability is not
    /// guaranteed.
    Keep,
}

impl ForeignOps {
    /// `Some(value)` if foreign items are kept.
    pub(crate) fn keep<T: Clone>(self, value: &T) -> Option<T> {
        (self == ForeignOps::Keep).then(|| value.clone())
    }
}

/// The reason why something cannot be expressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversionError {
    /// The message, with a hint on how to make it expressible if there is one.
    pub message: String,
    /// The first version that can express it, if any.
    pub since: Option<Version>,
}

impl ConversionError {
    pub(crate) fn new(message: impl Into<String>) -> ConversionError {
        ConversionError { message: message.into(), since: None }
    }

    pub(crate) fn since(version: Version, message: impl Into<String>) -> ConversionError {
        ConversionError { message: message.into(), since: Some(version) }
    }

    /// For an attribute without a VHLO counterpart.
    pub(crate) fn attribute(name: &str, value: &Attribute, foreign: ForeignOps) -> ConversionError {
        let remedy = remedy(foreign);
        ConversionError::new(format!("attribute {name} = {value} has no portable form{remedy}"))
    }

    /// For a type without a VHLO counterpart.
    pub(crate) fn ty(ty: &Type, foreign: ForeignOps) -> ConversionError {
        ConversionError::new(format!("type {ty} has no portable form{}", remedy(foreign)))
    }

    /// The diagnostic at an op.
    pub(crate) fn at(&self, op: OpRef<'_>) -> Diagnostic {
        op.error("portable", format!("{}: {}", op.name(), self.message))
    }
}

fn remedy(foreign: ForeignOps) -> &'static str {
    match foreign {
        ForeignOps::Refuse => {
            "; if it is of another dialect, allowing other dialects (allow_other_dialects) keeps it \
             as it is"
        }
        ForeignOps::Keep => "",
    }
}

/// The declaration and attributes of the op that replaces another, over the same operands and
/// regions.
pub(crate) struct OpReplacement {
    pub def: &'static OpDef,
    pub properties: Properties,
    pub attributes: Dictionary,
}

impl OpReplacement {
    pub(crate) fn new(def: &'static OpDef) -> OpReplacement {
        OpReplacement {
            def,
            properties: smallvec::smallvec![None; def.attributes.len()],
            attributes: Dictionary::default(),
        }
    }

    /// Sets an attribute: inherent if the declaration has one of that name.
    pub(crate) fn set(&mut self, name: &str, value: Attribute) {
        match self.def.attribute_index(name) {
            Some(index) => self.properties[index] = Some(value),
            None => self.attributes.set(name, value),
        }
    }

    /// Returns an inherent attribute.
    pub(crate) fn get(&self, name: &str) -> Option<&Attribute> {
        self.properties.get(self.def.attribute_index(name)?)?.as_ref()
    }

    /// Replaces the kind and attributes of `op`.
    pub(crate) fn apply(self, module: &mut Module, op: OpId) {
        let name = OpName::Registered(self.def);
        module.set_template(op, Template::new(name, self.properties, self.attributes));
    }

    /// Sets absent inherent attributes to their defaults.
    pub(crate) fn fill_defaults(&mut self) -> Result<(), ConversionError> {
        for (index, slot) in self.def.attributes.iter().enumerate() {
            if self.properties[index].is_none() {
                let value = defaults::value(slot.name, &|name| self.get(name));
                let missing = || {
                    ConversionError::new(format!(
                        "attribute {} is missing, and has no default",
                        slot.name
                    ))
                };
                self.properties[index] = Some(value.ok_or_else(missing)?);
            }
        }
        Ok(())
    }
}

/// The result of converting one op.
pub(crate) enum OpConversion {
    /// The op is of another dialect.
    ForeignOps,
    /// The op stays as it is.
    Same,
    /// The op is replaced.
    Replace(OpReplacement),
}

/// Configuration of a module conversion.
pub(crate) struct ModuleConversion<'a> {
    /// Converts an op.
    pub op: &'a mut dyn FnMut(OpRef<'_>) -> Result<OpConversion, ConversionError>,
    /// True if the conversion of an op depends on nothing but its template: then it is done once
    /// for each template.
    pub by_template: &'a dyn Fn(OpRef<'_>) -> bool,
    /// Converts the type of a result or block argument of a replaced op.
    pub ty: &'a dyn Fn(&Type) -> Option<Type>,
    /// Also convert the types of results and block arguments of foreign ops. If false, casts are
    /// inserted.
    pub all_types: bool,
    /// Treatment of ops of other dialects.
    pub foreign: ForeignOps,
}

impl ModuleConversion<'_> {
    /// Converts `root` and everything nested in it. Returns the replaced ops in textual order.
    ///
    /// # Errors
    /// The first op, in textual order, that cannot be converted. The module is left partially
    /// converted.
    pub(crate) fn run(self, module: &mut Module, root: OpId) -> Result<Vec<OpId>, Diagnostic> {
        let ops: Vec<OpId> = module.walk(root).map(OpRef::id).collect();
        let mut types = Types {
            convert: self.ty,
            known: FxHashMap::default(),
            old: (!self.all_types).then(FxHashMap::default),
        };
        let (mut changed, mut kept) = (Vec::new(), FxHashSet::default());
        let mut templates: FxHashMap<Template, Template> = FxHashMap::default();
        for id in ops {
            let op = module.op(id);
            let refuse = |ty: Type, module: &Module| {
                let error = match crate::types::refusal(&ty.clone().into()) {
                    Some(reason) => ConversionError::new(reason),
                    None => ConversionError::ty(&ty, self.foreign),
                };
                error.at(module.op(id))
            };
            if let Some(template) = templates.get(op.template()) {
                types.apply(module, id).map_err(|ty| refuse(ty, module))?;
                changed.push(id);
                module.set_template(id, template.clone());
                continue;
            }
            let outcome = (self.op)(op).map_err(|error| error.at(op))?;
            let old = (self.by_template)(op).then(|| op.template().clone());
            match outcome {
                OpConversion::Same => continue,
                OpConversion::ForeignOps if !self.all_types => {}
                _ => {
                    types.apply(module, id).map_err(|ty| refuse(ty, module))?;
                }
            }
            match outcome {
                OpConversion::Replace(replacement) => {
                    changed.push(id);
                    replacement.apply(module, id);
                    templates.extend(old.map(|old| (old, module.op(id).template().clone())));
                }
                _ if module.op(id).is(ModuleOp::DEF) => {}
                _ if self.foreign == ForeignOps::Keep => {
                    kept.insert(id);
                }
                _ => {
                    let message = "ops of this dialect have no portable form; allowing other \
                                   dialects (allow_other_dialects) keeps them as they are";
                    return Err(ConversionError::new(message).at(module.op(id)));
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

/// Converts the types of values.
struct Types<'a> {
    convert: &'a dyn Fn(&Type) -> Option<Type>,
    known: FxHashMap<Type, Type>,
    /// The original types of converted values, if casts may need them.
    old: Option<FxHashMap<Value, Type>>,
}

impl Types<'_> {
    /// Converts the types of an op's results and of the arguments of its regions. The error is the
    /// type that cannot be converted.
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
    /// The cast of each value, and whether replaced ops use it.
    casts: FxHashMap<Value, (Value, bool)>,
}

impl Casts<'_> {
    fn insert(mut self, module: &mut Module, root: OpId, kept: &FxHashSet<OpId>) {
        let ops: Vec<OpId> = module.walk(root).map(OpRef::id).collect();
        self.cast_for_kept(module, &ops, kept);
        for id in ops {
            let is_kept = kept.contains(&id);
            for index in 0..module.op(id).operands().len() {
                let value = module.op(id).operand(index);
                let is_converted = self.old_types.contains_key(&value);
                if is_kept != is_converted {
                    continue;
                }
                let cast = match self.casts.get(&value) {
                    Some(&(cast, _)) => cast,
                    None => {
                        let wanted = (self.ty)(module.ty(value));
                        let Some(ty) = wanted.filter(|ty| ty != module.ty(value)) else { continue };
                        let user = module.op(id).loc().clone();
                        self.cast(module, value, ty, Some(user))
                    }
                };
                module.set_operand(id, index, cast);
            }
        }
        self.order_uses(module, root);
    }

    /// Casts the converted values that kept ops use. As upstream, the casts of the results of an
    /// op, or of the arguments of a block, are in descending order, since each is inserted first.
    fn cast_for_kept(&mut self, module: &mut Module, ops: &[OpId], kept: &FxHashSet<OpId>) {
        let mut values: Vec<Value> = ops
            .iter()
            .filter(|id| kept.contains(id))
            .flat_map(|&id| module.op(id).operands().iter().copied())
            .filter(|value| self.old_types.contains_key(value))
            .collect();
        values.sort_by_key(|&value| match module.definition(value) {
            ValueDef::Argument { index, .. } | ValueDef::Result { index, .. } => index,
        });
        for value in values {
            if !self.casts.contains_key(&value)
                && let Some(old) = self.old_types.get(&value)
            {
                self.cast(module, value, old.clone(), None);
            }
        }
    }

    /// Reproduces the use-list order that upstream's conversion leaves, which recreates each cast
    /// at the end. A cast for replaced ops takes over the uses of its predecessor from last to
    /// first; a cast for other ops becomes the last user of its value.
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
            let is_cast = |&(op, _): &(OpId, usize)| {
                module.definition(cast) == ValueDef::Result { op, index: 0 }
            };
            list.reverse();
            list.sort_by_key(|usage| !is_cast(usage));
            module.set_use_order(value, list);
        }
    }

    /// Casts a value to a type, right after its definition. As upstream, the cast has the location
    /// of `user`, the first replaced op that uses it, or else that of the value.
    fn cast(&mut self, module: &mut Module, value: Value, ty: Type, user: Option<Loc>) -> Value {
        let definition = module.definition(value);
        let loc = match definition {
            ValueDef::Argument { block, index } => &module.argument_locs(block)[index as usize],
            ValueDef::Result { op, .. } => module.op(op).loc(),
        };
        let name = OpName::Registered(UnrealizedConversionCastOp::DEF);
        let converted = user.is_some();
        let mut parts = OpParts::new(name, user.unwrap_or_else(|| loc.clone()));
        parts.operands.push(value);
        parts.result_types.push(ty);
        let cast = module.create_op(parts);
        match definition {
            ValueDef::Argument { block, .. } => module.prepend(block, cast),
            ValueDef::Result { op, .. } => module.insert_after(cast, op),
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
