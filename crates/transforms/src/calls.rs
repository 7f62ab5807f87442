//! The call graph, and the functions that it shows to be free of side effects.

use mlir::ods::Trait;
use mlir::rewrite::effects::is_memory_effect_free;
use mlir::verify::nearest_symbol;
use mlir::{Module, OpId, OpRef};
use side_dialects::func::FuncOp;
use std::collections::HashSet;

/// A set of functions.
#[derive(Default)]
pub(crate) struct Calls(HashSet<OpId>);

impl Calls {
    /// True if a function is in the set.
    pub(crate) fn contains(&self, function: OpId) -> bool {
        self.0.contains(&function)
    }

    /// Adds a function.
    pub(crate) fn insert(&mut self, function: OpId) {
        self.0.insert(function);
    }
}

/// The attribute with the name of the function that an op calls.
pub(crate) fn callee_attribute(op: OpRef<'_>) -> Option<&'static str> {
    let call = |t: &Trait| if let Trait::Call(name) = t { Some(*name) } else { None };
    op.def()?.traits.iter().find_map(call)
}

/// The function, defined or only declared, that an op calls by name.
pub(crate) fn callee(op: OpRef<'_>) -> Option<FuncOp<'_>> {
    let attribute = callee_attribute(op)?;
    FuncOp::cast(nearest_symbol(op, op.attr(attribute)?.as_flat_symbol()?)?)
}

/// All functions in post-order of the call graph: callees first, except within cycles.
pub(crate) fn callees_first(module: &Module) -> Vec<OpId> {
    let callees =
        |f: OpId| -> Vec<OpId> { module.walk(f).filter_map(callee).map(|f| f.id()).collect() };
    let mut order = Vec::new();
    let mut seen = HashSet::new();
    for root in module.walk(module.top().id()).filter(|op| op.is(FuncOp::DEF)).map(OpRef::id) {
        // A function remains on the stack with the callees still to be visited.
        let mut stack = Vec::new();
        if seen.insert(root) {
            stack.push((root, callees(root)));
        }
        while let Some((function, rest)) = stack.last_mut() {
            match rest.pop() {
                Some(next) if seen.insert(next) => stack.push((next, callees(next))),
                Some(_) => {}
                None => {
                    order.push(*function);
                    stack.pop();
                }
            }
        }
    }
    order
}

/// The functions without side effects: neither their ops nor their callees have any.
pub(crate) fn effect_free_functions(module: &Module) -> Calls {
    let mut free = Calls::default();
    for function in callees_first(module) {
        let no_effect = |op: OpRef<'_>| {
            // Nested ops are visited themselves.
            let transparent =
                op.has_trait(&Trait::RecursiveMemoryEffects) || op.has_trait(&Trait::Terminator);
            let calls_free = || callee(op).is_some_and(|callee| free.contains(callee.id()));
            transparent || is_memory_effect_free(op) || calls_free()
        };
        if !FuncOp(module.op(function)).is_declaration()
            && module.walk(function).skip(1).all(no_effect)
        {
            free.0.insert(function);
        }
    }
    free
}
