//! Tests of passes; one binary, so that they link once.

mod assertions;
mod canonicalization;
mod chlo_expansion;
mod common;
mod folding;
mod passes;
mod reification;
mod simplification;
