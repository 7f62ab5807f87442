//! Some variants of each op of the project's tests: verified ones run, with the same bits in all
//! engines, and cost nothing where they are dead or doubled. `stablo-fuzz ops` tries all of them.

use generate::Random;
use program::{Effects, Primitive};
use stablo_fuzz::single::{Single, by_op};
use stablo_fuzz::{PlanComparison, Seeds, Surplus, Verdict, compare};
use std::collections::BTreeSet;

/// Programs of one op.
const PROGRAMS: usize = 3;
/// One in this number of variants is tried.
const STEP: usize = 41;

fn failure(variant: &Single) -> Option<String> {
    let message = match variant.verdict(&mut Random::new(0)) {
        Verdict::Refused | Verdict::Skipped => return None,
        Verdict::Ran => variant.surplus_steps()?,
        Verdict::Failed(message) => format!("it fails with {message}"),
        Verdict::Differs(message) => format!("engines differ: {message}"),
    };
    Some(format!("{message}\n{}", variant.text()))
}

#[test]
fn what_the_verifier_accepts_runs() {
    check_accepted(0);
}

#[test]
fn what_else_the_verifier_accepts_runs() {
    check_accepted(1);
}

/// Runs the variants of every second op of the tests, from the first or the second one on.
fn check_accepted(first: usize) {
    let failures = stablo::with_large_stack(move || {
        let seeds = Seeds::read().expect("the tests of the project are readable");
        let all = by_op(&seeds.texts);
        assert!(all.len() > 150, "ops of the tests: {}", all.len());
        let spread = |singles: &Vec<Single>| singles.len().div_ceil(PROGRAMS).max(1);
        let chosen = all.values().flat_map(|singles| singles.iter().step_by(spread(singles)));
        let variants = chosen
            .enumerate()
            .skip(first)
            .step_by(2)
            .flat_map(|(nth, single)| single.variants().skip(nth % STEP).step_by(STEP));
        variants.filter_map(|variant| failure(&variant)).collect::<Vec<_>>()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Primitives without effects that no op of the tests has alone: lines with results `RESULT`, what
/// they are called, and a type of one of them.
const OTHERS: [(&str, &str, &str, &str); 4] = [
    (
        "Block",
        "RESULT = sdy.named_computation<\"f\">(%x) (%a: tensor<4xf32>) {
          %b = stablehlo.sine %a : tensor<4xf32>
          sdy.return %b : tensor<4xf32>
        } : (tensor<4xf32>) -> tensor<4xf32>",
        "RESULT",
        "tensor<4xf32>",
    ),
    (
        "Call",
        "RESULT = func.call @double(%x) : (tensor<4xf32>) -> tensor<4xf32>",
        "RESULT",
        "tensor<4xf32>",
    ),
    (
        "Cholesky",
        "RESULT = stablehlo.cholesky %m, lower = true : tensor<2x2xf32>",
        "RESULT",
        "tensor<2x2xf32>",
    ),
    (
        "TopK",
        "RESULT:2 = stablehlo.custom_call @mhlo.topk(%x) {
          mhlo.attributes = {k = 2 : i64, largest = true}
        } : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)",
        "RESULT#0",
        "tensor<2xf32>",
    ),
];

/// Primitives that programs do not have before passes over plans make them.
const OF_PLANS: &[&str] = &["StridedGather"];

/// Primitives that may do more than compute results from operands of static types, or whose operand
/// is the result of one (`Untuple`).
const WITH_EFFECTS: [&str; 13] = [
    "Collective",
    "DimensionSize",
    "Dynamic",
    "Infeed",
    "Invalid",
    "Native",
    "Outfeed",
    "Permute",
    "RandomNumbers",
    "Receive",
    "Send",
    "Untuple",
    "While",
];

/// A program with these lines that returns two values, or none.
fn program(lines: &str, returned: Option<(&str, &str, &str)>) -> String {
    let (results, values) = match returned {
        Some((first, second, ty)) => {
            (format!("({ty}, {ty})"), format!("{first}, {second} : {ty}, {ty}"))
        }
        None => ("()".to_string(), String::new()),
    };
    format!(
        "func.func private @double(%x: tensor<4xf32>) -> tensor<4xf32> {{
          %0 = stablehlo.add %x, %x : tensor<4xf32>
          return %0 : tensor<4xf32>
        }}
        func.func @main(%x: tensor<4xf32>, %m: tensor<2x2xf32>) -> {results} {{
          {lines}
          return {values}
        }}"
    )
}

/// Surplus work of the ops of the project's tests and of [`OTHERS`] costs nothing. The primitives
/// whose dead and whose doubled ops were compared.
fn compared() -> BTreeSet<(&'static str, Surplus)> {
    let mut seen = BTreeSet::new();
    let seeds = Seeds::read().expect("the tests of the project are readable");
    for single in by_op(&seeds.texts).values().flatten() {
        let primitives = single.primitives();
        let is_news = |&(name, _): &(&'static str, Effects)| {
            [Surplus::Dead, Surplus::Doubled]
                .iter()
                .any(|&surplus| !seen.contains(&(name, surplus)))
        };
        let is_pure = primitives.iter().all(|&(_, effects)| effects == Effects::None);
        if !is_pure || !primitives.iter().any(is_news) {
            continue;
        }
        for PlanComparison { surplus, difference } in single.comparisons() {
            assert_eq!(difference, None, "{}", single.text());
            seen.extend(primitives.iter().map(|&(name, _)| (name, surplus)));
        }
    }
    for (name, line, result, ty) in OTHERS {
        let [first, second] = ["%r", "%t"].map(|value| line.replace("RESULT", value));
        let [one, two] = ["%r", "%t"].map(|value| result.replace("RESULT", value));
        let both = format!("{first}\n{second}");
        let dead = [program(&first, None), program("", None)];
        let doubled =
            [program(&both, Some((&one, &two, ty))), program(&first, Some((&one, &one, ty)))];
        for (surplus, [found, expected]) in [(Surplus::Dead, dead), (Surplus::Doubled, doubled)] {
            let load = |text: &str| stablo::load("program.mlir", text.to_string());
            let modules = (load(&found).expect(name), load(&expected).expect(name));
            let comparison = compare(surplus, modules.0, modules.1).expect("there are plans");
            assert_eq!(comparison.difference, None, "{found}");
            seen.insert((name, surplus));
        }
    }
    seen
}

#[test]
fn dead_and_equal_work_of_each_primitive_costs_nothing() {
    let seen = stablo::with_large_stack(compared);
    let is_compared = |name: &&&str| !WITH_EFFECTS.contains(*name) && !OF_PLANS.contains(*name);
    for name in Primitive::NAMES.iter().filter(is_compared) {
        for surplus in [Surplus::Dead, Surplus::Doubled] {
            assert!(seen.contains(&(*name, surplus)), "{surplus:?} {name} is not compared");
        }
    }
}
