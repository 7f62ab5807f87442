//! Tests of the runner of test files and of its FileCheck.

mod filecheck;
mod suite;
