//! Names of values and blocks, numbered as upstream does.

use super::{PrintOptions, Printer};
use crate::attrs::{AttrKind, Attribute, LocationKind, Name};
use crate::ir::{BlockId, Loc, Module, OpId, OpRef, RegionId, Value, ValueDef};
use crate::ods::ResultName;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Names of the values and blocks below an op.
#[derive(Default)]
pub(super) struct Names {
    /// By value: a number, or an index into `words`.
    values: Vec<ValueName>,
    words: Vec<String>,
    blocks: FxHashMap<BlockId, u32>,
    /// Numbers of ops without results, which value names share, if users are printed.
    ops: FxHashMap<OpId, u32>,
}

#[derive(Clone, Copy, Default)]
enum ValueName {
    #[default]
    Unknown,
    Number(u32),
    Word(u32),
}

/// Names in use in a region and the enclosing ones.
struct NameScope {
    taken: FxHashSet<String>,
    parent: Option<Rc<NameScope>>,
}

impl NameScope {
    fn has(&self, name: &str) -> bool {
        let mut scope = Some(self);
        while let Some(s) = scope {
            if s.taken.contains(name) {
                return true;
            }
            scope = s.parent.as_deref();
        }
        false
    }
}

/// The counters from which a region's numbering starts.
#[derive(Clone, Copy, Default)]
struct Counters {
    value: u32,
    argument: u32,
    conflict: u32,
}

impl Names {
    /// Numbers everything below `op`: each region after all values of the enclosing one. Sibling
    /// regions start from the same number; with unique numbers, each continues after the previous
    /// one.
    pub(super) fn of(op: OpRef<'_>, options: &PrintOptions) -> Names {
        let module = op.module();
        let mut names =
            Names { values: vec![ValueName::Unknown; module.num_values()], ..Names::default() };
        let mut counters = Counters::default();
        let mut top = NameScope { taken: FxHashSet::default(), parent: None };
        names.op(op, options, &mut counters, &mut top);
        let top = Rc::new(top);
        let mut stack: Vec<(RegionId, Counters, Rc<NameScope>)> =
            op.regions().iter().map(|&r| (r, counters, top.clone())).collect();
        let unique = options.unique_ssa_ids || options.generic;
        while let Some((region, start, parent)) = stack.pop() {
            if !unique {
                counters = start;
            }
            let mut scope = NameScope { taken: FxHashSet::default(), parent: Some(parent) };
            names.region(module, region, options, &mut counters, &mut scope);
            let scope = Rc::new(scope);
            for &block in module.blocks(region) {
                for op in module.ops(block) {
                    stack.extend(op.regions().iter().map(|&r| (r, counters, scope.clone())));
                }
            }
        }
        names
    }

    fn region(
        &mut self,
        module: &Module,
        region: RegionId,
        options: &PrintOptions,
        counters: &mut Counters,
        scope: &mut NameScope,
    ) {
        let parent = module.region_parent(region).map(|op| module.op(op));
        let hook =
            parent.filter(|_| !options.generic).and_then(|op| Some((op, op.def()?.argument_name?)));
        let index =
            parent.and_then(|op| op.regions().iter().position(|&r| r == region)).unwrap_or(0);
        for (number, &block) in module.blocks(region).iter().enumerate() {
            self.blocks.insert(block, number as u32);
            let is_entry = number == 0;
            for (i, &argument) in module.arguments(block).iter().enumerate() {
                let located = location_name(module, &module.argument_locs(block)[i], options);
                let suggested = hook.filter(|_| is_entry).and_then(|(op, name)| name(op, index, i));
                if let Some(name) = suggested {
                    self.word(argument, located.unwrap_or(name), counters, scope);
                } else if is_entry {
                    let name = located.unwrap_or_else(|| format!("arg{}", counters.argument));
                    counters.argument += 1;
                    self.word(argument, name, counters, scope);
                } else if let Some(name) = located {
                    self.word(argument, name, counters, scope);
                } else {
                    self.number(argument, counters);
                }
            }
            for op in module.ops(block) {
                self.op(op, options, counters, scope);
            }
        }
    }

    fn op(
        &mut self,
        op: OpRef<'_>,
        options: &PrintOptions,
        counters: &mut Counters,
        scope: &mut NameScope,
    ) {
        let Some(first) = op.results().next() else {
            if options.value_users {
                self.ops.insert(op.id(), counters.value);
                counters.value += 1;
            }
            return;
        };
        let located = location_name(op.module(), op.loc(), options);
        let def = op.def().filter(|_| !options.generic);
        let suggested = def.and_then(|def| def.result_name).map(|name| match name {
            ResultName::Fixed(name) => name.to_string(),
            ResultName::ByOp(name) => name(op),
        });
        // Several result slots use their declared names; the results of one slot share a name.
        let slots = def
            .filter(|def| suggested.is_none() && def.results.len() > 1)
            .map_or(&[][..], |def| def.results);
        let mut named = false;
        for (slot, declared) in slots.iter().enumerate() {
            let range = op.result_slot(slot);
            if !range.is_empty() {
                let name = located.clone().unwrap_or_else(|| declared.name.to_string());
                self.word(op.result(range.start), name, counters, scope);
                named = true;
            }
        }
        if !named {
            match located.or(suggested).filter(|name| !name.is_empty()) {
                Some(name) => self.word(first, name, counters, scope),
                None => self.number(first, counters),
            }
        }
    }

    fn number(&mut self, value: Value, counters: &mut Counters) {
        self.values[value.index()] = ValueName::Number(counters.value);
        counters.value += 1;
    }

    pub(super) fn rename(&mut self, values: &[Value], name: &str) {
        for (i, value) in values.iter().enumerate() {
            self.values[value.index()] = match i {
                0 => ValueName::Word(self.words.len() as u32),
                _ => ValueName::Unknown,
            };
        }
        self.words.push(name.to_string());
    }

    fn word(&mut self, value: Value, name: String, counters: &mut Counters, scope: &mut NameScope) {
        let mut unique = name.clone();
        while scope.has(&unique) {
            unique = format!("{name}_{}", counters.conflict);
            counters.conflict += 1;
        }
        scope.taken.insert(unique.clone());
        self.values[value.index()] = ValueName::Word(self.words.len() as u32);
        self.words.push(unique);
    }
}

/// The value name from a location; `None` if the option is off, or the location has no name.
fn location_name(module: &Module, loc: &Loc, options: &PrintOptions) -> Option<String> {
    if !options.name_locations_as_prefix || matches!(loc, Loc::Unknown | Loc::Source(_)) {
        return None;
    }
    let name = first_name(&module.location(loc), &mut FxHashSet::default())?;
    let mut word = String::with_capacity(name.len());
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        word.push('_');
    }
    for byte in name.bytes() {
        match byte {
            b' ' => word.push('_'),
            b'$' | b'.' | b'_' | b'-' => word.push(byte as char),
            _ if byte.is_ascii_alphanumeric() => word.push(byte as char),
            _ => word.push_str(&format!("{byte:X}")),
        }
    }
    Some(word).filter(|word| !word.is_empty())
}

/// The first name in a location: of a call, in the callee before the caller. Shared parts without
/// names are memoized in `nameless` by address.
fn first_name(location: &Attribute, nameless: &mut FxHashSet<*const AttrKind>) -> Option<Name> {
    if !nameless.insert(&**location) {
        return None;
    }
    match location.as_location()? {
        LocationKind::Unknown | LocationKind::File { .. } => None,
        LocationKind::Named { name, .. } => Some(name.clone()),
        LocationKind::CallSite { callee, caller } => {
            first_name(callee, nameless).or_else(|| first_name(caller, nameless))
        }
        LocationKind::Fused { locations, .. } => {
            locations.iter().find_map(|part| first_name(part, nameless))
        }
    }
}

impl Printer<'_> {
    /// Writes `%name`, or `%name#1` for one of several results.
    pub fn value(&mut self, value: Value) {
        let Some(module) = self.module else { return self.value_name(value) };
        match module.definition(value) {
            ValueDef::Result { op, index } => {
                let op = module.op(op);
                let group = self.result_group(op, index as usize);
                self.value_name(op.result(group.start));
                if group.len() > 1 {
                    self.write("#");
                    self.number(index as usize - group.start);
                }
            }
            ValueDef::Argument { .. } => self.value_name(value),
        }
    }

    /// Writes values separated by commas.
    pub fn values(&mut self, values: &[Value]) {
        self.separated(", ", values, |p, v| p.value(*v));
    }

    /// The results that share a name with result `index` of an op.
    fn result_group(&self, op: OpRef<'_>, index: usize) -> std::ops::Range<usize> {
        let starts = |i: &usize| {
            let name = self.names.values.get(op.result(*i).index());
            *i == 0 || !matches!(name, None | Some(ValueName::Unknown))
        };
        let start = (0..=index).rev().find(starts).unwrap_or(0);
        let end = (index + 1..op.num_results()).find(starts).unwrap_or(op.num_results());
        start..end
    }

    /// Writes `%name:2, %other = ` for an op with results.
    pub(super) fn result_names(&mut self, op: OpRef<'_>) {
        let mut next = 0;
        while next < op.num_results() {
            let group = self.result_group(op, next);
            self.write(if next > 0 { ", " } else { "" });
            self.value_name(op.result(group.start));
            if group.len() > 1 {
                self.write(":");
                self.number(group.len());
            }
            next = group.end;
        }
        self.write(if next > 0 { " = " } else { "" });
    }

    /// Writes the common name of a group of results.
    pub(super) fn value_name(&mut self, value: Value) {
        match self.names.values.get(value.index()).copied().unwrap_or_default() {
            ValueName::Unknown => self.write("<<UNKNOWN SSA VALUE>>"),
            ValueName::Number(n) => {
                self.write("%");
                self.number(n);
            }
            ValueName::Word(w) => {
                self.out.push('%');
                self.out.push_str(&self.names.words[w as usize]);
            }
        }
    }

    /// Writes `%` and the number of an op without results.
    pub(super) fn op_number(&mut self, op: OpId) {
        self.write("%");
        self.number(self.names.ops.get(&op).copied().unwrap_or_default());
    }

    /// Writes the name of a block.
    pub fn block_name(&mut self, block: BlockId) {
        match self.names.blocks.get(&block).copied() {
            Some(n) => {
                self.write("^bb");
                self.number(n);
            }
            None => self.write("^INVALIDBLOCK"),
        }
    }
}
