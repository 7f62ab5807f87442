//! Numbers of all entities that ops refer to: frequently used ones get small numbers with short
//! encodings.
//!
//! The order is upstream's: by number of uses, then by dialect within each group of numbers of
//! equal encoded length.

use super::encoding::{EncodingPass, EntryWriter};
use super::properties::{self, PropertyOrders};
use super::{DialectBytecode, version};
use crate::attrs::{AttrKind, Attribute, Dictionary, Name, Resource};
use crate::ir::{BlockId, Loc, Module, OpId, OpName, OpRef, RegionId, Template};
use crate::ods::{Registry, Trait};
use crate::types::{Type, TypeKind};
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// The strings of a file in order of first use.
#[derive(Default)]
pub(super) struct Strings {
    numbers: FxHashMap<Box<[u8]>, u64>,
    pub(super) order: Vec<Box<[u8]>>,
}

impl Strings {
    /// The number of a string.
    pub(super) fn number(&mut self, string: &[u8]) -> u64 {
        if let Some(&number) = self.numbers.get(string) {
            return number;
        }
        let number = self.order.len() as u64;
        self.numbers.insert(string.into(), number);
        self.order.push(string.into());
        number
    }
}

/// A dialect that is referenced.
pub(super) struct NumberedDialect {
    pub(super) name: String,
    pub(super) bytecode: Option<&'static DialectBytecode>,
}

/// An attribute, type or op name.
struct NumberedEntry<T> {
    value: T,
    dialect: usize,
    uses: u32,
}

/// Entries in the order of first use and, once sorted, their numbers.
struct NumberTable<T> {
    index: FxHashMap<T, usize>,
    entries: Vec<NumberedEntry<T>>,
    /// Entries by number.
    order: Vec<usize>,
    /// Numbers of the entries.
    numbers: Vec<u64>,
}

impl<T: Clone + Eq + Hash> NumberTable<T> {
    fn new() -> NumberTable<T> {
        NumberTable {
            index: FxHashMap::default(),
            entries: Vec::new(),
            order: Vec::new(),
            numbers: Vec::new(),
        }
    }

    /// Counts a use; returns the index of the entry, and true if it is new.
    fn add(&mut self, value: &T) -> (usize, bool) {
        if let Some(&i) = self.index.get(value) {
            self.entries[i].uses += 1;
            return (i, false);
        }
        let i = self.entries.len();
        self.index.insert(value.clone(), i);
        self.entries.push(NumberedEntry { value: value.clone(), dialect: 0, uses: 1 });
        (i, true)
    }

    fn sort(&mut self) {
        let entries = &self.entries;
        self.order = (0..entries.len()).collect();
        self.order.sort_by_key(|&i| std::cmp::Reverse(entries[i].uses));
        let mut rest = &mut self.order[..];
        let (mut first_dialect, mut previous) = (0, 0);
        // One group per encoded length: sorted by dialect, starting with the last one of the
        // previous group.
        for bytes in 1..9 {
            let size = (1usize << (7 * bytes)) - previous;
            previous = size;
            let (group, after) = rest.split_at_mut(size.min(rest.len()));
            group.sort_by_key(|&i| (entries[i].dialect != first_dialect, entries[i].dialect));
            let Some(&last) = group.last() else { break };
            first_dialect = entries[last].dialect;
            rest = after;
        }
        self.numbers = vec![0; entries.len()];
        for (number, &i) in self.order.iter().enumerate() {
            self.numbers[i] = number as u64;
        }
    }

    /// Dialects and entries by number, for each run of entries of one dialect.
    fn groups(&self) -> impl Iterator<Item = (usize, impl ExactSizeIterator<Item = &T>)> {
        let groups =
            self.order.chunk_by(|&a, &b| self.entries[a].dialect == self.entries[b].dialect);
        groups.map(|group| {
            (self.entries[group[0]].dialect, group.iter().map(|&i| &self.entries[i].value))
        })
    }

    fn number(&self, value: &T) -> u64 {
        // The first pass visits everything that the second one writes.
        self.index.get(value).map_or(0, |&i| self.numbers[i])
    }
}

/// The entities that an op refers to, as indices of entries.
#[derive(Clone, Copy, Default)]
struct OpEntries {
    name: usize,
    location: usize,
    attributes: Option<usize>,
    isolated: bool,
}

/// The entities that ops of one template refer to, as indices of entries.
struct TemplateEntries {
    name: usize,
    /// Its dictionary.
    attributes: Option<usize>,
    /// Its properties.
    properties: Vec<usize>,
}

/// The numbers of all entities of a module.
pub(super) struct Numbering {
    registry: &'static Registry,
    version: u64,
    pub(super) dialects: Vec<NumberedDialect>,
    attributes: NumberTable<Attribute>,
    types: NumberTable<Type>,
    op_names: NumberTable<String>,
    names: FxHashMap<Name, Attribute>,
    pub(super) resources: Vec<Resource>,
    ops: Vec<OpEntries>,
    templates: FxHashMap<Template, TemplateEntries>,
    /// Entries of locations of the bytecode that the module was read from.
    locations: FxHashMap<u32, usize>,
    /// Entries of attributes that are added, but for those within others.
    added: Vec<usize>,
    /// Number of attributes and types around the one that is added.
    depth: usize,
    values: Vec<u32>,
    argument_locations: FxHashMap<(BlockId, usize), usize>,
    region_values: FxHashMap<RegionId, u32>,
    next_value: u32,
    pub(super) property_orders: PropertyOrders,
}

impl Numbering {
    /// Numbers all entities of `module` for a version of the format.
    pub(super) fn new(module: &Module, version: u64) -> Numbering {
        let mut numbering = Numbering {
            registry: module.registry(),
            version,
            dialects: Vec::new(),
            attributes: NumberTable::new(),
            types: NumberTable::new(),
            op_names: NumberTable::new(),
            names: FxHashMap::default(),
            resources: Vec::new(),
            ops: vec![OpEntries::default(); module.num_ops()],
            templates: FxHashMap::default(),
            locations: FxHashMap::default(),
            added: Vec::new(),
            depth: 0,
            values: vec![0; module.num_values()],
            argument_locations: FxHashMap::default(),
            region_values: FxHashMap::default(),
            next_value: 0,
            property_orders: PropertyOrders::default(),
        };
        numbering.find_isolated(module);
        let top = module.top();
        numbering.op(top);
        let mut regions = Vec::new();
        numbering.push_regions(top, &mut regions);
        while let Some((region, first_value)) = regions.pop() {
            numbering.next_value = first_value;
            numbering.region(module, region);
            for &block in module.blocks(region) {
                for op in module.ops(block) {
                    numbering.push_regions(op, &mut regions);
                }
            }
        }
        numbering.attributes.sort();
        numbering.types.sort();
        numbering.op_names.sort();
        // Resources without contents come last.
        numbering.resources.sort_by_key(|r| r.blob().is_none());
        numbering
    }

    /// Finds isolated ops: no op nested in them uses a value from outside.
    fn find_isolated(&mut self, module: &Module) {
        for op in module.walk(module.top().id()) {
            self.ops[op.id().index()].isolated = !op.regions().is_empty();
        }
        for op in module.walk(module.top().id()) {
            let Some(region) = op.block().and_then(|b| module.block_parent(b)) else { continue };
            for &operand in op.operands() {
                let block = match module.definition(operand) {
                    crate::ir::ValueDef::Argument { block, .. } => Some(block),
                    crate::ir::ValueDef::Result { op, .. } => module.op(op).block(),
                };
                let home = block.and_then(|b| module.block_parent(b));
                let mut current = Some(region);
                while current != home
                    && let Some(owner) = current.and_then(|r| module.region_parent(r))
                    && !module.op(owner).has_trait(&Trait::IsolatedFromAbove)
                {
                    self.ops[owner.index()].isolated = false;
                    current = module.op(owner).block().and_then(|b| module.block_parent(b));
                }
            }
        }
    }

    fn push_regions(&self, op: OpRef<'_>, regions: &mut Vec<(RegionId, u32)>) {
        let first_value = if self.is_isolated(op.id()) { 0 } else { self.next_value };
        regions.extend(op.regions().iter().map(|&r| (r, first_value)));
    }

    fn region(&mut self, module: &Module, region: RegionId) {
        let first = self.next_value;
        for &block in module.blocks(region) {
            let arguments = module.arguments(block).iter().zip(module.argument_locs(block));
            for (i, (&argument, loc)) in arguments.enumerate() {
                self.values[argument.index()] = self.next_value;
                self.next_value += 1;
                let location = self.add_attribute(&module.location(loc));
                self.argument_locations.insert((block, i), location);
                self.ty(module.ty(argument));
            }
            for op in module.ops(block) {
                self.op(op);
            }
        }
        self.region_values.insert(region, self.next_value - first);
    }

    fn op(&mut self, op: OpRef<'_>) {
        // Results come between its name and its attributes.
        let name = match self.templates.get(op.template()) {
            Some(known) => {
                self.op_names.entries[known.name].uses += 1;
                known.name
            }
            None => self.op_name(op.name()),
        };
        for result in op.results() {
            self.values[result.index()] = self.next_value;
            self.next_value += 1;
            self.ty(op.module().ty(result));
        }
        let attributes = match self.templates.get(op.template()) {
            Some(known) => {
                for &entry in known.attributes.iter().chain(&known.properties) {
                    self.attributes.entries[entry].uses += 1;
                }
                known.attributes
            }
            None => {
                let entries = self.template(op, name);
                let attributes = entries.attributes;
                self.templates.insert(op.template().clone(), entries);
                attributes
            }
        };
        let location = self.location(op);
        let isolated = self.is_isolated(op.id());
        self.ops[op.id().index()] = OpEntries { name, location, attributes, isolated };
    }

    fn op_name(&mut self, name: &str) -> usize {
        let (entry, is_new) = self.op_names.add(&name.to_string());
        if is_new {
            let namespace = name.split_once('.').map_or(name, |(n, _)| n);
            self.op_names.entries[entry].dialect = self.dialect(namespace);
        }
        entry
    }

    /// Adds the attributes of an op whose template is new.
    fn template(&mut self, op: OpRef<'_>, name: usize) -> TemplateEntries {
        let attributes = dictionary(op, self.version).map(|d| self.add_attribute(&d));
        self.added.clear();
        if self.version >= version::PROPERTIES {
            match op.op_name() {
                OpName::Registered(def) => {
                    let order = self.property_orders.of(def);
                    properties::write(
                        op,
                        &order,
                        &mut EntryWriter {
                            version: self.version,
                            pass: EncodingPass::Number(self),
                        },
                    );
                }
                OpName::Unregistered(_) => {
                    op.properties().iter().flatten().for_each(|p| self.attribute(p))
                }
            }
        }
        TemplateEntries { name, attributes, properties: std::mem::take(&mut self.added) }
    }

    fn location(&mut self, op: OpRef<'_>) -> usize {
        let Loc::Bytecode(number) = *op.loc() else { return self.add_attribute(&op.location()) };
        if let Some(&entry) = self.locations.get(&number) {
            self.attributes.entries[entry].uses += 1;
            return entry;
        }
        let entry = self.add_attribute(&op.location());
        self.locations.insert(number, entry);
        entry
    }

    pub(super) fn attribute(&mut self, attribute: &Attribute) {
        let entry = self.add_attribute(attribute);
        if self.depth == 0 {
            self.added.push(entry);
        }
    }

    fn add_attribute(&mut self, attribute: &Attribute) -> usize {
        let (i, is_new) = self.attributes.add(attribute);
        if is_new {
            let namespace = match &**attribute {
                AttrKind::Dialect(a) => a.def.dialect,
                AttrKind::Enum(e) => e.def.dialect,
                AttrKind::Opaque { dialect, .. } => dialect,
                _ => "builtin",
            };
            let dialect = self.dialect(namespace);
            self.attributes.entries[i].dialect = dialect;
            if let Some(bytecode) = self.dialects[dialect].bytecode {
                self.depth += 1;
                bytecode.write_attribute(
                    attribute,
                    &mut EntryWriter { version: self.version, pass: EncodingPass::Number(self) },
                );
                self.depth -= 1;
            }
        }
        i
    }

    pub(super) fn ty(&mut self, ty: &Type) {
        let (i, is_new) = self.types.add(ty);
        if is_new {
            let namespace = match &**ty {
                TypeKind::Dialect(t) => t.def.dialect,
                TypeKind::Opaque { dialect, .. } => dialect,
                _ => "builtin",
            };
            let dialect = self.dialect(namespace);
            self.types.entries[i].dialect = dialect;
            if let Some(bytecode) = self.dialects[dialect].bytecode {
                self.depth += 1;
                bytecode.write_type(
                    ty,
                    &mut EntryWriter { version: self.version, pass: EncodingPass::Number(self) },
                );
                self.depth -= 1;
            }
        }
    }

    pub(super) fn name(&mut self, name: &Name) {
        let attribute =
            self.names.entry(name.clone()).or_insert_with(|| Attribute::string(&**name)).clone();
        self.attribute(&attribute);
    }

    pub(super) fn resource(&mut self, resource: &Resource) {
        self.dialect("builtin");
        if !self.resources.contains(resource) {
            self.resources.push(resource.clone());
        }
    }

    fn dialect(&mut self, namespace: &str) -> usize {
        match self.dialects.iter().position(|d| d.name == namespace) {
            Some(i) => i,
            None => {
                let bytecode = self.registry.dialect(namespace).and_then(|d| d.bytecode);
                self.dialects.push(NumberedDialect { name: namespace.to_string(), bytecode });
                self.dialects.len() - 1
            }
        }
    }
}

/// Lookup of numbers.
impl Numbering {
    pub(super) fn attribute_number(&self, attribute: &Attribute) -> u64 {
        self.attributes.number(attribute)
    }

    pub(super) fn type_number(&self, ty: &Type) -> u64 {
        self.types.number(ty)
    }

    pub(super) fn name_number(&self, name: &Name) -> u64 {
        self.names.get(name).map_or(0, |a| self.attributes.number(a))
    }

    pub(super) fn resource_number(&self, resource: &Resource) -> u64 {
        self.resources.iter().position(|r| r == resource).unwrap_or(0) as u64
    }

    pub(super) fn value_number(&self, value: crate::ir::Value) -> u64 {
        u64::from(self.values[value.index()])
    }

    pub(super) fn op_name_number(&self, op: OpId) -> u64 {
        self.op_names.numbers[self.ops[op.index()].name]
    }

    pub(super) fn location_number(&self, op: OpId) -> u64 {
        self.attributes.numbers[self.ops[op.index()].location]
    }

    pub(super) fn argument_location_number(&self, block: BlockId, index: usize) -> u64 {
        self.argument_locations.get(&(block, index)).map_or(0, |&i| self.attributes.numbers[i])
    }

    /// The number of an op's dictionary, unless that is empty.
    pub(super) fn dictionary_number(&self, op: OpId) -> Option<u64> {
        self.ops[op.index()].attributes.map(|i| self.attributes.numbers[i])
    }

    pub(super) fn is_isolated(&self, op: OpId) -> bool {
        self.ops[op.index()].isolated
    }

    /// Number of values that the blocks of a region define.
    pub(super) fn num_values(&self, region: RegionId) -> u64 {
        self.region_values.get(&region).map_or(0, |&n| u64::from(n))
    }

    pub(super) fn num_attributes(&self) -> usize {
        self.attributes.entries.len()
    }

    pub(super) fn num_types(&self) -> usize {
        self.types.entries.len()
    }

    pub(super) fn num_op_names(&self) -> usize {
        self.op_names.entries.len()
    }

    pub(super) fn attribute_groups(
        &self,
    ) -> impl Iterator<Item = (usize, impl ExactSizeIterator<Item = &Attribute>)> {
        self.attributes.groups()
    }

    pub(super) fn type_groups(
        &self,
    ) -> impl Iterator<Item = (usize, impl ExactSizeIterator<Item = &Type>)> {
        self.types.groups()
    }

    pub(super) fn op_name_groups(
        &self,
    ) -> impl Iterator<Item = (usize, impl ExactSizeIterator<Item = &String>)> {
        self.op_names.groups()
    }
}

/// The dictionary of an op: in old versions it includes the inherent attributes. `None` if empty.
fn dictionary(op: OpRef<'_>, version: u64) -> Option<Attribute> {
    let mut all: Dictionary = op.attributes().clone();
    if version < version::PROPERTIES
        && let OpName::Registered(def) = op.op_name()
    {
        for (slot, value) in def.attributes.iter().zip(op.properties()) {
            if let Some(value) = value {
                all.set(slot.name, value.clone());
            }
        }
    }
    (!all.is_empty()).then(|| all.into())
}
