//! Tests of small crates, for each of which another binary would have to be compiled and linked.

mod arrays;
mod chlo;
mod program;
mod vhlo;
mod wire;
