//! Operations, regions and blocks; the generic form; `builtin.module`; the metadata section.

use super::Printer;
use crate::attrs::{Attribute, Dictionary};
use crate::ir::{BlockId, Module, OpRef, RegionId};
use crate::ods::{Assembly, Trait};
use rustc_hash::FxHashMap;

impl Printer<'_> {
    /// Writes an op with its results and its location.
    pub(super) fn full_op(&mut self, op: OpRef<'_>) {
        self.next_op();
        if self.collector.is_some() {
            self.op_location(|| op.location());
            return self.pretty_or_generic(op);
        }
        self.write_indent();
        self.result_names(op);
        self.pretty_or_generic(op);
        self.op_location(|| op.location());
        self.users_of_results(op);
    }

    fn pretty_or_generic(&mut self, op: OpRef<'_>) {
        let Some(def) = op.def().filter(|_| !self.options.generic) else {
            return self.generic_op(op);
        };
        let is_custom = !matches!(def.assembly, Assembly::Generic);
        if is_custom && satisfies_slots(op) {
            let elided = self.default_dialects.last() == Some(&def.dialect());
            let name = if elided { def.mnemonic() } else { def.name };
            match def.assembly {
                Assembly::Custom { print, .. } => {
                    self.write(name);
                    return print(self, op);
                }
                Assembly::Format(_) => {
                    if let Ok(directives) = def.format() {
                        self.write(name);
                        return self.format(op, directives);
                    }
                }
                Assembly::Generic => {}
            }
        }
        self.generic_op(op);
    }

    /// Writes an op in the generic form, without its results.
    pub fn generic_op(&mut self, op: OpRef<'_>) {
        self.string(op.name().as_bytes());
        self.generic_op_after_name(op);
    }

    /// Writes the rest of an op in the generic form, after its name.
    pub fn generic_op_after_name(&mut self, op: OpRef<'_>) {
        self.write("(");
        self.values(op.operands());
        self.write(")");
        if !op.successors().is_empty() {
            self.write("[");
            self.separated(", ", op.successors(), |p, b| p.block_name(*b));
            self.write("]");
        }
        if let Some(def) = op.def() {
            let mut properties: Vec<(&str, &Attribute)> = def
                .attributes
                .iter()
                .zip(op.properties())
                .filter_map(|(s, v)| Some((s.name, v.as_ref()?)))
                .collect();
            sort_by_name(&mut properties);
            if !properties.is_empty() {
                self.write(" <{");
                self.separated(", ", properties, |p, (name, value)| p.named_attribute(name, value));
                self.write("}>");
            }
        } else if let Some(properties) = op.property(0) {
            self.write(" <");
            self.attribute(properties);
            self.write(">");
        }
        if !op.regions().is_empty() {
            self.write(" (");
            self.separated(", ", op.regions(), |p, r| p.region_with(op, *r, true, true, true));
            self.write(")");
        }
        if !op.attributes().is_empty() {
            self.write(" ");
            self.dictionary(op.attributes());
        }
        self.write(" : ");
        self.functional_type(op);
    }

    /// Writes the types of all operands and results as a function type.
    pub fn functional_type(&mut self, op: OpRef<'_>) {
        self.signature(op.operand_types(), op.result_types());
    }

    /// Writes ` {…}` with the attributes of an op that are not in `elided`; nothing if there are
    /// none.
    pub fn attr_dict(&mut self, op: OpRef<'_>, elided: &[&str]) {
        self.attributes_after("", op, elided);
    }

    /// Writes ` attributes {…}` likewise.
    pub fn attr_dict_with_keyword(&mut self, op: OpRef<'_>, elided: &[&str]) {
        self.attributes_after(" attributes", op, elided);
    }

    fn attributes_after(&mut self, keyword: &str, op: OpRef<'_>, elided: &[&str]) {
        let slots = op.def().map_or(&[][..], |d| d.attributes);
        let inherent = slots.iter().zip(op.properties()).filter_map(|(slot, value)| {
            let value = value.as_ref().filter(|v| (slot.default_value)() != Some(v))?;
            Some((slot.name, value))
        });
        let discardable = op.attributes().iter().map(|(n, v)| (&**n, v));
        let segments = ["operandSegmentSizes", "resultSegmentSizes"];
        let mut entries: Vec<(&str, &Attribute)> = inherent
            .chain(discardable)
            .filter(|(n, _)| !elided.contains(n) && !segments.contains(n))
            .collect();
        if entries.is_empty() {
            return;
        }
        sort_by_name(&mut entries);
        self.write(keyword);
        self.write(" {");
        self.separated(", ", entries, |p, (name, value)| p.named_attribute(name, value));
        self.write("}");
    }

    /// Writes ` attributes {…}` with the entries of a dictionary; nothing if it is empty.
    pub fn attributes_with_keyword(&mut self, attributes: &Dictionary) {
        if !attributes.is_empty() {
            self.write(" attributes ");
            self.dictionary(attributes);
        }
    }

    /// Writes a region of `op` in braces. The header of the entry block is written if `arguments`
    /// is set or a later block needs it; the terminators if `terminators` is set.
    pub fn region(&mut self, op: OpRef<'_>, region: RegionId, arguments: bool, terminators: bool) {
        self.region_with(op, region, arguments, terminators, false);
    }

    fn region_with(
        &mut self,
        op: OpRef<'_>,
        region: RegionId,
        arguments: bool,
        terminators: bool,
        empty: bool,
    ) {
        if self.options.skip_regions {
            return self.write("{...}");
        }
        let module = op.module();
        let default_dialect = op.def().and_then(|d| {
            d.traits.iter().find_map(|t| match t {
                Trait::DefaultDialect(namespace) => Some(*namespace),
                _ => None,
            })
        });
        self.write("{\n");
        self.default_dialects.push(default_dialect.unwrap_or(""));
        let predecessors = predecessors(module, region);
        for (i, &block) in module.blocks(region).iter().enumerate() {
            let before = predecessors.get(&block).map_or(&[][..], Vec::as_slice);
            let header = i > 0
                || (empty && module.first_op(block).is_none())
                || (arguments && !module.arguments(block).is_empty())
                || !before.is_empty();
            self.block(module, block, header.then_some((i == 0, before)), terminators);
        }
        self.default_dialects.pop();
        self.write_indent();
        self.write("}");
    }

    /// Writes `%name: T` for a block argument, and its location if locations are printed.
    pub fn argument(&mut self, module: &Module, block: BlockId, index: usize) {
        let argument = module.arguments(block)[index];
        self.value(argument);
        self.write(": ");
        self.ty(module.ty(argument));
        self.argument_location(|| module.location(&module.argument_locs(block)[index]));
    }

    /// Writes a block. Its header needs to know if it is the entry, and its predecessors.
    fn block(
        &mut self,
        module: &Module,
        block: BlockId,
        header: Option<(bool, &[BlockId])>,
        terminators: bool,
    ) {
        if let Some((is_entry, predecessors)) = header {
            self.write_indent();
            self.block_name(block);
            let arguments = module.arguments(block);
            if !arguments.is_empty() {
                self.write("(");
                self.separated(", ", 0..arguments.len(), |p, i| p.argument(module, block, i));
                self.write(")");
            }
            self.write(":");
            match predecessors {
                [] if is_entry => {}
                [] => self.write("  // no predecessors"),
                [only] => {
                    self.write("  // pred: ");
                    self.block_name(*only);
                }
                several => {
                    self.number(format_args!("  // {} preds: ", several.len()));
                    self.separated(", ", several, |p, b| p.block_name(*b));
                }
            }
            self.write("\n");
        }
        self.indent();
        self.users_of_arguments(module, block);
        for op in module.ops(block) {
            let is_last = op.next_in_block().is_none();
            if terminators || !is_last || !op.has_trait(&Trait::Terminator) {
                self.full_op(op);
                self.write("\n");
            }
        }
        self.dedent();
    }

    /// Writes the signature of a function, `(%arg0: T {attrs}, …) -> (U {attrs})`; the arguments of
    /// an external function have no names.
    pub fn function_signature(
        &mut self,
        module: &Module,
        body: Option<BlockId>,
        (inputs, results): (&[crate::types::Type], &[crate::types::Type]),
        argument_attributes: Option<&Attribute>,
        result_attributes: Option<&Attribute>,
    ) {
        let attributes = |all: Option<&Attribute>, i: usize| {
            let all = all.and_then(Attribute::as_array).unwrap_or(&[]);
            all.get(i).and_then(Attribute::as_dictionary).cloned().unwrap_or_default()
        };
        let with_attributes = |p: &mut Self, dictionary: Dictionary| {
            if !dictionary.is_empty() {
                p.write(" ");
                p.dictionary(&dictionary);
            }
        };
        self.write("(");
        self.separated(", ", inputs.iter().enumerate(), |p, (i, ty)| {
            let argument = body.and_then(|b| module.arguments(b).get(i).copied());
            if let Some(argument) = argument {
                p.value(argument);
                p.write(": ");
            }
            p.ty(ty);
            with_attributes(p, attributes(argument_attributes, i));
            if let (Some(body), Some(_)) = (body, argument) {
                p.argument_location(|| module.location(&module.argument_locs(body)[i]));
            }
        });
        self.write(")");
        if results.is_empty() {
            return;
        }
        self.write(" -> ");
        let plain = |i| attributes(result_attributes, i).is_empty();
        let bare = results.len() == 1
            && plain(0)
            && !matches!(*results[0], crate::types::TypeKind::Function { .. });
        self.write(if bare { "" } else { "(" });
        self.separated(", ", results.iter().enumerate(), |p, (i, ty)| {
            p.ty(ty);
            with_attributes(p, attributes(result_attributes, i));
        });
        self.write(if bare { "" } else { ")" });
    }

    /// Writes the metadata: resources that were referenced, and external ones.
    pub(super) fn resources(&mut self) {
        let limit = self.options.elide_resources_if_larger;
        let mut used = std::mem::take(&mut self.resources);
        used.retain(|r| {
            r.blob().is_some_and(|b| limit.is_none_or(|n| 2 * (b.data.len() + 4) + 4 <= n))
        });
        let external = self.module.map_or(&[][..], Module::external_resources);
        if used.is_empty() && external.is_empty() {
            return;
        }
        self.write("\n{-#\n");
        if !used.is_empty() {
            self.write("  dialect_resources: {\n    builtin: {\n");
            self.separated(",\n", &used, |p, resource| {
                let Some(blob) = resource.blob() else { return };
                p.write("      ");
                p.keyword_or_string(resource.key());
                p.write(": \"0x");
                p.hex_digits(
                    blob.alignment.to_le_bytes().into_iter().chain(blob.data.iter().copied()),
                );
                p.write("\"");
            });
            self.write("\n    }\n  }");
            self.write(if external.is_empty() { "\n" } else { ",\n" });
        }
        if !external.is_empty() {
            self.write("  external_resources: {\n");
            let owners = external.chunk_by(|a, b| a.owner == b.owner);
            self.separated(",\n", owners, |p, resources| {
                p.write("    ");
                p.keyword_or_string(&resources[0].owner);
                p.write(": {\n");
                p.separated(",\n", resources, |p, resource| {
                    p.write("      ");
                    p.keyword_or_string(&resource.key);
                    p.write(": ");
                    p.write(&resource.value);
                });
                p.write("\n    }");
            });
            self.write("\n  }\n");
        }
        self.write("#-}\n");
    }
}

/// True if the operands, results and regions of an op fit the slots of its declaration, which its
/// pretty form requires.
fn satisfies_slots(op: OpRef<'_>) -> bool {
    let Some(def) = op.def() else { return false };
    let variadic = def.regions.last().is_some_and(|r| r.variadic);
    let regions = op.regions().len();
    let fixed = def.regions.len() - usize::from(variadic);
    let counted = |slots: &[crate::ods::ValueSlot], count: usize| {
        slots.len() == count && slots.iter().all(|s| s.arity == crate::ods::Arity::Single)
    };
    (if variadic { regions >= fixed } else { regions == fixed })
        && (counted(def.operands, op.operands().len())
            || def.operand_ranges(op.operands().len(), op.int_array("operandSegmentSizes")).is_ok())
        && (counted(def.results, op.num_results())
            || def.result_ranges(op.num_results(), op.int_array("resultSegmentSizes")).is_ok())
        && def.attributes.iter().zip(op.properties()).all(|(slot, value)| match value {
            Some(value) => slot.constraint.holds(value),
            None => slot.presence != crate::ods::Presence::Required,
        })
}

/// The predecessors of the blocks of a region, each once, in order; none of a single block.
fn predecessors(module: &Module, region: RegionId) -> FxHashMap<BlockId, Vec<BlockId>> {
    let mut predecessors: FxHashMap<_, Vec<_>> = FxHashMap::default();
    let blocks = module.blocks(region);
    for &block in blocks.iter().filter(|_| blocks.len() > 1) {
        for successor in module.terminator(block).map_or(&[][..], OpRef::successors) {
            let known = predecessors.entry(*successor).or_default();
            if known.last() != Some(&block) {
                known.push(block);
            }
        }
    }
    predecessors
}

/// Prints the pretty form of `builtin.module`.
pub fn print_module_op(printer: &mut Printer<'_>, op: OpRef<'_>) {
    if let Some(name) = op.symbol_name() {
        printer.write(" ");
        printer.symbol_name(name);
    }
    printer.attr_dict_with_keyword(op, &["sym_name"]);
    printer.write(" ");
    printer.region(op, op.regions()[0], true, true);
}

fn sort_by_name(attributes: &mut [(&str, &Attribute)]) {
    attributes.sort_by_key(|(name, _)| *name);
}
