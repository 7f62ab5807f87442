//! Random programs are valid, survive printing and reading, and run to results of the types that
//! they declare.

use generate::{Options, generate, runtime_values};
use stablo::{ParseOptions, RuntimeValue};

fn check(options: &Options) {
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
        check(&Options {
            seed,
            ops: 12,
            extremes: seed % 2 == 1,
            constants: seed % 3 == 0,
            ..Options::default()
        });
    }
}

#[test]
fn programs_become_small() {
    for seed in 0..20 {
        let options = Options { seed, ops: 8, ..Options::default() };
        let whole = stablo::print(&generate(&options).unwrap().module, &Default::default());
        for only in [0, 7] {
            let options = Options { only: Some(only), ..options.clone() };
            check(&options);
            let part = stablo::print(&generate(&options).unwrap().module, &Default::default());
            assert!(part.lines().count() <= whole.lines().count());
        }
    }
}
