//! Random programs verify, survive a print-parse round trip, and run to results of their declared
//! types.

use generate::{GenerateOptions, generate, runtime_values};
use stablo::{ParseOptions, RuntimeValue};

fn check(options: &GenerateOptions) {
    let seed = options.seed;
    let program = generate(options).unwrap();
    let module = &program.module;
    let text = stablo::print(module, &Default::default());
    let errors = stablo::verify(module);
    assert!(errors.is_empty(), "seed {seed}: {errors:?}\n{text}");

    let parsed = stablo::parse("generated", &text, ParseOptions::default());
    assert!(parsed.diagnostics.is_empty(), "seed {seed}: {:?}\n{text}", parsed.diagnostics);
    assert_eq!(stablo::print(&parsed.module, &Default::default()), text, "seed {seed}");

    let function = stablo::entry_function(module, "main").unwrap();
    let types = function.signature().1;
    let results = stablo::run(module, "main", runtime_values(&program.inputs));
    let results = results.unwrap_or_else(|errors| panic!("seed {seed}: {errors:?}\n{text}"));
    assert_eq!(results.len(), types.len());
    for (result, ty) in results.iter().zip(types) {
        assert!(stablo::value_fits(result, ty), "seed {seed}: not a {ty}\n{text}");
    }
    let again = stablo::run(&parsed.module, "main", runtime_values(&program.inputs)).unwrap();
    let bytes = |values: &[RuntimeValue]| -> Vec<Vec<u8>> {
        values.iter().map(|value| value.tensor().unwrap().bytes().to_vec()).collect()
    };
    assert_eq!(bytes(&results), bytes(&again), "seed {seed}");
}

#[test]
fn programs_are_valid_and_run() {
    for seed in 0..400 {
        check(&GenerateOptions {
            seed,
            ops: 12,
            extremes: seed % 2 == 1,
            constants: seed % 3 == 0,
            ..GenerateOptions::default()
        });
    }
}

#[test]
fn programs_become_small() {
    for seed in 0..20 {
        let options = GenerateOptions { seed, ops: 8, ..GenerateOptions::default() };
        let whole = stablo::print(&generate(&options).unwrap().module, &Default::default());
        for only in [0, 7] {
            let options = GenerateOptions { only: Some(only), ..options.clone() };
            check(&options);
            let part = stablo::print(&generate(&options).unwrap().module, &Default::default());
            assert!(part.lines().count() <= whole.lines().count());
        }
    }
}
