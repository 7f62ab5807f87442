//! Inputs, mutations and invariants of the fuzzers: `stablo-fuzz`, which makes mutants of the
//! project's files, and the targets of libFuzzer in `libfuzzer/`.

mod bytes;
mod dead;
mod engines;
mod input;
mod seeds;
pub mod single;
mod text;

pub use dead::{PlanComparison, Surplus, compare};
pub use engines::Verdict;
pub use input::{Outcome, corpus, make, mutate, try_input};
pub use seeds::Seeds;

use clap::ValueEnum;

/// The inputs that are mutated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Tokens of texts.
    Text,
    /// Bytes of artifacts and of bytecode.
    Bytecode,
    /// Bytes of what `jax.export` writes, of npy, npz and safetensors files.
    Container,
    /// A size or an element type everywhere in a text, or one number of an attribute; and random
    /// programs. All engines compute the same bits.
    Program,
}
