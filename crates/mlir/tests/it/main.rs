//! Tests of the IR; one binary, so that they link once.

mod aliases;
mod bytecode;
mod common;
mod diag;
mod layout;
mod options;
mod pipelines;
mod rewriting;
mod text;
