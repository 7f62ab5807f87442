//! Tests of machine code and its encoders; one binary, so that they link once.

mod a64;
mod loops;
mod schedule;
mod x64;
