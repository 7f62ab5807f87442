//! Tests of the runner and of FileCheck; one binary, so that they link once.

mod filecheck;
mod suite;
