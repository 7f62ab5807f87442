//! Some variants of each op of the project's tests: verified ones run, with the same bits in all
//! engines, and cost nothing where they are dead or doubled. `stablo-fuzz ops` tries all of them.

use generate::Random;
use stablo_fuzz::single::{Single, by_op};
use stablo_fuzz::{Seeds, Verdict};

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
    let failures = stablo::with_large_stack(|| {
        let seeds = Seeds::read().expect("the tests of the project are readable");
        let all = by_op(&seeds.texts);
        assert!(all.len() > 150, "ops of the tests: {}", all.len());
        let spread = |singles: &Vec<Single>| singles.len().div_ceil(PROGRAMS).max(1);
        let chosen = all.values().flat_map(|singles| singles.iter().step_by(spread(singles)));
        let variants = chosen
            .enumerate()
            .flat_map(|(nth, single)| single.variants().skip(nth % STEP).step_by(STEP));
        variants.filter_map(|variant| failure(&variant)).collect::<Vec<_>>()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
