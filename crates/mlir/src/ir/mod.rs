//! The IR: operations, blocks, regions and values in one arena, identified by ids.
//!
//! A [`Module`] owns everything. [`OpRef`] is a view of one op for reading; changes go through
//! methods of `Module`, so that the data needs no lifetimes and, except for the symbol cache, no
//! interior mutability.

mod clone;
mod compact;
mod content;
mod edit;
mod layout;
mod op_ref;
mod template;
mod uses;

pub use layout::Ops;
pub use op_ref::OpRef;
pub use template::Template;

use crate::attrs::{Attribute, Dictionary, LocationKind, Name};
use crate::diag::{Position, Source, Span};
use crate::ods::{OpDef, Registry};
use crate::types::Type;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, OnceLock};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(NonZeroU32);

        impl $name {
            pub(crate) fn new(index: usize) -> $name {
                $name(NonZeroU32::MIN.saturating_add(index as u32))
            }

            /// Index in the arena.
            pub fn index(self) -> usize {
                self.0.get() as usize - 1
            }
        })*
    };
}

ids! {
    /// An operation of a module.
    OpId;
    /// A block of a module.
    BlockId;
    /// A region of a module.
    RegionId;
    /// An SSA value of a module.
    Value;
}

/// A top-level operation with everything nested in it, its dialects and its source text.
#[derive(Clone)]
pub struct Module {
    registry: &'static Registry,
    ops: Vec<OperationData>,
    blocks: Vec<BlockData>,
    regions: Vec<RegionData>,
    values: Vec<ValueData>,
    top: OpId,
    /// Number of ops that were erased since the module was compacted.
    erased: usize,
    source: Option<Arc<Source>>,
    locations: Option<Arc<dyn LocationTable>>,
    uses: Option<uses::Uses>,
    use_orders: uses::UseOrders,
    /// Templates without attributes, by the addresses of declarations.
    bare_templates: FxHashMap<usize, Template>,
    /// The ops in the body of the top one by the symbols that they defined when one was first
    /// looked up: where to look first.
    symbols: OnceLock<HashMap<Box<str>, OpId>>,
    external_resources: Vec<ExternalResource>,
}

/// An entry of the `external_resources` of a text: data for one tool, which others pass on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalResource {
    /// The owner, such as `mlir_reproducer`.
    pub owner: Name,
    /// Its key.
    pub key: Name,
    /// Its value in MLIR's syntax: a string literal or a boolean.
    pub value: Name,
}

/// The name of an op: its declaration, or text for an op of an unregistered dialect.
#[derive(Clone)]
pub enum OpName {
    /// A declared op.
    Registered(&'static OpDef),
    /// An op of an unregistered dialect.
    Unregistered(Name),
}

impl OpName {
    /// The full name.
    pub fn as_str(&self) -> &str {
        match self {
            OpName::Registered(def) => def.name,
            OpName::Unregistered(name) => name,
        }
    }
}

/// The location of an op or block argument.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Loc {
    /// Unknown.
    #[default]
    Unknown,
    /// The position in the source text; prints as `loc("file":line:column)`.
    Source(Span),
    /// An explicit location attribute, with the position in the source text if it was parsed.
    Explicit(Attribute, Option<Span>),
    /// The number of a location attribute in the bytecode that the module was read from.
    Bytecode(u32),
}

/// Locations that are decoded when they are asked for.
pub(crate) trait LocationTable: Send + Sync {
    /// The location of that number.
    fn get(&self, number: u32) -> Option<&Attribute>;
}

/// The operands of an op; most need no allocation.
pub type OperandValues = SmallVec<[Value; 4]>;

/// The result types of an op, inline for one.
pub type ResultTypes = SmallVec<[Type; 1]>;

/// Inherent attributes by slot, inline for up to three.
pub type Properties = SmallVec<[Option<Attribute>; 3]>;

/// The parts of an op to be created.
pub struct OpParts {
    /// Name.
    pub name: OpName,
    /// Operands in order.
    pub operands: OperandValues,
    /// Result types in order.
    pub result_types: ResultTypes,
    /// Inherent attributes, one entry per slot of the declaration; empty if all are absent. An op
    /// without a declaration has at most one entry: its parsed properties, usually a dictionary.
    pub properties: Properties,
    /// Discardable attributes.
    pub attributes: Dictionary,
    /// Detached regions.
    pub regions: SmallVec<[RegionId; 1]>,
    /// Successor blocks.
    pub successors: Vec<BlockId>,
    /// Location.
    pub loc: Loc,
}

impl OpParts {
    /// An op with the given name, without operands, results, attributes and regions.
    pub fn new(name: OpName, loc: Loc) -> OpParts {
        OpParts {
            name,
            operands: SmallVec::new(),
            result_types: SmallVec::new(),
            properties: SmallVec::new(),
            attributes: Dictionary::default(),
            regions: SmallVec::new(),
            successors: Vec::new(),
            loc,
        }
    }
}

/// An op in the arena.
#[derive(Clone)]
struct OperationData {
    template: Template,
    operands: OperandValues,
    first_result: u32,
    num_results: u32,
    rare: Option<Box<Rare>>,
    loc: Loc,
    place: layout::OpPlace,
}

/// Parts that most ops do not have, allocated separately.
#[derive(Clone, Default)]
struct Rare {
    regions: SmallVec<[RegionId; 1]>,
    successors: Vec<BlockId>,
}

impl OperationData {
    fn regions(&self) -> &[RegionId] {
        self.rare.as_ref().map_or(&[], |rare| &rare.regions)
    }

    fn successors(&self) -> &[BlockId] {
        self.rare.as_ref().map_or(&[], |rare| &rare.successors)
    }

    fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }
}

#[derive(Clone, Default)]
struct BlockData {
    arguments: Vec<Value>,
    argument_locs: Vec<Loc>,
    ops: layout::OpList,
    parent: Option<RegionId>,
}

#[derive(Clone, Default)]
struct RegionData {
    blocks: Vec<BlockId>,
    parent: Option<OpId>,
}

#[derive(Clone)]
struct ValueData {
    ty: Type,
    def: ValueDef,
}

/// The definition of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueDef {
    /// Result `index` of `op`.
    Result {
        /// The op.
        op: OpId,
        /// The result number.
        index: u32,
    },
    /// Argument `index` of `block`.
    Argument {
        /// The block.
        block: BlockId,
        /// The argument number.
        index: u32,
    },
}

/// Construction and modification.
impl Module {
    /// An empty `builtin.module`.
    pub fn new(registry: &'static Registry) -> Module {
        let mut module = Module {
            registry,
            ops: Vec::new(),
            blocks: Vec::new(),
            regions: Vec::new(),
            values: Vec::new(),
            top: OpId::new(0),
            erased: 0,
            source: None,
            locations: None,
            uses: None,
            use_orders: Default::default(),
            bare_templates: Default::default(),
            symbols: OnceLock::new(),
            external_resources: Vec::new(),
        };
        let body = module.create_region();
        module.create_block(body);
        let mut parts =
            OpParts::new(OpName::Registered(crate::builtin::ModuleOp::DEF), Loc::Unknown);
        parts.regions.push(body);
        module.top = module.create_op(parts);
        module
    }

    /// Reserves space for about this many ops with one result. The amount is limited, as sizes in
    /// files are not trusted.
    pub(crate) fn reserve(&mut self, ops: usize) {
        const MAX: usize = 1 << 16;
        let ops = ops.min(MAX);
        self.ops.reserve(ops);
        self.values.reserve(ops);
    }

    /// Makes a detached op the top-level operation.
    pub fn set_top(&mut self, op: OpId) {
        self.top = op;
        self.symbols = OnceLock::new();
    }

    /// Sets the text that this module was parsed from.
    pub fn set_source(&mut self, source: Arc<Source>) {
        self.source = Some(source);
    }

    /// The external resources of the text that this module was parsed from, in order.
    pub fn external_resources(&self) -> &[ExternalResource] {
        &self.external_resources
    }

    /// Adds an external resource. Resources of an owner print together if they are added together.
    pub fn add_external_resource(&mut self, resource: ExternalResource) {
        self.external_resources.push(resource);
    }

    /// Sets the table in which [`Loc::Bytecode`] is looked up.
    pub(crate) fn set_locations(&mut self, locations: impl LocationTable + 'static) {
        self.locations = Some(Arc::new(locations));
    }

    /// The id of the next created op.
    pub(crate) fn next_op(&self) -> OpId {
        OpId::new(self.ops.len())
    }

    /// Creates a detached op.
    pub fn create_op(&mut self, parts: OpParts) -> OpId {
        let OpParts { name, operands, result_types, properties, attributes, .. } = parts;
        let template = self.template(name, properties, attributes);
        let op = self.create_from(template, operands, result_types, parts.loc);
        self.set_regions_and_successors(op, parts.regions, parts.successors);
        op
    }

    /// Gives a new op regions, each not attached to another op, and successors.
    pub(crate) fn set_regions_and_successors(
        &mut self,
        op: OpId,
        regions: SmallVec<[RegionId; 1]>,
        successors: Vec<BlockId>,
    ) {
        for &region in &regions {
            self.regions[region.index()].parent = Some(op);
        }
        if !regions.is_empty() || !successors.is_empty() {
            self.ops[op.index()].rare = Some(Box::new(Rare { regions, successors }));
        }
    }

    /// Makes an op without regions and successors that stands in no block yet.
    pub fn create_from(
        &mut self,
        template: Template,
        operands: OperandValues,
        result_types: ResultTypes,
        loc: Loc,
    ) -> OpId {
        let id = OpId::new(self.ops.len());
        let first_result = self.values.len() as u32;
        let num_results = result_types.len() as u32;
        for (index, ty) in (0..).zip(result_types) {
            self.values.push(ValueData { ty, def: ValueDef::Result { op: id, index } });
        }
        self.ops.push(OperationData {
            template,
            operands,
            first_result,
            num_results,
            rare: None,
            loc,
            place: Default::default(),
        });
        self.note_operands(id);
        id
    }

    /// Adds results to an op that has none.
    pub fn add_results(&mut self, op: OpId, types: impl IntoIterator<Item = Type>) {
        assert_eq!(self.ops[op.index()].num_results, 0, "results are added once");
        let first = self.values.len() as u32;
        for (index, ty) in types.into_iter().enumerate() {
            self.values.push(ValueData { ty, def: ValueDef::Result { op, index: index as u32 } });
        }
        let data = &mut self.ops[op.index()];
        data.first_result = first;
        data.num_results = self.values.len() as u32 - first;
    }

    /// Creates a detached region.
    pub fn create_region(&mut self) -> RegionId {
        self.regions.push(RegionData::default());
        RegionId::new(self.regions.len() - 1)
    }

    /// Creates an empty block at the end of `region`.
    pub fn create_block(&mut self, region: RegionId) -> BlockId {
        let id = self.create_detached_block();
        self.attach_block(region, id);
        id
    }

    /// Creates a detached block.
    pub fn create_detached_block(&mut self) -> BlockId {
        self.blocks.push(BlockData::default());
        BlockId::new(self.blocks.len() - 1)
    }

    /// Appends a detached block to `region`.
    pub fn attach_block(&mut self, region: RegionId, block: BlockId) {
        self.blocks[block.index()].parent = Some(region);
        self.regions[region.index()].blocks.push(block);
    }

    /// Adds an argument to `block`.
    pub fn add_argument(&mut self, block: BlockId, ty: Type, loc: Loc) -> Value {
        let value = Value::new(self.values.len());
        let data = &mut self.blocks[block.index()];
        let index = data.arguments.len() as u32;
        data.arguments.push(value);
        data.argument_locs.push(loc);
        self.values.push(ValueData { ty, def: ValueDef::Argument { block, index } });
        value
    }

    /// Reserves space for additional arguments.
    pub(crate) fn reserve_arguments(&mut self, block: BlockId, arguments: usize) {
        let data = &mut self.blocks[block.index()];
        data.arguments.reserve_exact(arguments);
        data.argument_locs.reserve_exact(arguments);
    }

    /// Sets or removes an inherent attribute by slot.
    pub fn set_property(&mut self, op: OpId, slot: usize, value: Option<Attribute>) {
        self.ops[op.index()].template.make_mut().properties[slot] = value;
    }

    /// Sets an attribute by name: inherent if the declaration has one of that name.
    pub fn set_attr(&mut self, op: OpId, name: &str, value: Attribute) {
        let slot = match self.op(op).op_name() {
            OpName::Registered(def) => def.attribute_index(name),
            OpName::Unregistered(_) => None,
        };
        match slot {
            Some(slot) => self.set_property(op, slot, Some(value)),
            None => self.ops[op.index()].template.make_mut().attributes.set(name, value),
        }
    }

    /// Removes an attribute by name.
    pub fn remove_attr(&mut self, op: OpId, name: &str) -> Option<Attribute> {
        self.op(op).attr(name)?;
        let slot = self.op(op).def().and_then(|def| def.attribute_index(name));
        let contents = self.ops[op.index()].template.make_mut();
        match slot {
            Some(slot) => contents.properties[slot].take(),
            None => contents.attributes.remove(name),
        }
    }

    /// Sets the location of an op.
    pub fn set_loc(&mut self, op: OpId, loc: Loc) {
        self.ops[op.index()].loc = loc;
    }

    /// Sets the location of a block argument.
    pub fn set_argument_loc(&mut self, block: BlockId, index: usize, loc: Loc) {
        self.blocks[block.index()].argument_locs[index] = loc;
    }

    /// Changes the type of a value.
    pub fn set_type(&mut self, value: Value, ty: Type) {
        self.values[value.index()].ty = ty;
    }
}

/// Queries.
impl Module {
    /// The registered dialects.
    pub fn registry(&self) -> &'static Registry {
        self.registry
    }

    /// The text that this module was parsed from.
    pub fn source(&self) -> Option<&Arc<Source>> {
        self.source.as_ref()
    }

    /// The top-level operation.
    pub fn top(&self) -> OpRef<'_> {
        self.op(self.top)
    }

    /// Looks up a symbol in the body of the top op through the cache. The op may have been renamed
    /// or erased since, and newer ones are missing.
    fn symbol_at_top(&self, name: &str) -> Option<OpRef<'_>> {
        let symbols = self.symbols.get_or_init(|| {
            let body = self.top().regions().first().and_then(|&region| self.entry(region));
            let named = |op: OpRef<'_>| Some((Box::from(op.symbol_name()?), op.id()));
            // The first definition takes precedence.
            body.into_iter().flat_map(|block| self.ops(block)).rev().filter_map(named).collect()
        });
        symbols.get(name).map(|&op| self.op(op))
    }

    /// A view of an op.
    pub fn op(&self, id: OpId) -> OpRef<'_> {
        OpRef::new(self, id)
    }

    /// Number of ops ever created, and bound on their ids.
    pub fn num_ops(&self) -> usize {
        self.ops.len()
    }

    /// All ops ever created, including erased and detached ones.
    pub(crate) fn all_ops(&self) -> impl Iterator<Item = OpRef<'_>> {
        (0..self.ops.len()).map(|i| self.op(OpId::new(i)))
    }

    /// Number of values ever created, and bound on their ids.
    pub fn num_values(&self) -> usize {
        self.values.len()
    }

    /// Number of blocks ever created, and bound on their ids.
    pub fn num_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Number of regions ever created, and bound on their ids.
    pub fn num_regions(&self) -> usize {
        self.regions.len()
    }

    /// Type of a value.
    pub fn ty(&self, value: Value) -> &Type {
        &self.values[value.index()].ty
    }

    /// The definition of a value.
    pub fn definition(&self, value: Value) -> ValueDef {
        self.values[value.index()].def
    }

    /// The op that defines a value; `None` for a block argument.
    pub fn defining_op(&self, value: Value) -> Option<OpRef<'_>> {
        match self.definition(value) {
            ValueDef::Result { op, .. } => Some(self.op(op)),
            ValueDef::Argument { .. } => None,
        }
    }

    /// The blocks of a region, entry block first.
    pub fn blocks(&self, region: RegionId) -> &[BlockId] {
        &self.regions[region.index()].blocks
    }

    /// The entry block of a region.
    pub fn entry(&self, region: RegionId) -> Option<BlockId> {
        self.blocks(region).first().copied()
    }

    /// The parent op of a region.
    pub fn region_parent(&self, region: RegionId) -> Option<OpId> {
        self.regions[region.index()].parent
    }

    /// Arguments of a block.
    pub fn arguments(&self, block: BlockId) -> &[Value] {
        &self.blocks[block.index()].arguments
    }

    /// Locations of the arguments of a block.
    pub fn argument_locs(&self, block: BlockId) -> &[Loc] {
        &self.blocks[block.index()].argument_locs
    }

    /// The parent region of a block.
    pub fn block_parent(&self, block: BlockId) -> Option<RegionId> {
        self.blocks[block.index()].parent
    }

    /// The location attribute for `loc`.
    pub fn location(&self, loc: &Loc) -> Attribute {
        let known = match loc {
            Loc::Unknown => None,
            Loc::Source(span) => self.source.as_ref().map(|source| source.location(span.start)),
            Loc::Explicit(attr, _) => Some(attr.clone()),
            Loc::Bytecode(number) => {
                self.locations.as_ref().and_then(|known| known.get(*number)).cloned()
            }
        };
        known.unwrap_or_else(Attribute::unknown_location)
    }

    /// The position of a diagnostic at `loc`.
    pub fn position(&self, loc: &Loc) -> Position {
        match loc {
            Loc::Unknown => Position::None,
            Loc::Source(span) => Position::Span(*span),
            Loc::Explicit(..) | Loc::Bytecode(_) => {
                let location = self.location(loc);
                match (location.as_location(), loc) {
                    (Some(LocationKind::Unknown), Loc::Explicit(_, Some(span))) => {
                        Position::Span(*span)
                    }
                    (Some(LocationKind::Unknown), _) => Position::None,
                    (_, Loc::Explicit(_, Some(span))) => Position::Made(*span, location),
                    _ => Position::Location(location),
                }
            }
        }
    }

    /// Pre-order walk of `op` and all nested ops.
    pub fn walk(&self, op: OpId) -> OpWalk<'_> {
        OpWalk { module: self, root: op, next: Some(op), stack: Vec::new() }
    }

    /// The first op of each block of an op, last block first.
    fn first_ops_within(&self, op: OpId) -> impl Iterator<Item = OpId> {
        let blocks = self.op(op).regions().iter().rev().flat_map(|&r| self.blocks(r).iter().rev());
        blocks.filter_map(|&block| self.first_op(block)).map(OpRef::id)
    }

    /// Post-order list of `root` and all nested ops.
    pub fn post_order(&self, root: OpId) -> Vec<OpId> {
        let mut order = Vec::new();
        // Each op is visited twice: before and after its nested ops.
        let mut stack = vec![(root, false)];
        while let Some((op, entered)) = stack.pop() {
            if entered {
                order.push(op);
                let next = self.op(op).next_in_block().filter(|_| op != root);
                stack.extend(next.map(|next| (next.id(), false)));
            } else {
                stack.push((op, true));
                stack.extend(self.first_ops_within(op).map(|op| (op, false)));
            }
        }
        order
    }
}

/// Pre-order iterator over ops.
pub struct OpWalk<'m> {
    module: &'m Module,
    root: OpId,
    /// The next op of the innermost open block.
    next: Option<OpId>,
    /// The next op of each block around it, innermost last.
    stack: Vec<OpId>,
}

impl<'m> Iterator for OpWalk<'m> {
    type Item = OpRef<'m>;

    fn next(&mut self) -> Option<OpRef<'m>> {
        let op = self.module.op(self.next.take().or_else(|| self.stack.pop())?);
        if op.id() != self.root {
            self.next = op.next_in_block().map(OpRef::id);
        }
        if !op.regions().is_empty() {
            self.stack.extend(self.next.take());
            self.stack.extend(self.module.first_ops_within(op.id()));
        }
        Some(op)
    }
}
