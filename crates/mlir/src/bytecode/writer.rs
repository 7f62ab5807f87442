//! Writes a module as bytecode.

use super::emitter::{Emitter, Encoded};
use super::encoding::{EncodingPass, EntryWriter};
use super::numbering::{Numbering, Strings};
use super::use_lists::UseLists;
use super::{MAGIC, SectionId, mask, properties, resources, version};
use crate::attrs::{AttrKind, Attribute, LocationKind};
use crate::diag::Diagnostic;
use crate::ir::{BlockId, Module, OpId, OpName, RegionId, Template};
use rustc_hash::FxHashMap;

/// Options of the bytecode writer.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    /// Version of the format.
    pub version: u64,
    /// The producer string.
    pub producer: String,
    /// Ops created after all others, to replace erased ones; this determines the use-list orders.
    pub latest: Vec<OpId>,
    /// Ops were created after those of their regions, as the parser of text creates them; this
    /// determines the use-list orders, too.
    pub regions_first: bool,
}

impl Default for WriteOptions {
    fn default() -> WriteOptions {
        let producer = concat!("stablo ", env!("CARGO_PKG_VERSION")).to_string();
        WriteOptions {
            version: version::CURRENT,
            producer,
            latest: Vec::new(),
            regions_first: false,
        }
    }
}

/// Writes a module.
///
/// # Errors
/// If the format version is unknown.
pub fn write(module: &Module, options: &WriteOptions) -> Result<Encoded, Diagnostic> {
    if options.version > version::CURRENT {
        let message = format!(
            "bytecode has no version {}; the newest is {}",
            options.version,
            version::CURRENT
        );
        return Err(Diagnostic::error("bytecode", message));
    }
    let mut numbering = Numbering::new(module, options.version);
    let orders = std::mem::take(&mut numbering.property_orders);
    let mut writer = BytecodeWriter {
        module,
        options,
        numbering: &numbering,
        strings: Strings::default(),
        use_lists: if options.version < version::USE_LIST_ORDERS {
            UseLists::default()
        } else {
            UseLists::new(module, &options.latest, options.regions_first)
        },
        properties: Properties {
            orders,
            templates: FxHashMap::default(),
            numbers: FxHashMap::default(),
            order: Vec::new(),
        },
    };
    let mut out = Emitter::default();
    out.bytes(&MAGIC);
    out.varint(options.version);
    out.zero_terminated(options.producer.as_bytes());
    writer.dialects(&mut out);
    writer.attributes_and_types(&mut out);
    let mut ir = Emitter::default();
    ir.varint_with_flag(1, false);
    writer.op(module.top().id(), &mut ir);
    out.section(SectionId::Ir, ir);
    resources::write(&numbering, &mut writer.strings, &mut out);
    writer.strings(&mut out);
    if options.version >= version::PROPERTIES {
        writer.properties(&mut out);
    }
    Ok(out.finish())
}

/// Interned properties of ops.
struct Properties {
    orders: properties::PropertyOrders,
    /// Numbers of the properties of ops of a template.
    templates: FxHashMap<Template, u64>,
    numbers: FxHashMap<Vec<u8>, u64>,
    order: Vec<Vec<u8>>,
}

struct BytecodeWriter<'a> {
    module: &'a Module,
    options: &'a WriteOptions,
    numbering: &'a Numbering,
    strings: Strings,
    properties: Properties,
    use_lists: UseLists,
}

impl BytecodeWriter<'_> {
    fn dialects(&mut self, file: &mut Emitter) {
        let mut out = Emitter::default();
        out.varint(self.numbering.dialects.len() as u64);
        for dialect in &self.numbering.dialects {
            let name = self.strings.number(dialect.name.as_bytes());
            if self.options.version < version::DIALECT_VERSIONS {
                out.varint(name);
                continue;
            }
            out.varint_with_flag(name, false);
        }
        if self.options.version >= version::ELIDED_ARGUMENT_LOCATIONS {
            out.varint(self.numbering.num_op_names() as u64);
        }
        for (dialect, names) in self.numbering.op_name_groups() {
            out.varint(dialect as u64);
            out.varint(names.len() as u64);
            for name in names {
                let mnemonic = name.split_once('.').map_or("", |(_, m)| m);
                let number = self.strings.number(mnemonic.as_bytes());
                if self.options.version < version::PROPERTIES {
                    out.varint(number);
                } else {
                    out.varint_with_flag(number, self.module.registry().op(name).is_some());
                }
            }
        }
        file.section(SectionId::Dialects, out);
    }

    fn attributes_and_types(&mut self, file: &mut Emitter) {
        let numbering = self.numbering;
        let (mut out, mut offsets) = (Emitter::default(), Emitter::default());
        offsets.varint(numbering.num_attributes() as u64);
        offsets.varint(numbering.num_types() as u64);
        for (dialect, attributes) in numbering.attribute_groups() {
            offsets.varint(dialect as u64);
            offsets.varint(attributes.len() as u64);
            let bytecode = numbering.dialects[dialect].bytecode;
            for attribute in attributes {
                let start = out.len();
                let encoded = bytecode
                    .is_some_and(|b| b.write_attribute(attribute, &mut self.entry(&mut out)));
                if !encoded {
                    out.zero_terminated(attribute.to_string().as_bytes());
                }
                offsets.varint_with_flag((out.len() - start) as u64, encoded);
            }
        }
        for (dialect, types) in numbering.type_groups() {
            offsets.varint(dialect as u64);
            offsets.varint(types.len() as u64);
            let bytecode = numbering.dialects[dialect].bytecode;
            for ty in types {
                let start = out.len();
                let encoded = bytecode.is_some_and(|b| b.write_type(ty, &mut self.entry(&mut out)));
                if !encoded {
                    out.zero_terminated(ty.to_string().as_bytes());
                }
                offsets.varint_with_flag((out.len() - start) as u64, encoded);
            }
        }
        file.section(SectionId::AttrTypeOffsets, offsets);
        file.section(SectionId::AttrTypes, out);
    }

    fn entry<'e>(&'e mut self, out: &'e mut Emitter) -> EntryWriter<'e> {
        let pass =
            EncodingPass::Write { out, numbering: self.numbering, strings: &mut self.strings };
        EntryWriter { version: self.options.version, pass }
    }

    fn op(&mut self, id: OpId, out: &mut Emitter) {
        let (module, numbering) = (self.module, self.numbering);
        let op = module.op(id);
        out.varint(numbering.op_name_number(id));
        let mask_at = out.len();
        let mut mask = 0;
        out.byte(mask);
        out.varint(numbering.location_number(id));
        if let Some(number) = numbering.dictionary_number(id) {
            mask |= mask::ATTRIBUTES;
            out.varint(number);
        }
        if self.options.version >= version::PROPERTIES {
            let has_properties = match op.op_name() {
                OpName::Registered(def) => !def.attributes.is_empty(),
                OpName::Unregistered(_) => op.property(0).is_some(),
            };
            if has_properties {
                mask |= mask::PROPERTIES;
                let number = self.property_number(id);
                out.varint(number);
            }
        }
        if op.num_results() > 0 {
            mask |= mask::RESULTS;
            out.varint(op.num_results() as u64);
            op.result_types().for_each(|t| out.varint(numbering.type_number(t)));
        }
        if !op.operands().is_empty() {
            mask |= mask::OPERANDS;
            out.varint(op.operands().len() as u64);
            op.operands().iter().for_each(|&v| out.varint(numbering.value_number(v)));
        }
        if !op.successors().is_empty() {
            mask |= mask::SUCCESSORS;
            out.varint(op.successors().len() as u64);
            for &successor in op.successors() {
                let blocks = module.block_parent(successor).map_or(&[][..], |r| module.blocks(r));
                out.varint(blocks.iter().position(|&b| b == successor).unwrap_or(0) as u64);
            }
        }
        if self.use_lists.write(op.results(), out) {
            mask |= mask::USE_LIST_ORDERS;
        }
        if !op.regions().is_empty() {
            mask |= mask::REGIONS;
        }
        out.patch(mask_at, mask);
        if op.regions().is_empty() {
            return;
        }
        let isolated = numbering.is_isolated(id);
        out.varint_with_flag(op.regions().len() as u64, isolated);
        if isolated && self.options.version >= version::LAZY_LOADING {
            let mut section = Emitter::default();
            op.regions().iter().for_each(|&r| self.region(r, &mut section));
            out.section(SectionId::Ir, section);
        } else {
            op.regions().iter().for_each(|&r| self.region(r, out));
        }
    }

    fn property_number(&mut self, id: OpId) -> u64 {
        let op = self.module.op(id);
        if let Some(&number) = self.properties.templates.get(op.template()) {
            return number;
        }
        let mut out = Emitter::default();
        match op.def() {
            Some(def) => {
                let order = self.properties.orders.of(def);
                properties::write(op, &order, &mut self.entry(&mut out));
            }
            None => {
                op.properties().iter().flatten().for_each(|p| self.entry(&mut out).attribute(p))
            }
        }
        let bytes = out.finish().to_vec();
        let next = self.properties.order.len() as u64;
        let number = *self.properties.numbers.entry(bytes.clone()).or_insert(next);
        if number == next {
            self.properties.order.push(bytes);
        }
        self.properties.templates.insert(op.template().clone(), number);
        number
    }

    fn region(&mut self, region: RegionId, out: &mut Emitter) {
        let blocks = self.module.blocks(region);
        out.varint(blocks.len() as u64);
        if !blocks.is_empty() {
            out.varint(self.numbering.num_values(region));
        }
        blocks.iter().for_each(|&b| self.block(b, out));
    }

    fn block(&mut self, block: BlockId, out: &mut Emitter) {
        let (module, numbering) = (self.module, self.numbering);
        let arguments = module.arguments(block);
        out.varint_with_flag(module.ops(block).len() as u64, !arguments.is_empty());
        if !arguments.is_empty() {
            out.varint(arguments.len() as u64);
            for (i, &argument) in arguments.iter().enumerate() {
                let ty = numbering.type_number(module.ty(argument));
                let location = numbering.argument_location_number(block, i);
                let known = !is_unknown(&module.location(&module.argument_locs(block)[i]));
                if self.options.version >= version::ELIDED_ARGUMENT_LOCATIONS {
                    out.varint_with_flag(ty, known);
                    if known {
                        out.varint(location);
                    }
                } else {
                    out.varint(ty);
                    out.varint(location);
                }
            }
            if self.options.version >= version::USE_LIST_ORDERS {
                let mask_at = out.len();
                out.byte(0);
                if self.use_lists.write(arguments.iter().copied(), out) {
                    out.patch(mask_at, mask::USE_LIST_ORDERS);
                }
            }
        }
        module.ops(block).for_each(|op| self.op(op.id(), out));
    }

    fn strings(&mut self, file: &mut Emitter) {
        let mut out = Emitter::default();
        let strings = &self.strings.order;
        out.varint(strings.len() as u64);
        strings.iter().rev().for_each(|s| out.varint(s.len() as u64 + 1));
        strings.iter().for_each(|s| out.zero_terminated(s));
        file.section(SectionId::Strings, out);
    }

    fn properties(&mut self, file: &mut Emitter) {
        let mut out = Emitter::default();
        out.varint(self.properties.order.len() as u64);
        for bytes in &self.properties.order {
            out.varint(bytes.len() as u64);
            out.bytes(bytes);
        }
        file.section(SectionId::Properties, out);
    }
}

fn is_unknown(location: &Attribute) -> bool {
    matches!(**location, AttrKind::Location(LocationKind::Unknown))
}
