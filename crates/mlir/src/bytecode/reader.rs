//! Reads bytecode into a module.

mod templates;

use super::cursor::{Cursor, Read, ReadError};
use super::encoding::FileRange;
use super::entries::Entries;
use super::fields::{self, FileField, Notes};
use super::locations::{Checks, Locations};
use super::properties::PropertyOrders;
use super::tables::Tables;
use super::use_lists::{self, ReadOrder};
use super::{MAGIC, SectionId, mask, resources, version};
use crate::diag::counted;
use crate::diag::{Diagnostic, Diagnostics};
use crate::ir::{
    BlockId, Loc, Module, OpId, OpName, OpParts, OperandValues, RegionId, ResultTypes, Value,
};
use crate::ods::Registry;
use crate::text::{MAX_NESTING, ParseOptions};
use crate::types::{Type, TypeKind};
use numerics::Bytes;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::Range;
use templates::{ReadTemplate, TemplateKey};

/// Options of the bytecode reader.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// Keep ops of unregistered dialects instead of rejecting them.
    pub allow_unregistered_dialects: bool,
    /// Record [`ReadOutput::fields`].
    pub note_fields: bool,
}

/// The result of reading bytecode.
pub struct ReadOutput {
    /// The program; empty if there is an error.
    pub module: Module,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
    /// Version of the format.
    pub version: u64,
    /// The producer string.
    pub producer: String,
    /// Versions of dialects, as lists of numbers.
    pub dialect_versions: Vec<(String, Vec<u64>)>,
    /// The sections, with their byte ranges.
    pub sections: Vec<(&'static str, Range<usize>)>,
    /// Annotations of the parts of the file, in file order, as far as it could be read.
    pub fields: Vec<FileField>,
}

/// Converts types and ops while they are read.
pub trait ReadHooks {
    /// Converts a type. `None` rejects it.
    fn ty(&mut self, ty: &Type) -> Option<Type>;

    /// Converts an op, which stands in its block, but its regions are not read yet; the types of
    /// its values are converted. Returns true if all ops of its template that have neither regions
    /// nor successors get the same template, and `None` if the op cannot be converted.
    fn op(&mut self, module: &mut Module, op: OpId) -> Option<bool>;
}

/// Approximate encoded size of a small op in bytes.
const BYTES_OF_OP: usize = 8;

/// Reads a module. Constants and resources share the bytes of `file`.
pub fn read(file: &Bytes, registry: &'static Registry, options: ReadOptions) -> ReadOutput {
    let mut output = ReadOutput::new(registry);
    let notes = Notes::new(options);
    let result = read_file(file, registry, options, &notes, None, &mut output);
    output.fields = notes.finish();
    if let Err(error) = result {
        let section = output.sections.iter().find(|(_, range)| range.contains(&error.offset));
        let place = section.map_or("outside of the sections", |(name, _)| name);
        let message = format!("{} (at byte {}, {place})", error.message, error.offset);
        output.module = Module::new(registry);
        output.diagnostics.push(Diagnostic::error("bytecode", message));
    }
    output
}

/// Reads a module and converts it on the fly; `None` if it is invalid or something cannot be
/// converted.
pub fn read_converted(
    file: &Bytes,
    registry: &'static Registry,
    convert: &mut dyn ReadHooks,
) -> Option<Module> {
    let mut output = ReadOutput::new(registry);
    let options = ReadOptions::default();
    let conversion = Conversion { convert, types: Vec::new() };
    read_file(file, registry, options, &Notes::new(options), Some(conversion), &mut output).ok()?;
    Some(output.module)
}

impl ReadOutput {
    fn new(registry: &'static Registry) -> ReadOutput {
        ReadOutput {
            module: Module::new(registry),
            diagnostics: Vec::new(),
            version: 0,
            producer: String::new(),
            dialect_versions: Vec::new(),
            sections: Vec::new(),
            fields: Vec::new(),
        }
    }
}

fn read_file(
    file: &Bytes,
    registry: &'static Registry,
    options: ReadOptions,
    notes: &Notes,
    conversion: Option<Conversion<'_>>,
    output: &mut ReadOutput,
) -> Read<()> {
    let bytes: &[u8] = file;
    let mut cursor = Cursor::new(bytes, 0..bytes.len());
    read_header(&mut cursor, notes, output)?;
    let mut sections = find_sections(&mut cursor, notes, output)?;
    let mut section = |kind: SectionId| match sections[kind as usize].take() {
        Some(range) => Ok(range),
        None => {
            Err(ReadError::new(bytes.len(), format!("the section of {} is missing", kind.name())))
        }
    };
    let allow_unregistered_dialects = options.allow_unregistered_dialects;
    let text_options = ParseOptions { allow_unregistered_dialects, ..ParseOptions::default() };
    let mut tables = Tables::new(file.clone(), output.version, registry, text_options);
    tables.read_strings(section(SectionId::Strings)?, notes)?;
    let op_names =
        tables.read_dialects(section(SectionId::Dialects)?, notes, &mut output.dialect_versions)?;
    let property_table = match section(SectionId::Properties) {
        Ok(range) => read_property_table(Cursor::new(bytes, range), notes)?,
        Err(_) => Vec::new(),
    };
    let offsets = section(SectionId::AttrTypeOffsets)?;
    tables.read_offsets(Cursor::new(bytes, offsets), section(SectionId::AttrTypes)?, notes)?;
    if let (Ok(offsets), Ok(data)) =
        (section(SectionId::ResourceOffsets), section(SectionId::Resources))
    {
        tables.resources = resources::read(offsets, data, &tables, notes)?;
    }
    let ir = section(SectionId::Ir)?;
    output.module.reserve(ir.len() / BYTES_OF_OP);
    let mut reader = IrReader {
        module: &mut output.module,
        entries: Entries::new(&tables, notes.clone()),
        op_names,
        templates: Vec::new(),
        template_numbers: FxHashMap::default(),
        property_table,
        property_orders: PropertyOrders::default(),
        scopes: Vec::new(),
        stand_in: None,
        forward_uses: Vec::new(),
        depth: 0,
        use_orders: Vec::new(),
        conversion,
        locations: Checks::new(&tables),
    };
    reader.read(Cursor::new(bytes, ir))?;
    reader.entries.note_unused();
    let locations = reader.locations.finish();
    output.module.set_locations(Locations::new(tables, locations));
    Ok(())
}

/// Reads the bytes that all files begin with, the version and the producer.
fn read_header(cursor: &mut Cursor<'_>, notes: &Notes, output: &mut ReadOutput) -> Read<()> {
    if cursor.bytes(4)? != MAGIC {
        return Err(ReadError::new(0, "bytecode begins with `ML\\xefR`".to_string()));
    }
    notes.add(0..4, || "bytecode".to_string());
    output.version = cursor.varint()?;
    notes.add(4..cursor.offset(), || format!("version {} of the format", output.version));
    let at = cursor.offset();
    if output.version > version::CURRENT {
        let message = format!(
            "bytecode of version {}; the newest known is {}",
            output.version,
            version::CURRENT
        );
        return cursor.error(message);
    }
    output.producer = String::from_utf8_lossy(cursor.zero_terminated()?).into_owned();
    notes.add(at..cursor.offset(), || format!("producer: {:?}", output.producer));
    Ok(())
}

/// The places of the sections up to the end of the file.
fn find_sections(
    cursor: &mut Cursor<'_>,
    notes: &Notes,
    output: &mut ReadOutput,
) -> Read<[Option<FileRange>; SectionId::ALL.len()]> {
    let mut sections: [Option<FileRange>; SectionId::ALL.len()] = Default::default();
    while !cursor.is_empty() {
        let at = cursor.offset();
        let (kind, range) = cursor.section()?;
        let name = kind.map_or("an unknown section", SectionId::name);
        notes.add(at..range.start, || format!("section of {name}, {} bytes", range.len()));
        output.sections.push((name, range.clone()));
        if let Some(kind) = kind
            && sections[kind as usize].replace(range).is_some()
        {
            return Err(ReadError::new(at, format!("there are two sections of {}", kind.name())));
        }
    }
    Ok(sections)
}

/// Reads the properties section: their number, and for each its size and bytes.
fn read_property_table(mut cursor: Cursor<'_>, notes: &Notes) -> Read<Vec<FileRange>> {
    let at = cursor.offset();
    let count = cursor.count("properties")?;
    notes.add(at..cursor.offset(), || format!("properties of {count} kinds"));
    (0..count)
        .map(|number| {
            let at = cursor.offset();
            let size = cursor.varint()?;
            notes.add(at..cursor.offset(), || format!("properties {number}: {size} bytes"));
            cursor.range(size)
        })
        .collect()
}

/// The values visible to ops of an isolated region, by number.
struct ValueScope {
    values: Vec<Option<Value>>,
}

/// The regions of an op that is being read: an entry of the work stack.
struct RegionFrame<'a> {
    cursor: Cursor<'a>,
    regions: SmallVec<[RegionId; 1]>,
    next_region: usize,
    blocks: Vec<BlockId>,
    next_block: usize,
    block: Option<BlockId>,
    ops_left: u64,
    isolated: bool,
    /// Number of values in the scope before the current region, and the number of the next value.
    scope_start: usize,
    next_value: usize,
}

/// A use of a value before its definition.
struct ForwardUse {
    op: OpId,
    operand: usize,
    /// The value's number, and the depth of its scope.
    number: usize,
    depth: usize,
    /// Offset of the use in the file.
    at: usize,
}

struct IrReader<'a, 'm, 'c> {
    module: &'m mut Module,
    entries: Entries<'a>,
    op_names: Vec<(OpName, bool)>,
    property_table: Vec<FileRange>,
    templates: Vec<ReadTemplate>,
    template_numbers: FxHashMap<TemplateKey, usize>,
    property_orders: PropertyOrders,
    scopes: Vec<ValueScope>,
    /// Placeholder for values that are used before their definition.
    stand_in: Option<Value>,
    /// Uses of such values.
    forward_uses: Vec<ForwardUse>,
    /// Nesting depth of the next op in regions.
    depth: usize,
    /// Use-list orders, applied once all uses are known.
    use_orders: Vec<(Value, ReadOrder)>,
    conversion: Option<Conversion<'c>>,
    locations: Checks<'a>,
}

/// State of the conversion, with caches.
struct Conversion<'c> {
    convert: &'c mut dyn ReadHooks,
    /// Converted types by number in the file.
    types: Vec<Option<Type>>,
}

/// A placeholder value, defined nowhere in the program.
fn stand_in(module: &mut Module) -> Value {
    let name = OpName::Registered(crate::builtin::UnrealizedConversionCastOp::DEF);
    let mut parts = OpParts::new(name, Loc::Unknown);
    parts.result_types.push(TypeKind::None.into());
    let op = module.create_op(parts);
    module.op(op).result(0)
}

impl<'a> IrReader<'a, '_, '_> {
    fn read(&mut self, mut cursor: Cursor<'a>) -> Read<()> {
        let at = cursor.offset();
        let (count, has_arguments) = cursor.varint_with_flag()?;
        self.note(at, &cursor, || format!("{count} ops"));
        if has_arguments {
            return cursor.error("the top of a program has no arguments");
        }
        self.scopes.push(ValueScope { values: Vec::new() });
        let mut tops = Vec::new();
        for _ in 0..cursor.check_count(count, "ops", cursor.offset())? {
            let mut stack = Vec::new();
            let (op, frame) = self.op(&mut cursor, None, &[], &mut 0)?;
            tops.push(op);
            if let Some(frame) = frame {
                let nested = !frame.isolated || self.entries.tables.version < version::LAZY_LOADING;
                stack.push(*frame);
                self.regions(&mut stack, nested.then_some(&mut cursor))?;
            }
        }
        self.resolve_forward_uses(0)?;
        match tops[..] {
            [top] if self.module.op(top).is(crate::builtin::ModuleOp::DEF) => {
                self.module.set_top(top)
            }
            _ => {
                let body = self.module.top().regions()[0];
                let block = self.module.blocks(body)[0];
                tops.into_iter().for_each(|op| self.module.append(block, op));
            }
        }
        use_lists::keep(self.module, std::mem::take(&mut self.use_orders))
    }

    /// Reads all regions of the ops on the stack. At the end, a frame hands its position back to
    /// the enclosing cursor.
    fn regions(
        &mut self,
        stack: &mut Vec<RegionFrame<'a>>,
        outer: Option<&mut Cursor<'a>>,
    ) -> Read<()> {
        let mut outer = outer;
        while let Some(depth) = stack.len().checked_sub(1) {
            self.depth = depth + 1;
            let frame = &mut stack[depth];
            if frame.ops_left > 0 {
                frame.ops_left -= 1;
                let block = frame.block;
                let blocks = std::mem::take(&mut frame.blocks);
                let mut cursor = frame.cursor.clone();
                let mut next_value = frame.next_value;
                let (_, child) = self.op(&mut cursor, block, &blocks, &mut next_value)?;
                frame.blocks = blocks;
                frame.cursor = cursor;
                frame.next_value = next_value;
                if let Some(child) = child {
                    if stack.len() >= MAX_NESTING {
                        return child.cursor.error(format!(
                            "nesting deeper than {MAX_NESTING} levels cannot be read"
                        ));
                    }
                    stack.push(*child);
                }
            } else if frame.next_block < frame.blocks.len() {
                let block = frame.blocks[frame.next_block];
                frame.next_block += 1;
                frame.block = Some(block);
                self.block_header(frame, block)?;
            } else {
                if frame.block.take().is_some()
                    && let Some(scope) = self.scopes.last_mut()
                {
                    let end = scope.values.len();
                    if frame.next_value != end {
                        let message = format!(
                            "a region announced {} more than it defines",
                            counted(end - frame.next_value, "value")
                        );
                        return frame.cursor.error(message);
                    }
                    // Forward uses within this region can be resolved now.
                    self.resolve_forward_uses(frame.scope_start)?;
                    if let Some(scope) = self.scopes.last_mut() {
                        scope.values.truncate(frame.scope_start);
                    }
                }
                if frame.next_region < frame.regions.len() {
                    self.region_header(frame)?;
                    continue;
                }
                let Some(done) = stack.pop() else { break };
                if done.isolated {
                    self.scopes.pop();
                }
                let own_section =
                    done.isolated && self.entries.tables.version >= version::LAZY_LOADING;
                if own_section {
                    if !done.cursor.is_empty() {
                        return done.cursor.error(format!(
                            "a region is followed by {}",
                            counted(done.cursor.remaining(), "byte")
                        ));
                    }
                } else {
                    match stack.last_mut() {
                        Some(parent) => parent.cursor = done.cursor,
                        None => {
                            if let Some(outer) = outer.take() {
                                *outer = done.cursor;
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn region_header(&mut self, frame: &mut RegionFrame<'a>) -> Read<()> {
        let region = frame.regions[frame.next_region];
        frame.next_region += 1;
        let at = frame.cursor.offset();
        let blocks = frame.cursor.count("blocks")?;
        frame.blocks.clear();
        frame.next_block = 0;
        if blocks == 0 {
            self.note(at, &frame.cursor, || "region of no blocks".to_string());
            return Ok(());
        }
        let values = frame.cursor.count("values")?;
        self.note(at, &frame.cursor, || {
            format!(
                "region of {} that define {}",
                counted(blocks, "block"),
                counted(values, "value")
            )
        });
        if let Some(scope) = self.scopes.last_mut() {
            frame.scope_start = scope.values.len();
            frame.next_value = scope.values.len();
            scope.values.resize(scope.values.len() + values, None);
        }
        frame.blocks.extend((0..blocks).map(|_| self.module.create_block(region)));
        Ok(())
    }

    fn block_header(&mut self, frame: &mut RegionFrame<'a>, block: BlockId) -> Read<()> {
        let at = frame.cursor.offset();
        let (ops, has_arguments) = frame.cursor.varint_with_flag()?;
        self.note(at, &frame.cursor, || format!("block of {ops} ops"));
        frame.cursor.check_count(ops, "ops", at)?;
        frame.ops_left = ops;
        if !has_arguments {
            return Ok(());
        }
        let at = frame.cursor.offset();
        let count = frame.cursor.count("arguments")?;
        self.note(at, &frame.cursor, || counted(count, "argument"));
        self.module.reserve_arguments(block, count);
        for _ in 0..count {
            let at = frame.cursor.offset();
            let (ty, located) = if self.entries.tables.version >= version::ELIDED_ARGUMENT_LOCATIONS
            {
                frame.cursor.varint_with_flag()?
            } else {
                (frame.cursor.varint()?, true)
            };
            let ty = self.ty(ty, at)?;
            self.note(at, &frame.cursor, || format!("argument of type {ty}"));
            let loc = if located { self.location(&mut frame.cursor)? } else { Loc::Unknown };
            let value = self.module.add_argument(block, ty, loc);
            self.define(value, &mut frame.next_value, &frame.cursor)?;
        }
        if self.entries.tables.version >= version::USE_LIST_ORDERS {
            let at = frame.cursor.offset();
            let orders = match frame.cursor.byte()? {
                0 => Vec::new(),
                _ => use_lists::read(&mut frame.cursor, count)?,
            };
            self.note(at, &frame.cursor, || {
                format!("use-list orders of {} arguments", orders.len())
            });
            let arguments = self.module.arguments(block);
            self.use_orders.extend(orders.into_iter().map(|order| (arguments[order.index], order)));
        }
        Ok(())
    }

    /// The type with the given number, converted.
    fn ty(&mut self, number: u64, at: usize) -> Read<Type> {
        let Some(conversion) = &mut self.conversion else { return self.entries.ty(number, at) };
        if let Some(Some(ty)) = conversion.types.get(number as usize) {
            return Ok(ty.clone());
        }
        let found = self.entries.ty(number, at)?;
        let Some(ty) = conversion.convert.ty(&found) else {
            return Err(ReadError::new(at, format!("nothing takes the place of the type {found}")));
        };
        if conversion.types.len() <= number as usize {
            conversion.types.resize(number as usize + 1, None);
        }
        conversion.types[number as usize] = Some(ty.clone());
        Ok(ty)
    }

    fn location(&mut self, cursor: &mut Cursor<'a>) -> Read<Loc> {
        let at = cursor.offset();
        let number = cursor.varint()?;
        // Annotations need the decoded location.
        if !self.entries.notes.are_wanted()
            && let Some(number) = self.locations.accept(number)
        {
            return Ok(Loc::Bytecode(number));
        }
        let location = self.entries.location(number, at)?;
        self.note(at, cursor, || format!("at {}", fields::text_of(&location)));
        Ok(Loc::Explicit(location, None))
    }

    /// Assigns the next number of its region to a value.
    fn define(&mut self, value: Value, next: &mut usize, cursor: &Cursor<'a>) -> Read<()> {
        match self.scopes.last_mut().and_then(|s| s.values.get_mut(*next)) {
            Some(slot) => {
                *slot = Some(value);
                *next += 1;
                Ok(())
            }
            None => cursor.error("a region defines more values than it announced"),
        }
    }

    /// Reads an op of `block` without its regions; returns a frame for them.
    fn op(
        &mut self,
        cursor: &mut Cursor<'a>,
        block: Option<BlockId>,
        blocks: &[BlockId],
        next_value: &mut usize,
    ) -> Read<(OpId, Option<Box<RegionFrame<'a>>>)> {
        let at = cursor.offset();
        let name_number = cursor.index(self.op_names.len(), "op name")?;
        let name = &self.op_names[name_number].0;
        if let OpName::Unregistered(name) = name
            && !self.entries.tables.text_options.allow_unregistered_dialects
        {
            let message =
                format!("the op `{name}` is unknown; unregistered ops are not allowed here");
            return Err(ReadError::new(at, message));
        }
        self.note(at, cursor, || format!("op {}", name.as_str()));
        let at = cursor.offset();
        let mask = cursor.byte()?;
        self.note(at, cursor, || format!("with {}", mask::names(mask)));
        let loc = self.location(cursor)?;
        let template = self.template(cursor, name_number, mask)?;
        let result_types = self.result_types(cursor, mask)?;
        let num_results = result_types.len();
        let operands = self.operands(cursor, mask)?;
        let successors = self.successors(cursor, blocks, mask)?;
        let orders = self.orders(cursor, mask, num_results)?;
        let (num_regions, isolated) = self.region_count(cursor, mask)?;
        let regions: SmallVec<[RegionId; 1]> =
            (0..num_regions).map(|_| self.module.create_region()).collect();
        let is_leaf = regions.is_empty() && successors.is_empty();
        let known = &self.templates[template];
        let converted = known.converted.as_ref().filter(|_| is_leaf);
        let is_converted = converted.is_some();
        let op = self.module.create_from(
            converted.unwrap_or(&known.template).clone(),
            operands,
            result_types,
            loc,
        );
        self.module.set_regions_and_successors(op, regions.clone(), successors);
        self.place(op, block, orders);
        if let Some(conversion) = &mut self.conversion
            && !is_converted
        {
            let Some(becomes_same) = conversion.convert.op(self.module, op) else {
                return Err(ReadError::new(at, "nothing takes the place of this op".to_string()));
            };
            if is_leaf && becomes_same {
                self.templates[template].converted = Some(self.module.op(op).template().clone());
            }
        }
        self.define_results(op, next_value, cursor)?;
        if num_regions == 0 {
            return Ok((op, None));
        }
        Ok((op, Some(self.frame(cursor, regions, isolated)?)))
    }

    /// The frame for the regions of an op; `isolated` if they see no values from outside.
    fn frame(
        &mut self,
        cursor: &mut Cursor<'a>,
        regions: SmallVec<[RegionId; 1]>,
        isolated: bool,
    ) -> Read<Box<RegionFrame<'a>>> {
        let cursor = if isolated && self.entries.tables.version >= version::LAZY_LOADING {
            let at = cursor.offset();
            let range = cursor.expect_section(SectionId::Ir)?;
            let header = at..range.start;
            self.entries
                .notes
                .add_at(self.depth, header, || format!("section of IR, {} bytes", range.len()));
            Cursor::new(self.entries.file(), range)
        } else {
            cursor.clone()
        };
        if isolated {
            self.scopes.push(ValueScope { values: Vec::new() });
        }
        Ok(Box::new(RegionFrame {
            cursor,
            regions,
            next_region: 0,
            blocks: Vec::new(),
            next_block: 0,
            block: None,
            ops_left: 0,
            isolated,
            scope_start: 0,
            next_value: 0,
        }))
    }

    fn successors(
        &mut self,
        cursor: &mut Cursor<'a>,
        blocks: &[BlockId],
        mask: u8,
    ) -> Read<Vec<BlockId>> {
        let mut successors = Vec::new();
        if mask & mask::SUCCESSORS != 0 {
            let start = cursor.offset();
            let count = cursor.count("successors")?;
            for _ in 0..count {
                successors.push(blocks[cursor.index(blocks.len(), "block")?]);
            }
            self.note(start, cursor, || counted(count, "successor"));
        }
        Ok(successors)
    }

    /// Reads the number of regions of an op; true if they see no values from outside.
    fn region_count(&mut self, cursor: &mut Cursor<'a>, mask: u8) -> Read<(usize, bool)> {
        if mask & mask::REGIONS == 0 {
            return Ok((0, false));
        }
        let at = cursor.offset();
        let (count, isolated) = cursor.varint_with_flag()?;
        let num_regions = cursor.check_count(count, "regions", at)?;
        self.note(at, cursor, || {
            format!("{}{}", counted(count, "region"), if isolated { ", isolated" } else { "" })
        });
        Ok((num_regions, isolated))
    }

    fn result_types(&mut self, cursor: &mut Cursor<'a>, mask: u8) -> Read<ResultTypes> {
        let mut types = ResultTypes::new();
        if mask & mask::RESULTS != 0 {
            let start = cursor.offset();
            let count = cursor.count("results")?;
            for _ in 0..count {
                let at = cursor.offset();
                let number = cursor.varint()?;
                types.push(self.ty(number, at)?);
            }
            self.note(start, cursor, || {
                format!("{}: {}", counted(count, "result"), fields::list_of(&types))
            });
        }
        Ok(types)
    }

    /// Reads the operands of the next op.
    fn operands(&mut self, cursor: &mut Cursor<'a>, mask: u8) -> Read<OperandValues> {
        let mut operands = OperandValues::new();
        if mask & mask::OPERANDS == 0 {
            return Ok(operands);
        }
        let start = cursor.offset();
        let count = cursor.count("operands")?;
        let depth = self.scopes.len();
        let known = self.scopes.last().map_or(&[][..], |scope| &scope.values);
        let mut numbers = Vec::new();
        for operand in 0..count {
            let at = cursor.offset();
            let number = cursor.index(known.len(), "value")?;
            let value = known[number].unwrap_or_else(|| {
                let value = *self.stand_in.get_or_insert_with(|| stand_in(self.module));
                self.forward_uses.push(ForwardUse {
                    op: self.module.next_op(),
                    operand,
                    number,
                    depth,
                    at,
                });
                value
            });
            operands.push(value);
            if self.entries.notes.are_wanted() {
                numbers.push(number);
            }
        }
        self.note(start, cursor, || {
            format!("{}: values {}", counted(count, "operand"), fields::list_of(&numbers))
        });
        Ok(operands)
    }

    fn orders(
        &mut self,
        cursor: &mut Cursor<'a>,
        mask: u8,
        num_results: usize,
    ) -> Read<Vec<ReadOrder>> {
        if mask & mask::USE_LIST_ORDERS == 0 {
            return Ok(Vec::new());
        }
        let at = cursor.offset();
        let orders = use_lists::read(cursor, num_results)?;
        self.note(at, cursor, || format!("use-list orders of {} results", orders.len()));
        Ok(orders)
    }

    /// Appends an op to its block.
    fn place(&mut self, op: OpId, block: Option<BlockId>, orders: Vec<ReadOrder>) {
        if let Some(block) = block {
            self.module.append(block, op);
        }
        let view = self.module.op(op);
        self.use_orders.extend(orders.into_iter().map(|order| (view.result(order.index), order)));
    }

    fn define_results(
        &mut self,
        op: OpId,
        next_value: &mut usize,
        cursor: &Cursor<'a>,
    ) -> Read<()> {
        for result in self.module.op(op).results() {
            self.define(result, next_value, cursor)?;
        }
        Ok(())
    }

    /// Annotates the bytes from `at` to the next one.
    #[inline]
    fn note(&self, at: usize, cursor: &Cursor<'_>, meaning: impl FnOnce() -> String) {
        self.entries.notes.add_at(self.depth, at..cursor.offset(), meaning);
    }

    /// Resolves forward uses of values of the current scope, numbered from `first` on, at the end
    /// of a region.
    fn resolve_forward_uses(&mut self, first: usize) -> Read<()> {
        let depth = self.scopes.len();
        let Some(scope) = self.scopes.last() else { return Ok(()) };
        let mut kept = Vec::new();
        for forward in std::mem::take(&mut self.forward_uses) {
            let ForwardUse { op, operand, number, at, .. } = forward;
            if forward.depth != depth || number < first {
                kept.push(forward);
                continue;
            }
            match scope.values.get(number).copied().flatten() {
                Some(value) => self.module.set_operand(op, operand, value),
                None => {
                    return Err(ReadError::new(
                        at,
                        format!("value {number} is used, but never defined"),
                    ));
                }
            }
        }
        self.forward_uses = kept;
        Ok(())
    }
}
