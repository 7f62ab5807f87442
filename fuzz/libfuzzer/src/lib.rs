//! Coverage-guided fuzzing: libFuzzer picks inputs that reach new code, and `stablo-fuzz` mutates
//! them by tokens and checks its invariants.

use generate::Random;
use libfuzzer_sys::fuzzer_mutate;
use stablo_fuzz::{Kind, Outcome};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Checks the invariants for an input; random choices are a function of it.
///
/// # Panics
/// If engines differ, or something that was written is not read back.
pub fn check(kind: Kind, input: &[u8]) {
    let mut hasher = DefaultHasher::new();
    input.hash(&mut hasher);
    let mut random = Random::new(hasher.finish());
    match stablo_fuzz::try_input(kind, input, &mut random) {
        Outcome::Refused | Outcome::Accepted => {}
        Outcome::Differs(message) => panic!("engines differ: {message}"),
        Outcome::NotReadBack(message) => panic!("not read back: {message}"),
    }
}

/// Mutates `data[..size]` in place and returns its new size: half of the time by the mutations of
/// the kind, otherwise by libFuzzer's.
pub fn mutate(kind: Kind, data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut random = Random::new(seed.into());
    if random.one_in(2) {
        return fuzzer_mutate(data, size, max_size);
    }
    let mut input = data[..size].to_vec();
    stablo_fuzz::mutate(kind, &mut input, &mut random);
    input.truncate(max_size);
    data[..input.len()].copy_from_slice(&input);
    input.len()
}

/// Defines the target of a kind.
#[macro_export]
macro_rules! target {
    ($kind:expr) => {
        libfuzzer_sys::fuzz_mutator!(
            |data: &mut [u8], size: usize, max_size: usize, seed: u32| {
                $crate::mutate($kind, data, size, max_size, seed)
            }
        );
        libfuzzer_sys::fuzz_target!(|input: &[u8]| $crate::check($kind, input));
    };
}
