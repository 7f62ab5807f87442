//! Tests of the C interface; one binary, so that they link once.

mod devices;
mod examples;
mod into;
mod options;
mod stack;
