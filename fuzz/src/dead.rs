//! Programs whose op is dead plan to the steps of a program without it. Programs whose op stands
//! there twice plan to the steps of one that returns its results twice, where its declaration
//! permits that.

use crate::single::{Single, set_results};
use mlir::ods::{Speculation, Trait};
use mlir::rewrite::effects;
use program::Effects;
use stablo::ir::{DYNAMIC, OpId, OpRef, Value};
use stablo::{Module, Program, RunOptions, Type};
use std::collections::HashMap;
use std::sync::Arc;

/// The pass whose plan is compared.
const PASS: &str = "emit";

/// True if an op may run although the program would not have run it, and so may not run, too.
fn is_speculatable(op: OpRef<'_>) -> bool {
    let module = op.module();
    match effects::speculation(op) {
        Some(Speculation::Always) => true,
        Some(Speculation::Never) | None => false,
        Some(Speculation::AsItsRegions) => op
            .regions()
            .iter()
            .flat_map(|&region| module.blocks(region))
            .flat_map(|&block| module.ops(block))
            .all(|op| op.has_trait(&Trait::Terminator) || is_speculatable(op)),
    }
}

/// A line without its numbers of ops.
fn without_counts(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let is_count = |&i: &usize| {
        let next = words.get(i + 1).map(|word| word.trim_end_matches([':', ',']));
        matches!(next, Some("op" | "ops"))
            || matches!(words[i].trim_end_matches([':', ',']), "op" | "ops")
    };
    let kept = (0..words.len()).filter(|i| !is_count(i)).map(|i| words[i]);
    kept.collect::<Vec<_>>().join(" ")
}

/// Ops that run code of users, exchange values, or are functions of the interpreter, which may fail
/// where the op may not.
const MAY_FAIL: [&str; 3] = ["chlo.conj", "stablehlo.cross-replica-sum", "stablehlo.custom_call"];

/// The steps of a plan, with values numbered in their order; `None` if the program has no plan.
fn steps(module: Module) -> Option<String> {
    let program = Program::prepare(module, "main", RunOptions::default()).ok()?;
    let plan = program.plan_after(PASS, None).ok()?;
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut steps = String::new();
    for line in plan.lines().filter(|line| !line.starts_with('@')) {
        // Ops that are dropped count as ops of those after them.
        let line = without_counts(line);
        for (nth, part) in line.split('%').enumerate() {
            let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            let next = numbers.len();
            match nth {
                0 => steps += part,
                _ => {
                    let number = *numbers.entry(part[..end].to_owned()).or_insert(next);
                    steps += &format!("%{number}{}", &part[end..]);
                }
            }
        }
        steps.push('\n');
    }
    Some(steps)
}

/// A program with surplus work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Surplus {
    /// Its op is dead.
    Dead,
    /// Its op stands there twice.
    Doubled,
}

/// The plan of a program with surplus work, compared with the plan without it.
pub struct PlanComparison {
    /// The surplus work.
    pub surplus: Surplus,
    /// How the plans differ; `None` if they are equal.
    pub difference: Option<String>,
}

impl Single {
    /// How the plan of the program with its op dead, or twice, differs from the plan that it
    /// should have. `None` if it does not, or the declaration of the op permits a difference.
    pub fn surplus_steps(&self) -> Option<String> {
        self.comparisons().find_map(|comparison| comparison.difference)
    }

    /// The plans of the program with its op dead, and twice, where these should have no steps more.
    pub fn comparisons(&self) -> impl Iterator<Item = PlanComparison> {
        let op = self.module.op(self.op);
        // Sizes are values that may not fit dynamic shapes, a loop may not end, and functions of
        // side dialects may fail.
        let is_dynamic = |ty: &Type| ty.shape().is_some_and(|shape| shape.contains(&DYNAMIC));
        let mut inner = self.module.walk(self.op);
        let may_differ = !effects::is_memory_effect_free(op)
            || MAY_FAIL.contains(&&*self.name)
            || self.name.starts_with("mhlo.")
            || inner.any(|op| op.operand_types().chain(op.result_types()).any(is_dynamic));
        let end = self.module.terminator(self.block).map(OpRef::id).filter(|_| !may_differ);
        let is_removable = is_speculatable(op) && self.name != "stablehlo.while";
        let dead = move || self.dead(end.filter(|_| is_removable)?);
        let doubled = move || self.doubled(end?);
        std::iter::once_with(dead).chain(std::iter::once_with(doubled)).flatten()
    }

    /// The primitives of the program, with their effects.
    pub fn primitives(&self) -> Vec<(&'static str, Effects)> {
        let module = Arc::new(self.module.clone());
        let Ok(program) = interpreter::Program::prepare(module, "main", RunOptions::default())
        else {
            return Vec::new();
        };
        let primitives = program.code().instructions.iter().map(|it| &it.primitive);
        primitives.map(|primitive| (primitive.name(), primitive.effects())).collect()
    }

    fn dead(&self, end: OpId) -> Option<PlanComparison> {
        let found = self.returning(&self.module, end, &[]);
        let mut expected = found.clone();
        expected.erase(self.op);
        compare(Surplus::Dead, found, expected)
    }

    fn doubled(&self, end: OpId) -> Option<PlanComparison> {
        let results: Vec<Value> = self.module.op(self.op).results().collect();
        let mut twice = self.module.clone();
        let copy: OpId = twice.clone_op(self.op, &mut HashMap::new(), &mut HashMap::new());
        twice.insert_after(copy, self.op);
        let copies: Vec<Value> = twice.op(copy).results().collect();
        let found = self.returning(&twice, end, &[&results[..], &copies].concat());
        let expected = self.returning(&self.module, end, &[&results[..], &results].concat());
        compare(Surplus::Doubled, found, expected)
    }

    /// A module whose function returns these values.
    fn returning(&self, module: &Module, end: OpId, values: &[Value]) -> Module {
        let mut module = module.clone();
        module.set_operands(end, values.iter().copied());
        set_results(&mut module, self.function, self.block, values);
        module
    }
}

/// Compares plans; `None` if the programs have none.
pub fn compare(surplus: Surplus, found: Module, expected: Module) -> Option<PlanComparison> {
    let (found, expected) = (steps(found)?, steps(expected)?);
    let difference = || format!("{surplus:?}:\n{found}and not:\n{expected}");
    Some(PlanComparison { surplus, difference: (found != expected).then(difference) })
}
