//! Tests of the programs; one binary, so that they link once.

mod corpus;
mod engines;
mod examples;
mod files;
mod generated;
mod passes;
mod streams;
mod tree;
mod tutorial;
mod upstream;
