//! Values that follow from constants alone.

use crate::analysis::Analysis;
use rustc_hash::FxHashSet;
use stablo::Attribute;
use stablo::dialects::func::FuncOp;
use stablo::ir::{OpId, Trait, Value, ValueDef};
use std::fmt::Write as _;

/// Values that follow from more ops are not computed.
const MAX_OPS: usize = 64;

impl Analysis {
    /// The value of a definition, or of one of its results, if it follows from constants by ops
    /// that folding computes.
    pub(crate) fn folded(&self, definition: usize, result: usize) -> Option<Attribute> {
        let value = *self.values(definition).get(result)?;
        let ops = self.ops_behind(value)?;
        let name = self.slice(self.map.definitions[definition].name);
        let number = match self.values(definition).len() {
            1 => String::new(),
            _ => format!("#{result}"),
        };
        let ty = self.module.ty(value);
        let mut text = format!("func.func @main() -> {ty} {{\n");
        for extent in &self.map.ops {
            if extent.op.is_some_and(|op| ops.contains(&op)) {
                let _ = writeln!(text, "{}", self.slice(extent.span));
            }
        }
        let _ = writeln!(text, "return {name}{number} : {ty}\n}}");
        // Aliases of attributes, types and locations.
        for (_, place) in self.aliases() {
            let line = self.text()[place.start as usize..].lines().next()?;
            let _ = writeln!(text, "{line}");
        }
        let mut module = stablo::load("constant", text).ok()?;
        stablo::run_pipeline(&mut module, "func.func(stablehlo-aggressive-folder)").ok()?;
        let function = module.top().lookup_symbol("main").and_then(FuncOp::cast)?;
        let [block] = module.blocks(*function.0.regions().first()?) else { return None };
        let end = module.terminator(*block)?;
        let ValueDef::Result { op, .. } = module.definition(*end.operands().first()?) else {
            return None;
        };
        let constant = module.op(op);
        let constant = constant.has_trait(&Trait::ConstantLike).then_some(constant)?;
        constant.attr("value").cloned()
    }

    /// The ops that a value follows from; `None` if it depends on an argument, or on many.
    fn ops_behind(&self, value: Value) -> Option<FxHashSet<OpId>> {
        let mut ops: FxHashSet<OpId> = FxHashSet::default();
        let mut left = vec![value];
        while let Some(value) = left.pop() {
            let ValueDef::Result { op, .. } = self.module.definition(value) else { return None };
            if !ops.insert(op) {
                continue;
            }
            let op = self.module.op(op);
            if ops.len() > MAX_OPS || !op.regions().is_empty() {
                return None;
            }
            left.extend(op.operands());
        }
        Some(ops)
    }
}
