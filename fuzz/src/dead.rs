//! Programs whose op is dead plan to the steps of a program without it. Programs whose op stands
//! there twice plan to the steps of one that returns its results twice, where its declaration
//! permits that.

use crate::single::{Single, set_results};
use mlir::ods::{Speculation, Trait};
use mlir::rewrite::effects;
use stablo::ir::{DYNAMIC, OpId, OpRef, Value};
use stablo::{Module, Program, RunOptions, Type};
use std::collections::HashMap;

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

impl Single {
    /// How the plan of the program with its op dead, or twice, differs from the plan that it
    /// should have. `None` if it does not, or the declaration of the op permits a difference.
    pub fn surplus_steps(&self) -> Option<String> {
        let op = self.module.op(self.op);
        if !effects::is_memory_effect_free(op) || MAY_FAIL.contains(&&*self.name) {
            return None;
        }
        // Sizes are values that may not fit dynamic shapes, a loop may not end, and functions of
        // side dialects may fail.
        let is_dynamic = |ty: &Type| ty.shape().is_some_and(|shape| shape.contains(&DYNAMIC));
        let mut inner = self.module.walk(self.op);
        if self.name.starts_with("mhlo.") || inner.any(|op| op.result_types().any(is_dynamic)) {
            return None;
        }
        let is_removable = is_speculatable(op) && self.name != "stablehlo.while";
        let results: Vec<Value> = op.results().collect();
        let end = self.module.terminator(self.block)?.id();
        let returning = |module: &Module, values: &[Value]| {
            let mut module = module.clone();
            module.set_operands(end, values.iter().copied());
            set_results(&mut module, self.function, self.block, values);
            module
        };
        let differ = |what: &str, found: Module, expected: Module| {
            let (found, expected) = (steps(found)?, steps(expected)?);
            (found != expected).then(|| format!("{what}:\n{found}and not:\n{expected}"))
        };
        let dead = || {
            let found = returning(&self.module, &[]);
            let mut expected = found.clone();
            expected.erase(self.op);
            differ("dead", found, expected)
        };
        let doubled = || {
            let mut twice = self.module.clone();
            let copy: OpId = twice.clone_op(self.op, &mut HashMap::new(), &mut HashMap::new());
            twice.insert_after(copy, self.op);
            let copies: Vec<Value> = twice.op(copy).results().collect();
            let found = returning(&twice, &[&results[..], &copies].concat());
            let expected = returning(&self.module, &[&results[..], &results].concat());
            differ("doubled", found, expected)
        };
        is_removable.then(dead).flatten().or_else(doubled)
    }
}
