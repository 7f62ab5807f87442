//! Building and editing modules.

use crate::dialects::func::{FuncOp, ReturnOp};
use crate::dialects::stablehlo::ConstantOp;
use crate::error::Result;
use crate::ir::{
    AttrKind, BlockId, Loc, OpDef, OpId, OpName, OpParts, OpRef, RegionId, Trait, Value,
};
use crate::{Attribute, Diagnostic, Error, Module, Tensor, Type};
use mlir::diag::counted;
use mlir::nearest::nearest;
use mlir::ods::{AttrConstraint, Presence};
use mlir::types::Signedness;
use mlir::verify::verify_inputs;
use std::collections::HashSet;

/// Makes ops at an insertion point, and changes a module.
///
/// Result types are inferred where the declaration of an op says how. Each op is checked against
/// the slots of its declaration as it is made; [`verify`](crate::verify) checks everything else
/// once the module is complete.
///
/// ```
/// use stablo::dialects::stablehlo::{AddOp, MaximumOp};
/// use stablo::{Builder, Tensor, Type};
///
/// let mut module = stablo::new_module();
/// let ty = Type::tensor([4], Type::f32());
/// Builder::new(&mut module).function("main", [ty.clone(), ty], |b, arguments| {
///     let sum = b.op(AddOp::DEF).operands([arguments[0], arguments[1]]).value()?;
///     let zero = b.constant(&Tensor::splat([4], 0f32)?)?;
///     Ok(vec![b.op(MaximumOp::DEF).operands([sum, zero]).value()?])
/// })?;
/// stablo::verify(&module)?;
/// # Ok::<(), stablo::Error>(())
/// ```
pub struct Builder<'m> {
    module: &'m mut Module,
    at: InsertionPoint,
    location: Loc,
}

/// Insertion point of new ops.
#[derive(Clone, Copy)]
enum InsertionPoint {
    Before(OpId),
    End(BlockId),
}

/// Insertion points.
impl<'m> Builder<'m> {
    /// A builder that adds to the end of the body of the module.
    pub fn new(module: &'m mut Module) -> Builder<'m> {
        // Edits ask for users: lists are built while all ops stand in the module.
        module.build_uses();
        let body = module.top().regions().first().and_then(|&region| module.entry(region));
        let body = body.unwrap_or_else(|| module.create_detached_block());
        Builder { module, at: InsertionPoint::End(body), location: Loc::Unknown }
    }

    /// The module.
    pub fn module(&self) -> &Module {
        self.module
    }

    /// The module, for changes that the builder has no method for.
    pub fn module_mut(&mut self) -> &mut Module {
        self.module
    }

    /// New ops go before `op`.
    pub fn insert_before(&mut self, op: OpId) -> &mut Self {
        self.at = InsertionPoint::Before(op);
        self
    }

    /// New ops go after `op`, in the order in which they are made.
    pub fn insert_after(&mut self, op: OpId) -> &mut Self {
        let view = self.module.op(op);
        if let Some(block) = view.block() {
            let next = view.next_in_block();
            self.at =
                next.map_or(InsertionPoint::End(block), |next| InsertionPoint::Before(next.id()));
        }
        self
    }

    /// New ops go to the end of `block`.
    pub fn insert_at_end(&mut self, block: BlockId) -> &mut Self {
        self.at = InsertionPoint::End(block);
        self
    }

    /// New ops get this location, such as `loc("model.py":3:1)`; unknown by default.
    pub fn set_location(&mut self, location: Attribute) -> &mut Self {
        self.location = Loc::Explicit(location, None);
        self
    }
}

/// Construction.
impl<'m> Builder<'m> {
    /// An op to be made: of a declaration, such as `AddOp::DEF`, or of a name, such as
    /// `"stablehlo.add"`.
    pub fn op(&mut self, op: impl Into<OpKind>) -> OpBuilder<'_, 'm> {
        OpBuilder {
            kind: op.into(),
            builder: self,
            operands: Vec::new(),
            attributes: Vec::new(),
            regions: Vec::new(),
            successors: Vec::new(),
            result_types: None,
            error: None,
        }
    }

    /// The declaration of the op that ends the regions of an op, such as `stablehlo.return`.
    ///
    /// # Errors
    /// If there is no such op, or its regions have no known terminator.
    pub fn terminator(&self, op: impl Into<OpKind>) -> Result<&'static OpDef> {
        op.into().terminator(self.module)
    }

    /// A `stablehlo.constant`.
    ///
    /// # Errors
    /// Never for tensors of element types that a program can have.
    pub fn constant(&mut self, tensor: &Tensor) -> Result<Value> {
        self.op(ConstantOp::DEF).attribute("value", Attribute::from_tensor(tensor)).value()
    }

    /// Adds a `func.func`. `body` gets the arguments and returns the values to return, whose types
    /// are the result types.
    ///
    /// # Errors
    /// Errors of `body`.
    pub fn function(
        &mut self,
        name: &str,
        inputs: impl IntoIterator<Item = Type>,
        body: impl FnOnce(&mut Builder<'m>, &[Value]) -> Result<Vec<Value>>,
    ) -> Result<OpId> {
        let inputs: Vec<Type> = inputs.into_iter().collect();
        let (region, block, arguments) = self.region(inputs.iter().cloned());
        let results = self.within(block, |builder| {
            let results = body(&mut *builder, &arguments)?;
            let types: Vec<Type> = results.iter().map(|&v| builder.module.ty(v).clone()).collect();
            builder.op(ReturnOp::DEF).operands(results).build()?;
            Ok(types)
        })?;
        self.op(FuncOp::DEF)
            .attribute("sym_name", Attribute::string(name))
            .attribute("function_type", Type::function(inputs, results))
            .region(region)
            .build()
    }

    /// A region with one block that has arguments of the given types.
    fn region(
        &mut self,
        arguments: impl IntoIterator<Item = Type>,
    ) -> (RegionId, BlockId, Vec<Value>) {
        let region = self.module.create_region();
        let block = self.module.create_block(region);
        let location = self.location.clone();
        let arguments = arguments.into_iter();
        let values =
            arguments.map(|ty| self.module.add_argument(block, ty, location.clone())).collect();
        (region, block, values)
    }

    /// Runs `build` with new ops going to the end of `block`.
    fn within<T>(
        &mut self,
        block: BlockId,
        build: impl FnOnce(&mut Builder<'m>) -> Result<T>,
    ) -> Result<T> {
        let at = std::mem::replace(&mut self.at, InsertionPoint::End(block));
        let built = build(self);
        self.at = at;
        built
    }
}

/// Editing.
impl Builder<'_> {
    /// Replaces the results of an op by values, and erases it.
    ///
    /// # Errors
    /// If there are more or fewer values than results, or one has another type.
    pub fn replace(&mut self, op: OpId, values: &[Value]) -> Result<()> {
        let view = self.module.op(op);
        let (found, expected) = (values.len(), view.num_results());
        if found != expected {
            let message =
                format!("`{}` has {}, not {found}", view.name(), counted(expected, "result"));
            return Err(self.error(view, message));
        }
        let pairs: Vec<(Value, Value)> = view.results().zip(values.iter().copied()).collect();
        for &(old, new) in &pairs {
            let (old, new) = (self.module.ty(old), self.module.ty(new));
            if old != new {
                let message = format!("a value of type {new} cannot replace one of type {old}");
                return Err(self.error(view, message));
            }
        }
        for (old, new) in pairs {
            self.module.replace_all_uses(old, new);
        }
        self.erase(op)
    }

    /// Erases an op with everything in it.
    ///
    /// # Errors
    /// If something uses a result of the op, or the op is the module itself.
    pub fn erase(&mut self, op: OpId) -> Result<()> {
        let view = self.module.op(op);
        if op == self.module.top().id() {
            return Err(self.error(view, "the module cannot be erased".to_string()));
        }
        let user = view.results().flat_map(|result| self.module.users(result)).next();
        if let Some(user) = user {
            let message = format!("`{}` is used by `{}`", view.name(), self.module.op(user).name());
            return Err(self.error(view, message));
        }
        if let InsertionPoint::Before(next) = self.at {
            let within: HashSet<OpId> = self.module.walk(op).map(OpRef::id).collect();
            if within.contains(&next) {
                self.insert_after(op);
            }
        }
        self.module.erase(op);
        Ok(())
    }

    /// Sets an attribute, inherent if the declaration of the op has one of that name.
    pub fn set_attribute(&mut self, op: OpId, name: &str, value: impl Into<Attribute>) {
        self.module.set_attr(op, name, value.into());
    }

    /// Removes an attribute, and returns it.
    pub fn remove_attribute(&mut self, op: OpId, name: &str) -> Option<Attribute> {
        self.module.remove_attr(op, name)
    }

    /// Replaces the operands of an op.
    pub fn set_operands(&mut self, op: OpId, operands: impl IntoIterator<Item = Value>) {
        self.module.set_operands(op, operands);
    }

    /// Changes the type of a value. Types that follow from it do not change.
    pub fn set_type(&mut self, value: Value, ty: Type) {
        self.module.set_type(value, ty);
    }

    fn error(&self, op: OpRef<'_>, message: String) -> Error {
        Error::in_module(vec![op.error("edit", message)], self.module)
    }
}

/// The op to make: a declaration or a name.
#[derive(Clone)]
pub struct OpKind(Kind);

#[derive(Clone)]
enum Kind {
    Declared(&'static OpDef),
    Named(String),
}

impl From<&'static OpDef> for OpKind {
    fn from(def: &'static OpDef) -> OpKind {
        OpKind(Kind::Declared(def))
    }
}

impl From<&str> for OpKind {
    fn from(name: &str) -> OpKind {
        OpKind(Kind::Named(name.to_string()))
    }
}

/// An op that is being made. [`OpBuilder::build`], [`OpBuilder::value`] or [`OpBuilder::values`]
/// puts it in place.
#[must_use = "the op is made by `build`, `value` or `values`"]
pub struct OpBuilder<'b, 'm> {
    builder: &'b mut Builder<'m>,
    kind: OpKind,
    operands: Vec<Value>,
    attributes: Vec<(String, Attribute)>,
    regions: Vec<RegionId>,
    successors: Vec<BlockId>,
    result_types: Option<Vec<Type>>,
    /// The first error of a region.
    error: Option<Error>,
}

impl<'b, 'm> OpBuilder<'b, 'm> {
    /// Adds operands.
    pub fn operands(mut self, operands: impl IntoIterator<Item = Value>) -> Self {
        self.operands.extend(operands);
        self
    }

    /// Sets an attribute, inherent if the declaration has one of that name. Attributes of dialects
    /// are easily made from text: `stablo::parse_attribute("#stablehlo<comparison_direction LT>")`.
    pub fn attribute(mut self, name: &str, value: impl Into<Attribute>) -> Self {
        self.attributes.push((name.to_string(), value.into()));
        self
    }

    /// Sets an attribute whose declaration is an enumeration to the case of that spelling:
    /// `.case("comparison_direction", "LT")`.
    pub fn case(mut self, name: &str, case: &str) -> Self {
        match self.case_attribute(name, case) {
            Ok(attribute) => self.attribute(name, attribute),
            Err(error) => {
                self.error = self.error.or(Some(error));
                self
            }
        }
    }

    /// Adds a region with one block that takes arguments of the given types. `body` gets the
    /// arguments and gives the values that the region returns; the terminator is that of the
    /// dialect.
    pub fn body(
        mut self,
        arguments: impl IntoIterator<Item = Type>,
        body: impl FnOnce(&mut Builder<'m>, &[Value]) -> Result<Vec<Value>>,
    ) -> Self {
        if self.error.is_some() {
            return self;
        }
        let terminator = self.kind.terminator(self.builder.module);
        let (region, block, arguments) = self.builder.region(arguments);
        let built = self.builder.within(block, |builder| {
            let results = body(&mut *builder, &arguments)?;
            builder.op(terminator?).operands(results).build().map(drop)
        });
        self.error = built.err();
        self.regions.push(region);
        self
    }

    /// Adds a region that was made with the methods of [`Module`] and belongs to no op.
    pub fn region(mut self, region: RegionId) -> Self {
        self.regions.push(region);
        self
    }

    /// Adds successor blocks.
    pub fn successors(mut self, blocks: impl IntoIterator<Item = BlockId>) -> Self {
        self.successors.extend(blocks);
        self
    }

    /// Gives the types of the results instead of inferring them.
    pub fn result_types(mut self, types: impl IntoIterator<Item = Type>) -> Self {
        self.result_types = Some(types.into_iter().collect());
        self
    }

    /// Makes the op.
    ///
    /// # Errors
    /// If there is no such op, a slot of its declaration is not satisfied, the types of its results
    /// do not follow from the rest and were not given, or a region could not be built.
    pub fn build(self) -> Result<OpId> {
        self.make().map(|(_, op)| op)
    }

    fn make(self) -> Result<(&'b mut Builder<'m>, OpId)> {
        let OpBuilder { builder, kind, operands, attributes, .. } = self;
        if let Some(error) = self.error {
            return Err(error);
        }
        let module = &mut *builder.module;
        let def = kind.def(module)?;
        let single = operands.len() == def.operands.len();
        let mut parts = OpParts::new(OpName::Registered(def), builder.location.clone());
        parts.operands = operands.into_iter().collect();
        parts.regions = self.regions.into_iter().collect();
        parts.successors = self.successors;
        let op = module.create_op(parts);
        for (name, value) in attributes {
            module.set_attr(op, &name, value);
        }
        set_defaults(module, op, def, single);
        let types = verify_inputs(module.op(op)).and_then(|()| match self.result_types {
            Some(types) => Ok(types),
            None => infer(module.op(op), def),
        });
        match types {
            Ok(types) => module.add_results(op, types),
            Err(error) => {
                let error = Error::in_module(vec![error], module);
                module.erase(op);
                return Err(error);
            }
        }
        match builder.at {
            InsertionPoint::Before(next) => module.insert_before(op, next),
            InsertionPoint::End(block) => module.append(block, op),
        }
        Ok((builder, op))
    }

    /// Makes the op and returns its results.
    ///
    /// # Errors
    /// As [`OpBuilder::build`].
    pub fn values(self) -> Result<Vec<Value>> {
        let (builder, op) = self.make()?;
        Ok(builder.module.op(op).results().collect())
    }

    /// Makes the op and returns its result.
    ///
    /// # Errors
    /// If the op has another number of results than one, and as [`OpBuilder::build`].
    pub fn value(self) -> Result<Value> {
        let values = self.values()?;
        <[Value; 1]>::try_from(values).map(|[value]| value).map_err(|values| {
            Error::message(
                "build",
                format!("the op has {}, not one", counted(values.len(), "result")),
            )
        })
    }

    fn case_attribute(&self, name: &str, case: &str) -> Result<Attribute> {
        let def = self.kind.def(self.builder.module)?;
        let slot = def.attributes.iter().find(|slot| slot.name == name);
        let attribute = slot.and_then(|slot| enumerated(slot.constraint, case));
        attribute.ok_or_else(|| {
            let message =
                format!("`{case}` is not a value of attribute `{name}` of `{}`", def.name);
            Error::message("build", message)
        })
    }
}

impl OpKind {
    fn def(&self, module: &Module) -> Result<&'static OpDef> {
        match &self.0 {
            Kind::Declared(def) => Ok(*def),
            Kind::Named(name) => {
                let registry = module.registry();
                let unknown = || {
                    let other = registry.synonym(name).or_else(|| registry.op_of_any_dialect(name));
                    let near = other.or_else(|| nearest(name, registry.ops().map(|op| op.name)));
                    let help = near.map(|near| format!("; did you mean `{near}`?"));
                    let help = help.unwrap_or_default();
                    Error::message("build", format!("there is no op `{name}`{help}"))
                };
                registry.op(name).ok_or_else(unknown)
            }
        }
    }

    /// The terminator of the op's regions: the implicit one, else the op `return` or `yield` of the
    /// dialect; that of StableHLO for CHLO.
    fn terminator(&self, module: &Module) -> Result<&'static OpDef> {
        let def = self.def(module)?;
        let implicit = def.traits.iter().find_map(|t| match t {
            Trait::ImplicitTerminator(name) => Some((*name).to_string()),
            _ => None,
        });
        let dialect = if def.dialect() == "chlo" { "stablehlo" } else { def.dialect() };
        let names = ["return", "yield"].map(|mnemonic| format!("{dialect}.{mnemonic}"));
        let mut names = implicit.into_iter().chain(names);
        names.find_map(|name| module.registry().op(&name)).ok_or_else(|| {
            let message = format!("regions of `{}` have no known terminator", def.name);
            Error::message("build", message)
        })
    }
}

/// The value of that spelling, if a constraint allows it.
fn enumerated(constraint: &AttrConstraint, case: &str) -> Option<Attribute> {
    match *constraint {
        AttrConstraint::Enum(def) => Some(Attribute::enumeration(def, def.value(case)?)),
        AttrConstraint::IntEnum(width, def) => {
            let ty = Type::integer(width, Signedness::Signless);
            Some(Attribute::integer(def.value(case)?.into(), ty))
        }
        AttrConstraint::AnyOf(sets) => sets.iter().find_map(|set| enumerated(set, case)),
        _ => None,
    }
}

/// Fills in the attributes that have defaults, and the sizes of operand slots where each holds one.
fn set_defaults(module: &mut Module, op: OpId, def: &'static OpDef, single: bool) {
    for (slot, attribute) in def.attributes.iter().enumerate() {
        if module.op(op).property(slot).is_some() {
            continue;
        }
        if let Presence::Default(value) = attribute.presence {
            module.set_property(op, slot, Some(value.attribute()));
        } else if attribute.name == "operandSegmentSizes" && single {
            let values = vec![1; def.operands.len()];
            let sizes = AttrKind::DenseArray { element: Type::i32(), values };
            module.set_property(op, slot, Some(sizes.into()));
        }
    }
}

/// The types of the results of an op that satisfies the other slots of its declaration.
fn infer(op: OpRef<'_>, def: &'static OpDef) -> Result<Vec<Type>, Diagnostic> {
    if let Some(infer) = def.infer {
        return infer(op);
    }
    if def.results.is_empty() {
        return Ok(Vec::new());
    }
    if def.has_trait(&Trait::SameOperandsAndResultType)
        && let Some(ty) = op.operand_types().next()
    {
        return Ok(vec![ty.clone(); def.results.len()]);
    }
    let message = format!(
        "the result types of `{}` do not follow from its operands and attributes: give them with \
         `result_types`",
        def.name
    );
    Err(op.error("build", message))
}
