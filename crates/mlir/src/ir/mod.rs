//! The IR: operations, blocks, regions and values in one arena, named by ids.
//!
//! A [`Module`] owns everything. [`OpRef`] is a view of one op for reading; changes go through
//! methods of `Module`, so that nothing needs lifetimes or, but for what is remembered of symbols,
//! interior mutability in the data.

mod clone;
mod edit;
mod layout;
mod op_ref;
mod uses;

pub use layout::Ops;
pub use op_ref::OpRef;

use crate::attrs::{Attribute, Dictionary, LocationKind, Name};
use crate::bytecode::Locations;
use crate::diag::{Position, Source, Span};
use crate::ods::{OpDef, Registry};
use crate::types::Type;
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

            /// Position in the arena.
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

/// A top-level operation with everything in it, its dialects and its source text.
#[derive(Clone)]
pub struct Module {
    registry: &'static Registry,
    ops: Vec<Operation>,
    blocks: Vec<Block>,
    regions: Vec<Region>,
    values: Vec<ValueData>,
    top: OpId,
    source: Option<Arc<Source>>,
    locations: Option<Arc<Locations>>,
    uses: Option<uses::Uses>,
    use_orders: uses::UseOrders,
    /// The ops in the body of the top one by the symbols that they defined when one was first
    /// looked up: where to look first.
    symbols: OnceLock<HashMap<Box<str>, OpId>>,
}

/// The name of an op: its declaration, or text for an op of an unregistered dialect.
#[derive(Clone)]
pub enum OpName {
    /// A declared op.
    Registered(&'static OpDef),
    /// Any other.
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

/// Where an op or block argument comes from.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Loc {
    /// Unknown.
    #[default]
    Unknown,
    /// The place in the source text where it was parsed; prints as `loc("file":line:column)`.
    Source(Span),
    /// An explicit location attribute, and the place in the source text if it was parsed.
    Explicit(Attribute, Option<Span>),
    /// The attribute of that number in the bytecode that the module was read from.
    Bytecode(u32),
}

/// The operands of an op; most need no allocation.
pub type OperandValues = SmallVec<[Value; 4]>;

/// The types of the results of an op; most need no allocation.
pub type ResultTypes = SmallVec<[Type; 1]>;

/// Inherent attributes by slot; most need no allocation.
pub type Properties = SmallVec<[Option<Attribute>; 3]>;

/// What is needed to make an op.
pub struct OpParts {
    /// Its name.
    pub name: OpName,
    /// Operands in order.
    pub operands: OperandValues,
    /// Result types in order.
    pub result_types: ResultTypes,
    /// Inherent attributes, one entry a slot of the declaration; empty means that all are absent.
    /// An op without a declaration has at most one entry: what was written as its properties,
    /// usually a dictionary.
    pub properties: Properties,
    /// Other attributes.
    pub attributes: Dictionary,
    /// Regions, each not attached to another op.
    pub regions: SmallVec<[RegionId; 1]>,
    /// Successor blocks.
    pub successors: Vec<BlockId>,
    /// Location.
    pub loc: Loc,
}

impl OpParts {
    /// An op of that name with nothing else.
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

/// One op in the arena.
#[derive(Clone)]
struct Operation {
    name: OpName,
    operands: OperandValues,
    first_result: u32,
    num_results: u32,
    properties: Properties,
    rare: Option<Box<Rare>>,
    loc: Loc,
    place: layout::Place,
}

/// What most ops have nothing of.
#[derive(Clone, Default)]
struct Rare {
    attributes: Dictionary,
    regions: SmallVec<[RegionId; 1]>,
    successors: Vec<BlockId>,
}

impl Operation {
    fn attributes(&self) -> &Dictionary {
        static NONE: Dictionary = Dictionary::EMPTY;
        self.rare.as_ref().map_or(&NONE, |rare| &rare.attributes)
    }

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
struct Block {
    arguments: Vec<Value>,
    argument_locs: Vec<Loc>,
    ops: layout::OpList,
    parent: Option<RegionId>,
}

#[derive(Clone, Default)]
struct Region {
    blocks: Vec<BlockId>,
    parent: Option<OpId>,
}

#[derive(Clone)]
struct ValueData {
    ty: Type,
    def: ValueDef,
}

/// What defines a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueDef {
    /// Result `index` of `op`.
    Result {
        /// The op.
        op: OpId,
        /// Which result.
        index: u32,
    },
    /// Argument `index` of `block`.
    Argument {
        /// The block.
        block: BlockId,
        /// Which argument.
        index: u32,
    },
}

/// Construction and change.
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
            source: None,
            locations: None,
            uses: None,
            use_orders: Default::default(),
            symbols: OnceLock::new(),
        };
        let body = module.create_region();
        module.create_block(body);
        let mut parts =
            OpParts::new(OpName::Registered(crate::builtin::ModuleOp::DEF), Loc::Unknown);
        parts.regions.push(body);
        module.top = module.create_op(parts);
        module
    }

    /// Makes room for about that many ops of one result. What sizes of files announce is not worth
    /// more than some memory.
    pub(crate) fn reserve(&mut self, ops: usize) {
        const MAX: usize = 1 << 16;
        let ops = ops.min(MAX);
        self.ops.reserve(ops);
        self.values.reserve(ops);
    }

    /// Makes `op`, which stands in no block, the top-level operation.
    pub fn set_top(&mut self, op: OpId) {
        self.top = op;
        self.symbols = OnceLock::new();
    }

    /// Remembers the text that this module was parsed from.
    pub fn set_source(&mut self, source: Arc<Source>) {
        self.source = Some(source);
    }

    /// Remembers the bytecode that this module was read from, where ops have their locations.
    pub(crate) fn set_locations(&mut self, locations: Locations) {
        self.locations = Some(Arc::new(locations));
    }

    /// The op that will be made next.
    pub(crate) fn next_op(&self) -> OpId {
        OpId::new(self.ops.len())
    }

    /// Makes an op that stands in no block yet.
    pub fn create_op(&mut self, parts: OpParts) -> OpId {
        let id = OpId::new(self.ops.len());
        let first_result = self.values.len() as u32;
        let num_results = parts.result_types.len() as u32;
        for (index, ty) in parts.result_types.into_iter().enumerate() {
            self.values
                .push(ValueData { ty, def: ValueDef::Result { op: id, index: index as u32 } });
        }
        for &region in &parts.regions {
            self.regions[region.index()].parent = Some(id);
        }
        let mut properties = parts.properties;
        if let OpName::Registered(def) = &parts.name {
            properties.resize(def.attributes.len(), None);
        }
        let OpParts { attributes, regions, successors, .. } = parts;
        let has_rare = !attributes.is_empty() || !regions.is_empty() || !successors.is_empty();
        self.ops.push(Operation {
            name: parts.name,
            operands: parts.operands,
            first_result,
            num_results,
            properties,
            rare: has_rare.then(|| Box::new(Rare { attributes, regions, successors })),
            loc: parts.loc,
            place: Default::default(),
        });
        if let Some(uses) = &mut self.uses {
            uses.add(id, &self.ops[id.index()].operands);
        }
        id
    }

    /// Makes an op that stands in no block yet and is like `model`, which has neither regions nor
    /// successors, but for operands, types of results and location.
    pub(crate) fn create_like(
        &mut self,
        model: OpId,
        operands: OperandValues,
        result_types: ResultTypes,
        loc: Loc,
    ) -> OpId {
        debug_assert!(self.uses.is_none());
        let id = OpId::new(self.ops.len());
        let first_result = self.values.len() as u32;
        let num_results = result_types.len() as u32;
        for (index, ty) in (0..).zip(result_types) {
            self.values.push(ValueData { ty, def: ValueDef::Result { op: id, index } });
        }
        let Operation { name, properties, rare, .. } = &self.ops[model.index()];
        let (name, properties, rare) = (name.clone(), properties.clone(), rare.clone());
        self.ops.push(Operation {
            name,
            operands,
            first_result,
            num_results,
            properties,
            rare,
            loc,
            place: Default::default(),
        });
        id
    }

    /// Gives an op that has no results yet results of those types.
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

    /// Makes a region that belongs to no op yet.
    pub fn create_region(&mut self) -> RegionId {
        self.regions.push(Region::default());
        RegionId::new(self.regions.len() - 1)
    }

    /// Adds an empty block at the end of `region`.
    pub fn create_block(&mut self, region: RegionId) -> BlockId {
        let id = self.create_detached_block();
        self.attach_block(region, id);
        id
    }

    /// Makes a block that stands in no region yet.
    pub fn create_detached_block(&mut self) -> BlockId {
        self.blocks.push(Block::default());
        BlockId::new(self.blocks.len() - 1)
    }

    /// Adds a block, which stands in no region, at the end of `region`.
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

    /// Makes room for that many arguments more.
    pub(crate) fn reserve_arguments(&mut self, block: BlockId, arguments: usize) {
        let data = &mut self.blocks[block.index()];
        data.arguments.reserve_exact(arguments);
        data.argument_locs.reserve_exact(arguments);
    }

    /// Sets one operand.
    pub fn set_operand(&mut self, op: OpId, index: usize, value: Value) {
        let old = std::mem::replace(&mut self.ops[op.index()].operands[index], value);
        if let Some(uses) = &mut self.uses {
            uses.remove(op, &[old]);
            uses.add(op, &[value]);
        }
    }

    /// Sets all operands.
    pub fn set_operands(&mut self, op: OpId, operands: impl IntoIterator<Item = Value>) {
        let operands = operands.into_iter().collect();
        let old = std::mem::replace(&mut self.ops[op.index()].operands, operands);
        if let Some(uses) = &mut self.uses {
            uses.remove(op, &old);
            uses.add(op, &self.ops[op.index()].operands);
        }
    }

    /// Sets or removes an inherent attribute by slot.
    pub fn set_property(&mut self, op: OpId, slot: usize, value: Option<Attribute>) {
        self.ops[op.index()].properties[slot] = value;
    }

    /// Sets an attribute by name: inherent if the declaration has that name.
    pub fn set_attr(&mut self, op: OpId, name: &str, value: Attribute) {
        let slot = match &self.ops[op.index()].name {
            OpName::Registered(def) => def.attribute_index(name),
            OpName::Unregistered(_) => None,
        };
        match slot {
            Some(slot) => self.set_property(op, slot, Some(value)),
            None => self.ops[op.index()].rare_mut().attributes.set(name, value),
        }
    }

    /// Removes an attribute by name.
    pub fn remove_attr(&mut self, op: OpId, name: &str) -> Option<Attribute> {
        let data = &mut self.ops[op.index()];
        let slot = match &data.name {
            OpName::Registered(def) => def.attribute_index(name),
            OpName::Unregistered(_) => None,
        };
        match slot {
            Some(slot) => data.properties[slot].take(),
            None => data.rare.as_mut()?.attributes.remove(name),
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

/// Reading.
impl Module {
    /// The dialects of this module.
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

    /// The op in the body of the top one that defined the symbol when one was first looked up. It
    /// may no longer do so, and others may have come.
    fn symbol_at_top(&self, name: &str) -> Option<OpRef<'_>> {
        let symbols = self.symbols.get_or_init(|| {
            let body = self.top().regions().first().and_then(|&region| self.entry(region));
            let named = |op: OpRef<'_>| Some((Box::from(op.symbol_name()?), op.id()));
            // The first of several wins.
            body.into_iter().flat_map(|block| self.ops(block)).rev().filter_map(named).collect()
        });
        symbols.get(name).map(|&op| self.op(op))
    }

    /// A view of an op.
    pub fn op(&self, id: OpId) -> OpRef<'_> {
        OpRef::new(self, id)
    }

    /// Number of ops ever made: ids are below it.
    pub fn num_ops(&self) -> usize {
        self.ops.len()
    }

    /// All ops ever made, also those that were taken out.
    pub(crate) fn all_ops(&self) -> impl Iterator<Item = OpRef<'_>> {
        (0..self.ops.len()).map(|i| self.op(OpId::new(i)))
    }

    /// Number of values ever made: ids are below it.
    pub fn num_values(&self) -> usize {
        self.values.len()
    }

    /// Number of blocks ever made: ids are below it.
    pub fn num_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Number of regions ever made: ids are below it.
    pub fn num_regions(&self) -> usize {
        self.regions.len()
    }

    /// Type of a value.
    pub fn ty(&self, value: Value) -> &Type {
        &self.values[value.index()].ty
    }

    /// What defines a value.
    pub fn def(&self, value: Value) -> ValueDef {
        self.values[value.index()].def
    }

    /// The op that a value is a result of.
    pub fn defining_op(&self, value: Value) -> Option<OpRef<'_>> {
        match self.def(value) {
            ValueDef::Result { op, .. } => Some(self.op(op)),
            ValueDef::Argument { .. } => None,
        }
    }

    /// Blocks of a region, the entry first.
    pub fn blocks(&self, region: RegionId) -> &[BlockId] {
        &self.regions[region.index()].blocks
    }

    /// The entry block of a region.
    pub fn entry(&self, region: RegionId) -> Option<BlockId> {
        self.blocks(region).first().copied()
    }

    /// The op that a region belongs to.
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

    /// The region that a block stands in.
    pub fn block_parent(&self, block: BlockId) -> Option<RegionId> {
        self.blocks[block.index()].parent
    }

    /// The location attribute that `loc` stands for.
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

    /// Where a diagnostic about something at `loc` points: at the explicit location if it names a
    /// place, else at the source text.
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
                    _ => Position::Location(location),
                }
            }
        }
    }

    /// All ops below `op`, itself first, parents before children.
    pub fn walk(&self, op: OpId) -> Walk<'_> {
        Walk { module: self, root: op, stack: vec![op] }
    }

    /// The first ops of the blocks of an op, the last block first.
    fn first_ops_within(&self, op: OpId) -> impl Iterator<Item = OpId> {
        let blocks = self.op(op).regions().iter().rev().flat_map(|&r| self.blocks(r).iter().rev());
        blocks.filter_map(|&block| self.first_op(block)).map(OpRef::id)
    }

    /// All ops below `op`, itself last, children before parents, in order.
    pub fn post_order(&self, root: OpId) -> Vec<OpId> {
        let mut order = Vec::new();
        // An op is met twice: before and after what is in it.
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

/// Iterates over ops, parents before children, in order.
pub struct Walk<'m> {
    module: &'m Module,
    root: OpId,
    /// The ops with which to go on in blocks that are open, the innermost last.
    stack: Vec<OpId>,
}

impl<'m> Iterator for Walk<'m> {
    type Item = OpRef<'m>;

    fn next(&mut self) -> Option<OpRef<'m>> {
        let op = self.module.op(self.stack.pop()?);
        let next = op.next_in_block().filter(|_| op.id() != self.root);
        self.stack.extend(next.map(OpRef::id));
        self.stack.extend(self.module.first_ops_within(op.id()));
        Some(op)
    }
}
