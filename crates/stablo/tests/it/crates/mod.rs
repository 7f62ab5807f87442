//! Tests of small crates, for each of which another binary would have to be compiled and linked.

mod arrays;
mod bisect;

mod chlo;
mod interpreter;
mod judge;
mod judge_ops;
mod judge_quick;
mod judge_rules;
mod lapack;
mod portable;
mod program;
mod side_dialects;
mod transforms;
mod vhlo;
mod wire;
