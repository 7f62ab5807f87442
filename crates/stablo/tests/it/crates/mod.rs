//! Tests of small crates, for each of which another binary would have to be compiled and linked.

mod arrays;
mod chlo;
mod interpreter;
mod plan;
mod portable;
mod program;
mod vhlo;
mod wire;
