//! Random programs verify, survive a print-parse round trip, and become smaller on request.
//! `engines.rs` runs them.

use generate::{GenerateOptions, Program, generate};

/// A random program, which is valid and comes back from its text.
pub(crate) fn generated(options: &GenerateOptions) -> Program {
    let seed = options.seed;
    let program = generate(options).expect("small inputs fit");
    let text = program.module.to_string();
    stablo::verify(&program.module).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
    let read = stablo::load("generated", &*text);
    let module = read.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
    assert_eq!(module.to_string(), text, "seed {seed}");
    Program { module, ..program }
}

#[test]
fn programs_become_small() {
    for seed in 0..20 {
        let options = GenerateOptions { seed, ops: 8, ..GenerateOptions::default() };
        let whole = generated(&options).module.to_string();
        for only in [0, 7] {
            let options = GenerateOptions { only: Some(only), ..options.clone() };
            let part = generated(&options).module.to_string();
            assert!(part.lines().count() <= whole.lines().count());
        }
    }
}
