//! Random programs verify, survive a print-parse round trip, and run to results of their declared
//! types.

use generate::{GenerateOptions, generate, runtime_values};
use stablo::RuntimeValue;

fn check(options: &GenerateOptions) {
    let seed = options.seed;
    let program = generate(options).unwrap();
    let module = &program.module;
    let text = module.to_string();
    stablo::verify(module).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));

    let read = stablo::load("generated", &*text);
    let read = read.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
    assert_eq!(read.to_string(), text, "seed {seed}");

    let function = stablo::entry_function(module, "main").unwrap();
    let types = function.signature().1;
    let results = stablo::run(module, "main", runtime_values(&program.inputs));
    let results = results.unwrap_or_else(|errors| panic!("seed {seed}: {errors:?}\n{text}"));
    assert_eq!(results.len(), types.len());
    for (result, ty) in results.iter().zip(types) {
        assert!(stablo::value_fits(result, ty), "seed {seed}: not a {ty}\n{text}");
    }
    let again = stablo::run(&read, "main", runtime_values(&program.inputs)).unwrap();
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
        let whole = generate(&options).unwrap().module.to_string();
        for only in [0, 7] {
            let options = GenerateOptions { only: Some(only), ..options.clone() };
            check(&options);
            let part = generate(&options).unwrap().module.to_string();
            assert!(part.lines().count() <= whole.lines().count());
        }
    }
}
