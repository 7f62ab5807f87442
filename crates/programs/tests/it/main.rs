//! Tests of the programs; one binary, so that they link once.

mod corpus;
mod dead;
mod devices;
mod display;
mod engines;
mod examples;
mod expected;
mod files;
mod folders;
mod format;
mod generated;
mod launching;
mod limits;
mod lsp;
#[cfg(unix)]
mod output_files;
mod passes;
mod runner;
mod source;
mod streams;
mod tree;
mod tutorial;
mod upstream;
