//! Tests of passes.

mod assertions;
mod canonicalization;
mod chlo_expansion;
mod common;
mod folding;
mod passes;
mod reification;
mod simplification;
