//! Names of values and blocks, and forward references.

use super::names::ParserNames;
use super::{Parsed, Parser};
use crate::builtin::UnrealizedConversionCastOp;
use crate::diag::counted;
use crate::diag::{Diagnostic, Span};
use crate::ir::{BlockId, Loc, OpId, OpName, OpParts, OpRef, RegionId, Value};
use crate::nearest::suggestion;
use crate::text::{Defined, UnresolvedOperand};
use crate::types::Type;
use rustc_hash::FxHashMap;
use std::collections::HashMap;

/// The scopes of names: one for each open region that is isolated from above, innermost last.
#[derive(Default)]
pub(super) struct Scopes<'a> {
    isolated: Vec<Isolated<'a>>,
}

struct Isolated<'a> {
    /// Values by name, `%` included, with the position of their definition.
    values: ParserNames<'a, (ValueDefinition, Span)>,
    /// Uses before the definition, by name.
    forward: FxHashMap<&'a str, Vec<Forward>>,
    /// The values that replace placeholders for those uses.
    replacements: HashMap<Value, Value>,
    /// For each open region: the names that end with it, and its blocks.
    regions: Vec<(Vec<&'a str>, FxHashMap<&'a str, NamedBlock>)>,
    /// Names that ended with their region, and where they were defined.
    ended: Vec<(&'a str, Span)>,
}

#[derive(Clone, Copy)]
pub(super) enum ValueDefinition {
    /// `count` results of `op` from `first`.
    Results { op: OpId, first: u32, count: u32 },
    /// A block argument.
    Argument(Value),
    /// The result of an op that failed to parse: its uses are not errors.
    Poisoned,
}

struct Forward {
    index: u32,
    stand_in: Value,
    span: Span,
}

struct NamedBlock {
    block: BlockId,
    defined: bool,
    span: Span,
}

impl<'a> Parser<'a> {
    pub(super) fn enter_region(&mut self, isolated: bool) {
        let isolated = isolated || self.scopes.isolated.is_empty();
        let start = self.last_end.saturating_sub(1);
        if let Some(map) = &mut self.source_map {
            map.enter(start, isolated);
        }
        if isolated {
            let share = self.text.len() / (self.scopes.isolated.len() + 1);
            self.scopes.isolated.push(Isolated {
                values: ParserNames::new("%", share),
                forward: FxHashMap::default(),
                replacements: HashMap::new(),
                regions: Vec::new(),
                ended: Vec::new(),
            });
        }
        if let Some(scope) = self.scopes.isolated.last_mut() {
            scope.regions.push(Default::default());
        }
    }

    /// Closes the innermost region: reports undefined blocks and, at the end of an isolated region,
    /// undefined values; and replaces placeholders.
    pub(super) fn leave_region(&mut self, region: RegionId) {
        let end = self.here().end;
        if let Some(map) = &mut self.source_map {
            map.leave(end);
        }
        let Some(scope) = self.scopes.isolated.last_mut() else { return };
        let Some((names, blocks)) = scope.regions.pop() else { return };
        let ends = scope.regions.is_empty();
        if !ends {
            for name in names {
                if let Some((_, span)) = scope.values.remove(name) {
                    scope.ended.push((name, span));
                }
            }
        }
        let mut undefined: Vec<_> = blocks.into_iter().filter(|(_, b)| !b.defined).collect();
        undefined.sort_by_key(|(_, b)| b.span.start);
        for (name, block) in undefined {
            let _ = self.error_at::<()>(
                block.span,
                format!("the block `{name}` is not defined in this region"),
            );
        }
        if !ends {
            return;
        }
        let Some(scope) = self.scopes.isolated.pop() else { return };
        let mut unknown: Vec<_> = scope
            .forward
            .iter()
            .flat_map(|(name, uses)| uses.iter().map(|u| (u.span, *name)))
            .collect();
        unknown.sort_by_key(|(span, _)| span.start);
        for (span, name) in unknown {
            let error = match scope.ended.iter().find(|(ended, _)| *ended == name) {
                Some((_, defined)) => {
                    let message = format!(
                        "the value `{name}` is not visible here: it belongs to another region"
                    );
                    Diagnostic::error("parse", message).note("defined here", *defined)
                }
                None => {
                    let names = scope.values.written().chain(scope.ended.iter().map(|e| e.0));
                    let message = format!("the value `{name}` is used but not defined");
                    Diagnostic::error("parse", message).help(suggestion(name, names))
                }
            };
            let _ = self.report::<()>(error.at(span));
        }
        if scope.replacements.is_empty() {
            return;
        }
        let mut stack = vec![region];
        while let Some(region) = stack.pop() {
            for block in self.module.blocks(region).to_vec() {
                let mut next = self.module.first_op(block).map(OpRef::id);
                while let Some(op) = next {
                    stack.extend(self.module.op(op).regions());
                    for i in 0..self.module.op(op).operands().len() {
                        if let Some(value) = scope.replacements.get(&self.module.op(op).operand(i))
                        {
                            self.module.set_operand(op, i, *value);
                        }
                    }
                    next = self.module.op(op).next_in_block().map(OpRef::id);
                }
            }
        }
    }

    /// Defines a name, `%` included, in the innermost region.
    pub(super) fn define(
        &mut self,
        name: &'a str,
        span: Span,
        definition: ValueDefinition,
    ) -> Parsed<()> {
        if let Some(map) = &mut self.source_map {
            let values = match definition {
                ValueDefinition::Results { op, first, count } => {
                    Defined::Results { op, first, count }
                }
                ValueDefinition::Argument(value) => Defined::Argument(value),
                ValueDefinition::Poisoned => Defined::Unread,
            };
            map.define(span, values);
        }
        let Some(scope) = self.scopes.isolated.last_mut() else { return Ok(()) };
        if let Some(&(earlier, at)) = scope.values.insert(name, (definition, span)) {
            if matches!(earlier, ValueDefinition::Poisoned)
                || matches!(definition, ValueDefinition::Poisoned)
            {
                return Ok(());
            }
            let note = format!("the first definition of `{name}`");
            let error = Diagnostic::error("parse", format!("the value `{name}` is defined twice"));
            return self.report(error.at(span).note(note, at));
        }
        // Names of the outermost region end with the scope.
        if let [_, .., (names, _)] = &mut scope.regions[..] {
            names.push(name);
        }
        if scope.forward.is_empty() {
            return Ok(());
        }
        let uses = scope.forward.remove(name).unwrap_or_default();
        for used in uses {
            let Some(value) = self.defined_value(definition, used.index) else {
                let at = UnresolvedOperand { name: used.span, index: used.index };
                return self.no_such_result(at, definition);
            };
            let (expected, found) =
                (self.module.ty(value).clone(), self.module.ty(used.stand_in).clone());
            if expected != found {
                return self.type_mismatch(used.span, name, &found, &expected, span);
            }
            if let Some(scope) = self.scopes.isolated.last_mut() {
                scope.replacements.insert(used.stand_in, value);
            }
        }
        Ok(())
    }

    fn defined_value(&self, definition: ValueDefinition, index: u32) -> Option<Value> {
        match definition {
            ValueDefinition::Results { op, first, count } => {
                (index < count).then(|| self.module.op(op).result((first + index) as usize))
            }
            ValueDefinition::Argument(value) => (index == 0).then_some(value),
            ValueDefinition::Poisoned => None,
        }
    }

    fn no_such_result<T>(
        &mut self,
        operand: UnresolvedOperand,
        definition: ValueDefinition,
    ) -> Parsed<T> {
        let count = match definition {
            ValueDefinition::Results { count, .. } => count,
            _ => 1,
        };
        let name = self.slice(operand.name);
        let message =
            format!("`{name}#{}`: `{name}` has {}", operand.index, counted(count, "result"));
        self.error_at(operand.name, message)
    }

    fn type_mismatch<T>(
        &mut self,
        span: Span,
        name: &str,
        used: &Type,
        defined: &Type,
        definition: Span,
    ) -> Parsed<T> {
        let error = Diagnostic::error(
            "parse",
            format!("`{name}` is used as {used}, but its type is {defined}"),
        );
        self.report(error.at(span).note(format!("`{name}` is defined here"), definition))
    }

    /// The type of an already defined value.
    pub(super) fn known_type(&mut self, operand: UnresolvedOperand) -> Option<Type> {
        self.reads_values = true;
        self.defined(operand).map(|value| self.module.ty(value).clone())
    }

    /// The value that a use refers to.
    ///
    /// # Errors
    /// If its type is not `ty`, or the name has fewer results.
    pub fn resolve(&mut self, operand: UnresolvedOperand, ty: &Type) -> Parsed<Value> {
        self.resolved.push(operand);
        self.note_operand(operand.name);
        match self.defined(operand) {
            Some(value) if self.module.ty(value) == ty => Ok(value),
            _ => self.resolve_undefined(operand, ty),
        }
    }

    /// The value that a use refers to, if already defined.
    pub(super) fn defined(&self, operand: UnresolvedOperand) -> Option<Value> {
        let &(definition, _) = self.scopes.isolated.last()?.values.get(self.slice(operand.name))?;
        self.defined_value(definition, operand.index)
    }

    /// True if a value with that name, such as `%x`, is defined.
    pub(super) fn is_value(&self, name: &str) -> bool {
        self.scopes.isolated.last().is_some_and(|scope| scope.values.get(name).is_some())
    }

    /// Slow path of [`Parser::resolve`], for an undefined value or one of another type.
    pub(super) fn resolve_undefined(
        &mut self,
        operand: UnresolvedOperand,
        ty: &Type,
    ) -> Parsed<Value> {
        let name = self.slice(operand.name);
        let known = self.scopes.isolated.last().and_then(|s| s.values.get(name)).copied();
        match known {
            Some((ValueDefinition::Poisoned, _)) => Ok(self.stand_in(ty)),
            Some((definition, span)) => match self.defined_value(definition, operand.index) {
                Some(value) => {
                    let defined = self.module.ty(value).clone();
                    self.type_mismatch(operand.name, name, ty, &defined, span)
                }
                None => self.no_such_result(operand, definition),
            },
            None => {
                let earlier = self.scopes.isolated.last().and_then(|s| s.forward.get(name));
                let same = earlier.and_then(|uses| uses.iter().find(|u| u.index == operand.index));
                if let Some(value) = same.map(|u| u.stand_in)
                    && self.module.ty(value) == ty
                {
                    return Ok(value);
                }
                let stand_in = self.stand_in(ty);
                let forward = Forward { index: operand.index, stand_in, span: operand.name };
                if let Some(scope) = self.scopes.isolated.last_mut() {
                    scope.forward.entry(name).or_default().push(forward);
                }
                Ok(stand_in)
            }
        }
    }

    /// A placeholder of the given type for an undefined value.
    fn stand_in(&mut self, ty: &Type) -> Value {
        let mut parts =
            OpParts::new(OpName::Registered(UnrealizedConversionCastOp::DEF), Loc::Unknown);
        parts.result_types.push(ty.clone());
        let op = self.module.create_op(parts);
        self.module.op(op).result(0)
    }

    /// The block with the given name, `^` included, in the innermost region; created on first
    /// reference.
    pub(super) fn named_block(
        &mut self,
        name: &'a str,
        span: Span,
        defines: bool,
    ) -> Parsed<BlockId> {
        let known = self.scopes.isolated.last_mut().and_then(|s| s.regions.last_mut());
        if let Some(known) = known.and_then(|(_, blocks)| blocks.get_mut(name)) {
            if defines && std::mem::replace(&mut known.defined, true) {
                return self.error_at(span, format!("the block `{name}` is defined twice"));
            }
            return Ok(known.block);
        }
        let block = self.module.create_detached_block();
        if let Some((_, blocks)) =
            self.scopes.isolated.last_mut().and_then(|s| s.regions.last_mut())
        {
            blocks.insert(name, NamedBlock { block, defined: defines, span });
        }
        Ok(block)
    }
}
