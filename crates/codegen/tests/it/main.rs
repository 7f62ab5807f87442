//! Tests of the encoders; one binary, so that they link once.

mod a64;
mod x64;
